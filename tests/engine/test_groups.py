"""Groups that overlap: each has a guarantee of its own."""

import math

import numpy as np
import pytest

from engine.tools import clone, growth, outcomes_at, push
from reference.wealth import finest_level
from trueup import Mean, Median, Quantile
from trueup._kernels import _engine as kernels
from trueup.distributions import uniform
from trueup.engine import Engine
from trueup.errors import InvalidArgument
from trueup.losses import Absolute
from trueup.metrics import swap_regret

ROUNDING = 1e-12
SCHEDULES = ["shared", "own"]


def memberships(rounds, seed):
    """Return two groups for each round: one of 0 and 1, and a rare or common one of 2 to 4."""
    rng = np.random.default_rng(seed)
    second = rng.choice([2, 3, 4], p=[0.6, 0.35, 0.05], size=rounds)
    return np.column_stack([rng.integers(2, size=rounds), second])


def levels(groups, seed):
    """Return outcomes that depend on both groups of a round, with noise."""
    rng = np.random.default_rng(seed)
    noise = 0.1 * rng.uniform(size=len(groups))
    return 0.5 * groups[:, 0] + 0.1 * (groups[:, 1] - 2) + noise


def regrets(run, outcomes, groups, wanted):
    """Return the swap regret by pair of each group."""
    pairs = np.column_stack([run.labels, run.scales])
    found = []
    for group in range(5):
        own = (groups == group).any(axis=1)
        found.append(swap_regret(run.forecasts[own], outcomes[own], wanted, by=pairs[own]))
    return found


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("wanted", [Median(), Quantile(0.9), Mean()], ids=repr)
def test_every_group_has_a_certificate_of_its_own(schedule, wanted):
    """Never below the swap regret of the group's rounds, which stays small."""
    rounds = 8_000
    groups = memberships(rounds, 1)
    outcomes = levels(groups, 2)
    engine = Engine(seed=3, schedule=schedule)
    run = engine.play(outcomes, wanted, groups=groups)
    counts = [int((groups == group).sum()) for group in range(5)]
    for group, regret in enumerate(regrets(run, outcomes, groups, wanted)):
        assert regret <= engine.certificate(group) * (1 + 1e-9)
        assert regret <= 2 * engine.lipschitz * math.sqrt(2 * counts[group])
        assert engine.visited(group)[2][:, 0].sum() == counts[group]


def test_an_engine_that_does_not_know_the_groups_fails_them():
    """The companion: one group of all rounds hides what happens inside, and regret is linear."""
    rounds = 8_000
    groups = memberships(rounds, 1)
    outcomes = levels(groups, 2)
    engine = Engine(seed=3)
    run = engine.play(outcomes, Median())
    found = regrets(run, outcomes, groups, Median())

    assert max(found) > 10 * math.sqrt(rounds)
    assert max(found) > engine.certificate()


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("seed", range(2))
def test_no_outcome_makes_wealth_grow_on_average(schedule, seed):
    """Wealth over all groups: the exact expectation over the draw, in every round."""
    engine, worst = Engine(seed, refine=False, schedule=schedule), []
    rng = np.random.default_rng(seed)
    for _ in range(60):
        groups = tuple(sorted(rng.permutation(4)[: rng.integers(1, 4)].tolist()))
        forecast = engine.predict(groups=groups)
        worst.append(growth(engine, outcomes_at(forecast), groups=groups))
        engine.predict(groups=groups)
        engine.update(Absolute(push(forecast)))

    assert max(worst) <= ROUNDING
    assert max(worst) > -1e-3


def test_a_mixture_for_other_groups_is_exploited():
    """The companion: what is safe for one group lets wealth grow when another one learns it."""
    found = []
    for seed in range(20):
        engine = Engine(seed, refine=False)
        for number in range(80):
            forecast = engine.predict(groups=(number % 2,))
            engine.update(Absolute(push(forecast) if number % 2 else 0.3))
        forecast = engine.predict(groups=(0,))
        i, f = engine.state
        size = int(i[kernels.NEXT_SIZE])
        out, gain = np.zeros(4), np.zeros(2 ** int(i[kernels.FINEST]))
        i[kernels.AT_NOW] = 1
        for n in range(size):
            pair = i[kernels.AT_NEXT + 2 * n : kernels.AT_NEXT + 2 * n + 2].tolist()
            kernels.pieces(i, f, *pair, i[kernels.FINEST], out, 0)
            for cell in range(gain.size):
                piece = kernels.piece_at(cell, *pair, i[kernels.FINEST])
                gain[cell] += f[kernels.AT_NEXT_SHARES + n] * out[piece]
        found.append(gain.max())

    assert max(found) > 1e-5


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_the_spacing_is_that_of_the_schedule(schedule):
    """From the number of all rounds, or from the smallest count of the round's groups."""
    rng, engine, counts = np.random.default_rng(5), Engine(seed=1, schedule=schedule), np.zeros(6)
    for number in range(1, 300):
        groups = sorted(rng.choice(6, size=int(rng.integers(1, 4)), replace=False).tolist())
        forecast = engine.predict(groups=groups)
        age = number if schedule == "shared" else counts[groups].min() + 1

        assert forecast.spacing == 0.5 ** finest_level(age, 0.25)
        assert forecast.scales.min() >= forecast.spacing
        engine.update(Absolute(rng.uniform()))
        counts[groups] += 1


def test_only_a_group_of_the_round_learns():
    """What stands in the rows of other groups is the same, bit for bit."""
    engine = Engine(seed=2)
    rng = np.random.default_rng(6)
    for number in range(200):
        engine.predict(groups=(number % 3,))
        engine.update(Absolute(rng.uniform()))
    before = [(engine.wealth(g).tobytes(), engine.certificate(g)) for g in range(3)]
    for _ in range(50):
        engine.predict(groups=(1,))
        engine.update(Absolute(rng.uniform()))
    after = [(engine.wealth(g).tobytes(), engine.certificate(g)) for g in range(3)]

    assert [a == b for a, b in zip(after, before, strict=True)] == [True, False, True]


def test_rounds_of_known_groups_cost_no_memory():
    """A row for each pair of a group that was drawn, room doubled when it is full, no more."""
    engine, met, sizes = Engine(seed=3, horizon=64), set(), set()
    groups = memberships(3_000, 7)
    outcomes = levels(groups, 8)
    for groups_of, outcome in zip(groups.tolist(), outcomes.tolist(), strict=True):
        forecast = engine.predict(groups=groups_of)
        engine.update(Absolute(outcome))
        met |= {(group, forecast.label, forecast.scale) for group in groups_of}
        sizes.add(engine.info().nbytes)
        assert engine.info().visited == len(met)

    assert len(sizes) <= 2 + math.log2(len(met))
    engine.predict(groups=(500,))
    assert engine.info().nbytes > max(sizes)


def test_the_most_groups_of_a_round():
    """Thirty-two at once work like one; thirty-three are refused."""
    engine = Engine(seed=4)
    for number in range(100):
        engine.predict(groups=range(32))
        engine.update(Absolute((number * 0.37) % 1))
    certificates = {engine.certificate(group) for group in range(32)}

    assert len(certificates) == 1
    with pytest.raises(InvalidArgument, match="groups must be 1 to 32 of them, got 33"):
        engine.predict(groups=range(33))


def test_wrong_groups_are_refused():
    """One sentence each; a group that has never met has a certificate of 0."""
    engine = Engine(seed=5)
    before = engine.to_bytes()
    for groups, sentence in (
        ((), "groups must be 1 to 32 of them, got 0"),
        ((-1,), "group must be at least 0, got -1"),
        ((0.5,), "group must be a whole number, got 0.5"),
    ):
        with pytest.raises(InvalidArgument, match=sentence):
            engine.predict(groups=groups)
    for groups, sentence in (
        ([[0, 0]], "groups of a round must be different"),
        ([[-1, 0]], "groups must be 0 or more, got -1"),
        ([0, 1], "groups must be whole numbers, 1 rows"),
        ([0.5], "groups must be whole numbers, 1 rows"),
        (np.zeros((1, 33), dtype=int), "groups must be 1 to 32 a round, got 33"),
    ):
        with pytest.raises(InvalidArgument, match=sentence):
            engine.play([0.5], Median(), groups=groups)

    assert engine.to_bytes() == before
    assert engine.certificate(7) == 0


def test_groups_may_be_an_array():
    """As any other sequence of whole numbers."""
    engine = Engine(seed=6)
    forecast = engine.predict(groups=np.array([0, 1]))

    assert forecast == Engine(seed=6).predict(groups=(0, 1))


def test_wealth_never_grows_when_whole_mixtures_learn_in_groups():
    """Each pair of the mixture is weighed with the money it will really get in a new group."""
    engine, worst = Engine(expected=True, horizon=2_000), []
    for _ in range(10):
        before = engine.info().wealth
        for outcome in outcomes_at(clone(engine).predict(groups=(0, 1, 2))):
            copy = clone(engine)
            copy.predict(groups=(0, 1, 2))
            copy.update(Absolute(outcome))
            worst.append(copy.info().wealth / before - 1)
        engine.update(Absolute(push(engine.predict())))

    assert max(worst) <= ROUNDING


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_rounds_of_many_groups_go_on_from_a_working_set(schedule):
    """Three of twenty groups a round: few new pairs are asked for, and no gain is left."""
    rounds, rng = 30_000, np.random.default_rng(8)
    groups = np.column_stack(
        [np.zeros(rounds, np.int64), rng.integers(1, 8, rounds), rng.integers(8, 20, rounds)]
    )
    level = 0.2 + 0.3 * (groups[:, 1] % 3) / 2 + 0.3 * (groups[:, 2] % 2)
    engine = Engine(seed=1, schedule=schedule)
    engine.play(np.clip(level + rng.normal(0, 0.1, rounds), 0.0, 1.0), Mean(), groups=groups)
    info = engine.info()

    assert info.added <= 0.05 * rounds  # with six pairs remembered 0.5 to 1.2 a round
    assert info.stalled == 0
    assert info.gains <= ROUNDING


@pytest.mark.parametrize("groups", [(0,), (1, 3, 4)])
def test_settled_at_once_is_the_same_as_opened_and_settled(groups):
    """Without slips and with them, followed beliefs among them, in several groups: equal states."""
    plain, slips = Engine(seed=2), Engine(seed=2)
    rng = np.random.default_rng(9)
    for n, outcome in enumerate(rng.uniform(size=60)):
        law = uniform(0.1, 0.9) if n % 3 == 0 else None
        late = slips.open(law, groups=groups)
        assert plain.predict(law, groups=groups) == late
        plain.update(Absolute(outcome))
        slips.update(Absolute(outcome), late.round)

    assert plain.to_bytes() == slips.to_bytes()
