"""Blum and Mansour's algorithm on a grid: swap regret of order T^(2/3) for convex losses.

The forecasts are z_i = i / (n - 1). Every z_i has a row: a Hedge learner over the whole grid that
says what to play instead of z_i (Blum and Mansour, JMLR 2007; Hedge is Freund and Schapire's).

    eta_i = sqrt(8 ln(n) / max(1, M_i))                       row i's learning rate
    Q_ij = exp(-eta_i L_ij) / sum_k exp(-eta_i L_ik)          row i's advice
    p Q = p                                                   what is played
    L_ij <- L_ij + p_i l(z_j),   M_i <- M_i + p_i             row i pays in proportion to p_i

A row's regret is at most ln(n) / eta_i at the end plus the sum of eta_i p_i^2 / 8 (Hoeffding's
lemma: p_i l has range p_i; rates that never rise). The sum of p_i^2 / sqrt(max(1, M_i)), M_i taken
before the round, is at most 2 sqrt(M_i) at the end, so the row's regret is at most
(3/2) sqrt(max(1, M_i) ln(n) / 2). Summed over rows whose masses sum to T, by Cauchy and Schwarz,
and with some grid point at most 1 / (2 (n - 1)) from the best forecast,

    pseudo swap regret <= (3/2) sqrt(n (T + n) ln(n) / 2) + T / (2 (n - 1)),

for 1-Lipschitz losses, whatever they are, as long as they do not depend on the draw. One rate
sqrt(8 n ln(n) / T) for all rows would save the factor 3/2, and does worse where few rows are used.
"""

import math
from typing import NamedTuple

import numpy as np

from trueup import _validation as check
from trueup.baselines._baseline import Baseline, root_up, values_at
from trueup.baselines._stationary import MIXING, stationary_law
from trueup.protocols import FloatArray, Loss, Mixture

__all__ = ["BlumMansour", "blum_mansour_bound"]


def grid_size(rounds: int, points: int | None) -> int:
    """Return n: as given, or T^(1/3), rounded up, and one."""
    if points is None:
        return root_up(rounds, 3) + 1
    return check.integer("points", points, at_least=2)


class State(NamedTuple):
    """What the next round needs."""

    losses: FloatArray  # L, shape (n, n)
    masses: FloatArray  # M, shape (n,)


def advice(state: State) -> FloatArray:
    """Return Q. Shifting each row by its least loss keeps exp in [0, 1]."""
    losses, masses = state
    rates = np.sqrt(8 * math.log(masses.size) / np.maximum(1, masses))
    raw = np.exp(-rates[:, None] * (losses - losses.min(axis=1, keepdims=True)))
    return np.asarray(raw / raw.sum(axis=1, keepdims=True))


def blum_mansour_bound(rounds: int, *, points: int | None = None) -> float:
    """Return what pseudo swap regret stays under, for 1-Lipschitz losses.

    Multiply by the Lipschitz constant of other losses.

    Examples
    --------
    >>> round(blum_mansour_bound(10_000))
    1129
    """
    rounds = check.integer("rounds", rounds, at_least=2)
    size = grid_size(rounds, points)
    learning = 1.5 * math.sqrt(size * (rounds + size) * math.log(size) / 2)
    return learning + rounds / (2 * (size - 1)) + MIXING * rounds


class BlumMansour(Baseline):
    """One Hedge learner per grid point, and the stationary law of their advice.

    Parameters
    ----------
    rounds : int
        T, at least 2; the forecaster refuses to go further.
    seed : int
        Seed of the draws.
    points : int, optional
        n, at least 2; T^(1/3) + 1, rounded up, by default. A round costs n^3.
    lipschitz : float, optional
        What all losses are divided by; that of the first sloped loss by default.

    Examples
    --------
    >>> from trueup.losses import Absolute
    >>> forecaster = BlumMansour(rounds=100, points=5)
    >>> for _ in range(50):
    ...     forecaster.update(Absolute(0.25))
    >>> mixture = forecaster.predict()
    >>> float(mixture.support[mixture.probabilities.argmax()])
    0.25
    """

    def __init__(
        self,
        rounds: int,
        seed: int = 0,
        *,
        points: int | None = None,
        lipschitz: float | None = None,
    ) -> None:
        super().__init__(rounds, seed, lipschitz=lipschitz)
        size = grid_size(self.rounds, points)
        self._grid = np.arange(size) / (size - 1)
        self._state = State(np.zeros((size, size)), np.zeros(size))

    @property
    def spacing(self) -> float:
        """1 / (n - 1), the distance between neighbouring grid points."""
        return 1 / (self._grid.size - 1)

    def rows(self) -> FloatArray:
        """Return what each row advises in this round, shape (n, n); every row sums to 1."""
        return advice(self._state)

    def _mix(self) -> tuple[FloatArray, FloatArray]:
        return self._grid, stationary_law(self.rows())

    def _learn(self, said: Mixture, loss: Loss, lipschitz: float) -> None:
        values = values_at(self._grid, loss, lipschitz)
        self._state = State(
            self._state.losses + np.outer(said.probabilities, values),
            self._state.masses + said.probabilities,
        )
