"""Units: a range that is given, or learnt by doubling with nothing lost."""

import math

import numpy as np
import pytest

import trueup as tu
from calibrator.support import feed, plain_regret
from trueup.errors import InvalidArgument


def normal(seed, rounds):
    """Return standard normal outcomes."""
    return np.random.default_rng(seed).normal(size=rounds)


def test_the_first_range_holds_the_first_outcome_and_is_doubled():
    """Every later range contains the one before, and all outcomes."""
    calibrator, before = tu.Calibrator(tu.Median()), (math.inf, -math.inf)
    outcomes = [3.0, 3.5, -40.0, 7.0, 5e5, -5e5]
    for t, outcome in enumerate(outcomes):
        calibrator.predict()
        calibrator.update(outcome)
        report = calibrator.report()
        assert report.low <= min(outcomes[: t + 1])
        assert max(outcomes[: t + 1]) <= report.high
        assert report.low <= before[0]
        assert before[1] <= report.high
        before = report.low, report.high
    width = math.log2((before[1] - before[0]) / (2 * 2.0**-8))

    assert width == report.doubled > 20


@pytest.mark.parametrize("factor", [5.0, 1000.0])
@pytest.mark.parametrize("wanted", [tu.Quantile(0.9), tu.Median()], ids=repr)
def test_nothing_is_lost_when_the_range_doubles(wanted, factor):
    """Sums of every visited bin keep their rounds through five changes of scale."""
    outcomes = normal(1, 1_200) * factor ** (np.arange(1_200) // 200 % 2)
    calibrator = tu.Calibrator(wanted)
    for t, outcome in enumerate(outcomes):
        calibrator.predict()
        calibrator.update(float(outcome))
        seen = calibrator._streams[0].engine.visited()[2]
        assert seen[:, 0].sum() == t  # all but the first, which had no range
    assert calibrator.report().doubled > 0
    assert calibrator.report().since == 1


def test_for_squared_losses_the_evidence_starts_again():
    """The companion: their unit changes with the range, and `since` says so."""
    outcomes = normal(1, 400) * 1000.0 ** (np.arange(400) // 200)
    calibrator = tu.Calibrator(tu.Mean())
    feed(calibrator, outcomes)
    report = calibrator.report()

    assert report.since > 200
    assert calibrator._streams[0].engine.visited()[2][:, 0].sum() == 400 - report.since


@pytest.mark.parametrize("factor", [5.0, 1000.0])
def test_coverage_comes_back_after_every_change_of_scale(factor):
    """In the second half of each stretch about nine in ten outcomes are below."""
    stretch = np.arange(6_000) // 1_000
    outcomes = normal(2, 6_000) * factor ** (stretch % 2)
    run = tu.calibrate(outcomes, tu.Quantile(0.9))
    below = outcomes <= run.values

    for k in range(6):
        assert 0.83 <= below[(stretch == k) & (np.arange(6_000) % 1_000 >= 500)].mean() <= 0.97


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e12, -1e12])
@pytest.mark.parametrize("wanted", [tu.Quantile(0.9), tu.Mean(), tu.Interval(0.8)], ids=repr)
def test_the_unit_of_the_outcomes_does_not_matter(wanted, unit):
    """A tiny, a huge and a negative unit: the same numbers in that unit, nearly."""
    outcomes = 5.0 + normal(3, 800)
    said = tu.calibrate(outcomes * abs(unit) * 2.0, wanted, seed=1)
    usual = tu.calibrate(outcomes * 2.0, wanted, seed=1)

    assert np.isfinite(said.values).all()
    scaled = said.values[-400:].mean(axis=0) / abs(unit)
    np.testing.assert_allclose(scaled, usual.values[-400:].mean(axis=0), rtol=0.05)
    if unit < 0:
        mirror = tu.calibrate(outcomes * unit * 2.0, wanted, seed=1)
        assert np.all(mirror.values[1:] < 0)


def test_powers_of_two_change_no_bit():
    """In units of 1/1024 every number is the same, divided by 1024."""
    outcomes = normal(3, 500)
    run, fine = (tu.calibrate(outcomes * unit, tu.Median(), seed=1) for unit in (1.0, 2.0**-10))

    np.testing.assert_array_equal(fine.values * 1024.0, run.values)
    np.testing.assert_array_equal(fine.labels * 1024.0, run.labels)


@pytest.mark.parametrize("constant", [0.0, 5.0, -3e12, 1e-9])
def test_a_constant_is_found(constant):
    """The forecasts come to it, whatever its size."""
    for wanted in (tu.Median(), tu.Mean(), tu.Quantile(0.9)):
        run = tu.calibrate(np.full(300, constant), wanted)
        assert run.values[-1] == pytest.approx(constant, rel=1e-3, abs=1e-4)
        assert run.summary().doubled == 0


def test_bounds_that_are_left_clip_and_are_counted():
    """What lies outside is learned as if it lay at the end."""
    clipped = tu.calibrate([0.5, 3.0, -1.0, 1.0] * 50, tu.Median(), bounds=(0, 1))
    inside = tu.calibrate([0.5, 1.0, 0.0, 1.0] * 50, tu.Median(), bounds=(0, 1), steer=False)
    alike = tu.calibrate([0.5, 3.0, -1.0, 1.0] * 50, tu.Median(), bounds=(0, 1), steer=False)

    assert clipped.summary().clipped == 100
    assert inside.summary().clipped == 0
    assert (clipped.summary().low, clipped.summary().high) == (0.0, 1.0)
    assert np.all((clipped.values >= 0) & (clipped.values <= 1))
    np.testing.assert_array_equal(alike.labels, inside.labels)


def test_strict_bounds_raise_and_leave_all_as_it_was():
    """The forecast stays open and can be answered."""
    calibrator = tu.Calibrator(tu.Median(), bounds=(0, 1), strict=True)
    calibrator.predict()
    before = calibrator.to_bytes()
    for outcome in (1.5, -0.5):
        with pytest.raises(InvalidArgument, match=r"outcome must be inside the bounds \[0"):
            calibrator.update(outcome)
    assert calibrator.to_bytes() == before
    calibrator.update(1.0)
    with pytest.raises(InvalidArgument, match=r"outcomes must be inside.*got 1\.5 at index 1"):
        tu.calibrate([0.5, 1.5], tu.Median(), bounds=(0, 1), strict=True)


def test_a_reset_keeps_what_is_known_of_the_range():
    """And the range goes on growing from there."""
    calibrator = tu.Calibrator(tu.Median())
    feed(calibrator, [1.0, 100.0, -100.0])
    low, high = calibrator.report().low, calibrator.report().high
    calibrator.reset()
    feed(calibrator, [5.0, 2 * high])

    assert calibrator.report().low <= low
    assert calibrator.report().high >= 2 * high


@pytest.mark.parametrize(
    "wanted", [tu.Median(), tu.Quantile(0.9), tu.Mean(), tu.Interval(0.8)], ids=repr
)
@pytest.mark.parametrize(
    "outcomes",
    [
        [0.0, 1000.0],
        [0.0, 1.0, 0.0, 1000.0],
        [2.0**k for k in range(30)],
        [(-2.0) ** k for k in range(30)],
        [0.0, 1.0] * 200 + [3000.0],
    ],
    ids=["one jump", "a late jump", "doubling", "both ways", "a jump at the end"],
)
def test_the_certificate_holds_while_the_range_is_learnt(wanted, outcomes):
    """An outcome beyond the range counts with all that it could have cost."""
    run = tu.calibrate(outcomes, wanted)
    since = run.summary().since
    keys = np.column_stack([run.labels.reshape(len(outcomes), -1), run.scales.reshape(
        len(outcomes), -1)])  # fmt: skip
    parts = [tu.Quantile(level) for level in getattr(wanted, "levels", ())] or [wanted]
    regret = sum(
        plain_regret(
            part,
            run.values.reshape(len(outcomes), -1)[since:, k],
            np.array(outcomes)[since:],
            list(map(tuple, keys[since:, [k, k + len(parts)]])),
        )
        for k, part in enumerate(parts)
    )

    assert regret <= run.certificate * (1 + 1e-9)
    assert run.swap_regret() <= run.certificate * (1 + 1e-9)


def test_late_outcomes_survive_huge_jumps_of_scale():
    """Forecasts opened in another unit are answered, and all numbers stay finite."""
    for wanted in (tu.Median(), tu.Mean(), tu.Interval(0.8)):
        calibrator = tu.Calibrator(wanted)
        feed(calibrator, [0.0, 1e-3])
        old, other = calibrator.predict(), calibrator.predict()
        calibrator.update(1e40, forecast=other)
        other = calibrator.predict()
        calibrator.update(-1e80, forecast=other)
        calibrator.update(1e-3, forecast=old)
        feed(calibrator, [1.0] * 20)
        assert np.isfinite(calibrator.certificate())
        assert calibrator.certificate() >= 0
        assert calibrator.open == ()
