"""What a forecast claims of an outcome, as a mean that a bet can be about.

In each direction a bet sees z, a number of [0, 1], and m, the most its mean is if the forecast is
right. "Low" bets that the forecast is too low, "high" that it is too high.

| property | low: z, m | high: z, m |
|---|---|---|
| quantile of level q | 1[y > p], 1 - q | 1[y < p], q |
| mean on [a, b] | u = (y - a) / (b - a), s = (p - a) / (b - a) | 1 - u, 1 - s |
| expectile of level q on [a, b] | v + n, n | 1 - v - n, 1 - n |

with v = (q (u - s)+ - (1 - q) (s - u)+) / c, n = (1 - q) s / c and c = q (1 - s) + (1 - q) s. An
outcome that is exactly the quantile wins for neither, so ties are never evidence.
"""

import math
from typing import Any

import numpy as np

from trueup import _validation as check
from trueup.calibrator import Interval, Probability, Quantiles
from trueup.errors import InvalidArgument
from trueup.properties import Expectile, Mean, Median, Quantile
from trueup.protocols import FloatArray

Part = Mean | Quantile | Expectile
Audited = Mean | Median | Quantile | Expectile | Interval | Quantiles | Probability
Bounds = tuple[float, float]


def parts_of(wanted: Any) -> tuple[Part, ...]:
    """Return the single numbers of a property, a quantile, mean or expectile each.

    >>> parts_of(Interval(0.8))
    (Quantile(level=0.1), Quantile(level=0.9))
    """
    if isinstance(wanted, Interval | Quantiles):
        return tuple(Quantile(level) for level in wanted.levels)
    if isinstance(wanted, Median):
        return (Quantile(0.5),)
    if isinstance(wanted, Probability):
        return (Mean(),)
    if isinstance(wanted, Mean | Quantile | Expectile):
        return (wanted,)
    raise check.refuse(
        "property",
        "Mean(), Median(), Quantile(level), Expectile(level), Interval(coverage),"
        " Quantiles(levels) or Probability()",
        wanted,
    )


def bounds_of(wanted: Audited, bounds: Any) -> Bounds | None:
    """Return the range of outcomes that bets on a mean or an expectile need."""
    if isinstance(wanted, Probability):
        if bounds not in (None, (0, 1)):
            raise check.refuse("bounds", "left out for a probability", bounds)
        return (0.0, 1.0)
    if not isinstance(wanted, Mean | Expectile):
        if bounds is not None:
            raise check.refuse("bounds", "left out for quantiles, which need none", bounds)
        return None
    if bounds is None:
        raise InvalidArgument(
            f"bounds must be given for {wanted!r}: only where outcomes cannot leave a known range"
            " (low, high) is there a bet against a mean that cannot be ruined by one outcome."
        )
    pair = check.vector("bounds", bounds)
    if pair.size != 2 or not pair[0] < pair[1]:
        raise check.refuse("bounds", "two numbers, the lower first", bounds)
    low, high = pair.tolist()
    if math.isinf(high - low):
        raise check.refuse("bounds", "closer together", bounds)
    return low, high


def refuse_outside(wanted: Audited, bounds: Bounds | None, outcomes: Any, forecasts: Any) -> None:
    """Refuse numbers that contradict the bounds."""
    if bounds is None:
        return
    for name, values in (("outcomes", outcomes), ("forecasts", forecasts[:, 0])):
        low, high = bounds
        wrong, must = (values < low) | (values > high), f"inside [{low:g}, {high:g}]"
        if name == "outcomes" and isinstance(wanted, Probability):
            wrong, must = (values != 0) & (values != 1) & ~np.isnan(values), "0 or 1"
        if wrong.any():
            at = int(np.flatnonzero(wrong)[0])
            raise InvalidArgument(f"{name} must be {must}, got {float(values[at])} at index {at}.")


def bets(
    part: Part, said: FloatArray, seen: FloatArray, bounds: Bounds | None
) -> tuple[FloatArray, FloatArray]:
    """Return z and m of both directions, shape (T, 2) each.

    >>> low, high = bets(Quantile(0.9), np.array([1.0, 1.0]), np.array([1.0, 2.0]), None)
    >>> low.tolist()
    [[0.0, 0.1], [1.0, 0.1]]
    >>> high.tolist()
    [[0.0, 0.9], [0.0, 0.9]]
    """
    if isinstance(part, Quantile):
        q = part.level
        return _pair(seen > said, 1 - q), _pair(seen < said, q)
    low, high = bounds or (0.0, 1.0)
    s, u = (said - low) / (high - low), (seen - low) / (high - low)
    if isinstance(part, Mean):
        return _pair(u, s), _pair(1 - u, 1 - s)
    q = part.level
    c = q * (1 - s) + (1 - q) * s
    v, n = np.where(u > s, q, 1 - q) * (u - s) / c, (1 - q) * s / c
    return _pair(v + n, n), _pair(1 - v - n, 1 - n)


def _pair(z: Any, m: Any) -> FloatArray:
    return np.column_stack([np.asarray(z, dtype=float), np.broadcast_to(m, np.shape(z))])
