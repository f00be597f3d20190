"""Every target keeps the contract of calibrators, in every mode; a broken one does not."""

import numpy as np
import pytest

import trueup as tu
from trueup.checks import check_calibrator

OUTCOMES = np.random.default_rng(0).gamma(3.0, 2.0, 60).tolist()
TARGETS = [
    tu.Mean(),
    tu.Median(),
    tu.Quantile(0.9),
    tu.Expectile(0.3),
    tu.Interval(0.8),
    tu.Interval(0.8, "upper"),
    tu.Quantiles([0.1, 0.5, 0.9]),
]
MODES = [{}, {"exact": True}, {"bounds": (0, 30)}, {"steer": False}, {"of": tu.Mean()}]


@pytest.mark.parametrize("wanted", TARGETS, ids=repr)
@pytest.mark.parametrize("settings", MODES, ids=str)
def test_every_target_keeps_the_contract(wanted, settings):
    """With a model's forecasts and without."""
    check_calibrator(lambda: tu.Calibrator(wanted, **settings), OUTCOMES)
    check_calibrator(lambda: tu.Calibrator(wanted, **settings), OUTCOMES, [5.0] * 60)


def test_probabilities_and_other_scales_keep_it_too():
    """They take outcomes of another kind."""
    yes = [float(outcome > 5) for outcome in OUTCOMES]
    check_calibrator(lambda: tu.Calibrator(tu.Probability()), yes, [0.4] * 60)
    check_calibrator(lambda: tu.Calibrator(tu.Quantile(0.9), transform="log"), OUTCOMES)


@pytest.mark.parametrize(
    ("method", "promise"),
    [("peek", "two looks agree"), ("update", "it refuses the outcome")],
)
def test_a_calibrator_that_breaks_a_promise_is_caught(method, promise):
    """One that opens what it is asked to look at, and one that swallows its errors."""

    class Careless(tu.Calibrator):
        def peek(self, forecast=None, **options):
            return self.predict(forecast) if method == "peek" else super().peek(forecast)

        def update(self, outcome=None, **options):
            wrong = method == "update" and not isinstance(outcome, float)
            return None if wrong else super().update(outcome, **options)

    with pytest.raises(AssertionError, match=promise):
        check_calibrator(lambda: Careless(tu.Median()), OUTCOMES)
