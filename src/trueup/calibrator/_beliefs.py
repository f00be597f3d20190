"""Beliefs about an outcome in the user's units: each becomes a CDF in lines between nodes."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from trueup import _validation as check
from trueup.calibrator._transform import Transform
from trueup.errors import InvalidArgument
from trueup.protocols import ArrayLike, FloatArray

STEPS = 64  # between the outermost nodes of a law that is known by a formula


@dataclass(frozen=True, init=False)
class FromQuantiles:
    """Quantiles that a model forecasts: its CDF in lines between them, flat tails beyond.

    >>> FromQuantiles({0.1: 2.0, 0.5: 3.0, 0.9: 5.0}).nodes()[0].tolist()
    [2.0, 3.0, 5.0]
    """

    levels: tuple[float, ...]
    values: tuple[float, ...]

    def __init__(self, quantiles: Mapping[float, float]) -> None:
        check.instance("quantiles", quantiles, Mapping, "a mapping of levels to values")
        pairs = sorted((check.open_unit("level", k), v) for k, v in quantiles.items())
        if not pairs:
            raise InvalidArgument("quantiles must have at least one level.")
        values = [check.finite("value", value) for _, value in pairs]
        if any(a > b for a, b in pairwise(values)):
            raise check.refuse("quantiles", "non-decreasing in the level", values)
        object.__setattr__(self, "levels", tuple(level for level, _ in pairs))
        object.__setattr__(self, "values", tuple(values))

    def nodes(self) -> tuple[FloatArray, FloatArray]:
        """Return the nodes of the CDF and its heights there."""
        return np.array(self.values), np.array(self.levels)


@dataclass(frozen=True, init=False, eq=False)
class Samples:
    """Draws from a model's forecast distribution, each with the same probability."""

    draws: FloatArray

    def __init__(self, draws: ArrayLike) -> None:
        values = check.vector("draws", draws)
        if not values.size:
            raise InvalidArgument("draws must have at least one number.")
        object.__setattr__(self, "draws", np.sort(values))

    def nodes(self) -> tuple[FloatArray, FloatArray]:
        """Return the nodes of the CDF and its heights there: (k - 1/2) / n at the k-th draw."""
        n = self.draws.size
        return self.draws, (np.arange(n) + 0.5) / n


@dataclass(frozen=True)
class Normal:
    """A normal distribution.

    >>> nodes, heights = Normal(10.0, 2.0).nodes()
    >>> float(np.interp(10.0, nodes, heights))
    0.5
    """

    mean: float
    sd: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "mean", check.finite("mean", self.mean))
        object.__setattr__(self, "sd", check.positive("sd", self.sd))

    def nodes(self) -> tuple[FloatArray, FloatArray]:
        """Return nodes up to four standard deviations away and the CDF there."""
        steps = np.linspace(-4.0, 4.0, STEPS + 1)
        heights = [0.5 * math.erfc(-step / math.sqrt(2)) for step in steps.tolist()]
        return self.mean + self.sd * steps, np.array(heights)


@dataclass(frozen=True, init=False, eq=False)
class Histogram:
    """Bins with their probabilities, flat inside each.

    >>> Histogram([0.0, 1.0, 3.0], [0.25, 0.75]).nodes()[1].tolist()
    [0.0, 0.25, 1.0]
    """

    edges: FloatArray
    probabilities: FloatArray

    def __init__(self, edges: ArrayLike, probabilities: ArrayLike) -> None:
        places = check.vector("edges", edges)
        shares = check.probabilities("probabilities", probabilities)
        if places.size != shares.size + 1 or np.any(np.diff(places) <= 0):
            raise check.refuse("edges", f"{shares.size + 1} increasing numbers", places.tolist())
        object.__setattr__(self, "edges", places)
        object.__setattr__(self, "probabilities", shares)

    def nodes(self) -> tuple[FloatArray, FloatArray]:
        """Return the edges and the CDF there."""
        heights = np.concatenate([[0.0], np.cumsum(self.probabilities)])
        return self.edges, np.minimum(heights, 1.0)


def nodes_of(
    belief: Any, low: float, width: float, transform: Transform | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return the CDF of any belief: one of the above, or an object with `cdf`.

    With a transform, nodes are on its scale, as `low` and `width` are.
    """
    if isinstance(belief, type):
        raise InvalidArgument(f"forecast must be a number, a belief or None, got {belief!r:.60}.")
    if callable(getattr(belief, "nodes", None)):
        nodes, heights = belief.nodes()
        if not isinstance(belief, FromQuantiles | Samples | Normal | Histogram):
            nodes, heights = check.vector("nodes", nodes), check.vector("heights", heights)
            _refuse_nodes(nodes, heights)
        places = np.asarray(nodes, dtype=np.float64)
        if transform is not None:
            places = transform.into_all("forecast", places)
        return places, np.asarray(heights, dtype=np.float64)
    if not callable(getattr(belief, "cdf", None)):
        raise InvalidArgument(f"forecast must be a number, a belief or None, got {belief!r:.60}.")
    places = np.linspace(low, low + width, 4 * STEPS + 1)
    asked = places if transform is None else transform.back_all(places)
    heights = check.vector("cdf", [belief.cdf(place) for place in asked.tolist()])
    if np.any(np.diff(heights) < -check.SUM_TOLERANCE) or heights.min() < 0 or heights.max() > 1:
        raise InvalidArgument("cdf must rise from 0 to 1.")
    return places, np.maximum.accumulate(heights)


def _refuse_nodes(nodes: FloatArray, heights: FloatArray) -> None:
    """Refuse the nodes of a belief of the user's own where they are no CDF."""
    if not nodes.size or nodes.size != heights.size or np.any(np.diff(nodes) < 0):
        raise InvalidArgument("nodes must be one or more, never falling, with a height each.")
    if np.any(np.diff(heights) < 0) or heights[0] < 0 or heights[-1] > 1:
        raise InvalidArgument("heights must rise from 0 to 1.")
