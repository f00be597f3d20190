"""How the model and its calibrated version did, counted as rows go by."""

import math
from typing import Any, NamedTuple

import numpy as np

from trueup.calibrator import Interval, Probability, Quantiles
from trueup.calibrator._targets import Target
from trueup.cli._feed import Feed
from trueup.cli._session import Answers
from trueup.properties import Mean, Median, Quantile
from trueup.protocols import FloatArray

RECENT = 6_000  # outcomes of which it is remembered whether they were covered


class Summary(NamedTuple):
    """Counts and means over the rows whose outcome is there."""

    rows: int
    missing: int  # outcomes that are not there
    silent: int  # rows in which the model said nothing
    overruled: int
    unguarded: int
    coverage: float | None  # share of outcomes at or below, or inside; None for other targets
    raw_coverage: float | None
    level: float | None  # what it should be
    score: float  # mean loss, summed over the numbers
    compared_score: float  # in the rows in which the model said something
    raw_score: float  # of the model there; NaN where several numbers are asked for


class Tally:
    """Sums over rows, in the order in which they come."""

    def __init__(self, wanted: Target) -> None:
        self._wanted = wanted
        self._rows = self._missing = self._silent = self._overruled = self._unguarded = 0
        self._covered = self._raw_covered = self._compared = 0
        self._costs = [0.0, 0.0, 0.0]
        self.recent: list[bool] = []  # covered or not, the last rows

    def add(self, feed: Feed, answers: Answers) -> None:
        """Count some rows."""
        there = ~np.isnan(feed.outcomes)
        said = there & ~np.isnan(feed.own)
        self._rows += there.size
        self._missing += int((~there).sum())
        self._silent += int(np.isnan(feed.own).sum())
        self._overruled += int(answers.overruled.sum())
        self._unguarded += int((~answers.guarded).sum())
        outcomes, values = feed.outcomes[there], answers.values[there]
        costs = self._cost(values, outcomes)
        both = said[there]
        self._compared += int(both.sum())
        own = np.repeat(feed.own[said][:, None], values.shape[1], axis=1)
        raw = self._cost(own, outcomes[both])
        for k, block in enumerate((costs, costs[both], raw)):
            self._costs[k] += math.fsum(block.tolist())
        covered = self._covers(values, outcomes)
        if covered is not None:
            self._covered += int(covered.sum())
            self.recent = [*self.recent, *covered.tolist()][-RECENT:]
        raw_covered = self._covers(own, outcomes[both])
        if raw_covered is not None:
            self._raw_covered += int(raw_covered.sum())

    def summary(self) -> Summary:
        """Return what has been counted."""
        scored, level = self._rows - self._missing, level_of(self._wanted)
        single = len(ones(self._wanted)) == 1

        def mean(total: float, count: int) -> float:
            return total / count if count else math.nan

        return Summary(
            self._rows,
            self._missing,
            self._silent,
            self._overruled,
            self._unguarded,
            None if level is None else mean(self._covered, scored),
            None if level is None or not single else mean(self._raw_covered, self._compared),
            level,
            mean(self._costs[0], scored),
            mean(self._costs[1], self._compared),
            mean(self._costs[2], self._compared) if single else math.nan,
        )

    def _cost(self, values: FloatArray, outcomes: FloatArray) -> FloatArray:
        columns = [
            losses_of(one, values[:, k], outcomes) for k, one in enumerate(ones(self._wanted))
        ]
        return np.asarray(np.sum(columns, axis=0))

    def _covers(self, values: FloatArray, outcomes: FloatArray) -> Any:
        if isinstance(self._wanted, Quantile | Median):
            return outcomes <= values[:, 0]
        if isinstance(self._wanted, Interval):
            return (values[:, 0] <= outcomes) & (outcomes <= values[:, -1])
        return None


def ones(wanted: Target) -> list[Any]:
    """Return the property that each number of a target is.

    >>> ones(Interval(0.9))
    [Quantile(level=0.05), Quantile(level=0.95)]
    """
    if isinstance(wanted, Interval | Quantiles):
        return [Quantile(level) for level in wanted.levels]
    return [Mean()] if isinstance(wanted, Probability) else [wanted]


def level_of(wanted: Target) -> float | None:
    """Return which share of outcomes should be covered, where that makes sense."""
    if isinstance(wanted, Median):
        return 0.5
    if isinstance(wanted, Interval):
        return wanted.coverage
    return wanted.level if isinstance(wanted, Quantile) else None


def losses_of(one: Any, values: FloatArray, outcomes: FloatArray) -> FloatArray:
    """Return the losses of forecasts of one property, in the units of the outcomes.

    >>> losses_of(Quantile(0.9), np.array([1.0, 1.0]), np.array([2.0, 0.0]))
    array([0.9, 0.1])
    """
    errors = outcomes - values
    if isinstance(one, Median):
        return np.abs(errors)
    if isinstance(one, Mean):
        return errors**2
    sizes = np.where(errors > 0, one.level, 1 - one.level)
    return np.asarray(sizes * (np.abs(errors) if isinstance(one, Quantile) else errors**2))
