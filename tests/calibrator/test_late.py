"""Outcomes that come late, in any order, or never."""

import math

import numpy as np
import pytest

import trueup as tu
from calibrator.support import feed, used
from trueup.errors import UnknownForecast


def test_any_number_may_be_open_and_answered_in_any_order():
    """Fifty are open; each is closed by its own answer."""
    rng = np.random.default_rng(0)
    calibrator = tu.Calibrator(tu.Interval(0.8))
    waiting = [calibrator.predict(float(k)) for k in range(50)]
    rng.shuffle(waiting)
    for k, forecast in enumerate(waiting):
        calibrator.update(float(forecast.id) + 0.5, forecast=forecast)
        assert len(calibrator.open) == 49 - k
        assert forecast.id not in calibrator.open
    report = calibrator.report()

    assert (report.rounds, report.scored, report.open, report.unguarded) == (50, 50, 0, 50)


def test_open_forecasts_are_listed_oldest_first():
    """By their ids, which count the rounds."""
    calibrator = tu.Calibrator(tu.Median(), bounds=(0, 1))
    ids = [calibrator.predict().id for _ in range(5)]
    calibrator.skip(2)

    assert ids == [0, 1, 2, 3, 4]
    assert calibrator.open == (0, 1, 3, 4)


@pytest.mark.parametrize("bounds", [(-5, 5), None], ids=["bounded", "learnt"])
def test_late_outcomes_settle_to_the_same_evidence(bounds):
    """Every answered guarded round is in the sums, whatever the delays."""
    rng = np.random.default_rng(1)
    calibrator = tu.Calibrator(tu.Median(), bounds=bounds)
    feed(calibrator, [0.5])
    waiting, settled = [], 1 if bounds else 0
    for _ in range(400):
        waiting.append(calibrator.predict(float(rng.normal())))
        while waiting and rng.uniform() < 0.45:
            forecast = waiting.pop(rng.integers(len(waiting)))
            calibrator.update(float(rng.normal() * 3), forecast=forecast)
            settled += 1
    for forecast in waiting:
        calibrator.skip(forecast)
    engine = calibrator._streams[0].engine

    assert engine.visited()[2][:, 0].sum() == settled
    assert engine.info().open == 0


WRONG = {
    "answered": (lambda c, f: f, r"Forecast 0 has been answered already"),
    "never made": (lambda c, f: 99, r"There is no forecast 99"),
    "negative": (lambda c, f: -1, r"There is no forecast -1"),
    "text": (lambda c, f: "0", r"There is no forecast '0'"),
    "a truth": (lambda c, f: True, r"There is no forecast True"),
    "a list": (lambda c, f: [1], r"There is no forecast \[1\]"),
    "a float": (lambda c, f: 1.0, r"There is no forecast 1\.0"),
    "no choice": (lambda c, f: None, r"Exactly one forecast must be open"),
}


@pytest.mark.parametrize("case", WRONG)
@pytest.mark.parametrize("way", ["update", "skip"])
def test_a_wrong_id_is_refused_and_changes_nothing(case, way):
    """One sentence, the same bytes as before."""
    which, sentence = WRONG[case]
    calibrator = tu.Calibrator(tu.Quantiles([0.1, 0.9]), bounds=(0, 1))
    first = calibrator.predict(0.5)
    calibrator.update(0.5)
    calibrator.predict()
    calibrator.predict()
    before, name = calibrator.to_bytes(), which(calibrator, first)

    with pytest.raises(UnknownForecast, match=sentence):
        calibrator.update(0.3, forecast=name) if way == "update" else calibrator.skip(name)
    assert calibrator.to_bytes() == before


def test_numpy_ids_are_ids():
    """A whole number is one, of whatever kind."""
    calibrator = tu.Calibrator(tu.Median(), bounds=(0, 1))
    calibrator.predict()
    calibrator.predict()
    calibrator.update(0.5, forecast=np.int64(1))

    assert calibrator.open == (0,)


def test_the_oldest_forecast_expires_when_too_many_are_open():
    """It is counted, closed, and a late answer to it is refused."""
    calibrator = tu.Calibrator(tu.Median(), bounds=(0, 1), max_open=3)
    for _ in range(5):
        calibrator.predict(0.5)
    before = calibrator.to_bytes()

    assert calibrator.open == (2, 3, 4)
    assert calibrator.report().expired == calibrator.report().missing == 2
    for expired in (0, 1):
        with pytest.raises(UnknownForecast, match=f"Forecast {expired} has expired"):
            calibrator.update(0.5, forecast=expired)
    assert calibrator.to_bytes() == before
    again = tu.Calibrator.from_bytes(before)
    with pytest.raises(UnknownForecast, match="Forecast 1 has expired"):
        again.update(0.5, forecast=1)


def test_giving_up_is_skipping_the_oldest_once_the_new_one_is_open():
    """The mixture was chosen while its stakes were out, so they come back after it."""
    given_up = tu.Calibrator(tu.Median(), bounds=(0, 1), max_open=2, steer=False)
    by_hand = tu.Calibrator(tu.Median(), bounds=(0, 1), steer=False)
    rng = np.random.default_rng(4)
    for t in range(600):
        one, two = given_up.predict(), by_hand.predict()
        assert one == two
        if len(by_hand.open) > 2:
            by_hand.skip(by_hand.open[0])
        assert given_up.open == by_hand.open
        if t % 3 == 0:
            outcome = float(rng.uniform())
            given_up.update(outcome, forecast=one)
            by_hand.update(outcome, forecast=two)
    assert given_up.certificate() == by_hand.certificate()


def test_forecasts_that_are_never_answered_do_not_pile_up():
    """With `max_open` the state stays as small as it was."""
    calibrator, sizes = tu.Calibrator(tu.Median(), bounds=(0, 1), max_open=4), []
    for _ in range(4):
        for _ in range(1_500):
            calibrator.predict(0.5)
        sizes.append(len(calibrator.to_bytes()))

    assert sizes[-1] - sizes[1] < 200
    assert calibrator.report().expired == 6_000 - 4


@pytest.mark.parametrize(
    "nothing", [None, math.nan, np.nan, np.float64("nan"), np.float32("nan")], ids=repr
)
def test_a_missing_outcome_is_counted_and_teaches_nothing(nothing):
    """As `skip` does."""
    missed, skipped = (used(tu.Calibrator(tu.Interval(0.8)), seed=3) for _ in range(2))
    oldest = missed.open[0]
    missed.update(nothing, forecast=oldest)
    skipped.skip(oldest)

    assert missed.to_bytes() == skipped.to_bytes()
    assert missed.report().missing == 1
    assert missed.report().scored == 40


def test_runs_with_missing_outcomes_differ_in_nothing_else():
    """A stream with gaps learns as if the rounds between had been skipped."""
    rng = np.random.default_rng(5)
    outcomes = rng.normal(size=300)
    outcomes[rng.uniform(size=300) < 0.3] = np.nan
    gaps, by_hand = tu.Calibrator(tu.Median()), tu.Calibrator(tu.Median())
    for outcome in outcomes:
        assert gaps.predict(0.1) == by_hand.predict(0.1)
        gaps.update(outcome)
        if np.isnan(outcome):
            by_hand.skip()
        else:
            by_hand.update(float(outcome))

    assert gaps.to_bytes() == by_hand.to_bytes()
    assert gaps.report().missing == np.isnan(outcomes).sum()
