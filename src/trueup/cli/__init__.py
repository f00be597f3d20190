"""The command line: one file a command; parse, compute and print are kept apart.

Nothing heavy is imported before a command needs it, so that `trueup --help` is quick.
"""

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run `trueup` with the given arguments, those of the process by default, and exit.

    The exit code is 0 when all went well, 2 when the input is wrong, 1 after a crash and 130 after
    Ctrl-C; `trueup audit` says 3 when it has found evidence.
    """
    from trueup.cli._main import run  # the package itself needs no click

    sys.exit(run(arguments))
