"""Beliefs about an outcome instead of a number."""

import math

import numpy as np
import pytest

import trueup as tu
from trueup.beliefs import FromQuantiles, Histogram, Normal, Samples
from trueup.distributions import uniform
from trueup.errors import InvalidArgument


class Logistic:
    """Any object with `cdf`."""

    def __init__(self, middle, size):
        self.middle, self.size = middle, size

    def cdf(self, x):
        return 1 / (1 + math.exp(-(x - self.middle) / self.size))


def said(belief, wanted, bounds=(0, 20)):
    """Return what a fresh calibrator, which follows its belief, says."""
    return tu.Calibrator(wanted, bounds=bounds).predict(belief).value


RIGHT = [
    (Normal(10.0, 2.0), tu.Median(), 10.0),
    (Normal(10.0, 2.0), tu.Mean(), 10.0),
    (Normal(10.0, 2.0), tu.Quantile(0.9), 12.563),
    (Logistic(8.0, 0.5), tu.Quantile(0.9), 8.0 + 0.5 * math.log(9)),
    (Histogram([0.0, 10.0, 20.0], [0.9, 0.1]), tu.Median(), 10 * 0.5 / 0.9),
    (Histogram([0.0, 10.0, 20.0], [0.9, 0.1]), tu.Mean(), 6.0),
    (Samples(np.linspace(5.0, 9.0, 401)), tu.Quantile(0.25), 6.0),
    (FromQuantiles({0.1: 4.0, 0.5: 6.0, 0.9: 12.0}), tu.Quantile(0.5), 6.0),
    (FromQuantiles({0.1: 4.0, 0.5: 6.0, 0.9: 12.0}), tu.Quantile(0.3), 5.0),
]


@pytest.mark.parametrize(("belief", "wanted", "right"), RIGHT, ids=lambda part: repr(part)[:40])
def test_the_number_of_a_belief_is_issued(belief, wanted, right):
    """While it is followed, its own quantile or mean is what is said."""
    assert said(belief, wanted) == pytest.approx(right, abs=0.05)


def test_the_expectile_of_a_belief_solves_its_equation():
    """Uniform on [0, 10]: 0.8 E(y - x)+ = 0.2 E(x - y)+ at x = 20/3."""
    belief = Histogram(np.linspace(0.0, 10.0, 101), np.full(100, 0.01))

    assert said(belief, tu.Expectile(0.8), (0, 10)) == pytest.approx(20 / 3, abs=0.02)


def test_the_ends_of_an_interval_are_the_quantiles_of_a_belief():
    """Both at once."""
    ends = said(Normal(10.0, 2.0), tu.Interval(0.8))

    assert ends.lower == pytest.approx(7.437, abs=0.05)
    assert ends.upper == pytest.approx(12.563, abs=0.05)


def test_equal_beliefs_in_other_words_say_nearly_the_same():
    """A normal law by its name, its CDF, its quantiles and its draws."""

    class Own:
        def cdf(self, x):
            return 0.5 * math.erfc(-(x - 10.0) / 2.0 / math.sqrt(2))

    named, levels = Normal(10.0, 2.0), np.arange(1, 200) / 200
    nodes, heights = named.nodes()
    values = np.interp(levels, heights, nodes)
    quantiles = FromQuantiles(dict(zip(levels.tolist(), values.tolist(), strict=True)))
    numbers = [
        said(belief, tu.Quantile(0.8)) for belief in (named, Own(), quantiles, Samples(values))
    ]

    assert max(numbers) - min(numbers) < 0.1


@pytest.mark.parametrize(
    ("belief", "median"),
    [(Normal(1.0, 1.0), 1.0), (FromQuantiles({0.1: 1.0, 0.5: 2.0, 0.9: 5.0}), 2.0)],
    ids=repr,
)
def test_the_median_of_a_belief_is_said_as_it_is(belief, median):
    """Not a rounding beside it."""
    assert tu.Calibrator(tu.Median(), bounds=(-8, 8)).predict(belief).value == median


@pytest.mark.parametrize("law", [uniform(0.25, 0.75)], ids=repr)
def test_the_distributions_of_this_package_are_beliefs(law):
    """They have a `cdf`, as any object may."""
    assert said(law, tu.Median(), (0, 1)) == pytest.approx(0.5, abs=0.01)
    assert said(law, tu.Quantile(0.9), (0, 1)) == pytest.approx(0.7, abs=0.01)


def test_a_right_belief_is_hardly_ever_overruled():
    """Outcomes drawn from it: what is said is its own number nearly always."""
    rng = np.random.default_rng(0)
    calibrator = tu.Calibrator(tu.Quantile(0.9), bounds=(0, 20))
    overruled = 0
    for _ in range(600):
        middle = float(rng.uniform(6, 14))
        forecast = calibrator.predict(Normal(middle, 1.0))
        overruled += forecast.overruled
        assert forecast.raw is None
        calibrator.update(float(np.clip(rng.normal(middle, 1.0), 0, 20)))

    assert overruled == 0
    assert calibrator.report().below[0] == pytest.approx(0.9, abs=0.04)


def test_a_wrong_belief_is_overruled():
    """The companion: outcomes elsewhere, and coverage comes back near what is asked."""
    rng = np.random.default_rng(0)
    calibrator = tu.Calibrator(tu.Quantile(0.9), bounds=(0, 20))
    covered = []
    for _ in range(3_000):
        forecast = calibrator.predict(Normal(5.0, 1.0))
        outcome = float(rng.uniform(8, 18))
        covered.append(outcome <= forecast.value)
        calibrator.update(outcome)

    assert np.mean(covered[:30]) < 0.3
    assert np.mean(covered[-1_000:]) > 0.8


def test_beliefs_beyond_the_range_end_at_its_end():
    """What lies outside is as if it lay at the end."""
    assert said(Normal(1_000.0, 1.0), tu.Median(), (0, 10)) == 10.0
    assert said(Normal(-1_000.0, 1.0), tu.Median(), (0, 10)) == 0.0


def test_numbers_beliefs_and_nothing_can_take_turns():
    """A run may mix them; looks agree with forecasts."""
    rng = np.random.default_rng(1)
    calibrator = tu.Calibrator(tu.Interval(0.8))
    given_each = [None, 3.0, Normal(3.0, 1.0), Samples([1.0, 2.0, 6.0]), Logistic(3.0, 1.0)]
    for t in range(200):
        belief = given_each[t % 5]
        seen = calibrator.peek(belief)
        assert calibrator.predict(belief) == seen
        calibrator.update(float(rng.normal(3.0, 1.0)))
    assert calibrator.report().below == pytest.approx((0.1, 0.9), abs=0.07)


class Falling:
    """A CDF that falls."""

    def cdf(self, x):
        return 0.9 if x < 5 else 0.1


class Above:
    """A CDF above 1."""

    def cdf(self, x):
        return 1.5


class NoNumber:
    """A CDF that is NaN."""

    def cdf(self, x):
        return math.nan


WRONG = {
    "a CDF that falls": (Falling(), "cdf must rise from 0 to 1"),
    "a CDF above 1": (Above(), "cdf must rise from 0 to 1"),
    "a CDF of NaN": (NoNumber(), "cdf must be finite"),
    "a class": (Normal, "forecast must be a number, a belief or None"),
    "a class with cdf": (Logistic, "forecast must be a number, a belief or None"),
    "a list": ([1.0, 2.0], "forecast must be a number, a belief or None"),
    "an array": (np.array(1.0), "forecast must be a number, a belief or None"),
    "an object": (object(), "forecast must be a number, a belief or None"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_no_belief_is_refused(case):
    """With one sentence, and nothing changes: no round, no group."""
    belief, sentence = WRONG[case]
    calibrator = tu.Calibrator(tu.Median(), bounds=(0, 10))
    calibrator.predict(1.0)
    before = calibrator.to_bytes()

    with pytest.raises(InvalidArgument, match=sentence):
        calibrator.predict(belief, groups=["new"])
    with pytest.raises(InvalidArgument, match=sentence):
        calibrator.peek(belief)
    assert calibrator.to_bytes() == before


MADE_WRONG = {
    "no mapping": (lambda: FromQuantiles([0.5, 1.0]), "quantiles must be a mapping"),
    "no quantiles": (lambda: FromQuantiles({}), "quantiles must have at least one level"),
    "level 1": (lambda: FromQuantiles({1.0: 3.0}), "level must be strictly between 0 and 1"),
    "falling": (lambda: FromQuantiles({0.1: 3.0, 0.9: 2.0}), "quantiles must be non-decreasing"),
    "infinite": (lambda: FromQuantiles({0.1: math.inf}), "value must be finite"),
    "no draws": (lambda: Samples([]), "draws must have at least one number"),
    "NaN": (lambda: Samples([1.0, math.nan]), "draws must be finite, got nan at index 1"),
    "a table": (lambda: Samples([[1.0]]), "draws must be one-dimensional"),
    "no spread": (lambda: Normal(0.0, 0.0), "sd must be above 0"),
    "no mean": (lambda: Normal(math.nan, 1.0), "mean must be finite"),
    "edges": (lambda: Histogram([0.0, 0.0], [1.0]), "edges must be 2 increasing numbers"),
    "shares": (lambda: Histogram([0.0, 1.0], [0.5]), "probabilities must sum to 1"),
}


@pytest.mark.parametrize("case", MADE_WRONG)
def test_wrong_beliefs_cannot_be_made(case):
    """One sentence each."""
    make, sentence = MADE_WRONG[case]
    with pytest.raises(InvalidArgument, match=sentence):
        make()
