"""Quantile sets and the gamma-width of a distribution (definition 3.1 and lemma 3.2).

The width balances how far apart two quantiles are with how much mass lies between them: it is the
one w in [gamma, 1] that is a difference beta - alpha of a (1/2 + gamma/(2w))- and a
(1/2 - gamma/(2w))-quantile. w is unique; alpha and beta need not be.
"""

from typing import NamedTuple

from trueup import _validation as check
from trueup.protocols import Distribution

__all__ = ["Width", "quantile_set", "width"]

BISECTIONS = 120  # enough to leave two neighbouring floats of [gamma, 1]


class Width(NamedTuple):
    """The gamma-width w with one pair of quantiles that are w apart."""

    w: float
    alpha: float
    beta: float


def quantile_set(distribution: Distribution, level: float) -> tuple[float, float]:
    """Return Q(level): the smallest and largest q with Pr[v < q] <= level <= Pr[v <= q].

    Examples
    --------
    >>> from trueup.distributions import discrete
    >>> quantile_set(discrete([0.2, 0.6], [0.5, 0.5]), 0.5)
    (0.2, 0.6)
    >>> quantile_set(discrete([0.2, 0.6], [0.5, 0.5]), 1.0)
    (0.6, 1.0)
    """
    _refuse_no_law(distribution)
    return distribution.quantile_set(check.unit("level", level))


def width(distribution: Distribution, gamma: float) -> Width:
    """Return the gamma-width of a distribution and one valid (alpha, beta).

    The largest difference of the two quantile sets never rises with w, so w is where it crosses
    the diagonal: bisection down to neighbouring floats (the proof of lemma 3.2). alpha and beta
    are quantiles of the two levels at the exact w, which may lie between two floats; at the float
    returned the levels differ from theirs by rounding.

    Examples
    --------
    >>> from trueup.distributions import discrete
    >>> width(discrete([0.3], [1.0]), 0.25).w  # a point mass is as narrow as allowed
    0.25
    >>> width(discrete([0.25, 0.75], [0.5, 0.5]), 0.25)
    Width(w=0.5, alpha=0.25, beta=0.75)
    """
    gamma = check.half_open_unit("gamma", gamma)
    _refuse_no_law(distribution)
    low, high = gamma, 1.0
    if high <= _largest_difference(distribution, gamma, high):
        low = high
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        if middle <= _largest_difference(distribution, gamma, middle):
            low = middle
        else:
            high = middle
    return _with_ends(distribution, gamma, low, high)


def _refuse_no_law(distribution: Distribution) -> None:
    check.instance("distribution", distribution, Distribution, "a distribution with quantile_set")


def _tail(gamma: float, w: float) -> float:
    return min(gamma / (2 * w), 0.5)


def _largest_difference(distribution: Distribution, gamma: float, w: float) -> float:
    """Max S(w): the largest upper quantile less the smallest lower one."""
    tail = _tail(gamma, w)
    upper = distribution.quantile_set(0.5 + tail)[1]
    lower = distribution.quantile_set(0.5 - tail)[0]
    return upper - lower


def _with_ends(distribution: Distribution, gamma: float, low: float, high: float) -> Width:
    """Choose alpha and beta for the width that lies in [low, high].

    The exact w is between two floats. The quantile sets at both are joined, so that they hold
    those of w itself; then alpha is the rightmost place from which a step of w is possible.
    """
    wide, narrow = _tail(gamma, low), _tail(gamma, high)
    alpha_range = (
        distribution.quantile_set(0.5 - wide)[0],
        distribution.quantile_set(0.5 - narrow)[1],
    )
    beta_range = (
        distribution.quantile_set(0.5 + narrow)[0],
        distribution.quantile_set(0.5 + wide)[1],
    )
    alpha = min(alpha_range[1], max(alpha_range[0], beta_range[0] - low))
    alpha = min(alpha, beta_range[1] - low) if beta_range[1] - low >= alpha_range[0] else alpha
    return Width(low, alpha, min(alpha + low, 1.0))
