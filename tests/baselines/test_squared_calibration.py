"""Squared losses: the grid, the rounding, what is refused, and calibration at the rate T^(1/3)."""

import math

import numpy as np
import pytest

from reference.regret import squared_calibration_error
from trueup.baselines import SquaredCalibration, squared_calibration_bound
from trueup.baselines._squared_calibration import advice, grid_of, outcome_of
from trueup.baselines._stationary import MIXING
from trueup.errors import InvalidArgument
from trueup.losses import (
    Absolute,
    AsymmetricSquared,
    Convex,
    Huber,
    Linear,
    Pinball,
    Scaled,
    Squared,
)


class Frozen(SquaredCalibration):
    """Never learns: every estimate stays 1/2."""

    def _learn(self, said, loss, lipschitz):
        pass


def drifting(rounds, seed):
    """Return a rule of Bernoulli outcomes whose mean drifts over the run."""
    coins = iter(np.random.default_rng(seed).random(rounds))
    means = iter(0.5 + 0.45 * np.sin(2 * np.pi * np.arange(rounds) / rounds))
    return lambda mixture: next(coins) < next(means)


def pseudo_error_reference(mixtures, outcomes):
    """Return the sum over grid points of mass * (point - mean outcome weighted by mass)^2."""
    error = 0.0
    for i, point in enumerate(mixtures[0].support):
        masses = [mixture.probabilities[i] for mixture in mixtures]
        mean = sum(p * y for p, y in zip(masses, outcomes, strict=True)) / sum(masses)
        error += sum(masses) * (point - mean) ** 2
    return error


@pytest.mark.parametrize("size", [3, 4, 6, 30])
def test_the_grid_rises_between_inner_ends_and_is_symmetric(size):
    """sin^2 of equal angles, with ends at half an angle; never 0 or 1."""
    grid = grid_of(1000, size)

    assert grid[0] == pytest.approx(math.sin(math.pi / (4 * (size - 1))) ** 2)
    assert grid[1] == pytest.approx(math.sin(math.pi / (2 * (size - 1))) ** 2)
    assert np.all(np.diff(grid) > 0)
    np.testing.assert_allclose(grid + grid[::-1], 1.0)


@pytest.mark.parametrize("count", [2, 5, 30])
def test_rounding_costs_at_most_the_squared_tangent_in_log_loss(count):
    """For both outcomes and estimates everywhere, also beyond the grid; and nearly that much."""
    grid, estimates = grid_of(1000, count + 1), np.linspace(1e-6, 1 - 1e-6, 5001)
    rows = advice(estimates, grid)
    at_one = -rows @ np.log(grid) + np.log(estimates)
    at_zero = -rows @ np.log(1 - grid) + np.log(1 - estimates)
    promised = math.tan(math.pi / (2 * count)) ** 2

    np.testing.assert_allclose(rows.sum(axis=1), 1.0)
    assert max(at_one.max(), at_zero.max()) <= promised
    assert at_one.max() == pytest.approx(at_zero.max(), rel=1e-3)
    assert count < 30 or at_one.max() > 0.98 * promised


@pytest.mark.parametrize(
    "loss",
    [Squared(0.3), Scaled(Squared(0.3), 0.1), AsymmetricSquared(0.3, 0.5), Huber(0.3, 1.0)],
    ids=repr,
)
def test_the_outcome_is_read_off_every_squared_loss(loss):
    """Whatever its factor, and by whatever name."""
    assert outcome_of(loss) == pytest.approx(0.3)


@pytest.mark.parametrize(
    "loss",
    [
        Absolute(0.5),
        Absolute(0.0),
        Pinball(0.3, 0.5),
        Linear(1.0),
        Linear(0.0),
        Huber(0.5, 0.25),
        AsymmetricSquared(0.5, 0.75),
        Convex(lambda p: (p - 0.5) ** 4, lambda p: 4 * (p - 0.5) ** 3, lipschitz=0.5),
        Convex(lambda p: p**2, lambda p: 2 * p, lipschitz=3.0),
    ],
    ids=lambda loss: type(loss).__name__,
)
def test_any_other_loss_is_refused_and_changes_nothing(loss):
    """One sentence says what is wanted."""
    forecaster = SquaredCalibration(100, lipschitz=5.0)
    forecaster.update(Squared(0.3))
    masses = forecaster._mass.copy()

    with pytest.raises(InvalidArgument, match="loss must be a squared loss"):
        forecaster.update(loss)
    assert np.array_equal(forecaster._mass, masses)


def test_the_mixture_is_stationary_under_the_advice(play):
    """P Q = p in the states of a run."""
    forecaster = SquaredCalibration(300)
    rule = drifting(300, 1)
    for _ in range(10):
        play(forecaster, rule, kind=Squared, rounds=29)
        law = forecaster.predict().probabilities

        assert np.abs(law @ forecaster.rows() - law).sum() <= 2 * MIXING + 1e-12


@pytest.mark.parametrize("name", ["drifting", "random", "likeliest"])
def test_pseudo_calibration_error_stays_under_its_bound(play, rules, name):
    """At T = 1000, with binary and with fractional outcomes."""
    rule = drifting(1000, 1) if name == "drifting" else rules[name]
    mixtures, _, outcomes = play(SquaredCalibration(1000, 1), rule, kind=Squared)

    assert pseudo_error_reference(mixtures, outcomes) <= squared_calibration_bound(1000)


def test_frozen_estimates_break_the_bound(play):
    """The test above can fail: an outcome of 1 met by 1/2 costs T/4."""
    mixtures, _, outcomes = play(Frozen(1000, 1), lambda mixture: 1.0, kind=Squared)

    assert pseudo_error_reference(mixtures, outcomes) > squared_calibration_bound(1000)


def test_calibration_error_grows_like_the_cube_root(play):
    """Eight times the rounds: about twice the error of the draws, far from eight times."""
    errors = []
    for rounds in (1000, 8000):
        runs = [
            play(SquaredCalibration(rounds, s), drifting(rounds, s), kind=Squared) for s in (1, 2)
        ]
        errors.append(
            sum(squared_calibration_error([m.value for m in said], ys) for said, _, ys in runs)
        )

    assert 1 < errors[1] / errors[0] < 3.2
