"""The truths of the engine, each beside a version that breaks it."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import trueup as tu
from reference.claims import outcomes_that_matter
from reference.wealth import Wealth, claims, spacing_level
from trueup.adversaries import SUITE, Midpoint, SidePush, View
from trueup.checks import check_forecaster
from trueup.engine import Engine
from trueup.errors import InvalidArgument
from trueup.grid import MultiScaleBins
from trueup.losses import Absolute, AsymmetricSquared, Convex, Huber, Linear, Pinball, Squared
from trueup.metrics import pseudo_swap_regret, swap_regret
from trueup.replay import play

ROUNDS = 3_000
WORST_SEEN = 2.5  # swap regret / sqrt(T), over all adversaries, with room for seeds


def expected_gain(wealth, mixture, finest, outcome):
    """Return the expected weighted claim at an outcome, from the plain bookkeeping."""
    total = 0.0
    for b, r, share in zip(mixture.support, mixture.scales, mixture.probabilities, strict=True):
        level = round(-math.log2(r))
        place = round(b / r)
        for xi, off in claims(level, place, finest, outcome).items():
            total += share * wealth.weight(level, place, xi) * off
    return total


def hostile(wealth, mixture, finest, rng):
    """Return the outcome whose expected gain is largest, or a pushing one."""
    if rng.uniform() < 0.5:
        return 0.0 if mixture.support[np.argmax(mixture.probabilities)] > 0.5 else 1.0
    candidates = outcomes_that_matter(MultiScaleBins(0.5**finest))
    values = [expected_gain(wealth, mixture, finest, v) for v in candidates]
    return candidates[int(np.argmax(values))]


@pytest.mark.parametrize("seed", range(3))
def test_no_outcome_exploits_any_mixture_and_wealth_is_what_the_products_say(seed):
    """Truths 2 and 3, with the bookkeeping done twice: every outcome tried in every round."""
    rng, engine, wealth = np.random.default_rng(seed), Engine(seed), Wealth()
    for number in range(1, 250):
        finest = spacing_level(number, 0.5)
        mixture = engine.predict()
        assert engine.spacing == 0.5**finest
        worst = max(
            expected_gain(wealth, mixture, finest, v)
            for v in outcomes_that_matter(MultiScaleBins(0.5**finest))
        )
        assert worst <= 1e-12 * wealth.total()
        assert engine.cell_gains()[1].max() == pytest.approx(worst, abs=1e-12)
        outcome = hostile(wealth, mixture, finest, rng)
        drawn = [i for i, b in enumerate(mixture.support) if b == mixture.value]
        engine.update(Absolute(outcome))
        moved = engine.visited()
        for i in drawn:  # the same bin may stand at two scales: learn the one that moved
            level = round(-math.log2(mixture.scales[i]))
            slot = np.flatnonzero((moved[0] == mixture.value) & (moved[1] == mixture.scales[i]))
            if slot.size and moved[2][slot[0], 4] > rounds_of(wealth, level, mixture, i):
                place = round(mixture.support[i] / mixture.scales[i])
                wealth.learn(level, place, finest, outcome)
                count(wealth, level, mixture, i)
        assert engine.info().wealth == pytest.approx(wealth.total(), rel=1e-9)
    assert engine.info().gains <= 1e-9


def rounds_of(wealth, level, mixture, i):
    """Return how often the plain bookkeeping has seen a pair."""
    return wealth.__dict__.setdefault("seen", {}).get((level, mixture.support[i]), 0)


def count(wealth, level, mixture, i):
    """Count one more round of a pair."""
    wealth.seen[level, mixture.support[i]] = rounds_of(wealth, level, mixture, i) + 1


def test_a_mixture_that_ignores_the_evidence_is_exploited():
    """The companion: the first mixture, kept, lets some outcome gain."""
    engine, frozen = Engine(1), Engine(1).predict()
    wealth, rng = Wealth(), np.random.default_rng(0)
    for number in range(1, 200):
        finest = spacing_level(number, 0.5)
        outcome = hostile(wealth, frozen, finest, rng)
        for b, r in zip(frozen.support, frozen.scales, strict=True):
            wealth.learn(round(-math.log2(r)), round(b / r), finest, outcome)
        engine.update(Absolute(outcome))
    worst = max(
        expected_gain(wealth, frozen, finest, v)
        for v in outcomes_that_matter(MultiScaleBins(0.5**finest))
    )

    assert worst > 1e-3 * wealth.total()


def test_wealth_stays_low_over_many_runs():
    """Truth 3 as Ville's inequality: the share of runs with peak above 1/delta is at most delta."""
    peaks = []
    for seed in range(120):
        engine = Engine(seed)
        play(engine, SidePush(), 150, seed=seed)
        peaks.append(engine.info().peak)

    for delta in (0.5, 0.2):
        assert np.mean(np.array(peaks) >= 1 / delta) <= delta


@pytest.mark.parametrize("adversary", SUITE, ids=repr)
def test_the_certificate_is_never_below_swap_regret_and_both_stay_small(adversary):
    """Truth 4 at several times of one run, against every adversary."""
    engine = Engine(seed=3)
    record = play(engine, adversary, ROUNDS, seed=4)
    scale = adversary.lipschitz

    assert swap_regret(record) <= engine.certificate() * (1 + 1e-9) + 1e-9
    assert swap_regret(record) <= WORST_SEEN * scale * math.sqrt(ROUNDS)
    assert engine.certificate() <= 3 * WORST_SEEN * scale * math.sqrt(ROUNDS)
    assert engine.info().gains <= 1e-9


def test_a_certificate_without_its_far_part_is_too_low():
    """The companion: leaving out the outcomes beyond b + 2r misses regret."""
    engine = Engine(seed=3)
    record = play(engine, SidePush(), 1_000, seed=4)
    bins, scales, seen = engine.visited()
    near_right = np.minimum(2 * scales, 1 - bins) * np.maximum(seen[:, 4] - 2 * seen[:, 3], 0)
    near_left = np.minimum(2 * scales, bins) * np.maximum(seen[:, 4] - 2 * seen[:, 2], 0)
    halves = np.maximum(near_right, near_left) / 4

    assert halves.sum() < swap_regret(record)


def test_an_engine_that_never_learns_exceeds_what_was_ever_seen():
    """The companion of the ceiling: frozen, it loses in proportion to T."""

    class Frozen(Engine):
        def update(self, loss):
            fresh = Engine(self.seed)
            self.__dict__.update(fresh.__dict__)

    regret = swap_regret(play(Frozen(), [Absolute(1.0)] * ROUNDS))

    assert regret > WORST_SEEN * math.sqrt(ROUNDS)


def test_regret_grows_like_the_square_root():
    """Thirty-two times the rounds cost about sqrt(32) times the regret, without a restart."""
    short, long = (
        np.mean([pseudo_swap_regret(play(Engine(s), SidePush(), rounds)) for s in range(3)])
        for rounds in (500, 16_000)
    )

    assert long / short < 2 * math.sqrt(32)


LOSSES = {
    "absolute": Absolute,
    "pinball": lambda v: Pinball(v, 0.9),
    "squared": Squared,
    "asymmetric": lambda v: AsymmetricSquared(v, 0.8),
    "huber": lambda v: Huber(v, 0.2),
    "own": lambda v: Convex(lambda p: (p - v) ** 2, lambda p: 2 * (p - v), lipschitz=2.0),
    "linear": lambda v: Linear(v - 0.5 or 0.1),
}


@pytest.mark.parametrize("name", LOSSES)
def test_any_convex_loss_will_do(name):
    """The contract, and the certificate above the regret, for every kind."""
    rng = np.random.default_rng(5)
    steep = 1.0 if name == "linear" else None
    losses = [LOSSES[name](float(v)) for v in rng.choice([0.1, 0.4, 0.45, 0.9], 400)]
    check_forecaster(lambda: Engine(seed=2, lipschitz=steep), losses)
    engine = Engine(seed=2, lipschitz=steep)
    record = play(engine, losses)

    assert swap_regret(record) <= engine.certificate() * (1 + 1e-9)


@settings(max_examples=25, deadline=None)
@given(
    outcomes=st.lists(st.sampled_from([0.0, 0.25, 0.3, 0.5, 1.0]) | st.floats(0, 1), max_size=80)
)
@pytest.mark.parametrize("wanted", [tu.Median(), tu.Quantile(0.1)], ids=repr)
def test_both_ways_in_give_the_same_bits(wanted, outcomes):
    """Whole arrays and step by step: forecasts, wealth and sums are equal."""
    stepped, whole = Engine(seed=7), Engine(seed=7)
    said = []
    for outcome in outcomes:
        said.append(stepped.predict().value)
        stepped.update(wanted.loss(outcome))

    assert whole.play_outcomes(outcomes, wanted).tolist() == said
    assert whole.info() == stepped.info()
    assert whole.certificate() == stepped.certificate()


def test_a_saved_run_goes_on_bit_for_bit():
    """Truth 6, through bytes."""
    outcomes = np.random.default_rng(8).beta(2, 5, 4_000)
    through, first = Engine(seed=9), Engine(seed=9)
    said = through.play_outcomes(outcomes, tu.Median())
    first.play_outcomes(outcomes[:1_500], tu.Median())
    again = pickle.loads(pickle.dumps(first))

    np.testing.assert_array_equal(again.play_outcomes(outcomes[1_500:], tu.Median()), said[1_500:])
    assert again.info() == through.info()


def test_scratch_is_not_state():
    """Filling it with NaN between rounds changes nothing."""
    plain, dirty = Engine(seed=4), Engine(seed=4)
    for k in range(300):
        loss = Absolute(0.0 if k % 7 < 3 else 0.9)
        dirty._floats[:] = math.nan
        dirty._whole[:] = -99
        assert plain.predict().value == dirty.predict().value
        plain.update(loss)
        dirty.update(loss)


def test_a_narrow_outcome_is_found_at_the_spacing():
    """A constant outcome in the middle of a finest cell costs about c sqrt(t)."""
    record = play(Engine(seed=1), Midpoint(), 4_000)

    assert swap_regret(record) <= 1.2 * math.sqrt(4_000)


def test_bad_settings_and_input_are_refused():
    """One sentence each, and nothing changes."""
    for options, sentence in (
        ({"seed": -1}, "seed must be at least 0"),
        ({"c": 0.0}, "c must be above 0"),
        ({"c": 2.0}, "c must be above 0 and at most 1"),
        ({"lipschitz": 0.0}, "lipschitz must be above 0"),
    ):
        with pytest.raises(InvalidArgument, match=sentence):
            Engine(**options)
    engine = Engine(seed=1)
    with pytest.raises(InvalidArgument, match="outcomes must be inside"):
        engine.play_outcomes([0.5, 1.5], tu.Median())
    with pytest.raises(InvalidArgument, match="wanted must be Median"):
        engine.play_outcomes([0.5], tu.Mean())
    engine.update(Absolute(0.5))
    with pytest.raises(InvalidArgument, match=r"give lipschitz=2\.0"):
        engine.update(Squared(0.5))
    assert engine.played == 1


def test_an_adversary_may_look_at_the_evidence_but_not_at_the_draw():
    """The view of a round is the same for two seeds until their draws have parted."""
    views = []

    class Watching(SidePush):
        def law(self, view: View):
            views.append((view.round, view.support.tolist(), view.probabilities.tolist()))
            return super().law(view)

    for seed in (1, 2):
        play(Engine(seed), Watching(), 1)

    assert views[0] == views[1]
