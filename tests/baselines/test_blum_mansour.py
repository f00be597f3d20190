"""Blum and Mansour's algorithm: its rows, and its bound with a version that breaks it."""

import numpy as np
import pytest

from reference.regret import pseudo_swap_regret
from trueup.baselines import BlumMansour, blum_mansour_bound
from trueup.baselines._stationary import MIXING


class Frozen(BlumMansour):
    """Never learns: its rows stay as they were made."""

    def _learn(self, said, loss, lipschitz):
        pass


def test_rows_follow_the_formula_in_plain_python(play, rules):
    """Each row weighs exp(-rate L) with the masses and losses of its own past."""
    forecaster = BlumMansour(200, points=4)
    mixtures, losses, _ = play(forecaster, rules["random"])
    for i, row in enumerate(forecaster.rows()):
        mass = sum(mixture.probabilities[i] for mixture in mixtures)
        paid = [
            sum(
                mixture.probabilities[i] * loss.value(z)
                for mixture, loss in zip(mixtures, losses, strict=True)
            )
            for z in (0.0, 1 / 3, 2 / 3, 1.0)
        ]
        raw = np.exp(-np.sqrt(8 * np.log(4) / max(1.0, mass)) * np.array(paid))

        np.testing.assert_allclose(row, raw / raw.sum(), rtol=1e-9)


def test_the_mixture_is_stationary_under_the_advice(play, rules):
    """P Q = p in every state that a run reaches."""
    forecaster = BlumMansour(300)
    for _ in range(10):
        play(forecaster, rules["likeliest"], rounds=29)
        law = forecaster.predict().probabilities

        assert np.abs(law @ forecaster.rows() - law).sum() <= 2 * MIXING + 1e-12


@pytest.mark.parametrize("name", ["random", "certain", "likeliest"])
def test_pseudo_swap_regret_stays_under_its_bound(play, rules, name):
    """Against random and adaptive outcomes, for the best of all outcomes as replacements."""
    mixtures, losses, outcomes = play(BlumMansour(2000, 1), rules[name])

    assert pseudo_swap_regret(mixtures, losses, np.unique(outcomes)) <= blum_mansour_bound(2000)


def test_frozen_rows_break_the_bound(play, rules):
    """The test above can fail: without learning the regret is about T/2."""
    mixtures, losses, outcomes = play(Frozen(2000, 1), rules["certain"])

    assert pseudo_swap_regret(mixtures, losses, np.unique(outcomes)) > blum_mansour_bound(2000)


def test_between_two_grid_points_the_grid_alone_costs_its_share(play):
    """A constant outcome in the middle of two points costs T / (2 (n - 1)), and learning little."""
    forecaster = BlumMansour(2000, 1)
    mixtures, losses, outcomes = play(forecaster, lambda mixture: 3.5 * forecaster.spacing)
    regret = pseudo_swap_regret(mixtures, losses, np.unique(outcomes))

    assert 1000 * forecaster.spacing - 1e-6 <= regret <= 1000 * forecaster.spacing + 50


def test_the_bound_is_sublinear():
    """A thousand times the rounds, about a hundred times the bound."""
    ratio = blum_mansour_bound(10**9) / blum_mansour_bound(10**6)

    assert 90 < ratio < 150


def test_a_short_horizon_has_the_grid_asked_for():
    """The number of points can be set, and the spacing says so."""
    mixture = BlumMansour(10, points=3).predict()

    assert mixture.support.tolist() == [0.0, 0.5, 1.0]
    assert BlumMansour(1000).predict().support.size == 11
