"""Numbers of several levels in order: moved no farther than each level can afford.

Each level is drawn by itself, and where numbers cross they are replaced by weighted means (isotonic
regression). For any weights that never raises the weighted sum of the pinball losses, whatever the
outcome; the weights are what bettors stake on a level's losing by it. So every level keeps its own
guarantee (docs/theory/order.md). Sorting would keep that of the sum alone.
"""

from collections.abc import Iterable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from trueup._kernels import _order as kernels
from trueup.calibrator._stream import Template
from trueup.protocols import FloatArray, IntArray


class Moved(NamedTuple):
    """What must be remembered of an open forecast whose numbers were moved."""

    issued: FloatArray
    stakes: FloatArray
    epoch: float
    reach: float


class Order:
    """What bettors have won by numbers being moved, level by level, and counts."""

    def __init__(self, templates: tuple[Template, ...]) -> None:
        self.levels = len(templates)
        self.z = np.zeros(int(kernels.size_of(self.levels)))
        kernels.begin(self.z, self.levels)
        self._slopes = np.array([[template.below, template.above] for template in templates])

    def ask(self, raw: list[float], waiting: Iterable[Moved | None]) -> Moved | None:
        """Return how numbers are moved, or None where they are in order; nothing changes.

        `waiting` are the open forecasts, oldest first.
        """
        if all(lower <= upper for lower, upper in pairwise(raw)):
            return None
        issued, stakes = np.empty(self.levels), np.zeros((self.levels, kernels.N_RATES))
        staked = self._staked(waiting)
        reach = kernels.arrange(self.z, np.array(raw), staked, issued, stakes)
        anew = reach > self.z[kernels.REACH]
        return Moved(issued, stakes, float(self.z[kernels.EPOCH]) + anew, float(reach))

    def open(self, moved: Moved | None) -> None:
        """Keep what `ask` has returned for a forecast that is issued."""
        if moved is not None:
            kernels.accept(self.z, self.levels, moved.reach)

    def tell(
        self,
        moved: Moved | None,
        raw: tuple[float, ...],
        outcome: float,
        share: float,
        *,
        certified: bool,
        own: bool,
    ) -> None:
        """Learn the outcome of a forecast."""
        if moved is not None:
            kernels.pay(
                self.z, self._slopes, np.array(raw), moved.issued, moved.stakes, moved.epoch,
                outcome, share, certified, own,
            )  # fmt: skip

    def run(
        self,
        raw: FloatArray,
        outcomes: FloatArray,
        shares: FloatArray,
        own: Any,
        replay: tuple[IntArray, IntArray],
        most: int,
        waiting: Iterable[Moved | None],
    ) -> tuple[FloatArray, dict[int, Moved]]:
        """Return what is issued in a whole run, and the rounds moved in it that are still open.

        At most `most` of its rounds are open at a time.
        """
        issued = np.empty_like(raw)
        opened, epochs = np.zeros(most, dtype=np.int64), np.zeros(most)
        kept = np.zeros((most, self.levels, kernels.N_RATES))
        count = kernels.arrange_all(
            self.z, self._slopes, raw, outcomes, shares, own, *replay, self._staked(waiting),
            issued, opened, kept, epochs,
        )  # fmt: skip
        reach = float(self.z[kernels.REACH])
        return issued, {
            int(opened[n]): Moved(issued[opened[n]].copy(), kept[n].copy(), float(epochs[n]), reach)
            for n in range(int(count))
        }

    def _staked(self, waiting: Iterable[Moved | None]) -> FloatArray:
        total = np.zeros((self.levels, kernels.N_RATES))
        for moved in waiting:
            if moved is not None and moved.epoch == self.z[kernels.EPOCH]:
                total += moved.stakes
        return total

    def forget(self) -> None:
        """Forget all evidence; open forecasts teach nothing about moving any more."""
        self.counts[:, kernels.LOST] = 0.0
        self.z[kernels.EPOCH] += 1.0
        self.z[kernels.REACH] = 0.0
        kernels.begin(self.z, self.levels)

    def copy(self) -> "Order":
        """Return the same in memory of its own."""
        other = object.__new__(Order)
        other.levels, other._slopes, other.z = self.levels, self._slopes, self.z.copy()
        return other

    @property
    def counts(self) -> FloatArray:
        """Of each level: as the kernels' table has them."""
        rows = self.z[kernels.COUNTS : kernels.COUNTS + kernels.N_COUNTS * self.levels]
        return rows.reshape(self.levels, kernels.N_COUNTS)

    @property
    def crossed(self) -> int:
        """In how many rounds numbers were moved."""
        return int(self.z[kernels.CROSSED])

    @property
    def wealth(self) -> FloatArray:
        """What bettors have, shape (levels, J)."""
        rows = self.z[kernels.COUNTS + kernels.N_COUNTS * self.levels :]
        return rows.reshape(self.levels, kernels.N_RATES)
