"""What an adversary sees and what it must do."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from trueup._rounds import ADVERSARIES
from trueup.adversaries._laws import Law
from trueup.protocols import FloatArray, Loss
from trueup.record import History

Gains = Callable[[], tuple[FloatArray, FloatArray]]


@dataclass(frozen=True)
class View:
    """What an adversary may know in round `round` (counted from 0): not the draw."""

    round: int
    support: FloatArray
    scales: FloatArray
    probabilities: FloatArray
    spacing: float  # between the forecaster's finest forecasts
    history: History  # all earlier rounds, with their draws
    cell_gains: Gains | None = None  # what the forecaster's evidence gains, outcome by outcome

    def median(self) -> float:
        """Return the smallest median of the mixture.

        >>> from trueup.record import Recorder
        >>> half = np.array([0.5, 0.5])
        >>> View(0, np.array([0.9, 0.1]), half, half, 0.5, History(Recorder())).median()
        0.1
        """
        order = np.argsort(self.support, kind="stable")
        reached = np.cumsum(self.probabilities[order]) >= 0.5 - 1e-12
        return float(self.support[order][np.argmax(reached)])

    def mean(self) -> float:
        """Return the mean of the mixture."""
        return float(np.clip(self.support @ self.probabilities, 0, 1))

    def likeliest(self) -> float:
        """Return the forecast with the largest probability (the first of equals)."""
        return float(self.support[np.argmax(self.probabilities)])


class Adversary(ABC):
    """Base of all adversaries: a setting that never changes, and the state of one run.

    A subclass is a dataclass of settings that defines `law`; what it must remember of a run it
    keeps in attributes set by `reset`, which is called before the first round. `play` runs a copy,
    so one adversary can serve many runs.
    """

    @property
    def lipschitz(self) -> float:
        """A bound on the Lipschitz constants of the losses it answers with."""
        return 1.0

    def reset(self, rounds: int, seed: int) -> None:
        """Start a run of so many rounds."""
        self.rounds = rounds
        self.rng = np.random.default_rng((ADVERSARIES, seed))

    @abstractmethod
    def law(self, view: View) -> Law:
        """Return the law of this round's loss."""

    def observe(self, forecast: float, loss: Loss) -> None:  # noqa: B027 - most need nothing
        """Learn the draw and the loss once both are fixed."""
