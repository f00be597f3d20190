"""MsMwC and its master keep their regret bounds, constants included."""

import math

import numpy as np
import pytest

from reference.experts import master_weights, msmwc_weights
from trueup.errors import HorizonReached, InvalidArgument
from trueup.paper import MasterMsMwC, MsMwC, master_regret_bound, msmwc_regret_bound

KINDS = [MsMwC, MasterMsMwC]


def regret(kind, rounds, n_experts, reward_of):
    """Return (regret against each expert, sum of squares of each) of a run."""
    experts = kind(n_experts, rounds)
    own, totals, squares = 0.0, np.zeros(n_experts), np.zeros(n_experts)
    for number in range(rounds):
        weights = experts.weights
        rewards = reward_of(number, weights)
        own += weights @ rewards
        totals += rewards
        squares += rewards**2
        experts.update(rewards)
    return totals - own, squares


def random_rewards(seed, n_experts):
    """Return rewards with very different sizes, some experts mostly asleep."""
    rng = np.random.default_rng(seed)
    size = 10.0 ** rng.uniform(-3, 0, n_experts)
    bias = rng.uniform(-0.5, 0.5, n_experts)
    return lambda number, weights: np.clip(
        size * (bias + rng.uniform(-1, 1, n_experts)) * (rng.uniform(size=n_experts) < 0.5), -1, 1
    )


def against_the_heaviest(number, weights):
    """Punish what the weights favour, reward what they neglect."""
    rewards = np.ones(weights.size)
    rewards[np.argmax(weights)] = -1.0
    return rewards


def one_is_better(number, weights):
    """The first expert always wins, the others always lose."""
    rewards = -np.ones(weights.size)
    rewards[0] = 1.0
    return rewards


def late_turn(number, weights):
    """A leader that falls back at two thirds of the run."""
    sign = 1.0 if number < 1_000 else -1.0
    return sign * np.linspace(1, -1, weights.size)


def one_rests(number, weights):
    """The first expert gets nothing, the others lose: no second moment, so the smallest bound."""
    rewards = -np.ones(weights.size)
    rewards[0] = 0.0
    return rewards


REWARDS = {
    "random": random_rewards(0, 7),
    "against the heaviest": against_the_heaviest,
    "one is better": one_is_better,
    "late turn": late_turn,
    "one rests": one_rests,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", REWARDS)
def test_regret_stays_under_the_bound(kind, name):
    """Against every expert at once; at this length "one rests" is where it bites."""
    found, squares = regret(kind, 1_500, 7, REWARDS[name])

    assert np.all(found <= kind(7, 1_500).regret_bound(squares))


@pytest.mark.parametrize("kind", KINDS)
def test_experts_that_never_learn_break_the_bound_of_one_that_rests(kind):
    """The companion: equal weights lose 6/7 a round to it, more than the bound of either."""

    class Frozen(kind):
        def update(self, rewards):
            pass

    found, squares = regret(Frozen, 1_500, 7, one_rests)

    assert found[0] == pytest.approx(6 / 7 * 1_500)
    assert found[0] > 1.5 * kind(7, 1_500).regret_bound(squares)[0]


def test_experts_that_never_learn_break_the_bounds():
    """Frozen equal weights lose T to an expert that always wins; the bounds are below T."""
    for bound, rounds in ((msmwc_regret_bound, 100_000), (master_regret_bound, 5_000)):
        frozen = rounds * 1.0  # reward 1 for the winner, 0 on average for (1/2, 1/2)

        assert frozen > bound(2, rounds, rounds)


def test_msmwc_keeps_its_bound_where_experts_that_never_learn_do_not():
    """The same rewards, long enough for the bound to mean something."""
    found, squares = regret(MsMwC, 100_000, 2, one_is_better)

    assert np.all(found <= msmwc_regret_bound(2, 100_000, squares))
    assert found[0] < 0.02 * 100_000


def test_the_master_keeps_its_bound_where_it_bites():
    """At 5,000 rounds experts that never learn, or learn with the wrong sign, exceed it."""
    rounds = 5_000
    found, squares = regret(MasterMsMwC, rounds, 2, one_is_better)
    backwards = MasterMsMwC(2, rounds)
    own = 0.0
    for number in range(rounds):
        rewards = one_is_better(number, backwards.weights)
        own += backwards.weights @ rewards
        backwards.update(-rewards)

    assert np.all(found <= master_regret_bound(2, rounds, squares))
    assert rounds - own > master_regret_bound(2, rounds, rounds)


def test_the_masters_weights_agree_with_the_bisection_twin():
    """Both layers, by plain loops; the sum over learners is 1 to rounding."""
    rng = np.random.default_rng(4)
    for n_experts, scale in ((2, 1.0), (9, 0.2)):
        rewards = scale * rng.uniform(-1, 1, (80, n_experts))
        experts = MasterMsMwC(n_experts, 300)
        for row in rewards:
            experts.update(row)
            assert np.exp(experts._log_masters).sum() == pytest.approx(1, abs=1e-13)
        expected = master_weights(rewards.tolist(), n_experts, 300)
        np.testing.assert_allclose(experts.weights, expected, rtol=1e-9)


def test_weights_agree_with_the_bisection_twin():
    """Newton and plain bisection find the same normalisation."""
    rng = np.random.default_rng(2)
    for n_experts, scale in ((1, 1.0), (2, 1.0), (5, 1e-3), (40, 0.3)):
        rewards = scale * rng.uniform(-1, 1, (60, n_experts))
        experts = MsMwC(n_experts, 200)
        for row in rewards:
            experts.update(row)
        expected = msmwc_weights(rewards.tolist(), n_experts, 200)
        np.testing.assert_allclose(experts.weights, expected, rtol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_weights_stay_a_distribution(kind):
    """They sum to 1; those of MsMwC never fall below 1 / (dT) up to renormalising."""
    experts = kind(5, 2_000)
    for number in range(2_000):
        experts.update(one_is_better(number, experts.weights))
    weights = experts.weights

    assert weights.sum() == pytest.approx(1, abs=1e-12)
    assert weights.min() > 0
    assert kind is MasterMsMwC or weights.min() >= (1 - 1e-9) / (5 * 2_000)


def test_the_root_lies_between_the_corrected_losses():
    """At the smallest z the total is at most 1, at the largest at least 1 (lemma 17)."""
    rng = np.random.default_rng(3)
    for _ in range(200):
        weights = np.maximum(rng.dirichlet(np.full(6, 0.2)), 1e-4)
        weights /= weights.sum()
        floor, rates, z = weights.min(), rng.uniform(0, 1 / 64, 6), rng.normal(size=6)
        totals = [
            np.maximum(floor, weights * np.exp(rates * (lam - z))).sum()
            for lam in (z.min(), z.max())
        ]
        assert totals[0] <= 1 + 1e-12
        assert totals[1] >= 1 - 1e-12


def test_the_bound_has_the_constants_of_the_derivation():
    """65.01 sqrt(L V) + 64 L + 64 ln d + 66.5."""
    log_size = math.log(150 * 10_000)
    expected = 65.01 * math.sqrt(log_size * 2500) + 64 * log_size + 64 * math.log(150) + 66.5

    assert msmwc_regret_bound(150, 10_000, 2500.0) == pytest.approx(expected)


@pytest.mark.parametrize("kind", KINDS)
def test_bad_rewards_change_nothing(kind):
    """NaN, infinite, too large, too many: one sentence each, weights as before."""
    experts = kind(3, 10)
    experts.update([1.0, 0.0, -1.0])
    before = experts.weights
    for bad, sentence in (
        ([math.nan, 0, 0], "rewards must be finite, got nan at index 0"),
        ([0, math.inf, 0], "rewards must be finite"),
        ([0, 0, 1.5], r"rewards must be in \[-1, 1\], got 1.5"),
        ([0, 0], "rewards must have length 3, got 2"),
        ([[0, 0, 0]], "rewards must be one-dimensional"),
    ):
        with pytest.raises(InvalidArgument, match=sentence):
            experts.update(bad)

        np.testing.assert_array_equal(experts.weights, before)


@pytest.mark.parametrize("kind", KINDS)
def test_more_rounds_than_planned_are_refused(kind):
    """The rates were chosen for the horizon."""
    experts = kind(2, 2)
    experts.update([0.0, 0.0])
    experts.update([0.0, 0.0])
    with pytest.raises(HorizonReached):
        experts.update([0.0, 0.0])
    for arguments in ((0, 10), (2, 1), (2.5, 10), (True, 10)):
        with pytest.raises(InvalidArgument):
            kind(*arguments)
