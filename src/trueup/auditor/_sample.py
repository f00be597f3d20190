"""A bounded sample of rounds, the same however they arrive.

Round number k has a fixed random number u(k); kept are the rounds with u below 2^-j, j the least
with which they are at most `ROOM`. Not every 2^j-th round: that would see only some hours of a day.
"""

from typing import Any

import numpy as np

from trueup.protocols import FloatArray, IntArray

ROOM = 2**14


class Sample:
    """Rows of numbers, at most `ROOM` of them."""

    def __init__(self, columns: int) -> None:
        self.halvings = 0
        self.keys = np.empty(0, dtype=np.uint64)
        self.rows: FloatArray = np.empty((0, columns))

    def add(self, first: int, rows: FloatArray) -> None:
        """Add consecutive rounds, of which `first` is the number of the first."""
        keys = _scattered(np.arange(first, first + len(rows)))
        kept = keys < self._limit
        self.keys = np.concatenate([self.keys, keys[kept]])
        self.rows = np.concatenate([self.rows, rows[kept]])
        while len(self.rows) > ROOM:
            self.halvings += 1
            kept = self.keys < self._limit
            self.keys, self.rows = self.keys[kept], self.rows[kept]

    @property
    def _limit(self) -> Any:
        return np.uint64(2 ** (63 - self.halvings))


def _scattered(numbers: IntArray) -> Any:
    """Return 63 well-mixed bits of each number (the finaliser of SplitMix64)."""
    x = numbers.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (x ^ (x >> np.uint64(31))) >> np.uint64(1)
