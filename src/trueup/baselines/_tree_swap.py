"""TreeSwap: a few layers that learn at different speeds, with no stationary law at all.

Dagan, Daskalakis, Fishelson and Golowich, and Peng and Rubinstein (both STOC 2024), here for one
number. With K layers and M = T^(1/K), rounded up, layer k holds its forecast for M^k rounds, then
learns the mean loss of those rounds, and starts anew after M such blocks:

    after round t:  if M^(k+1) divides t   x_k <- 1/2
                    elif M^k divides t     x_k <- clip(x_k - eta g_k / M^k, 0, 1)
    play x_0 .. x_{K-1} with probability 1/K each

where g_k is the sum of slopes at x_k over the block and eta = 1 / (2 sqrt(M)). Equal forecasts
are said once, with their probabilities added.

Bound. Let A_k be the least loss of a comparator that may change every M^k rounds. Layer k loses at
most A_{k+1} plus its own regret, and no swap brings it below A_k; the sum of A_{k+1} - A_k
telescopes to A_K - A_0 <= T/2, as the constant forecast 1/2 is never more than 1/2 above the
best. Gradient descent from 1/2 has regret M^k (sqrt(M) / 4 + blocks / (4 sqrt(M))) between two
restarts. For T = M^K,

    pseudo swap regret <= T / (2 K) + T / (2 sqrt(M)),

and `tree_swap_bound` counts unfinished blocks in full. Linear in T for a fixed K: few forecasts
and cheap rounds are what this method is for.
"""

import math

import numpy as np

from trueup import _validation as check
from trueup.baselines._baseline import Baseline, root_up, subgradients_at
from trueup.protocols import FloatArray, Loss, Mixture

__all__ = ["TreeSwap", "tree_swap_bound"]


def tree_swap_bound(rounds: int, *, layers: int = 3) -> float:
    """Return what pseudo swap regret stays under, for 1-Lipschitz losses.

    Multiply by the Lipschitz constant of other losses.

    Examples
    --------
    >>> round(tree_swap_bound(10_000))
    2750
    """
    rounds = check.integer("rounds", rounds, at_least=2)
    layers = check.integer("layers", layers, at_least=1)
    block = root_up(rounds, layers)
    total = rounds / 2
    for held in (block**k for k in range(layers)):
        restarts, blocks = math.ceil(rounds / (held * block)), math.ceil(rounds / held)
        total += held * (restarts * math.sqrt(block) / 4 + blocks / (4 * math.sqrt(block)))
    return total / layers


class TreeSwap(Baseline):
    """The uniform mixture over layers of gradient descent, each slower than the one before.

    Parameters
    ----------
    rounds : int
        T, at least 2; the forecaster refuses to go further.
    seed : int
        Seed of the draws.
    layers : int
        K, at least 1.
    lipschitz : float, optional
        What all losses are divided by; that of the first sloped loss by default.

    Attributes
    ----------
    block : int
        M.

    Examples
    --------
    >>> from trueup.losses import Absolute
    >>> forecaster = TreeSwap(rounds=16, layers=2)
    >>> for _ in range(5):
    ...     forecaster.update(Absolute(1.0))
    >>> forecaster.layers()
    array([0.75, 0.75])
    """

    def __init__(
        self,
        rounds: int,
        seed: int = 0,
        *,
        layers: int = 3,
        lipschitz: float | None = None,
    ) -> None:
        super().__init__(rounds, seed, lipschitz=lipschitz)
        count = check.integer("layers", layers, at_least=1)
        self.block = root_up(self.rounds, count)
        self._held = np.array([self.block**k for k in range(count)])  # M^k
        self._step = 1 / (2 * math.sqrt(self.block))  # eta
        self._layers = np.full(count, 0.5)  # x
        self._slopes = np.zeros(count)  # g

    @property
    def spacing(self) -> float:
        """Eta, the step of the fastest layer at full slope; there is no grid."""
        return self._step

    def layers(self) -> FloatArray:
        """Return each layer's forecast, the fastest first, shape (K,)."""
        return self._layers.copy()

    def _mix(self) -> tuple[FloatArray, FloatArray]:
        support, counts = np.unique(self._layers, return_counts=True)
        return support, counts / self._layers.size

    def _learn(self, said: Mixture, loss: Loss, lipschitz: float) -> None:  # noqa: ARG002
        slopes = self._slopes + subgradients_at(self._layers, loss, lipschitz)
        over = self._played + 1
        learned = np.clip(self._layers - self._step * slopes / self._held, 0.0, 1.0)
        block_ends = over % self._held == 0
        restarts = over % (self._held * self.block) == 0
        self._layers = np.where(restarts, 0.5, np.where(block_ends, learned, self._layers))
        self._slopes = np.where(block_ends, 0.0, slopes)
