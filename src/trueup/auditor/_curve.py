"""A curve over any number of rounds in a bounded number of points, extremes kept."""

from typing import NamedTuple

import numpy as np

from trueup.protocols import FloatArray, IntArray

ROOM = 1024  # buckets


class Curve(NamedTuple):
    """A value after so many rows, in buckets of equal width: the last one, and the extremes."""

    rows: IntArray  # where the bucket's last value is
    last: FloatArray
    lowest: FloatArray
    highest: FloatArray


class Track:
    """Values at increasing positions, bucket by bucket; the same however they arrive."""

    def __init__(self) -> None:
        self.width = 1
        self.curve = Curve(np.empty(0, dtype=np.int64), *(np.empty(0) for _ in range(3)))

    def add(self, rows: IntArray, values: FloatArray) -> None:
        """Add values at positions after all earlier ones (or at the last one again)."""
        if not rows.size:
            return
        old = self.curve
        while rows[-1] // self.width >= ROOM:
            self.width *= 2
        added = Curve(rows, values, values, values)
        merged = Curve(*(np.concatenate([a, b]) for a, b in zip(old, added, strict=True)))
        buckets = merged.rows // self.width
        starts = np.flatnonzero(np.diff(buckets, prepend=-1))
        ends = np.append(starts[1:], buckets.size) - 1
        self.curve = Curve(
            merged.rows[ends],
            merged.last[ends],
            np.minimum.reduceat(merged.lowest, starts),
            np.maximum.reduceat(merged.highest, starts),
        )

    def copy(self) -> "Track":
        """Return one that can go on by itself."""
        new = Track()
        new.width, new.curve = self.width, self.curve
        return new
