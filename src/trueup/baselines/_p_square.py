"""The P-square estimate of a quantile: five markers instead of all residuals.

Jain and Chlamtac (jain1985algorithm). The markers have heights h_0 .. h_4 and positions n_0 .. n_4,
first the five least residuals and 0 .. 4. A residual raises the positions of the markers above it
(and moves the outer heights); the wanted positions are (t - 1) (0, c/2, c, (1 + c)/2, 1). A middle
marker that is 1 or more from where it should be, with room on that side, moves by d = +-1, along
the parabola through its neighbours if that keeps the heights in order, else along the line:

    h_i + d / (n_{i+1} - n_{i-1}) ((n_i - n_{i-1} + d) (h_{i+1} - h_i) / (n_{i+1} - n_i)
                                   + (n_{i+1} - n_i - d) (h_i - h_{i-1}) / (n_i - n_{i-1}))

The threshold is h_2; while there are fewer than five residuals, their `inverted_cdf` quantile; 0
before any. It estimates the quantile of all residuals so far and forgets nothing.
"""

import math
from bisect import bisect_right, insort

from trueup.baselines._rival import ThresholdRival

__all__ = ["PSquare"]


class PSquare(ThresholdRival):
    """The quantile of all past residuals, estimated with five numbers.

    Parameters
    ----------
    level : float
        The share of outcomes that should lie at or below what is said.

    Examples
    --------
    >>> rival = PSquare(0.5)
    >>> for number in range(1_001):
    ...     rival.update(number * 377 % 1_001)
    >>> 490 < rival.predict() < 510
    True
    """

    def __init__(self, level: float = 0.9) -> None:
        super().__init__(level)
        self._wanted = (0.0, self.level / 2, self.level, (1 + self.level) / 2, 1.0)
        self._heights: list[float] = []  # h
        self._places = [0, 1, 2, 3, 4]  # n

    def _learn(self, residual: float) -> None:
        if self._played < 5:
            insort(self._heights, residual)
            count = len(self._heights)
            place = 2 if count == 5 else max(math.ceil(self.level * count) - 1, 0)
        else:
            self._insert(residual)
            for marker in (1, 2, 3):
                self._adjust(marker)
            place = 2
        self._threshold = self._heights[place]

    def _insert(self, residual: float) -> None:
        """Count a residual among the positions, and stretch the outer markers to it."""
        heights = self._heights
        heights[0], heights[4] = min(heights[0], residual), max(heights[4], residual)
        cell = min(bisect_right(heights, residual), 4)  # the first marker above the residual
        for marker in range(max(cell, 1), 5):
            self._places[marker] += 1

    def _adjust(self, i: int) -> None:
        """Move a middle marker by one place, if it is that far from where it should be."""
        h, n = self._heights, self._places
        off = self._wanted[i] * self._played - n[i]  # t - 1 residuals came before this one
        if off >= 1 and n[i + 1] - n[i] > 1:
            d = 1
        elif off <= -1 and n[i - 1] - n[i] < -1:
            d = -1
        else:
            return
        right = (n[i] - n[i - 1] + d) * (h[i + 1] - h[i]) / (n[i + 1] - n[i])
        left = (n[i + 1] - n[i] - d) * (h[i] - h[i - 1]) / (n[i] - n[i - 1])
        height = h[i] + d / (n[i + 1] - n[i - 1]) * (right + left)
        if not h[i - 1] < height < h[i + 1]:
            height = h[i] + d * (h[i + d] - h[i]) / (n[i + d] - n[i])
        h[i] = height
        n[i] += d
