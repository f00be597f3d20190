"""A collector: blocks of rounds in, what a report shows out, in bounded memory.

Rounds are put together again into chunks that end at fixed numbers of rounds, and every sum is
taken chunk by chunk. So what comes out does not depend on how the blocks were cut, bit for bit.
"""

import copy
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from trueup import _validation as check
from trueup.calibrator import Calibrator
from trueup.calibrator._batch import as_floats
from trueup.errors import InvalidArgument
from trueup.protocols import FloatArray, IntArray
from trueup.report._buckets import Buckets
from trueup.report._cells import Cells
from trueup.report._labels import Labels
from trueup.report._numbers import COLUMNS, Number, numbers_of, sums_of
from trueup.report._sample import Sample
from trueup.report._summary import Summary, summarise
from trueup.report._times import seconds_of

CHUNK = 2**16
FORECAST_ROOM = 4_096  # cells of forecasts, for reliability
GROUP_ROOM = 1_000  # groups with sums of their own
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


class Digest:
    """What a report shows of a run, collected from blocks of rounds in bounded memory.

    However the blocks are cut, the same rounds give the same figures, bit for bit. Memory does not
    grow with the rounds: about 20 MB, and some more for every thousand labels or groups.

    Parameters
    ----------
    wanted : Mean, Median, Quantile, Expectile, Interval, Quantiles or Probability
        What was forecast. A `Decision` is refused: its figures would need its cost.

    Attributes
    ----------
    wanted : as given
    rounds : int
        How many were added.

    Examples
    --------
    >>> from trueup import Median
    >>> digest = Digest(Median())
    >>> digest.add([1.0, 3.0, 2.0, 5.0], issued=[2.0, 2.0, 2.0, 2.5], raw=[0.0, 0.0, 0.0, 1.0])
    >>> digest.add([2.5], issued=[2.0], raw=[0.0])
    >>> summary = digest.summary()
    >>> summary.rounds, summary.numbers[0].issued.below
    (5, 0.4)
    """

    def __init__(self, wanted: Any) -> None:
        self.wanted = wanted
        self.rounds = 0
        self.numbers: tuple[Number, ...] = numbers_of(wanted)
        k = len(self.numbers)
        blocks = [slice(4 + n * k, 4 + (n + 1) * k) for n in range(4)]
        self._at = Columns(0, 1, 2, 3, *blocks, 4 + 4 * k)
        self._buffer = np.empty((CHUNK, self._at.width))
        self._members: list[tuple[int, ...]] = []
        self._filled, self._end = 0, end_of(0)
        self._stages = Stages(self.numbers, self._at)
        self._groups: dict[Hashable, int] = {}
        self._certificates: list[tuple[int, float]] = []

    def __repr__(self) -> str:
        return f"Digest({self.wanted!r}, rounds={self.rounds})"

    def add(
        self,
        outcomes: Any,
        issued: Any,
        raw: Any = None,
        labels: Any = None,
        scales: Any = None,
        overruled: Any = None,
        groups: Sequence[Any] | None = None,
        times: Any = None,
        certificate: float | None = None,
    ) -> None:
        """Add the next n rounds, in the order in which they were forecast.

        Parameters
        ----------
        outcomes : array, list or column, shape (n,)
            NaN or None for one that has not come.
        issued : array, shape (n,), or (n, k) for k numbers, as in `CalibratedRun.values`
            What was said; NaN where nothing was.
        raw : array, shape (n,) or (n, k), optional
            The user's own forecasts; NaN where there was none. One column beside k numbers is shown
            over time, but not scored.
        labels, scales : arrays, shape of `issued`, optional
            The drawn bins and their scales; rounds with scale 0 or NaN were not guarded, and are
            left out of swap regret.
        overruled : array of bool, shape (n,), optional
        groups : sequence, length n, optional
            The group of each round, or a tuple of its groups.
        times : array of numbers, dates or ISO texts, shape (n,), optional
            When each round was; it should not fall.
        certificate : float, optional
            The calibrator's certificate after these rounds, for the figure of swap regret.
        """
        at, k = self._at, len(self.numbers)
        seen = as_floats("outcomes", outcomes)
        n = seen.size
        block = np.full((n, at.width), np.nan)
        block[:, at.outcome] = seen
        block[:, at.issued] = _matrix("issued", issued, n, k)
        if raw is not None:
            own = _matrix("raw", raw, n, k, fewer=True)
            block[:, at.raw if own.shape[1] == k else slice(at.point, at.point + 1)] = own
        if (labels is None) != (scales is None):
            raise InvalidArgument("labels and scales must be given together, or neither.")
        if labels is not None:
            block[:, at.labels] = _matrix("labels", labels, n, k)
            block[:, at.scales] = _matrix("scales", scales, n, k)
        if overruled is not None:
            block[:, at.overruled] = _matrix("overruled", overruled, n, 1)[:, 0]
        if times is not None:
            block[:, at.time], self._stages.dated = seconds_of(times, n, dated=self._stages.dated)
        named = self._named(groups, n)
        if certificate is not None:
            certificate = check.nonnegative("certificate", certificate)
            self._certificates.append((self.rounds + n, certificate))
        self._take(block, named)

    def summary(self, calibrator: Calibrator | None = None) -> Summary:
        """Return what there is so far, as plain numbers; more can be added after it.

        With the calibrator that made the forecasts there is more to show: the wealth against each
        bin, the certificate and the bound.
        """
        stages = self._stages
        if self._filled:
            stages = copy.deepcopy(stages)
            stages.take(self._start, self._buffer[: self._filled], self._members)
        if calibrator is not None:
            check.instance("calibrator", calibrator, Calibrator, "a Calibrator")
            if calibrator.wanted != self.wanted:
                raise check.refuse("calibrator", f"of {self.wanted!r}", calibrator.wanted)
        return summarise(self, stages, list(self._groups), self._certificates, calibrator)

    @property
    def _start(self) -> int:
        return self.rounds - self._filled

    def _take(self, block: FloatArray, named: list[tuple[int, ...]]) -> None:
        """Fill the buffer up to the end of each chunk, and hand the chunk on."""
        done, n = 0, block.shape[0]
        while done < n:
            start = self._start
            room = self._end - start
            size = min(n - done, room - self._filled)
            self._buffer[self._filled : self._filled + size] = block[done : done + size]
            self._members += named[done : done + size]
            self._filled, self.rounds, done = self._filled + size, self.rounds + size, done + size
            if self._filled == room:
                self._stages.take(start, self._buffer[:room], self._members)
                self._filled, self._members, self._end = 0, [], end_of(self.rounds)

    def _named(self, groups: Sequence[Any] | None, n: int) -> list[tuple[int, ...]]:
        """Return the numbers of each round's groups; new names get the next number."""
        if groups is None:
            return []
        if isinstance(groups, str | bytes) or not hasattr(groups, "__len__"):
            raise check.refuse("groups", "a group or a tuple of groups for each round", groups)
        if len(groups) != n:
            raise InvalidArgument(f"groups must have {n} rows, got {len(groups)}.")
        listed = groups.tolist() if hasattr(groups, "tolist") else list(groups)
        rows = [row if isinstance(row, tuple | list) else (row,) for row in listed]
        try:
            new = dict.fromkeys(name for row in rows for name in row if name not in self._groups)
        except TypeError:
            raise check.refuse("groups", "names that can be keys", listed[0]) from None
        if self.rounds and not self._stages.grouped:
            raise InvalidArgument("groups must be given from the first block on.")
        for name in list(new)[: GROUP_ROOM - len(self._groups)]:
            self._groups[name] = len(self._groups)
        self._stages.grouped = True
        rest = GROUP_ROOM  # what all further groups share
        return [tuple({self._groups.get(name, rest) for name in row}) for row in rows]


class Stages:
    """All that is summed, chunk by chunk."""

    def __init__(self, numbers: tuple[Number, ...], at: Columns) -> None:
        self.numbers, self.at = numbers, at
        self.dated: bool | None = None
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


def _matrix(name: str, given: Any, n: int, k: int, *, fewer: bool = False) -> FloatArray:
    """Return a block as floats of shape (n, k), or (n, 1) where fewer columns will do."""
    if isinstance(given, tuple) and hasattr(given, "_fields"):  # Ends, or Levels
        columns = given.values if hasattr(given, "levels") else given
        given = np.column_stack([as_floats(name, c) for c in columns if np.ndim(c) == 1])
    elif np.ndim(given) < 2:
        given = as_floats(name, given)[:, None]
    array = check.numbers(name, given)
    if array.ndim != 2 or array.shape[0] != n or array.shape[1] not in ({1, k} if fewer else {k}):
        must = f"of shape ({n},)" if k == 1 else f"of shape ({n}, {k})"
        raise check.refuse(name, must, array.shape)
    if np.isinf(array).any():
        at = int(np.flatnonzero(np.isinf(array).any(axis=1))[0])
        raise InvalidArgument(f"{name} must be finite or NaN, got an infinite number at row {at}.")
    return array
