"""The law of a round's loss: what an adversary answers with.

A law can be sampled (the usual game) and announced (the order-reversed game): announced, it is the
distribution phi-bar of v under the mean loss, its expected right slope turned into a CDF by
lemma 2.1.
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from trueup import _validation as check
from trueup.distributions import mix
from trueup.losses import refuse_wrong, v_shaped
from trueup.properties import law_of_v
from trueup.protocols import Distribution, Loss, Property


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
        for loss in self.losses:
            refuse_wrong(loss)

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
    >>> from trueup import Median
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
        return law_of_v(self.outcomes, self.wanted)
