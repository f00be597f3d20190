"""Shapes of the things that the rooms hand to each other. Nothing here runs.

Arrays are float64 unless said. `Loss`, `Distribution` and `Forecaster` are protocols: anything with
these methods will do, nothing has to be subclassed.
"""

from typing import Any, NamedTuple, Protocol, overload, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

__all__ = [
    "ArrayLike",
    "BoolArray",
    "Distribution",
    "FloatArray",
    "Forecaster",
    "IntArray",
    "Issued",
    "Loss",
    "Mixture",
    "Property",
]


@runtime_checkable
class Loss(Protocol):
    """A convex function of a forecast in [0, 1], in natural units."""

    @property
    def lipschitz(self) -> float:
        """A bound on the size of every slope; algorithms divide by it."""
        ...

    @overload
    def value(self, forecast: float) -> float: ...
    @overload
    def value(self, forecast: FloatArray) -> FloatArray: ...
    def value(self, forecast: Any) -> Any:
        """Return the loss of a forecast, or of each forecast of an array."""
        ...

    @overload
    def slopes(self, forecast: float) -> tuple[float, float]: ...
    @overload
    def slopes(self, forecast: FloatArray) -> tuple[FloatArray, FloatArray]: ...
    def slopes(self, forecast: Any) -> Any:
        """Return the one-sided slopes (left, right) at a forecast, or at each of an array."""
        ...


@runtime_checkable
class Distribution(Protocol):
    """A distribution of v on [0, 1]."""

    @overload
    def cdf(self, x: float) -> float: ...
    @overload
    def cdf(self, x: FloatArray) -> FloatArray: ...
    def cdf(self, x: Any) -> Any:
        """Return Pr[v <= x]."""
        ...

    @overload
    def cdf_left(self, x: float) -> float: ...
    @overload
    def cdf_left(self, x: FloatArray) -> FloatArray: ...
    def cdf_left(self, x: Any) -> Any:
        """Return Pr[v < x]."""
        ...

    @overload
    def expected_distance(self, p: float) -> float: ...
    @overload
    def expected_distance(self, p: FloatArray) -> FloatArray: ...
    def expected_distance(self, p: Any) -> Any:
        """Return E|p - v|."""
        ...

    def quantile_set(self, level: float) -> tuple[float, float]:
        """Return the ends of the interval of all `level`-quantiles."""
        ...


class Mixture(NamedTuple):
    """What a forecaster says in a round: a distribution over forecasts, and the draw from it."""

    support: FloatArray  # b: the forecasts that may be drawn, shape (n,)
    scales: (
        FloatArray  # r: the scale of each, shape (n,); the grid's spacing where there is one scale
    )
    probabilities: FloatArray  # shape (n,), sums to 1
    value: float  # the draw; an adversary never sees it before it has chosen its loss


class Issued(Protocol):
    """What any forecaster says in a round: a `Mixture`, or anything that can be read like one."""

    @property
    def support(self) -> FloatArray:
        """The forecasts that may be drawn."""
        ...

    @property
    def scales(self) -> FloatArray:
        """The scale of each."""
        ...

    @property
    def probabilities(self) -> FloatArray:
        """The probability of each."""
        ...

    @property
    def value(self) -> float:
        """What is said."""
        ...


@runtime_checkable
class Forecaster(Protocol):
    """A predictor or a baseline: it forecasts, then learns from the loss of the round."""

    @property
    def spacing(self) -> float:
        """The distance between its finest forecasts (an adversary may aim between them)."""
        ...

    def predict(self) -> Issued:
        """Return the mixture of this round; asking again changes nothing."""
        ...

    def update(self, loss: Loss) -> None:
        """Learn the loss of this round and go on to the next."""
        ...


@runtime_checkable
class Property(Protocol):
    """A statistic of an outcome's distribution that is the best forecast under some loss."""

    def loss(self, outcome: float) -> Loss:
        """Return the loss of forecasting this property when the outcome is known."""
        ...

    def score(self, forecast: ArrayLike, outcome: ArrayLike) -> FloatArray:
        """Return the loss of each forecast at each outcome."""
        ...

    def identification(self, forecast: ArrayLike, outcome: ArrayLike) -> FloatArray:
        """Return the slope of the score in the forecast: zero on average when it is right."""
        ...
