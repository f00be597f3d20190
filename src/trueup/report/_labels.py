"""Swap regret by label while rounds come, from sums and cells of outcomes, in bounded memory.

For a label with rounds t, outcomes y_t and what was said p_t, its part is

    max(0, sum of loss(p_t, y_t) - min over b of sum of loss(b, y_t)).

For means the minimum is known from sums. For quantiles it lies in the cell of outcomes in which
the share below passes the level; the sums of loss at both ends of the cell are known exactly, and
so are the slopes there, so the minimum is at least where the two tangents meet. That is what is
taken: the regret that is reported is never below the truth, and equal to it while no two outcomes
share a cell. Expectiles are left out.
"""

from typing import NamedTuple

import numpy as np

from trueup.properties import Expectile, Median
from trueup.protocols import FloatArray, IntArray
from trueup.report._cells import Cells
from trueup.report._numbers import LOSS, SEEN, Number

ROOM = 2**18  # cells of outcomes that all labels of a number share


class Visits(NamedTuple):
    """The labels of a number with how often each was drawn."""

    labels: FloatArray
    scales: FloatArray
    rounds: FloatArray
    wealth: FloatArray | None  # of the bettors against each; a calibrator knows it


class Labels:
    """One number's labels: counts, losses and outcomes of each."""

    def __init__(self, number: Number) -> None:
        self.number = number
        self.known: dict[tuple[float, float], int] = {}
        self.sums = np.zeros((0, 4))  # rounds, loss, y - label, its square
        self.cells = Cells(2, ROOM)  # rounds, y

    def take(self, labels: FloatArray, scales: FloatArray, rows: FloatArray) -> None:
        """Add rounds with an outcome; `rows` are their eight sums."""
        pairs, place = np.unique(np.column_stack([labels, scales]), axis=0, return_inverse=True)
        numbers = [self.known.setdefault((b, r), len(self.known)) for b, r in pairs.tolist()]
        label: IntArray = np.array(numbers, dtype=np.int64)[place.ravel()]
        more = len(self.known) - self.sums.shape[0]
        self.sums = np.vstack([self.sums, np.zeros((more, 4))])
        off = rows[:, SEEN] - labels
        parts = [np.ones(label.size), rows[:, LOSS], off, off**2]
        for k, part in enumerate(parts):
            self.sums[:, k] += np.bincount(label, part, minlength=len(self.known))
        if self.number.level is not None:
            y = rows[:, SEEN]
            self.cells.take(y, np.column_stack([np.ones(y.size), y]), label)

    @property
    def counts(self) -> bool:
        """Whether swap regret can be told."""
        return not isinstance(self.number.wanted, Expectile)

    def regret(self) -> float:
        """Return swap regret by label so far."""
        if not self.sums.shape[0]:
            return 0.0
        rounds, loss, off, squares = self.sums.T
        means = self.number.level is None
        best = squares - off**2 / rounds if means else self._best_pinball()
        return float(np.maximum(loss - best, 0.0).sum())

    def _best_pinball(self) -> FloatArray:
        """Return for each label the least sum of loss that a constant can have, from below."""
        level, group = float(self.number.level or 0.5), self.cells.group
        n, y = self.cells.sums.T
        sizes, totals = (np.asarray(np.bincount(group, column), dtype=float) for column in (n, y))
        first = np.flatnonzero(np.diff(group, prepend=-1))
        upto, y_upto = np.cumsum(n), np.cumsum(y)
        upto -= (upto - n)[first][group]
        y_upto -= (y_upto - y)[first][group]
        reached = np.flatnonzero(upto >= level * sizes[group] * (1 - 1e-12))
        cell = reached[np.flatnonzero(np.diff(group[reached], prepend=-1))]  # a label each
        low, high = self.cells.low[cell], self.cells.high[cell]
        below, y_below = upto[cell] - n[cell], y_upto[cell] - y[cell]
        at_low = _pinball(level, low, below, y_below, sizes, totals)
        at_high = _pinball(level, high, upto[cell], y_upto[cell], sizes, totals)
        down, up = below - level * sizes, upto[cell] - level * sizes  # slopes at the two ends
        wide = up > down
        meet = np.where(wide, (at_low * up - at_high * down + up * down * (high - low)), 0.0)
        meet = np.divide(meet, up - down, out=np.minimum(at_low, at_high), where=wide)
        unit = 2.0 if isinstance(self.number.wanted, Median) else 1.0
        return unit * np.where(high > low, meet, at_low)

    def visits(self) -> Visits:
        """Return the labels in the order in which they were first drawn."""
        pairs = np.array(list(self.known)).reshape(-1, 2)
        return Visits(pairs[:, 0], pairs[:, 1], self.sums[:, 0].copy(), None)


def _pinball(
    level: float,
    at: FloatArray,
    below: FloatArray,
    y_below: FloatArray,
    n: FloatArray,
    y: FloatArray,
) -> FloatArray:
    """Return the sum of pinball losses of a constant from the outcomes below it and all."""
    return level * ((y - y_below) - (n - below) * at) + (1 - level) * (below * at - y_below)
