"""Whole arrays: the same bits as one by one, columns of any kind, and what a run tells."""

import sys
import types

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import trueup as tu
from calibrator.support import by_hand, flat, parts_of, plain_regret
from trueup.calibrator import Ends, Levels
from trueup.errors import InvalidArgument

WANTED = [
    tu.Median(),
    tu.Mean(),
    tu.Quantile(0.9),
    tu.Expectile(0.3),
    tu.Interval(0.8),
    tu.Interval(0.8, side="lower"),
    tu.Quantiles([0.1, 0.5, 0.9]),
    tu.Probability(),
]
OUTCOMES = np.random.default_rng(0).normal(size=200)


def stream(seed):
    """Return a target and the arguments of a run: gaps, delays, groups, jumps, any settings."""
    rng = np.random.default_rng(seed)
    rounds, wanted = int(rng.integers(1, 150)), WANTED[rng.integers(len(WANTED))]
    outcomes = rng.normal(size=rounds) * 10.0 ** rng.integers(-3, 4)
    outcomes[rounds // 2 :] *= rng.choice([1.0, 5.0, 1000.0])
    binary = isinstance(wanted, tu.Probability)
    outcomes = (outcomes > 0).astype(float) if binary else outcomes
    outcomes[rng.uniform(size=rounds) < 0.1] = np.nan
    given = {"seed": seed, "exact": rng.uniform() < 0.5, "steer": rng.uniform() < 0.6}
    given["window"] = int(rng.choice([8, 16, 128]))
    if rng.uniform() < 0.6:
        own = np.nan_to_num(np.append(0.0, outcomes[:-1]))
        own[rng.uniform(size=rounds) < 0.2] = np.nan
        given["forecasts"] = own
    if rng.uniform() < 0.6:
        given["known_at"] = np.arange(rounds) + rng.integers(1, rng.choice([2, 5, 40]), rounds)
    if rng.uniform() < 0.4:
        given["groups"] = [[f"a{rng.integers(5)}", "b" if k % 3 else "c"] for k in range(rounds)]
    if rng.uniform() < 0.3 and not binary:
        given["bounds"] = (-1.0, 1.0)
    return wanted, outcomes, given


def assert_equal_runs(run, calibrator, said):
    """Compare all that a run tells with the forecasts of a run by hand."""
    rounds = len(said)
    for block, name in ((run.values, "value"), (run.labels, "label"), (run.scales, "scale")):
        rows = [flat(getattr(f, name)) if name == "value" else getattr(f, name) for f in said]
        expected = np.array(rows, dtype=float).reshape(rounds, -1)
        np.testing.assert_array_equal(block.reshape(rounds, -1), expected)
    assert run.overruled.tolist() == [f.overruled for f in said]
    assert run.guarded.tolist() == [f.guarded for f in said]
    reports = [c.report()._replace(nbytes=0) for c in (calibrator, run.calibrator)]
    assert repr(reports[0]) == repr(reports[1])
    assert run.calibrator.open == calibrator.open
    assert run.calibrator.group_report() == calibrator.group_report()
    assert run.certificate == calibrator.certificate()


@settings(max_examples=150, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6))
def test_arrays_are_the_same_as_one_by_one(seed):
    """Bit for bit: values, labels, scales, reports, certificates, groups, what stays open."""
    wanted, outcomes, given_settings = stream(seed)
    run = tu.calibrate(outcomes, wanted, **given_settings)

    assert_equal_runs(run, *by_hand(outcomes, wanted, **given_settings))


@settings(max_examples=40, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6), most=st.integers(1, 6))
def test_arrays_expire_like_one_by_one(seed, most):
    """With `max_open` the oldest open forecasts are given up in both."""
    wanted, outcomes, given_settings = stream(seed)
    run = tu.calibrate(outcomes, wanted, max_open=most, **given_settings)

    assert_equal_runs(run, *by_hand(outcomes, wanted, max_open=most, **given_settings))


@pytest.mark.parametrize("wanted", WANTED, ids=repr)
def test_what_comes_after_an_array_is_the_same_too(wanted):
    """Open forecasts of a run can be answered, and both go on alike."""
    outcomes = np.abs(np.sign(OUTCOMES)) if wanted == tu.Probability() else OUTCOMES
    late = {"known_at": np.arange(200) + 20, "forecasts": 0.5 * OUTCOMES}
    run = tu.calibrate(outcomes, wanted, **late)
    calibrator, _ = by_hand(outcomes, wanted, **late)
    rest = outcomes[::-1].tolist()

    assert run.calibrator.open == tuple(range(181, 200))
    for number in run.calibrator.open:
        for each in (run.calibrator, calibrator):
            each.update(rest[number], forecast=number)
    for outcome in rest:
        assert run.calibrator.predict(0.1) == calibrator.predict(0.1)
        run.calibrator.update(outcome)
        calibrator.update(outcome)


def test_a_run_that_peeks_ahead_would_differ():
    """The companion: one outcome changed at t changes nothing up to t, and something after."""
    changed = OUTCOMES.copy()
    changed[100] += 3.0
    one, two = (tu.calibrate(y, tu.Median(), forecasts=0.5 * OUTCOMES) for y in (OUTCOMES, changed))

    np.testing.assert_array_equal(one.values[:101], two.values[:101])
    assert np.any(one.values[101:] != two.values[101:])


@pytest.mark.parametrize("wanted", WANTED, ids=repr)
@pytest.mark.parametrize("late", [False, True], ids=["in time", "late"])
def test_swap_regret_is_by_label_and_below_the_certificate(wanted, late):
    """It agrees with a plain sum over drawn bins of the rounds that were answered."""
    rng = np.random.default_rng(3)
    outcomes = rng.uniform(0, 10, 300)
    if wanted == tu.Probability():
        outcomes = (outcomes > 4).astype(float)
    outcomes[::17] = np.nan
    known = np.arange(300) + 40 if late else None
    bounds = None if wanted == tu.Probability() else (0, 10)
    run = tu.calibrate(outcomes, wanted, bounds=bounds, known_at=known, seed=2)
    learned = ~np.isnan(outcomes)
    learned[list(run.calibrator.open)] = False
    total = 0.0
    for k, part in enumerate(parts_of(wanted)):
        said, label, scale = (
            block.reshape(300, -1)[learned, k] for block in (run.values, run.labels, run.scales)
        )
        keys = list(zip(label, scale, strict=True))
        total += plain_regret(part, said, outcomes[learned], keys)

    assert run.swap_regret() == pytest.approx(total, rel=1e-6)
    assert run.swap_regret() <= run.certificate * (1 + 1e-9)
    assert run.summary() == run.calibrator.report()


def test_rounds_that_are_still_open_have_no_regret_yet():
    """An outcome that the calibrator has not seen does not count."""
    outcomes = np.tile([0.0, 1.0], 100)
    run = tu.calibrate(outcomes, tu.Median(), bounds=(0, 1), known_at=np.full(200, 201))

    assert run.certificate == run.swap_regret() == 0.0


def test_groups_are_those_of_one_by_one():
    """Names in order of first appearance, with their settled rounds."""
    groups = [["all", "even" if t % 2 == 0 else "odd"] for t in range(200)]
    run = tu.calibrate(OUTCOMES, tu.Median(), groups=groups)
    report = run.calibrator.group_report()

    assert list(report) == ["all", "even", "odd"]
    assert [report[name][0] for name in report] == [199, 99, 100]


@pytest.mark.parametrize("wanted", [tu.Median(), tu.Interval(0.8)], ids=repr)
def test_rounds_may_be_in_different_numbers_of_groups(wanted):
    """A holiday is one on some days alone; the same as one by one, bit for bit."""
    groups = [("all", "holiday", t % 3)[: 1 + t % 3] if t % 5 else () for t in range(200)]
    run = tu.calibrate(OUTCOMES, wanted, groups=groups)
    calibrator, said = by_hand(OUTCOMES, wanted, groups=groups)

    assert run.values.ravel().tolist() == [x for f in said for x in flat(f.value)]
    assert run.calibrator.to_bytes() == calibrator.to_bytes()
    cost = tu.Decision(lambda stock, demand: abs(stock - demand))
    run = tu.calibrate(OUTCOMES[:40], cost, groups=groups[:40], bounds=(-9, 9))
    calibrator, _ = by_hand(OUTCOMES[:40], cost, groups=groups[:40], bounds=(-9, 9))
    assert run.calibrator.group_report() == calibrator.group_report()


def test_an_empty_array_and_a_single_round():
    """Nothing in, nothing out."""
    assert tu.calibrate([], tu.Median()).forecasts == []
    assert tu.calibrate([1.0], tu.Median(), forecasts=[2.0]).forecasts == [2.0]
    assert tu.calibrate([], tu.Interval(0.8)).values.shape == (0, 2)


# --- columns of any kind -----------------------------------------------------------------------


def test_lists_in_lists_out():
    """Of floats; arrays give arrays; several numbers come as columns of the same kind."""
    numbers = OUTCOMES[:50].tolist()
    numbers[7] = None
    for given_as in (numbers, tuple(numbers)):
        run = tu.calibrate(given_as, tu.Median())
        assert isinstance(run.forecasts, list)
        assert all(type(value) is float for value in run.forecasts)
        assert run.forecasts == run.values.tolist()
        assert run.summary().missing == 1
    ends = tu.calibrate(numbers, tu.Interval(0.8)).forecasts
    assert isinstance(ends, Ends)
    assert isinstance(ends.lower, list)
    levels = tu.calibrate(OUTCOMES, tu.Quantiles([0.1, 0.9])).forecasts
    assert isinstance(levels, Levels)
    assert isinstance(levels.values[0], np.ndarray)


@pytest.mark.parametrize("dtype", [np.float32, np.int16, np.uint8, bool, object])
def test_arrays_of_any_numbers_are_read(dtype):
    """They are the same numbers; None in an array of objects is a gap."""
    outcomes = np.array([0, 1, 1, 0, 1] * 10).astype(dtype)
    run = tu.calibrate(outcomes, tu.Probability())

    np.testing.assert_array_equal(
        run.values, tu.calibrate(np.array([0.0, 1, 1, 0, 1] * 10), tu.Probability()).values
    )
    gaps = np.array([1.0, None, 2.0], dtype=object)
    assert tu.calibrate(gaps, tu.Median()).summary().missing == 1


class Column:
    """As little of a column of polars as is needed."""

    def __init__(self, name, values):
        self.name, self.held = name, list(values)

    def to_numpy(self, **_):
        return np.array(self.held)


def column_of(room):
    """Return a class that calls itself a column of a library."""
    return type("Series", (Column,), {"__module__": room})


def test_columns_of_polars_come_back_as_such():
    """Without the library itself, with the name."""
    kind = column_of("polars.series.series")
    given_column = kind("load", OUTCOMES)
    run = tu.calibrate(given_column, tu.Median(), forecasts=kind("own", OUTCOMES * 0.5))

    assert type(run.forecasts) is kind
    assert run.forecasts.name == "load"
    np.testing.assert_array_equal(run.forecasts.to_numpy(), run.values)
    assert run.raw[3] == OUTCOMES[3] * 0.5


def test_columns_of_pyarrow_come_back_as_arrays(monkeypatch):
    """Made by the library that they are of."""
    library = types.SimpleNamespace(array=lambda values: ("arrow", values.tolist()))
    monkeypatch.setitem(sys.modules, "pyarrow", library)
    run = tu.calibrate(column_of("pyarrow.lib")("", OUTCOMES), tu.Median())

    assert run.forecasts == ("arrow", run.values.tolist())


def test_a_frame_has_a_row_a_round(monkeypatch):
    """One column a number, and how each came about."""
    monkeypatch.setitem(
        sys.modules,
        "pandas",
        types.SimpleNamespace(DataFrame=lambda columns, index: columns, Index=()),
    )
    run = tu.calibrate(OUTCOMES, tu.Quantiles([0.1, 0.9]), forecasts=OUTCOMES)
    frame = run.to_frame()
    single = tu.calibrate(OUTCOMES, tu.Median()).to_frame()

    assert {len(column) for column in frame.values()} == {200}
    assert {"outcome", "raw", "value_0", "value_1", "label_1", "scale_0", "overruled"} <= set(frame)
    np.testing.assert_array_equal(frame["value_1"], run.values[:, 1])
    assert {"value", "label", "scale", "guarded"} <= set(single)


def test_without_pandas_there_is_no_frame(monkeypatch):
    """One sentence says what to install."""
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InvalidArgument, match=r"to_frame needs pandas; install it: pip install"):
        tu.calibrate([1.0], tu.Median()).to_frame()
