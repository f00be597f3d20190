"""trueup.paper.minimax against known values, a twin, its own strategies and facts of the game."""

import functools
import math

import numpy as np
import pytest

from reference.minimax import (
    game_value_reference,
    minimax_reference,
    plus_one,
    swap_regret_reference,
)
from trueup.errors import InvalidArgument
from trueup.paper import minimax

ENDS, THIRDS = [0, 1], [0, 1 / 3, 1]
HALVES = [0, 0.5, 1]
KNOWN = [
    (2, ENDS, 0.666667),
    (4, ENDS, 1.019780),
    (16, ENDS, 2.153102),
    (64, ENDS, 4.360487),
    (2, HALVES, 0.681818),
    (4, HALVES, 1.067731),
    (8, HALVES, 1.562093),
    (12, HALVES, 1.942691),
    (16, HALVES, 2.264443),  # recorded from this module; the others were found independently
]
GAMES = [(8, ENDS, ENDS), (4, HALVES, HALVES), (4, THIRDS, [0.2, 0.7]), (3, [0.4], HALVES)]


def random_points(rng, size):
    """Return so many points, rising, sometimes with both ends."""
    points = np.sort(rng.random(size))
    if size > 1 and rng.random() < 0.5:
        points[[0, -1]] = 0, 1
    return points


def random_game(seed):
    """Return rounds, forecasts and outcomes small enough for the twin."""
    rng = np.random.default_rng(seed)
    n, m = rng.integers(1, 5, size=2)
    rounds = 4 if n * m <= 6 else 2
    return rounds, random_points(rng, n), random_points(rng, m)


def nothing(game):
    """Return the counts before the first round."""
    return ((0,) * game.outcomes.size,) * game.forecasts.size


def played_out(game, mixture, choose):
    """Return the swap regret at the end, if one side plays its strategy and the other responds.

    `mixture` takes the state to the strategy and `choose` sums up what the other may reach. Only
    the strategies are taken from the game, none of its values.
    """
    left = game.rounds - 1
    n, m = game.forecasts.size, game.outcomes.size

    @functools.cache
    def worth(counts):
        if sum(map(sum, counts)) > left:
            return swap_regret_reference(counts, game.forecasts, game.outcomes)
        after = [[worth(plus_one(counts, i, j)) for j in range(m)] for i in range(n)]
        return choose(mixture(counts), np.array(after))

    return worth(nothing(game))


def against_the_worst_outcomes(game, learner):
    """Return the swap regret of a learner's strategy against its best response."""
    return played_out(game, learner, lambda p, after: (p @ after).max())


def against_the_best_forecasts(game, adversary):
    """Return the swap regret that an adversary's strategy is sure of."""
    return played_out(game, adversary, lambda q, after: (after @ q).min())


@pytest.mark.parametrize(("rounds", "points", "known"), KNOWN)
def test_the_known_values_are_reproduced(rounds, points, known):
    """With the same points on both sides the values are the known ones, to six digits."""
    game = minimax.solve(rounds, points, points)

    assert game.value == pytest.approx(known, abs=6e-7)
    assert 0 <= game.gap < 1e-12
    assert minimax.value(rounds, points, points) == game.value


def test_external_regret_at_the_end_would_not_reproduce_them(monkeypatch):
    """The known values tell swap regret from the regret against one fixed forecast."""

    def external_regret(counts, forecasts, outcomes):
        met = counts.sum(axis=0)
        lost = np.einsum("ijs,ij->s", counts, np.abs(forecasts[:, None] - outcomes))
        return lost - (np.abs(outcomes[:, None] - outcomes) @ met).min(axis=0)

    monkeypatch.setattr(minimax, "_swap_regret", external_regret)
    wrong = [minimax.value(rounds, points, points) for rounds, points, _ in KNOWN[:8]]

    assert all(known - 0.05 > value for (*_, known), value in zip(KNOWN, wrong, strict=False))


@pytest.mark.parametrize("seed", range(25))
def test_every_state_agrees_with_a_recursion_over_linear_programs(seed):
    """V is the same in all states of random games, and so is the order of the states."""
    rounds, forecasts, outcomes = random_game(seed)
    game = minimax.solve(rounds, forecasts, outcomes)
    expected = minimax_reference(rounds, forecasts, outcomes)
    found = {counts: game.value_at(counts) for counts in expected}

    assert sum(layer.size for layer in game.layers) == len(expected)
    assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("shape", [(2, 3), (3, 3), (4, 3), (4, 4)])
def test_matrix_games_agree_with_linear_programs(shape):
    """Random games, which often need squares of full size, and games full of ties."""
    rng = np.random.default_rng(11)
    drawn = rng.normal(size=(*shape, 40)) + 2 * np.eye(*shape)[..., None]
    payoffs = np.concatenate([drawn, np.round(drawn)], axis=2)
    values, mixtures = minimax._minimise(payoffs)
    reached = np.einsum("ig,ijg->jg", mixtures, payoffs).max(axis=0)
    expected = [game_value_reference(game) for game in np.moveaxis(payoffs, 2, 0)]

    np.testing.assert_allclose(values, expected, atol=1e-9)
    np.testing.assert_allclose(reached, values, atol=1e-12)


def test_the_gap_shows_a_solver_that_misses_the_optimum(monkeypatch):
    """Without the squares of two rows and more nothing mixes, and the certificate says so."""
    pure = [([i], [j]) for i in range(2) for j in range(2)]
    monkeypatch.setattr(minimax, "_squares", lambda n, m: pure)
    game = minimax.solve(2, ENDS, ENDS)

    assert game.gap >= 1
    assert game.value - 2 * game.gap <= 2 / 3 <= game.value


@pytest.mark.parametrize(("rounds", "forecasts", "outcomes"), GAMES)
def test_the_strategies_guarantee_the_value_in_every_state(rounds, forecasts, outcomes):
    """No outcome takes more from the learner's mixture, no forecast saves more from the other's."""
    game = minimax.solve(rounds, forecasts, outcomes)
    cells = [(i, j) for i in range(len(forecasts)) for j in range(len(outcomes))]
    states, lost, saved = {nothing(game)}, [], []
    for _ in range(rounds):
        for counts in states:
            learner, adversary = game.strategies(counts)
            after = [game.value_at(plus_one(counts, i, j)) for i, j in cells]
            payoffs = np.reshape(after, (len(forecasts), len(outcomes)))
            lost.append((learner @ payoffs).max() - game.value_at(counts))
            saved.append(game.value_at(counts) - (payoffs @ adversary).min())
        states = {plus_one(counts, i, j) for counts in states for i, j in cells}

    assert max(lost) < 1e-9
    assert max(saved) < 1e-9


@pytest.mark.parametrize(("rounds", "forecasts", "outcomes"), GAMES)
def test_the_strategies_guarantee_the_value_of_the_whole_game(rounds, forecasts, outcomes):
    """Played to the end against the best response, each side gets the value in swap regret."""
    game = minimax.solve(rounds, forecasts, outcomes)
    lost = against_the_worst_outcomes(game, lambda counts: game.strategies(counts).learner)
    won = against_the_best_forecasts(game, lambda counts: game.strategies(counts).adversary)

    assert lost == pytest.approx(game.value, abs=1e-9)
    assert won == pytest.approx(game.value, abs=1e-9)


def test_uniform_play_does_not_guarantee_the_value():
    """The guarantee is not one that any mixture would pass."""
    game = minimax.solve(4, HALVES, HALVES)
    uniform = np.full(3, 1 / 3)

    assert against_the_worst_outcomes(game, lambda _: uniform) > game.value + 0.1
    assert against_the_best_forecasts(game, lambda _: uniform) < game.value - 0.1


def test_strategies_are_distributions():
    """Nothing is negative and the sums are 1, also where rounding meets ties."""
    game = minimax.solve(6, HALVES, [0, 0.1, 0.9, 1])
    rng = np.random.default_rng(3)
    states = [rng.multinomial(rng.integers(0, 6), np.full(12, 1 / 12)) for _ in range(100)]
    found = [mixture for counts in states for mixture in game.strategies(counts.reshape(3, 4))]

    assert min(mixture.min() for mixture in found) >= 0
    assert max(abs(mixture.sum() - 1) for mixture in found) < 1e-12


@pytest.mark.parametrize("seed", range(5))
def test_reflection_leaves_the_value(seed):
    """The points 1 - x make the same game."""
    rng = np.random.default_rng(seed)
    forecasts, outcomes = random_points(rng, 3), random_points(rng, 2)
    mirrored = minimax.value(6, 1 - forecasts[::-1], 1 - outcomes[::-1])

    assert mirrored == pytest.approx(minimax.value(6, forecasts, outcomes), abs=1e-12)


@pytest.mark.parametrize(("points", "most"), [(ENDS, 40), (HALVES, 10)])
def test_the_value_rises_with_the_rounds_slower_than_they_do(points, most):
    """More rounds cost more, but each one less than the mean of those before."""
    values = [minimax.value(rounds, points, points) for rounds in range(1, most + 1)]
    means = np.array(values) / np.arange(1, most + 1)

    assert (np.diff(values) > 0).all()
    assert (np.diff(means) < 0).all()


def test_more_outcomes_hurt_and_more_forecasts_help():
    """The two restrictions pull in opposite ways, so the value bounds the full game in neither."""
    both = minimax.value(6, HALVES, HALVES)

    assert minimax.value(6, HALVES, ENDS) < both - 0.01
    assert minimax.value(6, ENDS, HALVES) > both + 0.01


@pytest.mark.parametrize("rounds", [1, 5, 20])
def test_an_outcome_between_the_forecasts_costs_its_distance_each_round(rounds):
    """With 1/2 out of reach of every forecast, the adversary need play nothing else."""
    assert minimax.value(rounds, ENDS, HALVES) == pytest.approx(rounds / 2)


def test_a_single_forecast_or_outcome_leaves_no_choice():
    """One forecast pays the worst outcome's distance, one outcome the best forecast's."""
    assert minimax.value(5, [0.3], [0, 0.2, 1]) == pytest.approx(5 * 0.7)
    assert minimax.value(5, [0, 0.2, 1], [0.3]) == pytest.approx(5 * 0.1)
    assert minimax.value(5, [0.3], [0.3]) == 0


def test_points_that_nearly_coincide_are_solved_without_a_gap():
    """Squares that are singular but for rounding give no warning and spoil no certificate."""
    forecasts = [0.5, 0.5 + 1e-15, 0.5 + 1e-9, 1]
    game = minimax.solve(4, forecasts, [0, 1e-300, 1])

    assert game.gap < 1e-12
    assert game.value == pytest.approx(minimax.value(4, [0.5, 1], ENDS), abs=1e-7)


def test_the_game_does_not_follow_the_caller_s_arrays():
    """Changing the points afterwards changes nothing."""
    points = np.array([0.0, 1.0])
    game = minimax.solve(2, points, points)
    points[:] = 0.5

    assert game.forecasts.tolist() == game.outcomes.tolist() == ENDS


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, ENDS, ENDS), "rounds must be at least 1, got 0."),
        ((2.0, ENDS, ENDS), "rounds must be a whole number, got 2.0."),
        ((2, [], ENDS), "forecasts must be 1 to 4 points, got 0."),
        ((2, ENDS, [0, 0.1, 0.2, 0.3, 1]), "outcomes must be 1 to 4 points, got 5."),
        ((2, [1, 0], ENDS), "forecasts must be strictly increasing, got [1.0, 0.0]."),
        ((2, ENDS, [0, 0]), "outcomes must be strictly increasing, got [0.0, 0.0]."),
        ((2, [0, 2], ENDS), "forecasts must be inside the interval [0, 1], got 2.0 at index 1."),
        ((2, 0.5, ENDS), "forecasts must be one-dimensional, got ()."),
        (
            (19, HALVES, HALVES),
            "A game of 19 rounds, 3 forecasts and 3 outcomes must have at most 5000000 states,"
            f" got {math.comb(28, 9)}.",
        ),
    ],
)
def test_games_that_cannot_be_solved_are_refused(arguments, message):
    """Each mistake in the points and rounds has its sentence; nothing is computed before."""
    with pytest.raises(InvalidArgument) as caught:
        minimax.solve(*arguments)

    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([0, 0], "counts must have shape (2, 2), got (2,)."),
        ([[0, 0], [0]], "counts must have shape (2, 2), got (2,)."),
        ([[0, 0], [0, -1]], "every count must be at least 0, got -1."),
        ([[0, 0], [0, 1.0]], "every count must be a whole number, got 1.0."),
        ([[1, 1], [1, 0]], "counts must sum to at most 2, got 3."),
        ([[2**63, 2**63], [0, 0]], f"counts must sum to at most 2, got {2**64}."),
    ],
)
def test_counts_that_are_no_state_are_refused(counts, message):
    """Each mistake in the counts has its sentence."""
    game = minimax.solve(2, ENDS, ENDS)
    with pytest.raises(InvalidArgument) as caught:
        game.value_at(counts)

    assert str(caught.value) == message


def test_there_is_no_strategy_after_the_last_round():
    """The final state has a value and no next round."""
    game = minimax.solve(2, ENDS, ENDS)
    final = [[0, 1], [1, 0]]

    assert game.value_at(final) == 2
    with pytest.raises(InvalidArgument, match=r"counts must sum to at most 1, got 2\."):
        game.strategies(final)
