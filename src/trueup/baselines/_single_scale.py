"""The paper's method with one scale only: what several scales at once are compared with.

There are m bins of width r = 1 / m; bin k is [k/m, (k+1)/m) and its forecast b the centre. Two
claims per bin say that its forecast is too low or too high, so that neither should be true in
more than half of its rounds:

    h_above = 1[v > b + r/2] - 1/2,        h_below = 1[v < b - r/2] - 1/2.

Both are at most 0 in expectation for the bin with the median of v. "Above" the last bin and
"below" the first one are never true; those two claims are dead and have no weight.

Weights. With X the sum of a claim's h over the rounds in which its bin was drawn, V the sum of
h^2, eta_j = 2^-j for j = 1 .. J and psi(eta) = -ln(1 - eta) - eta,

    W = sum over claims and j of exp(eta_j X - psi(eta_j) V),      w = dW/dX,

and exp(eta u - psi(eta) u^2) <= 1 + eta u for u >= -1 (Fan, Grama and Liu 2015), so W does not
grow in expectation if the mixture makes the expected sum of w h at most 0 for every v.

Mixture. With G = w_above - w_below, bin k gains -G/2 from v left of it, G/2 from v right of it and
-(w_above + w_below)/2 inside. G >= 0 in the first bin and G <= 0 in the last. Bisection finds
neighbours with G_i > 0 > G_{i+1}; played in the ratio |G_{i+1}| : |G_i|, they gain 0 outside and
less inside (the adjacent-bin argument of Foster 1999, here for the median). Or it meets G = 0, and
that bin alone will do.

Bound. By Ville's inequality, with probability 1 - delta no claim of N ever has X above
D(V) = min_j (ln(N J / delta) + psi(eta_j) V) / eta_j. Moving the n rounds of a bin gains at most
n up to the bin's edge and 2X beyond it, per unit; V <= n/4 and D is concave, so

    swap regret <= T / (2 m) + 2 m D(T / (4 m)),      of order T^(2/3).
"""

import math
from typing import NamedTuple

import numpy as np

from trueup import _validation as check
from trueup.baselines._baseline import Baseline, root_up
from trueup.protocols import FloatArray, IntArray, Loss, Mixture

__all__ = ["SingleScale", "single_scale_bound"]


class State(NamedTuple):
    """What the next round needs; the columns are the claims above and below."""

    excess: FloatArray  # X, shape (m, 2)
    squares: FloatArray  # V, shape (m, 2)


def n_bins(rounds: int, bins: int | None) -> int:
    """Return m: as given, or T^(1/3), rounded up."""
    return root_up(rounds, 3) if bins is None else check.integer("bins", bins, at_least=1)


def rates_of(rounds: int) -> FloatArray:
    """Return eta_j = 2^-j, down to about 1 / (2 sqrt(T))."""
    return np.asarray(0.5 ** np.arange(1, math.ceil(math.log2(math.sqrt(rounds))) + 2))


def price(rates: FloatArray) -> FloatArray:
    """Return psi(eta) = -ln(1 - eta) - eta."""
    return np.asarray(-np.log1p(-rates) - rates)


def log_weights(state: State, rates: FloatArray) -> FloatArray:
    """Return ln w, shape (m, 2): -inf for the two dead claims."""
    powers = rates * state.excess[..., None] - price(rates) * state.squares[..., None]
    powers += np.log(rates)
    peak = powers.max(axis=-1, keepdims=True)
    logs = peak[..., 0] + np.log(np.exp(powers - peak).sum(axis=-1))
    logs[-1, 0] = logs[0, 1] = -np.inf
    return np.asarray(logs)


def adjacent_bins(logs: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return one bin or two neighbours, and their probabilities, from ln w.

    >>> bins, chances = adjacent_bins(np.log([[3.0, 1e-300], [1e-300, 1.0]]))
    >>> bins, chances
    (array([0, 1]), array([0.25, 0.75]))
    """
    low, high = 0, len(logs) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if logs[middle, 0] == logs[middle, 1]:
            return np.array([middle]), np.ones(1)
        low, high = (middle, high) if logs[middle, 0] > logs[middle, 1] else (low, middle)
    if low == high:
        return np.array([low]), np.ones(1)
    ratio = _log_difference(logs[low]) - _log_difference(logs[high])
    smaller = math.exp(-abs(ratio))  # never overflows, and exact relative to itself
    pair = np.array([smaller, 1.0] if ratio > 0 else [1.0, smaller])
    return np.array([low, high]), pair / pair.sum()


def _log_difference(logs: FloatArray) -> float:
    """Return ln |G| = ln |w_above - w_below| of one bin."""
    larger, smaller = float(logs.max()), float(logs.min())
    return larger + math.log(-math.expm1(smaller - larger))


def single_scale_bound(
    rounds: int, delta: float | None = None, *, bins: int | None = None
) -> float:
    """Return what swap regret stays under with probability 1 - delta, for 1-Lipschitz losses.

    delta is 1/T by default. Never above T, which is trivial. Multiply by the Lipschitz constant of
    other losses.

    Examples
    --------
    >>> round(single_scale_bound(10**6))
    73528
    """
    rounds = check.integer("rounds", rounds, at_least=2)
    failure = 1 / rounds if delta is None else check.open_unit("delta", delta)
    count, rates = n_bins(rounds, bins), rates_of(rounds)
    claims = max(2 * count - 2, 1)
    log_wealth = math.log(claims * rates.size / failure)
    exceeded = float(((log_wealth + price(rates) * rounds / (4 * count)) / rates).min())
    return min(rounds / (2 * count) + 2 * count * exceeded, float(rounds))


class SingleScale(Baseline):
    """Bins of one width, claims with second-order weights, and two neighbouring bins per round.

    Parameters
    ----------
    rounds : int
        T, at least 2; the forecaster refuses to go further.
    seed : int
        Seed of the draws.
    bins : int, optional
        m, at least 1; T^(1/3), rounded up, by default.
    lipschitz : float, optional
        What all losses are divided by; that of the first sloped loss by default.

    Examples
    --------
    >>> from trueup.losses import Absolute
    >>> forecaster = SingleScale(rounds=100, bins=4)
    >>> for _ in range(50):
    ...     forecaster.update(Absolute(0.9))
    >>> forecaster.predict().value
    0.875
    """

    def __init__(
        self,
        rounds: int,
        seed: int = 0,
        *,
        bins: int | None = None,
        lipschitz: float | None = None,
    ) -> None:
        super().__init__(rounds, seed, lipschitz=lipschitz)
        count = n_bins(self.rounds, bins)
        self._edges = np.arange(count + 1) / count
        self._centres = (np.arange(count) + 0.5) / count
        self._rates = rates_of(self.rounds)
        self._state = State(np.zeros((count, 2)), np.zeros((count, 2)))

    @property
    def spacing(self) -> float:
        """1 / m, the width of a bin."""
        return 1 / self._centres.size

    def _mix(self) -> tuple[FloatArray, FloatArray]:
        bins, probabilities = adjacent_bins(log_weights(self._state, self._rates))
        return self._centres[bins], probabilities

    def _learn(self, said: Mixture, loss: Loss, lipschitz: float) -> None:
        drawn = int(said.value * self._centres.size)
        left, right = loss.slopes(self._edges[drawn : drawn + 2])
        gains = check.vector("slopes of the loss", [-right[1], left[0]]) / (2 * lipschitz)
        excess, squares = self._state.excess.copy(), self._state.squares.copy()
        excess[drawn] += gains
        squares[drawn] += gains**2
        self._state = State(excess, squares)
