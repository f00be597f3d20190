"""Properties: their scores, identifications, and what they are best for."""

import math

import numpy as np
import pytest

import trueup as tu
from trueup.errors import InvalidArgument

PROPERTIES = [tu.Mean(), tu.Median(), tu.Quantile(0.1), tu.Quantile(0.9), tu.Expectile(0.8)]
GRID = np.linspace(0.0, 1.0, 201)


@pytest.mark.parametrize("wanted", PROPERTIES, ids=repr)
def test_the_score_is_the_loss(wanted):
    """score(forecast, outcome) is loss(outcome).value(forecast), bit for bit."""
    for outcome in (0.0, 0.3, 1.0):
        np.testing.assert_array_equal(wanted.score(GRID, outcome), wanted.loss(outcome).value(GRID))


@pytest.mark.parametrize("wanted", PROPERTIES, ids=repr)
def test_the_identification_is_the_right_slope_of_the_score(wanted):
    """Inside the interval; the sign is that of the erratum."""
    inside = GRID[1:-1]
    for outcome in (0.0, 0.3, 1.0):
        right = wanted.loss(outcome).slopes(inside)[1]
        np.testing.assert_allclose(wanted.identification(inside, outcome), right, atol=1e-15)


@pytest.mark.parametrize("wanted", PROPERTIES, ids=repr)
def test_the_mean_identification_changes_sign_at_the_best_constant(wanted):
    """Too low forecasts have a negative one, too high ones a positive one."""
    outcomes = np.random.default_rng(0).beta(2, 5, 500)
    best = GRID[np.argmin([np.mean(wanted.score(np.full(500, p), outcomes)) for p in GRID])]
    slopes = [np.mean(wanted.identification(np.full(500, p), outcomes)) for p in GRID]

    assert np.all(np.array(slopes)[best - 0.01 > GRID] < 0)
    assert np.all(np.array(slopes)[best + 0.01 < GRID] > 0)


def test_equal_properties_are_equal():
    """They are values."""
    assert tu.Quantile(0.9) == tu.Quantile(0.9)
    assert repr(tu.Expectile(0.2)) == "Expectile(level=0.2)"


@pytest.mark.parametrize("level", [0.0, 1.0, -1.0, math.nan, "high"])
def test_levels_outside_the_open_interval_are_refused(level):
    """One sentence that names the argument."""
    for kind in (tu.Quantile, tu.Expectile):
        with pytest.raises(InvalidArgument, match="level must be"):
            kind(level)


@pytest.mark.parametrize("wanted", PROPERTIES, ids=repr)
@pytest.mark.parametrize("bad", [math.nan, math.inf, -0.1, 1.1])
def test_bad_outcomes_and_forecasts_are_refused(wanted, bad):
    """By every method."""
    with pytest.raises(InvalidArgument, match="outcome must be"):
        wanted.loss(bad)
    with pytest.raises(InvalidArgument, match="outcome must be"):
        wanted.score(0.5, bad)
    with pytest.raises(InvalidArgument, match="forecast must be"):
        wanted.identification(bad, 0.5)
