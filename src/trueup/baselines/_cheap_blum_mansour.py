"""Blum and Mansour's algorithm with one number per row: gradient descent instead of Hedge.

A convex loss of one number needs no weight per grid point: row i keeps one forecast x_i, moves it
by online gradient descent (Zinkevich 2003), and advises the two grid points around it, in the
proportion that has mean x_i. Discretise, round and reduce is the template of Fishelson et al.,
"Full Swap Regret and Discretized Calibration" (ALT 2025). With z_i = i / (n - 1):

    Q_ij = 1 - a,  Q_i(j+1) = a,  where j + a = x_i (n - 1)       row i's advice
    p Q = p                                                       what is played
    M_i <- M_i + p_i,   eta_i = 1 / sqrt(2 (1 + M_i))             row i's mass and step
    x_i <- clip(x_i - eta_i p_i l'(x_i), 0, 1)                    row i learns

with x_i = 1/2 at first. A row's regret is at most 1 / (2 eta_i) at the end plus the sum of
eta_i p_i^2 / 2, and so at most sqrt(2 (1 + M_i)). Rounding to neighbours h = 1 / (n - 1) apart
costs at most 2 a (1 - a) h <= h / 2 under a convex 1-Lipschitz loss. Summed over the rows,

    pseudo swap regret <= sqrt(2 n (T + n)) + T / (2 (n - 1)).
"""

import math
from typing import NamedTuple

import numpy as np

from trueup import _validation as check
from trueup.baselines._baseline import Baseline, subgradients_at
from trueup.baselines._blum_mansour import grid_size
from trueup.baselines._stationary import MIXING, stationary_law
from trueup.protocols import FloatArray, Loss, Mixture

__all__ = ["CheapBlumMansour", "cheap_blum_mansour_bound"]


class State(NamedTuple):
    """What the next round needs."""

    wanted: FloatArray  # x, shape (n,)
    masses: FloatArray  # M, shape (n,)


def advice(wanted: FloatArray) -> FloatArray:
    """Return Q: each x_i as a law on its two neighbours of the grid, with mean x_i.

    >>> advice(np.array([0.5, 0.25, 1.0]))
    array([[0. , 1. , 0. ],
           [0.5, 0.5, 0. ],
           [0. , 0. , 1. ]])
    """
    size = wanted.size
    place = wanted * (size - 1)
    below = np.minimum(place.astype(np.int64), size - 2)
    rows, each = np.zeros((size, size)), np.arange(size)
    rows[each, below] = 1 - (place - below)
    rows[each, below + 1] = place - below
    return rows


def cheap_blum_mansour_bound(rounds: int, *, points: int | None = None) -> float:
    """Return what pseudo swap regret stays under, for 1-Lipschitz losses.

    Multiply by the Lipschitz constant of other losses.

    Examples
    --------
    >>> round(cheap_blum_mansour_bound(10_000))
    906
    """
    rounds = check.integer("rounds", rounds, at_least=2)
    size = grid_size(rounds, points)
    learning = math.sqrt(2 * size * (rounds + size))
    return learning + rounds / (2 * (size - 1)) + MIXING * rounds


class CheapBlumMansour(Baseline):
    """One gradient descent per grid point, and the stationary law of their advice.

    Parameters
    ----------
    rounds : int
        T, at least 2; the forecaster refuses to go further.
    seed : int
        Seed of the draws.
    points : int, optional
        n, at least 2; T^(1/3) + 1, rounded up, by default.
    lipschitz : float, optional
        What all losses are divided by; that of the first sloped loss by default.

    Examples
    --------
    >>> from trueup.losses import Absolute
    >>> forecaster = CheapBlumMansour(rounds=100, points=5)
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
        self._state = State(np.full(size, 0.5), np.zeros(size))

    @property
    def spacing(self) -> float:
        """1 / (n - 1), the distance between neighbouring grid points."""
        return 1 / (self._grid.size - 1)

    def rows(self) -> FloatArray:
        """Return what each row advises in this round, shape (n, n); every row sums to 1."""
        return advice(self._state.wanted)

    def _mix(self) -> tuple[FloatArray, FloatArray]:
        return self._grid, stationary_law(self.rows())

    def _learn(self, said: Mixture, loss: Loss, lipschitz: float) -> None:
        wanted, masses = self._state
        slopes = said.probabilities * subgradients_at(wanted, loss, lipschitz)
        masses = masses + said.probabilities
        steps = 1 / np.sqrt(2 * (1 + masses))
        self._state = State(np.clip(wanted - steps * slopes, 0.0, 1.0), masses)
