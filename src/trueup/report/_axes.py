"""Axes: time as rounds, numbers or dates; log-like scales for long tails."""

from typing import Any

import numpy as np

from trueup.protocols import FloatArray
from trueup.report._altair import load
from trueup.report._summary import Summary

LONG_TAIL = 12.0  # a range so many times the spread of what matters is drawn on a log-like scale


def time_axis(summary: Summary) -> Any:
    """Return the time axis; the field is `x`."""
    alt, series = load(), summary.series
    if not np.isfinite(series.time).any():
        axis = alt.Axis(format="~s" if summary.rounds >= 10_000 else ",d", tickMinStep=1)
        return alt.X("x:Q", title="round", scale=alt.Scale(nice=False, zero=False), axis=axis)
    if summary.dated:
        return alt.X("x:T", title=None, scale=alt.Scale(type="utc", nice=False))
    return alt.X("x:Q", title="time", scale=alt.Scale(nice=False, zero=False))


def places(summary: Summary, rounds: FloatArray) -> FloatArray:
    """Return where rounds stand on the time axis."""
    series, known = summary.series, np.isfinite(summary.series.time)
    if not known.any():
        return rounds
    factor = 1_000 if summary.dated else 1  # dates are in milliseconds there
    return factor * np.interp(rounds, series.start[known], series.time[known])


def scale_of(matters: list[FloatArray], shown: list[FloatArray]) -> dict[str, Any]:
    """Return a linear scale, or a log-like one if some of what is shown is far from what matters.

    >>> scale_of([np.arange(10.0)], [np.arange(12.0)])
    {'zero': False}
    >>> scale_of([np.arange(10.0)], [np.array([500.0])])["type"]
    'symlog'
    """
    core, all_values = (_finite(columns) for columns in (matters, shown))
    if core.size < 8 or not all_values.size:
        return {"zero": False}
    low, high = np.quantile(core, [0.1, 0.9])
    reach = max(all_values.max(), high) - min(all_values.min(), low)
    if reach <= LONG_TAIL * (high - low) or high == low:
        return {"zero": False}
    return {"type": "symlog", "constant": float(f"{(high - low) / 2:.2g}"), "zero": False}


def _finite(columns: list[FloatArray]) -> FloatArray:
    return np.concatenate([column[np.isfinite(column)] for column in columns])


def log_axis() -> Any:
    """Return an axis with a few ticks, at powers of ten."""
    return load().Axis(format="~s", tickCount=5, labelOverlap=True)
