"""What can be forecast: statistics that are the best forecast under some convex loss.

| property | loss | identification in (forecast p, outcome y) |
|---|---|---|
| Mean() | (p - y)^2 | 2 (p - y) |
| Median() | abs(p - y) | 2 * 1[y <= p] - 1 |
| Quantile(level) | level (y - p)+ + (1 - level) (p - y)+ | 1[y <= p] - level |
| Expectile(level) | level (y - p)^2 below y, (1 - level) (p - y)^2 above | its derivative |

The identification is the right slope of the loss in the forecast: zero on average when forecasts
are right, positive when they are too high. (The paper prints the quantile score and its
identification with the opposite sign; see the errata in docs/theory.)
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from trueup import _validation as check
from trueup.distributions import FromCdf, Piecewise
from trueup.errors import InvalidArgument
from trueup.losses import Absolute, AsymmetricSquared, Pinball, Squared
from trueup.protocols import Distribution, FloatArray, Property

__all__ = ["Expectile", "Mean", "Median", "Quantile", "law_of_v"]


@dataclass(frozen=True)
class Mean:
    """The mean, the best forecast under squared loss.

    >>> Mean().score(0.5, [0.0, 1.0])
    array([0.25, 0.25])
    """

    def loss(self, outcome: float) -> Squared:
        """Return the loss of a forecast once the outcome is known."""
        return Squared(check.unit("outcome", outcome))

    def score(self, forecast: Any, outcome: Any) -> Any:
        """Return (forecast - outcome)^2."""
        forecast, outcome = _pair(forecast, outcome)
        return _plain((forecast - outcome) ** 2)

    def identification(self, forecast: Any, outcome: Any) -> Any:
        """Return 2 (forecast - outcome)."""
        forecast, outcome = _pair(forecast, outcome)
        return _plain(2 * (forecast - outcome))


@dataclass(frozen=True)
class Median:
    """The median, the best forecast under absolute loss.

    >>> Median().identification(0.5, [0.2, 0.5, 0.9])
    array([ 1.,  1., -1.])
    """

    def loss(self, outcome: float) -> Absolute:
        """Return the loss of a forecast once the outcome is known."""
        return Absolute(check.unit("outcome", outcome))

    def score(self, forecast: Any, outcome: Any) -> Any:
        """Return abs(forecast - outcome)."""
        forecast, outcome = _pair(forecast, outcome)
        return _plain(abs(forecast - outcome))

    def identification(self, forecast: Any, outcome: Any) -> Any:
        """Return 1 where the outcome is at or below the forecast, else -1."""
        forecast, outcome = _pair(forecast, outcome)
        return _plain(2.0 * (outcome <= forecast) - 1.0)


@dataclass(frozen=True)
class Quantile:
    """The quantile of the given level, the best forecast under pinball loss.

    >>> Quantile(0.9).loss(0.5)
    Pinball(v=0.5, q=0.9)
    >>> Quantile(0.9).identification(0.5, 0.4)
    0.1
    """

    level: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "level", check.open_unit("level", self.level))

    def loss(self, outcome: float) -> Pinball:
        """Return the loss of a forecast once the outcome is known."""
        return Pinball(check.unit("outcome", outcome), self.level)

    def score(self, forecast: Any, outcome: Any) -> Any:
        """Return the pinball loss."""
        forecast, outcome = _pair(forecast, outcome)
        error = outcome - forecast
        return _plain(np.maximum(self.level * error, (self.level - 1) * error))

    def identification(self, forecast: Any, outcome: Any) -> Any:
        """Return 1[outcome <= forecast] - level."""
        forecast, outcome = _pair(forecast, outcome)
        return _plain((outcome <= forecast) - self.level)


@dataclass(frozen=True)
class Expectile:
    """The expectile of the given level, the best forecast under asymmetric squared loss.

    >>> Expectile(0.8).loss(0.5)
    AsymmetricSquared(v=0.5, a=0.8)
    """

    level: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "level", check.open_unit("level", self.level))

    def loss(self, outcome: float) -> AsymmetricSquared:
        """Return the loss of a forecast once the outcome is known."""
        return AsymmetricSquared(check.unit("outcome", outcome), self.level)

    def score(self, forecast: Any, outcome: Any) -> Any:
        """Return the asymmetric squared loss."""
        forecast, outcome = _pair(forecast, outcome)
        return _plain(self._weight(forecast, outcome) * (outcome - forecast) ** 2)

    def identification(self, forecast: Any, outcome: Any) -> Any:
        """Return the derivative of the score in the forecast."""
        forecast, outcome = _pair(forecast, outcome)
        return _plain(2 * self._weight(forecast, outcome) * (forecast - outcome))

    def _weight(self, forecast: Any, outcome: Any) -> Any:
        return np.where(outcome > forecast, self.level, 1 - self.level)


def _pair(forecast: Any, outcome: Any) -> tuple[Any, Any]:
    """Both as arrays (or both as numbers), refused unless they are in [0, 1]."""
    said, seen = check.unit_numbers("forecast", forecast), check.unit_numbers("outcome", outcome)
    try:
        np.broadcast_shapes(said.shape, seen.shape)
    except ValueError:
        raise InvalidArgument(
            f"forecast and outcome must have shapes that fit, got {said.shape} and {seen.shape}."
        ) from None
    return said, seen


def _plain(values: Any) -> Any:
    """A float where numbers were given."""
    return float(values) if np.ndim(values) == 0 else values


def law_of_v(outcomes: Any, wanted: Property) -> Distribution:
    """Return the law of v, the kinks of a property's mean loss, from a law of the outcome.

    F_v(x) = (1 + E slope(x) / L) / 2; its median is the property itself. For a median v is the
    outcome.

    >>> from trueup.distributions import uniform
    >>> law_of_v(uniform(0.0, 1.0), Quantile(0.9)).quantile_set(0.5)
    (0.9, 0.9)
    """
    if isinstance(wanted, Median):
        law: Distribution = outcomes
        return law
    if isinstance(wanted, Quantile):
        return _after_quantile(outcomes, wanted.level, wanted.loss(0.5).lipschitz)
    if isinstance(wanted, Mean | Expectile):
        level = 0.5 if isinstance(wanted, Mean) else wanted.level
        factor = 2.0 if isinstance(wanted, Mean) else 1.0
        scale = wanted.loss(0.5).lipschitz
        return FromCdf(lambda x: _after_squares(outcomes, x, level, factor / scale))
    raise InvalidArgument(f"The law of v is not known for {wanted!r}; use a FiniteLaw of losses.")


def _after_quantile(outcomes: Any, level: float, scale: float) -> Distribution:
    """(1 + (F - level) / scale) / 2, exactly where F is piecewise."""
    if not isinstance(outcomes, Piecewise):
        return FromCdf(
            lambda x: (1 + (outcomes.cdf(x) - level) / scale) / 2,
            lambda x: (1 + (outcomes.cdf_left(x) - level) / scale) / 2,
        )
    left = (1 + (outcomes.left - level) / scale) / 2
    right = (1 + (outcomes.right - level) / scale) / 2
    left[0], right[-1] = 0.0, 1.0
    return Piecewise(outcomes.nodes, left, right)


def _after_squares(outcomes: Any, x: FloatArray, level: float, factor: float) -> FloatArray:
    """(1 + slope) / 2 with slope 2 (1 - level) E(x - y)+ - 2 level E(y - x)+, times a factor."""
    distance, mean = outcomes.expected_distance(x), outcomes.expected_distance(0.0)
    over, under = (distance + x - mean) / 2, (distance - x + mean) / 2
    return np.asarray((1 + 2 * factor * ((1 - level) * over - level * under)) / 2)
