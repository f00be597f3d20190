"""Adversaries that answer to the mixture of the round and to all that happened before."""

import math
from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from trueup import _validation as check
from trueup.adversaries._laws import FiniteLaw, Law
from trueup.adversaries._oblivious import _OfProperty, point
from trueup.adversaries._protocol import View
from trueup.protocols import Loss

JUST = 1e-9


@dataclass
class NearUniform(_OfProperty):
    """Two outcomes 1/2 apart, the slightly likelier one at the mean forecast."""

    epsilon: float = 0.01

    def __post_init__(self) -> None:
        super().__post_init__()
        check.unit("2 * epsilon", 2 * self.epsilon)

    def law(self, view: View) -> Law:
        """Return the two-point law around the mean of the mixture."""
        place = view.mean()
        other = place + 0.5 if place <= 0.5 else place - 0.5
        losses = [self.wanted.loss(place), self.wanted.loss(other)]
        return FiniteLaw(losses, [0.5 + self.epsilon, 0.5 - self.epsilon])


@dataclass
class SidePush(_OfProperty):
    """Outcome 0 when the likeliest forecast is above 1/2, else 1: the hardest one known here."""

    def law(self, view: View) -> Law:
        """Return the end that is farther from the likeliest forecast."""
        return point(0.0 if view.likeliest() > 0.5 else 1.0, self.wanted)


@dataclass
class BinMajority(_OfProperty):
    """The end to which the forecasts' imbalances point, so that they grow.

    A_b sums the signs of outcome - b over the rounds in which b was drawn. Each forecast of the
    mixture votes with its probability for the side of A_b; a tie goes away from the mean. The
    outcome maximises the sum of probability * sign(A_b) * (v - b), which is linear in v: an end is
    enough. With abs(v - b) in its place one would have to look at a whole grid; that is not done.
    """

    def reset(self, rounds: int, seed: int) -> None:
        """Forget all imbalances."""
        super().reset(rounds, seed)
        self._imbalance: defaultdict[float, float] = defaultdict(float)
        self._outcome = 0.0

    def law(self, view: View) -> Law:
        """Return the end of the majority."""
        signs = np.array([np.sign(self._imbalance[float(b)]) for b in view.support])
        vote = float(signs @ view.probabilities) or 0.5 - view.mean()
        self._outcome = 1.0 if vote > 0 else 0.0
        return point(self._outcome, self.wanted)

    def observe(self, forecast: float, loss: Loss) -> None:
        """Count the side on which the outcome fell."""
        del loss
        self._imbalance[forecast] += float(np.sign(self._outcome - forecast))


@dataclass
class PotentialGreedy(_OfProperty):
    """The outcome that the forecaster's own evidence gains most from, ties drawn at random.

    It needs a look inside (`cell_gains`); for forecasters that do not show their evidence it takes
    the outcome farthest from the mean forecast.
    """

    def law(self, view: View) -> Law:
        """Return the outcome of the largest gain."""
        if view.cell_gains is None:
            return point(0.0 if view.mean() > 0.5 else 1.0, self.wanted)
        cells, values = view.cell_gains()
        slack = 1e-12 * max(float(np.abs(values).max()), 1e-300)
        best = np.flatnonzero(values >= values.max() - slack)
        return point(float(cells[self.rng.choice(best)]), self.wanted)


@dataclass
class JustAbove(_OfProperty):
    """Just above every forecast while the median one is below 1/2, else 0.

    Whatever single forecast is said, the outcome contradicts it; a forecaster whose average is
    right is still wrong at every level it says.
    """

    def law(self, view: View) -> Law:
        """Return the outcome that contradicts the mixture."""
        above = min(float(view.support[view.probabilities > 0].max()) + JUST, 1.0)
        return point(above if view.median() < 0.5 else 0.0, self.wanted)


@dataclass
class SignPreservation(_OfProperty):
    """Epochs with a coin of some mean; one ends when the forecasts are biased, the next moves on.

    The idea of sidestepping (Qiao and Valiant, 2021): a bias to one side can be repaired only by
    later forecasts at the same place, so the next epoch keeps to the side where it cannot be. A
    stress test; the lower bounds known for it concern another measure.
    """

    def reset(self, rounds: int, seed: int) -> None:
        """Start with the whole interval."""
        super().reset(rounds, seed)
        self._length = max(math.ceil(rounds ** (2 / 3)), 1)
        self._low, self._high, self._bias, self._age = 0.0, 1.0, 0.0, 0

    def law(self, view: View) -> Law:
        """Return the coin of this epoch."""
        del view
        mean = (self._low + self._high) / 2
        return FiniteLaw([self.wanted.loss(0.0), self.wanted.loss(1.0)], [1 - mean, mean])

    def observe(self, forecast: float, loss: Loss) -> None:
        """Add to the bias of this epoch; end the epoch when it is large or old."""
        outcome = 0.0 if loss.value(0.0) < loss.value(1.0) else 1.0
        self._bias += outcome - forecast
        self._age += 1
        if abs(self._bias) <= math.sqrt(self._length) and self._age < self._length:
            return
        mean = (self._low + self._high) / 2
        self._low, self._high = (mean, self._high) if self._bias > 0 else (self._low, mean)
        if self._high - self._low < 1 / self._length:
            self._low, self._high = 0.0, 1.0
        self._bias, self._age = 0.0, 0
