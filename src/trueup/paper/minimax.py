"""The exact value of a small repeated game, by backward induction over counts.

Forecasts x_1 < ... < x_n and outcomes y_1 < ... < y_m are points of [0, 1], the loss is |x - y|.
In each of T rounds the learner picks a distribution p over the forecasts, the adversary sees p
(not the draw) and picks an outcome y_j, and then x_i is drawn from p. With N_ij the number of
rounds of forecast x_i and outcome y_j, the learner pays the swap regret at the end,

    SR(N) = sum over i of max over b of sum over j of N_ij (|x_i - y_j| - |b - y_j|),

where the best b in [0, 1] is a median of the outcomes met by x_i, so one of the y_j. The value is

    V(N) = SR(N)                                           after T rounds,
    V(N) = min over p of max over j of sum over i of p_i V(N + e_ij)      before,

where e_ij counts one more round of (x_i, y_j). Each state is thus a matrix game. By Shapley and
Snow (1950), some square sub-game K has an equaliser, p_i proportional to the sum of row i of the
cofactors of K, that is optimal in the whole game. So all squares are tried: any mixture of the
learner proves an upper bound, any mixture of the adversary a lower bound, and the smallest upper
and the largest lower bound certify each other.

What it is for: orientation. It is the least expected swap regret that any algorithm can promise on
these points, whatever the adversary: about 0.55 sqrt(T) with the points {0, 1} or {0, 1/2, 1} on
both sides, and at least in proportion to T as soon as some outcome is not a forecast.

What it is not: a bound for the game on all of [0, 1], in either direction. Restricting the outcomes
helps the learner, restricting the forecasts hurts it.

All T layers share one list of states. A state of t rounds is known by its first d - 1 of its d = nm
counts (the last is the rest), so by their partial sums S_1 <= ... <= S_(d-1) <= t. Ranked by the
combinatorial number system, rank = sum over k of C(S_k + k - 1, k), the states of t rounds are the
first C(t + d - 1, d - 1) of those of T rounds, and the rank after one more round does not depend
on t.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations, product
from math import comb
from typing import NamedTuple

import numpy as np

from trueup import _validation as check
from trueup.errors import InvalidArgument
from trueup.protocols import ArrayLike, FloatArray, IntArray

__all__ = ["Game", "Strategies", "solve", "value"]

MOST_POINTS = 4  # a game of 4 x 4 has 69 square sub-games, one of 5 x 5 has 251
MOST_STATES = 5_000_000  # of all layers; about 600 MB and 10 s at most if there is any choice
BATCH = 8192  # games solved at a time, so that their arrays stay in the cache


class Strategies(NamedTuple):
    """An optimal pair at a state; either may be one of several."""

    learner: FloatArray  # p, a distribution over the forecasts, shape (n,)
    adversary: FloatArray  # a distribution over the outcomes, shape (m,)


@dataclass(frozen=True, eq=False)
class Game:
    """A solved game; made by `solve`.

    Attributes
    ----------
    rounds : int
        T.
    forecasts, outcomes : arrays, shapes (n,) and (m,)
    gap : float
        The largest difference of upper and lower bound in the game of any one state. The true value
        of a state with k rounds to go is at most the value given and at least that less k gaps.
    layers : tuple of T + 1 arrays
        V of all states after 0, 1, ..., T rounds, by rank.
    """

    rounds: int
    forecasts: FloatArray
    outcomes: FloatArray
    gap: float
    layers: tuple[FloatArray, ...] = field(repr=False)

    @property
    def value(self) -> float:
        """V(0), the swap regret of optimal play."""
        return float(self.layers[0][0])

    def value_at(self, counts: ArrayLike) -> float:
        """Return V(N), the swap regret at the end if both play optimally from here on.

        Parameters
        ----------
        counts : array of whole numbers, shape (n, m)
            N, the number of rounds of each forecast and outcome; at most T in all.

        Examples
        --------
        >>> game = solve(2, [0, 1], [0, 1])
        >>> round(game.value_at([[0, 1], [0, 0]]), 6)  # forecast 0 has met outcome 1
        1.333333
        """
        checked = self._checked(counts, most=self.rounds)
        return float(self.layers[checked.sum()][_rank(checked.ravel())])

    def strategies(self, counts: ArrayLike) -> Strategies:
        """Return optimal distributions of the learner and the adversary for the next round.

        Parameters
        ----------
        counts : array of whole numbers, shape (n, m)
            N, the number of rounds of each forecast and outcome; less than T in all.

        Examples
        --------
        >>> game = solve(4, [0, 1], [0, 1])
        >>> learner, adversary = game.strategies([[0, 1], [0, 0]])
        >>> learner.round(4), adversary.round(4)
        (array([0.3654, 0.6346]), array([0.4646, 0.5354]))
        """
        checked = self._checked(counts, most=self.rounds - 1)
        after = self.layers[checked.sum() + 1]
        steps = np.eye(checked.size, dtype=np.int64)
        ranks = [_rank(checked.ravel() + step) for step in steps]
        payoffs = after[ranks].reshape(*checked.shape, 1)
        _, learner = _minimise(payoffs)
        _, adversary = _minimise(-payoffs.swapaxes(0, 1))
        return Strategies(learner[:, 0], adversary[:, 0])

    def _checked(self, counts: ArrayLike, *, most: int) -> IntArray:
        array = np.asarray(counts, dtype=object)  # takes ragged rows and huge numbers too
        shape = (self.forecasts.size, self.outcomes.size)
        if array.shape != shape:
            raise InvalidArgument(f"counts must have shape {shape}, got {array.shape}.")
        whole = [check.integer("every count", count, at_least=0) for count in array.ravel()]
        if sum(whole) > most:
            raise InvalidArgument(f"counts must sum to at most {most}, got {sum(whole)}.")
        return np.array(whole).reshape(shape)


def solve(rounds: int, forecasts: ArrayLike, outcomes: ArrayLike) -> Game:
    """Return the game of these rounds and points with the values of all its states.

    Parameters
    ----------
    rounds : int
        T, at least 1.
    forecasts, outcomes : sequences of 1 to 4 numbers of [0, 1]
        Strictly increasing.

    Examples
    --------
    >>> game = solve(4, [0, 0.5, 1], [0, 0.5, 1])
    >>> round(game.value, 6), game.gap < 1e-12
    (1.067731, True)
    >>> game.strategies([[0, 0, 0], [1, 0, 0], [0, 0, 0]]).learner.round(4)  # 0.5 has met 0
    array([0.3965, 0.6035, 0.    ])
    """
    rounds = check.integer("rounds", rounds, at_least=1)
    x, y = _points("forecasts", forecasts), _points("outcomes", outcomes)
    _refuse_too_many_states(rounds, x.size, y.size)
    sums = _partial_sums(rounds, x.size * y.size - 1)
    counts = np.diff(sums, axis=0, prepend=0, append=rounds)
    layers = [_swap_regret(counts.reshape(x.size, y.size, -1), x, y)]
    after = _ranks_after(sums[:, : _size(rounds - 1, sums)]).reshape(x.size, y.size, -1)
    gap = 0.0
    for played in range(rounds - 1, -1, -1):
        layer, worst = _layer(layers[-1], after[..., : _size(played, sums)])
        layers.append(layer)
        gap = max(gap, worst)
    return Game(rounds, x, y, gap, tuple(reversed(layers)))


def value(rounds: int, forecasts: ArrayLike, outcomes: ArrayLike) -> float:
    """Return the value of the game, the least swap regret that a learner can promise.

    Parameters and errors are those of `solve`.

    Examples
    --------
    >>> [round(value(rounds, [0, 1], [0, 1]), 6) for rounds in (1, 2, 4, 16)]
    [0.5, 0.666667, 1.01978, 2.153102]
    """
    return solve(rounds, forecasts, outcomes).value


def _points(name: str, values: ArrayLike) -> FloatArray:
    array = check.unit_vector(name, values)
    if not 1 <= array.size <= MOST_POINTS:
        raise check.refuse(name, f"1 to {MOST_POINTS} points", array.size)
    if (np.diff(array) <= 0).any():
        raise check.refuse(name, "strictly increasing", array.tolist())
    return array


def _refuse_too_many_states(rounds: int, n: int, m: int) -> None:
    states = comb(rounds + n * m, n * m)
    if states > MOST_STATES:
        raise InvalidArgument(
            f"A game of {rounds} rounds, {n} forecasts and {m} outcomes must have at most"
            f" {MOST_STATES} states, got {states}."
        )


def _size(played: int, sums: IntArray) -> int:
    """Return the number of states after so many rounds."""
    return comb(played + len(sums), len(sums))


def _partial_sums(rounds: int, length: int) -> IntArray:
    """Return all S_1 <= ... <= S_length <= rounds as columns, by rank: by the last sum first."""
    sums: IntArray = np.zeros((0, 1), dtype=np.int64)
    for k in range(length):
        heads = [sums[:, : comb(last + k, k)] for last in range(rounds + 1)]
        lasts = np.repeat(np.arange(rounds + 1), [head.shape[1] for head in heads])
        sums = np.vstack([np.hstack(heads), lasts])
    return sums


def _rank(counts: IntArray) -> int:
    """Return the rank of one state among the states of as many rounds."""
    sums = np.cumsum(counts)[:-1].tolist()
    return sum(comb(total + k, k + 1) for k, total in enumerate(sums))


def _ranks_after(sums: IntArray) -> IntArray:
    """Return the rank of N with one more in counter c, for all c and N, shape (d, n_states).

    That raises S_k by one for all k >= c, and each adds C(S_k + k - 1, k - 1) to the rank.
    """
    length, n_states = sums.shape
    ranks = np.empty((length + 1, n_states), dtype=np.int64)
    ranks[length] = np.arange(n_states)
    for k in range(length - 1, -1, -1):
        jumps = np.array([comb(total + k, k) for total in range(int(sums[k].max()) + 1)])
        ranks[k] = ranks[k + 1] + jumps[sums[k]]
    return ranks


def _swap_regret(counts: IntArray, forecasts: FloatArray, outcomes: FloatArray) -> FloatArray:
    """Return SR(N) for counts of shape (n, m, n_states)."""
    losses = np.abs(forecasts[:, None] - outcomes)
    moved = np.abs(outcomes[:, None] - outcomes)  # the loss of b = y_k at y_j
    regret = np.zeros(counts.shape[-1])
    for loss, row in zip(losses, counts.astype(np.float64), strict=True):
        regret += loss @ row - (moved @ row).min(axis=0)
    return regret


def _layer(later: FloatArray, after: IntArray) -> tuple[FloatArray, float]:
    """Return V of a layer from V of the next one, and the largest gap."""
    values = np.empty(after.shape[-1])
    gap = 0.0
    for start in range(0, values.size, BATCH):
        payoffs = later[after[..., start : start + BATCH]]
        upper, _ = _minimise(payoffs)
        minus_lower, _ = _minimise(-payoffs.swapaxes(0, 1))  # as the adversary sees it
        values[start : start + BATCH] = upper
        gap = max(gap, float((upper + minus_lower).max()))
    return values, gap


def _minimise(payoffs: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the least bound max over j of (p A)_j with its p, over the equalisers of all squares.

    Payoffs have shape (n_rows, n_columns, n_games), bounds (n_games,), mixtures (n_rows, n_games).
    """
    origin = payoffs[0, 0]
    shifted = payoffs - origin  # equalisers stay as they are, and small numbers cancel less
    best = np.full(origin.size, np.inf)
    mixture = np.zeros((len(payoffs), origin.size))
    for rows, columns in _squares(*payoffs.shape[:2]):
        candidate = np.zeros_like(mixture)
        candidate[rows] = _equaliser(shifted[np.ix_(rows, columns)])
        bound = (candidate[:, None] * shifted).sum(axis=0).max(axis=0)
        better = bound < best
        np.copyto(best, bound, where=better)
        np.copyto(mixture, candidate, where=better)
    return best + origin, mixture


def _squares(n: int, m: int) -> Iterator[tuple[list[int], list[int]]]:
    """Yield the rows and the columns of all square sub-games, small ones first."""
    for size in range(1, min(n, m) + 1):
        for rows, columns in product(combinations(range(n), size), combinations(range(m), size)):
            yield list(rows), list(columns)


def _equaliser(square: FloatArray) -> FloatArray:
    """Return the mixture of the rows that makes all columns equal, or any where there is none.

    Negative parts are set to 0: no tolerance has to tell rounding from a square without a mixture,
    since the bound of any mixture is true, and that of a wrong one is merely not the best.
    """
    parts = np.array([_cofactor_sum(square, row) for row in range(len(square))])
    parts = np.clip(parts * np.sign(parts.sum(axis=0)), 0.0, None)
    parts[0, ~parts.any(axis=0)] = 1.0
    return np.asarray(parts / parts.sum(axis=0))


def _cofactor_sum(square: FloatArray, row: int) -> FloatArray:
    """Return the determinant of a square whose given row is replaced by ones."""
    others = np.delete(square, row, axis=0)
    ones = np.ones_like(square[:1])
    return np.asarray((-1) ** row * _determinant(np.concatenate([ones, others])))


def _determinant(square: FloatArray) -> FloatArray:
    """Return the determinants of k x k x n_games, expanded along the first row."""
    if len(square) == 1:
        return np.asarray(square[0, 0])
    total = np.zeros(square.shape[-1])
    for column, first in enumerate(square[0]):
        total += (-1) ** column * first * _determinant(np.delete(square[1:], column, axis=1))
    return total
