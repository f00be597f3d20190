"""The compiled parts against other methods."""

import numpy as np
import pytest
from scipy.optimize import linprog

from reference.claims import claims_at
from trueup._kernels import _engine as kernels
from trueup.grid import MultiScaleBins


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
    assert kernels.solve_game(table, m, n, basis, free, np.inf) >= 0
    shares = np.zeros(n)
    kernels.unscale(table, m, n, basis, np.ones(n), shares)
    duals = np.zeros(m)
    for j in range(n):
        if free[j] >= n:
            duals[free[j] - n] = table[m, j]
    return 1 / table[m, n] - 2, shares, duals / duals.sum()


@pytest.mark.parametrize("degenerate", [False, True])
def test_small_games_are_solved_with_a_certificate(degenerate):
    """Value as by SciPy, the mixture proves it from above and the dual from below."""
    rng = np.random.default_rng(1)
    for _ in range(150):
        shape = (int(rng.integers(1, 40)), int(rng.integers(1, 13)))
        matrix = rng.uniform(-1, 1, shape)
        if degenerate:
            matrix = np.sign(matrix) * (rng.uniform(size=shape) < 0.7)
        value, shares, duals = solved(matrix)

        assert value == pytest.approx(value_by_scipy(matrix), abs=1e-9)
        assert (matrix @ shares).max() <= value + 1e-9
        assert (duals @ matrix).min() >= value - 1e-9


def test_the_truthful_bin_meets_its_claims_under_random_laws():
    """Laws that are uniform in stretches, among them very narrow ones, at many spacings."""
    rng = np.random.default_rng(2)
    for _ in range(2_000):
        finest = int(rng.integers(0, 9))
        count = int(rng.integers(1, 12))
        ends = np.concatenate(
            [[0.0], np.sort(rng.choice(2**9, count - 1, replace=False) + 1) / 2**9.5, [1.0]]
        )
        masses = rng.dirichlet(np.full(count, 0.3))
        scale, place = kernels.truthful(ends, masses, count, finest)
        r = 0.5**scale
        b = place * r

        def below(x, ends=ends, masses=masses):
            shares = np.clip((x - ends[:-1]) / np.diff(ends), 0, 1)
            return float(masses @ shares)

        far, near = 0.5 - 0.5**finest / (4 * r), 0.5 - 0.5**finest / (2 * r)
        assert 0 <= b <= 1
        assert 1 - below(b + 2 * r) <= far + 1e-9
        assert below(b - 2 * r) <= far + 1e-9
        assert 1 - below(b) >= near - 1e-9
        assert below(b) >= near - 1e-9


def test_pieces_are_the_weighted_claims_written_out():
    """For every pair of a grid and an outcome in every cell, fresh and with weights."""
    bins, rng = MultiScaleBins(1 / 16), np.random.default_rng(3)
    keys, weights = np.full(256, -1, dtype=np.int64), np.zeros((256, 4))
    out = np.zeros(4)
    for pair in range(bins.n_pairs):
        scale, place = (
            int(np.log2(1 / bins.scale[pair])),
            int(bins.position[pair] // bins.step[pair]),
        )
        slot = kernels.slot_of(keys, scale, place)
        if rng.uniform() < 0.5:
            keys[slot] = 2**scale - 1 + scale + place
            weights[slot] = rng.uniform(size=4)
            own = weights[slot]
        else:
            own = np.full(4, kernels.prior(scale) * kernels.ALL_RATES / kernels.N_RATES)
        kernels.pieces(keys, weights, scale, place, 4, out)
        for cell, outcome in enumerate(bins.cells):
            h = np.array(claims_at(bins.scale[pair], bins.bin[pair], bins.gamma, outcome))
            expected = (own * h)[bins.live[pair]].sum()
            assert out[kernels.piece_at(cell, scale, place, 4)] == pytest.approx(expected)


def test_all_prior_mass_is_one():
    """Over all claims of all scales: no fresh money ever arrives."""
    total = sum(4 * (2**s + 1) * kernels.prior(s) for s in range(60))

    assert total == pytest.approx(1 - 1 / 61)
    assert sum(0.5**j for j in range(1, kernels.N_RATES + 1)) == kernels.ALL_RATES


def test_coins_are_uniform_and_different():
    """Means, and no two seeds or rounds alike."""
    tosses = np.array([[kernels.coin(seed, t) for t in range(2_000)] for seed in range(5)])

    assert np.abs(tosses.mean(axis=1) - 0.5).max() < 0.03
    assert len(np.unique(tosses)) == tosses.size
    assert abs(np.corrcoef(tosses)[0, 1]) < 0.08


def test_each_kernel_is_compiled_once():
    """One signature each after use: no stray type has come in."""
    for name in ("mix", "learn", "prepare", "drawn", "solve_game", "truthful", "largest_gain"):
        kernel = getattr(kernels, name)
        assert len(getattr(kernel, "signatures", [1])) <= 1, name
