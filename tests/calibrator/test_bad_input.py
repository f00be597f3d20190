"""Every kind of wrong argument gets one sentence and leaves all as it was."""

import math

import numpy as np
import pytest

import trueup as tu
from calibrator.support import used
from trueup.calibrator import Calibrator
from trueup.errors import InvalidArgument


def made(**settings):
    """Return a call that makes a calibrator."""
    return lambda: Calibrator(tu.Median(), **settings)


def run(*arguments, **options):
    """Return a call that runs an array."""
    return lambda: tu.calibrate(*arguments, **options)


MAKING = {
    "a number as a target": (lambda: Calibrator(0.9), "wanted must be Mean"),
    "a class as a target": (lambda: Calibrator(tu.Median), "wanted must be Mean"),
    "text as a target": (lambda: Calibrator("median"), "wanted must be Mean"),
    "level 0": (lambda: tu.Quantile(0.0), "level must be strictly between 0 and 1, got 0"),
    "level in percent": (lambda: tu.Quantile(90), "level must be strictly between 0 and 1"),
    "coverage 1": (lambda: tu.Interval(1.0), "coverage must be strictly between 0 and 1"),
    "nearly coverage 1": (lambda: tu.Interval(1 - 1e-14), "coverage must be"),
    "a side": (lambda: tu.Interval(0.9, side="left"), "side must be 'both', 'lower' or 'upper'"),
    "no levels": (lambda: tu.Quantiles([]), "levels must be one or more, strictly increasing"),
    "one level": (lambda: tu.Quantiles(0.5), "levels must be one or more, strictly increasing"),
    "nothing as levels": (lambda: tu.Quantiles(None), "levels must be one or more"),
    "text as levels": (lambda: tu.Quantiles("ab"), "level"),
    "equal levels": (lambda: tu.Quantiles([0.5, 0.5]), "levels must be one or more, strictly"),
    "falling levels": (lambda: tu.Quantiles([0.9, 0.1]), "levels must be one or more, strictly"),
    "a level of 1": (lambda: tu.Quantiles([0.5, 1.0]), "level must be strictly between"),
    "bounds of one": (made(bounds=5), r"bounds must be a pair \(low, high\), got 5"),
    "bounds of three": (made(bounds=(0, 1, 2)), "bounds must be a pair"),
    "bounds of text": (made(bounds=("a", "b")), "low bound must be a number, got 'a'"),
    "equal bounds": (made(bounds=(1, 1)), "bounds must be increasing"),
    "falling bounds": (made(bounds=(1, 0)), "bounds must be increasing"),
    "NaN as a bound": (made(bounds=(0, math.nan)), "high bound must be finite, got nan"),
    "an infinite bound": (made(bounds=(0, math.inf)), "high bound must be finite, got inf"),
    "bounds too far apart": (made(bounds=(-1e308, 1e308)), "low bound must be at most"),
    "bounds of a chance": (
        lambda: Calibrator(tu.Probability(), bounds=(0, 500)),
        "bounds must be left out",
    ),
    "a negative seed": (made(seed=-1), "seed must be at least 0"),
    "half a seed": (made(seed=0.5), "seed must be a whole number"),
    "truth as a seed": (made(seed=True), "seed must be a whole number"),
    "no seed": (made(seed=None), "seed must be a whole number"),
    "a seed too large": (made(seed=2**64), "seed must be"),
    "no c": (made(c=0), "c must be above 0 and at most 1"),
    "too large a c": (made(c=2), "c must be above 0 and at most 1"),
    "overrule 0": (made(overrule=0), "overrule must be strictly between 0 and 1"),
    "overrule 1": (made(overrule=1.0), "overrule must be strictly between 0 and 1"),
    "a short window": (made(window=7), "window must be at least 8"),
    "half a window": (made(window=8.5), "window must be a whole number"),
    "max_open 0": (made(max_open=0), "max_open must be at least 1"),
    "text as max_open": (made(max_open="3"), "max_open must be a whole number"),
    "negative max_groups": (made(max_groups=-1), "max_groups must be at least 0"),
    "text as exact": (made(exact="no"), "exact must be True or False"),
    "text as steer": (made(steer="yes"), "steer must be True or False"),
    "a number as steer": (made(steer=2), "steer must be True or False"),
    "text as strict": (made(strict="no"), "strict must be True or False"),
}


@pytest.mark.parametrize("case", MAKING)
def test_wrong_settings_are_refused(case):
    """When the calibrator is made, not later."""
    call, sentence = MAKING[case]
    with pytest.raises(InvalidArgument, match=sentence) as caught:
        call()
    assert "\n" not in str(caught.value)


FORECASTS = {
    "text": ("1.0", "forecast must be a number, a belief or None, got '1.0'"),
    "bytes": (b"1", "forecast must be a number, a belief or None"),
    "truth": (True, "forecast must be a number, a belief or None, got True"),
    "NumPy's truth": (np.True_, "forecast must be a number, a belief or None"),
    "NaN": (math.nan, "forecast must be finite, got nan"),
    "infinity": (-math.inf, "forecast must be finite, got -inf"),
    "huge": (10**400, "forecast must be finite, got a number too large"),
    "complex": (1j, "forecast must be a number, a belief or None"),
    "NumPy's complex": (np.complex128(1.0), "forecast must be a number"),
    "a list": ([1.0], "forecast must be a number, a belief or None"),
    "a mapping": ({0.5: 1.0}, "forecast must be a number, a belief or None"),
}
OUTCOMES = {
    "text": ("1.0", "outcome must be a number, got '1.0'"),
    "truth": (True, "outcome must be a number, got True"),
    "infinity": (math.inf, "outcome must be finite, got inf"),
    "huge": (10**400, "outcome must be finite, got a number too large"),
    "complex": (1j, "outcome must be a number"),
    "a list": ([1.0], "outcome must be a number"),
    "an array": (np.array([1.0]), "outcome must be a number"),
}
GROUPS = {
    "one text": ("abc", "groups must be a collection of names, got 'abc'"),
    "bytes": (b"abc", "groups must be a collection of names"),
    "a number": (3, "groups must be a collection of names, got 3"),
    "nothing": (None, "groups must be a collection of names, got None"),
    "lists": ([["a"]], "groups must be a collection of names"),
}


@pytest.fixture(params=["learnt", "several", "before the range"])
def calibrator(request):
    """Give a calibrator with an open forecast."""
    if request.param == "before the range":
        fresh = tu.Calibrator(tu.Median())
        fresh.predict(1.0)
        return fresh
    wanted = tu.Median() if request.param == "learnt" else tu.Quantiles([0.1, 0.9])
    busy = used(tu.Calibrator(wanted))
    busy.skip(busy.open[0])
    return busy


@pytest.mark.parametrize("case", FORECASTS)
def test_wrong_forecasts_are_refused(calibrator, case):
    """By `predict` and by `peek`; no round is opened, no group is made."""
    wrong, sentence = FORECASTS[case]
    before = calibrator.to_bytes()
    for way in (calibrator.predict, calibrator.peek):
        with pytest.raises(InvalidArgument, match=sentence):
            way(wrong, groups=["a new group"])
    assert calibrator.to_bytes() == before


@pytest.mark.parametrize("case", OUTCOMES)
def test_wrong_outcomes_are_refused(calibrator, case):
    """The forecast stays open."""
    wrong, sentence = OUTCOMES[case]
    before = calibrator.to_bytes()
    with pytest.raises(InvalidArgument, match=sentence):
        calibrator.update(wrong)
    assert calibrator.to_bytes() == before
    calibrator.update(1.0)


@pytest.mark.parametrize("case", GROUPS)
def test_wrong_groups_are_refused(calibrator, case):
    """By `predict`, by `peek` and for whole arrays."""
    wrong, sentence = GROUPS[case]
    before = calibrator.to_bytes()
    for way in (calibrator.predict, calibrator.peek):
        with pytest.raises(InvalidArgument, match=sentence):
            way(1.0, groups=wrong)
    with pytest.raises(InvalidArgument, match=sentence):
        tu.calibrate([1.0, 2.0], tu.Median(), groups=[wrong, wrong])
    assert calibrator.to_bytes() == before


@pytest.mark.parametrize("outcome", [0.5, -1.0, 2, 1e-9])
def test_a_chance_has_outcomes_0_and_1(outcome):
    """Whole arrays too."""
    calibrator = tu.Calibrator(tu.Probability())
    calibrator.predict(0.7)
    before = calibrator.to_bytes()
    with pytest.raises(InvalidArgument, match="outcome must be 0 or 1"):
        calibrator.update(outcome)
    with pytest.raises(InvalidArgument, match=r"outcomes must be 0 or 1, got .* at index 1"):
        tu.calibrate([1.0, outcome], tu.Probability())
    assert calibrator.to_bytes() == before


Y, M = [1.0, 2.0], tu.Median()
ARRAYS = {
    "text": (run("ab", M), "outcomes must be numbers, got 'ab'"),
    "list of text": (run(["a"], M), "outcomes must be numbers"),
    "nothing": (run(None, M), "outcomes must be one-dimensional"),
    "a number": (run(5, M), "outcomes must be one-dimensional"),
    "a table": (run(np.zeros((2, 2)), M), r"outcomes must be one-dimensional, got \(2, 2\)"),
    "infinity": (run([1.0, math.inf], M), "outcomes must be finite or NaN, got inf at index 1"),
    "complex": (run(np.array([1j]), M), "outcomes must be numbers"),
    "times": (run(np.array(["2020-01-01"], dtype="M8[D]"), M), "outcomes must be numbers"),
    "a generator": (run((y for y in Y), M), "outcomes must be numbers"),
    "no target": (run(Y, None), "wanted must be Mean"),
    "few forecasts": (run(Y, M, forecasts=[1.0]), "must have the same length, got \\[2, 1\\]"),
    "text as forecasts": (run(Y, M, forecasts=["a", "b"]), "forecasts must be numbers"),
    "an infinite forecast": (run(Y, M, forecasts=[1.0, -math.inf]), "forecasts must be finite or"),
    "a table of forecasts": (run(Y, M, forecasts=[[1.0], [2.0]]), "forecasts must be one-dim"),
    "known_at too short": (run(Y, M, known_at=[1]), "known_at must be 2 whole numbers"),
    "known_at of floats": (run(Y, M, known_at=[1.0, 2.0]), "known_at must be 2 whole numbers"),
    "known at once": (run(Y, M, known_at=[0, 2]), "known_at must be after its own round, got 0"),
    "known before": (run(Y, M, known_at=[1, 0]), "known_at must be after its own round"),
    "few groups": (run(Y, M, groups=[["a"]]), "groups"),
    "a number as groups": (run(Y, M, groups=5), "groups must be"),
    "text as groups": (run(Y, M, groups="ab"), "groups must be a collection of names, got 'a'"),
    "text a round": (run(Y, M, groups=["a", "b"]), "groups must be a collection of names"),
    "too many groups": (run(Y, M, groups=[["a"], ["b"]], max_groups=1), "max_groups=1"),
    "a wrong setting": (run(Y, M, window=3), "window must be at least 8"),
}


@pytest.mark.parametrize("case", ARRAYS)
def test_wrong_arrays_are_refused(case):
    """Each with one sentence."""
    call, sentence = ARRAYS[case]
    with pytest.raises(InvalidArgument, match=sentence) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_an_unknown_setting_is_an_error_of_the_call():
    """As for any function of Python."""
    with pytest.raises(TypeError, match="gamma"):
        tu.calibrate(Y, M, gamma=0.1)
    with pytest.raises(TypeError, match="gamma"):
        Calibrator(M, gamma=0.1)


@pytest.mark.parametrize("kind", [int, np.float32, np.int64, np.array], ids=lambda k: k.__name__)
def test_numbers_of_any_kind_are_read(kind):
    """Whole numbers and NumPy's are outcomes; most are forecasts."""
    calibrator = tu.Calibrator(tu.Median(), bounds=(0, 10))
    if kind is not np.array:
        assert calibrator.peek(kind(3)).raw == 3.0
    calibrator.predict(3)
    calibrator.update(kind(4))
    assert calibrator.report().scored == 1
