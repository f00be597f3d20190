"""MsMwC: multi-scale multiplicative weights with correction (Chen, Luo and Wei, COLT 2021).

The expert algorithm that the paper builds on, in the form it needs: rewards u in [-1, 1], so
losses l = -u; no predictions (m = 0), so that the two Bregman steps of their algorithm 1 are one.

    eta_i = min(1/64, sqrt(L / S_i)),  L = ln(dT),  S_i = sum of past u_i^2     learning rates
    z_i   = -u_i + 32 eta_i u_i^2                                              corrected loss
    w_i  <- max(1/(dT), w_i exp(eta_i (lam - z_i))),  lam such that the sum is 1

lam is the root of a convex increasing function that lies between min z and max z (their lemma
17), so Newton's method from the right end descends to it; bisection guards every step.

`MasterMsMwC` is their algorithm 2: one such learner per learning rate eta_k = 2^-k / 32, each
without a floor, mixed by a learner of the same kind.

Guarantee, for every expert i at once and V = sum of u_i^2 (their theorems 2 and 5 with every
constant kept; the derivation is in docs/theory/msmwc.md):

    MsMwC    reward of i - own reward <= 65.01 sqrt(L V) + 64 L + 64 ln d + 66.5
    master   reward of i - own reward <= min over k of
                 (ln(d)/2 + ln(Q / eta_k^2)) / eta_k + 64 eta_k V + P / Q
             with P = sum of eta_k and Q = sum of eta_k^2 (P / Q <= 96)
"""

import math
from typing import NamedTuple

import numpy as np

from trueup import _validation as check
from trueup._rounds import remaining
from trueup.errors import InvalidArgument
from trueup.protocols import ArrayLike, FloatArray

__all__ = ["MasterMsMwC", "MsMwC", "MsMwCState", "master_regret_bound", "msmwc_regret_bound"]

STEPS = 200  # Newton needs 4 to 8; halving alone needs about 60
LARGEST_RATE = 1 / 64
CORRECTION = 32.0


class MsMwCState(NamedTuple):
    """What the next round needs, and nothing else."""

    weights: FloatArray  # w, shape (n_experts,), sums to 1
    squares: FloatArray  # S, shape (n_experts,)


def init(n_experts: int) -> MsMwCState:
    """Return the state before the first round: equal weights."""
    return MsMwCState(np.full(n_experts, 1 / n_experts), np.zeros(n_experts))


def update(state: MsMwCState, rewards: FloatArray, *, rounds: int) -> MsMwCState:
    """One round of the equations above. The given state is left as it was."""
    count = state.weights.size
    log_size = math.log(count * rounds)
    with np.errstate(divide="ignore"):
        rates = np.minimum(LARGEST_RATE, np.sqrt(log_size / state.squares))
    corrected = -rewards + CORRECTION * rates * rewards**2
    weights = normalised(state.weights, rates, corrected, floor=1 / (count * rounds))
    return MsMwCState(weights, state.squares + rewards**2)


def normalised(
    weights: FloatArray, rates: FloatArray, corrected: FloatArray, *, floor: float
) -> FloatArray:
    """Return max(floor, w exp(eta (lam - z))) with the lam that makes it sum to 1."""
    low, high = float(corrected.min()), float(corrected.max())
    lam = high
    for _ in range(STEPS):
        raw = weights * np.exp(rates * (lam - corrected))
        above = raw > floor
        excess = float(np.where(above, raw, floor).sum()) - 1
        if abs(excess) < 1e-15:
            break
        low, high = (low, lam) if excess > 0 else (lam, high)
        slope = float((rates * raw)[above].sum())
        newton = lam - excess / slope if slope > 0 else low
        previous, lam = lam, newton if low < newton < high else (low + high) / 2
        if lam == previous or high - low <= 1e-16 * max(abs(low), abs(high)):
            break
    raised = np.maximum(floor, weights * np.exp(rates * (lam - corrected)))
    return np.asarray(raised / raised.sum())


def msmwc_regret_bound(n_experts: int, rounds: int, squares: ArrayLike) -> FloatArray:
    """Return the regret that MsMwC guarantees against an expert with this sum of u^2.

    >>> round(float(msmwc_regret_bound(88, 10_000, 2500.0)))
    13255
    """
    n_experts = check.integer("n_experts", n_experts, at_least=1)
    log_size = math.log(n_experts * check.integer("rounds", rounds, at_least=2))
    second = _checked_squares(squares)
    linear = 64 * log_size + 64 * math.log(n_experts) + 66.5
    return np.asarray(65.01 * np.sqrt(log_size * second) + linear)


def master_rates(rounds: int) -> FloatArray:
    """Return the learning rates eta_k = 2^-k / 32, k = 1 .. ceil(log2 T)."""
    return 0.5 ** np.arange(1, math.ceil(math.log2(rounds)) + 1) / 32


def master_regret_bound(n_experts: int, rounds: int, squares: ArrayLike) -> FloatArray:
    """Return the regret that the master guarantees against an expert with this sum of u^2.

    >>> round(float(master_regret_bound(88, 10_000, 2500.0)))
    1847
    """
    n_experts = check.integer("n_experts", n_experts, at_least=1)
    rates = master_rates(check.integer("rounds", rounds, at_least=2))
    total = float((rates**2).sum())
    second = _checked_squares(squares)[..., None]
    price = (math.log(n_experts) / 2 + np.log(total / rates**2)) / rates
    bounds = price + 64 * rates * second + rates.sum() / total
    return np.asarray(bounds.min(axis=-1))


def _checked_squares(squares: ArrayLike) -> FloatArray:
    array = check.numbers("squares", squares)
    wrong = array[~((array >= 0) & (array < math.inf))]
    if wrong.size:
        raise check.refuse("squares", "finite and 0 or more", float(wrong[0]))
    return array


def _checked_rewards(rewards: ArrayLike, n_experts: int) -> FloatArray:
    array = check.vector("rewards", rewards)
    if array.size != n_experts:
        raise InvalidArgument(f"rewards must have length {n_experts}, got {array.size}.")
    if np.abs(array).max() > 1:
        raise check.refuse("rewards", "in [-1, 1]", float(array[np.abs(array).argmax()]))
    return array


class MsMwC:
    """The expert algorithm for a known number of rounds.

    Parameters
    ----------
    n_experts : int
        d, at least 1.
    rounds : int
        T, at least 2.

    Examples
    --------
    >>> experts = MsMwC(n_experts=2, rounds=100)
    >>> for _ in range(50):
    ...     experts.update([1.0, -1.0])
    >>> experts.weights.round(3)
    array([0.827, 0.173])
    """

    def __init__(self, n_experts: int, rounds: int) -> None:
        self.n_experts = check.integer("n_experts", n_experts, at_least=1)
        self.rounds = check.integer("rounds", rounds, at_least=2)
        self._state = init(self.n_experts)
        self._played = 0

    @property
    def weights(self) -> FloatArray:
        """The weights of this round, shape (n_experts,); they sum to 1."""
        return self._state.weights.copy()

    def update(self, rewards: ArrayLike) -> None:
        """Learn the rewards of this round, each in [-1, 1]."""
        array = _checked_rewards(rewards, self.n_experts)
        remaining(self.rounds, self._played)
        self._state = update(self._state, array, rounds=self.rounds)
        self._played += 1

    def regret_bound(self, squares: ArrayLike) -> FloatArray:
        """Return the guaranteed regret against an expert with this sum of u^2."""
        return msmwc_regret_bound(self.n_experts, self.rounds, squares)


class MasterMsMwC:
    """The master over learning rates: better constants, ceil(log2 T) times the work.

    Parameters and methods are those of `MsMwC`.

    Examples
    --------
    >>> experts = MasterMsMwC(n_experts=2, rounds=100)
    >>> for _ in range(50):
    ...     experts.update([1.0, -1.0])
    >>> experts.weights.round(3)
    array([0.916, 0.084])
    """

    def __init__(self, n_experts: int, rounds: int) -> None:
        self.n_experts = check.integer("n_experts", n_experts, at_least=1)
        self.rounds = check.integer("rounds", rounds, at_least=2)
        self._rates = master_rates(self.rounds)
        self._log_masters = np.log(self._rates**2 / (self._rates**2).sum())
        shape = (self._rates.size, self.n_experts)
        self._log_experts = np.full(shape, -math.log(self.n_experts))
        self._played = 0

    @property
    def weights(self) -> FloatArray:
        """The weights of this round, shape (n_experts,); they sum to 1."""
        mixed = np.exp(self._log_masters) @ np.exp(self._log_experts)
        return np.asarray(mixed / mixed.sum())

    def update(self, rewards: ArrayLike) -> None:
        """Learn the rewards of this round, each in [-1, 1]."""
        losses = -_checked_rewards(rewards, self.n_experts)
        remaining(self.rounds, self._played)
        met = np.exp(self._log_experts) @ losses  # g_k, the loss of each learner
        corrected = met + CORRECTION * self._rates * met**2
        self._log_masters = _log_normalised(self._log_masters, self._rates, corrected)
        doubled = 2 * self._rates[:, None]
        raw = self._log_experts - doubled * (losses + CORRECTION * doubled * losses**2)
        peak = raw.max(axis=1, keepdims=True)
        self._log_experts = raw - peak - np.log(np.exp(raw - peak).sum(axis=1, keepdims=True))
        self._played += 1

    def regret_bound(self, squares: ArrayLike) -> FloatArray:
        """Return the guaranteed regret against an expert with this sum of u^2."""
        return master_regret_bound(self.n_experts, self.rounds, squares)


def _log_normalised(
    log_weights: FloatArray, rates: FloatArray, corrected: FloatArray
) -> FloatArray:
    """Return log w + eta (lam - z), with the lam that makes the weights sum to 1 (no floor)."""
    low, high = float(corrected.min()), float(corrected.max())
    lam = high
    for _ in range(STEPS):
        raw = np.exp(log_weights + rates * (lam - corrected))
        excess = float(raw.sum()) - 1
        if abs(excess) < 1e-15:
            break
        low, high = (low, lam) if excess > 0 else (lam, high)
        newton = lam - excess / float(rates @ raw)
        previous, lam = lam, newton if low < newton < high else (low + high) / 2
        if lam == previous or high - low <= 1e-16 * max(abs(low), abs(high)):
            break
    return log_weights + rates * (lam - corrected)
