"""Rounds as they are given, checked: numbers, what is missing, when outcomes were known, names."""

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np

from trueup import _validation as check
from trueup.auditor._claims import Audited, Bounds, refuse_outside
from trueup.calibrator._columns import as_floats
from trueup.errors import InvalidArgument
from trueup.protocols import FloatArray, IntArray

MOST_GROUPS = 10_000
MISSING = ("NoneType", "NAType", "NaTType")
MOST_KEYS = 1_000_000  # shared outcomes that are remembered


class Rounds(NamedTuple):
    """Rounds that count."""

    number: IntArray  # of each, all rounds counted
    outcomes: FloatArray
    forecasts: FloatArray  # (T, numbers)
    clock: FloatArray  # when it was forecast: its number, or a time
    known: FloatArray
    fresh: Any  # bool: all earlier outcomes are known
    groups: IntArray  # (T, names)

    def part(self, start: int, stop: int) -> "Rounds":
        """Return some of them."""
        return self.only(slice(start, stop))

    def only(self, which: Any) -> "Rounds":
        """Return those at some places."""
        parts: list[Any] = [column[which] for column in self]
        return Rounds(*parts)


class Keys(NamedTuple):
    """Shared outcomes so far: when each was known (-1: with the next), the last, and troubles."""

    known: dict[Hashable, float]
    last: Hashable
    returned: int  # rounds whose outcome was known before
    unchecked: bool  # too many to remember


def forecasts_of(forecasts: Any, numbers: int) -> FloatArray:
    """Return forecasts as (T, numbers): a column each, or rows of numbers."""
    if numbers == 1 and np.ndim(forecasts) < 2:
        return as_floats("forecasts", forecasts)[:, None]
    if isinstance(forecasts, tuple):
        columns = [as_floats("forecasts", column) for column in forecasts]
        check.same_length("columns of forecasts", *columns)
        values = np.column_stack(columns)
    else:
        raw = forecasts.to_numpy() if hasattr(forecasts, "to_numpy") else forecasts
        values = check.numbers("forecasts", raw)
    if values.ndim != 2 or values.shape[1] != numbers:
        raise check.refuse("forecasts", f"of {numbers} columns", values.shape)
    if np.isinf(values).any():
        raise InvalidArgument("forecasts must be finite or NaN, got an infinite one.")
    return values


def clock_of(name: str, times: Any, rounds: int) -> FloatArray:
    """Return times as numbers: dates as microseconds since 1970."""
    raw = times.to_numpy() if hasattr(times, "to_numpy") else np.asarray(times)
    if raw.dtype.kind == "M":
        if np.isnat(raw).any():
            raise InvalidArgument(f"{name} must all be there, got one that is missing.")
        raw = raw.astype("datetime64[us]").astype(np.int64)
    clock = check.vector(name, raw)
    if clock.size != rounds:
        raise check.refuse(name, f"of length {rounds}", clock.size)
    return clock


def is_dates(times: Any) -> bool:
    """Whether times are dates."""
    return getattr(getattr(times, "dtype", None), "kind", "") == "M"


def times_of(times: Any, last: float, number: IntArray) -> FloatArray:
    """Return when each round was forecast: its number, or a time that never goes back."""
    if times is None:
        return number.astype(float)
    clock = clock_of("times", times, number.size)
    back = np.flatnonzero(np.diff(clock, prepend=last) < 0)
    if back.size:
        raise InvalidArgument(
            f"times must never go back, but that at index {back[0]} is before the one above."
        )
    return clock


def known_of(known_at: Any, clock: FloatArray, *, timed: bool) -> FloatArray:
    """Return when outcomes are known, on the clock of the rounds."""
    raw = known_at.to_numpy() if hasattr(known_at, "to_numpy") else np.asarray(known_at)
    if not timed and (raw.dtype.kind not in "iu" or raw.shape != clock.shape):
        raise InvalidArgument(f"known_at must be {clock.size} whole numbers, got {raw!r:.60}.")
    known = clock_of("known_at", known_at, clock.size)
    early = np.flatnonzero(known <= clock)
    if early.size:
        at = early[0]
        got = f"got that of index {at} at its time" if timed else f"got {raw[at]} at index {at}"
        raise InvalidArgument(f"known_at must be after its own round, {got}.")
    return known


def listed(name: str, given: Any, rounds: int) -> list[Any]:
    """Return a column of names as a list, None where there is none.

    >>> listed("groups", ["a", None, float("nan")], 3)
    ['a', None, None]
    """
    if isinstance(given, str | bytes) or not np.iterable(given):
        raise check.refuse(name, "a sequence of names", given)
    ways = (way for way in ("to_pylist", "tolist", "to_list") if hasattr(given, way))
    way = next(ways, None)
    values = list(given) if way is None else getattr(given, way)()
    if len(values) != rounds:
        raise check.refuse(name, f"of length {rounds}", len(values))
    missing = [type(value).__name__ in MISSING or value != value for value in values]  # noqa: PLR0124 - NaN
    return [None if gap else value for gap, value in zip(missing, values, strict=True)]


def groups_of(names: dict[Hashable, int], rows: list[Any]) -> tuple[IntArray, dict[Hashable, int]]:
    """Return the numbers of the groups of each round, and the new names.

    >>> groups_of({"a": 0}, ["b", ("a", "b"), None])[0].tolist()
    [[1, -1], [0, 1], [-1, -1]]
    """
    several = any(isinstance(row, tuple | list) for row in rows)
    try:
        if several:
            wide = [row if isinstance(row, tuple | list) else (row,) for row in rows]
            seen = dict.fromkeys(name for row in wide for name in row)
        else:
            seen = dict.fromkeys(rows)
        unknown = [name for name in seen if name is not None and name not in names]
    except TypeError:
        raise InvalidArgument("groups must be names that hash, or tuples of them.") from None
    new = {name: len(names) + k for k, name in enumerate(unknown)}
    if len(names) + len(new) > MOST_GROUPS:
        raise check.refuse("groups", f"at most {MOST_GROUPS} different ones", len(names) + len(new))
    numbers = {None: -1} | names | new
    if not several:
        table = np.fromiter(map(numbers.__getitem__, rows), dtype=np.int64, count=len(rows))
        return table[:, None], new
    width = max(map(len, wide))
    lines = [[numbers[name] for name in dict.fromkeys(row)] for row in wide]
    return np.array([line + [-1] * (width - len(line)) for line in lines], dtype=np.int64), new


def keys_of(
    keys: Keys, rows: list[Any], clock: FloatArray, known: FloatArray | None, counts: Any
) -> tuple[Any, Keys, dict[Hashable, float]]:
    """Return where another outcome begins, and the shared outcomes after these rounds.

    `known` is None where an outcome is taken as known when rounds of another one come.
    """
    fresh = np.ones(len(rows), dtype=bool)
    last, returned = keys.last, keys.returned
    new: dict[Hashable, float] = {}
    for t in np.flatnonzero(counts).tolist():
        key = rows[t]
        if key is not None and key == last:
            fresh[t] = False
        elif key is not None:
            before = keys.known.get(key, new.get(key))
            if before is None:
                new[key] = -1.0 if known is None else float(known[t])
            elif known is None:
                returned += 1
        last = key
        if known is not None and key is not None:
            seen = keys.known.get(key, new.get(key))
            returned += seen is not None and clock[t] >= seen
    unchecked = keys.unchecked or len(keys.known) + len(new) > MOST_KEYS
    if unchecked:
        new = {}
    return fresh, Keys(keys.known, last, returned, unchecked), new


def checked(
    wanted: Audited, bounds: Bounds | None, numbers: int, outcomes: Any, forecasts: Any
) -> tuple[FloatArray, FloatArray, Any]:
    """Return outcomes, forecasts and which rounds count."""
    seen, said = as_floats("outcomes", outcomes), forecasts_of(forecasts, numbers)
    check.same_length("outcomes and forecasts", seen, said)
    refuse_outside(wanted, bounds, seen, said)
    return seen, said, ~(np.isnan(seen) | np.isnan(said).any(axis=1))


def due_of(
    known: FloatArray | None, fresh: Any, clock: FloatArray, *, shared: bool
) -> tuple[FloatArray, Any]:
    """Return when each outcome is known, and before which rounds all earlier ones are."""
    if known is not None:
        return known, np.zeros(clock.size, dtype=bool)
    if shared:
        return np.full(clock.size, np.inf), fresh
    return clock, np.zeros(clock.size, dtype=bool)  # before the next round, whatever its time
