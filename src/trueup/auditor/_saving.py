"""How much loss recalibration would have saved, measured on rounds it was not fitted to.

The rounds are cut into 11 stretches of time. For each but the first an order-preserving
recalibration (isotonic regression under the property's own loss) is fitted to what was known when
the stretch began, and the mean losses of the stretch are compared. Stretches are long, so their
differences are nearly independent even where rounds are not; their mean comes with Student's
interval.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from trueup.auditor._claims import Bounds, Part
from trueup.metrics import isotonic_fit
from trueup.properties import Expectile, Mean, Quantile
from trueup.protocols import FloatArray

STRETCHES = 10  # beside the first
STUDENT = 2.262157  # the 97.5 % point of Student's law with 9 degrees of freedom
FEWEST = 110  # rounds: ten a stretch


class Saving(NamedTuple):
    """Mean loss a round, in units of the loss; for several numbers the sum over them.

    Below 0, recalibration would have made it worse.
    """

    saved: float
    low: float  # of a 95 % interval
    high: float
    loss: float  # of the forecasts as they were, on the same rounds
    rows: int  # compared, at most 16,384 in all


def saving(
    parts: tuple[Part, ...],
    bounds: Bounds | None,
    rows: FloatArray,
    known: FloatArray,
    seen: FloatArray,
    said: FloatArray,
) -> Saving | None:
    """Return what recalibration would have saved on a sample of rounds, in order."""
    if rows.size < FEWEST:
        return None
    unit = float(np.exp2(np.frexp(max(np.abs(seen).max(), np.abs(said).max()))[1] - 1.0))
    seen, said = seen / unit, said / unit  # no scale is too large for squares
    bounds = bounds and (bounds[0] / unit, bounds[1] / unit)
    edges = np.linspace(0, rows.size, STRETCHES + 2).astype(np.int64)
    before, after = np.zeros(STRETCHES), np.zeros(STRETCHES)
    for b, (first, last) in enumerate(pairwise(edges[1:])):
        fitted = np.flatnonzero(known[:first] <= rows[first])
        for k, part in enumerate(parts):
            p, y = said[first:last, k], seen[first:last]
            better = p
            if fitted.size:
                better = p + _offsets(part, said[fitted, k], seen[fitted], p)
            if bounds is not None:
                better = np.clip(better, *bounds)
            before[b] += loss(part, p, y).mean()
            after[b] += loss(part, better, y).mean()
    gains = before - after
    mean, half = float(gains.mean()), float(STUDENT * gains.std(ddof=1) / STRETCHES**0.5)
    size = unit if all(isinstance(part, Quantile) for part in parts) else unit * unit
    saved, low, high, lost = (x * size for x in (mean, mean - half, mean + half, before.mean()))
    if not np.isfinite([saved, low, high, lost]).all():
        return None
    return Saving(saved, low, high, float(lost), int(rows.size - edges[1]))


def _offsets(part: Part, said: FloatArray, seen: FloatArray, new: FloatArray) -> FloatArray:
    """Return what isotonic regression on past rounds adds to new forecasts."""
    low = min(said.min(), seen.min())
    span = max(said.max(), seen.max()) - low
    if span == 0:
        return np.zeros(new.size)
    unit = [np.clip((values - low) / span, 0.0, 1.0) for values in (said, seen)]
    fit = low + span * isotonic_fit(unit[0], unit[1], part)
    levels, place = np.unique(said, return_index=True)
    return np.asarray(np.interp(new, levels, fit[place] - levels))


def loss(part: Part, said: FloatArray, seen: FloatArray) -> FloatArray:
    """Return the losses of a property in the user's units.

    >>> loss(Quantile(0.9), np.array([1.0, 1.0]), np.array([0.0, 2.0]))
    array([0.1, 0.9])
    """
    error = seen - said
    if isinstance(part, Quantile):
        return np.asarray(np.maximum(part.level * error, (part.level - 1) * error))
    if isinstance(part, Mean):
        return np.asarray(error**2)
    assert isinstance(part, Expectile)  # noqa: S101 - of three kinds
    return np.asarray(np.where(error > 0, part.level, 1 - part.level) * error**2)
