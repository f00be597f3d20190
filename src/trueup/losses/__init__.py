"""Convex losses of a forecast in [0, 1], and their decomposition into V-shaped ones.

Units and signs: losses are minimised; `value` and `slopes` are in natural units; every slope is at
most `lipschitz` in size, and that number, not 1, is what an algorithm divides by.

Kink convention, the same for numbers and arrays: `slopes(x)` are the limits of the slope from the
left and from the right. At the ends of the interval nothing lies outside, so there the outer slope
is the steepest one allowed: `slopes(0)[0] == -lipschitz` and `slopes(1)[1] == lipschitz`. This is
what makes (1 + slope) / 2 of a 1-Lipschitz loss a CDF on [0, 1] (lemma 2.1 of the paper).
"""

from trueup.losses._convex import Convex, Scaled, pieces_of, refuse_wrong
from trueup.losses._piecewise import Linear, Pieces, PiecewiseLinear
from trueup.losses._pointed import Absolute, AsymmetricSquared, Huber, Pinball, Squared
from trueup.losses._v_shaped import VShaped, v_shaped

__all__ = [
    "Absolute",
    "AsymmetricSquared",
    "Convex",
    "Huber",
    "Linear",
    "Pieces",
    "PiecewiseLinear",
    "Pinball",
    "Scaled",
    "Squared",
    "VShaped",
    "pieces_of",
    "refuse_wrong",
    "v_shaped",
]
