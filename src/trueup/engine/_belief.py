"""Beliefs: laws of v that the engine can aim at.

A belief is about v, the point at which the loss of the round will have its kink: the outcome itself
for a median, and what `v_shaped` says for other losses (`trueup.properties.law_of_v` turns a law
of the outcome into one of v). A law with atoms and pieces of density goes to the kernels as it is;
of any other law a few quantiles are asked, four for each scale until one fits.
"""

import math

import numpy as np

from trueup import _validation as check
from trueup._kernels import _engine as kernels
from trueup.distributions import Piecewise
from trueup.protocols import Distribution, FloatArray

NO_BELIEF = np.zeros(1)

Nodes = tuple[FloatArray, FloatArray, FloatArray, int]


def nodes_of(belief: object, finest: int) -> Nodes:
    """Return a belief as the kernels want it, in a round of spacing 2^-finest."""
    if belief is None:
        return NO_BELIEF, NO_BELIEF, NO_BELIEF, 0
    if isinstance(belief, Piecewise):
        return belief.nodes, belief.left, belief.right, belief.nodes.size
    check.instance("belief", belief, Distribution, "a distribution of v on [0, 1]")
    scale, place = truthful(belief, finest)  # type: ignore[arg-type]
    return NO_BELIEF, np.array([float(scale)]), np.array([float(place)]), -1


def truthful(law: Distribution, finest: int) -> tuple[int, int]:
    """Return the coarsest pair all of whose claims hold under a law, by its quantiles.

    >>> from trueup.distributions import uniform
    >>> truthful(uniform(0.0, 1.0), 4)
    (1, 1)
    """
    slack = kernels.LEVEL_SLACK
    for scale in range(finest + 1):
        ratio, r = 0.5 ** (finest - scale), 0.5**scale
        near, far = 0.5 - 0.5 * ratio, 0.5 - 0.25 * ratio
        low = max(_lowest(law, near - slack), _lowest(law, 1 - far - slack) - 2 * r, 0.0)
        high = min(_highest(law, 1 - near + slack), _highest(law, far + slack) + 2 * r, 1.0)
        first, last = math.ceil(low / r), math.floor(high / r)
        if first <= last:
            return scale, min(max(math.floor((low + high) / 2 / r + 0.5), first), last)
    return finest, 1 << max(finest - 1, 0)


def _lowest(law: Distribution, level: float) -> float:
    return 0.0 if level <= 0 else law.quantile_set(level)[0]


def _highest(law: Distribution, level: float) -> float:
    return 1.0 if level >= 1 else law.quantile_set(level)[1]
