"""Coverage: the share of outcomes at or below a quantile forecast, or inside an interval."""

from typing import NamedTuple

import numpy as np

from trueup import _validation as check
from trueup.errors import InvalidArgument
from trueup.protocols import ArrayLike, BoolArray

__all__ = ["WorstWindow", "coverage", "worst_window_coverage"]


def coverage(forecasts: ArrayLike | tuple[ArrayLike, ArrayLike], outcomes: ArrayLike) -> float:
    """Return the share of outcomes that are covered.

    Parameters
    ----------
    forecasts : array, or tuple of two arrays
        Upper ends, or lower and upper ends; an outcome on an end is covered. Any unit.
    outcomes : array

    Examples
    --------
    >>> coverage([0.5, 0.5], [0.4, 0.6])
    0.5
    >>> coverage(([0.1, 0.1], [0.5, 0.5]), [0.1, 0.0])
    0.5
    """
    return float(np.mean(_covered(forecasts, outcomes)))


class WorstWindow(NamedTuple):
    """The stretch of rounds whose coverage is farthest from the level."""

    deviation: float  # |coverage - level| there
    coverage: float
    start: int  # its first round, counted from 0


def worst_window_coverage(
    forecasts: ArrayLike | tuple[ArrayLike, ArrayLike],
    outcomes: ArrayLike,
    level: float,
    window: int,
) -> WorstWindow:
    """Return the window of consecutive rounds with the worst coverage (the first of equals).

    Examples
    --------
    >>> worst_window_coverage([0.5] * 4, [0.4, 0.4, 0.6, 0.6], 0.5, window=2)
    WorstWindow(deviation=0.5, coverage=1.0, start=0)
    """
    covered = _covered(forecasts, outcomes)
    level = check.unit("level", level)
    window = check.integer("window", window, at_least=1)
    if window > covered.size:
        raise check.refuse("window", f"at most the {covered.size} rounds", window)
    total = np.concatenate([[0], np.cumsum(covered)])
    shares = (total[window:] - total[:-window]) / window
    start = int(np.argmax(np.abs(shares - level)))
    return WorstWindow(float(abs(shares[start] - level)), float(shares[start]), start)


def _covered(forecasts: ArrayLike | tuple[ArrayLike, ArrayLike], outcomes: ArrayLike) -> BoolArray:
    seen = check.vector("outcomes", outcomes)
    if seen.size == 0:
        raise check.refuse("outcomes", "at least one", 0)
    if isinstance(forecasts, tuple) and len(forecasts) == 2 and np.ndim(forecasts[0]) == 1:
        lower, upper = (check.vector("forecasts", ends) for ends in forecasts)
        check.same_length("lower ends, upper ends and outcomes", lower, upper, seen)
        crossed = np.flatnonzero(lower > upper)
        if crossed.size:
            raise InvalidArgument(
                f"lower ends must not be above upper ends, got {lower[crossed[0]]} and"
                f" {upper[crossed[0]]} at index {crossed[0]}."
            )
        return np.asarray((lower <= seen) & (seen <= upper))
    upper = check.vector("forecasts", forecasts)  # type: ignore[arg-type]
    check.same_length("forecasts and outcomes", upper, seen)
    return np.asarray(seen <= upper)
