"""A user's own convex loss, and a loss times a constant."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from trueup import _validation as check
from trueup.errors import InvalidArgument
from trueup.losses._piecewise import Pieces, checked, with_ends
from trueup.protocols import FloatArray, Loss

VALUE_TOLERANCE = 1e-6  # relative; slopes may be differences of the values
PROBES = np.linspace(0.0, 1.0, 9)  # where a new loss is looked at, to find a wrong one early


class Convex:
    """A convex loss given by two Python functions.

    Parameters
    ----------
    value : function of a number
        The loss of a forecast in [0, 1].
    slopes : function of a number
        The one-sided slopes (left, right) there, or one number where they agree. At 0 the left and
        at 1 the right one is not used.
    lipschitz : float
        A bound on the size of every slope.

    Examples
    --------
    >>> stock = Convex(lambda p: (p - 0.5) ** 4, lambda p: 4 * (p - 0.5) ** 3, lipschitz=0.5)
    >>> stock.value(1.0), stock.slopes(0.5)
    (0.0625, (0.0, 0.0))
    """

    def __init__(
        self,
        value: Callable[[float], float],
        slopes: Callable[[float], float | tuple[float, float]],
        *,
        lipschitz: float,
    ) -> None:
        if not callable(value) or not callable(slopes):
            raise InvalidArgument("value and slopes must be functions of a number.")
        self._value = value
        self._slopes = slopes
        self._lipschitz = check.positive("lipschitz", lipschitz)
        self._refuse_contradiction()

    def __repr__(self) -> str:
        return f"Convex({self._value!r}, {self._slopes!r}, lipschitz={self._lipschitz!r})"

    @property
    def lipschitz(self) -> float:
        """The bound given by the user."""
        return self._lipschitz

    def value(self, forecast: Any) -> Any:
        """Return the user's value."""
        points = checked(forecast)
        values = [check.finite("value", self._value(float(p))) for p in points.ravel()]
        return check.like(forecast, np.array(values).reshape(points.shape))

    def slopes(self, forecast: Any) -> Any:
        """Return the user's slopes, refusing what no convex loss within its bound can have."""
        points = checked(forecast)
        flat = points.ravel()
        left, right = np.array([self._both(float(p)) for p in flat]).reshape(-1, 2).T
        left = np.where(flat == 0, -self._lipschitz, left)
        right = np.where(flat == 1, self._lipschitz, right)
        refuse_impossible(flat, left, right, self._lipschitz)
        left, right = (np.clip(s, -self._lipschitz, self._lipschitz) for s in (left, right))
        shape = points.shape
        return with_ends(
            forecast, points, left.reshape(shape), right.reshape(shape), self._lipschitz
        )

    def _refuse_contradiction(self) -> None:
        """Refuse values whose steps are not between the slopes at both ends, where one looks."""
        left, right = self.slopes(PROBES)
        steps = np.diff(self.value(PROBES)) / np.diff(PROBES)
        slack = VALUE_TOLERANCE * self._lipschitz
        wrong = np.flatnonzero((steps < right[:-1] - slack) | (steps > left[1:] + slack))
        if wrong.size:
            start, end = PROBES[wrong[0]], PROBES[wrong[0] + 1]
            raise InvalidArgument(
                f"value must have the slopes given, got a step of {steps[wrong[0]]} per unit from"
                f" {start} to {end}, outside its slopes there."
            )

    def _both(self, point: float) -> tuple[float, float]:
        answer = self._slopes(point)
        if np.ndim(answer) > 0 and np.shape(answer) != (2,):
            raise check.refuse("slopes", "one number or a pair (left, right)", answer)
        left, right = answer if np.ndim(answer) else (answer, answer)  # type: ignore[misc]
        left = -self._lipschitz if point == 0 else check.finite("slopes", left)
        right = self._lipschitz if point == 1 else check.finite("slopes", right)
        return left, right


def refuse_impossible(
    points: FloatArray, left: FloatArray, right: FloatArray, lipschitz: float
) -> None:
    """Refuse slopes that no convex loss within its bound can have, naming the forecast."""
    slack = check.SLOPE_TOLERANCE * lipschitz
    size = np.maximum(np.abs(left), np.abs(right))
    steep = np.flatnonzero(~(size <= lipschitz + slack))  # so that NaN is caught too
    if steep.size:
        at = steep[0]
        raise InvalidArgument(
            f"slopes must be at most lipschitz={lipschitz} in size,"
            f" got ({left[at]}, {right[at]}) at forecast {points[at]}."
        )
    order = np.argsort(points, kind="stable")
    climb = np.column_stack([left[order], right[order]]).ravel()
    falls = np.diff(climb) < -slack
    falls[1::2] &= np.diff(points[order]) > 0  # equal points repeat their pair of slopes
    if falls.any():
        at = order[(np.flatnonzero(falls)[0] + 1) // 2]
        raise InvalidArgument(
            f"slopes must be non-decreasing (the loss convex), got a fall at forecast {points[at]}."
        )


@dataclass(frozen=True)
class Scaled:
    """A loss times a constant: a weight, or a change of unit.

    >>> from trueup.losses import Linear
    >>> Scaled(Linear(2.0), 0.5).lipschitz
    1.0
    """

    loss: Loss
    factor: float

    def __post_init__(self) -> None:
        check.instance("loss", self.loss, Loss, "a loss with value, slopes and lipschitz")
        object.__setattr__(self, "factor", check.positive("factor", self.factor))
        check.finite("factor times lipschitz", self.lipschitz)

    @property
    def lipschitz(self) -> float:
        """The factor times that of the loss."""
        return self.factor * self.loss.lipschitz

    def value(self, forecast: Any) -> Any:
        """Return the factor times the loss."""
        return self.factor * self.loss.value(forecast)

    def slopes(self, forecast: Any) -> Any:
        """Return the factor times the slopes."""
        left, right = self.loss.slopes(forecast)
        return self.factor * left, self.factor * right


def pieces_of(loss: Loss) -> Pieces | None:
    """Return the pieces of a loss, or None for one that is known by functions alone.

    >>> from trueup.losses import Linear
    >>> pieces_of(Scaled(Linear(2.0), 0.5)).slope
    1.0
    """
    if isinstance(loss, Scaled):
        inner = pieces_of(loss.loss)
        if inner is None:
            return None
        slope, curvature, knots, jumps, bends = inner
        k = loss.factor
        return Pieces(k * slope, k * curvature, knots, k * jumps, k * bends)
    found: Pieces | None = loss.pieces() if hasattr(loss, "pieces") else None
    return found


def refuse_wrong(loss: Any) -> None:
    """Refuse what is no loss, and a loss of somebody's own that is visibly not convex or too steep.

    Losses of this package have been checked when they were made. Any other is looked at in a few
    places; what it does between them is its promise.
    """
    check.instance("loss", loss, Loss, "a loss with value, slopes and lipschitz")
    inner = loss
    while isinstance(inner, Scaled):
        inner = inner.loss
    if isinstance(inner, Convex) or type(inner).__module__.startswith("trueup.losses."):
        return
    lipschitz = check.nonnegative("lipschitz", inner.lipschitz)
    values = check.vector("values of the loss", inner.value(PROBES))
    if values.size != PROBES.size:
        raise InvalidArgument(
            f"value must be one number a forecast, got {values.size} for {PROBES.size}."
        )
    try:
        left, right = inner.slopes(PROBES)
    except (TypeError, ValueError):
        raise InvalidArgument("slopes must be a pair (left, right).") from None
    left, right = (check.numbers("slopes", side) for side in (left, right))
    for side in (left, right):
        if side.shape not in ((), PROBES.shape):
            raise InvalidArgument(
                f"slopes must be one pair a forecast, got shape {side.shape}"
                f" for {PROBES.size} forecasts."
            )
    shape = PROBES.shape
    refuse_impossible(
        PROBES, np.broadcast_to(left, shape), np.broadcast_to(right, shape), lipschitz
    )
