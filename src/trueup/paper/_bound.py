"""The theorem's bound with every constant, evaluated numerically (docs/theory/theorem.md).

For a pair c = (r, b) played n times, whose four claims were exceeded by at most X in sum,

    SR_c <= min(n, min(2r, 1) (gamma n / r + 2 X) + (2 X - gamma n / (2r))+),

an identity for the loss as an integral, split at b + 2r. X is bounded in terms of the expected
number of plays E: the regret of the expert algorithm at second moment 9/16 E, plus the distance
between what was drawn and what was expected (an exponential supermartingale for each rate 2^-j,
all at once by a union). The adversary then splits T rounds over the pairs as it likes. That
maximum is bounded through its Lagrangian: for every price mu >= 0,

    SR <= mu T + sum over c of max over E of (SR_c(E) - mu E),

with the inner maximum taken over intervals of E, each at its least favourable ends.
"""

import math
from collections.abc import Callable
from typing import Literal

import numpy as np

from trueup import _validation as check
from trueup.grid import MultiScaleBins
from trueup.paper._msmwc import master_regret_bound, msmwc_regret_bound
from trueup.paper._truthful import default_gamma
from trueup.protocols import FloatArray

__all__ = ["swap_regret_bound", "truthful_swap_regret_bound"]

LARGEST_CLAIM = 0.75  # |h| of a live claim, as r >= 2 gamma there or h <= 1/2 + gamma / (4r)
EVENTS_PER_PAIR = 6  # four claims, and n against E from both sides
GROWTH = 1.05  # of the intervals of E
PRICES = np.concatenate([[0.0], np.geomspace(1e-6, 1.0, 400)])

Curve = Callable[[FloatArray], FloatArray]


def swap_regret_bound(
    rounds: int,
    delta: float | None = None,
    *,
    gamma: float | None = None,
    experts: Literal["msmwc", "master"] | str = "msmwc",
) -> float:
    """Return what swap regret stays under with probability 1 - delta, for 1-Lipschitz losses.

    Never above T, which is trivial. The constants of MsMwC are large: at delta = 1/T the bound is
    trivial up to some 10^8 rounds, with the master over learning rates up to half a million; at
    delta = 0.05, where the default gamma is finer, up to some 10^9 and to a million. For other
    losses multiply by their Lipschitz constant.

    Examples
    --------
    >>> swap_regret_bound(1_000) == 1_000
    True
    >>> swap_regret_bound(10**10) < 0.4 * 10**10
    True
    """
    rounds, failure, bins = _setting(rounds, delta, gamma)
    if experts not in ("msmwc", "master"):
        raise check.refuse("experts", "'msmwc' or 'master'", experts)
    regret = msmwc_regret_bound if experts == "msmwc" else master_regret_bound
    n_experts, union = 4 * bins.n_pairs, EVENTS_PER_PAIR * bins.n_pairs

    def excess(expected: FloatArray) -> FloatArray:
        learning = regret(n_experts, rounds, LARGEST_CLAIM**2 * expected)
        sampling = _deviation(rounds, failure / union, LARGEST_CLAIM)(expected)
        return learning + sampling

    count = _deviation(rounds, failure / union, 1.0)
    return _worst_allocation(
        rounds,
        bins,
        excess,
        most=lambda expected: expected + count(expected),
        least=lambda expected: np.maximum(expected - count(expected), 0),
    )


def truthful_swap_regret_bound(
    rounds: int, delta: float | None = None, *, gamma: float | None = None
) -> float:
    """Return the bound of lemma 3.4 for the truthful predictor in the order-reversed game.

    There n is known and X is a martingale whose steps lie in an interval of length 1.

    Examples
    --------
    >>> truthful_swap_regret_bound(10_000) < 6_000
    True
    """
    rounds, failure, bins = _setting(rounds, delta, gamma)
    rates = _rates(rounds)
    price = math.log(4 * bins.n_pairs * rates.size / failure)

    def excess(played: FloatArray) -> FloatArray:
        return np.asarray((price / rates + rates * played[:, None] / 8).min(axis=1))

    return _worst_allocation(rounds, bins, excess, most=np.asarray, least=np.asarray)


def _setting(
    rounds: int, delta: float | None, gamma: float | None
) -> tuple[int, float, MultiScaleBins]:
    rounds = check.integer("rounds", rounds, at_least=2)
    failure = 1 / rounds if delta is None else check.open_unit("delta", delta)
    return (
        rounds,
        failure,
        MultiScaleBins(default_gamma(rounds, failure) if gamma is None else gamma),
    )


def _rates(rounds: int) -> FloatArray:
    """Return 4, 2, 1, 1/2, ... down to about 1 / sqrt(T)."""
    count = math.ceil(math.log2(math.sqrt(rounds))) + 4
    return np.asarray(4 * 0.5 ** np.arange(count), dtype=np.float64)


def _deviation(rounds: int, failure: float, step: float) -> Curve:
    """Bound sum of (1[drawn] - kappa) h with |h| <= step, in terms of E = sum of kappa.

    exp(rate S - psi V) is a supermartingale for psi = (exp(rate step) - 1 - rate step) / step^2
    and V <= step^2 E the sum of variances (Freedman's argument).
    """
    rates = _rates(rounds)
    price = math.log(rates.size / failure)
    growth = np.expm1(rates * step) - rates * step

    def curve(expected: FloatArray) -> FloatArray:
        return np.asarray(((price + growth * expected[:, None]) / rates).min(axis=1))

    return curve


def _worst_allocation(
    rounds: int, bins: MultiScaleBins, excess: Curve, *, most: Curve, least: Curve
) -> float:
    """Bound the sum of SR_c over every way to split the rounds over the pairs."""
    size = math.ceil(math.log(rounds) / math.log(GROWTH)) + 1
    ends = np.minimum(GROWTH ** np.arange(size + 1), rounds)
    starts = np.concatenate([[0.0], ends[:-1]])
    over, played_most, played_least = excess(ends), most(ends), least(starts)
    total = PRICES * rounds
    for scale in bins.scales:
        count = int((bins.scale == scale).sum())
        near = min(2 * scale, 1.0) * (bins.gamma * played_most / scale + 2 * over)
        far = np.maximum(2 * over - bins.gamma * played_least / (2 * scale), 0.0)
        regret = np.minimum(played_most, near + far)
        total += count * np.maximum(regret - PRICES[:, None] * starts, 0.0).max(axis=1)
    return float(min(total.min(), rounds))
