"""All compiled code. Nothing else imports the compiler, and only wrappers call what is here."""
