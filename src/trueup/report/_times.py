"""Times of rounds, as seconds or as plain numbers."""

from typing import Any

import numpy as np

from trueup import _validation as check
from trueup.errors import InvalidArgument
from trueup.protocols import FloatArray


def seconds_of(times: Any, n: int, *, dated: bool | None) -> tuple[FloatArray, bool]:
    """Return times as numbers, and whether they are dates: then as seconds since 1970, UTC.

    `dated` is what the times of earlier blocks were, if there were some.

    >>> seconds_of(["1970-01-02"], 1, dated=None)
    (array([86400.]), True)
    """
    raw = np.asarray(times.to_numpy() if hasattr(times, "to_numpy") else times)
    if raw.dtype.kind in "OUS":
        raw = _as_dates(raw)
    is_date = raw.dtype.kind == "M"
    if is_date:
        values = raw.astype("datetime64[us]").astype(np.int64) / 1e6
        values[np.isnat(raw)] = np.nan
    else:
        values = check.numbers("times", raw)
        values[np.isinf(values)] = np.nan
    if values.shape != (n,):
        raise check.refuse("times", f"of shape ({n},)", values.shape)
    if dated is not None and dated != is_date:
        raise InvalidArgument("times must be all dates or all numbers, got both.")
    return values, is_date


def _as_dates(raw: Any) -> Any:
    """Return text, `datetime` or `date` objects as dates; without a zone they are read as UTC."""
    if raw.dtype.kind == "O" and all(isinstance(x, int | float) or x is None for x in raw):
        return np.array([np.nan if x is None else x for x in raw], dtype=np.float64)
    try:
        return np.array([_one(x) for x in raw.tolist()], dtype="datetime64[us]")
    except (TypeError, ValueError):
        raise check.refuse("times", "numbers, dates or ISO texts", raw.tolist()[:1]) from None


def _one(value: Any) -> Any:
    from datetime import UTC, datetime  # noqa: PLC0415 - rarely needed

    if isinstance(value, bytes):
        value = value.decode()
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    zone = getattr(value, "tzinfo", None)
    return value.astimezone(UTC).replace(tzinfo=None) if zone is not None else value
