"""Columns of text as numbers and as times; what is neither is named with its place."""

import math
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from trueup.cli._errors import CommandError

if TYPE_CHECKING:
    from trueup.protocols import FloatArray

MISSING = frozenset(("", "na", "n/a", "nan", "null", "none"))
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
Where = Callable[[int], str]


def numbers_of(cells: Sequence[Any], where: Where) -> "FloatArray":
    """Return cells as an array of floats, NaN where there is none.

    >>> numbers_of(["1.5", "NA", "", "-3e2"], str)
    array([   1.5,    nan,    nan, -300. ])
    """
    import numpy as np  # `trueup --help` does without

    try:
        values = np.array(list(map(float, cells)))
        quick = bool(np.isfinite(values).all()) and not _odd(cells)
    except (TypeError, ValueError, OverflowError):
        quick = False
    if not quick:
        values = np.array([_number(cell, k, where) for k, cell in enumerate(cells)], dtype=float)
    return values


def is_missing(cell: Any) -> bool:
    """Say whether a cell is one of the words for nothing."""
    if isinstance(cell, str):
        return cell.strip().casefold() in MISSING
    return cell is None or (isinstance(cell, float) and math.isnan(cell))


def times_of(cells: Sequence[Any], where: Where) -> list[Any]:
    """Return cells as numbers, or as microseconds since 1970; None where there is none.

    A column is of numbers if its first cell is one. A time stamp without a zone counts as UTC.

    >>> times_of(["2013-01-01 05:15", ""], str), times_of(["3", "4.5"], str)
    ([1357017300000000, None], [3.0, 4.5])
    """
    return [None if is_missing(cell) else _time(cell, k, where) for k, cell in enumerate(cells)]


def _odd(cells: Sequence[Any]) -> bool:
    """Say whether there is a cell that Python reads as a number and people do not."""
    try:
        return "_" in "".join(cells)
    except TypeError:
        return any(isinstance(c, bool) or (isinstance(c, str) and "_" in c) for c in cells)


def _number(cell: Any, k: int, where: Where) -> float:
    if is_missing(cell):
        return math.nan
    try:
        if isinstance(cell, str) and "_" in cell:
            raise ValueError
        value = float(cell)
    except (TypeError, ValueError, OverflowError):
        raise CommandError(f"{where(k)}: {_short(cell)} is not a number.") from None
    if not math.isfinite(value):
        raise CommandError(f"{where(k)}: {_short(cell)} is not a finite number.")
    return value


def _time(cell: Any, k: int, where: Where) -> Any:
    if isinstance(cell, datetime):
        return _since(cell)
    if isinstance(cell, date):
        return _since(datetime(cell.year, cell.month, cell.day))  # noqa: DTZ001 - UTC below
    try:
        value = float(cell)
        if math.isfinite(value):
            return value
    except (TypeError, ValueError):
        pass
    try:
        return _since(datetime.fromisoformat(str(cell).strip()))
    except ValueError:
        raise CommandError(
            f"{where(k)}: {_short(cell)} is no time; write 2013-01-31T17:05 or a number."
        ) from None


def _since(moment: datetime) -> int:
    """Return microseconds since 1970."""
    zoned = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return (zoned - EPOCH) // MICROSECOND


def _short(cell: Any) -> str:
    text = repr(cell)
    return text if len(text) <= 40 else f"{text[:37]}..."
