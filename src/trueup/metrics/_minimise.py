"""The true minimiser of a sum of losses, for many groups of rounds at once.

The slope of every analytic loss is piecewise linear with jumps (`trueup.losses.Pieces`), and so is
that of a weighted sum. Sort the knots within each group, add up what happens to the slope, and the
minimum is where it first reaches zero: exact to rounding, in the time of one sort. Losses known
only by functions (`trueup.losses.Convex`) are minimised by bisection on the summed slopes instead.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from trueup.losses import Pieces, pieces_of, refuse_wrong
from trueup.properties import Expectile, Mean, Median, Quantile
from trueup.protocols import FloatArray, IntArray, Loss, Property

LARGEST_STRETCHES = 1024  # of a sum
BISECTIONS = 64  # halves [0, 1] below the spacing of floats


class Terms(NamedTuple):
    """Losses laid out flat: one entry for each loss, one for each knot of a loss."""

    slope: FloatArray  # right slope at 0, shape (n_losses,)
    curvature: FloatArray  # of the first piece, shape (n_losses,)
    owner: IntArray  # the loss that each knot belongs to, shape (n_knots,)
    knot: FloatArray
    jump: FloatArray
    bend: FloatArray

    def take(self, items: IntArray) -> "Terms":
        """Return the terms of the given losses, each as often as it is named."""
        first = np.searchsorted(self.owner, np.arange(self.slope.size + 1))
        counts = np.diff(first)[items]
        offsets = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        knots = np.repeat(first[items], counts) + offsets
        return Terms(
            self.slope[items],
            self.curvature[items],
            np.repeat(np.arange(items.size), counts),
            self.knot[knots],
            self.jump[knots],
            self.bend[knots],
        )


def terms_of_outcomes(outcomes: FloatArray, wanted: Property) -> Terms | None:
    """Return the terms of a property's losses at many outcomes, or None for a property unknown."""
    ones, none = np.ones(outcomes.size), np.empty(0)
    owner = np.arange(outcomes.size)
    if isinstance(wanted, Median):
        return Terms(-ones, 0 * ones, owner, outcomes, 2 * ones, 0 * ones)
    if isinstance(wanted, Quantile):
        return Terms(-wanted.level * ones, 0 * ones, owner, outcomes, ones, 0 * ones)
    if isinstance(wanted, Mean):
        return Terms(-2 * outcomes, 2 * ones, owner[:0], none, none, none)
    if isinstance(wanted, Expectile):
        level = wanted.level
        bend = (2 * (1 - level) - 2 * level) * ones
        return Terms(-2 * level * outcomes, 2 * level * ones, owner, outcomes, 0 * ones, bend)
    return None


def terms_of_losses(losses: Sequence[Loss]) -> Terms | None:
    """Return the terms of any analytic losses, or None if one is known by functions alone."""
    pieces: list[Pieces] = []
    for loss in losses:
        refuse_wrong(loss)
    for loss in losses:
        found = pieces_of(loss)
        if found is None:
            return None
        pieces.append(found)
    counts = [piece.knots.size for piece in pieces]
    return Terms(
        np.array([piece.slope for piece in pieces], dtype=np.float64),
        np.array([piece.curvature for piece in pieces], dtype=np.float64),
        np.repeat(np.arange(len(pieces)), counts),
        _joined([piece.knots for piece in pieces]),
        _joined([piece.jumps for piece in pieces]),
        _joined([piece.bends for piece in pieces]),
    )


def minimisers(terms: Terms, weights: FloatArray, group: IntArray, n_groups: int) -> FloatArray:
    """Return the smallest minimiser on [0, 1] of each group's weighted sum, shape (n_groups,).

    Each group is divided by the size of its slopes first, so that running sums over all groups do
    not carry the rounding of large ones into small ones.
    """
    sizes = np.abs(terms.slope) + np.abs(terms.curvature)
    sizes += sums(terms.owner, np.abs(terms.jump) + np.abs(terms.bend), sizes.size)
    unit = sums(group, weights * sizes, n_groups)
    weights = weights / np.where(unit > 0, unit, 1.0)[group]
    slope = sums(group, weights * terms.slope, n_groups)
    curvature = sums(group, weights * terms.curvature, n_groups)
    knot_group, scale = group[terms.owner], weights[terms.owner]
    order = np.lexsort((terms.knot, knot_group))
    owner, knot = knot_group[order], terms.knot[order]
    jump, bend = (scale * terms.jump)[order], (scale * terms.bend)[order]
    intercepts = slope[owner] + _running(jump - bend * knot, owner)  # slope at 0, extended
    curvatures = curvature[owner] + _running(bend, owner)
    above = intercepts + curvatures * knot  # the slope just after each knot
    crossing = np.flatnonzero(above >= 0)
    found, first = np.unique(owner[crossing], return_index=True)
    best = _zero(slope, curvature)  # of groups whose slope rises to zero before any knot, or none
    ends = np.searchsorted(owner, np.arange(n_groups), side="right") - 1
    no_crossing = np.bincount(owner, minlength=n_groups) > 0
    no_crossing[found] = False
    last = ends[no_crossing]
    best[no_crossing] = np.maximum(_zero(intercepts[last], curvatures[last]), knot[last])
    place = crossing[first]
    before = intercepts[place] - (jump - bend * knot)[place]
    bent = curvatures[place] - bend[place]
    earlier = np.where((place > 0) & (owner[place - 1] == found), knot[place - 1], 0.0)
    inside = np.clip(_zero(before, bent), earlier, knot[place])
    best[found] = np.where(before + bent * knot[place] > 0, inside, knot[place])
    return best


def differences(
    terms: Terms, weights: FloatArray, forecasts: FloatArray, others: FloatArray
) -> FloatArray:
    """Return weight * (loss at the forecast - loss at the other point) for each loss."""
    straight = terms.slope * (forecasts - others)
    curved = terms.curvature * (forecasts**2 - others**2) / 2
    said = np.maximum(forecasts[terms.owner] - terms.knot, 0)
    other = np.maximum(others[terms.owner] - terms.knot, 0)
    beyond = terms.jump * (said - other) + terms.bend * (said**2 - other**2) / 2
    return np.asarray(weights * (straight + curved + sums(terms.owner, beyond, forecasts.size)))


def bisected_minimiser(losses: Sequence[Loss], weights: FloatArray) -> float:
    """Return a minimiser of a weighted sum of any losses, by bisection on its slopes."""
    low, high = 0.0, 1.0
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        sides = np.array([loss.slopes(middle) for loss in losses])
        left, right = weights @ sides
        if left <= 0 <= right:
            return middle
        low, high = (low, middle) if left > 0 else (middle, high)
    candidates = (low, high)
    totals = [weights @ [loss.value(x) for loss in losses] for x in candidates]
    return candidates[int(np.argmin(totals))]


def sums(group: IntArray, values: FloatArray, n_groups: int) -> FloatArray:
    """Return the sum of the values of each group, shape (n_groups,).

    Added up in stretches and then over the stretches, so that rounding grows like the square root.
    """
    stretches = max(1, min(LARGEST_STRETCHES, values.size // max(n_groups, 1)))
    number = np.arange(values.size) * stretches // max(values.size, 1)
    parts = np.bincount(group + n_groups * number, values, n_groups * stretches)
    return np.asarray(parts.reshape(stretches, n_groups).sum(axis=0))


def _zero(intercept: FloatArray, curvature: FloatArray) -> FloatArray:
    """Where intercept + curvature x is zero, clipped to [0, 1] (an end if it is nowhere)."""
    flat = curvature <= 0
    root = -intercept / np.where(flat, 1.0, curvature)
    return np.asarray(np.where(flat, np.where(intercept >= 0, 0.0, 1.0), np.clip(root, 0, 1)))


def _running(values: FloatArray, owner: IntArray) -> FloatArray:
    """Cumulative sums that start again with each owner."""
    total = np.cumsum(values)
    starts = np.flatnonzero(np.diff(owner, prepend=-1))
    base = np.repeat(total[starts] - values[starts], np.diff(np.append(starts, owner.size)))
    return np.asarray(total - base)


def _joined(arrays: list[FloatArray]) -> FloatArray:
    return np.concatenate(arrays) if arrays else np.empty(0)
