"""The parts of a digest: cells, stretches, labels, bands, each against a slow obvious twin."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import trueup as tu
from reporting.support import run_of
from trueup.metrics import swap_regret
from trueup.report import _labels, digest_of
from trueup.report._bands import binomial_band
from trueup.report._buckets import MOST, Buckets
from trueup.report._cells import Cells
from trueup.report._labels import Labels
from trueup.report._lags import Lags
from trueup.report._numbers import numbers_of, sums_of
from trueup.report._stages import CHUNK, end_of

NUMBERS = st.lists(st.tuples(st.integers(0, 3), st.integers(-40, 40)), min_size=1, max_size=300)


@settings(max_examples=40, deadline=None)
@given(st.lists(NUMBERS, min_size=1, max_size=5))
def test_cells_hold_every_row_once_in_intervals_that_do_not_overlap(blocks):
    """Sums in a cell are those of all rows whose value is in it, whatever was put together."""
    cells, rows = Cells(2, room=4), []
    for block in blocks:
        group, values = (np.array(column) for column in zip(*block, strict=True))
        cells.take(values / 8, np.column_stack([np.ones(values.size), values**2]), group)
        rows += [(g, v / 8, v**2) for g, v in block]
    for g, low, high, sums in zip(cells.group, cells.low, cells.high, cells.sums, strict=True):
        inside = [square for owner, value, square in rows if owner == g and low <= value <= high]
        assert sums.tolist() == [len(inside), sum(inside)]
    assert cells.sums[:, 0].sum() == len(rows)
    for k in range(1, cells.low.size):
        assert cells.group[k - 1] < cells.group[k] or cells.high[k - 1] < cells.low[k]
    assert np.bincount(cells.group).max() <= 2 * Cells.LEAST


def test_cells_keep_distinct_values_apart_while_there_is_room():
    """Then every sum is exact."""
    values = np.random.default_rng(0).integers(0, 30, 5_000) / 3.0
    cells = Cells(1, room=32)
    cells.take(values, np.ones((5_000, 1)))

    assert np.array_equal(cells.low, np.unique(values))
    assert np.array_equal(cells.low, cells.high)


def test_cells_put_together_have_about_equal_counts():
    """No cell of a spread-out stream is much larger than its share."""
    rng, cells = np.random.default_rng(1), Cells(1, room=100)
    for _ in range(20):
        values = rng.normal(size=5_000)
        cells.take(values, np.ones((values.size, 1)))

    assert cells.low.size <= 200
    assert cells.sums.max() < 6 * 100_000 / 100


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(1, 900), min_size=1, max_size=6), st.integers(0, 99))
def test_stretches_have_the_sums_and_extremes_of_their_rounds(sizes, seed):
    """However many rounds there are, in at most so many stretches."""
    values = np.random.default_rng(seed).normal(size=(sum(sizes), 1))
    values[::7] = np.nan
    buckets, start = Buckets(1, 1), 0
    for size in sizes:
        block = values[start : start + size]
        buckets.take(start, np.nan_to_num(block), block)
        start += size
    for k in range(buckets.used):
        inside = values[k * buckets.width : (k + 1) * buckets.width, 0]
        assert buckets.sums[k, 0] == pytest.approx(np.nansum(inside), abs=1e-12)
        known = inside[~np.isnan(inside)]
        if known.size:
            assert (buckets.low[k, 0], buckets.high[k, 0]) == (known.min(), known.max())
    assert buckets.used <= MOST
    assert buckets.used * buckets.width >= sum(sizes)


def test_chunks_end_at_fixed_rounds():
    """At every look, at every 65,536 rounds, and further on each time."""
    ends = list(itertools.accumulate(range(90), lambda start, _: end_of(start), initial=0))[1:]

    assert all(a < b for a, b in itertools.pairwise(ends))
    assert {16, 32, 64, 1_024, CHUNK, 2 * CHUNK, 3 * CHUNK} <= set(ends)
    assert max(b - a for a, b in itertools.pairwise(ends)) <= CHUNK


@pytest.mark.parametrize(
    "wanted", [tu.Quantile(0.9), tu.Median(), tu.Mean(), tu.Quantiles([0.2, 0.7])], ids=repr
)
def test_swap_regret_by_label_is_that_of_the_metrics(wanted):
    """At the end of a run, to rounding, and below its certificate all along."""
    run = run_of(wanted, rounds=3_000)
    regret = digest_of(run).summary(run.calibrator).regret

    assert regret.regret[-1] == pytest.approx(run.swap_regret(), rel=1e-6, abs=1e-6)
    assert regret.rounds[-1] == (run.guarded & run.answered).sum()
    assert regret.certificates.tolist() == [run.certificate]
    assert regret.regret[-1] <= run.certificate
    assert np.all(np.diff(regret.rounds) > 0)
    assert np.all(regret.bound >= regret.orientation)


def test_swap_regret_from_few_cells_is_never_below_the_truth(monkeypatch):
    """And close to it: cells of outcomes are put together on purpose here."""
    monkeypatch.setattr(_labels, "ROOM", 32)
    number = numbers_of(tu.Quantile(0.8))[0]
    rng, stage = np.random.default_rng(2), Labels(number)
    labels, outcomes = rng.integers(0, 3, 40_000).astype(float), rng.normal(size=40_000)
    for block in np.split(np.arange(40_000), 10):
        rows = sums_of(number, labels[block], outcomes[block])
        stage.take(labels[block], np.ones(block.size), rows)
    low, span = outcomes.min(), np.ptp(outcomes)
    said, seen = ((column - low) / span for column in (np.clip(labels, None, 2), outcomes))
    truth = span * swap_regret(np.clip(said, 0, 1), seen, tu.Quantile(0.8), by=labels)

    assert np.bincount(stage.cells.group).max() <= 2 * Cells.LEAST
    assert truth <= stage.regret() <= 1.1 * truth


def exact_binomial(count, probability):
    """Return the law of a binomial count by its definition."""
    return [
        math.comb(count, k) * probability**k * (1 - probability) ** (count - k)
        for k in range(count + 1)
    ]


@pytest.mark.parametrize("count", [1, 7, 60, 300])
@pytest.mark.parametrize("probability", [0.02, 0.5, 0.9])
def test_binomial_bands_leave_out_what_they_may_and_no_more(count, probability):
    """Each end is passed with probability alpha / 2 at most, and one step inside more often."""
    law, alpha = exact_binomial(count, probability), 0.05
    low, high = (round(count * end) for end in binomial_band(count, probability, alpha))

    assert sum(law[:low]) <= alpha / 2 < sum(law[: low + 1]) + 1e-12
    assert sum(law[high + 1 :]) <= alpha / 2 + 1e-12
    assert high == 0 or sum(law[high:]) > alpha / 2


def test_perfect_forecasters_stay_in_all_bands_about_as_often_as_said():
    """100 of them: 95 % for all bins at once, binomial counts being a little conservative."""
    rng, inside, rounds = np.random.default_rng(7), 0, 500
    for _ in range(100):
        said = rng.uniform(size=rounds)
        digest = tu.report.Digest(tu.Quantile(0.75))
        digest.add(said + rng.uniform(-0.75, 0.25, rounds), said)
        inside += digest.summary().numbers[0].by_forecast.outside == 0

    assert inside / 100 >= 0.86  # four standard deviations below


def test_a_forecaster_that_is_off_in_one_bin_leaves_its_band():
    """The band would see it."""
    rng = np.random.default_rng(8)
    said = rng.uniform(size=4_000)
    level = np.where(said > 0.9, 0.5, 0.75)
    digest = tu.report.Digest(tu.Quantile(0.75))
    digest.add(said + rng.uniform(-1, 0, 4_000) + 1 - level, said)

    assert digest.summary().numbers[0].by_forecast.outside >= 1


def test_the_factor_of_late_outcomes_is_that_of_plain_covariances():
    """Also when values come in pieces."""
    rng, late = np.random.default_rng(11), 8
    values = np.convolve(rng.normal(size=3_006), np.ones(7), "valid") + 0.3
    lags = Lags()
    for piece in np.split(values, [1, 4, 5, 900]):
        lags.take(piece)
    v = values - values.mean()
    covariances = [v[k:] @ v[: v.size - k] for k in range(late + 1)]

    expected = 1 + 2 * sum(covariances[1:]) / covariances[0]
    assert lags.factor(7) == lags.factor(late) == pytest.approx(expected, rel=0.01)
    assert lags.factor(late) == pytest.approx(7, rel=0.2)
    assert lags.factor(0) == 1.0


@pytest.mark.parametrize(("late", "stays"), [(19, True), (0, False)])
def test_bands_of_late_outcomes_are_wide_enough_only_if_told(late, stays):
    """Right forecasts whose errors come in runs of 20, all out together."""
    rng, inside = np.random.default_rng(12), 0
    for _ in range(40):
        digest = tu.report.Digest(tu.Quantile(0.75))
        errors = np.repeat(rng.uniform(-0.75, 0.25, 200), 20)
        said = rng.uniform(size=4_000)
        digest.add(said + errors, said, late=late)
        inside += digest.summary().numbers[0].by_time.outside == 0

    assert (inside >= 34) == stays
    assert stays or inside <= 4
