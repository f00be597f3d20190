"""Streams on which other tools are known to break."""

import math

import numpy as np
import pytest

import trueup as tu
from trueup.calibrator import Calibrator

ROUNDS = 5_000


def covered(said, outcomes, *, since):
    """Return the share of outcomes at or below what was said, in the later rounds."""
    return float((outcomes <= said)[since:].mean())


class FixedRate:
    """A tracker whose steps do not know the scale, for comparison."""

    def __init__(self, level, rate):
        self.level, self.rate, self.place = level, rate, 0.0

    def run(self, outcomes):
        said = []
        for outcome in outcomes:
            said.append(self.place)
            self.place += self.rate * (self.level - (outcome <= self.place))
        return np.array(said)


SCALES = np.array([1.0, 50.0, 0.02, 500.0, 1.0, 10.0])
CHANGED = np.random.default_rng(1).normal(size=6_000) * np.repeat(SCALES, 1_000)


def test_a_scale_that_changes_five_times():
    """In the later half of every stretch about nine in ten are covered."""
    said = tu.calibrate(CHANGED, tu.Quantile(0.9)).values
    for k in range(6):
        stretch = slice(1_000 * k + 500, 1_000 * k + 1_000)
        assert 0.8 <= (said >= CHANGED)[stretch].mean() <= 0.98


@pytest.mark.parametrize("rate", [0.01, 1.0, 100.0])
def test_steps_of_one_size_miss_the_same_stream(rate):
    """The companion: whatever its rate, a fixed step fails in some stretch."""
    said, shares = FixedRate(0.9, rate).run(CHANGED), []
    for k in range(6):
        stretch = slice(1_000 * k + 500, 1_000 * k + 1_000)
        width = np.median(np.abs(said[stretch])) / SCALES[k]
        shares.append((0.8 <= (said >= CHANGED)[stretch].mean() <= 0.98) and width < 10)
    assert not all(shares)


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_a_scale_that_nobody_has_told(unit):
    """Without bounds or rates: about nine in ten are covered in any unit."""
    outcomes = unit * np.random.default_rng(2).gamma(2.0, size=2_000)
    said = tu.calibrate(outcomes, tu.Quantile(0.9)).values

    assert covered(said, outcomes, since=200) == pytest.approx(0.9, abs=0.03)


@pytest.mark.parametrize("level", [0.975, 0.995])
@pytest.mark.parametrize("model", ["none", "good", "a spread too low"])
def test_extreme_levels(level, model):
    """Far out in the tail, with and without a model, coverage is right."""
    rng = np.random.default_rng(3)
    middle = 10 * np.sin(np.arange(ROUNDS) / 50)
    outcomes = middle + rng.normal(size=ROUNDS)
    tail = {0.975: 1.96, 0.995: 2.576}[level]
    own = {"none": None, "good": middle + tail, "a spread too low": middle + tail - 1.0}
    said = tu.calibrate(outcomes, tu.Quantile(level), forecasts=own[model]).values

    assert covered(said, outcomes, since=500) == pytest.approx(level, abs=0.006 + (1 - level) / 4)


def test_the_model_alone_misses_the_extreme_level():
    """The companion: numbers that are a spread too low fail the same check."""
    outcomes = np.random.default_rng(3).normal(size=ROUNDS)
    for level, tail in ((0.975, 1.96), (0.995, 2.576)):
        below = covered(np.full(ROUNDS, tail - 1.0), outcomes, since=500)
        assert below < level - 0.006 - (1 - level) / 4


def test_gaps_in_outcomes_and_forecasts():
    """NaN in either column poisons nothing."""
    rng = np.random.default_rng(4)
    outcomes = rng.normal(size=ROUNDS)
    own = outcomes + rng.normal(size=ROUNDS)
    whole = outcomes.copy()
    outcomes[rng.uniform(size=ROUNDS) < 0.3] = np.nan
    own[rng.uniform(size=ROUNDS) < 0.3] = np.nan
    run = tu.calibrate(outcomes, tu.Interval(0.8), forecasts=own)

    assert np.isfinite(run.values).all()
    assert np.isfinite(run.certificate)
    assert run.summary().missing == np.isnan(outcomes).sum()
    inside = (run.values[:, 0] <= whole) & (whole <= run.values[:, 1])
    assert inside[500:].mean() == pytest.approx(0.8, abs=0.04)


def test_a_first_outcome_that_is_missing():
    """The range begins with the first one that comes."""
    run = tu.calibrate([math.nan, None, math.nan, 5.0, 6.0, 5.5] + [5.0] * 50, tu.Median())

    assert run.guarded.tolist() == [False] * 4 + [True] * 52
    assert run.values[-1] == pytest.approx(5.0, abs=0.5)


def test_calls_do_not_share_a_state():
    """Two runs of one stream are equal, and neither changes the other."""
    outcomes = np.random.default_rng(5).normal(size=500)
    first = tu.calibrate(outcomes, tu.Median())
    between = tu.Calibrator(tu.Median())
    between.predict(1e6)
    between.update(-1e9)
    second = tu.calibrate(outcomes, tu.Median())

    np.testing.assert_array_equal(first.values, second.values)
    assert first.calibrator is not second.calibrator
    assert first.calibrator.to_bytes() == second.calibrator.to_bytes()


def test_state_goes_across_calls():
    """A calibrator that was saved in the middle goes on as one that was not."""
    outcomes = np.random.default_rng(6).normal(size=600)
    whole = tu.calibrate(outcomes, tu.Quantile(0.9))
    half = tu.calibrate(outcomes[:300], tu.Quantile(0.9)).calibrator
    half, said = Calibrator.from_bytes(half.to_bytes()), []
    for outcome in outcomes[300:]:
        said.append(half.predict().value)
        half.update(float(outcome))

    assert said == whole.values[300:].tolist()


@pytest.mark.parametrize(
    "settings", [{}, {"exact": True}, {"bounds": (-6, 6)}, {"steer": False}], ids=str
)
def test_the_state_does_not_grow_with_time(settings):
    """After 200,000 rounds it is below 100 kB, and a round adds less than half a byte."""
    outcomes = np.random.default_rng(7).normal(size=200_000)
    half = tu.calibrate(outcomes[:100_000], tu.Quantile(0.9), **settings).calibrator
    whole = tu.calibrate(outcomes, tu.Quantile(0.9), **settings).calibrator

    assert len(whole.to_bytes()) < 100_000
    assert whole.report().nbytes < 200_000
    assert len(whole.to_bytes()) - len(half.to_bytes()) < 50_000
    assert whole.report().rounds == 200_000


def test_inputs_are_neither_changed_nor_kept():
    """Writing into them later changes nothing."""
    outcomes, own = (np.random.default_rng(k).normal(size=200) for k in (8, 9))
    kept = outcomes.copy(), own.copy()
    run = tu.calibrate(outcomes, tu.Median(), forecasts=own, known_at=np.arange(200) + 5)
    before = run.calibrator.to_bytes(), run.swap_regret()

    np.testing.assert_array_equal(outcomes, kept[0])
    np.testing.assert_array_equal(own, kept[1])
    outcomes[:], own[:] = np.nan, np.nan
    assert (run.calibrator.to_bytes(), run.swap_regret()) == before


def test_predicting_before_anything_is_known():
    """A number comes out, in every shape, with and without a model."""
    for wanted in (tu.Mean(), tu.Interval(0.8), tu.Quantiles([0.2, 0.4]), tu.Probability()):
        assert tu.Calibrator(wanted).predict().value is not None
    assert tu.Calibrator(tu.Probability()).predict().value == pytest.approx(0.5, abs=0.5)
    assert tu.Calibrator(tu.Interval(0.8)).predict(3.0).value == (3.0, 3.0)
