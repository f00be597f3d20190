"""The figure of forecast and outcome over time."""

from typing import Any, NamedTuple

import numpy as np

from trueup.protocols import FloatArray
from trueup.report._altair import (
    ISSUED,
    MODEL,
    OUTCOME,
    colour,
    finish,
    load,
    records,
    table,
    under_pointer,
    zoom,
)
from trueup.report._axes import places_of, scale_of, ticks_of, time_axis
from trueup.report._summary import Stretch, Summary, number_of

MOST_LEVELS = 5  # lines of numbers over time
PAUSE = 10  # a step in time that is so many times the usual one breaks the lines


class Line(NamedTuple):
    """What is drawn over time."""

    kind: str
    field: str  # short, because a page has it often
    part: Stretch
    banded: bool  # with the extremes of each stretch


def over_time(summary: Summary) -> Any:
    """Return forecast and outcome over time, with the raw model.

    Up to 1,024 stretches of rounds are drawn; of each the mean and, as a pale band, the smallest
    and the largest value, so no extreme is hidden. Of many numbers five are drawn.
    """
    number_of(summary, 0)
    alt, lines = load(), _lines(summary)
    shown = [column for line in lines for column in (line.part.low, line.part.high)]
    limits = scale_of([line.part.mean for line in lines], shown)
    y = {
        "title": "value (log-like scale)" if "type" in limits else "value",
        "scale": alt.Scale(**limits),
        "axis": alt.Axis(**ticks_of(limits, shown)),
    }
    colours = colour(list(dict.fromkeys(line.kind for line in lines)))
    bands, middles = [], []
    for line in lines:
        base = alt.Chart().transform_calculate(kind=f"'{line.kind}'")
        base = base.encode(x=time_axis(summary), color=alt.Color("kind:N", scale=colours))
        if line.banded:
            low = alt.Y(f"{line.field}l:Q", **y)
            bands.append(base.mark_area(opacity=0.22).encode(y=low, y2=f"{line.field}h:Q"))
        middles.append(_mark(base, line, summary).encode(y=alt.Y(f"{line.field}:Q", **y)))
    if len(summary.numbers) > 1:
        middles.append(middles.pop(0))  # outcomes over the many lines around them
    layers = [*bands, *middles]
    layers[0] = layers[0].add_params(zoom("x", "y"))
    pointer = under_pointer(alt.Chart().encode(x=time_axis(summary)), _tips(summary, lines))
    return finish(alt.layer(*layers, pointer, data=_wide(summary, lines)), 300)


def _lines(summary: Summary) -> list[Line]:
    """Return what is drawn, what was issued last."""
    series, wide = summary.series, summary.series.width > 1
    lines = [Line(OUTCOME, "o", series.outcome, wide and not summary.numbers[0].number.chance)]
    for kind, stretches in ((MODEL, series.raw), (ISSUED, series.issued)):
        chosen = levels_shown(len(stretches))
        lines += [
            Line(kind, f"{kind[0]}{k}", stretches[k], wide and k in (chosen[0], chosen[-1]))
            for k in chosen
        ]
    return lines


def levels_shown(count: int) -> list[int]:
    """Return which of several numbers are drawn over time: all, or a few from end to end.

    >>> levels_shown(3), levels_shown(23)
    ([0, 1, 2], [0, 6, 11, 16, 22])
    """
    return sorted({round(k) for k in np.linspace(0, count - 1, min(count, MOST_LEVELS)).tolist()})


def _mark(base: Any, line: Line, summary: Summary) -> Any:
    """Return how the middle of a line is drawn."""
    if line.kind == OUTCOME and summary.series.width == 1:
        return base.mark_circle(size=14, opacity=0.6)
    thin = line.kind != ISSUED or len(summary.numbers) > 1
    return base.mark_line(strokeWidth=1.0 if thin else 1.7, opacity=0.9)


def _wide(summary: Summary, lines: list[Line]) -> Any:
    """Return a row a stretch, and an empty one where there was a pause in time."""
    series = summary.series
    columns: dict[str, FloatArray] = {"x": places_of(summary, series.start), "start": series.start}
    for line in lines:
        columns[line.field] = line.part.mean
        if line.banded:
            columns |= {f"{line.field}l": line.part.low, f"{line.field}h": line.part.high}
    if np.isfinite(series.overruled).any():
        columns["overruled"] = series.overruled
    steps = np.diff(columns["x"])
    usual = float(np.median(steps)) if steps.size else 0.0
    after = 1 + np.flatnonzero(steps > PAUSE * usual) if usual > 0 else np.empty(0, dtype=int)
    before = columns["x"][after - 1] + usual
    columns = {name: np.insert(column, after, np.nan) for name, column in columns.items()}
    columns["x"][after + np.arange(after.size)] = before
    return table(records(**columns))


def _tips(summary: Summary, lines: list[Line]) -> list[Any]:
    """Return what is told of a stretch."""
    alt, series = load(), summary.series
    tips = [
        alt.Tooltip("start:Q", title="round" if series.width == 1 else "from round", format=",")
    ]
    if summary.dated:
        tips.append(alt.Tooltip("x:T", title="time", timeUnit="utcyearmonthdatehoursminutes"))
    for line in lines:
        own = line.kind == ISSUED and len(summary.numbers) > 1
        name = f"issued, {summary.numbers[int(line.field[1:])].number.name}" if own else line.kind
        tips.append(alt.Tooltip(f"{line.field}:Q", title=name, format=",.5~g"))
        if line.banded and line.kind == OUTCOME:
            ends = (("l", "least"), ("h", "largest"))
            tips += [
                alt.Tooltip(f"{line.field}{end}:Q", title=f"{word} outcome", format=",.5~g")
                for end, word in ends
            ]
    if np.isfinite(series.overruled).any():
        tips.append(alt.Tooltip("overruled:Q", title="overruled", format=".0%"))
    return tips
