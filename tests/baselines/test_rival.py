"""What all rivals share: forecasts, one sentence for bad input, readable names."""

import math

import pytest

from trueup import baselines
from trueup.baselines import (
    ACI,
    FACI,
    MVP,
    SAOCP,
    SFOGD,
    Calibeating,
    DecayingTracker,
    DtACI,
    FixedSplit,
    HedgedBins,
    IntegralTracker,
    InternalRegretGrid,
    OnlinePlatt,
    PSquare,
    QuantileTracker,
    TrailingWindow,
    WeightedQuantile,
    aci_bound,
    decaying_tracker_bound,
    gradient_scale,
    internal_regret_bound,
    tracker_bound,
)
from trueup.baselines._rival import miss_rate
from trueup.errors import InvalidArgument

CALLS = {
    "a level of 1": (lambda: ACI(1.0), "level must be strictly between 0 and 1"),
    "a level as text": (lambda: FACI("0.9"), "level must be a number"),
    "no step": (lambda: ACI(step=0.0), "step must be above 0"),
    "a burn-in in parts": (lambda: ACI(burn_in=1.5), "burn_in must be a whole number"),
    "no window": (lambda: ACI(window=0), "window must be at least 1"),
    "no decay": (lambda: ACI(decay=1.0), "decay must be strictly between"),
    "no mixing": (lambda: DtACI(mixing=0.0), "mixing must be strictly between"),
    "a rate below 0": (lambda: DtACI(rate=-1.0), "rate must be above 0"),
    "nothing to look back on": (lambda: DtACI(lookback=0), "lookback must be at least 1"),
    "no interval": (lambda: DtACI.tuned(interval=0), "interval must be at least 1"),
    "no memory": (lambda: QuantileTracker(memory=0), "memory must be at least 1"),
    "no gain": (lambda: IntegralTracker(gain=0.0), "gain must be above 0"),
    "steps that grow": (lambda: DecayingTracker(power=-1.0), "power must be inside"),
    "no scale": (lambda: SFOGD(scale=0.0), "scale must be above 0"),
    "a floor above the start": (lambda: SAOCP(floor=1.0), "floor must be 0 or less"),
    "no lifetime": (lambda: SAOCP(lifetime=0), "lifetime must be at least 1"),
    "one bucket": (lambda: MVP(buckets=1), "buckets must be at least 2"),
    "no interval for residuals": (lambda: MVP(low=1.0), "high must be above low = 1.0"),
    "no groups": (lambda: MVP(groups=0), "groups must be at least 1"),
    "a seed below 0": (lambda: MVP(seed=-1), "seed must be at least 0"),
    "no grid": (lambda: InternalRegretGrid(points=0), "points must be at least 1"),
    "no first residuals": (lambda: FixedSplit(first=0), "first must be at least 1"),
    "an empty window": (lambda: TrailingWindow(window=0), "window must be at least 1"),
    "no weights": (lambda: WeightedQuantile(decay=0.0), "decay must be strictly between"),
    "a level of 0": (lambda: PSquare(0), "level must be strictly between"),
    "no radius": (lambda: OnlinePlatt(radius=0.0), "radius must be above 0"),
    "no bins": (lambda: Calibeating(bins=0), "bins must be at least 1"),
    "a start outside": (lambda: Calibeating(start=2.0), "start must be inside"),
    "no cells": (lambda: HedgedBins(bins=0), "bins must be at least 1"),
    "no rounds": (lambda: aci_bound(0, level=0.9), "rounds must be at least 1"),
    "no bound without a step": (lambda: tracker_bound(9, step=0, largest=1), "step must be above"),
    "residuals below 0 in size": (
        lambda: decaying_tracker_bound(9, largest=-1.0),
        "largest must be 0 or more",
    ),
    "no points to bound": (lambda: internal_regret_bound(9, points=0), "points must be at least 1"),
    "residuals that are none": (lambda: gradient_scale(["a"]), "residuals must be numbers"),
    "no probability": (lambda: OnlinePlatt().predict(), "forecast must be a number, got None"),
    "an outcome nobody asked about": (
        lambda: OnlinePlatt().update(1),
        "forecast must be given to predict before update",
    ),
    "percent": (lambda: OnlinePlatt().predict(75), "forecast must be inside the interval"),
    "a residual outside": (lambda: MVP().update(1.5), "outcome - forecast must be inside"),
    "a residual too large to square": (lambda: SFOGD().update(1e200), "at most 1e+150 in size"),
}


@pytest.mark.parametrize("name", CALLS)
def test_bad_input_gets_one_sentence(name):
    """It names the argument and what must hold."""
    call, sentence = CALLS[name]
    with pytest.raises(InvalidArgument) as error:
        call()

    assert sentence in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("kind", baselines.THRESHOLDS, ids=lambda kind: kind.__name__)
def test_a_forecast_shifts_everything(kind):
    """Outcomes around a forecast are answered like their residuals without one."""
    plain, shifted = kind(0.75), kind(0.75)
    for number in range(60):
        residual, forecast = number * 7 % 64 / 64, 8.0 * number
        assert shifted.predict(forecast) == forecast + plain.predict()
        plain.update(residual)
        shifted.update(forecast + residual)


def test_the_forecast_asked_about_last_is_the_one_that_is_learned():
    """And without a question, none."""
    asked, plain = QuantileTracker(step=0.5), QuantileTracker(step=0.5)
    asked.predict(3.0)
    asked.predict(10.0)
    asked.update(10.5)
    plain.update(0.5)
    assert asked.threshold == plain.threshold

    asked.update(5.0)
    plain.update(5.0)

    assert asked.threshold == plain.threshold


def test_huge_residuals_stay_finite_or_infinite_but_are_never_nan():
    """Of either sign, up to the size that is accepted."""
    for kind in baselines.THRESHOLDS:
        if kind in (MVP, InternalRegretGrid):
            continue
        rival = kind(0.9)
        for number in range(40):
            rival.update((-1) ** number * 1e150)
            assert not math.isnan(rival.predict())


def test_the_miss_rate_is_written_as_the_level_is():
    """Also where floats are not."""
    assert [miss_rate(level) for level in (0.9, 0.95, 0.1, 0.3, 1e-7)] == [
        0.1,
        0.05,
        0.9,
        0.7,
        0.9999999,
    ]


def test_names_are_readable():
    """The class and its settings."""
    assert repr(ACI(0.9)) == "ACI(level=0.9, step=0.005, burn_in=0, decay=None)"
    assert repr(Calibeating(OnlinePlatt())) == (
        "Calibeating(base=OnlinePlatt(rate=0.1, diameter=1.0, radius=100.0), bins=10, start=0.5)"
    )
