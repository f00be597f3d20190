"""What all baselines share: the count of rounds, the draw, and the run's Lipschitz constant.

An algorithm says what it mixes (`_mix`) and how it learns (`_learn`); the rest is here, once.

    predict   the mixture of the round, made once; its draw is fixed by the seed and the round
    update    the loss is checked, divided by the run's constant and learned; then the next round

A refused loss changes nothing: `_learn` computes first and assigns last.
"""

import math
from abc import ABC, abstractmethod

import numpy as np

from trueup import _validation as check
from trueup._rounds import draw, remaining, run_lipschitz
from trueup.protocols import FloatArray, Loss, Mixture


class Baseline(ABC):
    """A forecaster for a known number of rounds.

    Parameters
    ----------
    rounds : int
        T, at least 2; the forecaster refuses to go further.
    seed : int
        Seed of the draws. A round's draw depends on the seed and the round alone, so `predict` may
        be asked as often as one likes.
    lipschitz : float, optional
        What all losses are divided by; that of the first sloped loss by default. Losses may be
        flatter, not steeper.
    """

    def __init__(self, rounds: int, seed: int = 0, *, lipschitz: float | None = None) -> None:
        self.rounds = check.integer("rounds", rounds, at_least=2)
        self.seed = check.integer("seed", seed, at_least=0)
        self.lipschitz = None if lipschitz is None else check.positive("lipschitz", lipschitz)
        self._played = 0
        self._mixture: Mixture | None = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}(rounds={self.rounds}, seed={self.seed})"

    @property
    def played(self) -> int:
        """How many rounds have been played."""
        return self._played

    @property
    @abstractmethod
    def spacing(self) -> float:
        """The distance between neighbouring forecasts."""

    @abstractmethod
    def _mix(self) -> tuple[FloatArray, FloatArray]:
        """Return this round's forecasts and the probability of each."""

    @abstractmethod
    def _learn(self, said: Mixture, loss: Loss, lipschitz: float) -> None:
        """Learn loss / lipschitz, having said this mixture; or refuse it and change nothing."""

    def predict(self) -> Mixture:
        """Return this round's mixture and the forecast drawn from it; asking changes nothing."""
        said = self._said()
        return Mixture(
            said.support.copy(), said.scales.copy(), said.probabilities.copy(), said.value
        )

    def update(self, loss: Loss) -> None:
        """Learn the loss of this round and go on to the next."""
        said = self._said()
        lipschitz = run_lipschitz(loss, self.lipschitz)
        self._learn(said, loss, lipschitz or 1.0)
        self.lipschitz = lipschitz
        self._played += 1
        self._mixture = None

    def _said(self) -> Mixture:
        """Return the mixture of this round, made on first use."""
        remaining(self.rounds, self._played)
        if self._mixture is None:
            support, probabilities = self._mix()
            drawn = draw(probabilities, self.seed, self._played)
            scales = np.full(support.size, self.spacing)
            self._mixture = Mixture(support, scales, probabilities, float(support[drawn]))
        return self._mixture


def values_at(points: FloatArray, loss: Loss, lipschitz: float) -> FloatArray:
    """Return loss / lipschitz at the points, less its smallest value there; all in [0, 1]."""
    values = check.vector("values of the loss", loss.value(points))
    return np.asarray((values - values.min()) / lipschitz)


def subgradients_at(points: FloatArray, loss: Loss, lipschitz: float) -> FloatArray:
    """Return a slope of loss / lipschitz at each point: the mean of both, at 0 and 1 the inner."""
    left, right = loss.slopes(points)
    left, right = np.where(points == 0, right, left), np.where(points == 1, left, right)
    return check.vector("slopes of the loss", (left + right) / (2 * lipschitz))


def root_up(number: int, degree: int) -> int:
    """Return the smallest whole number whose power of this degree is at least the given number.

    >>> root_up(1000, 3), root_up(1001, 3)
    (10, 11)
    """
    root = max(round(math.pow(number, 1 / degree)), 1)
    while root**degree < number:
        root += 1
    while root > 1 and (root - 1) ** degree >= number:
        root -= 1
    return root
