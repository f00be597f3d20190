"""Sums over intervals of values that are found while values come, in bounded memory.

A cell is an interval [low, high] with the sums of all rows whose value is in it; cells of a group
do not overlap. A value outside every cell makes one of its own. When a group has more than twice
as many cells as it may keep, neighbours are put together into cells of about equal count. So as
long as there are no more distinct values than that, every one keeps its own sums, exactly.
"""

import numpy as np

from trueup.protocols import FloatArray, IntArray


class Cells:
    """Sums by value, for one or many groups.

    Parameters
    ----------
    columns : int
        How many sums there are; the first counts rows.
    room : int
        How many cells all groups together may keep (each at least `LEAST`).
    """

    LEAST = 16

    def __init__(self, columns: int, room: int) -> None:
        self.room = room
        self.group: IntArray = np.empty(0, dtype=np.int64)
        self.low: FloatArray = np.empty(0)
        self.high: FloatArray = np.empty(0)
        self.sums: FloatArray = np.empty((0, columns))

    @property
    def share(self) -> int:
        """How many cells a group may keep."""
        groups = 1 + int(self.group[-1]) if self.group.size else 1
        return max(self.room // groups, self.LEAST)

    def take(self, values: FloatArray, rows: FloatArray, group: IntArray | None = None) -> None:
        """Add rows, shape (n, columns), to the cells of their values."""
        owner = np.zeros(values.size, dtype=np.int64) if group is None else group
        old = self.low.size
        owners, lows = np.concatenate([self.group, owner]), np.concatenate([self.low, values])
        highs = np.concatenate([self.high, values])
        order = np.lexsort((lows, owners))  # stable: a cell comes before the values at its low end
        owners, lows, highs = owners[order], lows[order], highs[order]
        # The reach of what came before: cells do not overlap, so the last cell reaches farthest.
        last = np.maximum.accumulate(np.where(order < old, np.arange(order.size), -1))
        inside = (last >= 0) & (owners[last] == owners) & (lows <= highs[last])
        same = np.zeros(order.size, dtype=bool)
        same[1:] = (owners[1:] == owners[:-1]) & (lows[1:] == lows[:-1])
        new = ~(same | (inside & (order >= old)))
        starts = np.flatnonzero(new)
        sums = np.vstack([self.sums, rows])[order]
        self.group, self.low = owners[starts], lows[starts]
        self.high = np.maximum.reduceat(highs, starts) if starts.size else self.high
        self.sums = np.add.reduceat(sums, starts, axis=0) if starts.size else self.sums
        self._compact()

    def _compact(self) -> None:
        """Put neighbours together in groups with more than twice their share."""
        if not self.group.size:
            return
        share, sizes = self.share, np.bincount(self.group)
        if sizes.max() <= 2 * share:
            return
        counts = self.sums[:, 0]
        totals = np.bincount(self.group, counts)
        before = np.cumsum(counts) - counts - (np.cumsum(totals) - totals)[self.group]
        place = np.floor(share * (before + counts / 2) / totals[self.group]).astype(np.int64)
        place[(sizes <= 2 * share)[self.group]] = -1
        keep = np.ones(place.size, dtype=bool)
        keep[1:] = (self.group[1:] != self.group[:-1]) | (place[1:] != place[:-1]) | (place[1:] < 0)
        starts = np.flatnonzero(keep)
        self.group, self.low = self.group[starts], self.low[starts]
        self.high = np.maximum.reduceat(self.high, starts)
        self.sums = np.add.reduceat(self.sums, starts, axis=0)
