"""The split of a mean score into miscalibration, discrimination and uncertainty.

Recalibrate the forecasts in the best order-preserving way (isotonic regression under the
property's own loss) and compare three mean scores: of the forecasts, of the recalibrated ones, of
the best constant.

    score = miscalibration - discrimination + uncertainty

Each part is 0 or more, because the identity and the constants are order-preserving too
(Dimitriadis, Gneiting and Jordan 2021, PNAS 118).

Isotonic regression by thresholds: for a value x, the rounds whose fit is at most x are those up to
the place (in the order of forecasts) where the running sum of the identification at x is largest.
Halving the range of x in every block at once finds the blocks; the fit of a block is the
minimiser of its own sum.
"""

from typing import NamedTuple

import numpy as np

from trueup.metrics._calibration import _sequences
from trueup.metrics._minimise import sums
from trueup.metrics._regret import swap_regret_by_group
from trueup.protocols import ArrayLike, FloatArray, IntArray, Property

__all__ = ["Decomposition", "decompose", "isotonic_fit"]

HALVINGS = 50  # of [0, 1]: blocks whose fits differ by less are one block


class Decomposition(NamedTuple):
    """A mean score and its parts, per round."""

    score: float
    miscalibration: float
    discrimination: float
    uncertainty: float


def decompose(
    forecasts: ArrayLike,
    outcomes: ArrayLike,
    property: Property,  # noqa: A002 - the word for the idea
) -> Decomposition:
    """Return the mean score and its three parts.

    Examples
    --------
    >>> from trueup import Mean
    >>> decompose([0.25, 0.25, 0.75, 0.75], [0.0, 0.0, 1.0, 1.0], Mean())
    Decomposition(score=0.0625, miscalibration=0.0625, discrimination=0.25, uncertainty=0.25)
    """
    said, seen = _sequences(forecasts, outcomes, property)
    constant = swap_regret_by_group(said, seen, property, by=np.zeros(said.size)).best[0]
    score = float(np.mean(property.score(said, seen)))
    fitted = float(np.mean(property.score(isotonic_fit(said, seen, property), seen)))
    uncertainty = float(np.mean(property.score(np.full(said.size, constant), seen)))
    return Decomposition(score, score - fitted, uncertainty - fitted, uncertainty)


def isotonic_fit(
    forecasts: ArrayLike,
    outcomes: ArrayLike,
    property: Property,  # noqa: A002
) -> FloatArray:
    """Return the best recalibration of the forecasts that keeps their order (and ties).

    Examples
    --------
    >>> from trueup import Median
    >>> isotonic_fit([0.1, 0.2, 0.3], [0.5, 0.4, 0.9], Median())
    array([0.4, 0.4, 0.9])
    """
    said, seen = _sequences(forecasts, outcomes, property)
    levels, place = np.unique(said, return_inverse=True)
    block = np.zeros(levels.size, dtype=np.int64)
    low, high = np.zeros(1), np.ones(1)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        slopes = np.asarray(property.identification(middle[block][place], seen))
        above = _above(sums(place, slopes, levels.size), block)
        pairs = 2 * block + above
        used, block = np.unique(pairs, return_inverse=True)
        parent, upper = used // 2, used % 2 == 1
        low, high = (
            np.where(upper, middle[parent], low[parent]),
            np.where(upper, high[parent], middle[parent]),
        )
    result = swap_regret_by_group(said, seen, property, by=block[place])
    best = np.clip(result.best, low, high)  # of a flat minimum, the part that keeps the order
    return np.asarray(best[block][place])


def _above(slopes: FloatArray, block: IntArray) -> IntArray:
    """1 for the levels of each block beyond the last largest running sum (0 counts as one)."""
    starts = np.flatnonzero(np.diff(block, prepend=-1))
    total = np.cumsum(slopes)
    sizes = np.diff(np.append(starts, block.size))
    running = total - np.repeat(total[starts] - slopes[starts], sizes)
    largest = np.maximum(np.maximum.reduceat(running, starts), 0)
    at_top = running >= np.repeat(largest, sizes)
    position = np.arange(block.size)
    last = np.maximum.reduceat(np.where(at_top, position, -1), starts)
    return (position > np.repeat(last, sizes)).astype(np.int64)
