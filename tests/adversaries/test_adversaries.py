"""Each adversary does what its line in the table says."""

import numpy as np
import pytest

import trueup as tu
from trueup.adversaries import (
    SUITE,
    BadBin,
    BinMajority,
    ChangeOfWidth,
    Drift,
    Given,
    JustAbove,
    Midpoint,
    NearUniform,
    PotentialGreedy,
    RegimeShift,
    RotatingBins,
    SidePush,
    SignPreservation,
    View,
    bernoulli,
    beta,
    two_point,
    uniform,
)
from trueup.errors import InvalidArgument
from trueup.losses import Absolute
from trueup.paper import EfficientPredictor
from trueup.record import History, Recorder
from trueup.replay import play


def view(support, probabilities, number=0, spacing=0.125, cell_gains=None):
    """Return what an adversary sees of a mixture."""
    points, shares = np.array(support, dtype=float), np.array(probabilities, dtype=float)
    return View(
        number, points, 0 * points + spacing, shares, spacing, History(Recorder()), cell_gains
    )


def outcome(adversary, seen, rounds=100, seed=0):
    """Return the outcome of an adversary that is certain of it."""
    adversary.reset(rounds, seed)
    return adversary.law(seen).sample(np.random.default_rng(seed)).v


def outcomes_of(adversary, rounds=2_000):
    """Return the outcomes of an oblivious adversary."""
    adversary.reset(rounds, 1)
    rng = np.random.default_rng(2)
    return np.array([adversary.law(view([0.5], [1.0], t)).sample(rng).v for t in range(rounds)])


def test_independent_outcomes_have_their_laws():
    """Means and supports of the four named ones."""
    assert set(outcomes_of(bernoulli(0.5))) == {0.0, 1.0}
    assert outcomes_of(bernoulli(0.2)).mean() == pytest.approx(0.2, abs=0.05)
    assert outcomes_of(uniform()).mean() == pytest.approx(0.5, abs=0.05)
    assert outcomes_of(beta(2, 5)).mean() == pytest.approx(2 / 7, abs=0.02)
    assert outcomes_of(beta(2, 5)).std() == pytest.approx(0.16, abs=0.02)
    assert set(outcomes_of(two_point(0.3, 0.8, 0.5))) == {0.3, 0.8}


def test_midpoint_lies_in_the_middle_of_a_finest_cell_and_moves():
    """Half a spacing away from every grid point."""
    for spacing in (0.125, 0.218):
        v = outcome(Midpoint(), view([2 * spacing], [1.0], spacing=spacing))
        assert (v / spacing) % 1 == pytest.approx(0.5)
    moving = outcomes_of(Midpoint(moves=4), 100)
    assert len(set(moving)) == 5
    np.testing.assert_allclose((moving / 0.125) % 1, 0.5)


def test_bad_bin_stays_strictly_inside_one_gap():
    """Between two neighbouring forecasts, on neither."""
    v = outcomes_of(BadBin(), 500)

    assert v.min() > 0.25
    assert v.max() < 0.375
    assert v.max() - v.min() > 0.1


def test_near_uniform_puts_the_likelier_outcome_at_the_mean_forecast():
    """The other is 1/2 away, inside the interval."""
    for support, shares in (([0.2, 0.4], [0.5, 0.5]), ([0.6, 1.0], [0.5, 0.5])):
        law = NearUniform().law(view(support, shares))
        mean = float(np.dot(support, shares))

        assert law.losses[0].v == pytest.approx(mean)
        assert abs(law.losses[1].v - mean) == pytest.approx(0.5)
        assert law.probabilities[0] > 0.5


def test_rotating_bins_visits_all_places():
    """Pairs 1/2 apart, the lower ones in turn."""
    assert len(set(outcomes_of(RotatingBins(places=4)))) == 8


def test_side_push_answers_to_the_likeliest_forecast():
    """0 when it is above 1/2, else 1."""
    assert outcome(SidePush(), view([0.4, 0.6], [0.4, 0.6])) == 0.0
    assert outcome(SidePush(), view([0.4, 0.6], [0.6, 0.4])) == 1.0
    assert outcome(SidePush(), view([0.5], [1.0])) == 1.0


def test_bin_majority_pushes_each_forecast_further():
    """After outcomes above a forecast it keeps going up."""
    adversary = BinMajority()
    adversary.reset(100, 0)
    seen = view([0.25, 0.75], [0.6, 0.4])
    first = adversary.law(seen).losses[0]
    adversary.observe(0.25, first)
    for _ in range(3):
        loss = adversary.law(seen).losses[0]
        assert loss.v == first.v == 1.0
        adversary.observe(0.25, loss)
    assert adversary.law(view([0.75], [1.0])).losses[0].v == 0.0


def test_potential_greedy_takes_the_cell_of_the_largest_gain():
    """And without a look inside the far end."""
    gains = (np.array([0.1, 0.3, 0.7]), np.array([-1.0, -0.2, -0.5]))

    assert outcome(PotentialGreedy(), view([0.5], [1.0], cell_gains=lambda: gains)) == 0.3
    assert outcome(PotentialGreedy(), view([0.7], [1.0])) == 0.0


def test_just_above_contradicts_every_forecast():
    """Above the largest while the median is below 1/2, else 0; at 1/2 itself 0."""
    assert outcome(JustAbove(), view([0.5], [1.0])) == 0.0
    assert outcome(JustAbove(), view([0.5 - 1e-9], [1.0])) == pytest.approx(0.5, abs=1e-12)
    assert outcome(JustAbove(), view([0.1, 0.6], [0.7, 0.3])) == pytest.approx(
        0.6 + 1e-9, abs=1e-12
    )
    assert outcome(JustAbove(), view([0.1, 0.6], [0.3, 0.7])) == 0.0
    assert outcome(JustAbove(), view([0.1, 1.0], [0.7, 0.3])) == 1.0
    assert outcome(JustAbove(), view([0.1, 0.9], [1.0, 0.0])) < 0.2


def test_laws_change_with_time():
    """Regimes jump, drift moves, widths alternate."""
    regimes, drift, widths = (
        outcomes_of(a, 1_200) for a in (RegimeShift(), Drift(), ChangeOfWidth())
    )

    assert np.ptp([part.mean() for part in np.split(regimes, 8)]) > 0.2
    assert np.ptp([part.mean() for part in np.split(drift, 12)]) > 0.5
    assert [len(set(part)) > 2 for part in np.split(widths, 12)][:3] == [False, False, True]


def test_sign_preservation_moves_to_the_side_of_the_bias():
    """Outcomes above the forecasts raise the mean of the next epoch."""
    adversary = SignPreservation()
    adversary.reset(100, 0)
    assert adversary.law(view([0.0], [1.0])).probabilities[1] == 0.5
    for _ in range(6):
        adversary.observe(0.0, Absolute(1.0))
    assert adversary.law(view([0.0], [1.0])).probabilities[1] == 0.75


def test_the_suite_names_its_adversaries():
    """Their reprs differ and none is of more than one line."""
    names = [repr(adversary) for adversary in SUITE]

    assert len(set(names)) == len(names) >= 15


def test_the_property_can_be_chosen():
    """JustAbove for the 90 % quantile answers with pinball losses."""
    adversary = JustAbove(tu.Quantile(0.9))
    adversary.reset(10, 0)

    assert adversary.law(view([0.1], [1.0])).losses[0].q == 0.9
    assert adversary.lipschitz == 0.9


@pytest.mark.parametrize("wrong", [3, "median", tu.Median], ids=repr)
def test_what_is_no_property_is_refused_at_once(wrong):
    """By every adversary that has one, before a round is played."""
    kinds = {type(a) for a in SUITE if hasattr(a, "wanted")}
    assert len(kinds) >= 12
    for kind in kinds:
        with pytest.raises(InvalidArgument, match="wanted must be a property"):
            kind(wanted=wrong)


def test_a_view_does_not_show_the_draw():
    """What the adversary gets in a round is the same for seeds that draw differently."""
    seen = []

    class Watching(SidePush):
        def law(self, view):
            seen.append((view.round, view.support.tolist(), view.probabilities.tolist()))
            return super().law(view)

    runs = [
        play(EfficientPredictor(300, 0.05, seed, gamma=0.25, experts="master"), Watching())
        for seed in range(3)
    ]
    draws = {tuple(run.forecasts.tolist()) for run in runs}

    assert len(draws) > 1
    assert len({repr(x) for x in seen}) == 300


def test_a_run_longer_than_the_losses_given_is_refused():
    """One sentence that gives the length."""
    with pytest.raises(InvalidArgument, match="rounds must be at most the 2 losses given, got 3"):
        Given([Absolute(0.5)] * 2).reset(3, 0)
