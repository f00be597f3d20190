"""Gradient descent for rows: rounding to neighbours, the bound, and a version that breaks it."""

import numpy as np
import pytest

from reference.regret import pseudo_swap_regret
from trueup.baselines import CheapBlumMansour, cheap_blum_mansour_bound
from trueup.baselines._cheap_blum_mansour import advice
from trueup.losses import Absolute


class Frozen(CheapBlumMansour):
    """Never learns: every row wants 1/2 for ever."""

    def _learn(self, said, loss, lipschitz):
        pass


def test_advice_is_on_two_neighbours_and_keeps_the_mean():
    """Every row sums to 1, has the wanted mean, and at most two entries, side by side."""
    rng = np.random.default_rng(1)
    for size in (2, 3, 14):
        wanted = np.concatenate([[0.0, 1.0], rng.random(size - 2)])
        rows = advice(wanted)

        np.testing.assert_allclose(rows.sum(axis=1), 1.0)
        np.testing.assert_allclose(rows @ np.linspace(0, 1, size), wanted, atol=1e-15)
        for row in rows:
            assert np.ptp(np.flatnonzero(row)) <= 1


def test_rounding_costs_at_most_half_the_spacing():
    """Under |p - v| for every v, for wanted forecasts everywhere."""
    grid, wanted = np.linspace(0, 1, 6), np.random.default_rng(2).random(6)
    for outcome in np.linspace(0, 1, 101):
        excess = advice(wanted) @ np.abs(grid - outcome) - np.abs(wanted - outcome)

        assert excess.max() <= 0.1 + 1e-12


@pytest.mark.parametrize("name", ["random", "certain", "likeliest"])
def test_pseudo_swap_regret_stays_under_its_bound(play, rules, name):
    """Against random and adaptive outcomes, for the best of all outcomes as replacements."""
    mixtures, losses, outcomes = play(CheapBlumMansour(2000, 1), rules[name])
    regret = pseudo_swap_regret(mixtures, losses, np.unique(outcomes))

    assert regret <= cheap_blum_mansour_bound(2000)


def test_frozen_rows_break_the_bound(play, rules):
    """The test above can fail: without learning the regret is about T/2."""
    mixtures, losses, outcomes = play(Frozen(2000, 1), rules["likeliest"])
    regret = pseudo_swap_regret(mixtures, losses, np.unique(outcomes))

    assert regret > cheap_blum_mansour_bound(2000)


def test_a_row_moves_against_the_slope_in_proportion_to_its_mass():
    """One round: x_i falls by p_i / sqrt(2 (1 + p_i)) if every forecast was too high."""
    forecaster = CheapBlumMansour(100, points=4)
    said = forecaster.predict().probabilities
    forecaster.update(Absolute(0.0))

    np.testing.assert_allclose(forecaster._state.wanted, 0.5 - said / np.sqrt(2 * (1 + said)))
