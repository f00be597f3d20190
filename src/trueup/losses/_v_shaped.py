"""Lemma 2.1: a convex Lipschitz loss is an average of V-shaped ones plus a constant.

For a convex l on [0, 1] with slopes at most L in size there is a distribution phi of v with

    l(p) / L = E|p - v| + C,        C = (l(0) / L + l(1) / L - 1) / 2,

and its CDF is F(x) = (1 + l'(x) / L) / 2, from the right slope; F(x-) is the same from the left.
By the kink convention of this package phi has mass (1 + l'(0+) / L) / 2 at 0 and
(1 - l'(1-) / L) / 2 at 1; the linear loss c p puts (1 + c) / 2 at 0 and (1 - c) / 2 at 1.
"""

from typing import Any, NamedTuple

import numpy as np

from trueup import _validation as check
from trueup.distributions import FromCdf, Piecewise
from trueup.errors import InvalidArgument
from trueup.losses._convex import pieces_of, refuse_impossible
from trueup.protocols import Distribution, FloatArray, Loss


class VShaped(NamedTuple):
    """The distribution and the constant of lemma 2.1: l / lipschitz = E|p - v| + constant."""

    distribution: Distribution
    constant: float

    def cdf(self, x: Any) -> Any:
        """Return Pr[v <= x]."""
        return self.distribution.cdf(x)

    def cdf_left(self, x: Any) -> Any:
        """Return Pr[v < x]."""
        return self.distribution.cdf_left(x)

    def expected_distance(self, p: Any) -> Any:
        """Return E|p - v|."""
        return self.distribution.expected_distance(p)

    def quantile_set(self, level: float) -> tuple[float, float]:
        """Return the ends of the interval of all `level`-quantiles of v."""
        return self.distribution.quantile_set(level)


def v_shaped(loss: Loss, lipschitz: float | None = None) -> VShaped:
    """Return the V-shaped decomposition of a loss divided by its Lipschitz constant.

    Parameters
    ----------
    loss : Loss
    lipschitz : float, optional
        Divide by this larger constant instead, as a run with several kinds of losses does.

    Examples
    --------
    >>> from trueup.losses import Pinball
    >>> decomposition = v_shaped(Pinball(0.3, 0.9))
    >>> decomposition.cdf(0.2), decomposition.cdf(0.3)
    (0.0, 0.555556)
    >>> 0.9 * (decomposition.expected_distance(0.8) + decomposition.constant)
    0.05
    """
    check.instance("loss", loss, Loss, "a loss with value, slopes and lipschitz")
    scale = _scale(loss, lipschitz)
    constant = (loss.value(0.0) / scale + loss.value(1.0) / scale - 1) / 2
    pieces = pieces_of(loss)
    if pieces is None:
        law = FromCdf(
            lambda x: (1 + _possible_slopes(loss, x)[1] / scale) / 2,
            lambda x: (1 + _possible_slopes(loss, x)[0] / scale) / 2,
        )
        return VShaped(law, float(constant))
    nodes = np.unique(np.concatenate([[0.0], pieces.knots, [1.0]]))
    below, above = loss.slopes(nodes)
    left, right = (1 + below / scale) / 2, (1 + above / scale) / 2
    left[0], right[-1] = 0.0, 1.0
    return VShaped(Piecewise(nodes, left, right), float(constant))


def _scale(loss: Loss, lipschitz: float | None) -> float:
    """What to divide by; a constant loss is divided by 1."""
    if lipschitz is None:
        return loss.lipschitz or 1.0
    bound = check.positive("lipschitz", lipschitz)
    if loss.lipschitz > bound * (1 + check.SLOPE_TOLERANCE):
        raise InvalidArgument(
            f"loss must have slopes of at most {bound}, got {loss!r} with {loss.lipschitz};"
            f" give lipschitz={loss.lipschitz} from the start."
        )
    return max(bound, loss.lipschitz)


def _possible_slopes(loss: Loss, points: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The slopes of a loss known by functions, refused where no convex loss has them."""
    left, right = loss.slopes(points)
    flat = [np.atleast_1d(np.asarray(part, dtype=np.float64)) for part in (points, left, right)]
    refuse_impossible(flat[0], flat[1], flat[2], loss.lipschitz)
    return left, right
