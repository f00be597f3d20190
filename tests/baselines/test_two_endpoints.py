"""Two forecasts for linear losses: the closed form, the bound, and what it is not made for."""

import math

import numpy as np
import pytest

from reference.regret import pseudo_swap_regret
from trueup.baselines import TwoEndpoints, two_endpoints_bound
from trueup.baselines._stationary import stationary_law
from trueup.baselines._two_endpoints import ends_law
from trueup.losses import Linear

ENDS = np.array([0.0, 1.0])


def slopes_of(name):
    """Return a rule that gives the slope of the next linear loss, +1 or -1."""
    rng = np.random.default_rng(8)
    return {
        "fair": lambda mixture: rng.choice([-1.0, 1.0]),
        "biased": lambda mixture: rng.choice([-1.0, 1.0], p=[0.7, 0.3]),
        "hostile": lambda mixture: 1.0 if mixture.probabilities[1] >= 0.5 else -1.0,
        "always up": lambda mixture: -1.0,
    }[name]


def test_the_law_agrees_with_the_linear_solve():
    """The closed form is the stationary law of the two Hedge rows."""
    for leads in np.random.default_rng(1).normal(size=(50, 2)) * 5:
        leave = [1 / (1 + math.exp(leads[0])), 1 / (1 + math.exp(-leads[1]))]
        rows = np.array([[1 - leave[0], leave[0]], [leave[1], 1 - leave[1]]])

        np.testing.assert_allclose(ends_law(leads, rate=1.0), stationary_law(rows), atol=1e-7)


def test_rows_that_are_both_certain_still_give_a_law():
    """Chances of leaving of about exp(-1000) are compared by their logarithms."""
    law = ends_law(np.array([1000.0, -1000.0 + math.log(3)]), rate=1.0)

    np.testing.assert_allclose(law, [0.75, 0.25])


@pytest.mark.parametrize("name", ["fair", "biased", "hostile", "always up"])
def test_pseudo_swap_regret_on_linear_losses_stays_under_its_bound(play, name):
    """sqrt(T ln 2) at T = 2000, for slopes at random and against the mixture."""
    mixtures, losses, _ = play(TwoEndpoints(2000, 1), slopes_of(name), kind=Linear)

    assert pseudo_swap_regret(mixtures, losses, ENDS) <= two_endpoints_bound(2000)


def test_a_frozen_law_breaks_the_bound(play):
    """The test above can fail: always half and half has regret T/2 where one end is best."""

    class Frozen(TwoEndpoints):
        def _learn(self, said, loss, lipschitz):
            pass

    mixtures, losses, _ = play(Frozen(2000, 1), slopes_of("always up"), kind=Linear)

    assert pseudo_swap_regret(mixtures, losses, ENDS) > two_endpoints_bound(2000)


def test_a_constant_outcome_in_the_middle_gives_it_linear_regret(play):
    """Absolute losses at 1/2 cost 1/2 a round at either end."""
    mixtures, losses, outcomes = play(TwoEndpoints(500), lambda mixture: 0.5)

    assert pseudo_swap_regret(mixtures, losses, np.unique(outcomes)) == pytest.approx(250)
