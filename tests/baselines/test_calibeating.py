"""Running means and Foster's game in bins: twins, ties, and calibration against an adversary."""

import numpy as np
import pytest

from reference import recalibration
from trueup.baselines import Calibeating, HedgedBins, OnlinePlatt, QuantileTracker
from trueup.baselines._calibeating import FosterGame, bin_of
from trueup.baselines._rival import coin
from trueup.errors import InvalidArgument

RNG = np.random.default_rng(12)
HONEST = RNG.random(500)
RUNS = {
    "honest": (HONEST, (RNG.random(500) < HONEST).astype(float)),
    "edges": (RNG.integers(0, 11, 500) / 10, RNG.integers(0, 2, 500).astype(float)),
    "one bin": (np.full(500, 0.95), np.tile([0.0, 0.0, 1.0, 0.0, 1.0], 100)),
    "against": (np.full(500, 0.5), np.repeat([0.0, 1.0], 250)),
}


def said_by(rival, probabilities, outcomes):
    """Return what a recalibrator says."""
    said = []
    for probability, outcome in zip(probabilities, outcomes, strict=True):
        said.append(rival.predict(probability))
        rival.update(outcome)
    return said


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("start", [0.5, 0.05])
def test_running_means_agree_with_the_whole_history(name, start):
    """On the model's own probabilities, and after Platt scaling."""
    probabilities, outcomes = RUNS[name]
    plain = said_by(Calibeating(start=start), probabilities, outcomes)
    scaled = said_by(Calibeating(OnlinePlatt(), start=start), probabilities, outcomes)
    base = recalibration.platt(probabilities, outcomes)

    for fast, asked in ((plain, probabilities), (scaled, base)):
        slow = recalibration.calibeating(asked, outcomes, start=start)
        np.testing.assert_allclose(fast, slow, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", RUNS)
def test_foster_games_agree_with_the_whole_history(name):
    """On the model's own probabilities, and after Platt scaling, with the same coins."""
    probabilities, outcomes = RUNS[name]
    plain = said_by(HedgedBins(seed=3), probabilities, outcomes)
    scaled = said_by(HedgedBins(OnlinePlatt(), seed=3), probabilities, outcomes)
    base = recalibration.platt(probabilities, outcomes)

    for fast, asked in ((plain, probabilities), (scaled, base)):
        slow = recalibration.hedged(asked, outcomes, lambda t: coin(3, t))
        np.testing.assert_array_equal(fast, slow)


def test_bins_are_closed_on_the_right():
    """K / 10 belongs to the bin below it, and 0 to the first."""
    assert [bin_of(k / 10, 10) for k in range(11)] == [0, *range(10)]


def test_a_mean_at_the_end_of_its_cell_is_inside():
    """D <= 0 and e <= 0 count equality."""
    game = FosterGame(2)
    game.learn(1, 0.5)

    assert game.choice(1).cell == 1


def test_hedging_is_calibrated_against_outcomes_that_react_and_means_are_not():
    """The outcome is 1 whenever what is said, or its cell's neighbourhood, is below 1/2."""
    errors = []
    for rival in (Calibeating(bins=20), HedgedBins(seed=1, bins=20)):
        said, outcomes = [], []
        for _ in range(4000):
            rng = rival.predict(0.5)
            law = rng if isinstance(rival, Calibeating) else expected(rival)
            said.append(rng)
            outcomes.append(1.0 if law < 0.5 else 0.0)
            rival.update(outcomes[-1])
        place = np.floor(np.array(said) * 20 * (1 - 1e-12))
        gaps = np.array(said) - np.array(outcomes)
        errors.append(sum(abs(gaps[place == k].sum()) for k in range(20)) / 4000)

    assert errors[0] > 0.3
    assert errors[1] < 0.06


def expected(rival):
    """Return the mean of what may be said for the probability 1/2."""
    place = bin_of(0.5, rival.bins)
    choice = rival._games[place].choice(place)
    return (choice.cell + 0.5 + (1 - choice.probability)) / rival.bins


def test_the_base_must_be_a_recalibrator():
    """A tracker of thresholds is none."""
    for kind in (Calibeating, HedgedBins):
        with pytest.raises(InvalidArgument, match="base must be a recalibrator"):
            kind(QuantileTracker())
