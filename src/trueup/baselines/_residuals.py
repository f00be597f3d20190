"""Past residuals in order: sample quantiles and ranks in a few operations a round.

For n sorted residuals x_0 <= ... <= x_{n-1} and a level p in [0, 1]:

    higher(p)     x_i, i = ceil(p (n - 1))              numpy's method "higher"
    inverted(p)   x_i, i = max(ceil(p n) - 1, 0)        numpy's method "inverted_cdf"
    between(p)    on the line through x_i at i = p (n - 1)    numpy's method "linear"

A residual is put in its place by bisection; the shift of what lies above it is one move of memory.
"""

import math
from bisect import bisect_left, insort
from collections import deque


class Residuals:
    """The last `window` residuals (all, if there is no window), in order.

    >>> residuals = Residuals(window=3)
    >>> for residual in (9.0, 3.0, 1.0, 2.0):
    ...     residuals.add(residual)
    >>> len(residuals), residuals.higher(0.6), residuals.inverted(0.6), residuals.between(0.25)
    (3, 3.0, 2.0, 1.5)
    >>> residuals.share_at_least(2.0)
    0.666
    """

    def __init__(self, window: int | None = None) -> None:
        self._ordered: list[float] = []
        self._window = window
        self._arrived: deque[float] = deque()

    def __len__(self) -> int:
        return len(self._ordered)

    def add(self, residual: float) -> None:
        """Put a residual in its place; the oldest goes if the window is full."""
        if self._window is not None:
            if len(self._arrived) == self._window:
                del self._ordered[bisect_left(self._ordered, self._arrived.popleft())]
            self._arrived.append(residual)
        insort(self._ordered, residual)

    def higher(self, level: float) -> float:
        """Return the quantile that is rounded up to a residual."""
        return self._ordered[math.ceil(level * (len(self._ordered) - 1))]

    def inverted(self, level: float) -> float:
        """Return the least residual with a share of at least the level at or below it."""
        return self._ordered[max(math.ceil(level * len(self._ordered)) - 1, 0)]

    def between(self, level: float) -> float:
        """Return the quantile on the line between its two neighbours."""
        place = level * (len(self._ordered) - 1)
        below = int(place)
        lower, upper = self._ordered[below], self._ordered[min(below + 1, len(self._ordered) - 1)]
        return lower + (upper - lower) * (place - below)

    def share_at_least(self, residual: float) -> float:
        """Return the share of the residuals that are at least this one."""
        return 1 - bisect_left(self._ordered, residual) / len(self._ordered)
