"""Calibration in the squared sense at the rate T^(1/3), for squared losses only.

Algorithm 1 of Luo, Senapati and Sharan, "Simultaneous Swap Regret Minimization via KL-Calibration"
(NeurIPS 2025). The grid is fine near 0 and 1,

    z_i = sin^2(pi i / (2K)),  i = 1 .. K-1,     z_0 = sin^2(pi / (4K)),  z_K = cos^2(pi / (4K)),

with ends inside (0, 1), where the log loss is finite. Row i estimates the mean outcome of the
rounds spent on z_i as a Beta posterior does, and rounds it to the two grid points a <= w <= b
around it; an estimate beyond the grid goes to its end:

    w_i = (1 + sum p_i y) / (2 + sum p_i)                                   row i's estimate
    Q_i(b) : Q_i(a) = (w - a) / (a (1 - a)) : (b - w) / (b (1 - b))         row i's advice
    p Q = p                                                                 what is played

Bound. Measure rows by the log loss. The Beta posterior's regret is at most ln(1 + M_i) for a row
of mass M_i. By ln x <= x - 1 the rounding costs, for y = 0 and y = 1 alike, at most

    (b - w) (w - a) (b - a) / ((b - w) a (1 - a) + (w - a) b (1 - b)),

which at its largest in w is the squared tangent of the angle between a and b. Half of the sum
bounds the squared error, because KL >= 2 (difference)^2 (Pinsker):

    sum_i M_i (z_i - mean of y)^2 <= ((K+1) ln(1 + T / (K+1)) + T tan^2(pi / (2K))) / 2,

M_i and the mean being weighted by p_i. A loss with slope L (p - y) tells its outcome y; one that
is flatter than the run's steepest counts less, in proportion.
"""

import math

import numpy as np

from trueup import _validation as check
from trueup.baselines._baseline import Baseline
from trueup.baselines._stationary import MIXING, stationary_law
from trueup.protocols import FloatArray, Loss, Mixture

__all__ = ["SquaredCalibration", "squared_calibration_bound"]

PROBES = np.array([0.0, 0.25, 0.5, 0.75, 1.0])  # where a loss must look like a squared one


def grid_of(rounds: int, points: int | None) -> FloatArray:
    """Return z_0 .. z_K, where K = (T / ln T)^(1/3), rounded up, unless K + 1 is given.

    >>> grid_of(100, 3).round(3)
    array([0.146, 0.5  , 0.854])
    """
    if points is None:
        points = max(math.ceil((rounds / math.log(rounds)) ** (1 / 3)), 2) + 1
    count = check.integer("points", points, at_least=3) - 1
    places = np.arange(count + 1, dtype=np.float64)
    places[0], places[-1] = 0.5, count - 0.5
    return np.asarray(np.sin(math.pi * places / (2 * count)) ** 2)


def advice(estimates: FloatArray, grid: FloatArray) -> FloatArray:
    """Return Q: each estimate as a law on its two neighbours of the grid."""
    inside = np.clip(estimates, grid[0], grid[-1])
    below = np.minimum(np.searchsorted(grid, inside, side="right") - 1, grid.size - 2)
    low, high = grid[below], grid[below + 1]
    up, down = (inside - low) / (low * (1 - low)), (high - inside) / (high * (1 - high))
    rows, each = np.zeros((estimates.size, grid.size)), np.arange(estimates.size)
    rows[each, below] = down / (up + down)
    rows[each, below + 1] = up / (up + down)
    return rows


def outcome_of(loss: Loss) -> float:
    """Return the y of a loss with slope lipschitz (p - y), and refuse any other loss.

    >>> from trueup.losses import Squared
    >>> outcome_of(Squared(0.25))
    0.25
    """
    steepest = loss.lipschitz
    left, right = (np.asarray(slopes, dtype=np.float64) for slopes in loss.slopes(PROBES))
    outcome = -float(right[0]) / steepest if steepest > 0 else math.nan
    wanted = steepest * (PROBES - outcome)
    worst = max(np.abs(left - wanted)[1:].max(), np.abs(right - wanted)[:-1].max())
    if not worst <= check.SLOPE_TOLERANCE * steepest:  # also refuses NaN
        raise check.refuse("loss", "a squared loss: slope lipschitz * (forecast - outcome)", loss)
    return min(max(outcome, 0.0), 1.0)


def squared_calibration_bound(rounds: int, *, points: int | None = None) -> float:
    """Return what the pseudo swap regret under (p - y)^2, a calibration error, stays under.

    Examples
    --------
    >>> round(squared_calibration_bound(10_000))
    144
    """
    rounds = check.integer("rounds", rounds, at_least=2)
    grid = grid_of(rounds, points)
    size = grid.size
    learning = size * math.log1p(rounds / size)
    rounding = rounds * math.tan(math.pi / (2 * (size - 1))) ** 2
    mixing = MIXING * rounds * -math.log(grid[0])
    return (learning + rounding + mixing) / 2


class SquaredCalibration(Baseline):
    """One running mean per grid point, and the stationary law of their advice; squared losses only.

    Parameters
    ----------
    rounds : int
        T, at least 2; the forecaster refuses to go further.
    seed : int
        Seed of the draws.
    points : int, optional
        K + 1, at least 3; (T / ln T)^(1/3) + 1, rounded up, by default.
    lipschitz : float, optional
        What all losses are divided by; that of the first loss by default.

    Examples
    --------
    >>> from trueup.losses import Squared
    >>> forecaster = SquaredCalibration(rounds=100, points=5)
    >>> for _ in range(50):
    ...     forecaster.update(Squared(0.5))
    >>> mixture = forecaster.predict()
    >>> float(mixture.support[mixture.probabilities.argmax()])
    0.5
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
        self._grid = grid_of(self.rounds, points)
        self._mass = np.zeros(self._grid.size)  # sum of p_i
        self._sums = np.zeros(self._grid.size)  # sum of p_i y

    @property
    def spacing(self) -> float:
        """The distance between the first two grid points, the closest ones."""
        return float(self._grid[1] - self._grid[0])

    def rows(self) -> FloatArray:
        """Return what each row advises in this round, shape (K + 1, K + 1)."""
        return advice((1 + self._sums) / (2 + self._mass), self._grid)

    def _mix(self) -> tuple[FloatArray, FloatArray]:
        return self._grid, stationary_law(self.rows())

    def _learn(self, said: Mixture, loss: Loss, lipschitz: float) -> None:
        outcome = outcome_of(loss)
        weight = said.probabilities * (loss.lipschitz / lipschitz)
        self._mass = self._mass + weight
        self._sums = self._sums + weight * outcome
