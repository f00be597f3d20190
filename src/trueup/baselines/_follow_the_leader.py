"""Follow the leader: say what would have been best so far.

On the grid z_i = i / (n - 1) the forecast is the one with the least sum of past losses,

    argmin over i of sum of l_s(z_i), s < t,

the lowest of them where several are equal up to rounding, and the middle of the grid before any
loss was seen. Under absolute losses it says a running median, under squared ones the running mean.
It is deterministic, has no bound, and is here to show why forecasts that are good on average need
not be calibrated: an outcome that always lies on the far side gives it regret of order T.
"""

import numpy as np

from trueup import _validation as check
from trueup.baselines._baseline import Baseline, root_up, values_at
from trueup.protocols import FloatArray, Loss, Mixture

__all__ = ["FollowTheLeader"]

TIE = 1e-12  # per round: sums of equal losses differ by rounding, about 1e-16 each


class FollowTheLeader(Baseline):
    """The best constant forecast so far.

    Parameters
    ----------
    rounds : int
        T, at least 2; the forecaster refuses to go further.
    seed : int
        Taken as by every forecaster; there is nothing to draw.
    points : int, optional
        n, at least 2; sqrt(T) + 1, rounded up, by default.
    lipschitz : float, optional
        What all losses are divided by; that of the first sloped loss by default.

    Examples
    --------
    >>> from trueup.losses import Absolute
    >>> forecaster = FollowTheLeader(rounds=100, points=11)
    >>> for outcome in (0.2, 0.9, 0.3):
    ...     forecaster.update(Absolute(outcome))
    >>> forecaster.predict().value
    0.3
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
        if points is None:
            points = root_up(self.rounds, 2) + 1
        size = check.integer("points", points, at_least=2)
        self._grid = np.arange(size) / (size - 1)
        self._losses = np.zeros(size)

    @property
    def spacing(self) -> float:
        """1 / (n - 1), the distance between neighbouring grid points."""
        return 1 / (self._grid.size - 1)

    def _mix(self) -> tuple[FloatArray, FloatArray]:
        best = self._losses <= self._losses.min() + TIE * self._played
        leader = int(best.argmax()) if self._played else (self._grid.size - 1) // 2
        return self._grid[leader : leader + 1], np.ones(1)

    def _learn(self, said: Mixture, loss: Loss, lipschitz: float) -> None:  # noqa: ARG002
        self._losses = self._losses + values_at(self._grid, loss, lipschitz)
