"""From what a digest has summed to the plain numbers that charts and pages show."""

import math
from collections.abc import Hashable
from typing import Any

import numpy as np

from trueup.engine import swap_regret_bound
from trueup.metrics import decompose
from trueup.metrics._calibration import binomial_deviation
from trueup.protocols import FloatArray
from trueup.report._bands import binomial_bands, mean_band, share_of_each
from trueup.report._buckets import Buckets
from trueup.report._cells import Cells
from trueup.report._labels import Visits
from trueup.report._numbers import (
    COLUMNS,
    LOSS,
    ROUNDS,
    SAID,
    SEEN,
    SLOPE,
    SQUARE,
    TIED,
    Number,
)
from trueup.report._summary import Bands, NumberSummary, Regret, Score, Series, Stretch, Summary
from trueup.report._words import clean

BINS, PERIODS = 20, 40
LEAST = 30  # rounds in a bin or a period, unless that leaves a single one
GROUPS, OTHER_GROUPS = 25, "all further groups"
ORIENTATION = 0.55  # sqrt(t) times this is the value of small games; see docs/theory/small-games.md


def summarise(
    digest: Any, stages: Any, names: list[Hashable], certificates: Any, calibrator: Any
) -> Summary:
    """Return what a digest's stages have summed, with what a calibrator knows beside it."""
    known, overruled = stages.overruled
    drawn = calibrator.bins() if calibrator is not None else (None,) * len(stages.numbers)
    return Summary(
        wanted=digest.wanted,
        rounds=digest.rounds,
        answered=stages.answered,
        overruled=overruled / known if known else math.nan,
        dated=bool(stages.dated),
        numbers=tuple(_number(stages, k, names, drawn[k]) for k in range(len(stages.numbers))),
        series=_series(stages),
        regret=_regret(stages, certificates, calibrator),
        n_groups=len(names),
        late=stages.late,
    )


def _number(stages: Any, k: int, names: list[Hashable], drawn: Any) -> NumberSummary:
    number = stages.numbers[k]
    spread = [stages.lags[which][k].factor(stages.late) for which in range(2)]
    bins = [_by_forecast(number, stages.cells[which][k], spread[which]) for which in range(2)]
    scores = [
        _score(
            number, stages.sums[which, k], bins[which], _sampled(stages, which, k), spread[which]
        )
        for which in range(2)
    ]
    times = [_by_time(number, stages, which, k) for which in range(2)]
    own = scores[1].rounds > 0
    visits = None
    if drawn is not None:
        wealth = drawn.wealth.sum(axis=1)
        visits = Visits(drawn.labels, drawn.scales, drawn.visits, wealth)
    elif stages.labels[k].known:
        visits = stages.labels[k].visits()
    shown, *by_group = _by_group(number, stages, k, names)
    return NumberSummary(
        number,
        scores[0],
        scores[1] if own else None,
        bins[0],
        bins[1] if own else None,
        times[0],
        times[1] if own else None,
        shown,
        by_group[0],
        by_group[1] if own else None,
        visits,
    )


def share_below(sums: FloatArray, level: float) -> FloatArray:
    """Return the share of outcomes below; where the forecast is tied, the one nearest the level."""
    rounds = np.maximum(sums[..., ROUNDS], 1)
    upto = sums[..., SLOPE] / rounds
    return np.asarray(np.clip(level, upto - sums[..., TIED] / rounds, upto))


def bands_of(
    number: Number,
    sums: FloatArray,
    start: FloatArray,
    end: FloatArray,
    spread: float,
    *,
    over_time: bool,
) -> Bands:
    """Return what is measured from sums, shape (n, 8), and its bands.

    `spread` is over how many rounds an independent one is spread (see `_lags`).
    """
    n = sums[:, ROUNDS]
    said, seen, slope = (sums[:, c] / np.maximum(n, 1) for c in (SAID, SEEN, SLOPE))
    alpha, zero, free = share_of_each(n.size), np.zeros(n.size), np.ceil(n / spread)
    if number.level is not None:
        value, target = share_below(sums, number.level), np.full(n.size, number.level)
        low, high = binomial_bands(free, target, alpha)
    elif number.chance:  # a binomial with the mean chance spreads more than the sum of all chances
        value, target = seen, said
        low, high = binomial_bands(free, said, alpha)
        if over_time:
            low, high, value, target = low - said, high - said, -slope, zero
    else:
        variance = np.maximum(sums[:, SQUARE] / np.maximum(n, 1) - slope**2, 0)
        value, target = (-slope if number.compares_means else slope), zero
        low, high = mean_band(target, free, variance, alpha)
    return Bands(n, start, end, said, seen, value, target, low, high)


def _by_forecast(number: Number, cells: Cells, spread: float) -> Bands:
    """Put cells of forecasts together into bins of about equal count."""
    counts = cells.sums[:, ROUNDS]
    total = counts.sum()
    bins = int(max(min(BINS, total // LEAST), 1))
    place = np.floor(bins * (np.cumsum(counts) - counts / 2) / max(total, 1))
    starts = np.flatnonzero(np.diff(place, prepend=-1))
    ends = np.append(starts[1:], counts.size)[: starts.size] - 1
    sums = np.add.reduceat(cells.sums, starts, axis=0) if starts.size else cells.sums
    return bands_of(number, sums, cells.low[starts], cells.high[ends], spread, over_time=False)


def _by_time(number: Number, stages: Any, which: int, k: int) -> Bands:
    """Put stretches together into periods of equal length."""
    buckets: Buckets = stages.buckets
    at = 6 + (which * len(stages.numbers) + k) * COLUMNS
    sums = buckets.sums[: buckets.used, at : at + COLUMNS]
    total = sums[:, ROUNDS].sum()
    periods = int(max(min(PERIODS, total // LEAST, buckets.used), 1))
    place = np.arange(buckets.used) * periods // max(buckets.used, 1)
    starts = np.flatnonzero(np.diff(place, prepend=-1))
    joined = np.add.reduceat(sums, starts, axis=0) if starts.size else sums
    ends = np.append(starts[1:], buckets.used)[: starts.size] * buckets.width - 1
    full = joined[:, ROUNDS] > 0
    return bands_of(
        number,
        joined[full],
        np.asarray(starts[full] * buckets.width, dtype=float),
        np.asarray(ends[full], dtype=float),
        stages.lags[which][k].factor(stages.late),
        over_time=True,
    )


def _sampled(stages: Any, which: int, k: int) -> tuple[FloatArray, FloatArray]:
    """Return forecasts and outcomes of the sample, where there are both."""
    rows = stages.sample.rows
    said, seen = rows[:, 1 + which * len(stages.numbers) + k], rows[:, 0]
    known = ~(np.isnan(said) | np.isnan(seen))
    return said[known], seen[known]


def _score(number: Number, sums: FloatArray, bins: Bands, sample: Any, spread: float) -> Score:
    n = max(sums[ROUNDS], 1.0)
    upto = sums[SLOPE] / n if number.level is not None else math.nan
    misses = np.abs(bins.value - bins.target) * bins.rounds
    return Score(
        int(sums[ROUNDS]),
        float(upto - sums[TIED] / n),
        float(upto),
        float(sums[SAID] / n),
        float(sums[SEEN] / n),
        float(sums[LOSS] / n),
        float(misses.sum() / n),
        float(_by_chance(number, bins, spread) / n),
        *_parts(number, *sample),
        int(sample[0].size),
    )


def _by_chance(number: Number, bins: Bands, spread: float) -> float:
    """Return what the sum of misses would be, on average, for a perfectly calibrated forecaster."""
    if number.level is not None:
        level, free = number.level, np.ceil(bins.rounds / spread)
        return float(spread * sum(binomial_deviation(int(n), level) for n in free))
    if number.chance:
        chances = zip(
            np.ceil(bins.rounds / spread), np.clip(bins.said, 1e-9, 1 - 1e-9), strict=True
        )
        return float(spread * sum(binomial_deviation(int(n), float(p)) for n, p in chances))
    reach = bins.high - bins.target  # a multiple of the standard deviation of the mean
    one = mean_band(np.zeros(1), np.ones(1), np.ones(1), share_of_each(bins.rounds.size))[1][0]
    return float((reach / one * bins.rounds).sum() * math.sqrt(2 / math.pi))


def _parts(number: Number, said: FloatArray, seen: FloatArray) -> tuple[float, float, float]:
    """Return miscalibration, discrimination and uncertainty, in the user's units."""
    if not said.size:
        return math.nan, math.nan, math.nan
    low = min(said.min(), seen.min())
    span = max(float(max(said.max(), seen.max()) - low), 1e-300)
    inside = (np.clip((values - low) / span, 0.0, 1.0) for values in (said, seen))
    parts = decompose(next(inside), next(inside), number.wanted)
    unit = span**number.power
    return (
        float(parts.miscalibration * unit),
        float(parts.discrimination * unit),
        float(parts.uncertainty * unit),
    )


def _series(stages: Any) -> Series:
    buckets, k = stages.buckets, len(stages.numbers)
    sums, low, high = (a[: buckets.used] for a in (buckets.sums, buckets.low, buckets.high))

    def mean(total: int, count: int) -> FloatArray:
        n = sums[:, count]
        return np.asarray(np.divide(sums[:, total], n, out=np.full(n.size, np.nan), where=n > 0))

    def number(which: int, j: int) -> Stretch:
        at, extreme = 6 + (which * k + j) * COLUMNS, 3 + which * k + j
        middle = mean(at + SAID, at + ROUNDS)
        return Stretch(middle, low[:, extreme], high[:, extreme])

    own = tuple(number(1, j) for j in range(k))
    if not any(np.isfinite(part.low).any() for part in own):
        point = Stretch(mean(3, 2), low[:, 1], high[:, 1])
        own = (point,) if np.isfinite(point.low).any() else ()
    return Series(
        buckets.width,
        np.arange(buckets.used) * float(buckets.width),
        low[:, 2].copy(),
        Stretch(mean(1, 0), low[:, 0], high[:, 0]),
        tuple(number(0, j) for j in range(k)),
        own,
        mean(5, 4),
    )


def _by_group(
    number: Number, stages: Any, k: int, names: list[Hashable]
) -> tuple[tuple[str, ...], Bands | None, Bands | None]:
    """Return the largest groups, those of equal size in the order in which they came."""
    count = stages.groups.shape[0]
    if not count:
        return (), None, None
    named = [*map(clean, names), *[OTHER_GROUPS] * (count - len(names))]
    sizes = stages.groups[:, 0, k, ROUNDS]
    order = np.argsort(-sizes, kind="stable")[:GROUPS]
    order = order[sizes[order] > 0]
    nothing = np.zeros(order.size)
    issued, raw = (
        bands_of(
            number,
            stages.groups[order, which, k],
            nothing,
            nothing,
            stages.lags[which][k].factor(stages.late),
            over_time=True,
        )
        for which in range(2)
    )
    return tuple(named[g] for g in order), issued, raw


def _regret(stages: Any, certificates: list[tuple[int, float]], calibrator: Any) -> Regret | None:
    if not stages.looks or not all(stage.counts for stage in stages.labels):
        return None
    rounds, regret = np.array(stages.looks, dtype=float).T
    told = list(certificates)
    bound = orientation = np.empty(0)
    if calibrator is not None and calibrator.transform is None:
        told.append((int(rounds[-1]), calibrator.certificate()))
        report = calibrator.report()
        unit = sum(number.steepest(report.high - report.low) for number in stages.numbers)
        bound = bound_of(rounds, unit, calibrator.settings())
        orientation = ORIENTATION * unit * np.sqrt(rounds)
    certified = np.array(told, dtype=float).reshape(-1, 2)
    return Regret(rounds, regret, certified[:, 0], certified[:, 1], bound, orientation)


def bound_of(rounds: FloatArray, unit: float, settings: dict[str, Any]) -> FloatArray:
    """Return the theorem's bound at some rounds, in units of loss."""
    return np.array(
        [
            unit
            * swap_regret_bound(
                max(int(t), 1),
                c=settings["c"],
                overrule=settings["overrule"],
                refine=not settings["exact"],
            )
            for t in rounds
        ]
    )
