"""The bound of the theorem: monotone where it must be, and above every play of the claims."""

from itertools import pairwise

import numpy as np
import pytest

from trueup.errors import InvalidArgument
from trueup.grid import MultiScaleBins
from trueup.paper import default_gamma, swap_regret_bound, truthful_swap_regret_bound
from trueup.paper._bound import _deviation, _rates


def test_the_bound_is_trivial_for_few_rounds_and_sublinear_for_many():
    """T itself at first; then the share of T falls towards 0 like log T / sqrt(T)."""
    shares = [swap_regret_bound(10**k, experts="master") / 10**k for k in range(3, 13)]

    assert shares[0] == 1.0
    assert all(a >= b for a, b in pairwise(shares))
    assert shares[-1] < 0.01
    assert shares[-1] / shares[-3] < 0.2


def test_the_rate_is_the_square_root_up_to_logarithms():
    """A hundred times the rounds cost less than 20 times the bound."""
    for bound in (swap_regret_bound, truthful_swap_regret_bound):
        assert bound(10**14) / bound(10**12) < 20


def test_a_smaller_chance_of_failure_costs_more():
    """At the same gamma."""
    loose = truthful_swap_regret_bound(10**6, 0.1, gamma=1 / 64)
    tight = truthful_swap_regret_bound(10**6, 1e-9, gamma=1 / 64)

    assert tight > loose


@pytest.mark.parametrize("rounds", [10**4, 10**6])
def test_the_bound_is_above_sampled_allocations(rounds):
    """The adversary's split of the rounds is bounded, not guessed: random splits stay below."""
    delta, rng = 0.05, np.random.default_rng(1)
    bins = MultiScaleBins(default_gamma(rounds, delta))
    rates = _rates(rounds)
    price = np.log(4 * bins.n_pairs * rates.size / delta)
    bound = truthful_swap_regret_bound(rounds, delta)
    for concentration in (0.01, 0.1, 1.0, 10.0):
        for _ in range(50):
            played = rounds * rng.dirichlet(np.full(bins.n_pairs, concentration))
            over = (price / rates + rates * played[:, None] / 8).min(axis=1)
            near = np.minimum(2 * bins.scale, 1) * (bins.gamma * played / bins.scale + 2 * over)
            far = np.maximum(2 * over - bins.gamma * played / (2 * bins.scale), 0)
            assert np.minimum(played, near + far).sum() <= bound


def test_the_deviation_of_draws_holds_over_simulated_runs():
    """|n - E| stays under its bound in all but the allowed share of runs."""
    rng = np.random.default_rng(2)
    rounds, runs, failure = 2_000, 500, 0.05
    shares = rng.uniform(0, 0.2, rounds)
    drawn = rng.uniform(size=(runs, rounds)) < shares
    bound = float(_deviation(rounds, failure, 1.0)(np.array([shares.sum()]))[0])
    excess = drawn.sum(axis=1) - shares.sum()

    assert np.mean(excess > bound) <= failure
    assert bound < 6 * np.sqrt(shares.sum())


@pytest.mark.parametrize("bound", [swap_regret_bound, truthful_swap_regret_bound])
def test_bad_settings_are_refused(bound):
    """Rounds, delta and gamma."""
    for arguments, options, sentence in (
        ((1,), {}, "rounds must be at least 2"),
        ((100, 1.0), {}, "delta must be strictly between 0 and 1"),
        ((100,), {"gamma": 0.0}, "gamma must be above 0"),
    ):
        with pytest.raises(InvalidArgument, match=sentence):
            bound(*arguments, **options)
