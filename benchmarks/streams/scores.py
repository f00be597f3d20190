"""What is measured of forecasts, the same for all: ours, the rivals', the raw ones.

The first 100 rows of a stream are left out of every measure.

An outcome that equals a quantile forecast counts for the side that is better for the forecaster, in
each bin and each window of its own: where many outcomes are equal (rain: zero), no quantile has a
share of exactly its level below it. Outcomes on the end of an interval are treated alike.

score           mean pinball loss; for means and probabilities (forecast - outcome)^2; for intervals
                the sum of the pinball losses of their two ends
calibration     the sum over 20 bins of abs(how many were covered - how many should be) / T; for
                means of abs(sum of forecast - outcome) / T. Bins have equal counts of what was
                issued, ties together; for intervals, of their width
perfect         the same of a perfectly calibrated forecaster, on average, with these bins; `spread`
                is its standard deviation
worst100, 500   the largest abs(coverage - level) over stretches of so many rows
swap            how much lower the mean score had been with the best shift in each bin, as a share
infinite        the share of infinite forecasts; they are scored as the extreme residual so far
recovered       coverage - level over 500 rows, from the 300th after the stream's hardest break on
"""

import math
from typing import Any

import numpy as np
from streams import Stream, Task

from trueup.metrics._calibration import binomial_deviation, equal_count_groups
from trueup.protocols import FloatArray, IntArray

FIRST, BINS, WINDOWS = 100, 20, (100, 500)
PATIENCE, WATCHED = 300, 500  # rows after a break, and rows looked at then

Measures = dict[str, Any]


def pinball(level: float, above: FloatArray) -> FloatArray:
    """Return the pinball losses of outcome - forecast."""
    return np.where(above >= 0, level, level - 1) * above


def measure(
    stream: Stream, task: Task, said: FloatArray, top: FloatArray | None, infinite: float
) -> Measures:
    """Return all measures of what was said (for an interval: its lower and upper ends)."""
    if len(said) <= FIRST:
        raise ValueError(f"a stream needs more than {FIRST} rows, got {len(said)}")
    found = _recovery(stream, task, said, top)
    y, said = task.y[FIRST:], said[FIRST:]
    top = None if top is None else top[FIRST:]
    if task.kind == "quantile":
        found |= _quantile(float(task.level or 0.5), y, said)
    elif task.kind == "interval" and top is not None:
        found |= _interval(float(task.level or 0.9), y, said, top)
    else:
        found |= _mean(y, said)
    return {key: _short(value) for key, value in (found | {"infinite": infinite}).items()}


def _recovery(stream: Stream, task: Task, said: FloatArray, top: FloatArray | None) -> Measures:
    """Return how far coverage is from the level some time after the forecast broke."""
    if task.level is None or stream.break_row is None:
        return {}
    rows = slice(stream.break_row + PATIENCE, stream.break_row + PATIENCE + WATCHED)
    y, said = task.y[rows], said[rows]
    covered = y <= said if top is None else (said <= y) & (y <= top[rows])
    return {"recovered": covered.mean() - task.level}


def _quantile(level: float, y: FloatArray, said: FloatArray) -> Measures:
    group = equal_count_groups(said, BINS)
    below, at = said > y, said >= y
    losses = pinball(level, y - said)
    return {
        "score": losses.mean(),
        **calibration_of(group, below, at, level),
        **windows_of(below, at, level),
        "coverage": at.mean(),
        "swap": _saved(group, y - said, level, losses),
    }


def _interval(level: float, y: FloatArray, low: FloatArray, high: FloatArray) -> Measures:
    rest = (1 - level) / 2
    inside, on = (low < y) & (y < high), (low <= y) & (y <= high)
    losses = pinball(rest, y - low) + pinball(1 - rest, y - high)
    return {
        "score": losses.mean(),
        **calibration_of(equal_count_groups(high - low, BINS), inside, on, level),
        **windows_of(inside, on, level),
        "coverage": on.mean(),
        "width": (high - low).mean(),
    }


def _mean(y: FloatArray, said: FloatArray) -> Measures:
    group = equal_count_groups(said, BINS)
    error = said - y
    sums, counts = np.bincount(group, error), np.bincount(group)
    variances = np.bincount(group, (error - (sums / counts)[group]) ** 2)
    score = np.mean(error**2)
    return {
        "score": score,
        "calibration": np.abs(sums).sum() / y.size,
        "perfect": np.sqrt(2 * variances / math.pi).sum() / y.size,
        "spread": math.sqrt((1 - 2 / math.pi) * variances.sum()) / y.size,
        "swap": (sums**2 / counts).sum() / y.size / score if score else 0.0,
    }


def calibration_of(group: IntArray, below: Any, at: Any, level: float) -> Measures:
    """Return the calibration error over groups, and what perfect calibration would show."""
    counts = np.bincount(group)
    least, most = np.bincount(group, below), np.bincount(group, at)
    off = np.maximum(np.maximum(least - level * counts, level * counts - most), 0.0)
    perfect = np.array([binomial_deviation(int(n), level) if n else 0.0 for n in counts])
    variance = level * (1 - level) * counts - perfect**2
    total = counts.sum()
    return {
        "calibration": off.sum() / total,
        "perfect": perfect.sum() / total,
        "spread": math.sqrt(max(variance.sum(), 0.0)) / total,
    }


def windows_of(below: Any, at: Any, level: float) -> Measures:
    """Return the largest deviations of coverage over stretches of rows."""
    found: Measures = {}
    for size in WINDOWS:
        if size > below.size:
            found[f"worst{size}"] = None
            continue
        least, most = (np.concatenate([[0], np.cumsum(x)]) for x in (below, at))
        shares = [(x[size:] - x[:-size]) / size for x in (least, most)]
        off = np.maximum(shares[0] - level, level - shares[1])
        found[f"worst{size}"] = max(float(off.max()), 0.0)
    return found


def _saved(group: IntArray, above: FloatArray, level: float, losses: FloatArray) -> float:
    """Return the share of the score that the best shift of each bin would have saved."""
    order = np.lexsort((above, group))
    ordered, counts = above[order], np.bincount(group)
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    best = ordered[starts + np.maximum(np.ceil(level * counts).astype(int) - 1, 0)]
    total = losses.sum()
    return float(1 - pinball(level, above - best[group]).sum() / total) if total else 0.0


def _short(value: Any) -> Any:
    """Return a number of six digits: results are kept in a small file."""
    return None if value is None else float(f"{float(value):.6g}")
