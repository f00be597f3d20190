"""What the command line says when it stops, and the nearest name of one that is unknown."""

import difflib
import importlib
from collections.abc import Iterable
from typing import Any

import click

from trueup.errors import MissingExtra

BAD_INPUT, CRASHED, INTERRUPTED, TERMINATED = 2, 1, 130, 143


class CommandError(click.ClickException):
    """One sentence about what is wrong with the input."""

    exit_code = BAD_INPUT


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a question that names what was probably meant, or nothing.

    >>> nearest("yhatt", ["time", "y", "yhat"])
    ": did you mean 'yhat'?"
    >>> nearest("abc", ["time"])
    ''
    """
    names = {other.casefold(): other for other in known}
    close = difflib.get_close_matches(name.casefold(), names, n=1)
    return f": did you mean {names[close[0]]!r}?" if close else ""


def extra(module: str, name: str, what: str) -> Any:
    """Return a module of an optional extra, or say how it is installed."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise MissingExtra(what, name) from None
