"""Adaptive conformal inference: one number alpha_t says which quantile of past residuals to issue.

Gibbs and Candes (gibbs2021adaptive). With alpha = 1 - level, gamma = step, e_t = 1[s_t > q_t],
n = t - 1 past residuals and Q_p their `higher` sample quantile over the last `window`:

    q_t = +inf          if alpha_t <= 1 / (n + 1)
        = -inf          if alpha_t >= 1
        = Q_{1 - alpha_t}   otherwise
    alpha_1 = alpha,    alpha_{t+1} = alpha_t + gamma (alpha - e_t).

In the first `burn_in` rounds alpha_t stays, and q_t is the `linear` quantile at 1 - alpha once
n > ceil(1 / alpha), +inf before; this is the form of the code of angelopoulos2023conformal, whose
burn-in count is one less. That code issues the least past residual when alpha_t >= 1, and so has no
guarantee for every sequence; here, as in the paper, such a round is a miss.

Momentum form (`decay` w): e_t is replaced by the mean of e_i, i <= t, with weights w^(t - i),
counted from the end of the burn-in.

Guarantee. alpha_t never leaves [-gamma, 1 + gamma], since it rises after alpha_t <= 0 (no miss)
and falls after alpha_t >= 1 (a miss). Summing the steps, for every sequence and T rounds,

    abs(mean of e_t - alpha) <= (max(alpha_1, 1 - alpha_1) + gamma) / (gamma T).

It says how often the forecasts are missed, and nothing about when.
"""

import math

from trueup import _validation as check
from trueup.baselines._residuals import Residuals
from trueup.baselines._rival import ThresholdRival, miss_rate

__all__ = ["ACI", "aci_bound"]


def aci_bound(rounds: int, *, level: float, step: float = 0.005) -> float:
    """Return how far the share of misses may be from 1 - level after so many rounds.

    Rounds of the burn-in do not count; the momentum form has no such bound.

    Examples
    --------
    >>> aci_bound(10_000, level=0.9)
    0.0181
    """
    rounds = check.integer("rounds", rounds, at_least=1)
    level, step = check.open_unit("level", level), check.positive("step", step)
    return (max(level, 1 - level) + step) / (step * rounds)


class ACI(ThresholdRival):
    """The quantile of past residuals at a level that rises after misses.

    Parameters
    ----------
    level : float
        The share of outcomes that should lie at or below what is said; alpha = 1 - level.
    step : float
        Gamma, how far a round moves alpha_t.
    burn_in : int
        For how many rounds alpha_t stays.
    window : int, optional
        Over how many of the last residuals quantiles are taken; all by default.
    decay : float, optional
        The weight of a miss against one a round later, in the momentum form; 0.95 in the paper.

    Examples
    --------
    >>> rival = ACI(0.8, step=0.05)
    >>> for outcome in (1.0, 5.0, 2.0, 4.0, 3.0):
    ...     rival.update(outcome)
    >>> rival.alpha, rival.predict()
    (0.25, 4.0)
    """

    _shown: tuple[str, ...] = ("level", "step", "burn_in", "decay")

    def __init__(
        self,
        level: float = 0.9,
        *,
        step: float = 0.005,
        burn_in: int = 0,
        window: int | None = None,
        decay: float | None = None,
    ) -> None:
        super().__init__(level, start=math.inf)
        self.step = check.positive("step", step)
        self.burn_in = check.integer("burn_in", burn_in, at_least=0)
        if window is not None:
            window = check.integer("window", window, at_least=1)
        self.decay = None if decay is None else check.open_unit("decay", decay)
        self._past = Residuals(window)
        self._target = miss_rate(self.level)
        self._alpha = self._target
        self._missed, self._weight = 0.0, 0.0  # sums of w^(t - i) e_i and of w^(t - i)

    @property
    def alpha(self) -> float:
        """Alpha_t of the coming round."""
        return self._alpha

    def _learn(self, residual: float) -> None:
        if self._played >= self.burn_in:
            self._alpha += self.step * (self._target - self._met(residual > self._threshold))
        self._past.add(residual)
        self._threshold = self._quantile(self._played + 1)

    def _met(self, missed: bool) -> float:  # noqa: FBT001 - an indicator
        """Return e_t, or its mean in the momentum form."""
        if self.decay is None:
            return float(missed)
        self._missed = self.decay * self._missed + missed
        self._weight = self.decay * self._weight + 1
        return self._missed / self._weight

    def _quantile(self, count: int) -> float:
        """Return q_t after so many residuals."""
        if count < self.burn_in:
            enough = count > math.ceil(1 / self._target)
            return self._past.between(1 - self._target) if enough else math.inf
        if self._alpha <= 1 / (count + 1):
            return math.inf
        return -math.inf if self._alpha >= 1 else self._past.higher(1 - self._alpha)
