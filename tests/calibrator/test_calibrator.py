"""The object as a user meets it: what is issued, for what, and what a look does."""

import math

import numpy as np
import pytest

import trueup as tu
from calibrator.support import feed, flat, uniform, used
from trueup.calibrator import Calibrator, Ends, Levels
from trueup.errors import UnknownForecast

WANTED = [
    tu.Mean(),
    tu.Median(),
    tu.Quantile(0.9),
    tu.Expectile(0.2),
    tu.Interval(0.8),
    tu.Interval(0.8, side="lower"),
    tu.Interval(0.8, side="upper"),
    tu.Quantiles([0.1, 0.5, 0.9]),
    tu.Quantiles([0.3]),
    tu.Probability(),
]
NAMES = {"argvalues": WANTED, "ids": repr}


def test_a_forecast_tells_what_is_issued_and_how_it_came_about():
    """Number, bin, mixture, the user's own number and where it stands."""
    calibrator = tu.Calibrator(tu.Quantile(0.9), bounds=(0, 500))
    feed(calibrator, uniform(0, 60, 0, 500), uniform(1, 60, 0, 500))
    forecast = calibrator.predict(123.0)

    assert forecast.id == 60
    assert isinstance(forecast.value, float)
    assert forecast.raw == 123.0
    assert forecast.label in forecast.support
    assert abs(forecast.value - forecast.label) <= 2 * forecast.scale
    assert math.isclose(sum(forecast.probabilities), 1.0)
    assert all(share > 0 for share in forecast.probabilities)
    assert all(0 <= place <= 500 for place in forecast.support)
    assert forecast.guarded is True
    assert isinstance(forecast.overruled, bool)


def test_the_first_forecast_of_an_unknown_range_is_the_users_own():
    """Without a range there is nothing to guard yet; from the first outcome on there is."""
    calibrator = tu.Calibrator(tu.Quantile(0.9))
    first = calibrator.predict(17.5)
    calibrator.update(19.0)
    second = calibrator.predict(18.0)

    assert (first.value, first.label, first.support, first.probabilities) == (
        17.5,
        17.5,
        (17.5,),
        (1.0,),
    )
    assert not first.guarded
    assert second.guarded
    assert calibrator.report().unguarded == calibrator.report().since == 1


def test_an_outcome_goes_to_the_only_open_forecast_or_to_the_one_named():
    """By nothing, by the forecast, by its number; a skipped one teaches nothing."""
    calibrator = tu.Calibrator(tu.Median(), bounds=(0, 1))
    calibrator.predict(0.5)
    calibrator.update(0.25)
    one, two, three = (calibrator.predict(0.5) for _ in range(3))
    calibrator.update(0.5, forecast=two)
    calibrator.update(0.5, forecast=one.id)
    calibrator.skip(three)
    report = calibrator.report()

    assert (report.rounds, report.scored, report.missing, report.open) == (4, 3, 1, 0)


@pytest.mark.parametrize("wanted", **NAMES)
def test_what_is_issued_has_the_shape_of_what_was_asked(wanted):
    """One number, the ends of an interval, or a number a level."""
    calibrator = used(tu.Calibrator(wanted), rounds=80)
    forecast = calibrator.predict(0.2)
    several = len(flat(forecast.value)) > 1

    if isinstance(wanted, tu.Interval):
        assert isinstance(forecast.value, Ends)
        assert math.isinf(forecast.value.lower) == (wanted.side == "upper")
        assert math.isinf(forecast.value.upper) == (wanted.side == "lower")
    elif isinstance(wanted, tu.Quantiles):
        assert isinstance(forecast.value, Levels)
        assert forecast.value.levels == wanted.levels
        assert len(forecast.value.values) == len(wanted.levels)
    else:
        assert isinstance(forecast.value, float)
    for column in (forecast.label, forecast.scale, forecast.support, forecast.probabilities):
        assert not several or len(column) == len(flat(forecast.value))


@pytest.mark.parametrize("wanted", **NAMES)
def test_a_stream_without_structure_is_calibrated(wanted):
    """Standard normal outcomes: the numbers come near what is asked for."""
    rng = np.random.default_rng(3)
    outcomes = rng.normal(size=3_000)
    if isinstance(wanted, tu.Probability):
        outcomes = (outcomes < -0.5).astype(float)
    said = np.array([flat(f.value) for f in feed(tu.Calibrator(wanted), outcomes)])[-1_000:]
    sorted_draws = np.sort(rng.normal(size=200_000))
    if isinstance(wanted, tu.Probability):
        right = [0.3085]
    elif isinstance(wanted, tu.Mean | tu.Median):
        right = [0.0]
    elif isinstance(wanted, tu.Expectile):
        right = [-0.549]  # 0.2 E(y - x)+ = 0.8 E(x - y)+
    else:
        levels = getattr(wanted, "levels", None) or (wanted.level,)
        right = np.quantile(sorted_draws, levels)

    np.testing.assert_allclose(said.mean(axis=0), right, atol=0.12)


def test_quantiles_never_cross_in_what_is_issued():
    """Nineteen levels over outcomes that jump: every list is in order."""
    levels = [k / 20 for k in range(1, 20)]
    calibrator = tu.Calibrator(tu.Quantiles(levels), bounds=(0, 1))
    outcomes = np.where(np.arange(600) % 7 < 3, 0.1, uniform(5, 600, 0, 1))
    said = [forecast.value.values for forecast in feed(calibrator, outcomes)]

    assert all(list(values) == sorted(values) for values in said)


def test_the_streams_themselves_do_cross():
    """The companion: without putting them in order the same run would fail."""
    levels = [k / 20 for k in range(1, 20)]
    calibrator = tu.Calibrator(tu.Quantiles(levels), bounds=(0, 1))
    outcomes = np.where(np.arange(600) % 7 < 3, 0.1, uniform(5, 600, 0, 1))
    crossed = 0
    for outcome in outcomes:
        forecast = calibrator.predict()
        said = calibrator._open[forecast.id].said
        crossed += list(said) != sorted(said)
        calibrator.update(float(outcome))

    assert crossed > 0


@pytest.mark.parametrize("wanted", [*WANTED[:6], tu.Probability()], ids=repr)
def test_exact_issues_grid_values(wanted):
    """The number is the label, always, also before the range is known."""
    calibrator = tu.Calibrator(wanted, exact=True)
    rng = np.random.default_rng(4)
    for _ in range(400):
        forecast = calibrator.predict(float(rng.normal()))
        labels = np.atleast_1d(forecast.label).tolist()
        assert flat(forecast.value) == sorted(labels)
        calibrator.update(float(rng.integers(2)))
        if not forecast.guarded or isinstance(wanted, tu.Probability):
            continue
        low, width = calibrator.report().low, calibrator.report().high - calibrator.report().low
        for label, scale in zip(labels, np.atleast_1d(forecast.scale), strict=True):
            place = (label - low) / scale if scale <= width else 0.0
            assert place == pytest.approx(round(place), abs=1e-6)


def test_the_default_refines_inside_the_cell():
    """The companion: without `exact` most numbers are no bins, and none leaves its cell."""
    outcomes = uniform(4, 400)
    said = feed(tu.Calibrator(tu.Median(), bounds=(0, 10)), outcomes)

    assert sum(f.value != f.label for f in said) > 200
    assert all(abs(f.value - f.label) <= 2 * f.scale * (1 + 1e-12) for f in said)


def test_without_steering_the_users_number_is_issued_as_it_is():
    """A number inside the drawn cell is issued bit for bit, another one is moved to its end."""
    rng = np.random.default_rng(6)
    calibrator = tu.Calibrator(tu.Median(), bounds=(0, 10), steer=False)
    engine, kept, moved = calibrator._streams[0].engine, 0, 0
    for _ in range(500):
        raw = float(rng.uniform(2, 8))
        unrefined = engine.info().unrefined
        forecast = calibrator.predict(raw)
        calibrator.update(min(max(raw + float(rng.normal()), 0.0), 10.0))
        if engine.info().unrefined > unrefined:
            continue  # refining was overruled
        reach = 2 * forecast.scale
        if abs(raw - forecast.label) < reach:
            kept += 1
            assert forecast.value == raw
        elif abs(raw - forecast.label) > reach * (1 + 1e-9):
            moved += 1
            end = forecast.label + math.copysign(reach, raw - forecast.label)
            assert forecast.value == pytest.approx(min(max(end, 0.0), 10.0))
    assert kept > 300
    assert kept + moved > 350


def test_steering_moves_a_biased_forecast():
    """The companion: by default a forecast that is always 2 too low is moved by about 2."""
    rng = np.random.default_rng(6)
    outcomes = rng.uniform(4, 8, 600)
    said = feed(tu.Calibrator(tu.Median(), bounds=(0, 10)), outcomes, outcomes - 2.0)[-200:]

    assert np.median([f.value - f.raw for f in said]) == pytest.approx(2.0, abs=0.2)


def test_equal_seeds_give_equal_runs_and_others_do_not():
    """The draws depend on the seed."""
    outcomes = np.tile([0.0, 1.0, 0.3], 200)
    runs = [
        [f.value for f in feed(tu.Calibrator(tu.Median(), bounds=(0, 1), seed=seed), outcomes)]
        for seed in (1, 1, 2)
    ]

    assert runs[0] == runs[1]
    assert runs[0] != runs[2]


# --- looks, copies, text ---------------------------------------------------------------------


@pytest.mark.parametrize("wanted", **NAMES)
def test_a_look_is_what_predict_returns(wanted):
    """Two looks agree with each other and with the forecast, and change no run."""
    looked, plain = tu.Calibrator(wanted, seed=3), tu.Calibrator(wanted, seed=3)
    rng = np.random.default_rng(2)
    for t in range(120):
        raw = float(rng.normal()) if t % 3 else None
        groups = (f"g{t % 4}",)
        before = looked.report()._replace(nbytes=0), looked.group_report(), looked.open
        seen = [looked.peek(raw, groups=groups), looked.peek(raw, groups=groups)]
        after = looked.report()._replace(nbytes=0), looked.group_report(), looked.open
        forecast = looked.predict(raw, groups=groups)
        assert seen == [forecast, forecast] == [plain.predict(raw, groups=groups)] * 2
        assert after == before
        outcome = float(rng.integers(2))
        looked.update(outcome)
        plain.update(outcome)


def test_looks_at_other_forecasts_leave_no_trace():
    """Whatever was looked at before, the forecast is the same."""
    looked, plain = used(tu.Calibrator(tu.Median())), used(tu.Calibrator(tu.Median()))
    for raw in (None, 3.0, -50.0, 1e9):
        looked.peek(raw, groups=("one", "two"))

    assert looked.predict(0.2) == plain.predict(0.2)
    assert looked.group_report() == {}


def test_a_look_leaves_all_bytes_as_they_were():
    """Not even the room for a group that is only asked about, or what was drawn, stays."""
    calibrator = used(tu.Calibrator(tu.Median()))
    before, size = calibrator.to_bytes(), calibrator.report().nbytes
    calibrator.peek(0.7)
    calibrator.peek(0.7, groups=[f"group {k}" for k in range(20)])

    assert calibrator.to_bytes() == before
    assert calibrator.report().nbytes == size


def test_settings_are_kept_as_they_were_given():
    """No conversion, no copy."""
    wanted, bounds = tu.Quantile(0.9), (0, 500)
    settings = {
        "bounds": bounds,
        "seed": 7,
        "exact": True,
        "steer": False,
        "overrule": None,
        "strict": True,
        "c": 1,
        "window": 50,
        "max_open": 9,
        "max_groups": 3,
    }
    calibrator = tu.Calibrator(wanted, **settings)

    assert calibrator.wanted is wanted
    assert calibrator.bounds is bounds
    for name, value in settings.items():
        assert calibrator.settings()[name] is value


def test_a_clone_has_the_settings_and_has_seen_nothing():
    """And it goes its own way."""
    calibrator = used(tu.Calibrator(tu.Interval(0.8), seed=5, window=20))
    clone = calibrator.clone()

    assert repr(clone) == repr(calibrator)
    assert clone.to_bytes() == tu.Calibrator(tu.Interval(0.8), seed=5, window=20).to_bytes()
    before = calibrator.to_bytes()
    used(clone, seed=9)
    assert calibrator.to_bytes() == before


@pytest.mark.parametrize("wanted", **NAMES)
def test_the_text_of_a_calibrator_makes_it_again(wanted):
    """Its `repr` is the call that makes one like it."""
    names = {kind.__name__: kind for kind in map(type, WANTED)} | {"Calibrator": Calibrator}
    calibrator = tu.Calibrator(wanted, seed=3, exact=True, max_open=4)
    again = eval(repr(calibrator), names)  # noqa: S307 - the text is ours

    assert again.wanted == wanted
    assert again.settings() == calibrator.settings()


def test_only_one_open_forecast_needs_no_name():
    """With none or two open the outcome must say whose it is."""
    calibrator = tu.Calibrator(tu.Median(), bounds=(0, 1))
    with pytest.raises(UnknownForecast, match=r"Exactly one forecast must be open.*0 are open"):
        calibrator.update(0.5)
    calibrator.predict()
    calibrator.predict()
    with pytest.raises(UnknownForecast, match=r"Exactly one forecast must be open.*2 are open"):
        calibrator.update(0.5)
