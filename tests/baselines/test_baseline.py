"""Every baseline keeps the protocol: one list of checks for all of them."""

import copy

import numpy as np
import pytest

from trueup.baselines import (
    GENERAL,
    SUITE,
    Baseline,
    BlumMansour,
    CheapBlumMansour,
    FollowTheLeader,
    SingleScale,
    SquaredCalibration,
    TreeSwap,
    TwoEndpoints,
)
from trueup.baselines._baseline import root_up, subgradients_at
from trueup.errors import HorizonReached, InvalidArgument
from trueup.losses import Absolute, Linear, Scaled, Squared

every_kind = pytest.mark.parametrize("kind", SUITE, ids=lambda kind: kind.__name__)


class NotFinite:
    """A loss as the protocol wants it, except that its numbers are none."""

    lipschitz = 1.0

    def __repr__(self):
        return "NotFinite()"

    def value(self, forecast):
        """Return NaN."""
        return np.full(np.shape(forecast), np.nan)

    def slopes(self, forecast):
        """Return NaN twice."""
        return self.value(forecast), self.value(forecast)


def loss_of(kind, outcome):
    """Return a loss that the forecaster takes."""
    return Squared(outcome) if kind is SquaredCalibration else Absolute(outcome)


def fed(forecaster, *, outcomes=None):
    """Return the forecaster after a few rounds of random outcomes."""
    outcomes = np.random.default_rng(5).random(30) if outcomes is None else outcomes
    for outcome in outcomes:
        forecaster.update(loss_of(type(forecaster), outcome))
    return forecaster


def same(first, second):
    """Say whether two mixtures are equal to the last bit."""
    return all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))


def test_the_suite_holds_every_baseline_once():
    """A new file cannot be forgotten: all subclasses of the library are in SUITE."""
    written = [kind for kind in Baseline.__subclasses__() if kind.__module__.startswith("trueup")]

    assert sorted(written, key=repr) == sorted(SUITE, key=repr)
    assert set(SUITE) - set(GENERAL) == {TwoEndpoints, SquaredCalibration}


@every_kind
def test_every_mixture_is_in_the_simplex_on_forecasts_of_the_interval(kind):
    """Probabilities sum to 1, forecasts rise inside [0, 1], the draw is one of them."""
    forecaster = kind(60, 1)
    for outcome in np.random.default_rng(2).random(60):
        support, scales, probabilities, value = forecaster.predict()
        forecaster.update(loss_of(kind, outcome))

        assert probabilities.min() >= 0
        assert probabilities.sum() == pytest.approx(1, abs=1e-12)
        assert support.min() >= 0
        assert support.max() <= 1
        assert np.all(np.diff(support) > 0)
        assert np.all(scales == forecaster.spacing)
        assert value in support


@every_kind
def test_asking_again_changes_nothing(kind):
    """Predicting twice gives the same mixture and draw, and later rounds do not notice."""
    asked, silent = fed(kind(90, 4)), fed(kind(90, 4))
    first = asked.predict()

    assert same(first, asked.predict())
    assert same(fed(asked).predict(), fed(silent).predict())


@every_kind
def test_writing_into_a_mixture_changes_nothing(kind):
    """The arrays handed out are the caller's own."""
    forecaster = fed(kind(60, 4))
    kept = copy.deepcopy(forecaster.predict())
    taken = forecaster.predict()
    for array in taken[:3]:
        array[:] = 0.0

    assert same(forecaster.predict(), kept)


@every_kind
def test_the_same_seed_gives_the_same_run(kind):
    """Two forecasters of one seed say the same; a copy made half-way does, too."""
    first, second = fed(kind(90, 8)), fed(kind(90, 8))
    third = copy.deepcopy(first)

    assert same(fed(first).predict(), fed(second).predict())
    assert same(first.predict(), fed(third).predict())


def test_draws_follow_their_probabilities():
    """Over many seeds, the mean draw is the mean of the mixture."""
    draws = [fed(BlumMansour(40, seed, points=5)).predict() for seed in range(300)]
    support, _, probabilities, _ = draws[0]
    mean = support @ probabilities
    spread = np.sqrt((support - mean) ** 2 @ probabilities / 300)

    assert abs(np.mean([mixture.value for mixture in draws]) - mean) < 4 * spread


@every_kind
def test_the_unit_of_the_losses_does_not_matter(kind):
    """All losses times 8 give the same run, as each run divides by its own constant."""
    plain, scaled = kind(60, 2), kind(60, 2)
    for outcome in np.random.default_rng(9).random(40):
        plain.update(loss_of(kind, outcome))
        scaled.update(Scaled(loss_of(kind, outcome), 8.0))

    assert scaled.lipschitz == 8 * plain.lipschitz
    assert same(plain.predict(), scaled.predict())


@every_kind
def test_flatter_losses_are_taken_and_steeper_ones_refused(kind):
    """The first loss, or the constructor, sets the steepest slope of the run."""
    forecaster = kind(60)
    first = loss_of(kind, 0.25)
    forecaster.update(first)
    forecaster.update(Scaled(first, 0.5))
    before = forecaster.predict()

    with pytest.raises(InvalidArgument, match=r"slopes of at most .* from the start"):
        forecaster.update(Scaled(first, 1.5))
    with pytest.raises(InvalidArgument, match="slopes of at most"):
        kind(60, lipschitz=0.5).update(first)
    assert forecaster.lipschitz == first.lipschitz
    assert same(before, forecaster.predict())


@pytest.mark.parametrize("kind", [*GENERAL, TwoEndpoints], ids=lambda kind: kind.__name__)
def test_a_constant_loss_sets_no_constant_of_the_run(kind):
    """A loss without slope is taken, and the next one may still be of any size."""
    forecaster = kind(60)
    forecaster.update(Linear(0.0))

    assert forecaster.lipschitz is None
    forecaster.update(Linear(5.0))
    assert forecaster.lipschitz == 5.0


@every_kind
@pytest.mark.parametrize("wrong", [None, 0.5, "loss", Absolute, NotFinite()], ids=repr)
def test_a_wrong_loss_is_refused_in_one_sentence_and_changes_nothing(kind, wrong):
    """After a refusal the run goes on as if it had not happened."""
    tried, spared = fed(kind(90, 3)), fed(kind(90, 3))
    with pytest.raises(InvalidArgument) as caught:
        tried.update(wrong)

    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)
    assert same(tried.predict(), spared.predict())
    assert same(fed(tried).predict(), fed(spared).predict())


@every_kind
def test_the_horizon_ends_the_run(kind):
    """After `rounds` rounds neither predict nor update answers."""
    forecaster = fed(kind(30))

    with pytest.raises(HorizonReached, match="All 30 rounds"):
        forecaster.predict()
    with pytest.raises(HorizonReached, match="All 30 rounds"):
        forecaster.update(loss_of(kind, 0.5))


@every_kind
@pytest.mark.parametrize(
    "wrong", [{"rounds": 1}, {"rounds": 9.5}, {"seed": -1}, {"lipschitz": 0.0}], ids=repr
)
def test_wrong_arguments_are_refused(kind, wrong):
    """The shared parameters are checked by every constructor."""
    with pytest.raises(InvalidArgument, match=f"^{next(iter(wrong))} must be"):
        kind(**({"rounds": 10} | wrong))


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        (BlumMansour, {"points": 1}),
        (CheapBlumMansour, {"points": 1}),
        (SingleScale, {"bins": 0}),
        (TreeSwap, {"layers": 0}),
        (FollowTheLeader, {"points": 1}),
        (SquaredCalibration, {"points": 2}),
    ],
)
def test_too_small_sizes_are_refused(kind, wrong):
    """A grid needs two points, a tree one layer, the grid with inner ends three points."""
    with pytest.raises(InvalidArgument, match=f"^{next(iter(wrong))} must be at least"):
        kind(10, **wrong)


@every_kind
def test_the_shortest_run_works(kind):
    """Two rounds, at both extreme outcomes."""
    forecaster = fed(kind(2), outcomes=[0.0, 1.0])

    assert forecaster._played == 2


@pytest.mark.parametrize("degree", [1, 2, 3, 5])
def test_a_root_is_rounded_up_exactly(degree):
    """No power is missed by rounding: r^degree needs r, one more needs r + 1."""
    for root in (1, 2, 3, 7, 10, 20, 99):
        assert root_up(root**degree, degree) == root
        assert root_up(root**degree + 1, degree) == root + 1


def test_slopes_at_the_ends_are_the_inner_ones():
    """The outer slopes of the convention, -L and L, are not what a descent should follow."""
    slopes = subgradients_at(np.array([0.0, 0.5, 1.0]), Squared(0.5), 2.0)

    assert slopes.tolist() == [-0.5, 0.0, 0.5]
