"""What a calibrator says about itself, and what a reset leaves of it."""

import numpy as np
import pytest

import trueup as tu
from calibrator.support import feed, uniform, used


def test_reset_forgets_the_evidence_and_keeps_the_range():
    """The guarantee begins again: `since` is the round of the reset."""
    calibrator = used(tu.Calibrator(tu.Median()), rounds=200, scale=5.0)
    before = calibrator.report()
    calibrator.reset()
    after = calibrator.report()

    assert after.since == before.rounds == 202
    assert before.since == 1
    assert (after.low, after.high) == (before.low, before.high)
    assert calibrator.certificate() == 0.0
    assert before.certificate[0] > 0.0


def test_reset_before_the_range_is_known_begins_with_the_first_guarded_round():
    """There was no guarantee yet."""
    calibrator = tu.Calibrator(tu.Median())
    calibrator.reset()
    feed(calibrator, [1.0, 2.0, 3.0])

    assert calibrator.report().since == 1


def test_reset_forgets_what_putting_numbers_in_order_did():
    """With several levels nothing is left either."""
    calibrator = tu.Calibrator(tu.Quantiles([k / 10 for k in range(1, 10)]), bounds=(0, 1))
    feed(calibrator, uniform(1, 500, 0, 1))
    calibrator.reset()

    assert calibrator.certificate() == 0.0


def test_outcomes_of_forecasts_from_before_a_reset_teach_nothing():
    """They are taken, and the evidence stays empty."""
    calibrator = tu.Calibrator(tu.Quantiles([k / 10 for k in range(1, 10)]), bounds=(0, 1))
    feed(calibrator, uniform(1, 300, 0, 1))
    late = [calibrator.predict() for _ in range(40)]
    calibrator.reset()
    for forecast, outcome in zip(late, uniform(2, 40, 0, 1), strict=True):
        calibrator.update(float(outcome), forecast=forecast)

    assert calibrator.certificate() == 0.0
    assert calibrator.open == ()


def test_a_report_counts_and_scores_in_the_users_units():
    """Counts, share below, mean losses of what was said and of the user's own numbers."""
    rng = np.random.default_rng(8)
    outcomes, own = rng.uniform(0, 100, 300), rng.uniform(0, 100, 300)
    calibrator = tu.Calibrator(tu.Quantile(0.9), bounds=(0, 100))
    said = np.array([f.value for f in feed(calibrator, outcomes, own)])
    report = calibrator.report()
    pinball = [np.maximum(0.9 * (outcomes - x), 0.1 * (x - outcomes)).mean() for x in (said, own)]

    assert (report.rounds, report.scored, report.open, report.missing) == (300, 300, 0, 0)
    assert (report.low, report.high, report.clipped, report.doubled) == (0.0, 100.0, 0, 0)
    assert report.below[0] == pytest.approx((outcomes < said).mean())
    assert report.score[0] == report.compared_score[0] == pytest.approx(pinball[0])
    assert report.raw_score[0] == pytest.approx(pinball[1])
    assert report.certificate[0] == pytest.approx(calibrator.certificate() / 300)


def test_scores_of_several_levels_are_of_what_was_issued():
    """Put in order first, then scored."""
    levels = [k / 20 for k in range(1, 20)]
    calibrator = tu.Calibrator(tu.Quantiles(levels), bounds=(0, 1))
    outcomes = uniform(3, 400, 0, 1)
    said = np.array([f.value.values for f in feed(calibrator, outcomes)])
    error = outcomes[:, None] - said
    pinball = np.maximum(levels * error, (np.array(levels) - 1) * error).mean(axis=0)

    np.testing.assert_allclose(calibrator.report().below, (error < 0).mean(axis=0))
    np.testing.assert_allclose(calibrator.report().score, pinball)


# --- where and how often a forecast was overruled, and on what evidence --------------------------


def overruled_run(wanted=None, **settings):
    """Return a run whose model is far too low, and what it was made of."""
    outcomes = np.random.default_rng(4).uniform(5, 9, 400)
    wanted = tu.Interval(0.8) if wanted is None else wanted
    options = {"bounds": (0, 10), "steer": False, **settings}
    return outcomes, options, tu.calibrate(outcomes, wanted, forecasts=np.full(400, 3.0), **options)


def test_a_report_says_where_a_model_was_overruled():
    """The last rounds of them with what was drawn; all of them are rows of the frame."""
    _, _, run = overruled_run()
    rounds = np.flatnonzero(run.overruled)
    expected = [(int(t), float(run.labels[t, 0])) for t in rounds[-5:]]

    assert rounds.size > 100
    assert run.summary().overruled_last == tuple(expected)


@pytest.mark.parametrize("transform", [None, "asinh"])
def test_what_is_remembered_of_it_is_the_same_one_by_one_and_in_a_panel(transform):
    """And after bytes; in the user's units."""
    outcomes, options, run = overruled_run(transform=transform)
    calibrator = tu.Calibrator(tu.Interval(0.8), **options)
    for outcome in outcomes:
        calibrator.predict(3.0)
        calibrator.update(float(outcome))
    panel = tu.Panel(tu.Interval(0.8), **options)
    seed = panel._seed_of("a")
    rows = panel.run(["a"] * 400, outcomes, forecasts=[3.0] * 400)
    again = tu.calibrate(
        outcomes, tu.Interval(0.8), forecasts=[3.0] * 400, **options | {"seed": seed}
    )

    assert calibrator.report() == run.summary()
    assert rows.values.tolist() == again.values.tolist()
    copies = panel.calibrator("a"), tu.Panel.from_bytes(panel.to_bytes()).calibrator("a")
    for copy in copies:
        assert copy.report()._replace(nbytes=0) == again.summary()._replace(nbytes=0)


@pytest.mark.parametrize(("raw", "outcome", "side"), [(2.0, 9.0, "higher"), (9.0, 1.0, "lower")])
@pytest.mark.parametrize("wanted", [tu.Median(), tu.Quantile(0.9), tu.Mean()], ids=repr)
def test_evidence_points_to_where_outcomes_lie(wanted, raw, outcome, side):
    """The strongest first, in the user's units; money grows by a claim that fails."""
    calibrator = tu.Calibrator(wanted, bounds=(0, 10), steer=False)
    for _ in range(60):
        calibrator.predict(raw)
        calibrator.update(outcome)
    found = calibrator.evidence()

    assert found[0].outcomes == side
    assert found[0].grown > 1.5
    assert abs(found[0].label - raw) <= 2 * found[0].scale
    assert [one.grown for one in found] == sorted((one.grown for one in found), reverse=True)
    assert sum(one.certificate for one in found) <= calibrator.certificate() * (1 + 1e-9)
    assert calibrator.report().evidence == found[:3]
    assert tu.Calibrator(wanted).evidence() == ()


def test_coverage_counts_the_ends_of_an_interval():
    """As issued, moved numbers included; outcomes up to a number for all others."""
    rng = np.random.default_rng(5)
    outcomes, own = rng.integers(0, 5, 500).astype(float), rng.integers(0, 5, 500).astype(float)
    options = {"forecasts": own, "steer": False, "overrule": None}
    for side in ("both", "lower", "upper"):
        run = tu.calibrate(outcomes, tu.Interval(0.5, side=side), **options)
        lower, upper = (np.broadcast_to(end, 500) for end in run.forecasts)
        inside = ((lower <= outcomes) & (outcomes <= upper)).mean()
        assert run.summary().coverage == pytest.approx((inside,))
    run = tu.calibrate(outcomes, tu.Quantiles([0.4, 0.5, 0.6]), **options)
    up_to = (outcomes[:, None] <= run.values).mean(axis=0)
    assert run.summary().crossed > 0
    assert run.summary().coverage == pytest.approx(tuple(up_to))


def test_what_is_printed_can_be_read():
    """A line for each item, only settings that differ, no arrays."""
    _, _, run = overruled_run()
    text = str(run.summary())

    assert len(text.splitlines()) == len(run.summary()) + 3  # a line for each of three bins
    assert "money against it x" in text
    assert repr(run.calibrator) == (
        "Calibrator(Interval(coverage=0.8, side='both'), bounds=(0, 10), steer=False)"
    )
    assert "np.float64" not in repr(run.calibrator.predict(1.0))
    assert repr(run).startswith("CalibratedRun(400 rounds of Interval(coverage=0.8, side='both')")
    assert len(repr(tu.Panel(tu.Median()).run(["a"], [1.0]))) < 60
    assert repr(tu.Calibrator(tu.Median(), bounds=np.array([0.0, 1.0]))).endswith(
        "array([0., 1.]))"
    )
