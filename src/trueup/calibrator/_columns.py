"""Columns of any library in, the same kind out; none of these libraries is needed for it.

A column is read by position. What a library calls missing (None, NaN, NA, NaT, null, masked) is
NaN. Text is never read as numbers, nor are dates.
"""

from collections.abc import Hashable
from importlib import import_module
from typing import Any

import numpy as np

from trueup import _validation as check
from trueup.errors import InvalidArgument
from trueup.protocols import FloatArray, IntArray

MISSING = ("NoneType", "NAType", "NaTType", "MaskedConstant")
LARGEST = 1e150  # in size, of what can be learned
ARROW = ("__arrow_c_stream__", "__arrow_c_array__")


def as_floats(name: str, given: Any) -> FloatArray:
    """Return a column of any kind as floats, what is missing as NaN.

    >>> as_floats("outcomes", [1, None, 2.5]).tolist()
    [1.0, nan, 2.5]
    """
    array = check.numbers(name, _without_gaps(name, _as_array(name, given)))
    if array.ndim != 1:
        raise check.refuse(name, "one-dimensional", array.shape)
    if np.isinf(array).any():
        at = int(np.flatnonzero(np.isinf(array))[0])
        raise InvalidArgument(f"{name} must be finite or NaN, got {array[at]} at index {at}.")
    large = np.flatnonzero(np.abs(array) > LARGEST)
    if large.size:
        sized(f"{name}[{large[0]}]", float(array[large[0]]))
    return array


def sized(name: str, value: float) -> float:
    """Return a number that can be squared, and a range around it doubled."""
    if abs(value) > LARGEST:
        raise check.refuse(name, f"at most {LARGEST} in size", value)
    return value


def is_missing(outcome: Any) -> bool:
    """Return whether this is what some library calls missing."""
    if type(outcome).__name__ in MISSING:
        return True
    try:
        return bool(np.ndim(outcome) == 0 and outcome != outcome)  # noqa: PLR0124 - NaN
    except (TypeError, ValueError, ArithmeticError):
        return False


def _as_array(name: str, given: Any) -> Any:
    """Return a column as a NumPy array, or a list as it is."""
    if isinstance(given, np.ma.MaskedArray):
        gaps = np.ma.getmaskarray(given)
        return [None if gap else x for gap, x in zip(gaps.ravel(), given.data.ravel(), strict=True)]
    if hasattr(given, "to_numpy"):
        whole = type(given).__module__.startswith("pyarrow") and not hasattr(given, "num_chunks")
        return given.to_numpy(zero_copy_only=False) if whole else given.to_numpy()
    streams = any(hasattr(given, way) for way in ARROW)
    if streams and not isinstance(given, type) and not hasattr(given, "__array__"):
        return _arrow(name).chunked_array(given).to_numpy()
    return given


def _arrow(name: str) -> Any:
    try:
        return import_module("pyarrow")
    except ImportError:
        sentence = f"{name} are an Arrow stream, which pyarrow reads; pip install pyarrow"
        raise InvalidArgument(sentence) from None


def _without_gaps(name: str, raw: Any) -> Any:
    """Return objects with NaN for what is missing; text among them is refused."""
    if isinstance(raw, np.ndarray) and raw.dtype != object:
        return raw
    if not isinstance(raw, list | tuple | np.ndarray) or np.ndim(raw) != 1:
        return raw
    for value in raw:
        if isinstance(value, str | bytes):
            raise check.refuse(name, "numbers", value)
    return [np.nan if type(value).__name__ in MISSING else value for value in raw]


def like(given: Any, values: FloatArray) -> Any:
    """Return numbers in the kind of column that was given, with its index and its name."""
    room = type(given).__module__.split(".")[0]
    name = getattr(given, "name", None)
    if room == "pandas":
        if hasattr(given, "index"):
            return type(given)(values, index=given.index, name=name)
        return (
            import_module("pandas").Index(values, name=name) if hasattr(given, "name") else values
        )
    if room == "polars":
        return type(given)(name, values)
    if room == "pyarrow" or (any(hasattr(given, way) for way in ARROW) and room != "numpy"):
        library = import_module("pyarrow")
        column = library.array(values)
        return library.chunked_array([column]) if hasattr(given, "num_chunks") else column
    return values.tolist() if isinstance(given, list | tuple) else values


def plain(key: Hashable) -> Hashable:
    """Return a key as Python has it, so that 3 is one key with one coin in any column.

    >>> plain(np.int64(3)), plain(3.0), plain("3")
    (3, 3, '3')
    """
    date = isinstance(key, np.datetime64 | np.timedelta64)
    answer: Hashable = key.item() if isinstance(key, np.generic) and not date else key
    missing = type(answer).__name__ in MISSING or answer != answer  # noqa: PLR0124 - NaN
    if missing:
        raise InvalidArgument(f"keys must not be missing, got {key!r}.")
    whole = isinstance(answer, bool) or (isinstance(answer, float) and answer.is_integer())
    return int(answer) if whole else answer  # type: ignore[call-overload]


def rows_by_key(keys: Any, rounds: int) -> dict[Hashable, IntArray]:
    """Return the rows of each key, in the order of first appearance.

    >>> {key: rows.tolist() for key, rows in rows_by_key(["b", "a", "b"], 3).items()}
    {'b': [0, 2], 'a': [1]}
    """
    column = _as_array("keys", keys)
    if not hasattr(column, "__len__") or isinstance(column, str | bytes):
        raise check.refuse("keys", "a column or a list", keys)
    if len(column) != rounds:
        raise check.refuse("keys", f"of length {rounds}", len(column))
    if isinstance(column, np.ndarray) and column.dtype.kind in "iuUS" and column.ndim == 1:
        order = np.argsort(column, kind="stable")
        starts = np.flatnonzero(np.r_[True, column[order][1:] != column[order][:-1]])
        parts = np.split(order, starts[1:]) if rounds else []
        parts.sort(key=lambda part: int(part[0]))
        return {column[part[0]].item(): part for part in parts}
    found: dict[Hashable, list[int]] = {}
    try:
        for row, key in enumerate(column):
            found.setdefault(plain(key), []).append(row)
    except TypeError:
        raise check.refuse("keys", "names or whole numbers", key) from None
    return {key: np.array(rows) for key, rows in found.items()}
