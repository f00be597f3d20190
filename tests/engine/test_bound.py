"""What the theorem promises of the engine, against runs and against its own parts."""

import math

import numpy as np
import pytest

from engine.tools import numbers_of
from trueup import Median
from trueup._kernels import _engine as kernels
from trueup.adversaries import SUITE, GeneralConvex, Midpoint, SidePush
from trueup.engine import Engine, swap_regret_bound
from trueup.errors import InvalidArgument
from trueup.metrics import swap_regret
from trueup.replay import duel, losses_of

ROUNDS, HORIZON = 100_000, 390  # a fixed spacing of 1/32, where the bound says something
RATES = [0.5 ** (2 * j + 1) for j in range(6)]
OPTIONS = {"c": 1.0, "horizon": HORIZON}


def regret_after(game, adversary, rounds):
    """Return swap regret by pair of the first rounds of a duel, over the Lipschitz constant."""
    pairs = numbers_of(game)[:rounds]
    said = game.forecasts[:rounds]
    regret = swap_regret(said, game.outcomes[:rounds], adversary.wanted, by=pairs)
    return regret / adversary.lipschitz


@pytest.mark.parametrize("adversary", SUITE, ids=repr)
def test_no_adversary_breaks_the_bound_at_any_time(adversary):
    """In a long run whose bound is far below what could be lost; nor does the certificate."""
    engine = Engine(seed=1, **OPTIONS)
    game = duel(engine, adversary, ROUNDS, seed=2)
    bound = swap_regret_bound(ROUNDS, **OPTIONS)

    assert engine.certificate() / adversary.lipschitz <= bound
    if isinstance(adversary, GeneralConvex):
        losses = losses_of(game.losses[:3_000])
        assert swap_regret(game.forecasts[:3_000], losses) <= swap_regret_bound(3_000, **OPTIONS)
        return
    for now in (1_000, ROUNDS // 8, ROUNDS // 4, ROUNDS // 2, ROUNDS):
        assert regret_after(game, adversary, now) <= swap_regret_bound(now, **OPTIONS)


def test_the_bound_says_something():
    """At these lengths it is below a half and a quarter of everything, also without a horizon."""
    assert swap_regret_bound(ROUNDS // 2, **OPTIONS) < 0.4 * ROUNDS // 2
    assert swap_regret_bound(ROUNDS, **OPTIONS) < 0.25 * ROUNDS
    assert swap_regret_bound(10**6, c=1.0) < 0.4 * 10**6
    assert swap_regret_bound(10**10, c=1.0) < 0.014 * 10**10


def test_the_bound_without_a_horizon_holds_too():
    """The spacing shrinks as c / sqrt(t); one setting for all times."""
    rounds = 10**6
    game = duel(Engine(seed=3, c=1.0), SidePush(), rounds, seed=4)
    for now, share in ((rounds // 2, 0.6), (rounds, 0.4)):
        bound = swap_regret_bound(now, c=1.0)
        assert regret_after(game, SidePush(), now) <= bound < share * now


@pytest.mark.parametrize(("late", "rounds"), [(1, ROUNDS), (5, 10 * ROUNDS)])
def test_the_bound_for_late_outcomes_holds(late, rounds):
    """With so many outcomes open at most, at lengths at which it says something."""
    options = {"c": 1.0, "horizon": rounds // 256}
    game = duel(Engine(seed=5, **options), SidePush(), rounds, seed=6, late=late)
    bound = swap_regret_bound(rounds, late=late, **options)

    assert regret_after(game, SidePush(), rounds) <= bound < 0.75 * rounds


def test_the_bound_for_groups_holds():
    """Each of three groups, from its own rounds; and it says something for the largest."""
    rng = np.random.default_rng(7)
    groups, outcomes = rng.choice(3, p=[0.7, 0.2, 0.1], size=ROUNDS), rng.beta(2, 5, ROUNDS)
    engine = Engine(seed=8, **OPTIONS)
    run = engine.play(outcomes, Median(), groups=groups)
    bounds = []
    for group in range(3):
        own = groups == group
        pairs = numbers_of(run)[own]
        regret = swap_regret(run.forecasts[own], outcomes[own], Median(), by=pairs)
        bounds.append(swap_regret_bound(ROUNDS, groups=3, group_rounds=int(own.sum()), **OPTIONS))
        assert regret <= bounds[-1]
    assert bounds[0] < 0.4 * 0.7 * ROUNDS


def test_an_engine_that_never_learns_breaks_the_bound():
    """The companion: its rounds are all alike, so one of them tells the regret of any number."""
    label = Engine(seed=9, **OPTIONS).predict().label
    outcome = 1.0 if label <= 0.5 else 0.0
    regret = swap_regret(np.full(ROUNDS, label), np.full(ROUNDS, outcome), Median())

    assert regret > swap_regret_bound(ROUNDS, **OPTIONS)


def test_an_engine_with_coarse_bins_alone_breaks_the_bound():
    """The companion of a wrong spacing: bins of 1/2 lose more in one place than is promised."""
    engine = Engine(seed=10, c=1.0, horizon=4)
    game = duel(engine, Midpoint(), ROUNDS, seed=1)

    assert regret_after(game, Midpoint(), ROUNDS) > swap_regret_bound(ROUNDS, **OPTIONS)


def test_it_grows_with_what_makes_the_problem_harder():
    """Smaller delta and cap, more open outcomes, more groups, refining, more rounds."""
    n = 10**9
    base = swap_regret_bound(n, c=1.0)
    harder = [
        [swap_regret_bound(n, c=1.0, delta=delta) for delta in (0.5, 0.05, 1e-6)],
        [base, *(swap_regret_bound(n, c=1.0, late=late) for late in (1, 2, 5))],
        [swap_regret_bound(n, c=1.0, groups=groups) for groups in (1, 2, 100)],
        [base, *(swap_regret_bound(n, c=1.0, overrule=share) for share in (0.9, 0.1, 1e-4))],
        [base, swap_regret_bound(n, c=1.0, refine=True)],
        [swap_regret_bound(n * 10**k, c=1.0) for k in range(4)],
    ]
    for bounds in harder:
        assert bounds == sorted(bounds)
        assert len(set(bounds)) == len(bounds)
    assert swap_regret_bound(100) == 100


def height(n, level, gamma, scale):
    """Return what a pair of n rounds adds to the bound, besides 2 gamma n: written out."""
    v = min(9 * n / 16, n / 4 + 5 * gamma * n / (8 * scale))
    psi = [(-math.log(1 - 0.75 * rate) - 0.75 * rate) / 0.75**2 for rate in RATES]
    near = min((level + p * v) / rate for rate, p in zip(RATES, psi, strict=True))
    psi = [(-math.log(1 - rate / 2) - rate / 2) * 4 for rate in RATES]
    own = min((level + p * n / 4) / (rate - p / 2) for rate, p in zip(RATES, psi, strict=True))
    beyond = max(1 - 2 * scale, 0) * max(2 * min(near, own) - gamma * n / (2 * scale), 0)
    return min(n, 2 * min(2 * scale, 1) * near + beyond)


def worst_allocation(rounds, finest, level, rng):
    """Return the most that is found by sharing the rounds among pairs, in many ways."""
    gamma, worst = 0.5**finest, 0.0
    pairs = [0.5**s for s in range(finest + 1) for _ in range(2**s + 1)]
    for trial in range(300):
        first = rng.integers(finest + 1) if trial % 2 else 0
        chosen = [r for r in pairs if r <= 0.5**first and (trial % 3 or r >= 0.5 ** (first + 1))]
        shares = rng.dirichlet(np.full(len(chosen), rng.choice([0.3, 2.0, 100.0])))
        if trial % 5 == 0:
            shares = np.array(chosen) ** rng.choice([0.0, 0.5, 1.0])
        counts = np.floor(rounds * shares / shares.sum())
        found = sum(height(n, level, gamma, r) for n, r in zip(counts, chosen, strict=True))
        worst = max(worst, 2 * gamma * rounds + found)
    return worst


@pytest.mark.parametrize(("rounds", "finest"), [(20_000, 2), (100_000, 4), (10**6, 5)])
def test_the_lagrangian_is_above_every_way_to_share_the_rounds(rounds, finest):
    """And not far above the worst that is found."""
    most = int(2 * 2**finest + finest + 2)
    level = math.log(4 * len(RATES) * most * (most + 1) / 0.05)
    worst = worst_allocation(rounds, finest, level, np.random.default_rng(11))
    bound = swap_regret_bound(rounds, c=1.0, horizon=4**finest)

    assert min(worst, rounds) <= bound <= 1.25 * worst


def test_products_are_at_least_what_the_bound_takes_them_for():
    """prod(1 + eta u) >= exp(eta X - psi V), abs(u) <= 3/4; with half of psi that is wrong."""
    rng, broken = np.random.default_rng(12), 0
    for _ in range(2_000):
        u = rng.choice([0.25, -0.75, 0.625, -0.375, 0.01], size=int(rng.integers(1, 200)))
        u = u if rng.uniform() < 0.7 else np.full(u.size, -0.75)
        for rate in RATES:
            psi = (-math.log(1 - 0.75 * rate) - 0.75 * rate) / 0.75**2
            logs, x, v = np.log1p(rate * u).sum(), u.sum(), (u**2).sum()
            assert logs >= rate * x - psi * v - 1e-12
            broken += logs < rate * x - psi / 2 * v - 1e-12
    assert broken > 1_000


def staked(u, worst, rate, late):
    """Return ln of a bettor's wealth after claims that are settled in order, `late` rounds late."""
    wealth, waiting = 1.0, []
    for off in [*u, *[None] * late]:
        if len(waiting) > late or off is None:
            stake, settled = waiting.pop(0)
            wealth += stake * settled
        if off is not None:
            free = wealth - sum(stake for stake, _ in waiting) * worst
            waiting.append((rate * free, off))
    while waiting:
        stake, settled = waiting.pop(0)
        wealth += stake * settled
    return math.log(wealth)


def hostile_sequences(rng):
    """Return claims of one kind each: random, in blocks, and alternating in step with a delay."""
    for good, bad in ((0.25, -0.75), (0.625, -0.375), (0.49, -0.51), (0.5, -0.5)):
        for _ in range(8):
            yield np.where(rng.uniform(size=250) < rng.uniform(), good, bad), -bad
        for block in (1, 2, 3, 8, 16, 50):
            yield np.where(np.arange(250) // block % 2 == 0, good, bad), -bad
            yield np.where(np.arange(250) // block % 2 == 1, good, bad), -bad


def late_slack(u, worst, rate, late, drift):
    """Return by how much ln wealth is above what the bound takes it for, with open outcomes."""
    moved = 1.14 * 0.75 * rate
    psi = (-math.log(1 - moved) - moved) / 0.75**2
    least = rate * u.sum() - psi * (u**2).sum() - drift * 0.75**2 * late * rate**2 * u.size
    return staked(u, worst, rate, late) - least


def test_stakes_of_free_cash_are_at_least_what_the_bound_takes_them_for():
    """With eta times the number of open outcomes up to 1/8; without the drift that is wrong."""
    broken = 0
    for late in (1, 4, 16, 60):
        for rate in [rate for rate in RATES if rate * late <= 1 / 8]:
            for u, worst in hostile_sequences(np.random.default_rng(late)):
                assert late_slack(u, worst, rate, late, 7 / 3) >= -1e-12
                broken += late_slack(u, worst, rate, late, 0.0) < -1e-12
    assert broken > 100


@pytest.mark.parametrize("overrule", [0.05, 0.5, None])
def test_the_part_for_refining_is_what_the_engine_allows(overrule):
    """D with the wealth that the engine's own cap lets those against refining win."""
    n, options = 10**8, {"c": 1.0, "overrule": overrule}
    part = swap_regret_bound(n, refine=True, **options) - swap_regret_bound(n, **options)
    cap = float(Engine(overrule=overrule).state.f[kernels.REFINE_CAP])
    level = math.log(2 * 6 * 2 * cap)
    allowed = min((level + (-math.log(1 - rate) - rate) * n) / rate for rate in RATES)

    assert part >= allowed * (1 - 1e-9)


def test_pairs_of_other_groups_may_have_come_first():
    """With a spacing for each group, longer ones have more pairs and so take more of the money."""
    options = {"c": 1.0, "groups": 2, "group_rounds": 10**7, "schedule": "own"}

    assert swap_regret_bound(10**12, **options) > swap_regret_bound(10**7, **options)


@pytest.mark.parametrize(
    "options",
    [
        {"rounds": 0},
        {"delta": 0.0},
        {"delta": 1.0},
        {"c": 0.0},
        {"c": 2.0},
        {"late": -1},
        {"groups": 0},
        {"group_rounds": 0},
        {"horizon": -4},
        {"horizon": 0.5},
        {"overrule": 2.0},
        {"overrule": -1.0},
        {"schedule": "none"},
        {"group_rounds": 2_000},
    ],
    ids=repr,
)
def test_wrong_settings_are_refused(options):
    """With one sentence each."""
    with pytest.raises(InvalidArgument):
        swap_regret_bound(**{"rounds": 1_000} | options)
