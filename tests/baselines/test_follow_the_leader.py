"""Follow the leader says the running median of its grid, and is easily led astray."""

import statistics

import numpy as np
import pytest

from reference.regret import pseudo_swap_regret
from trueup.baselines import FollowTheLeader
from trueup.losses import Absolute, Convex, Squared


def test_it_says_the_running_median_the_lower_one_of_two():
    """Outcomes on the grid: after every round the forecast is the low median so far."""
    forecaster = FollowTheLeader(200, points=21)
    outcomes = np.random.default_rng(4).integers(0, 21, 150) / 20
    for played in range(1, 151):
        forecaster.update(Absolute(outcomes[played - 1]))

        assert forecaster.predict().value == statistics.median_low(outcomes[:played])


def test_under_squared_losses_it_says_the_running_mean():
    """To the nearest point of the grid."""
    forecaster = FollowTheLeader(2000)
    outcomes = np.random.default_rng(5).random(100)
    for outcome in outcomes:
        forecaster.update(Squared(outcome))

    assert abs(forecaster.predict().value - outcomes.mean()) <= forecaster.spacing / 2 + 1e-9


@pytest.mark.parametrize(("points", "middle"), [(2, 0.0), (3, 0.5), (11, 0.5), (4, 1 / 3)])
def test_the_first_forecast_is_the_middle_of_the_grid(points, middle):
    """The lower one of two."""
    assert FollowTheLeader(10, points=points).predict().value == pytest.approx(middle)


def test_it_is_certain():
    """One forecast, with probability 1, and the default grid has about sqrt(T) points."""
    forecaster = FollowTheLeader(100)

    assert forecaster.predict().probabilities.tolist() == [1.0]
    assert forecaster.spacing == pytest.approx(0.1)


def test_a_large_constant_in_the_losses_does_not_blur_ties():
    """Only differences count: the same forecasts with 1000 added to every loss."""
    plain, lifted = FollowTheLeader(60, points=11), FollowTheLeader(60, points=11)
    for outcome in np.random.default_rng(6).integers(0, 11, 50) / 10:
        plain.update(Absolute(outcome))
        lifted.update(
            Convex(
                lambda p, v=outcome: 1e3 + abs(p - v),
                lambda p, v=outcome: (1.0 if p > v else -1.0, 1.0 if p >= v else -1.0),
                lipschitz=1.0,
            )
        )

        assert plain.predict().value == lifted.predict().value


def test_outcomes_on_the_far_side_give_it_linear_regret(play, rules):
    """The opposite end for every forecast: regret of about T, which is why it has no bound."""
    mixtures, losses, outcomes = play(FollowTheLeader(1000), rules["likeliest"])

    assert pseudo_swap_regret(mixtures, losses, np.unique(outcomes)) > 900
