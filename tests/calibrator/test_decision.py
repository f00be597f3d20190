"""Decisions with a convex cost, and losses handed to update."""

import math

import numpy as np
import pytest

import trueup as tu
from trueup.errors import InvalidArgument
from trueup.losses import Absolute, Convex

DEMAND = np.minimum(np.random.default_rng(0).gamma(9, 5, 1_200), 100.0)


def newsvendor(stock, demand):
    """Four for each one missing, one for each one left over."""
    return 4.0 * max(demand - stock, 0.0) + 1.0 * max(stock - demand, 0.0)


def steps(stock, demand):
    """The one-sided slopes of the same."""
    return (1.0 if stock > demand else -4.0), (1.0 if stock >= demand else -4.0)


def quartic(stock, demand):
    """A smooth cost."""
    return ((stock - demand) / 100.0) ** 4


def test_the_newsvendor_orders_the_quantile_that_its_costs_ask_for():
    """Least cost is at the 80 % quantile; the cost comes close to that of the best constant."""
    calibrator = tu.Calibrator(tu.Decision(newsvendor), bounds=(0, 100))
    costs = []
    for demand in DEMAND:
        costs.append(newsvendor(calibrator.predict().value, demand))
        calibrator.update(demand)
    best = min(np.mean([newsvendor(s, d) for d in DEMAND]) for s in np.arange(40.0, 75.0))

    assert np.mean(costs) <= 1.05 * best
    assert calibrator.predict().value == pytest.approx(np.quantile(DEMAND, 0.8), abs=6)


def test_slopes_given_and_slopes_from_differences_agree():
    """Up to the width of the difference."""
    given, taken = (tu.Decision(newsvendor, s, lipschitz=4.0) for s in (steps, None))
    for place in (0.0, 0.2, 0.51, 1.0):
        for demand in (0.0, 30.0, 77.0):
            pair = [d.loss(demand, 0.0, 100.0).slopes(place) for d in (given, taken)]

            assert pair[0] == pytest.approx(pair[1], abs=1e-6)


def test_the_steepest_slope_is_found_where_it_is_not_given():
    """At an end of the bounds; the derivative of the quartic is 4 / 100 there."""
    assert tu.Decision(newsvendor).steepest(0.0, 100.0) == pytest.approx(4.0, rel=1e-5)
    assert tu.Decision(quartic).steepest(0.0, 100.0) == pytest.approx(0.04, rel=1e-3)


def test_a_bad_model_is_moved_and_a_good_one_kept():
    """A model that orders the mean is moved up; one that orders right stays near its cost."""
    rng = np.random.default_rng(1)
    costs = {"mean": [0.0, 0.0], "right": [0.0, 0.0]}
    for name, share in (("mean", 1.0), ("right", 1.25)):
        calibrator = tu.Calibrator(tu.Decision(newsvendor), bounds=(0, 150))
        for t in range(1_000):
            level = 40 + 20 * math.sin(t / 50)
            demand = min(rng.gamma(9, level / 9), 150.0)
            forecast = calibrator.predict(level * share)
            calibrator.update(demand)
            costs[name][0] += newsvendor(level * share, demand)
            costs[name][1] += newsvendor(forecast.value, demand)

    assert costs["mean"][1] < 0.9 * costs["mean"][0]
    assert costs["right"][1] < 1.03 * costs["right"][0]


def test_the_certificate_bounds_the_swap_regret_of_decisions():
    """In the units of the cost, against demand that reacts to the mixture."""
    calibrator = tu.Calibrator(tu.Decision(newsvendor), bounds=(0, 100), exact=True)
    said, costs = [], []
    for _ in range(600):
        forecast = calibrator.predict()
        middle = np.dot(forecast.support, forecast.probabilities)
        demand = 100.0 if middle < 50 else 0.0
        calibrator.update(demand)
        said.append(forecast.value)
        costs.append(demand)
    regret = 0.0
    for value in set(said):
        own = [d for s, d in zip(said, costs, strict=True) if s == value]
        totals = [sum(newsvendor(s, d) for d in own) for s in (value, 0.0, 100.0)]
        regret += totals[0] - min(totals)

    assert 0 < regret <= calibrator.certificate()
    assert regret < 3 * 400 * math.sqrt(600)


def test_whole_arrays_are_the_same_as_one_by_one():
    """Values and swap regret."""
    decision = tu.Decision(newsvendor)
    run = tu.calibrate(DEMAND[:300], decision, bounds=(0, 100))
    calibrator, said = tu.Calibrator(decision, bounds=(0, 100)), []
    for demand in DEMAND[:300]:
        said.append(calibrator.predict().value)
        calibrator.update(demand)

    assert run.values.tolist() == said
    assert run.swap_regret() <= run.certificate == calibrator.certificate()


def test_any_loss_can_be_handed_to_update():
    """On [0, 1] those of the library; in other units one's own."""
    calibrator = tu.Calibrator(tu.Decision(lipschitz=1.0), bounds=(0, 1))
    for value in np.random.default_rng(2).beta(2, 8, 400):
        forecast = calibrator.predict()
        calibrator.update(loss=Absolute(float(value)))

    assert abs(forecast.value - 0.18) < 0.06


def test_a_saved_decision_needs_its_functions_again():
    """They are not stored; with them it goes on bit for bit."""
    decision = tu.Decision(newsvendor)
    calibrator = tu.Calibrator(decision, bounds=(0, 100))
    for demand in DEMAND[:50]:
        calibrator.predict(40.0)
        calibrator.update(demand)
    data = calibrator.to_bytes()
    with pytest.raises(InvalidArgument, match="wanted must be given again"):
        tu.Calibrator.from_bytes(data)
    again = tu.Calibrator.from_bytes(data, decision)

    assert again.peek(41.0) == calibrator.peek(41.0)


BENT = Convex(lambda p: p, lambda p: 1.0, lipschitz=5.0)


@pytest.mark.parametrize(
    ("act", "sentence"),
    [
        (lambda c: c.update(math.inf), "outcome must be finite"),
        (lambda c: c.update(3.0, loss=Absolute(0.5)), "an outcome or a loss, got both"),
        (lambda c: c.update(loss="cost"), "loss must be"),
        (lambda c: c.update(loss=BENT), "loss must be of slopes up to"),
        (lambda c: c.update(3.0, weight=2.0), "weight must be at most"),
    ],
)
def test_wrong_input_is_refused_and_changes_nothing(act, sentence):
    """One sentence each."""
    calibrator = tu.Calibrator(tu.Decision(newsvendor), bounds=(0, 100))
    calibrator.predict()
    before = calibrator.to_bytes()
    with pytest.raises(InvalidArgument, match=sentence):
        act(calibrator)

    assert calibrator.to_bytes() == before


def test_a_cost_that_is_not_convex_is_refused():
    """Where one looks; and wrong settings."""
    calibrator = tu.Calibrator(
        tu.Decision(lambda p, y: -abs(p - y), lipschitz=1.0), bounds=(0, 100)
    )
    calibrator.predict()
    before = calibrator.to_bytes()
    with pytest.raises(InvalidArgument, match="slopes must be non-decreasing"):
        calibrator.update(50.0)

    assert calibrator.to_bytes() == before
    with pytest.raises(InvalidArgument, match="bounds must be given"):
        tu.Calibrator(tu.Decision(newsvendor))
    with pytest.raises(InvalidArgument, match="lipschitz must be given"):
        tu.Decision()
    other = tu.Calibrator(tu.Median())
    other.predict()
    with pytest.raises(InvalidArgument, match="A loss can be given to a calibrator of a Decision"):
        other.update(loss=Absolute(0.5))
