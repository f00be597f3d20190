"""The compiled parts against other methods."""

import inspect
import math

import numpy as np
import pytest
from numba.types import unliteral
from scipy.optimize import linprog

import trueup as tu
from engine.tools import all_outcomes, all_pairs, laws, with_rows
from reference.wealth import RATES, claims, money
from trueup._kernels import _engine as kernels
from trueup.adversaries import SUITE
from trueup.distributions import Piecewise
from trueup.engine import Engine
from trueup.engine._belief import truthful
from trueup.losses import Absolute
from trueup.replay import duel


def value_by_scipy(matrix):
    """Return the minimax value of a game in which the columns minimise."""
    m, n = matrix.shape
    answer = linprog(
        np.append(np.zeros(n), 1.0),
        A_ub=np.column_stack([matrix, -np.ones(m)]),
        b_ub=np.zeros(m),
        A_eq=[np.append(np.ones(n), 0.0)],
        b_eq=[1.0],
        bounds=[(0, None)] * n + [(None, None)],
    )
    return answer.fun


def solved(matrix):
    """Return value, mixture and dual law of a game with entries in [-1, 1], by the kernel."""
    m, n = matrix.shape
    table = np.zeros((kernels.MOST_ROWS + 1, kernels.MOST_COLUMNS + 1))
    table[:m, :n] = matrix + 2
    basis = np.zeros(kernels.MOST_ROWS, dtype=np.int64)
    free = np.zeros(kernels.MOST_COLUMNS + 1, dtype=np.int64)
    assert kernels.solve_game(table, m, n, basis, free) < kernels.MOST_PIVOTS
    f, work = np.zeros(kernels.HEADER), np.ones(kernels.SCRATCH)
    kernels.unscale(f, table, m, n, basis, work)
    duals = np.zeros(m)
    for j in range(n):
        if free[j] >= n:
            duals[free[j] - n] = table[m, j]
    shares = f[kernels.AT_NEXT_SHARES : kernels.AT_NEXT_SHARES + n]
    return 1 / table[m, n] - 2, shares, duals / duals.sum()


@pytest.mark.parametrize("degenerate", [False, True])
def test_small_games_are_solved_with_a_certificate(degenerate):
    """Value as by SciPy, the mixture proves it from above and the dual from below.

    An even mixture proves less: the check tells the two apart.
    """
    rng, worse = np.random.default_rng(1), 0
    for _ in range(150):
        shape = (int(rng.integers(1, 40)), int(rng.integers(1, 13)))
        matrix = rng.uniform(-1, 1, shape)
        if degenerate:
            matrix = np.sign(matrix) * (rng.uniform(size=shape) < 0.7)
        value, shares, duals = solved(matrix)
        worse += matrix.mean(axis=1).max() > value + 1e-6

        assert value == pytest.approx(value_by_scipy(matrix), abs=1e-9)
        assert (matrix @ shares).max() <= value + 1e-9
        assert (duals @ matrix).min() >= value - 1e-9
    assert worse > 75


def random_law(rng):
    """Return a law with a few atoms and stretches of density, among them very narrow ones."""
    count = int(rng.integers(0, 10))
    inside = np.sort(rng.choice(2**9, count, replace=False) + 1) / 2 ** rng.choice([9.5, 9.1, 10])
    nodes = np.concatenate([[0.0], inside, [1.0]])
    masses = rng.dirichlet(np.full(2 * nodes.size, 0.2)) * (rng.uniform(size=2 * nodes.size) < 0.6)
    if masses.sum() == 0:
        masses[0] = 1.0
    climb = np.minimum(np.cumsum(masses) / masses.sum(), 1.0)
    left, right = climb[0::2].copy(), climb[1::2].copy()
    left[0], right[-1] = 0.0, 1.0
    return Piecewise(nodes, left, right)


def kept(scale, place, finest, law):
    """Return whether a pair keeps all its claims under a law."""
    return all(off <= 1e-9 for off in claims(scale, place, finest, law).values())


def test_the_truthful_bin_is_the_coarsest_that_keeps_its_claims():
    """Under random laws and spacings; no coarser bin does, and one a place further often fails."""
    rng, moved = np.random.default_rng(2), 0
    for _ in range(1_500):
        finest, law = int(rng.integers(0, 8)), random_law(rng)
        scale, place = kernels.truthful(law.nodes, law.left, law.right, law.nodes.size, finest)
        coarser = [pair for pair in all_pairs(scale) if pair[0] < scale]
        moved += place < 2**scale and not kept(scale, place + 1, finest, law)

        assert 0 <= place <= 2**scale
        assert kept(scale, place, finest, law)
        assert not any(kept(*pair, finest, law) for pair in coarser)
        assert truthful(law, finest) == (scale, place)
    assert moved > 500


def test_pieces_are_the_weighted_claims_written_out():
    """For every pair of a grid and an outcome in every cell, fresh and with weights, two groups."""
    rng, finest = np.random.default_rng(3), 4
    engine, pairs = Engine(), all_pairs(finest)
    known = [pair for pair in pairs if rng.uniform() < 0.5]
    weights = rng.uniform(size=(len(known), 4))
    places = with_rows(engine, known)
    i, f = engine.state
    f[places] = weights
    i[kernels.N_GROUPS], i[kernels.AT_NOW], i[kernels.AT_NOW + 1] = 2, 0, 1
    out, cells = np.zeros(4), all_outcomes(finest)[1::2]
    for scale, place in pairs:
        fresh = [sum(RATES) * money(len(known) + k) / 24 for k in (0, 1)]
        if (scale, place) in known:
            own = weights[known.index((scale, place))] + fresh[0]
        else:
            own = np.full(4, sum(fresh))
        kernels.pieces(i, f, scale, place, finest, out, 0)
        for cell, law in enumerate(laws(cells)):
            off = claims(scale, place, finest, law)
            expected = sum(own[k] * off[xi] for k, xi in enumerate((2, -2, 1, -1)) if xi in off)
            assert out[kernels.piece_at(cell, scale, place, finest)] == pytest.approx(expected)


def test_all_money_is_one_and_arrives_in_the_order_of_visits():
    """Whatever number of pairs comes: the rest stays in the box."""
    engine = Engine(seed=1)
    duel(engine, SUITE[0], 2_000, seed=1)
    rows = engine.info().visited
    shares = [kernels.handed_out(k) for k in range(rows)]

    assert rows > 3
    assert shares == [money(k) for k in range(rows)]
    assert sum(kernels.handed_out(k) for k in range(10_000)) == pytest.approx(1 - 1 / 10_001)
    assert math.isclose(kernels.FRESH, sum(RATES) / len(RATES), rel_tol=1e-15)
    assert len(RATES) == kernels.N_RATES


def test_money_for_each_scale_would_be_too_much():
    """The companion: a unit for every scale exceeds 1/delta by itself, so Ville says nothing."""
    shares = [1 / (2**level + 1) for level in range(12) for _ in range(2**level + 1)]

    assert sum(shares) == pytest.approx(12)
    assert sum(shares) > 1 / 0.1


def test_coins_are_uniform_and_different():
    """Means, and no two seeds or rounds alike."""
    tosses = np.array([[kernels.coin(seed, t) for t in range(2_000)] for seed in range(5)])

    assert np.abs(tosses.mean(axis=1) - 0.5).max() < 0.03
    assert len(np.unique(tosses)) == tosses.size
    assert abs(np.corrcoef(tosses)[0, 1]) < 0.08
    assert tosses.min() >= 0
    assert tosses.max() < 1


def test_a_pair_is_drawn_as_often_as_its_share_says():
    """Over many seeds, in the order of the bins: one coin, ordered mixtures, ordered bins."""
    engine = Engine()
    i, f = engine.state
    pool, shares = [(2, 3), (1, 1), (2, 1)], [0.5, 0.2, 0.3]
    for n, (pair, share) in enumerate(zip(pool, shares, strict=True)):
        i[kernels.AT_NEXT + 2 * n : kernels.AT_NEXT + 2 * n + 2] = pair
        f[kernels.AT_NEXT_SHARES + n] = share
    i[kernels.NEXT_SIZE] = len(pool)
    counts = np.zeros(3)
    for seed in range(4_000):
        i[kernels.SEED] = seed
        n, toss = kernels.drawn(i, f), kernels.coin(seed, 0)
        assert n == (2 if toss < 0.3 else 1 if toss < 0.5 else 0)
        counts[n] += 1

    np.testing.assert_allclose(counts / 4_000, shares, atol=0.03)


def test_each_kernel_is_compiled_once():
    """One signature each after every way in: no stray type has come in."""
    rng = np.random.default_rng(4)
    outcomes = rng.uniform(size=50)
    for options in ({}, {"expected": True}, {"schedule": "own", "horizon": 100}):
        engine = Engine(seed=1, lipschitz=2.0, **options)
        engine.predict(tu.distributions.uniform(0.2, 0.4), point=0.3, groups=(0, 2))
        engine.update(Absolute(0.3))
        engine.predict(tu.distributions.FromCdf(lambda x: x))
        engine.cell_gains()
        late = engine.open()
        engine.skip(engine.open().round)
        engine.update(Absolute(0.3), late.round)
        engine.play(outcomes, tu.Mean(), known_at=np.arange(50) + 3, points=outcomes)
        engine.play(
            outcomes, tu.Median(), nodes=[0.0, 1.0], cdfs=np.tile([0.0, 1.0], (50, 1)),
            groups=np.arange(50) % 3,
        )  # fmt: skip
        duel(Engine(seed=1, **options), SUITE[9], 50, late=2)
        Engine.from_bytes(engine.to_bytes()).forget()
    for name, kernel in inspect.getmembers(kernels, lambda x: hasattr(x, "signatures")):
        kinds = {tuple(unliteral(kind) for kind in kinds) for kinds in kernel.signatures}
        assert len(kinds) <= 1, name  # a literal 0 is a whole number like any other
    assert math.isfinite(engine.certificate())
