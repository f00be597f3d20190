"""All that is summed of a run, chunk by chunk.

Chunks end where swap regret is looked at, and else every `CHUNK` rounds: at fixed numbers of
rounds, however the rounds came.
"""

from typing import NamedTuple

import numpy as np

from trueup.protocols import FloatArray, IntArray
from trueup.report._buckets import Buckets
from trueup.report._cells import Cells
from trueup.report._labels import Labels
from trueup.report._lags import Lags
from trueup.report._numbers import COLUMNS, Number, errors_of, sums_of
from trueup.report._sample import Sample

CHUNK = 2**16
FORECAST_ROOM = 4_096  # cells of forecasts, for reliability
FIRST_LOOK, LOOKS = 16, 4  # swap regret is taken at 16 rounds and four times in each doubling


class Columns(NamedTuple):
    """Where things stand in a row of the buffer."""

    outcome: int
    point: int  # the user's own number where it is not one a number
    overruled: int
    time: int
    issued: slice
    raw: slice
    labels: slice
    scales: slice
    width: int


class Stages:
    """All that is summed, chunk by chunk."""

    def __init__(self, numbers: tuple[Number, ...], at: Columns) -> None:
        self.numbers, self.at = numbers, at
        self.lags = [[Lags() for _ in numbers] for _ in range(2)]
        self.dated: bool | None = None
        self.late = 0
        self.grouped = False
        k = len(numbers)
        self.sums = np.zeros((2, k, COLUMNS))  # of what was issued, of the user's own
        self.overruled = np.zeros(2)  # rounds where it is known, rounds where it is so
        self.answered = 0
        self.buckets = Buckets(6 + 2 * k * COLUMNS, 3 + 2 * k)
        self.cells = [[Cells(COLUMNS, FORECAST_ROOM) for _ in range(k)] for _ in range(2)]
        self.groups = np.zeros((0, 2, k, COLUMNS))
        self.sample = Sample(1 + 2 * k)
        self.labels = [Labels(number) for number in numbers]
        self.guarded = 0
        self.looks: list[tuple[int, float]] = []  # rounds, swap regret by label

    def take(self, start: int, block: FloatArray, members: list[tuple[int, ...]]) -> None:
        """Add a chunk."""
        at, seen = self.at, block[:, self.at.outcome]
        self.answered += int((~np.isnan(seen)).sum())
        known = ~np.isnan(block[:, at.overruled])
        self.overruled += known.sum(), (block[known, at.overruled] > 0).sum()
        rows = np.zeros((2, len(self.numbers), seen.size, COLUMNS))
        for which, place in enumerate((at.issued, at.raw)):
            for k, number in enumerate(self.numbers):
                said = block[:, place][:, k]
                rows[which, k] = sums_of(number, said, seen)
                used = rows[which, k, :, 0] > 0
                self.cells[which][k].take(said[used], rows[which, k][used])
                self.lags[which][k].take(errors_of(number, rows[which, k]))
        self.sums += rows.sum(axis=2)
        self.sample.take(start, block[:, [at.outcome, *_range(at.issued), *_range(at.raw)]])
        self._take_buckets(start, block, rows)
        self._take_groups(rows, members)
        self._take_labels(block, rows[0])

    def _take_buckets(self, start: int, block: FloatArray, rows: FloatArray) -> None:
        at = self.at
        seen, point, overruled = block[:, at.outcome], block[:, at.point], block[:, at.overruled]
        simple = [
            ~np.isnan(seen), np.nan_to_num(seen), ~np.isnan(point), np.nan_to_num(point),
            ~np.isnan(overruled), np.nan_to_num(overruled),
        ]  # fmt: skip
        n = seen.size
        flat = np.moveaxis(rows, 2, 0).reshape(n, -1)
        columns = [at.outcome, at.point, at.time, *_range(at.issued), *_range(at.raw)]
        self.buckets.take(start, np.column_stack([*simple, flat]), block[:, columns])

    def _take_groups(self, rows: FloatArray, members: list[tuple[int, ...]]) -> None:
        if not members:
            return
        sizes = np.array([len(row) for row in members])
        member: IntArray = np.array([g for row in members for g in row], dtype=np.int64)
        owner = np.repeat(np.arange(sizes.size), sizes)
        if not member.size:
            return
        order = np.argsort(member, kind="stable")
        member, owner = member[order], owner[order]
        starts = np.flatnonzero(np.diff(member, prepend=-1))
        more = int(member[-1]) + 1 - self.groups.shape[0]
        if more > 0:
            self.groups = np.concatenate([self.groups, np.zeros((more, *self.groups.shape[1:]))])
        sums = np.add.reduceat(np.moveaxis(rows, 2, 0)[owner], starts, axis=0)
        self.groups[member[starts]] += sums

    def _take_labels(self, block: FloatArray, rows: FloatArray) -> None:
        """Add rounds that were guarded and answered, and look at swap regret."""
        at = self.at
        scales, labels = block[:, at.scales], block[:, at.labels]
        used = (scales > 0).all(axis=1) & (rows[:, :, 0] > 0).all(axis=0)
        used &= ~np.isnan(labels).any(axis=1)
        if not used.any():
            return
        self.guarded += int(used.sum())
        for k, stage in enumerate(self.labels):
            stage.take(labels[used, k], scales[used, k], rows[k][used])
        self.looks.append((self.guarded, sum(stage.regret() for stage in self.labels)))


def end_of(start: int) -> int:
    """Return where the chunk that begins with round `start` ends.

    >>> [end_of(0), end_of(16), end_of(32), end_of(65_536)]
    [16, 19, 38, 77935]
    """
    look, k = FIRST_LOOK, 0
    while look <= start:
        k += 1
        look = int(FIRST_LOOK * 2 ** (k / LOOKS))
    return min(look, (start // CHUNK + 1) * CHUNK)


def _range(place: slice) -> range:
    return range(place.start, place.stop)
