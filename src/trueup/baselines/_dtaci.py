"""Several adaptive conformal inferences at once, weighted by how they would have done.

DtACI of Gibbs and Candes (gibbs2024conformal). With alpha = 1 - level and K = 8 experts of steps
gamma_k = 0.001 * 2^(k-1), each with its own alpha^k (first alpha) and weight w^k (first 1):

    p^k = w^k / sum(w),   a_t = sum p^k alpha^k               what is played
    beta_t = share of past residuals >= s_t
    L^k = max(alpha (beta_t - alpha^k), (1 - alpha) (alpha^k - beta_t))
    alpha^k <- alpha^k + gamma_k (alpha - 1[alpha^k > beta_t])
    v^k = w^k exp(-eta L^k),   w^k <- (1 - sigma) v^k / sum(v) + sigma / K
    q_t = Q_{1 - a_t} of the past residuals

(eta is `rate`, sigma is `mixing`). The first residual is only stored. Three sets of constants are
in use, and they are not the same:

| | eta | sigma | alpha^k |
|---|---|---|---|
| `DtACI(level)`, the authors' code | 2.72 | 1/1000 | free |
| `DtACI.tuned(level)`, the paper | sqrt(3/I) sqrt((ln(K I) + 2) / d) = 5.67 | 1/(2 I) | free |
| `FACI(level)`, the salesforce library | the same with d / 3 = 9.82 | 1/(2 I) | clipped to [0, 1] |

with I = 100, d = (1 - alpha)^2 alpha^3 + alpha^2 (1 - alpha)^3, and numbers for level 0.9. With
`lookback` n the authors' rate adapts after n rounds: eta_t = sqrt((ln(2 K n) + 1) / S), S the sum
of the last n squares of sum p^k L^k.

A free a_t may leave (0, 1): q_t is +inf for a_t <= 0 and -inf for a_t >= 1. Q is numpy's
`inverted_cdf`. The guarantee (regret of the pinball loss of beta over every stretch of length I)
has constants that depend on the residuals; none is promised here.
"""

import math
from collections import deque

from trueup import _validation as check
from trueup.baselines._residuals import Residuals
from trueup.baselines._rival import ThresholdRival, added, miss_rate, pinball

__all__ = ["FACI", "DtACI"]

STEPS = tuple(0.001 * 2**k for k in range(8))  # gamma
INTERVAL = 100  # I


def tuned_rate(alpha: float, *, interval: int = INTERVAL, share: float = 1.0) -> float:
    """Return the eta that is tuned for stretches of a length; `share` multiplies d.

    >>> tuned_rate(0.1), tuned_rate(0.1, share=1 / 3)
    (5.67, 9.82)
    """
    spread = (1 - alpha) ** 2 * alpha**3 + alpha**2 * (1 - alpha) ** 3  # d
    logs = math.log(len(STEPS) * interval) + 2
    return math.sqrt(3 / interval) * math.sqrt(logs / (share * spread))


class DtACI(ThresholdRival):
    """Eight adaptive conformal inferences of different steps, mixed by exponential weights.

    Parameters
    ----------
    level : float
        The share of outcomes that should lie at or below what is said; alpha = 1 - level.
    rate : float
        Eta.
    mixing : float
        Sigma.
    lookback : int, optional
        After how many rounds, and over how many, the rate adapts; it stays as given by default.

    Examples
    --------
    >>> rival = DtACI(0.8)
    >>> for outcome in (1.0, 5.0, 2.0, 4.0, 3.0):
    ...     rival.update(outcome)
    >>> rival.alpha, rival.predict()
    (0.19, 5.0)
    """

    _shown: tuple[str, ...] = ("level", "rate", "mixing")
    _clips = False
    _stored = 0  # alpha^k begin to move once more residuals than this are stored

    def __init__(
        self,
        level: float = 0.9,
        *,
        rate: float = 2.72,
        mixing: float = 0.001,
        lookback: int | None = None,
    ) -> None:
        super().__init__(level, start=0.0 if self._clips else math.inf)
        self.rate = check.positive("rate", rate)
        self.mixing = check.open_unit("mixing", mixing)
        size = 0 if lookback is None else check.integer("lookback", lookback, at_least=1)
        self._squares: deque[float] = deque(maxlen=size)
        self._past = Residuals()
        self._target = miss_rate(self.level)
        self._alphas = [self._target] * len(STEPS)
        self._shares = [1 / len(STEPS)] * len(STEPS)  # p

    @staticmethod
    def tuned(level: float = 0.9, *, interval: int = INTERVAL) -> "DtACI":
        """Return one with the paper's constants for stretches of a length."""
        interval = check.integer("interval", interval, at_least=1)
        alpha = miss_rate(check.open_unit("level", level))
        return DtACI(level, rate=tuned_rate(alpha, interval=interval), mixing=1 / (2 * interval))

    @property
    def alpha(self) -> float:
        """The a_t of the coming round."""
        return added(p * a for p, a in zip(self._shares, self._alphas, strict=True))

    def _learn(self, residual: float) -> None:
        if len(self._past) > self._stored:
            self._weigh(self._past.share_at_least(residual))
        self._past.add(residual)
        self._threshold = self._quantile(self.alpha)

    def _weigh(self, beta: float) -> None:
        """Weigh the experts by their losses at beta, and let each of them step."""
        rate, target, count = self._rate(), self._target, len(STEPS)
        losses = [pinball(target, beta, alpha) for alpha in self._alphas]
        if self._squares.maxlen:
            met = added(p * loss for p, loss in zip(self._shares, losses, strict=True))
            self._squares.append(met * met)
        raw = [p * math.exp(-rate * loss) for p, loss in zip(self._shares, losses, strict=True)]
        total = added(raw)
        mixed = [(1 - self.mixing) * v / total + self.mixing / count for v in raw]
        total = added(mixed)
        self._shares = [w / total for w in mixed]
        moved = [
            alpha + step * (target - (alpha > beta))
            for alpha, step in zip(self._alphas, STEPS, strict=True)
        ]
        self._alphas = [min(max(a, 0.0), 1.0) for a in moved] if self._clips else moved

    def _rate(self) -> float:
        """Return eta_t."""
        size = self._squares.maxlen
        if not size or len(self._squares) < size:
            return self.rate
        seen = max(math.fsum(self._squares), 1e-300)  # all zero: any rate will do
        return math.sqrt((math.log(2 * len(STEPS) * size) + 1) / seen)

    def _quantile(self, alpha: float) -> float:
        """Return q_t."""
        if not self._clips and not 0 < alpha < 1:
            return math.inf if alpha <= 0 else -math.inf
        return self._past.inverted(1 - alpha)


class FACI(DtACI):
    """DtACI with the constants and habits of the salesforce library.

    Until more than 1 / alpha residuals are stored, residuals are only stored; alpha^k stay in [0,
    1], so that thresholds are finite; 0 is said before any residual.

    Parameters
    ----------
    level : float
        The share of outcomes that should lie at or below what is said; alpha = 1 - level.

    Examples
    --------
    >>> rival = FACI(0.8)
    >>> rival.rate
    5.53
    >>> for outcome in (1.0, 5.0, 2.0, 4.0, 3.0):
    ...     rival.update(outcome)
    >>> rival.predict()
    4.0
    """

    _clips = True

    def __init__(self, level: float = 0.9) -> None:
        alpha = miss_rate(check.open_unit("level", level))
        super().__init__(level, rate=tuned_rate(alpha, share=1 / 3), mixing=1 / (2 * INTERVAL))
        self._stored = math.floor(1 / alpha)
