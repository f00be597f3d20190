"""Axes: time as rounds, numbers or dates; log-like scales for long tails."""

from typing import Any

import numpy as np

from trueup.protocols import FloatArray
from trueup.report._altair import load
from trueup.report._summary import Summary

LONG_TAIL = 12.0  # a range so many times the spread of what matters is drawn on a log-like scale


def time_axis(summary: Summary, padding: int = 0) -> Any:
    """Return the time axis, with so many free pixels at its ends; the field is `x`."""
    alt, series = load(), summary.series
    if not np.isfinite(series.time).any():
        axis = alt.Axis(format=",d", tickMinStep=1)
        return alt.X(
            "x:Q",
            title="round",
            scale=alt.Scale(nice=False, zero=False, padding=padding),
            axis=axis,
        )
    if summary.dated:
        return alt.X("x:T", title=None, scale=alt.Scale(type="utc", nice=False, padding=padding))
    return alt.X("x:Q", title="time", scale=alt.Scale(nice=False, zero=False, padding=padding))


def places_of(summary: Summary, rounds: FloatArray) -> FloatArray:
    """Return where rounds stand on the time axis."""
    series, known = summary.series, np.isfinite(summary.series.time)
    if not known.any():
        return rounds
    places = np.interp(rounds, series.start[known], series.time[known])
    return np.asarray(np.round(1_000 * places) if summary.dated else places)  # in milliseconds


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


def ticks_of(limits: dict[str, Any], shown: list[FloatArray]) -> dict[str, Any]:
    """Return where a log-like axis has its ticks: 0 and powers of ten on both sides of it."""
    values = _finite(shown)
    if "type" not in limits or not values.size:
        return {}
    low, high = float(values.min()), float(values.max())
    ticks = [0.0] if low <= 0 <= high else []
    for k in range(-12, 16):
        for tick in (10.0**k, 3 * 10.0**k):
            if tick >= limits["constant"] / 2:
                ticks += [side * tick for side in (-1, 1) if low <= side * tick <= high]
    return {"values": sorted(ticks), "format": number_format([low, high])}


def _finite(columns: list[FloatArray]) -> FloatArray:
    return np.concatenate([column[np.isfinite(column)] for column in columns])


def number_format(values: list[float]) -> str:
    """Return how a log-like axis writes its numbers: plainly, or with powers of ten."""
    sizes = [abs(value) for value in values if value]
    plainly = all(1e-3 <= size < 1e6 for size in sizes)
    return ",~r" if plainly else "~e"


def log_axis(values: FloatArray) -> Any:
    """Return an axis with a few ticks, at powers of ten."""
    ends = [float(values.min()), float(values.max())] if values.size else []
    return load().Axis(format=number_format(ends), tickCount=5, labelOverlap=True)
