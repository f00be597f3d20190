"""Distributions of a point v on [0, 1], with both one-sided limits of their CDF.

`Piecewise` has atoms and, between them, constant density, so all its answers are exact to
rounding; the losses of `trueup.losses` decompose into it. `FromCdf` is for any other law that is
known by its CDF alone.

Convention: F(0-) = 0 and F(1) = 1, whatever the density near the ends; all mass lies in [0, 1].
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from trueup import _validation as check
from trueup.errors import InvalidArgument
from trueup.protocols import ArrayLike, Distribution, FloatArray

__all__ = ["FromCdf", "Piecewise", "discrete", "mix", "uniform"]

BISECTIONS = 80  # halves [0, 1] until its ends are neighbouring floats
QUADRATURE_TOLERANCE = 1e-11  # absolute, over the whole of [0, 1]
NO_ROOM = 1e-15  # rise times length of a panel: the most by which its value can be wrong
FIRST_PANELS, MOST_CUTS, UNEVEN = 15, 3_000, 0.381966


class Piecewise:
    """A law with atoms at `nodes` and constant density between them.

    Parameters
    ----------
    nodes : array, shape (n,)
        Strictly increasing, from 0 to 1.
    left, right : arrays, shape (n,)
        F(node-) and F(node). F is linear between one node's `right` and the next one's `left`.

    Examples
    --------
    >>> law = mix([discrete([0.5], [1.0]), uniform(0.0, 1.0)], [0.5, 0.5])
    >>> law.cdf_left(0.5), law.cdf(0.5)
    (0.25, 0.75)
    >>> law.quantile_set(0.25)
    (0.5, 0.5)
    >>> law.expected_distance(0.5)
    0.125
    """

    def __init__(self, nodes: ArrayLike, left: ArrayLike, right: ArrayLike) -> None:
        self.nodes = check.unit_vector("nodes", nodes)
        self.left = check.vector("left", left)
        self.right = check.vector("right", right)
        check.same_length("nodes, left and right", self.nodes, self.left, self.right)
        if self.nodes.size < 2 or self.nodes[0] != 0 or self.nodes[-1] != 1:
            raise check.refuse("nodes", "a sequence from 0 to 1", self.nodes.tolist())
        if np.any(np.diff(self.nodes) <= 0):
            raise check.refuse("nodes", "strictly increasing", self.nodes.tolist())
        if self.left[0] != 0 or self.right[-1] != 1:
            raise InvalidArgument("A CDF must start at 0 before the first node and end at 1.")
        climb = np.column_stack([self.left, self.right]).ravel()
        if np.any(np.diff(climb) < 0):
            raise InvalidArgument("A CDF must never fall.")
        steps = np.diff(self.nodes) * (self.right[:-1] + self.left[1:]) / 2
        self._area = np.concatenate([[0.0], np.cumsum(steps)])  # integral of F up to each node

    def __repr__(self) -> str:
        return f"Piecewise(nodes={self.nodes.tolist()}, left={self.left.tolist()}, right={self.right.tolist()})"  # noqa: E501

    def cdf(self, x: Any) -> Any:
        """Return Pr[v <= x]."""
        points = _numbers(x)
        place = np.clip(np.searchsorted(self.nodes, points, side="right") - 1, 0, None)
        return check.like(x, np.where(points < 0, 0.0, self._at(points, place)))

    def cdf_left(self, x: Any) -> Any:
        """Return Pr[v < x]."""
        points = _numbers(x)
        place = np.clip(np.searchsorted(self.nodes, points, side="left") - 1, 0, None)
        at_node = self.nodes[np.minimum(place + 1, self.nodes.size - 1)] == points
        limit = self.left[np.minimum(place + 1, self.nodes.size - 1)]
        inside = np.where(at_node, limit, self._at(points, place))
        return check.like(x, np.where(points <= 0, 0.0, inside))

    def _at(self, points: FloatArray, place: Any) -> FloatArray:
        """F on the stretch that starts at node number `place`, by linear interpolation."""
        after = np.minimum(place + 1, self.nodes.size - 1)
        length = np.where(after > place, self.nodes[after] - self.nodes[place], 1.0)
        share = (np.clip(points, 0, 1) - self.nodes[place]) / length
        value = self.right[place] + share * (self.left[after] - self.right[place])
        return np.asarray(np.where(after > place, value, 1.0))

    def expected_distance(self, p: Any) -> Any:
        """Return E|p - v|: the integral of F up to p plus that of 1 - F from p on."""
        points = _inside(p)
        place = np.clip(np.searchsorted(self.nodes, points, side="right") - 1, 0, None)
        within = (points - self.nodes[place]) * (self.right[place] + self._at(points, place)) / 2
        below = self._area[place] + within
        above = (1 - points) - (self._area[-1] - below)
        return check.like(p, below + above)

    def quantile_set(self, level: float) -> tuple[float, float]:
        """Return the smallest and the largest q with Pr[v < q] <= level <= Pr[v <= q]."""
        level = check.unit("level", level)
        first = int(np.argmax(self.right >= level))
        last = int(self.nodes.size - 1 - np.argmax(self.left[::-1] <= level))
        low = self._crossing(first - 1, level) if first and self.left[first] >= level else None
        rises_later = last + 1 < self.nodes.size and self.right[last] <= level
        high = self._crossing(last, level) if rises_later else None
        return (
            float(self.nodes[first]) if low is None else low,
            float(self.nodes[last]) if high is None else high,
        )

    def _crossing(self, start: int, level: float) -> float:
        """Where F reaches `level` between node number `start` and the next."""
        rise = self.left[start + 1] - self.right[start]
        share = (level - self.right[start]) / rise
        length = self.nodes[start + 1] - self.nodes[start]
        return float(min(self.nodes[start] + share * length, self.nodes[start + 1]))

    def sample(self, rng: np.random.Generator) -> float:
        """Draw v."""
        return self.quantile_set(float(rng.random()))[0]


class FromCdf:
    """A law known by its CDF and the left limits of it.

    Parameters
    ----------
    cdf, cdf_left : functions of an array
        F(x) and F(x-) for x in [0, 1]; the ends are set to F(0-) = 0 and F(1) = 1 here.

    Examples
    --------
    >>> law = FromCdf(lambda x: x**2)
    >>> law.quantile_set(0.25)
    (0.5, 0.5)
    >>> law.expected_distance(1.0)
    0.333333
    """

    def __init__(
        self,
        cdf: Callable[[FloatArray], FloatArray],
        cdf_left: Callable[[FloatArray], FloatArray] | None = None,
    ) -> None:
        self._cdf = cdf
        self._cdf_left = cdf if cdf_left is None else cdf_left

    def cdf(self, x: Any) -> Any:
        """Return Pr[v <= x]."""
        points = _numbers(x)
        inside = self._cdf(np.clip(points, 0, 1))
        return check.like(x, np.where(points < 0, 0.0, np.where(points >= 1, 1.0, inside)))

    def cdf_left(self, x: Any) -> Any:
        """Return Pr[v < x]."""
        points = _numbers(x)
        inside = self._cdf_left(np.clip(points, 0, 1))
        return check.like(x, np.where(points <= 0, 0.0, np.where(points > 1, 1.0, inside)))

    def expected_distance(self, p: Any) -> Any:
        """Return E|p - v| by integrating the CDF."""
        points = _inside(p)
        edges, place = np.unique(np.append(points, [0.0, 1.0]), return_inverse=True)
        parts = [_integral(self.cdf, float(a), float(b)) for a, b in pairwise(edges)]
        below = np.concatenate([[0.0], np.cumsum(parts)])[place[:-2]].reshape(points.shape)
        return check.like(p, below + (1 - points) - (np.sum(parts) - below))

    def quantile_set(self, level: float) -> tuple[float, float]:
        """Return the smallest and the largest q with Pr[v < q] <= level <= Pr[v <= q]."""
        level = check.unit("level", level)
        low = 0.0 if self.cdf(0.0) >= level else _bisect(lambda q: bool(self.cdf(q) >= level))[1]
        high = 1.0 if level >= 1 else _bisect(lambda q: bool(self.cdf_left(q) > level))[0]
        return low, high

    def sample(self, rng: np.random.Generator) -> float:
        """Draw v."""
        return self.quantile_set(float(rng.random()))[0]


def discrete(points: ArrayLike, probabilities: ArrayLike) -> Piecewise:
    """Return the law with the given probability at each point.

    >>> discrete([0.2, 0.7], [0.5, 0.5]).quantile_set(0.5)
    (0.2, 0.7)
    """
    places = check.unit_vector("points", points)
    masses = check.probabilities("probabilities", probabilities)
    check.same_length("points and probabilities", places, masses)
    nodes, index = np.unique(np.concatenate([places, [0.0, 1.0]]), return_inverse=True)
    atoms = np.bincount(index[: places.size], weights=masses, minlength=nodes.size)
    right = np.minimum(np.cumsum(atoms), 1.0)
    right[nodes >= places[masses > 0].max()] = 1.0  # rounding must not leave mass above the last
    left = np.concatenate([[0.0], right[:-1]])
    return Piecewise(nodes, left, right)


def uniform(start: float, end: float) -> Piecewise:
    """Return the uniform law on [start, end].

    >>> uniform(0.25, 0.75).cdf(0.5)
    0.5
    """
    start, end = check.unit("start", start), check.unit("end", end)
    if start >= end:
        raise check.refuse("end", f"above the start {start}", end)
    nodes = np.unique([0.0, start, end, 1.0])
    height = np.clip((nodes - start) / (end - start), 0, 1)
    left = height.copy()
    left[0] = 0.0
    return Piecewise(nodes, left, height)


def mix(laws: Sequence[Distribution], probabilities: ArrayLike) -> Distribution:
    """Return the mixture of several laws.

    >>> mix([discrete([0.0], [1.0]), discrete([1.0], [1.0])], [0.25, 0.75]).cdf(0.5)
    0.25
    """
    shares = check.probabilities("probabilities", probabilities)
    check.same_length("laws and probabilities", laws, shares)
    for law in laws:
        check.instance("law", law, Distribution, "a distribution")
    if all(isinstance(law, Piecewise) for law in laws):
        nodes = np.unique(np.concatenate([law.nodes for law in laws if isinstance(law, Piecewise)]))
        left = sum(share * law.cdf_left(nodes) for law, share in zip(laws, shares, strict=True))
        right = sum(share * law.cdf(nodes) for law, share in zip(laws, shares, strict=True))
        climb = np.column_stack([left, right]).ravel()
        climb = np.minimum(np.maximum.accumulate(climb), 1.0)  # rounding must not make it fall
        climb[0], climb[-1] = 0.0, 1.0
        return Piecewise(nodes, climb[0::2], climb[1::2])
    pairs = list(zip(laws, shares, strict=True))
    return FromCdf(
        lambda x: np.asarray(sum(share * law.cdf(x) for law, share in pairs)),
        lambda x: np.asarray(sum(share * law.cdf_left(x) for law, share in pairs)),
    )


def _numbers(x: Any) -> FloatArray:
    """Any points of the line, NaN refused."""
    points = check.numbers("x", x)
    if np.isnan(points).any():
        raise check.refuse("x", "a number", float("nan"))
    return points


def _inside(p: Any) -> FloatArray:
    """Points of [0, 1]."""
    return check.unit_numbers("p", p)


def _bisect(holds: Callable[[float], bool]) -> tuple[float, float]:
    """Neighbouring floats (a, b) of [0, 1] with holds(b) but not holds(a), for a rising test."""
    low, high = 0.0, 1.0
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        if holds(middle):
            high = middle
        else:
            low = middle
    return low, high


def _lobatto(count: int) -> tuple[FloatArray, FloatArray]:
    """Return nodes on [-1, 1], the ends among them, and weights of Gauss-Lobatto quadrature."""
    basis = np.polynomial.Legendre.basis(count - 1)
    inner = np.sort(basis.deriv().roots().real)
    nodes = np.concatenate([[-1.0], inner, [1.0]])
    return nodes, 2 / (count * (count - 1) * basis(nodes) ** 2)


def _integral(function: Callable[[Any], Any], start: float, end: float) -> float:
    """Integral of a function that never falls, by panels that are cut where they disagree.

    A panel is done when its value agrees with that of its halves and with that of an uneven cut
    (two jumps can hide from one cut, by symmetry), when its rise leaves no room for an error, or
    when so many have been cut that the function must be noisy.
    """
    if end <= start:
        return 0.0
    nodes, weights = _lobatto(9)

    def panel(a: float, b: float) -> float:
        return float(weights @ function((a + b) / 2 + (b - a) / 2 * nodes)) * (b - a) / 2

    edges = np.linspace(start, end, int(FIRST_PANELS * (end - start)) + 2).tolist()
    open_panels, total, cuts = list(pairwise(edges)), 0.0, 0
    while open_panels:
        a, b = open_panels.pop()
        middle, uneven = (a + b) / 2, a + UNEVEN * (b - a)
        halves, whole = panel(a, middle) + panel(middle, b), panel(a, b)
        other = panel(a, uneven) + panel(uneven, b)
        allowed = QUADRATURE_TOLERANCE * (b - a)
        agree = abs(halves - whole) <= allowed and abs(other - halves) <= allowed
        rise = float(function(np.array(b)) - function(np.array(a)))
        if agree or rise * (b - a) <= NO_ROOM or cuts >= MOST_CUTS:
            total += halves
        else:
            cuts += 1
            open_panels += [(a, middle), (middle, b)]
    return total
