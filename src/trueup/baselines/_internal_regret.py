"""Internal regret on a grid: exponential weights over "instead of z_i say z_j".

Cesa-Bianchi and Lugosi (cesabianchi2006prediction, chapter 4), used for recalibration by Kuleshov
and Ermon (kuleshov2017estimating). The grid is z_i = i / N, i = 0 .. N, with M = N (N + 1) ordered
pairs i != j. With p^{i->j} the law p after its mass at i has moved to j, and losses l in [0, 1]:

    delta_ij proportional to exp(-eta_t L_ij),   eta_t = 3 sqrt(2 ln(M) / t)
    p = sum of delta_ij p^{i->j}                            what is played
    L_ij <- L_ij + sum over k of p_k^{i->j} l(z_k)

As the sums L_ij matter up to a constant, L_ij <- L_ij + p_i (l(z_j) - l(z_i)) will do. The fixed
point is the stationary law of the chain that goes from i to j at rate delta_ij. The loss is
(y - z)^2 for the mean and the pinball loss for a quantile.

Bound. What p pays is what delta pays on average over the modified laws, so its internal regret
max_ij sum_t p_i (l(z_i) - l(z_j)) is the regret of exponential weights on M experts with rates
that fall: ln(M) / eta_T + sum of eta_t / 8 <= sqrt(T ln M) (1 / a + a / 4) with a = 3 sqrt(2).
Swap regret on the grid is at most N + 1 times that.
"""

import math

import numpy as np

from trueup import _validation as check
from trueup.baselines._rival import ThresholdRival, bounded, coin
from trueup.baselines._stationary import MIXING, stationary_law
from trueup.protocols import FloatArray

__all__ = ["InternalRegretGrid", "internal_regret_bound"]

PACE = 3 * math.sqrt(2)  # a


def internal_regret_bound(rounds: int, *, points: int = 10) -> float:
    """Return what internal regret (before the draw, losses in [0, 1]) stays under.

    Examples
    --------
    >>> round(internal_regret_bound(10_000))
    281
    """
    rounds = check.integer("rounds", rounds, at_least=1)
    points = check.integer("points", points, at_least=1)
    logs = math.log(points * (points + 1))
    return math.sqrt(rounds * logs) * (1 / PACE + PACE / 4) + MIXING * rounds


def fixed_law(advantages: FloatArray, rate: float) -> FloatArray:
    """Return the p with p = sum of delta_ij p^{i->j}, from L and eta.

    >>> fixed_law(np.array([[0.0, -1.0], [1.0, 0.0]]), 2.0)
    array([0.018, 0.982])
    """
    raw = -rate * advantages
    np.fill_diagonal(raw, -np.inf)
    moves = np.exp(raw - raw.max())
    moves /= moves.sum(axis=1).max()
    np.fill_diagonal(moves, 1 - moves.sum(axis=1))
    return stationary_law(moves)


class InternalRegretGrid(ThresholdRival):
    """Forecasts from a grid without internal regret, for the mean or a quantile.

    Parameters
    ----------
    level : float, optional
        The level of the quantile; the mean by default.
    seed : int
        Seed of the draws.
    points : int
        N; a round costs N^3.
    low, high : float
        Between which outcome - forecast must lie; the grid is stretched over it.

    Examples
    --------
    >>> rival = InternalRegretGrid(seed=1)
    >>> for _ in range(200):
    ...     rival.update(0.7)
    >>> rival.predict()
    0.7
    """

    def __init__(
        self,
        level: float | None = None,
        seed: int = 0,
        *,
        points: int = 10,
        low: float = 0.0,
        high: float = 1.0,
    ) -> None:
        low, high = bounded("low", low), bounded("high", high)
        if high <= low:
            raise check.refuse("high", f"above low = {low}", high)
        super().__init__(0.5 if level is None else level, low=low, high=high)
        self.of_mean = level is None
        self.seed = check.integer("seed", seed, at_least=0)
        self.points = check.integer("points", points, at_least=1)
        self._grid = np.arange(self.points + 1) / self.points
        self._advantages = np.zeros((self.points + 1, self.points + 1))  # L
        self._law: FloatArray | None = None

    def __repr__(self) -> str:
        kind = "" if self.of_mean else f"level={self.level}, "
        return f"{type(self).__name__}({kind}points={self.points})"

    @property
    def threshold(self) -> float:
        """What is added to the forecast in the coming round, in natural units."""
        reached = np.cumsum(self.probabilities())
        drawn = int(np.searchsorted(reached, coin(self.seed, self._played), side="right"))
        share = float(self._grid[min(drawn, self.points)])
        return self._low + (self._high - self._low) * share

    def probabilities(self) -> FloatArray:
        """Return p of the coming round, shape (N + 1,)."""
        if self._law is None:
            pairs = self.points * (self.points + 1)
            rate = PACE * math.sqrt(math.log(pairs) / (self._played + 1))
            self._law = fixed_law(self._advantages, rate)
        return self._law.copy()

    def losses(self, residual: float) -> FloatArray:
        """Return l at each point of the grid, for a residual of [0, 1]."""
        above = residual - self._grid
        if self.of_mean:
            return np.asarray(above * above)
        return np.asarray(np.maximum(self.level * above, (self.level - 1) * above))

    def _learn(self, residual: float) -> None:
        losses = self.losses((residual - self._low) / (self._high - self._low))
        gaps = losses[None, :] - losses[:, None]  # l(z_j) - l(z_i)
        self._advantages = self._advantages + self.probabilities()[:, None] * gaps
        self._law = None
