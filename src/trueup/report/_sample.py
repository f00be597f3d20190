"""A uniform sample of rounds of fixed size: those whose hashed number is smallest.

Which rounds are in it depends on their numbers alone, so not on how they came.
"""

import numpy as np

from trueup.protocols import FloatArray

SIZE = 50_000


class Sample:
    """Up to `SIZE` rows out of any number."""

    def __init__(self, columns: int) -> None:
        self.keys = np.empty(0, dtype=np.uint64)
        self.rows = np.empty((0, columns))

    def take(self, start: int, rows: FloatArray) -> None:
        """Look at the rows of rounds start, start + 1, ..."""
        keys = hashed(np.arange(start, start + rows.shape[0], dtype=np.uint64))
        if self.keys.size >= SIZE:
            near = keys <= self.keys.max()
            keys, rows = keys[near], rows[near]
        self.keys = np.concatenate([self.keys, keys])
        self.rows = np.vstack([self.rows, rows])
        if self.keys.size > SIZE:
            kept = np.sort(np.argpartition(self.keys, SIZE)[:SIZE])
            self.keys, self.rows = self.keys[kept], self.rows[kept]


def hashed(
    numbers: "np.ndarray[tuple[int, ...], np.dtype[np.uint64]]",
) -> "np.ndarray[tuple[int, ...], np.dtype[np.uint64]]":
    """Return well mixed bits of each number, each number's own (the finaliser of splitmix64).

    >>> hashed(np.array([0, 1], dtype=np.uint64))
    array([16294208416658607535,  7960286522194355700], dtype=uint64)
    """
    z = (numbers + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
