"""The law of a round's loss: what an adversary answers with.

A law can be sampled (the usual game) and announced (the order-reversed game): announced, it is the
distribution phi-bar of v under the mean loss, its expected right slope turned into a CDF by
lemma 2.1.
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from trueup import _validation as check
from trueup.distributions import FromCdf, Piecewise, mix
from trueup.errors import InvalidArgument
from trueup.losses import v_shaped
from trueup.properties import Expectile, Mean, Median, Quantile
from trueup.protocols import Distribution, FloatArray, Loss, Property


class Law(Protocol):
    """A random loss."""

    def sample(self, rng: np.random.Generator) -> Loss:
        """Draw the loss."""
        ...

    def announced(self) -> Distribution:
        """Return the distribution of v under the mean loss."""
        ...


class FiniteLaw:
    """One of a few losses, each with its probability.

    Examples
    --------
    >>> from trueup.losses import Absolute
    >>> law = FiniteLaw([Absolute(0.25), Absolute(0.75)], [0.5, 0.5])
    >>> law.announced().cdf(0.5)
    0.5
    """

    def __init__(self, losses: list[Any], probabilities: Any) -> None:
        self.losses: list[Loss] = losses
        self.probabilities = check.probabilities("probabilities", probabilities)
        check.same_length("losses and probabilities", self.losses, self.probabilities)

    def sample(self, rng: np.random.Generator) -> Loss:
        """Draw the loss."""
        if len(self.losses) == 1:
            return self.losses[0]
        place = np.searchsorted(np.cumsum(self.probabilities), rng.random(), side="right")
        return self.losses[min(int(place), len(self.losses) - 1)]

    def announced(self) -> Distribution:
        """Return the distribution of v under the mean loss."""
        steepest = max(loss.lipschitz for loss in self.losses)
        laws = [v_shaped(loss, steepest or None).distribution for loss in self.losses]
        return laws[0] if len(laws) == 1 else mix(laws, self.probabilities)


@dataclass(frozen=True)
class OutcomeLaw:
    """The loss of a property at a random outcome.

    Examples
    --------
    >>> from trueup.distributions import uniform
    >>> OutcomeLaw(uniform(0.0, 1.0), Median()).announced().cdf(0.25)
    0.25
    """

    outcomes: Any  # a distribution with `sample`
    wanted: Property

    def sample(self, rng: np.random.Generator) -> Loss:
        """Draw an outcome and return its loss."""
        return self.wanted.loss(self.outcomes.sample(rng))

    def announced(self) -> Distribution:
        """Return the distribution of v under the mean loss."""
        outcomes, wanted = self.outcomes, self.wanted
        if isinstance(wanted, Median):
            law: Distribution = outcomes
            return law
        scale = wanted.loss(0.5).lipschitz
        if isinstance(wanted, Quantile):
            return _after_quantile(outcomes, wanted.level, scale)
        if isinstance(wanted, Mean | Expectile):
            level = 0.5 if isinstance(wanted, Mean) else wanted.level
            factor = 2.0 if isinstance(wanted, Mean) else 1.0
            return FromCdf(lambda x: _after_squares(outcomes, x, level, factor / scale))
        raise InvalidArgument(f"The law of {wanted!r} cannot be announced; use a FiniteLaw.")


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
