"""What the theorem promises of the engine, with all constants, evaluated numerically.

Let W be the wealth of all bettors (1 at the start), q_k = 1 / (4 J (k+1) (k+2)) the money of one of
the J rates of a claim of the k-th visited pair. W is a nonnegative supermartingale, so with
probability 1 - delta it stays below 1 / delta for ever (below cap / delta when beliefs are
followed), and every bettor's share of it gives, for the n rounds of its pair,

    X <= D(n) = min over rates of (Lam + psi(eta) V(n)) / eta,
    psi(eta) = (-ln(1 - a eta) - a eta) / a^2,  a = 3/4,  Lam = ln(cap / (q delta)).

V(n) bounds the sum of squares of |u| <= 1/2 + gamma_t / (2 r) <= 3/4. With Gam the sum of gamma_t
over the rounds, at most 2 c sqrt(n) of any n rounds,

    V(n) = min(9 n / 16, n / 4 + 5 Gam / (8 r)).

The claims +-2 have u >= -1/2 and u^2 <= p (1 - p) + u gamma_t / (2 r), p the threshold. Where
gamma_t never grows and nothing is late, summing by parts gives V <= n / 4 + max X / 2, and so

    X <= D'(n) = min over rates of (Lam + psi' n / 4) / (eta - psi' / 2),  psi' as psi with a = 1/2.

The integral lemma turns this into

    SR_pair <= min(n, 2 Gam + 2 min(2r, 1) D(n) + (1 - 2r)+ (2 D'(n) - Gam / (2 r))+).

Summed over pairs, with Gam >= n gamma_T and at most 2^s + 1 pairs at scale 2^-s, the largest total
over all ways to share T rounds is bounded by its Lagrangian: for every price lam >= 0 of a round,

    SR <= 2 sum gamma_t + lam T + sum over scales of (2^s + 1) max over n of (h_s(n) - lam n),

the maximum being taken over intervals of n, each at its least favourable ends.

**Late outcomes.** Let outcomes arrive in order and at most m be open. A bettor with a eta m <= 3/32
(a bounds |u|) stakes rho eta times the wealth it has on arrival, |rho - 1| <= 7/3 a eta m and
rho <= 1.14: while a stake is open, at most m others are paid, each moving wealth by at most a
factor 1 -+ 1.14 a eta, and the escrow is at most 1.14 a eta m of it. So psi(eta) V becomes
psi(1.14 eta) V plus 7/3 a^2 m eta^2 n, and larger rates say nothing. While forecasts are open a
bettor's wealth can be above its share of W by what it has at stake, at most a factor
1 / (1 - 1.14 * 3/32): Lam grows by 0.113.

**Refining** adds at most D of its own, with a = 1, V = n and Lam = ln(2 J (g+1) (g+2) cap'): the
wealth of its bettors never exceeds cap'.
"""

import math
from typing import Any

import numpy as np

from trueup import _validation as check
from trueup._kernels import _engine as kernels
from trueup.protocols import FloatArray

REACH, REFINE_REACH = 11.0 / 8.0, 3.0 / 2.0
ACTUAL, DRIFT, LEAST, AT_STAKE = 1.14, 7.0 / 3.0, 3.0 / 32.0, 0.113  # see late outcomes above
PRICES = np.geomspace(1e-6, 1.0, 400)
GROWTH = 1.02  # of the intervals of n
SCHEDULES = ("shared", "own")


def swap_regret_bound(
    rounds: int,
    *,
    c: float = 0.25,
    delta: float = 0.05,
    horizon: int | None = None,
    overrule: float | None = None,
    groups: int = 1,
    group_rounds: int | None = None,
    schedule: str = "shared",
    late: int = 0,
    refine: bool = False,
) -> float:
    """Return what swap regret by label is at most, with probability 1 - delta at all times at once.

    In units of the Lipschitz constant. `groups` is how many there are; the bound is then for one of
    them, with `group_rounds` rounds out of `rounds`. `late` is how many outcomes are open at most,
    arriving in order.

    Examples
    --------
    >>> swap_regret_bound(100)  # nothing is promised yet: everything could be lost
    100.0
    >>> swap_regret_bound(10**9, c=1.0) < 0.03 * 10**9
    True
    """
    rounds = check.integer("rounds", rounds, at_least=1)
    groups = check.integer("groups", groups, at_least=1)
    late = check.integer("late", late, at_least=0)
    own = rounds
    if group_rounds is not None:
        own = check.integer("group_rounds", group_rounds, at_least=1)
        if own > rounds:
            raise check.refuse("group_rounds", f"at most rounds={rounds}", own)
    if horizon is not None:
        check.integer("horizon", horizon, at_least=1)
    if schedule not in SCHEDULES:
        raise check.refuse("schedule", "'shared' or 'own'", schedule)
    c, delta = check.half_open_unit("c", c), check.open_unit("delta", delta)
    share = 1.0 if overrule is None else check.open_unit("overrule", overrule)
    alone = schedule == "own" and horizon is None
    finest = _spacing(c, horizon or rounds)
    most_pairs = min(rounds, int(2 / finest + math.log2(1 / finest) + 2)) * groups
    cap = REACH / share if overrule is not None else 1.0
    level = math.log(4 * kernels.N_RATES * most_pairs * (most_pairs + 1) * cap / delta)
    level += AT_STAKE if late else 0.0
    total = 2 * _sum_of_spacings(own, c, horizon, groups if alone else 1)
    total += _worst_share(
        own,
        _spacing(c, own) if alone else finest,
        level,
        late,
        c * math.sqrt(groups) if alone else c,
        fixed=horizon is not None,
        falling=not alone and not late,
    )
    if refine:
        level = math.log(2 * kernels.N_RATES * groups * (groups + 1) * REFINE_REACH / share)
        all_rounds = np.array([float(own)])
        total += float(_most(all_rounds, all_rounds, level, 1.0, late)[0])
    return float(min(total, own))


def _spacing(c: float, rounds: int) -> float:
    """Return gamma_t at t = rounds."""
    return 2.0 ** math.floor(math.log2(c / math.sqrt(rounds)) + 1e-12)


def _most(n: FloatArray, v: FloatArray, level: float, reach: float, late: int) -> FloatArray:
    """Return D(n) for each n, v being V(n)."""
    rates = 0.5 * kernels.RATE_STEP ** np.arange(kernels.N_RATES)
    if late:
        rates = rates[reach * rates * late <= LEAST]
    if not rates.size:
        return np.full(n.shape, math.inf)
    psi = _psi((ACTUAL if late else 1.0) * rates, reach)
    drift = DRIFT * reach**2 * late * rates**2
    return np.asarray(((level + np.outer(v, psi) + np.outer(n, drift)) / rates).min(axis=1))


def _most_far(n: FloatArray, level: float) -> FloatArray:
    """Return D'(n) for each n."""
    rates = 0.5 * kernels.RATE_STEP ** np.arange(kernels.N_RATES)
    psi = _psi(rates, 0.5)
    return np.asarray(((level + np.outer(n / 4, psi)) / (rates - psi / 2)).min(axis=1))


def _psi(rates: Any, reach: float) -> FloatArray:
    return np.asarray((-np.log1p(-reach * rates) - reach * rates) / reach**2)


def _sum_of_spacings(rounds: int, c: float, horizon: int | None, groups: int) -> float:
    """Return the sum of gamma_t over a group's rounds, at most."""
    if horizon is not None:
        return rounds * _spacing(c, horizon)
    if groups > 1:
        return 2 * c * math.sqrt(groups * rounds)
    total, start = 0.0, 1
    while start <= rounds:
        spacing = min(_spacing(c, start), 1.0)
        end = min(int((c / spacing) ** 2), rounds)  # the last round with this spacing
        end = max(end, start)
        total += spacing * (end - start + 1)
        start = end + 1
    return total


def _worst_share(
    rounds: int,
    spacing: float,
    level: float,
    late: int,
    spread: float,
    *,
    fixed: bool,
    falling: bool,
) -> float:
    """Return the largest sum of h_s(n) over pairs that share the rounds, by the Lagrangian."""
    count = math.ceil(math.log(rounds) / math.log(GROWTH)) + 1
    low = np.unique(np.minimum(np.floor(GROWTH ** np.arange(count)), rounds))
    high = np.append(low[1:] - 1, rounds)  # n is whole: intervals [low, high]
    high = np.maximum(high, low)
    sums = PRICES * rounds
    for scale in range(round(-math.log2(spacing)) + 1):
        r = 0.5**scale
        seen = spacing * high if fixed else np.minimum(2 * spread * np.sqrt(high), r * high)
        v = np.minimum(9 * high / 16, high / 4 + 0.625 * seen / r)
        near = _most(high, v, level, 0.75, late)
        far = np.minimum(near, _most_far(high, level)) if falling else near
        beyond = max(1 - 2 * r, 0.0) * np.maximum(2 * far - low * spacing / (2 * r), 0.0)
        height = np.minimum(high, 2 * min(2 * r, 1.0) * near + beyond)
        best = (height[None, :] - PRICES[:, None] * low[None, :]).max(axis=1)
        sums += (2.0**scale + 1) * np.maximum(best, 0.0)
    return float(sums.min())
