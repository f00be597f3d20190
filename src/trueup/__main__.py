"""`python -m trueup` is the command line."""

from trueup.cli import main

if __name__ == "__main__":
    main()
