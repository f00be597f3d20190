"""Lemma 4.1: for all weights there is a mixture that no outcome exploits, and HiGHS finds it."""

import numpy as np
import pytest
from scipy.optimize import linprog

from reference.claims import expected_gain, outcomes_that_matter
from reference.weights import played_weights
from trueup.errors import InvalidArgument, SolverFailed
from trueup.grid import MultiScaleBins
from trueup.paper import _linear_program, gains, solve_mixture

SPREADS = [0.0, 1.0, 12.0]
BINS = [MultiScaleBins(g) for g in (1.0, 0.5, 0.218, 0.125, 0.0921034, 1 / 16)]


def random_weights(bins, spread, seed):
    """Return e^(spread N(0, 1)) for every claim that can fail, 0 for the others.

    Weight on a claim that never fails makes its pair safe to play alone, and the program easy.
    """
    return bins.live * np.exp(spread * np.random.default_rng(seed).normal(size=(bins.n_pairs, 4)))


@pytest.mark.parametrize("bins", BINS, ids=repr)
def test_gains_are_the_weighted_claims_of_every_pair_in_every_cell(bins):
    """With claims written out: an entry that is too large would go unseen in the mixture."""
    weights = random_weights(bins, 1.0, 0)
    expected = [
        [expected_gain(bins, weights, [pair], [1.0], v) for pair in range(bins.n_pairs)]
        for v in bins.cells
    ]

    np.testing.assert_allclose(gains(bins, weights), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("bins", BINS, ids=repr)
def test_no_outcome_exploits_the_mixture(bins, spread):
    """Over all grid points and open cells, with claims written out, relative to the weights."""
    played = played_weights(bins) if spread == 0 else []
    for weights in [*(random_weights(bins, spread, seed) for seed in range(8)), *played]:
        solution = solve_mixture(weights, bins)
        used = weights[solution.pairs].max()
        worst = max(
            expected_gain(bins, weights, solution.pairs, solution.probabilities, v)
            for v in outcomes_that_matter(bins)
        )

        assert worst <= 1e-9 * min(used, weights.max())
        assert worst == pytest.approx(solution.gain, abs=1e-12 * weights.max())


def test_many_widely_spread_weights_are_solved_to_the_tolerance():
    """e^(12 N(0, 1)), relative to what the columns used could gain: scale is no excuse."""
    for gamma, seeds in ((1 / 32, 150), (0.05, 400)):
        bins = MultiScaleBins(gamma)
        for seed in range(seeds):
            weights = random_weights(bins, 12.0, seed)
            solution = solve_mixture(weights, bins)
            sizes = np.abs(gains(bins, weights)[:, solution.pairs]).max(axis=0)
            assert solution.gain <= 1e-9 * (solution.probabilities @ sizes)


def test_a_single_pair_is_seldom_enough():
    """The companion: on most widely spread weights even the best pair alone is exploited."""
    for bins in BINS[2:]:
        matrices = [gains(bins, random_weights(bins, 12.0, seed)) for seed in range(60)]
        best = [np.max(m / np.abs(m).max(axis=0), axis=0).min() for m in matrices]

        assert sum(gain > 1e-6 for gain in best) >= 30


def test_a_mixture_that_only_looks_small_is_seen():
    """The companion: shares in inverse proportion to the columns gain little only in size."""
    bins = MultiScaleBins(0.0921034)
    weights = played_weights(bins)[-1]
    matrix = gains(bins, weights)
    sizes = np.abs(matrix).max(axis=0)
    shares = 1 / np.where(sizes > 0, sizes, np.inf)
    shares /= shares.sum()

    assert (matrix @ shares).max() > 1e-3 * (shares @ sizes)


HARD = [
    (0.05, lambda rng, n: np.exp(12 * rng.normal(size=(n, 4))), 131),
    (1 / 3, lambda rng, n: 10.0 ** rng.uniform(-12, 0, (n, 4)), 73),
    (0.05, lambda rng, n: rng.choice([1, 1e-9, 10**-9.5, 1e-10], (n, 4)), 1),
    (0.125, lambda rng, n: np.full((n, 4), 1e-320), 0),
    (0.125, lambda rng, n: 10.0 ** rng.uniform(-290, 0, (n, 4)), 2),
]


@pytest.mark.parametrize(("gamma", "draw", "seed"), HARD)
def test_weights_that_once_failed_are_solved(gamma, draw, seed):
    """HiGHS alone stopped short of its tolerance on some, or divided by zero."""
    bins = MultiScaleBins(gamma)
    solution = solve_mixture(draw(np.random.default_rng(seed), bins.n_pairs), bins)

    assert solution.relative_gain <= 1e-9
    assert solution.probabilities.sum() == pytest.approx(1)


def unwilling(answers):
    """Return a solver that gives these answers first, then the true one; and what it was asked."""
    asked, solve = [], _linear_program._solve

    def fake(matrix, strategy, tolerance):
        asked.append((strategy, tolerance))
        truth, status = solve(matrix, strategy, 1e-10)
        wrong = answers[len(asked) - 1] if len(asked) <= len(answers) else 0.0
        return (None if wrong is None else exploited(matrix, truth, wrong)), status

    return fake, asked


def exploited(matrix, truth, gain):
    """Return a mixture moved towards the worst pair until some outcome gains so much from it."""
    if not gain:
        return truth
    cell, pair = np.unravel_index(matrix.argmax(), matrix.shape)
    before = matrix[cell] @ truth
    share = (gain - before) / (matrix[cell, pair] - before)
    return (1 - share) * truth + share * (np.arange(truth.size) == pair)


def weights_that_need_a_mixture(bins):
    """Return the first random weights for which no pair alone is enough."""
    for seed in range(60):
        weights = random_weights(bins, 12.0, seed)
        matrix = gains(bins, weights)
        if (matrix / np.abs(matrix).max(axis=0)).max(axis=0).min() > 1e-3:
            return weights
    raise AssertionError


@pytest.mark.parametrize("wrong", [None, 0.3, 1e-3, 1e-5, 1e-8])
@pytest.mark.parametrize("times", [1, 2, 3, 4])
def test_the_solver_is_asked_again_until_the_gain_is_small(monkeypatch, wrong, times):
    """An answer that is missing, or that gains in the eighth digit, is not taken, four times."""
    bins = MultiScaleBins(0.0921034)
    fake, asked = unwilling([wrong] * times)
    monkeypatch.setattr(_linear_program, "_solve", fake)
    solution = solve_mixture(weights_that_need_a_mixture(bins), bins)

    assert len(asked) == times + 1
    assert max(tolerance for _, tolerance in asked) <= 1e-7
    assert solution.relative_gain <= 1e-9


def test_a_pair_that_gains_nowhere_will_do_where_the_solver_fails(monkeypatch):
    """A pair none of whose claims has weight cannot be exploited alone."""
    bins = MultiScaleBins(0.0921034)
    weights = weights_that_need_a_mixture(bins)
    weights[7] = 0.0
    monkeypatch.setattr(_linear_program, "_solve", unwilling([None] * 5)[0])
    solution = solve_mixture(weights, bins)

    assert solution.pairs.tolist() == [7]
    assert (solution.probabilities.tolist(), solution.gain) == ([1.0], 0.0)


@pytest.mark.parametrize("wrong", [None, 1e-5])
def test_where_nothing_helps_the_failure_is_told(monkeypatch, wrong):
    """With the size of the game and what the solver said each time."""
    bins = MultiScaleBins(0.0921034)
    fake, asked = unwilling([wrong] * 5)
    monkeypatch.setattr(_linear_program, "_solve", fake)
    sentence = r"did not solve a 11 x 22 game: (kOptimal, ){4}kOptimal\.$"
    with pytest.raises(SolverFailed, match=sentence):
        solve_mixture(weights_that_need_a_mixture(bins), bins)

    assert len(asked) == 5


def test_grid_points_never_exceed_the_cells_beside_them():
    """So the program needs rows for open cells only."""
    for bins in BINS:
        weights = random_weights(bins, 3.0, seed=1)
        uniform = np.full(bins.n_pairs, 1 / bins.n_pairs)
        everything = range(bins.n_pairs)
        cells = gains(bins, weights) @ uniform
        for k, point in enumerate(bins.points):
            at = expected_gain(bins, weights, everything, uniform, point)
            beside = cells[max(k - 1, 0) : k + 1]
            assert at <= beside.min() + 1e-9 * weights.max()


def test_rows_for_grid_points_alone_are_too_weak():
    """The easy misreading: some outcome between the points exploits that mixture."""
    bins, exploited = MultiScaleBins(0.0921034), 0
    for weights in played_weights(bins):
        columns = np.array(
            [
                [expected_gain(bins, weights, [c], [1.0], v) for c in range(bins.n_pairs)]
                for v in bins.points
            ]
        )
        mixture = minimax(columns)[1]
        exploited += (gains(bins, weights) @ mixture).max() > 1e-6 * weights.max()

    assert exploited >= 10


def minimax(matrix):
    """Return the value and a minimising mixture of a game, by SciPy."""
    rows, columns = matrix.shape
    answer = linprog(
        np.append(np.zeros(columns), 1.0),
        A_ub=np.column_stack([matrix, -np.ones(rows)]),
        b_ub=np.zeros(rows),
        A_eq=[np.append(np.ones(columns), 0.0)],
        b_eq=[1.0],
        bounds=[(0, None)] * columns + [(None, None)],
    )
    return answer.fun, answer.x[:columns]


def test_the_value_agrees_with_another_solver():
    """Scaled as the program scales its columns, both find the same minimax value."""
    for bins in BINS:
        weights = random_weights(bins, 1.0, seed=2)
        matrix = gains(bins, weights)
        largest = np.abs(matrix).max(axis=0)
        largest[largest == 0] = 1.0  # pairs none of whose claims can fail
        solution = solve_mixture(weights, bins)
        scaled = np.zeros(bins.n_pairs)
        scaled[solution.pairs] = solution.probabilities * largest[solution.pairs]
        scaled /= scaled.sum()

        assert (matrix / largest @ scaled).max() == pytest.approx(
            minimax(matrix / largest)[0], abs=1e-9
        )


def test_a_wrong_sign_in_the_claims_is_seen():
    """With claim +1 negated there are weights for which no unexploited mixture exists."""
    bins, values = MultiScaleBins(0.0921034), []
    for weights in played_weights(bins):
        wrong = weights * [1, 1, -1, 1]
        values.append(minimax(gains(bins, wrong))[0] / weights.max())

    assert max(values) > 1e-3


def test_weights_of_zero_are_allowed():
    """Nothing can be exploited, whatever is played."""
    bins = BINS[2]
    solution = solve_mixture(np.zeros((bins.n_pairs, 4)), bins)

    assert (solution.gain, solution.relative_gain) == (0.0, 0.0)
    assert solution.probabilities.sum() == pytest.approx(1)


def test_bad_weights_are_refused():
    """Wrong shape, negative, NaN."""
    bins = BINS[2]
    good = np.ones((bins.n_pairs, 4))
    for bad, sentence in (
        (good[:-1], "weights must have shape"),
        (-good, "weights must be finite and 0 or more"),
        (good * np.nan, "weights must be finite and 0 or more"),
    ):
        with pytest.raises(InvalidArgument, match=sentence):
            solve_mixture(bad, bins)
