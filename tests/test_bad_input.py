"""What is no number, no loss, no law is refused with one sentence, everywhere alike."""

import math

import numpy as np
import pytest

import trueup as tu
from trueup import baselines
from trueup.adversaries import (
    ChangeOfWidth,
    Drift,
    FiniteLaw,
    GeneralConvex,
    Given,
    Midpoint,
    NearUniform,
    RegimeShift,
    RotatingBins,
    bernoulli,
)
from trueup.distributions import mix, uniform
from trueup.errors import InvalidArgument, TrueupError
from trueup.grid import MultiScaleBins
from trueup.losses import Absolute, Convex, Scaled, refuse_wrong, v_shaped
from trueup.metrics import binned_calibration_error, coverage, pseudo_swap_regret
from trueup.paper import (
    EfficientPredictor,
    MsMwC,
    TruthfulPredictor,
    master_regret_bound,
    msmwc_regret_bound,
    quantile_set,
    solve_mixture,
    swap_regret_bound,
    width,
)
from trueup.record import record_of

BINS = MultiScaleBins(0.25)
CALLS = {
    "text as a number": (lambda: Absolute("0.5"), "v must be a number, got '0.5'"),
    "truth as a number": (lambda: Absolute(v=True), "v must be a number, got True"),
    "NumPy's truth as a number": (lambda: Absolute(np.True_), "v must be a number, got"),
    "a complex number": (lambda: Absolute(np.complex128(0.5 + 1j)), "v must be a number, got"),
    "an array of one number": (lambda: Absolute(np.array([0.5])), r"v must be a number, got array"),
    "a huge number": (lambda: Absolute(10**400), "v must be finite, got a number too large"),
    "nothing as a number": (lambda: Absolute(None), "v must be a number, got None"),
    "truth as a forecast": (
        lambda: Absolute(0.5).value(forecast=True),
        "forecast must be numbers, got True",
    ),
    "truth as a score's forecast": (
        lambda: tu.Median().score(np.True_, 0.5),
        "forecast must be numbers, got",
    ),
    "text as a forecast": (lambda: Absolute(0.5).value("a"), "forecast must be numbers, got 'a'"),
    "text as an outcome": (lambda: tu.Quantile(0.5).score("a", 0.5), "forecast must be numbers"),
    "shapes that do not fit": (
        lambda: tu.Median().score([0.1, 0.2], [0.1, 0.2, 0.3]),
        "must have shapes that fit",
    ),
    "no functions": (lambda: Convex(3, 4, lipschitz=1), "must be functions of a number"),
    "three slopes": (
        lambda: Convex(lambda p: p, lambda p: (1, 1, 1), lipschitz=1),
        "slopes must be one number or a pair",
    ),
    "nothing scaled": (lambda: Scaled(None, 1.0), "loss must be a loss"),
    "a class in place of a loss": (lambda: v_shaped(Absolute), "loss must be a loss"),
    "NaN into a CDF": (lambda: uniform(0, 1).cdf(math.nan), "x must be a number"),
    "a distance from outside": (
        lambda: uniform(0, 1).expected_distance(2.0),
        "p must be inside the interval",
    ),
    "no laws to mix": (lambda: mix([None], [1.0]), "law must be a distribution"),
    "no law": (lambda: width(None, 0.5), "distribution must be a distribution"),
    "no law of quantiles": (
        lambda: quantile_set(None, 0.2),
        "distribution must be a distribution",
    ),
    "no law to answer": (
        lambda: TruthfulPredictor(10).predict(None),
        "distribution must be a distribution",
    ),
    "no loss to count": (lambda: TruthfulPredictor(10).update(None), "loss must be a loss"),
    "text as weights": (lambda: solve_mixture("a", BINS), "weights must be numbers"),
    "a number as bins": (lambda: solve_mixture(np.ones((10, 4)), 0.25), "bins must be a Multi"),
    "a grid too fine to solve": (
        lambda: EfficientPredictor(100, gamma=1e-4).predict(),
        "gamma must leave at most",
    ),
    "a grid too fine to hold": (lambda: MultiScaleBins(1e-9), "gamma must be at least 1e-07"),
    "unknown experts": (lambda: swap_regret_bound(100, experts="hedge"), "experts must be"),
    "no experts": (lambda: msmwc_regret_bound(0, 10, 1.0), "n_experts must be at least 1"),
    "no rounds": (lambda: master_regret_bound(2, 1, 1.0), "rounds must be at least 2"),
    "negative squares": (
        lambda: msmwc_regret_bound(3, 10, -1),
        "squares must be finite and 0 or more, got -1.0",
    ),
    "NaN among squares": (
        lambda: master_regret_bound(3, 10, [1.0, math.nan]),
        "squares must be finite and 0 or more, got nan",
    ),
    "infinite squares": (
        lambda: master_regret_bound(3, 10, math.inf),
        "squares must be finite and 0 or more, got inf",
    ),
    "rewards as text": (lambda: MsMwC(2, 10).update(["a", "b"]), "rewards must be numbers"),
    "a bound before its unit": (
        lambda: EfficientPredictor(10).swap_regret_bound(),
        "lipschitz must be given",
    ),
    "no record": (lambda: pseudo_swap_regret(None), "record must be a Record"),
    "no mixtures": (lambda: record_of([1], [Absolute(0.5)]), "mixture must be a Mixture"),
    "ends that cross": (lambda: coverage(([0.6], [0.5]), [0.5]), "lower ends must not be above"),
    "no ends": (lambda: coverage(([], []), []), "outcomes must be at least one"),
    "a property's name": (
        lambda: binned_calibration_error([0.5], [0.5], "median"),
        "property must be a property",
    ),
    "an impossible coin": (lambda: bernoulli(2), "probability must be inside the interval"),
    "moves back": (lambda: Midpoint(moves=-3), "moves must be at least 0"),
    "no places": (lambda: RotatingBins(places=0), "places must be at least 1"),
    "no stretches": (lambda: ChangeOfWidth(stretches=0), "stretches must be at least 1"),
    "no choices": (lambda: GeneralConvex(choices=0), "choices must be at least 1"),
    "noise beyond the interval": (lambda: RegimeShift(noise=0.7), "2 \\* noise must be"),
    "no noise": (lambda: Drift(noise=0.0), "2 \\* noise must be"),
    "too likely": (lambda: NearUniform(epsilon=0.7), "2 \\* epsilon must be inside"),
    "numbers as losses": (lambda: Given([1, 2]), "loss must be a loss"),
    "a number in a law of losses": (lambda: FiniteLaw([3], [1.0]), "loss must be a loss"),
    "too many slopes": (
        lambda: refuse_wrong(Own(lambda p: p, lambda p: (np.ones(4), np.ones(4)))),
        r"slopes must be one pair a forecast, got shape \(4,\) for 9 forecasts",
    ),
    "slopes of two dimensions": (
        lambda: refuse_wrong(Own(lambda p: p, lambda p: (np.ones((9, 9)), 1 + 0 * p))),
        r"slopes must be one pair a forecast, got shape \(9, 9\)",
    ),
    "too few values": (
        lambda: refuse_wrong(Own(lambda p: p[:3], lambda p: (1 + 0 * p, 1 + 0 * p))),
        "value must be one number a forecast, got 3 for 9",
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_bad_input_gets_one_sentence(name):
    """It names the argument and what must hold."""
    call, sentence = CALLS[name]
    with pytest.raises(InvalidArgument, match=sentence) as error:
        call()

    assert "\n" not in str(error.value)


class Own:
    """A loss of somebody's own with chosen answers."""

    lipschitz = 1.0

    def __init__(self, value, slopes):
        self._value, self._slopes = value, slopes

    def value(self, forecast):
        return self._value(np.asarray(forecast))

    def slopes(self, forecast):
        return self._slopes(np.asarray(forecast))


WRONG = {
    "concave": Own(lambda p: -abs(p - 0.5), lambda p: (-np.sign(p - 0.5), -np.sign(p - 0.5))),
    "too steep": Own(lambda p: 5 * p, lambda p: (5 + 0 * p, 5 + 0 * p)),
    "NaN": Own(lambda p: p * math.nan, lambda p: (1 + 0 * p, 1 + 0 * p)),
    "infinite": Own(lambda p: p / 0.5 + math.inf, lambda p: (0 * p, 0 * p)),
    "text": Own(lambda p: "low", lambda p: ("a", "b")),
    "slopes of a wrong shape": Own(lambda p: p, lambda p: (np.ones(4), np.ones(4))),
    "one slope": Own(lambda p: p, lambda p: 1 + 0 * p),
    "falling at a point": Own(lambda p: p, lambda p: (1 + 0 * p, 0 * p)),
}
FORECASTERS = [EfficientPredictor, *baselines.SUITE]


@pytest.mark.parametrize("kind", FORECASTERS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("name", WRONG)
def test_no_forecaster_learns_from_a_wrong_loss(kind, name):
    """And its next mixture is the one it had."""
    forecaster = kind(20, seed=1)
    before = forecaster.predict()
    with pytest.raises(TrueupError):
        forecaster.update(WRONG[name])
    after = forecaster.predict()

    assert forecaster.played == 0
    np.testing.assert_array_equal(before.probabilities, after.probabilities)
    assert before.value == after.value


def test_writing_into_a_mixture_changes_nothing():
    """What predict returned is the caller's."""
    for kind in FORECASTERS:
        forecaster = kind(20, seed=1)
        before = forecaster.predict()
        kept = [part.copy() for part in before[:3]]
        for part in before[:3]:
            part[:] = 0.123
        for part, expected in zip(forecaster.predict()[:3], kept, strict=True):
            np.testing.assert_array_equal(part, expected)
