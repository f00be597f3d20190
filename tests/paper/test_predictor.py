"""The efficient predictor does what the five steps say."""

import math

import numpy as np
import pytest

from reference.claims import claims_at
from reference.experts import msmwc_weights
from trueup.errors import HorizonReached, InvalidArgument
from trueup.losses import Absolute, Convex, Linear, Pinball, Squared
from trueup.paper import EfficientPredictor, default_gamma, solve_mixture


def run(predictor, losses):
    """Return the mixtures of a run."""
    mixtures = []
    for loss in losses:
        mixtures.append(predictor.predict())
        predictor.update(loss)
    return mixtures


def random_losses(count, seed):
    """Return absolute losses at random outcomes, some on grid points."""
    rng = np.random.default_rng(seed)
    return [Absolute(float(v)) for v in rng.choice([0.0, 0.25, 0.31, 0.5, 0.77, 1.0], count)]


def test_the_weights_are_those_of_msmwc_on_expected_claims():
    """Step 5 written out: reward = kappa(r, b) times h at the outcome, for all pairs."""
    predictor = EfficientPredictor(rounds=200, delta=0.05, seed=3, gamma=0.25)
    bins, rewards = predictor.bins, []
    for loss in random_losses(40, seed=4):
        mixture = predictor.predict()
        row = np.zeros((bins.n_pairs, 4))
        for b, r, kappa in zip(mixture.support, mixture.scales, mixture.probabilities, strict=True):
            row[bins.index(r, b)] += kappa * np.array(claims_at(r, b, bins.gamma, loss.v))
        predictor.update(loss)
        rewards.append(row.ravel().tolist())
        expected = msmwc_weights(rewards, 4 * bins.n_pairs, 200)
        np.testing.assert_allclose(predictor.weights.ravel(), expected, rtol=1e-9)


def test_the_mixture_is_that_of_the_linear_program():
    """Steps 1 and 2."""
    predictor = EfficientPredictor(rounds=100, seed=1)
    for loss in random_losses(20, seed=5):
        solution = solve_mixture(predictor.weights, predictor.bins)
        mixture = predictor.predict()
        np.testing.assert_array_equal(mixture.support, solution.support)
        np.testing.assert_array_equal(mixture.probabilities, solution.probabilities)
        assert solution.relative_gain <= 1e-9
        assert predictor.cell_gains()[1].max() == pytest.approx(solution.gain, abs=1e-15)
        predictor.update(loss)


def pushed(rounds):
    """Return a predictor that has learned for so many rounds, with its mixtures and outcomes.

    The outcome is the end that is farther from the likeliest forecast, which makes it mix.
    """
    predictor, history = EfficientPredictor(rounds=600, delta=0.05, seed=3), []
    for _ in range(rounds):
        mixture = predictor.predict()
        outcome = 0.0 if mixture.support[mixture.probabilities.argmax()] > 0.5 else 1.0
        predictor.update(Absolute(outcome))
        history.append((mixture, outcome))
    return predictor, history


def test_a_claim_is_rewarded_in_proportion_to_its_probability():
    """Step 5 over rounds with true mixtures; rewards that leave kappa out lead elsewhere."""
    predictor, history = pushed(160)
    bins, weighted, plain = predictor.bins, [], []
    for mixture, outcome in history:
        rows = np.zeros((2, bins.n_pairs, 4))
        for b, r, kappa in zip(mixture.support, mixture.scales, mixture.probabilities, strict=True):
            claims = np.array(claims_at(r, b, bins.gamma, outcome))
            rows[:, bins.index(r, b)] = kappa * claims, claims
        weighted.append(rows[0].ravel().tolist())
        plain.append(rows[1].ravel().tolist())
    found = predictor.weights.ravel()

    assert sum(mixture.probabilities.max() < 0.9 for mixture, _ in history) > 30
    np.testing.assert_allclose(found, msmwc_weights(weighted, found.size, 600), rtol=1e-9)
    assert np.abs(found / msmwc_weights(plain, found.size, 600) - 1).max() > 0.01


def test_draws_follow_the_mixture():
    """Step 3: over seeds, each forecast is drawn as often as its probability says."""
    predictor, _ = pushed(160)
    mixture, said = predictor.predict(), []
    for seed in range(2_000):
        predictor.seed = seed
        said.append(predictor.predict().value)

    assert mixture.probabilities.max() < 0.9
    for b in np.unique(mixture.support):
        probability = mixture.probabilities[mixture.support == b].sum()
        assert np.mean(np.array(said) == b) == pytest.approx(probability, abs=0.05)


def test_any_loss_is_divided_by_its_lipschitz_constant():
    """Twice the loss leads to the same run."""
    first, second = EfficientPredictor(60, seed=2), EfficientPredictor(60, seed=2)
    losses = random_losses(60, seed=6)
    plain = run(first, losses)
    doubled = run(
        second,
        [
            Convex(
                lambda p, v=x.v: 2 * abs(p - v),
                lambda p, x=x: tuple(2 * np.array(x.slopes(p))),
                lipschitz=2,
            )
            for x in losses
        ],
    )

    assert [m.value for m in plain] == [m.value for m in doubled]
    assert second.swap_regret_bound() == 2 * first.swap_regret_bound()


def test_an_absolute_loss_is_twice_the_pinball_loss_of_level_one_half():
    """Divided by their Lipschitz constants they are one and the same."""
    first, second = EfficientPredictor(60, seed=2), EfficientPredictor(60, seed=2)
    losses = random_losses(60, seed=7)

    assert [m.value for m in run(first, losses)] == [
        m.value for m in run(second, [Pinball(loss.v, 0.5) for loss in losses])
    ]


def test_a_constant_loss_sets_no_scale():
    """After Linear(0) any other loss may come."""
    predictor = EfficientPredictor(10)
    predictor.update(Linear(0.0))
    assert predictor.lipschitz is None
    predictor.update(Squared(0.3))
    assert predictor.lipschitz == 2.0


def test_settings_follow_the_paper_unless_given():
    """Delta = 1/T and gamma = sqrt(ln T ln(1/delta) / T)."""
    predictor = EfficientPredictor(1_000)

    assert predictor.delta == 1 / 1_000
    assert predictor.spacing == default_gamma(1_000, 1 / 1_000)
    assert EfficientPredictor(1_000, gamma=0.125).spacing == 0.125
    assert EfficientPredictor(1_000, experts="master").experts == "master"


BAD_SETTINGS = [
    ({"rounds": 1}, "rounds must be at least 2, got 1"),
    ({"rounds": 10.5}, "rounds must be a whole number"),
    ({"rounds": 10, "delta": 0.0}, "delta must be strictly between 0 and 1, got 0.0"),
    ({"rounds": 10, "delta": 1.0}, "delta must be strictly between 0 and 1"),
    ({"rounds": 10, "delta": math.nan}, "delta must be finite"),
    ({"rounds": 10, "gamma": 0.0}, "gamma must be above 0"),
    ({"rounds": 10, "seed": -1}, "seed must be at least 0"),
    ({"rounds": 10, "lipschitz": 0}, "lipschitz must be above 0"),
    ({"rounds": 10, "experts": "hedge"}, "experts must be 'msmwc' or 'master', got 'hedge'"),
]


@pytest.mark.parametrize(("arguments", "sentence"), BAD_SETTINGS)
def test_bad_settings_are_refused(arguments, sentence):
    """One sentence each."""
    with pytest.raises(InvalidArgument, match=sentence):
        EfficientPredictor(**arguments)


class Broken:
    """A loss of somebody's own, whose slopes are wrong in some way."""

    def __init__(self, left, right, lipschitz=1.0):
        self.left, self.right, self.lipschitz = left, right, lipschitz

    def value(self, forecast):
        return np.abs(forecast)

    def slopes(self, forecast):
        return self.left + 0 * forecast, self.right + 0 * forecast


BAD_LOSSES = [
    (0.3, "loss must be a loss"),
    (None, "loss must be a loss"),
    (Broken(math.nan, 0.0), "slopes must be at most"),
    (Broken(0.0, math.inf), "slopes must be at most"),
    (Broken(-2.0, 2.0), r"slopes must be at most lipschitz=1.0 in size"),
    (Broken(0.5, -0.5), "slopes must be non-decreasing"),
    (Squared(0.5), "give lipschitz=2.0 from the start"),
]


@pytest.mark.parametrize(("loss", "sentence"), BAD_LOSSES)
def test_a_bad_loss_changes_nothing(loss, sentence):
    """The mixture, the draw and the weights are as they were, and the run goes on."""
    predictor, twin = EfficientPredictor(30, seed=5), EfficientPredictor(30, seed=5)
    run(predictor, [Absolute(0.2)] * 3)
    run(twin, [Absolute(0.2)] * 3)
    with pytest.raises(InvalidArgument, match=sentence):
        predictor.update(loss)
    rest = random_losses(20, seed=8)

    assert [m.value for m in run(predictor, rest)] == [m.value for m in run(twin, rest)]
    np.testing.assert_array_equal(predictor.weights, twin.weights)


def test_a_round_beyond_the_horizon_is_refused():
    """Both ways in say so."""
    predictor = EfficientPredictor(2)
    run(predictor, [Absolute(0.5)] * 2)
    with pytest.raises(HorizonReached, match="All 2 rounds have been played"):
        predictor.predict()
    with pytest.raises(HorizonReached):
        predictor.update(Absolute(0.5))
