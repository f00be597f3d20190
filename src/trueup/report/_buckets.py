"""Sums and extremes over stretches of consecutive rounds, all of the same length.

The length is a power of 2, doubled whenever there would be more than `MOST` stretches. So any
number of rounds fits, and the largest and the smallest value of every stretch stay.
"""

import numpy as np

from trueup.protocols import FloatArray

MOST = 1_024


class Buckets:
    """Sums and extremes by time."""

    def __init__(self, n_sums: int, n_extremes: int) -> None:
        self.width = 1
        self.used = 0
        self.sums = np.zeros((MOST, n_sums))
        self.low = np.full((MOST, n_extremes), np.nan)
        self.high = np.full((MOST, n_extremes), np.nan)

    def take(self, start: int, rows: FloatArray, values: FloatArray) -> None:
        """Add rounds start, start + 1, ...: what to sum, and of what to keep extremes."""
        last = start + rows.shape[0] - 1
        while last // self.width >= MOST:
            self._fold()
        place = np.arange(start, last + 1) // self.width
        starts = np.flatnonzero(np.diff(place, prepend=-1))
        at = place[starts]
        self.sums[at] += np.add.reduceat(rows, starts, axis=0)
        self.low[at] = np.fmin(self.low[at], np.fmin.reduceat(values, starts, axis=0))
        self.high[at] = np.fmax(self.high[at], np.fmax.reduceat(values, starts, axis=0))
        self.used = int(at[-1]) + 1

    def _fold(self) -> None:
        """Put pairs of neighbours together."""
        half = MOST // 2
        for array, join in ((self.sums, np.add), (self.low, np.fmin), (self.high, np.fmax)):
            array[:half] = join(array[::2], array[1::2])
            array[half:] = 0.0 if join is np.add else np.nan
        self.width, self.used = 2 * self.width, (self.used + 1) // 2
