"""Blum and Mansour's algorithm on the two forecasts 0 and 1, for linear losses, in closed form.

A linear loss is least at an end, so two forecasts are enough. Row i keeps D_i, the sum of
p_i (l(1) - l(0)), and Hedge turns it into the chance of leaving i; the stationary law of two
states is a ratio:

    q_01 = 1 / (1 + exp(eta D_0)),     q_10 = 1 / (1 + exp(-eta D_1)),
    p_0 = q_10 / (q_01 + q_10),        p_1 = q_01 / (q_01 + q_10),

with eta = 4 sqrt(ln(2) / T). The proof of `BlumMansour` with n = 2 and nothing lost to the grid
gives, for linear losses of slope at most 1 in size,

    pseudo swap regret <= 2 ln(2) / eta + eta T / 8 = sqrt(T ln 2).

Other losses are accepted and answered as if they were linear: with every outcome at 1/2 the swap
regret is T/2.
"""

import math

import numpy as np

from trueup import _validation as check
from trueup.baselines._baseline import Baseline
from trueup.protocols import FloatArray, Loss, Mixture

__all__ = ["TwoEndpoints", "two_endpoints_bound"]

ENDS = np.array([0.0, 1.0])


def ends_law(leads: FloatArray, *, rate: float) -> FloatArray:
    """Return p from D, by way of logarithms: both chances of leaving may be too small for a float.

    >>> ends_law(np.array([0.0, 0.0]), rate=1.0), ends_law(np.array([-9e9, -9e9]), rate=1.0)
    (array([0.5, 0.5]), array([0., 1.]))
    """
    log_01 = -np.logaddexp(0.0, rate * leads[0])
    log_10 = -np.logaddexp(0.0, -rate * leads[1])
    total = np.logaddexp(log_01, log_10)
    return np.asarray(np.exp(np.array([log_10 - total, log_01 - total])))


def two_endpoints_bound(rounds: int) -> float:
    """Return what pseudo swap regret stays under, for linear losses of slope at most 1 in size.

    Multiply by the size of other slopes.

    Examples
    --------
    >>> round(two_endpoints_bound(10_000), 1)
    83.3
    """
    return math.sqrt(check.integer("rounds", rounds, at_least=2) * math.log(2))


class TwoEndpoints(Baseline):
    """The forecasts 0 and 1 only; for linear losses.

    Parameters
    ----------
    rounds : int
        T, at least 2; the forecaster refuses to go further.
    seed : int
        Seed of the draws.
    lipschitz : float, optional
        What all losses are divided by; that of the first sloped loss by default.

    Examples
    --------
    >>> from trueup.losses import Linear
    >>> forecaster = TwoEndpoints(rounds=100)
    >>> for _ in range(50):
    ...     forecaster.update(Linear(-1.0))
    >>> forecaster.predict().value
    1.0
    """

    def __init__(self, rounds: int, seed: int = 0, *, lipschitz: float | None = None) -> None:
        super().__init__(rounds, seed, lipschitz=lipschitz)
        self._rate = 4 * math.sqrt(math.log(2) / self.rounds)  # eta
        self._leads = np.zeros(2)  # D

    @property
    def spacing(self) -> float:
        """1, the distance between 0 and 1."""
        return 1.0

    def _mix(self) -> tuple[FloatArray, FloatArray]:
        return ENDS, ends_law(self._leads, rate=self._rate)

    def _learn(self, said: Mixture, loss: Loss, lipschitz: float) -> None:
        low, high = check.vector("values of the loss", loss.value(ENDS))
        self._leads = self._leads + said.probabilities * ((high - low) / lipschitz)
