"""Losses that measure the distance of a forecast from one point v, the outcome.

| loss | value at forecast p | lipschitz on [0, 1] |
|---|---|---|
| Absolute(v) | abs(p - v) | 1 |
| Pinball(v, q) | q (v - p) below v, (1 - q) (p - v) above | max(q, 1 - q) |
| Squared(v) | (p - v)^2 | 2 |
| AsymmetricSquared(v, a) | a (v - p)^2 below v, (1 - a) (p - v)^2 above | 2 max(a, 1 - a) |
| Huber(v, d) | (p - v)^2 / 2 within d of v, d (abs(p - v) - d / 2) beyond | min(d, 1) |

The Lipschitz constants hold for every v at once, so that a run divides all its rounds by the same.
The signs of the pinball loss are those of the erratum: the paper prints its negative.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from trueup import _validation as check
from trueup.losses._piecewise import Pieces, checked, with_ends

NARROWEST = 1e-6  # of a Huber loss; below it, v - delta and v + delta lose their digits


@dataclass(frozen=True)
class Absolute:
    """The distance to v; its best constant forecast is a median.

    >>> Absolute(0.25).value(1.0), Absolute(0.25).slopes(0.25)
    (0.75, (-1.0, 1.0))
    """

    v: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "v", check.unit("v", self.v))

    @property
    def lipschitz(self) -> float:
        """1."""
        return 1.0

    def value(self, forecast: Any) -> Any:
        """Return abs(forecast - v)."""
        return check.like(forecast, np.abs(checked(forecast) - self.v))

    def slopes(self, forecast: Any) -> Any:
        """Return -1 before v and 1 after it."""
        points = checked(forecast)
        left, right = np.where(points > self.v, 1.0, -1.0), np.where(points >= self.v, 1.0, -1.0)
        return with_ends(forecast, points, left, right, 1.0)

    def pieces(self) -> Pieces:
        """Return the slope as pieces."""
        return Pieces(-1.0, 0.0, np.array([self.v]), np.array([2.0]), np.array([0.0]))


@dataclass(frozen=True)
class Pinball:
    """The loss of a q-quantile forecast: too low costs q, too high costs 1 - q per unit.

    >>> Pinball(0.5, 0.9).value(0.0), Pinball(0.5, 0.9).value(1.0)
    (0.45, 0.05)
    """

    v: float
    q: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "v", check.unit("v", self.v))
        object.__setattr__(self, "q", check.open_unit("q", self.q))

    @property
    def lipschitz(self) -> float:
        """max(q, 1 - q)."""
        return max(self.q, 1 - self.q)

    def value(self, forecast: Any) -> Any:
        """Return max(q (v - forecast), (1 - q) (forecast - v))."""
        error = self.v - checked(forecast)
        return check.like(forecast, np.maximum(self.q * error, (self.q - 1) * error))

    def slopes(self, forecast: Any) -> Any:
        """Return -q before v and 1 - q after it."""
        points = checked(forecast)
        left = np.where(points > self.v, 1 - self.q, -self.q)
        right = np.where(points >= self.v, 1 - self.q, -self.q)
        return with_ends(forecast, points, left, right, self.lipschitz)

    def pieces(self) -> Pieces:
        """Return the slope as pieces."""
        return Pieces(-self.q, 0.0, np.array([self.v]), np.array([1.0]), np.array([0.0]))


@dataclass(frozen=True)
class AsymmetricSquared:
    """The loss of an a-expectile forecast: squared errors, weighted a below v and 1 - a above.

    >>> AsymmetricSquared(0.5, 0.75).value(0.0), AsymmetricSquared(0.5, 0.75).value(1.0)
    (0.1875, 0.0625)
    """

    v: float
    a: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "v", check.unit("v", self.v))
        object.__setattr__(self, "a", check.open_unit("a", self.a))

    @property
    def lipschitz(self) -> float:
        """2 max(a, 1 - a)."""
        return 2 * max(self.a, 1 - self.a)

    def value(self, forecast: Any) -> Any:
        """Return the weighted squared error."""
        error = self.v - checked(forecast)
        return check.like(forecast, np.where(error > 0, self.a, 1 - self.a) * error**2)

    def slopes(self, forecast: Any) -> Any:
        """Return the derivative, twice."""
        points = checked(forecast)
        error = self.v - points
        slope = -2 * np.where(error > 0, self.a, 1 - self.a) * error
        return with_ends(forecast, points, slope, slope, self.lipschitz)

    def pieces(self) -> Pieces:
        """Return the slope as pieces."""
        bend = 2 * (1 - self.a) - 2 * self.a
        zero = np.array([0.0])
        return Pieces(-2 * self.a * self.v, 2 * self.a, np.array([self.v]), zero, np.array([bend]))


@dataclass(frozen=True)
class Squared:
    """The squared error; its best constant forecast is the mean.

    >>> Squared(0.5).value(1.0), Squared(0.5).slopes(0.75)
    (0.25, (0.5, 0.5))
    """

    v: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "v", check.unit("v", self.v))

    @property
    def lipschitz(self) -> float:
        """2."""
        return 2.0

    def value(self, forecast: Any) -> Any:
        """Return (forecast - v)^2."""
        return check.like(forecast, (checked(forecast) - self.v) ** 2)

    def slopes(self, forecast: Any) -> Any:
        """Return the derivative, twice."""
        points = checked(forecast)
        slope = 2 * (points - self.v)
        return with_ends(forecast, points, slope, slope, 2.0)

    def pieces(self) -> Pieces:
        """Return the slope as pieces."""
        return Pieces(-2 * self.v, 2.0, np.empty(0), np.empty(0), np.empty(0))


@dataclass(frozen=True)
class Huber:
    """Squared error near v, absolute error beyond delta.

    >>> Huber(0.5, 0.25).value(1.0), Huber(0.5, 0.25).lipschitz
    (0.09375, 0.25)
    """

    v: float
    delta: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "v", check.unit("v", self.v))
        object.__setattr__(self, "delta", check.positive("delta", self.delta))
        if self.delta < NARROWEST:
            raise check.refuse("delta", f"at least {NARROWEST}", self.delta)

    @property
    def lipschitz(self) -> float:
        """min(delta, 1)."""
        return min(self.delta, 1.0)

    def value(self, forecast: Any) -> Any:
        """Return the squared error halved, or its tangent beyond delta."""
        size = np.abs(checked(forecast) - self.v)
        near, far = size**2 / 2, self.delta * (size - self.delta / 2)
        return check.like(forecast, np.where(size <= self.delta, near, far))

    def slopes(self, forecast: Any) -> Any:
        """Return the error clipped to [-delta, delta], twice."""
        points = checked(forecast)
        slope = np.clip(points - self.v, -self.delta, self.delta)
        return with_ends(forecast, points, slope, slope, self.lipschitz)

    def pieces(self) -> Pieces:
        """Return the slope as pieces."""
        start, end = self.v - self.delta, self.v + self.delta
        knots = np.array([start, end])
        bends = np.array([1.0, -1.0])
        inside = (knots > 0) & (knots < 1)
        slope, curvature = (-self.delta, 0.0) if start > 0 else (-self.v, 1.0)
        return Pieces(slope, curvature, knots[inside], np.zeros(inside.sum()), bends[inside])
