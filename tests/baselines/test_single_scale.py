"""One scale: the two-bin certificate against every outcome, the potential, and swap regret."""

import math

import numpy as np
import pytest

from reference.regret import swap_regret
from trueup.baselines import SingleScale, single_scale_bound
from trueup.baselines._single_scale import adjacent_bins, log_weights
from trueup.losses import Absolute


def outcomes_of(count):
    """Return every edge of the bins and a point inside each: nothing else can differ."""
    return [k / count for k in range(count + 1)] + [(k + 0.4) / count for k in range(count)]


def gain_reference(weights, chances, outcome):
    """Return the sum of chance * weight * h, claim by claim, by the definition of h."""
    count, total = len(weights), 0.0
    for k, chance in chances.items():
        total += chance * weights[k][0] * ((outcome > (k + 1) / count) - 0.5)
        total += chance * weights[k][1] * ((outcome < k / count) - 0.5)
    return total


def wealth_reference(state, rates, dead):
    """Return W in plain Python."""
    return sum(
        math.exp(rate * state.excess[claim] - (-math.log(1 - rate) - rate) * state.squares[claim])
        for claim in np.ndindex(state.excess.shape)
        if claim not in dead
        for rate in rates
    )


def random_log_weights(count, spread, seed):
    """Return ln w with the two dead claims of the ends."""
    logs = spread * np.random.default_rng(seed).normal(size=(count, 2))
    logs[0, 1] = logs[-1, 0] = -np.inf
    return logs


@pytest.mark.parametrize("spread", [0.0, 1.0, 12.0, 60.0])
@pytest.mark.parametrize("count", [1, 2, 3, 8, 23])
def test_the_mixture_gains_nothing_whatever_the_outcome(count, spread):
    """The expected gain is at most 1e-12 of the weight played, over all outcomes."""
    for seed in range(40):
        logs = random_log_weights(count, spread, seed)
        bins, probabilities = adjacent_bins(logs)
        weights = np.zeros((count, 2))  # of the bins played, the largest being 1
        if count > 1:
            weights[bins] = np.exp(logs[bins] - logs[bins].max())
        chances = dict(zip(bins.tolist(), probabilities.tolist(), strict=True))
        at_stake = sum(chance * weights[k].sum() for k, chance in chances.items())
        gains = [gain_reference(weights, chances, outcome) for outcome in outcomes_of(count)]

        assert probabilities.sum() == pytest.approx(1)
        assert np.ptp(bins) <= 1
        assert max(gains) <= 1e-12 * at_stake


def test_the_wrong_ratio_of_the_two_bins_gains():
    """The test above can fail: the two probabilities swapped give a positive gain."""
    logs = random_log_weights(8, 1.0, seed=0)
    bins, probabilities = adjacent_bins(logs)
    chances = dict(zip(bins.tolist(), probabilities[::-1].tolist(), strict=True))
    gains = [gain_reference(np.exp(logs), chances, outcome) for outcome in outcomes_of(8)]

    assert max(gains) > 1e-3


def test_weights_far_beyond_floats_still_give_a_mixture():
    """Logarithms of size 1e5 neither overflow nor warn."""
    for seed in range(20):
        _, probabilities = adjacent_bins(random_log_weights(23, 1e5, seed))

        assert np.isfinite(probabilities).all()
        assert probabilities.sum() == pytest.approx(1)


def test_the_potential_does_not_grow_in_expectation(play, rules):
    """From states of a run, over the draw of the bin, W falls or stays for every outcome."""
    forecaster = SingleScale(400, 1, bins=5)
    dead = {(0, 1), (4, 0)}
    for _ in range(20):
        play(forecaster, rules["certain"], rounds=15)
        before = wealth_reference(forecaster._state, forecaster._rates, dead)
        bins, probabilities = adjacent_bins(log_weights(forecaster._state, forecaster._rates))
        for outcome in outcomes_of(5):
            after = 0.0
            for k, chance in zip(bins, probabilities, strict=True):
                excess, squares = (array.copy() for array in forecaster._state)
                for claim, true in enumerate((outcome > (k + 1) / 5, outcome < k / 5)):
                    excess[k, claim] += true - 0.5
                    squares[k, claim] += 0.25
                state = type(forecaster._state)(excess, squares)
                after += chance * wealth_reference(state, forecaster._rates, dead)

            assert after <= before * (1 + 1e-12)


def test_only_the_drawn_bin_learns_and_by_its_claims():
    """Outcome 0.9 was above the drawn bin: +1/2 for above, -1/2 for below, nothing elsewhere."""
    forecaster = SingleScale(100, bins=5)
    drawn = int(forecaster.predict().value * 5)
    forecaster.update(Absolute(0.9))
    excess, squares = forecaster._state

    assert drawn == 2
    assert excess[drawn].tolist() == [0.5, -0.5]
    assert squares[drawn].tolist() == [0.25, 0.25]
    assert np.abs(np.delete(excess, drawn, axis=0)).sum() == 0


@pytest.mark.parametrize("name", ["random", "certain", "likeliest"])
def test_swap_regret_is_small_against_adaptive_outcomes(play, rules, name):
    """A few sqrt(T) at T = 2000, and under the bound."""
    mixtures, losses, outcomes = play(SingleScale(2000, 1), rules[name])
    forecasts = [mixture.value for mixture in mixtures]
    candidates = np.unique(outcomes.round(2))
    regret = swap_regret(forecasts, losses, candidates)

    assert regret <= 3 * math.sqrt(2000)
    assert regret <= single_scale_bound(2000)


def test_forecasts_without_learning_have_linear_swap_regret(play, rules):
    """The test above can fail: a state thrown away each round leaves T/2."""

    class Frozen(SingleScale):
        def _learn(self, said, loss, lipschitz):
            pass

    mixtures, losses, outcomes = play(Frozen(2000, 1), rules["likeliest"])

    assert swap_regret([m.value for m in mixtures], losses, np.unique(outcomes)) > 900


def test_the_bound_is_never_trivially_large_and_grows_slower_than_t():
    """At most T, and for a hundred times the rounds less than a hundred times as much."""
    assert single_scale_bound(100) == 100
    assert single_scale_bound(10**8) < 40 * single_scale_bound(10**6)
    assert single_scale_bound(10**6, 0.05) < single_scale_bound(10**6)
