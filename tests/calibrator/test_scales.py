"""Transforms, weights, and forecasts of another property."""

import math

import numpy as np
import pytest

import trueup as tu
from trueup.errors import InvalidArgument

HEAVY = np.exp(2 * np.random.default_rng(0).normal(size=3_000))


def stepped(calibrator, outcomes, **options):
    """Return what is said one by one."""
    said = []
    for t, outcome in enumerate(outcomes):
        said.append(calibrator.predict().value)
        calibrator.update(outcome, **{name: column[t] for name, column in options.items()})
    return said


@pytest.mark.parametrize("transform", ["log", "log1p", "asinh", (math.cbrt, lambda x: x**3)]
                         if hasattr(math, "cbrt") else ["log", "log1p", "asinh"])  # fmt: skip
def test_quantiles_on_another_scale_are_quantiles(transform):
    """Coverage is right, and both ways in say the same."""
    run = tu.calibrate(HEAVY, tu.Quantile(0.9), transform=transform)
    one = tu.Calibrator(tu.Quantile(0.9), transform=transform)

    assert abs(np.mean(run.values >= HEAVY) - 0.9) < 0.02
    assert run.values[:300].tolist() == stepped(one, HEAVY[:300])
    assert run.swap_regret() <= run.certificate


def test_the_users_own_number_comes_back_as_it_was():
    """Not as the inverse of a function of it."""
    calibrator = tu.Calibrator(tu.Median(), transform="log", steer=False)
    calibrator.predict(3.3)
    calibrator.update(3.0)

    assert calibrator.predict(3.3).value == 3.3


def test_transforms_refuse_what_they_cannot_take():
    """One sentence, and nothing changes."""
    calibrator = tu.Calibrator(tu.Median(), transform="log")
    calibrator.predict(1.0)
    before = calibrator.to_bytes()
    with pytest.raises(InvalidArgument, match="outcome must be above 0 for transform='log'"):
        calibrator.update(-1.0)
    with pytest.raises(InvalidArgument, match="forecast must be above 0"):
        calibrator.predict(0.0)
    assert calibrator.to_bytes() == before
    with pytest.raises(InvalidArgument, match=r"outcomes\[1\] must be above 0"):
        tu.calibrate([1.0, -1.0], tu.Median(), transform="log")
    for wrong in ("square", 3, (math.exp,)):
        with pytest.raises(InvalidArgument, match="transform must be"):
            tu.Calibrator(tu.Median(), transform=wrong)
    with pytest.raises(InvalidArgument, match="transform is for quantiles alone"):
        tu.Calibrator(tu.Mean(), transform="log")
    own = tu.Calibrator(tu.Median(), transform=(math.exp, math.log)).to_bytes()
    with pytest.raises(InvalidArgument, match="transform must be given again"):
        tu.Calibrator.from_bytes(own)


def test_weights_count_in_the_certificate_and_both_ways_in_agree():
    """The weighted swap regret stays under it."""
    weights = np.random.default_rng(1).uniform(0.1, 2.0, 1_000)
    outcomes = HEAVY[:1_000]
    run = tu.calibrate(outcomes, tu.Quantile(0.9), bounds=(0, 50), weights=weights, max_weight=2.0)
    one = tu.Calibrator(tu.Quantile(0.9), bounds=(0, 50), max_weight=2.0)

    assert run.values.tolist() == stepped(one, outcomes, weight=weights.tolist())
    assert run.swap_regret() <= run.certificate == pytest.approx(one.certificate())


def test_a_light_round_moves_the_evidence_less():
    """Sums of a round grow in proportion to its weight."""
    moved = []
    for weight in (1.0, 0.25):
        calibrator = tu.Calibrator(tu.Median(), bounds=(0, 1), steer=False)
        calibrator.predict(0.5)
        calibrator.update(0.9, weight=weight)
        engine = calibrator._streams[0].engine
        moved.append(np.abs(engine.wealth() / engine.wealth().max() - 1).max())

    assert moved[1] < moved[0]


@pytest.mark.parametrize("weight", [0.0, -1.0, math.nan, 1.5, "heavy"])
def test_wrong_weights_are_refused(weight):
    """And change nothing."""
    calibrator = tu.Calibrator(tu.Median())
    calibrator.predict(1.0)
    before = calibrator.to_bytes()
    with pytest.raises(InvalidArgument, match="weight must be"):
        calibrator.update(1.0, weight=weight)

    assert calibrator.to_bytes() == before
    with pytest.raises(InvalidArgument, match="weights"):
        tu.calibrate([1.0, 2.0], tu.Median(), weights=[1.0, weight])


def test_a_model_of_another_property_is_completed_by_its_errors():
    """A forecast of the mean is no quantile; said to be one, it is issued as it is."""
    rng = np.random.default_rng(2)
    own = rng.normal(50, 10, 3_000)
    outcomes = own + rng.normal(0, 5, 3_000)
    for options in ({"steer": False, "of": tu.Mean()}, {"of": tu.Mean()}):
        run = tu.calibrate(outcomes, tu.Quantile(0.9), forecasts=own, **options)

        assert abs(np.mean(outcomes <= run.values) - 0.9) < 0.02
        assert math.isnan(run.summary().raw_score[0])  # it has no score as a quantile
    with pytest.raises(InvalidArgument, match="of must be a property"):
        tu.Calibrator(tu.Median(), of="mean")
