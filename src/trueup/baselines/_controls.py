"""Controls: quantiles of past residuals with no online learning at all.

With n past residuals, c = level and Q_p the `higher` sample quantile:

    FixedSplit       Q_c of the first residuals, for ever (while there are fewer: of those)
    TrailingWindow   Q_c of the last residuals
    WeightedQuantile the least q with  sum of w_i 1[s_i <= q] >= c (1 + sum of w_i),
                     w_i = decay^(t - i) for s_i in round t; +inf if there is none

The first two say 0 before any residual, the last +inf. It is the nonexchangeable conformal
prediction of Barber, Candes, Ramdas and Tibshirani (barber2023conformal): the coming residual is
counted as infinite, with weight 1. They use decay 0.99, the salesforce library c + (3/4) (1 - c).

Weights below 1e-17 are dropped, and the sum of weights up to the threshold is kept
from round to round, so that a round costs as many steps as the threshold moves past residuals.
"""

import math
from bisect import bisect_left
from collections import deque

from trueup import _validation as check
from trueup.baselines._residuals import Residuals
from trueup.baselines._rival import ThresholdRival

__all__ = ["FixedSplit", "TrailingWindow", "WeightedQuantile"]

NEGLIGIBLE = 1e-17


class FixedSplit(ThresholdRival):
    """The quantile of the first residuals.

    Parameters
    ----------
    level : float
        The share of outcomes that should lie at or below what is said.
    first : int
        How many residuals are used.

    Examples
    --------
    >>> rival = FixedSplit(0.5, first=3)
    >>> for outcome in (1.0, 2.0, 3.0, 9.0, 9.0, 9.0):
    ...     rival.update(outcome)
    >>> rival.predict()
    2.0
    """

    _shown: tuple[str, ...] = ("level", "first")

    def __init__(self, level: float = 0.9, *, first: int = 100) -> None:
        super().__init__(level)
        self.first = check.integer("first", first, at_least=1)
        self._past = Residuals()

    def _learn(self, residual: float) -> None:
        if self._played < self.first:
            self._past.add(residual)
            self._threshold = self._past.higher(self.level)


class TrailingWindow(ThresholdRival):
    """The quantile of the last residuals.

    Parameters
    ----------
    level : float
        The share of outcomes that should lie at or below what is said.
    window : int
        How many residuals are used.

    Examples
    --------
    >>> rival = TrailingWindow(0.5, window=3)
    >>> for outcome in (1.0, 2.0, 3.0, 9.0, 9.0, 9.0):
    ...     rival.update(outcome)
    >>> rival.predict()
    9.0
    """

    _shown: tuple[str, ...] = ("level", "window")

    def __init__(self, level: float = 0.9, *, window: int = 100) -> None:
        super().__init__(level)
        self.window = check.integer("window", window, at_least=1)
        self._past = Residuals(self.window)

    def _learn(self, residual: float) -> None:
        self._past.add(residual)
        self._threshold = self._past.higher(self.level)


class WeightedQuantile(ThresholdRival):
    """The quantile of past residuals with weights that fall with their age.

    Parameters
    ----------
    level : float
        The share of outcomes that should lie at or below what is said.
    decay : float
        The weight of a residual against that of the next one.

    Examples
    --------
    >>> rival = WeightedQuantile(0.5, decay=0.9)
    >>> for outcome in (1.0, 2.0, 3.0, 9.0, 9.0, 9.0):
    ...     rival.update(outcome)
    >>> rival.predict()
    9.0
    """

    _shown: tuple[str, ...] = ("level", "decay")

    def __init__(self, level: float = 0.9, *, decay: float = 0.99) -> None:
        super().__init__(level, start=math.inf)
        self.decay = check.open_unit("decay", decay)
        kept = math.ceil(math.log(NEGLIGIBLE) / math.log(self.decay))
        self._weights = [self.decay**age for age in range(kept + 1)]
        self._arrived: deque[tuple[float, int]] = (
            deque()
        )  # residuals and their rounds, oldest first
        self._ordered: list[tuple[float, int]] = []  # the same, by residual
        self._reached = 0  # how many of the least residuals are at or below the threshold
        self._mass, self._total = 0.0, 0.0  # the weights of these, and of all

    def _learn(self, residual: float) -> None:
        if len(self._arrived) == len(self._weights) - 1:
            self._forget(self._arrived.popleft())
        self._mass *= self.decay  # and with it whatever rounding has left there
        self._total *= self.decay
        self._total += self.decay
        self._enter((residual, self._played))
        self._settle()

    def _enter(self, pair: tuple[float, int]) -> None:
        place = bisect_left(self._ordered, pair)
        self._ordered.insert(place, pair)
        self._arrived.append(pair)
        if place < self._reached:
            self._reached += 1
            self._mass += self.decay

    def _forget(self, pair: tuple[float, int]) -> None:
        place = bisect_left(self._ordered, pair)
        del self._ordered[place]
        self._total -= self._weights[-1]
        if place < self._reached:
            self._reached -= 1
            self._mass -= self._weights[-1]

    def _weight(self, place: int) -> float:
        """Return the weight, in the coming round, of the residual in this place of the order."""
        return self._weights[self._played + 1 - self._ordered[place][1]]

    def _settle(self) -> None:
        """Move the threshold up and down the order to where the weights reach the level."""
        wanted = self.level * (1 + self._total)
        while self._mass < wanted and self._reached < len(self._ordered):
            self._mass += self._weight(self._reached)
            self._reached += 1
        while self._reached and self._mass - self._weight(self._reached - 1) >= wanted:
            self._reached -= 1
            self._mass -= self._weight(self._reached)
        found = self._mass >= wanted and self._reached > 0
        self._threshold = self._ordered[self._reached - 1][0] if found else math.inf
