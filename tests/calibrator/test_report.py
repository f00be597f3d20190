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
