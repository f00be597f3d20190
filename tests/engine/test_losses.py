"""Any convex loss: what the kernels see of it is what the loss object says."""

import math

import numpy as np
import pytest

from reference.wealth import claims
from trueup import Expectile, Mean, Median, Quantile
from trueup._kernels import _engine as kernels
from trueup.checks import check_forecaster
from trueup.engine import Engine
from trueup.engine._losses import encode
from trueup.errors import InvalidArgument
from trueup.losses import (
    Absolute,
    AsymmetricSquared,
    Convex,
    Huber,
    Linear,
    PiecewiseLinear,
    Pinball,
    Scaled,
    Squared,
    v_shaped,
)
from trueup.metrics import swap_regret
from trueup.replay import play


def kinked(v, count=4):
    """Return a loss with a few knots around v, and random slopes."""
    rng = np.random.default_rng(int(1e6 * v))
    knots = np.unique(np.clip(v + 0.2 * rng.normal(size=count), 0.01, 0.99))
    return PiecewiseLinear(knots, np.sort(rng.uniform(-1, 1, knots.size + 1)))


def own(v):
    """Return a user's own loss, known by two functions alone."""
    return Convex(lambda p: (p - v) ** 4, lambda p: 4 * (p - v) ** 3, lipschitz=4.0)


def own_pointed(v):
    """Return a user's own loss that is an absolute one, with both slopes at its kink."""
    sides = lambda p: (-1.0 if p <= v else 1.0, -1.0 if p < v else 1.0)  # noqa: E731
    return Convex(lambda p: abs(p - v), sides, lipschitz=1.0)


COMPILED = {
    "absolute": Absolute,
    "pinball": lambda v: Pinball(v, 0.9),
    "squared": Squared,
    "asymmetric": lambda v: AsymmetricSquared(v, 0.8),
    "huber": lambda v: Huber(v, 0.2),
    "wide huber": lambda v: Huber(v, 1.5),
    "kinked": kinked,
    "linear": lambda v: Linear(v - 0.5 or 0.1),
}
LOSSES = COMPILED | {
    "own": own,
    "own pointed": own_pointed,
    "many knots": lambda v: kinked(v, 9),
    "scaled": lambda v: Scaled(Absolute(v), 0.5),
}
STEEP = {"kinked": 1.0, "many knots": 1.0, "linear": 1.0}


def sides(loss):
    """Return the slopes before and after the kink of a loss that has one kink at most."""
    if isinstance(loss, Linear):
        return loss.c, loss.c
    return (-loss.q, 1 - loss.q) if isinstance(loss, Pinball) else (-1.0, 1.0)


def seen_of(loss, steepest, b, r):
    """Return Pr[v > b+2r], Pr[v < b-2r], Pr[v >= b], Pr[v <= b] by lemma 2.1.

    Losses of one kink that the kernels know go on beyond the ends of the interval, since the range
    of a stream may grow: then v need not be inside.
    """
    law = v_shaped(loss, steepest)
    seen = [1 - law.cdf(b + 2 * r), law.cdf_left(b - 2 * r), 1 - law.cdf_left(b), law.cdf(b)]
    if not isinstance(loss, Absolute | Pinball | Linear):
        return seen
    below, above = ((1 + side / steepest) / 2 for side in sides(loss))
    outside = [1 - above, below, 1 - below, above]
    beyond = [b + 2 * r >= 1, b - 2 * r <= 0, b <= 0, b >= 1]
    return [o if far else s for o, far, s in zip(outside, beyond, seen, strict=True)]


def encoded(loss, steepest):
    """Return a loss as the kernels know it."""
    row = np.full(kernels.LOSS, math.nan)
    assert encode(loss, steepest, row)
    return row


def places(loss, rng):
    """Return points of [0, 1], the places where a slope may jump among them."""
    jumps = [getattr(loss, "v", 0.5), *getattr(loss, "knots", [])]
    return [0.0, 1.0, 0.25, 0.5, 0.75, *map(float, jumps), *rng.uniform(size=6).tolist()]


@pytest.mark.parametrize("name", COMPILED)
def test_a_row_is_the_loss(name):
    """Differences of values and one-sided slopes inside (0, 1), to 1e-12."""
    rng = np.random.default_rng(1)
    for v in (0.0, 1.0, 0.25, *rng.uniform(size=30).tolist()):
        loss = COMPILED[name](v)
        row = encoded(loss, 2.0)
        for x in places(loss, rng):
            left, right = loss.slopes(x)
            if x > 0:
                assert kernels.slope(row, x, from_right=False) == pytest.approx(left, abs=1e-12)
            if x < 1:
                assert kernels.slope(row, x, from_right=True) == pytest.approx(right, abs=1e-12)
            for base in places(loss, rng):
                difference = (loss.value(x) - loss.value(base)) / 2.0
                assert kernels.more(row, x, base) == pytest.approx(difference, abs=1e-12)


@pytest.mark.parametrize("name", COMPILED)
def test_what_is_seen_of_a_row_is_the_law_of_its_kinks(name):
    """The four probabilities of every pair of a grid, from lemma 2.1."""
    out = np.zeros(4)
    for v in (0.0, 1.0, 0.25, 0.3125, 0.77):
        loss = COMPILED[name](v)
        row = encoded(loss, 2.5)
        for level in range(5):
            for place in range(2**level + 1):
                r, b = 0.5**level, place * 0.5**level
                kernels.observe(row, level, place, out)
                np.testing.assert_allclose(out, seen_of(loss, 2.5, b, r), atol=1e-12)


def test_a_row_with_its_sides_exchanged_is_another_loss():
    """The companion: the comparisons see it."""
    row = encoded(Pinball(0.3, 0.9), 1.0)
    row[[kernels.FIRST, kernels.SECOND]] = -row[[kernels.SECOND, kernels.FIRST]]
    out = np.zeros(4)
    kernels.observe(row, 2, 1, out)

    assert abs(kernels.slope(row, 0.5, from_right=True) - Pinball(0.3, 0.9).slopes(0.5)[1]) > 0.5
    assert abs(kernels.more(row, 0.9, 0.1) - Pinball(0.1, 0.9).value(0.9)) > 0.1
    assert abs(out[3] - v_shaped(Pinball(0.3, 0.9), 1.0).cdf(0.25)) > 0.1


@pytest.mark.parametrize("name", LOSSES)
def test_any_convex_loss_will_do(name):
    """The contract of forecasters, and a certificate above swap regret by pair."""
    rng = np.random.default_rng(5)
    losses = [LOSSES[name](float(v)) for v in rng.choice([0.1, 0.4, 0.45, 0.9], 400)]
    check_forecaster(lambda: Engine(seed=2, lipschitz=STEEP.get(name)), losses)
    engine = Engine(seed=2, lipschitz=STEEP.get(name))
    record = play(engine, losses)

    assert 0 <= swap_regret(record) <= engine.certificate() * (1 + 1e-9)


@pytest.mark.parametrize("name", LOSSES)
def test_sums_are_those_of_the_law_of_the_kinks(name):
    """Round by round: what the drawn pair saw is the law of lemma 2.1 at its thresholds."""
    rng, engine = np.random.default_rng(6), Engine(seed=3, lipschitz=4.0)
    sums = {}
    for v in rng.uniform(size=60):
        forecast, loss = engine.predict(), LOSSES[name](float(v))
        engine.update(loss)
        b, r = forecast.label, forecast.scale
        seen = [1.0, *seen_of(loss, 4.0, b, r)]
        sums[b, r] = sums.get((b, r), 0) + np.array(seen)
    bins, scales, found = engine.visited()

    assert list(sums) == list(zip(bins.tolist(), scales.tolist(), strict=True))
    np.testing.assert_allclose(found, list(sums.values()), atol=1e-9)


def test_wealth_moves_by_the_claims_of_the_law():
    """One round of each kind: bettors gain eta times what their claim was off by."""
    for name, make in LOSSES.items():
        engine = Engine(seed=4, lipschitz=4.0)
        forecast = engine.predict()
        engine.update(make(0.3))
        level, place = round(-math.log2(forecast.scale)), round(forecast.label / forecast.scale)
        off = claims(level, place, 2, v_shaped(make(0.3), 4.0))
        for k, xi in enumerate((2, -2, 1, -1)):
            rate = kernels.FRESH * off.get(xi, 0.0)
            assert engine.wealth()[0, k] == pytest.approx(0.125 * (1 + rate), abs=1e-12), name


@pytest.mark.parametrize("wanted", [Median(), Quantile(0.2), Mean(), Expectile(0.7)], ids=repr)
def test_a_whole_array_of_losses_is_an_array_of_outcomes(wanted):
    """`play_losses` and `play` give the same bits, and so do steps."""
    outcomes = np.random.default_rng(7).uniform(size=300)
    losses = [wanted.loss(v) for v in outcomes.tolist()]
    one, two, three = Engine(seed=5), Engine(seed=5), Engine(seed=5)
    said = one.play(outcomes, wanted).forecasts

    np.testing.assert_array_equal(two.play_losses(losses).forecasts, said)
    np.testing.assert_array_equal(play(three, losses).forecasts, said)
    assert one.to_bytes() == two.to_bytes()
    assert one.info() == three.info()


def test_mixed_losses_in_an_array_are_the_same_as_in_steps():
    """All compiled kinds in turn, bit for bit."""
    rng = np.random.default_rng(8)
    makers = list(COMPILED.values())
    losses = [makers[k % len(makers)](float(v)) for k, v in enumerate(rng.uniform(size=400))]
    whole, steps = Engine(seed=6, lipschitz=2.0), Engine(seed=6, lipschitz=2.0)
    said = whole.play_losses(losses).forecasts

    np.testing.assert_array_equal(play(steps, losses).forecasts, said)
    assert whole.info() == steps.info()
    assert whole.certificate() == steps.certificate()


def test_the_first_sloped_loss_sets_the_unit():
    """Flat losses leave it open; flatter ones are welcome; steeper ones are refused."""
    engine = Engine(seed=7)
    engine.update(Linear(0.0))
    assert engine.lipschitz is None
    engine.update(Absolute(0.5))
    engine.update(Linear(0.25))
    assert engine.lipschitz == 1.0
    before = engine.to_bytes()
    with pytest.raises(InvalidArgument, match=r"give lipschitz=2\.0"):
        engine.update(Squared(0.5))
    with pytest.raises(InvalidArgument, match=r"give lipschitz=2\.0"):
        engine.play([0.5], Mean())
    with pytest.raises(InvalidArgument, match=r"give lipschitz=2\.0"):
        engine.play_losses([Absolute(0.5), Squared(0.5)])

    assert (engine.to_bytes(), engine.played, engine.lipschitz) == (before, 3, 1.0)


class Lying:
    """A loss whose slopes are steeper than it says, but not at multiples of 1/8."""

    lipschitz = 1.0

    def value(self, forecast):
        return abs(np.asarray(forecast) - 0.52)

    def slopes(self, forecast):
        points = np.asarray(forecast)
        steep = np.where(points * 8 == np.round(points * 8), 1.0, 7.0)
        return steep * np.where(points > 0.52, 1, -1), steep * np.where(points >= 0.52, 1, -1)


@pytest.mark.parametrize("wrong", [None, 0.5, "loss", Absolute, Lying()], ids=repr)
def test_wrong_losses_are_refused(wrong):
    """In plain rounds, for open forecasts and in sequences: nothing has changed."""
    engine = Engine(seed=8)
    engine.play([0.52] * 60, Median())
    number = engine.open().round
    assert engine.predict().label * 8 % 1 > 0  # where `Lying` shows itself
    before = engine.to_bytes()
    for options in ((), (number,)):
        with pytest.raises(InvalidArgument):
            engine.update(wrong, *options)
    with pytest.raises(InvalidArgument):
        engine.play_losses([Absolute(0.5), wrong])

    assert engine.to_bytes() == before
    assert (engine.info().open, engine.played) == (1, 61)
