"""Checks of arguments at the boundary: one wording per mistake, always which, what and got.

Every check returns the value in the type the mathematics works with.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from trueup.errors import InvalidArgument
from trueup.protocols import ArrayLike, FloatArray

SUM_TOLERANCE = 1e-9  # probabilities written with ten digits pass, forgotten ones do not
NO_NUMBERS = (str, bytes, bool, np.bool_, complex, np.complexfloating)  # though float takes some
SLOPE_TOLERANCE = 1e-9  # relative; slopes computed by different formulas differ by rounding


def refuse(name: str, must: str, got: object) -> InvalidArgument:
    """Return the error for an argument that is not what it must be."""
    return InvalidArgument(f"{name} must be {must}, got {_short(got)}.")


def finite(name: str, value: Any) -> float:
    """Return a finite number."""
    try:
        if type(value) is not float and (isinstance(value, NO_NUMBERS) or np.ndim(value) > 0):
            raise TypeError
        number = float(value)
    except (TypeError, ValueError):
        raise refuse(name, "a number", value) from None
    except OverflowError:
        raise InvalidArgument(
            f"{name} must be finite, got a number too large for a float."
        ) from None
    if not math.isfinite(number):
        raise refuse(name, "finite", number)
    return number


def positive(name: str, value: Any) -> float:
    """Return a finite number above 0."""
    number = finite(name, value)
    if number <= 0:
        raise refuse(name, "above 0", number)
    return number


def nonnegative(name: str, value: Any) -> float:
    """Return a finite number that is 0 or more."""
    number = finite(name, value)
    if number < 0:
        raise refuse(name, "0 or more", number)
    return number


def unit(name: str, value: Any) -> float:
    """Return a number of the interval [0, 1]."""
    if type(value) is float and 0.0 <= value <= 1.0:  # nearly always
        return value
    number = finite(name, value)
    if not 0 <= number <= 1:
        raise refuse(name, "inside the interval [0, 1]", number)
    return number


def open_unit(name: str, value: Any) -> float:
    """Return a number strictly between 0 and 1."""
    number = finite(name, value)
    if not 0 < number < 1:
        raise refuse(name, "strictly between 0 and 1", number)
    return number


def half_open_unit(name: str, value: Any) -> float:
    """Return a number above 0 and at most 1."""
    number = finite(name, value)
    if not 0 < number <= 1:
        raise refuse(name, "above 0 and at most 1", number)
    return number


def integer(name: str, value: Any, *, at_least: int) -> int:
    """Return a whole number that is large enough."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise refuse(name, "a whole number", value)
    if value < at_least:
        raise refuse(name, f"at least {at_least}", int(value))
    return int(value)


def numbers(name: str, values: Any) -> FloatArray:
    """Return an array of any shape as floats (a copy); text is not read as numbers.

    Nor is one truth value; an array of them is one of events, 0 or 1.
    """
    try:
        raw = np.asarray(values)
        one_truth = raw.ndim == 0 and isinstance(raw[()], bool | np.bool_)
        if raw.dtype.kind not in "buifO" or one_truth or isinstance(values, str | bytes):
            raise TypeError
        return np.array(raw, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InvalidArgument(f"{name} must be numbers, got {_short(values)}.") from None


def unit_numbers(name: str, values: Any) -> FloatArray:
    """Return an array of any shape of numbers of the interval [0, 1]."""
    array = np.asarray(values if isinstance(values, float) else numbers(name, values), np.float64)
    inside = (array >= 0) & (array <= 1)  # NaN fails both
    if not inside.all():
        raise refuse(name, "inside the interval [0, 1]", float(array[~inside].ravel()[0]))
    return array


def like(asked: Any, answer: Any) -> Any:
    """Return a float for a number asked and an array for an array."""
    if np.ndim(asked) > 0:
        return np.asarray(answer)
    return float(answer if np.ndim(answer) == 0 else np.ravel(answer)[0])


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def instance(name: str, value: Any, kind: Any, what: str) -> None:
    """Refuse what is not of a kind (a class or a protocol that can be checked)."""
    if isinstance(value, type) or not isinstance(value, kind):
        raise InvalidArgument(f"{name} must be {what}, got {_short(value)}.")


def vector(name: str, values: ArrayLike) -> FloatArray:
    """Return a one-dimensional array of finite numbers (a copy)."""
    array = numbers(name, values)
    if array.ndim != 1:
        raise refuse(name, "one-dimensional", array.shape)
    wrong = np.flatnonzero(~np.isfinite(array))
    if wrong.size:
        raise InvalidArgument(
            f"{name} must be finite, got {float(array[wrong[0]])} at index {wrong[0]}."
        )
    return array


def unit_vector(name: str, values: ArrayLike) -> FloatArray:
    """Return a one-dimensional array of numbers of the interval [0, 1]."""
    array = vector(name, values)
    wrong = np.flatnonzero((array < 0) | (array > 1))
    if wrong.size:
        raise InvalidArgument(
            f"{name} must be inside the interval [0, 1],"
            f" got {float(array[wrong[0]])} at index {wrong[0]}."
        )
    return array


def probabilities(name: str, values: ArrayLike) -> FloatArray:
    """Return numbers that are 0 or more and sum to 1."""
    array = vector(name, values)
    if array.size == 0 or array.min() < 0:
        raise refuse(name, "0 or more", array.tolist())
    if abs(array.sum() - 1) > SUM_TOLERANCE:
        raise InvalidArgument(f"{name} must sum to 1, got the sum {float(array.sum())}.")
    return np.asarray(array / array.sum())


def same_length(names: str, first: Sequence[Any] | FloatArray, *others: Any) -> None:
    """Refuse sequences of different lengths."""
    try:
        lengths = [len(first), *map(len, others)]
    except TypeError:
        raise InvalidArgument(f"{names} must be sequences.") from None
    if len(set(lengths)) > 1:
        raise InvalidArgument(f"{names} must have the same length, got {lengths}.")
