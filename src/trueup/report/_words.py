"""Words that come from users, made fit to be shown."""

import unicodedata

BROKEN = {"Cc", "Cs", "Zl", "Zp"}  # control signs, half characters, separators that break scripts
LONGEST = 80  # of a name in a figure


def clean(text: object, *, lines: bool = False) -> str:
    """Return text without signs that stop a drawing program; with `lines`, line ends stay.

    >>> clean("a" + chr(0) + "b") == "a" + chr(0xFFFD) + "b", len(clean("x" * 500))
    (True, 80)
    """
    kept = "".join(
        letter
        if unicodedata.category(letter) not in BROKEN or (lines and letter in "\n\t")
        else "\ufffd"
        for letter in str(text)
    )
    return kept if lines or len(kept) <= LONGEST else kept[: LONGEST - 1] + "\u2026"
