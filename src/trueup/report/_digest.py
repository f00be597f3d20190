"""A collector: blocks of rounds in, what a report shows out, in bounded memory.

Rounds are put together again into chunks that end at fixed numbers of rounds, and every sum is
taken chunk by chunk. So what comes out does not depend on how the blocks were cut, bit for bit.
"""

import copy
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from trueup import _validation as check
from trueup.calibrator import Calibrator
from trueup.calibrator._columns import as_floats
from trueup.errors import InvalidArgument
from trueup.protocols import FloatArray
from trueup.report._numbers import Number, numbers_of
from trueup.report._stages import CHUNK, Columns, Stages, end_of
from trueup.report._summarise import summarise
from trueup.report._summary import Summary
from trueup.report._times import seconds_of

GROUP_ROOM = 1_000  # groups with sums of their own
SPARSE = 1.05  # certificates are kept for numbers of rounds that grow by this


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
    (5, 0.2)
    """

    def __init__(self, wanted: Any) -> None:
        self.wanted = wanted
        self.rounds = 0
        self.numbers: tuple[Number, ...] = numbers_of(wanted)
        k = len(self.numbers)
        issued, raw, labels, scales = (slice(4 + n * k, 4 + (n + 1) * k) for n in range(4))
        self._at = Columns(0, 1, 2, 3, issued, raw, labels, scales, 4 + 4 * k)
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
        dated = self._stages.dated
        if times is not None:
            block[:, at.time], dated = seconds_of(times, n, dated=dated)
        if certificate is not None:
            certificate = check.nonnegative("certificate", certificate)
        rows = self._rows_of(groups, n)
        # From here on nothing is refused.
        self._stages.dated = dated
        named = self._named(rows, n)
        if certificate is not None:
            self._told(self.rounds + n, certificate)
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

    def _told(self, rounds: int, certificate: float) -> None:
        """Keep the last certificate, and of the others some in each doubling of the rounds."""
        told = self._certificates
        if len(told) > 1 and rounds < SPARSE * told[-2][0]:
            told.pop()
        told.append((rounds, certificate))

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

    def _rows_of(self, groups: Sequence[Any] | None, n: int) -> list[Any] | None:
        """Return the names of each round's groups."""
        if groups is None:
            return None
        if isinstance(groups, str | bytes) or not hasattr(groups, "__len__"):
            raise check.refuse("groups", "a group or a tuple of groups for each round", groups)
        if len(groups) != n:
            raise InvalidArgument(f"groups must have {n} rows, got {len(groups)}.")
        if self.rounds and n and not self._stages.grouped:
            raise InvalidArgument("groups must be given from the first block on.")
        listed = groups.tolist() if hasattr(groups, "tolist") else list(groups)
        rows = [row if isinstance(row, tuple | list) else (row,) for row in listed]
        try:
            dict.fromkeys(name for row in rows for name in row)
        except TypeError:
            raise check.refuse("groups", "names that can be keys", listed[0]) from None
        return rows

    def _named(self, rows: list[Any] | None, n: int) -> list[tuple[int, ...]]:
        """Return the numbers of each round's groups; new names get the next number."""
        if not rows:
            return [()] * n if self._stages.grouped else []
        self._stages.grouped = True
        rest, numbers = GROUP_ROOM, self._groups  # all further groups share the last number
        answer = []
        for row in rows:
            for name in row:
                if name not in numbers and len(numbers) < GROUP_ROOM:
                    numbers[name] = len(numbers)
            answer.append(tuple({numbers.get(name, rest) for name in row}))
        return answer


def _matrix(name: str, given: Any, n: int, k: int, *, fewer: bool = False) -> FloatArray:
    """Return a block as floats of shape (n, k), or (n, 1) where fewer columns will do."""
    if isinstance(given, tuple) and hasattr(given, "_fields"):  # Ends, or Levels
        columns = getattr(given, "values", given)
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
