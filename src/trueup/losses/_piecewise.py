"""Piecewise-linear losses, and the form in which a loss is summed with others.

The slope of every analytic loss here is piecewise linear with jumps, so it is held exactly by a
few numbers (`Pieces`). Sums of such losses are again of this form, which is how `trueup.metrics`
finds the true minimiser of a group of rounds.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from trueup import _validation as check
from trueup.errors import InvalidArgument
from trueup.protocols import ArrayLike, FloatArray


class Pieces(NamedTuple):
    """The slope of a loss: slope + curvature x, plus jump + bend (x - knot) beyond each knot."""

    slope: float  # right slope at 0, without a knot at 0
    curvature: float  # of the first piece
    knots: FloatArray  # shape (n,), in [0, 1]
    jumps: FloatArray  # rise of the slope at each knot, shape (n,)
    bends: FloatArray  # change of curvature at each knot, shape (n,)


def checked(forecast: Any) -> FloatArray:
    """Return the forecast as an array, refusing what lies outside [0, 1]."""
    return check.unit_numbers("forecast", forecast)


def with_ends(asked: Any, points: FloatArray, left: Any, right: Any, steepest: float) -> Any:
    """Apply the convention at 0 and 1 to one-sided slopes, and return them like what was asked."""
    left = np.where(points == 0, -steepest, left)
    right = np.where(points == 1, steepest, right)
    return check.like(asked, left), check.like(asked, right)


@dataclass(frozen=True)
class Linear:
    """The loss c * forecast.

    >>> Linear(-0.5).value(0.5), Linear(-0.5).lipschitz
    (-0.25, 0.5)
    """

    c: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "c", check.finite("c", self.c))

    @property
    def lipschitz(self) -> float:
        """The size of c."""
        return abs(self.c)

    def value(self, forecast: Any) -> Any:
        """Return c * forecast."""
        return check.like(forecast, self.c * checked(forecast))

    def slopes(self, forecast: Any) -> Any:
        """Return c twice, inside the interval."""
        points = checked(forecast)
        slope = np.full(points.shape, self.c)
        return with_ends(forecast, points, slope, slope, self.lipschitz)

    def pieces(self) -> Pieces:
        """Return the slope as pieces."""
        return Pieces(self.c, 0.0, np.empty(0), np.empty(0), np.empty(0))


@dataclass(frozen=True, eq=False)
class PiecewiseLinear:
    """The continuous loss with the given slopes between knots, and value 0 at forecast 0.

    Parameters
    ----------
    knots : sequence
        Where the slope changes: strictly increasing, inside [0, 1]. The ends 0 and 1 of the
        interval may be listed or left out.
    slopes : sequence
        One slope per stretch between the knots and the ends, never decreasing.

    Examples
    --------
    >>> loss = PiecewiseLinear([0.25, 0.75], [-1.0, 0.0, 2.0])
    >>> loss.value(1.0), loss.lipschitz
    (0.25, 2.0)
    >>> loss.slopes(0.75)
    (0.0, 2.0)
    """

    knots: FloatArray
    slopes_between: FloatArray

    def __init__(self, knots: ArrayLike, slopes: ArrayLike) -> None:
        places = check.unit_vector("knots", knots)
        steps = check.vector("slopes", slopes)
        if np.any(np.diff(places) <= 0):
            raise check.refuse("knots", "sorted and strictly increasing", places.tolist())
        places = places[(places > 0) & (places < 1)]
        if steps.size != places.size + 1:
            raise InvalidArgument(
                f"slopes must be one per stretch between the knots and the ends of [0, 1]:"
                f" {places.size + 1}, got {steps.size}."
            )
        if np.any(np.diff(steps) < 0):
            raise check.refuse("slopes", "non-decreasing (the loss convex)", steps.tolist())
        object.__setattr__(self, "knots", places)
        object.__setattr__(self, "slopes_between", steps)
        nodes = np.concatenate([[0.0], places, [1.0]])
        rises = np.concatenate([[0.0], np.cumsum(steps * np.diff(nodes))])
        object.__setattr__(self, "_nodes", nodes)
        object.__setattr__(self, "_values", rises)

    @property
    def lipschitz(self) -> float:
        """The size of the steepest slope."""
        return float(np.abs(self.slopes_between).max())

    def value(self, forecast: Any) -> Any:
        """Return the integral of the slope from 0 to the forecast."""
        return check.like(forecast, np.interp(checked(forecast), self._nodes, self._values))  # type: ignore[attr-defined]

    def slopes(self, forecast: Any) -> Any:
        """Return the slopes of the stretches to the left and to the right."""
        points = checked(forecast)
        left = self.slopes_between[np.searchsorted(self.knots, points, side="left")]
        right = self.slopes_between[np.searchsorted(self.knots, points, side="right")]
        return with_ends(forecast, points, left, right, self.lipschitz)

    def pieces(self) -> Pieces:
        """Return the slope as pieces."""
        jumps = np.diff(self.slopes_between)
        return Pieces(float(self.slopes_between[0]), 0.0, self.knots, jumps, np.zeros_like(jumps))
