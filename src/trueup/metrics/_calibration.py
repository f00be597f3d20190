"""Calibration errors: how far each forecast is from the property of the outcomes it met."""

import math
from typing import NamedTuple

import numpy as np

from trueup import _validation as check
from trueup.metrics._regret import swap_regret_by_group
from trueup.properties import Median, Quantile
from trueup.protocols import ArrayLike, FloatArray, IntArray, Property

__all__ = [
    "BinnedCalibration",
    "binned_calibration_error",
    "calibration_error",
    "identification_calibration_error",
    "l2_calibration_error",
]


def calibration_error(
    forecasts: ArrayLike,
    outcomes: ArrayLike,
    property: Property,  # noqa: A002 - the word for the idea
) -> float:
    """Return CAL_S: over the distinct forecasts p, n_p times how far p is from the best score.

    It equals swap regret under the property's loss; it is zero exactly when every forecast is the
    property of the outcomes it met.

    Examples
    --------
    >>> from trueup import Mean
    >>> calibration_error([0.5, 0.5, 0.5], [0.0, 0.0, 1.0], Mean())
    0.083333
    """
    return swap_regret_by_group(forecasts, outcomes, property).total


def l2_calibration_error(forecasts: ArrayLike, outcomes: ArrayLike) -> float:
    """Return the sum over distinct forecasts p of n_p (p - mean of its outcomes)^2.

    Examples
    --------
    >>> l2_calibration_error([0.5, 0.5, 1.0], [0.0, 0.0, 1.0])
    0.5
    """
    said, seen = _sequences(forecasts, outcomes)
    groups, group, counts = np.unique(said, return_inverse=True, return_counts=True)
    means = np.bincount(group, seen) / counts
    return float(counts @ (groups - means) ** 2)


def identification_calibration_error(
    forecasts: ArrayLike,
    outcomes: ArrayLike,
    property: Property,  # noqa: A002
    order: float = 1.0,
) -> float:
    """Return MCal_r: the sum over distinct forecasts p of n_p |mean identification|^r.

    Examples
    --------
    >>> from trueup import Median
    >>> identification_calibration_error([0.5, 0.5], [0.6, 0.7], Median())
    2.0
    """
    said, seen = _sequences(forecasts, outcomes, property)
    order = check.positive("order", order)
    _, group, counts = np.unique(said, return_inverse=True, return_counts=True)
    means = np.bincount(group, property.identification(said, seen)) / counts
    return float(counts @ np.abs(means) ** order)


class BinnedCalibration(NamedTuple):
    """Calibration in bins of about equal count.

    `error` and `perfect` are in units of the identification function, per round: for a quantile
    that is coverage, for a mean twice the difference of means.
    """

    error: float  # sum over bins of |sum of identification| / T
    perfect: float  # what a perfectly calibrated forecaster would show, on average, with these bins
    bins: int  # how many there are: as asked, or as the distinct forecasts if those are fewer
    counts: IntArray  # rounds in each, shape (bins,)
    forecasts: FloatArray  # mean forecast in each
    deviations: FloatArray  # mean identification in each, positive where forecasts are too high


def binned_calibration_error(
    forecasts: ArrayLike,
    outcomes: ArrayLike,
    property: Property,  # noqa: A002
    bins: int = 20,
) -> BinnedCalibration:
    """Return the calibration error in bins of the forecasts, of counts as equal as ties allow.

    `perfect` is exact for quantiles and medians without ties at the forecast (a mean absolute
    deviation of binomials); for other properties it is that of a normal law with the spread seen
    in each bin.

    Examples
    --------
    >>> from trueup import Quantile
    >>> result = binned_calibration_error([0.2] * 6 + [0.8] * 4, [0.1, 0.3] * 5, Quantile(0.5), 5)
    >>> result.bins, result.error
    (2, 0.2)
    """
    said, seen = _sequences(forecasts, outcomes, property)
    group = equal_count_groups(said, check.integer("bins", bins, at_least=1))
    slopes = np.asarray(property.identification(said, seen))
    counts = np.bincount(group)
    sums = np.bincount(group, slopes)
    return BinnedCalibration(
        float(np.abs(sums).sum() / said.size),
        _perfect(group, counts, slopes, property) / said.size,
        int(counts.size),
        counts,
        np.bincount(group, said) / counts,
        sums / counts,
    )


def equal_count_groups(values: FloatArray, wanted: int) -> IntArray:
    """Return the number of the bin of each value: about equal counts, equal values together.

    From below, each bin ends where it comes closest to its share of what is left, with one distinct
    value at least for it and for each bin above. So there are as many bins as wanted, or as
    distinct values.

    >>> equal_count_groups(np.array([0.1, 0.5, 0.5, 0.5, 0.9, 0.9]), 2)
    array([0, 0, 0, 0, 1, 1])
    """
    _, value, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    bins = min(wanted, counts.size)
    starts, reached = [0], 0
    for left in range(bins, 1, -1):
        share = reached + (values.size - reached) / left
        above = int(np.searchsorted(ends, share))
        nearest = above - (above > 0 and share - ends[above - 1] <= ends[above] - share)
        last = min(max(nearest, starts[-1]), counts.size - left)
        starts.append(last + 1)
        reached = int(ends[last])
    number = np.searchsorted(starts, np.arange(counts.size), side="right") - 1
    return np.asarray(number[value], dtype=np.int64)


def _perfect(group: IntArray, counts: IntArray, slopes: FloatArray, wanted: Property) -> float:
    """Sum over bins of E|sum of identification| under perfect calibration."""
    if isinstance(wanted, Quantile | Median):
        level, unit = (0.5, 2.0) if isinstance(wanted, Median) else (wanted.level, 1.0)
        return unit * sum(binomial_deviation(int(n), level) for n in counts)
    means = np.bincount(group, slopes) / counts
    spread = np.bincount(group, (slopes - means[group]) ** 2)
    return float(np.sqrt(2 * spread / math.pi).sum())


def binomial_deviation(count: int, probability: float) -> float:
    """Return E|X - np| of a binomial X, by de Moivre's closed form.

    >>> binomial_deviation(2, 0.5)
    0.5
    """
    m = math.floor(count * probability) + 1
    if m > count:  # probability 1 up to rounding: nothing varies
        return 0.0
    log_term = (
        math.lgamma(count + 1)
        - math.lgamma(m + 1)
        - math.lgamma(count - m + 1)
        + m * math.log(probability)
        + (count - m + 1) * math.log1p(-probability)
    )
    return 2 * m * math.exp(log_term)


def _sequences(
    forecasts: ArrayLike, outcomes: ArrayLike, wanted: Property | None = None
) -> tuple[FloatArray, FloatArray]:
    if wanted is not None:
        check.instance("property", wanted, Property, "a property such as Median()")
    said = check.unit_vector("forecasts", forecasts)
    seen = check.unit_vector("outcomes", outcomes)
    check.same_length("forecasts and outcomes", said, seen)
    if said.size == 0:
        raise check.refuse("forecasts", "at least one", 0)
    return said, seen
