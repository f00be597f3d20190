"""Calibration errors, coverage, and the split of a score."""

import itertools
import math

import numpy as np
import pytest

import trueup as tu
from trueup.errors import InvalidArgument
from trueup.metrics import (
    binned_calibration_error,
    calibration_error,
    coverage,
    decompose,
    identification_calibration_error,
    isotonic_fit,
    l2_calibration_error,
    worst_window_coverage,
)

PROPERTIES = [tu.Mean(), tu.Median(), tu.Quantile(0.1), tu.Quantile(0.9), tu.Expectile(0.8)]


def test_l2_error_is_calibration_error_under_squared_loss():
    """n_p (p - mean)^2 is the regret to the mean."""
    rng = np.random.default_rng(1)
    forecasts, outcomes = rng.integers(0, 11, 500) / 10, rng.uniform(size=500)

    assert l2_calibration_error(forecasts, outcomes) == pytest.approx(
        calibration_error(forecasts, outcomes, tu.Mean())
    )


def test_identification_error_counts_the_wrong_side():
    """MCal_1 of the median: twice n_p times the distance of the share from 1/2."""
    rng = np.random.default_rng(2)
    forecasts, outcomes = rng.integers(0, 5, 400) / 4, rng.uniform(size=400)
    total = sum(
        2 * (forecasts == p).sum() * abs(np.mean(outcomes[forecasts == p] <= p) - 0.5)
        for p in np.unique(forecasts)
    )

    assert identification_calibration_error(forecasts, outcomes, tu.Median()) == pytest.approx(
        total
    )


def test_a_larger_order_weighs_large_errors_more():
    """MCal_2 of a forecast that is right half of the time in each of two bins is smaller."""
    forecasts, outcomes = [0.5] * 4, [0.1, 0.1, 0.1, 0.9]

    assert identification_calibration_error(forecasts, outcomes, tu.Median(), 1) == 2.0
    assert identification_calibration_error(forecasts, outcomes, tu.Median(), 2) == 1.0


@pytest.mark.parametrize("count", [1, 2, 7, 30])
@pytest.mark.parametrize("level", [0.05, 0.5, 0.9])
def test_the_perfect_value_is_the_exact_mean_deviation(count, level):
    """Of a binomial, by summing over all its values."""
    result = binned_calibration_error([0.5] * count, [0.2] * count, tu.Quantile(level), bins=1)
    masses = [math.comb(count, k) * level**k * (1 - level) ** (count - k) for k in range(count + 1)]
    expected = sum(m * abs(k - count * level) for k, m in enumerate(masses)) / count

    assert result.perfect == pytest.approx(expected)


@pytest.mark.parametrize("wanted", PROPERTIES, ids=repr)
def test_a_perfect_forecaster_shows_the_perfect_value(wanted):
    """Outcomes from laws whose property is the forecast, averaged over runs."""
    rng = np.random.default_rng(3)
    errors, perfect = [], []
    for _ in range(60):
        centre = rng.uniform(0.25, 0.75, 2_000)
        noise = rng.uniform(-0.25, 0.25, 2_000)
        if isinstance(wanted, tu.Quantile):
            forecasts = centre - 0.25 + 0.5 * wanted.level
        elif isinstance(wanted, tu.Expectile):  # of uniform on [-1, 1] / 4
            root = math.sqrt(wanted.level / (1 - wanted.level))
            forecasts = centre + 0.25 * (root - 1) / (root + 1)
        else:
            forecasts = centre
        result = binned_calibration_error(forecasts, centre + noise, wanted)
        errors.append(result.error)
        perfect.append(result.perfect)

    assert np.mean(errors) == pytest.approx(np.mean(perfect), rel=0.1)


def counts_of_runs(forecasts):
    """Return the sizes of all runs of neighbouring distinct forecasts."""
    counts = np.unique(forecasts, return_counts=True)[1]
    ends = np.concatenate([[0], np.cumsum(counts)])
    return {b - a for a, b in itertools.combinations(ends.tolist(), 2)}


def test_bins_hold_equal_counts_and_keep_ties_together():
    """Without ties the counts differ by at most one; equal forecasts never part."""
    rng = np.random.default_rng(4)
    forecasts, outcomes = rng.uniform(size=1_003), rng.uniform(size=1_003)
    free = binned_calibration_error(forecasts, outcomes, tu.Mean(), bins=20)
    tied = binned_calibration_error(np.round(forecasts, 1), outcomes, tu.Mean(), bins=20)

    assert free.bins == 20
    assert free.counts.max() - free.counts.min() <= 1
    assert tied.bins <= 11
    assert set(tied.counts) <= counts_of_runs(np.round(forecasts, 1))


def test_forecasts_that_fit_into_the_bins_are_never_merged():
    """Two forecasts whose errors would cancel show them, however uneven their counts."""
    forecasts = [0.2] * 490 + [0.8] * 510
    outcomes = [0.9] * 490 + [0.1] * 510
    for bins in (2, 3, 20):
        result = binned_calibration_error(forecasts, outcomes, tu.Median(), bins)
        assert (result.bins, result.error) == (2, 1.0)
    uneven = np.repeat(np.arange(5) / 5, [19, 20, 20, 20, 21])
    found = binned_calibration_error(uneven, uneven, tu.Mean(), 5)
    assert found.counts.tolist() == [19, 20, 20, 20, 21]
    rare = np.repeat([0.1, 0.2, 0.3, 0.4], [1, 1, 1, 97])
    assert binned_calibration_error(rare, rare, tu.Mean(), 4).counts.tolist() == [1, 1, 1, 97]
    assert binned_calibration_error(rare, rare, tu.Mean(), 3).counts.tolist() == [2, 1, 97]


@pytest.mark.parametrize("seed", range(20))
def test_bins_are_nearly_as_equal_as_ties_allow(seed):
    """As many as wanted, and none larger than its share by more than the largest tie or two."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 30, rng.integers(3, 60))
    forecasts = rng.permutation(np.repeat(np.linspace(0, 1, counts.size), counts))
    for bins in (1, 2, 5, 20):
        result = binned_calibration_error(forecasts, forecasts, tu.Mean(), bins)

        assert result.bins == min(bins, counts.size)
        assert set(result.counts) <= counts_of_runs(forecasts)
        if bins <= counts.size / 2:
            assert np.abs(result.counts - counts.sum() / bins).max() <= 1.5 * counts.max()


def test_a_biased_forecaster_is_far_above_the_perfect_value():
    """The companion: forecasts shifted by 0.1 show it."""
    rng = np.random.default_rng(5)
    centre = rng.uniform(0.3, 0.7, 5_000)
    outcomes = centre + rng.uniform(-0.2, 0.2, 5_000)
    result = binned_calibration_error(centre + 0.1, outcomes, tu.Median())

    assert result.error > 5 * result.perfect
    assert np.all(result.deviations > 0)


def test_coverage_counts_outcomes_at_the_ends():
    """One-sided and two-sided, in any unit."""
    assert coverage([10.0, 10.0, 10.0], [10.0, 9.0, 11.0]) == pytest.approx(2 / 3)
    assert coverage(([0.0] * 3, [10.0] * 3), [0.0, 10.0, -1.0]) == pytest.approx(2 / 3)


def test_the_worst_window_is_found_by_looking_at_all():
    """Against a loop."""
    rng = np.random.default_rng(6)
    forecasts, outcomes = rng.uniform(0.5, 1.0, 300), rng.uniform(size=300)
    covered = outcomes <= forecasts
    for window in (1, 10, 100, 300):
        shares = [covered[s : s + window].mean() for s in range(300 - window + 1)]
        worst = worst_window_coverage(forecasts, outcomes, 0.75, window)
        assert worst.deviation == pytest.approx(max(abs(np.array(shares) - 0.75)))
        assert worst.coverage == pytest.approx(shares[worst.start])


def test_the_last_window_is_looked_at_too():
    """The worst may be at either end; of equals the first is told."""
    outcomes = [0.4, 0.6, 0.4, 0.6, 0.6]

    assert worst_window_coverage([0.5] * 5, outcomes, 0.5, 2) == (0.5, 0.0, 3)
    assert worst_window_coverage([0.5] * 5, outcomes[::-1], 0.5, 2) == (0.5, 0.0, 0)
    assert worst_window_coverage([0.5] * 5, outcomes, 0.5, 5) == (pytest.approx(0.1), 0.4, 0)


def isotonic_by_all_partitions(outcomes, wanted):
    """Return the smallest total score over all monotone step functions on few rounds."""
    count, best = len(outcomes), math.inf
    grid = np.unique([*outcomes, *np.linspace(0, 1, 41)])
    for cuts in itertools.product([False, True], repeat=count - 1):
        groups = np.concatenate([[0], np.cumsum(cuts)])
        fits = []
        for g in range(groups[-1] + 1):
            seen = outcomes[groups == g]
            scores = [wanted.score(np.full(seen.size, s), seen).sum() for s in grid]
            fits.append((grid[int(np.argmin(scores))], min(scores)))
        if all(a[0] <= b[0] for a, b in itertools.pairwise(fits)):
            best = min(best, sum(score for _, score in fits))
    return best


@pytest.mark.parametrize("wanted", PROPERTIES, ids=repr)
def test_the_isotonic_fit_is_monotone_and_best(wanted):
    """No monotone step function scores better, by trying all partitions of a short record."""
    rng = np.random.default_rng(7)
    for _ in range(6):
        outcomes = rng.uniform(size=7)
        fit = isotonic_fit(np.arange(7) / 10, outcomes, wanted)
        total = wanted.score(fit, outcomes).sum()

        assert np.all(np.diff(fit) >= 0)
        assert total <= isotonic_by_all_partitions(outcomes, wanted) + 1e-9


@pytest.mark.parametrize("wanted", PROPERTIES, ids=repr)
def test_the_parts_of_a_score_add_up_and_are_not_negative(wanted):
    """Score = miscalibration - discrimination + uncertainty."""
    rng = np.random.default_rng(8)
    forecasts, noise = rng.uniform(size=800), rng.uniform(size=800)
    outcomes = np.clip(0.7 * forecasts + 0.3 * noise, 0, 1)
    parts = decompose(np.round(forecasts, 2), outcomes, wanted)

    assert parts.score == pytest.approx(
        parts.miscalibration - parts.discrimination + parts.uncertainty
    )
    assert min(parts.miscalibration, parts.discrimination, parts.uncertainty) >= -1e-12
    assert parts.discrimination > 0.5 * parts.uncertainty


def test_recalibrated_forecasts_have_no_miscalibration_and_constants_no_discrimination():
    """The two corner cases."""
    rng = np.random.default_rng(9)
    forecasts, outcomes = rng.uniform(size=300), rng.uniform(size=300)
    for wanted in PROPERTIES:
        fitted = isotonic_fit(forecasts, outcomes, wanted)
        assert decompose(fitted, outcomes, wanted).miscalibration == pytest.approx(0, abs=1e-9)
        constant = decompose(np.full(300, 0.3), outcomes, wanted)
        assert constant.discrimination == pytest.approx(0, abs=1e-12)


BAD = [
    (lambda: calibration_error([0.5], [math.nan], tu.Mean()), "outcomes must be finite"),
    (lambda: l2_calibration_error([0.5], [0.5, 0.5]), "must have the same length"),
    (lambda: binned_calibration_error([0.5], [0.5], tu.Mean(), bins=0), "bins must be at least 1"),
    (lambda: binned_calibration_error([], [], tu.Mean()), "forecasts must be at least one"),
    (lambda: identification_calibration_error([0.5], [0.5], tu.Mean(), 0), "order must be above 0"),
    (lambda: coverage([0.5], [math.inf]), "outcomes must be finite"),
    (lambda: coverage([], []), "outcomes must be at least one"),
    (lambda: worst_window_coverage([0.5], [0.5], 0.9, 2), "window must be at most the 1 rounds"),
    (lambda: worst_window_coverage([0.5], [0.5], 1.9, 1), "level must be inside"),
]


@pytest.mark.parametrize(("make", "sentence"), BAD)
def test_bad_input_gets_one_sentence(make, sentence):
    """The error names the argument, the rule and what was got."""
    with pytest.raises(InvalidArgument, match=sentence):
        make()
