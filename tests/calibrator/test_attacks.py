"""What an attack from outside found: odd numbers, names, beliefs and sizes."""

import datetime as dt
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import trueup as tu
from trueup.calibrator import Calibrator
from trueup.errors import InvalidArgument, TrueupError


def opened(**settings):
    """Return a calibrator with a range and one forecast open."""
    calibrator = tu.Calibrator(tu.Median(), **settings)
    calibrator.predict()
    calibrator.update(1.0)
    calibrator.predict(2.0)
    return calibrator


MISSING = [
    None,
    float("nan"),
    np.float32("nan"),
    Decimal("nan"),
    np.array(np.nan),
    np.datetime64("NaT", "s"),
    np.ma.masked,
]


@pytest.mark.parametrize("outcome", MISSING, ids=repr)
def test_whatever_is_missing_skips_the_forecast(outcome):
    """As None does, in a panel too."""
    calibrator, panel = opened(), tu.Panel(tu.Median())
    calibrator.update(outcome)
    panel.predict(["a"])
    panel.update(["a"], [outcome])

    assert calibrator.report().missing == 1
    assert calibrator.report().scored == 1
    assert panel.calibrator("a").report().missing == 1


def test_the_na_of_pandas_is_missing():
    """It is neither equal to itself nor not."""
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    calibrator = opened()
    calibrator.update(pd.NA)

    assert calibrator.report().missing == 1


NUMBERS = [Decimal("1.5"), Fraction(3, 2), np.float16(1.5)]


@pytest.mark.parametrize("number", NUMBERS, ids=repr)
def test_numbers_of_any_kind_are_the_floats_that_they_are(number):
    """As a forecast and as an outcome."""
    calibrator, plain = opened(), opened()
    for each, one in ((calibrator, number), (plain, 1.5)):
        each.update(one)
        each.predict(one)

    assert calibrator.to_bytes() == plain.to_bytes()


@pytest.mark.parametrize("large", [1.7e308, -1.7e308, 2e150])
def test_what_cannot_be_squared_is_refused(large):
    """A range around it could not be doubled: it once went on for ever."""
    calibrator = tu.Calibrator(tu.Median())
    calibrator.predict(1.0)
    before = calibrator.to_bytes()
    for act in (
        lambda: calibrator.update(large),
        lambda: calibrator.predict(large),
        lambda: tu.calibrate([1.0, large], tu.Median()),
        lambda: tu.calibrate([1.0], tu.Median(), forecasts=[large]),
        lambda: tu.Calibrator(tu.Median(), bounds=sorted((0.0, large))),
        lambda: tu.Calibrator(tu.Median(), transform=(lambda x: 1e200, float)).predict(1.0),
    ):
        with pytest.raises(InvalidArgument, match=r"at most 1e\+150 in size|own"):
            act()

    assert calibrator.to_bytes() == before


@pytest.mark.parametrize("wanted", [tu.Median(), tu.Mean(), tu.Interval(0.8)], ids=repr)
def test_the_largest_and_the_smallest_numbers_leave_finite_numbers(wanted):
    """One after the other, in either direction."""
    calibrator = tu.Calibrator(wanted)
    for outcome in (5e-324, 0.0, -1e150, 1e-300, 1e150, 3.0):
        calibrator.predict(outcome / 2)
        calibrator.update(outcome)
    value = calibrator.predict().value

    assert np.isfinite(np.atleast_1d(value)).all()
    assert np.isfinite(calibrator.certificate())
    again = Calibrator.from_bytes(calibrator.to_bytes())
    assert again.to_bytes() == calibrator.to_bytes()


@pytest.mark.parametrize("name", [None, float("nan"), np.datetime64("NaT", "s")], ids=repr)
def test_a_missing_name_is_no_group(name):
    """None once took the place of the group of all rounds, whose certificate then missed them."""
    calibrator = opened()
    before = calibrator.to_bytes()
    for act in (calibrator.predict, calibrator.peek):
        with pytest.raises(InvalidArgument, match="groups must be names that are not missing"):
            act(groups=["north", name])

    assert calibrator.to_bytes() == before


class Nodes:
    """A belief with nodes of its own."""

    def __init__(self, nodes, heights):
        self.made = nodes, heights

    def nodes(self):
        return self.made


class Says:
    """A belief with a CDF that says one thing."""

    def __init__(self, answer):
        self.answer = answer

    def cdf(self, _):
        return self.answer


WRONG = [
    Nodes([], []),
    Nodes([1.0, np.nan], [0.0, 1.0]),
    Nodes([3.0, 1.0], [0.0, 1.0]),
    Nodes([1.0, 2.0, 3.0], [0.0, 1.0]),
    Nodes([1.0, 2.0], [0.9, 0.1]),
    Nodes([1.0, 2.0], [-3.0, 7.0]),
    Nodes([[1.0, 2.0]], [[0.0, 1.0]]),
    Nodes(["a"], [0.5]),
    Says("a"),
    Says(np.array([0.5])),
    Says(None),
    np.ma.masked,
    dt.date(2026, 1, 1),
]


@pytest.mark.parametrize("belief", WRONG, ids=range(len(WRONG)))
def test_a_belief_that_is_no_law_is_refused(belief):
    """In one sentence, whoever made it."""
    calibrator = opened(bounds=(0, 10))
    before = calibrator.to_bytes()
    with pytest.raises(TrueupError):
        calibrator.predict(belief)

    assert calibrator.to_bytes() == before


def test_names_that_cannot_be_names_and_windows_without_end():
    """One sentence each."""
    with pytest.raises(InvalidArgument, match="There is no group"):
        opened().certificate(["a"])
    with pytest.raises(InvalidArgument, match="window must be at most 100000"):
        tu.Calibrator(tu.Median(), window=10**9)
