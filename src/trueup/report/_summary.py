"""What a report shows, as plain numbers: types alone."""

import math
from typing import Any, NamedTuple

from trueup import _validation as check
from trueup.protocols import FloatArray
from trueup.report._labels import Visits
from trueup.report._numbers import Number


class Score(NamedTuple):
    """How one number was forecast: by what was issued, or by the user's own model."""

    rounds: int  # with a forecast and an outcome
    below: float  # share of outcomes below what was said
    upto: float  # share of outcomes at or below it
    said: float  # mean forecast
    seen: float  # mean outcome
    loss: float  # mean loss
    error: float  # calibration error in bins, per round, in units of `Bands.value`
    chance: float  # what a perfectly calibrated forecaster would show, on average
    miscalibration: float  # the three parts of the mean loss, from `sampled` rounds
    discrimination: float
    uncertainty: float
    sampled: int

    def share(self, level: float | None) -> float:
        """Return the share of outcomes below; of a tied forecast, the one nearest to the level."""
        return math.nan if level is None else min(max(level, self.below), self.upto)


class Bands(NamedTuple):
    """Something measured in bins or periods, with the band of a perfectly calibrated forecaster.

    For a quantile `value` is the share of outcomes below (at a tie, the share nearest to the
    level); for a mean the mean outcome less the mean forecast; for a probability, in bins of
    forecasts, the share of ones, else like a mean; for an expectile the mean slope of the loss.
    """

    rounds: FloatArray
    start: FloatArray  # the smallest forecast, or the first round
    end: FloatArray  # the largest forecast, or the last round
    said: FloatArray  # mean forecast
    seen: FloatArray  # mean outcome
    value: FloatArray
    target: FloatArray  # what it would be on average
    low: FloatArray
    high: FloatArray

    @property
    def outside(self) -> int:
        """How many leave the band."""
        slack = 1e-9 * (self.high - self.low)  # shares at the very end of a band are inside
        return int(((self.value < self.low - slack) | (self.value > self.high + slack)).sum())


class NumberSummary(NamedTuple):
    """One of the numbers that are forecast."""

    number: Number
    issued: Score
    raw: Score | None
    by_forecast: Bands  # of what was issued, in bins of it
    raw_by_forecast: Bands | None
    by_time: Bands  # values less targets, but for quantiles
    raw_by_time: Bands | None
    group_names: tuple[str, ...]  # of the largest groups
    by_group: Bands | None  # as by time, a row a name
    raw_by_group: Bands | None
    visits: Visits | None


class Stretch(NamedTuple):
    """Means and extremes in a stretch of rounds; arrays over stretches."""

    mean: FloatArray
    low: FloatArray
    high: FloatArray


class Series(NamedTuple):
    """What happened, in stretches of `width` consecutive rounds."""

    width: int
    start: FloatArray  # first round of each
    time: FloatArray  # its first time, NaN without
    outcome: Stretch
    issued: tuple[Stretch, ...]
    raw: tuple[Stretch, ...]  # one, or one a number, or none
    overruled: FloatArray  # share of rounds, NaN without


class Regret(NamedTuple):
    """Swap regret by label as rounds went by, in units of loss."""

    rounds: FloatArray  # guarded and answered
    regret: FloatArray
    certified: FloatArray  # rounds at which the certificate was told
    certificates: FloatArray
    bound: FloatArray  # what the theorem promises at `rounds`; empty without a calibrator
    orientation: FloatArray  # 0.55 sqrt(t) at `rounds`, the value of small games; the same


class Summary(NamedTuple):
    """Everything a report shows, as plain numbers."""

    wanted: Any
    rounds: int
    answered: int
    overruled: float  # share of the rounds where it is known, NaN without
    dated: bool  # times are seconds since 1970
    numbers: tuple[NumberSummary, ...]
    series: Series
    regret: Regret | None
    n_groups: int
    late: int  # outcomes still to come, at most, when a forecast was made


def number_of(summary: Summary, number: int) -> NumberSummary:
    """Return one of the numbers of a summary, by its place."""
    check.instance("summary", summary, Summary, "a Summary, as of Digest.summary()")
    if check.integer("number", number, at_least=0) >= len(summary.numbers):
        raise check.refuse("number", f"below {len(summary.numbers)}", number)
    return summary.numbers[number]
