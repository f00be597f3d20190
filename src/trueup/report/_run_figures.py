"""Figures of a run: over time, swap regret, bins, and the evidence of an audit."""

import math
from typing import Any

import numpy as np

from trueup.errors import InvalidArgument
from trueup.protocols import FloatArray
from trueup.report._altair import (
    COLOURS,
    GREEN,
    GREY,
    ISSUED,
    MODEL,
    OUTCOME,
    PURPLE,
    colour,
    finish,
    load,
    records,
    table,
    under_pointer,
    zoom,
)
from trueup.report._axes import log_axis, places, scale_of, ticks_of, time_axis
from trueup.report._labels import Visits
from trueup.report._numbers import plain
from trueup.report._summary import Stretch, Summary, number_of

REGRET, CERTIFICATE, BOUND, SMALL_GAMES = "swap regret", "certificate", "bound", "0.55 √t"
ALL_ROUNDS, RESTARTED = "all rounds", "started later"
MOST_LEVELS = 5  # lines of numbers over time
MOST_BINS = 3_000  # in the maps of all numbers together
PAUSE = 10  # a step in time that is so many times the usual one breaks the lines
LINES = {REGRET: COLOURS[ISSUED], CERTIFICATE: PURPLE, BOUND: GREY, SMALL_GAMES: GREEN}


def over_time(summary: Summary) -> Any:
    """Return forecast and outcome over time, with the raw model.

    Up to 1,024 stretches of rounds are drawn; of each the mean and, as a pale band, the smallest
    and the largest value, so no extreme is hidden.
    """
    number_of(summary, 0)
    alt, series = load(), summary.series
    parts = _parts(summary)
    shown = [column for _, _, part in parts for column in (part.low, part.high)]
    limits = scale_of([part.mean for _, _, part in parts], shown)
    y = {
        "title": "value (log-like scale)" if "type" in limits else "value",
        "scale": alt.Scale(**limits),
        "axis": alt.Axis(**ticks_of(limits, shown)),
    }
    data, kinds = _wide(summary, parts), list(dict.fromkeys(kind for kind, _, _ in parts))
    bands, lines = [], []
    for kind, field, _ in parts:
        base = alt.Chart().transform_calculate(kind=f"'{kind}'")
        base = base.encode(x=time_axis(summary), color=alt.Color("kind:N", scale=colour(kinds)))
        if series.width > 1 and not (kind == OUTCOME and summary.numbers[0].number.chance):
            low = alt.Y(f"{field}_low:Q", **y)
            bands.append(base.mark_area(opacity=0.22).encode(y=low, y2=f"{field}_high:Q"))
        if kind == OUTCOME and series.width == 1:
            mark = base.mark_circle(size=14, opacity=0.6)
        else:
            thin = kind != ISSUED or len(series.issued) > 1
            mark = base.mark_line(strokeWidth=1.0 if thin else 1.7, opacity=0.9)
        lines.append(mark.encode(y=alt.Y(f"{field}:Q", **y)))
    if len(series.issued) > 1:
        lines.append(lines.pop(0))  # outcomes over the many lines around them
    layers = [*bands, *lines]
    layers[0] = layers[0].add_params(zoom("x", "y"))
    pointer = under_pointer(alt.Chart().encode(x=time_axis(summary)), _tips(series, parts))
    return finish(alt.layer(*layers, pointer, data=data), 300)


def _parts(summary: Summary) -> list[tuple[str, str, Stretch]]:
    """Return what is drawn over time: its kind, its field, its numbers."""
    series = summary.series
    parts = [(OUTCOME, "outcome", series.outcome)]
    for kind, stretches in ((MODEL, series.raw), (ISSUED, series.issued)):
        chosen = levels_shown(len(stretches))
        parts += [(kind, f"{kind}{k}", stretches[k]) for k in chosen]
    return parts


def levels_shown(count: int) -> list[int]:
    """Return which of several numbers are drawn over time: all, or a few from end to end.

    >>> levels_shown(3), levels_shown(23)
    ([0, 1, 2], [0, 6, 11, 16, 22])
    """
    return sorted({round(k) for k in np.linspace(0, count - 1, min(count, MOST_LEVELS)).tolist()})


def _wide(summary: Summary, parts: list[tuple[str, str, Stretch]]) -> Any:
    """Return a row a stretch, and an empty one where there was a pause in time."""
    series = summary.series
    columns = {"x": places(summary, series.start), "start": series.start}
    for _, field, part in parts:
        columns[field] = part.mean
        if series.width > 1:
            columns |= {f"{field}_low": part.low, f"{field}_high": part.high}
    if np.isfinite(series.overruled).any():
        columns["overruled"] = series.overruled
    steps = np.diff(columns["x"])
    usual = float(np.median(steps)) if steps.size else 0.0
    after = 1 + np.flatnonzero(steps > PAUSE * usual) if usual > 0 else np.empty(0, dtype=int)
    before = columns["x"][after - 1] + usual
    columns = {name: np.insert(column, after, np.nan) for name, column in columns.items()}
    columns["x"][after + np.arange(after.size)] = before
    return table(records(**columns))


def _tips(series: Any, parts: list[tuple[str, str, Stretch]]) -> list[Any]:
    alt, wide = load(), series.width > 1
    tips = [alt.Tooltip("start:Q", title="from round" if wide else "round", format=",")]
    several = len(series.issued) > 1
    for kind, field, _ in parts:
        name = f"{kind} {int(field[len(kind) :]) + 1}" if several and kind != OUTCOME else kind
        tips.append(alt.Tooltip(f"{field}:Q", title=name, format=",.5~g"))
        if wide and kind == OUTCOME:
            tips += [
                alt.Tooltip(f"{field}_{end}:Q", title=f"{word} {kind}", format=",.5~g")
                for end, word in (("low", "least"), ("high", "largest"))
            ]
    if np.isfinite(series.overruled).any():
        tips.append(alt.Tooltip("overruled:Q", title="overruled", format=".0%"))
    return tips


def swap_regret(summary: Summary) -> Any:
    """Return swap regret by label as rounds went by, on log scales."""
    number_of(summary, 0)
    if summary.regret is None:
        raise InvalidArgument("There is no swap regret by label: no labels were given.")
    alt, regret = load(), summary.regret
    rows = _rows(REGRET, regret.rounds, regret.regret)
    rows += _rows(CERTIFICATE, regret.certified, regret.certificates)
    rows += _rows(BOUND, regret.rounds, regret.bound)
    rows += _rows(SMALL_GAMES, regret.rounds, regret.orientation)
    names = list(dict.fromkeys(row["line"] for row in rows))
    colours = alt.Scale(domain=names, range=[LINES[name] for name in names])
    base = alt.Chart().encode(
        x=alt.X(
            "rounds:Q",
            title="rounds that were guarded and answered",
            scale=alt.Scale(type="log", nice=False, padding=6),
            axis=alt.Axis(format=",~r", tickCount=5),
        ),
        y=alt.Y(
            "value:Q",
            title="in units of loss",
            scale=alt.Scale(type="log"),
            axis=log_axis(np.array([row["value"] for row in rows])),
        ),
        color=alt.Color("line:N", scale=colours, legend=alt.Legend(columns=2)),
        tooltip=[
            alt.Tooltip("line:N", title="line"),
            alt.Tooltip("rounds:Q", title="rounds", format=","),
            alt.Tooltip("value:Q", title="value", format=",.4~g"),
        ],
    )
    size = alt.condition(f"datum.line === '{CERTIFICATE}'", alt.value(70), alt.value(14))
    lines = base.mark_line(strokeWidth=1.8).add_params(zoom("x", "y"))
    dots = base.mark_circle(opacity=1).encode(size=size)
    return finish(alt.layer(lines, dots, data=table(rows)), 300)


def _rows(line: str, rounds: FloatArray, values: FloatArray) -> list[dict[str, Any]]:
    """Return the points of a line that a log scale can show."""
    shown = values > 0
    return records(line=[line] * int(shown.sum()), rounds=rounds[shown], value=values[shown])


def bins(summary: Summary, number: int = 0) -> Any:
    """Return the bins that were drawn, by place and scale: visits as shade, wealth as circles.

    If there are more than 3,000, those that were drawn most.
    """
    one = number_of(summary, number)
    if one.visits is None:
        raise InvalidArgument("There is no map of bins: no labels were given.")
    alt, visits = load(), _most_drawn(one.visits, MOST_BINS // len(summary.numbers))
    known = visits.wealth is not None
    wealth = np.full(visits.rounds.size, math.nan) if visits.wealth is None else visits.wealth
    names = [plain(scale) for scale in visits.scales.tolist()]
    rows = records(
        label=visits.labels,
        start=visits.labels - visits.scales / 2,
        end=visits.labels + visits.scales / 2,
        scale=names,
        rounds=visits.rounds,
        wealth=wealth,
    )
    order = [plain(scale) for scale in sorted(set(visits.scales.tolist()), reverse=True)]
    tips = [
        alt.Tooltip("label:Q", title="bin", format=",.5~g"),
        alt.Tooltip("scale:N", title="scale"),
        alt.Tooltip("rounds:Q", title="drawn in rounds", format=","),
    ]
    tips += [alt.Tooltip("wealth:Q", title="wealth against it", format=".3~g")] if known else []
    base = alt.Chart().encode(y=alt.Y("scale:O", sort=order, title="scale"), tooltip=tips)
    shades = sorted({1.0, _rounded_down(float(visits.rounds.max(initial=1.0)))})
    drawn = alt.Opacity(
        "rounds:Q",
        scale=alt.Scale(type="log", range=[0.12, 0.95]),
        legend=alt.Legend(
            title="drawn", format=",d", values=shades, symbolType="square",
            symbolFillColor=COLOURS[ISSUED],
        ),
    )  # fmt: skip
    start = alt.X("start:Q", title="forecast", scale=alt.Scale(zero=False, nice=False))
    bars = base.mark_rect(color=COLOURS[ISSUED], stroke=GREY, strokeWidth=0.4)
    layers = [bars.encode(x=start, x2="end:Q", opacity=drawn).add_params(zoom("x"))]
    if known:
        largest = _rounded_down(float(wealth.max(initial=0.0)))
        legend = alt.Legend(title="wealth", values=[largest], format=".1~g")
        size = alt.Size("wealth:Q", scale=alt.Scale(range=[0, 160]), legend=legend)
        circles = base.mark_circle(color=COLOURS[MODEL], opacity=0.95)
        layers.append(circles.encode(x="label:Q", size=size))
    return finish(alt.layer(*layers, data=table(rows)), max(110, 32 * len(order)))


def _rounded_down(value: float) -> float:
    """Return the largest number of one digit that is not above a number, for a legend.

    >>> _rounded_down(38_000.0), _rounded_down(0.0)
    (30000.0, 0.0)
    """
    step = 10.0 ** math.floor(math.log10(value)) if value > 0 else 1.0
    return step * math.floor(value / step)


def _most_drawn(visits: Visits, most: int) -> Visits:
    """Return the bins that were drawn most often, in the order of first draws."""
    chosen = np.sort(np.argsort(-visits.rounds, kind="stable")[:most])
    wealth = None if visits.wealth is None else visits.wealth[chosen]
    return Visits(visits.labels[chosen], visits.scales[chosen], visits.rounds[chosen], wealth)


def evidence(audit: Any) -> Any:
    """Return the evidence of an audit against calibration, as rounds went by.

    A pale band shows the extremes between two points; the dashed line is the evidence that a
    calibrated forecaster reaches with probability `audit.alpha` at most, ever.
    """
    alt, curves = load(), [(RESTARTED, audit.restarted_curve), (ALL_ROUNDS, audit.curve)]
    rows = []
    for name, curve in curves:
        columns = {part: np.asarray(getattr(curve, part), dtype=float) for part in curve._fields}
        rows += records(line=[name] * columns["rows"].size, **columns)
    colours = alt.Scale(domain=[ALL_ROUNDS, RESTARTED], range=[COLOURS[ISSUED], PURPLE])
    dashes = alt.Scale(domain=[ALL_ROUNDS, RESTARTED], range=[[1, 0], [5, 3]])
    axis = alt.Axis(labelExpr="datum.value == 0 ? '1' : '10^' + datum.value", tickMinStep=1)
    x = alt.X("rows:Q", title="rounds", scale=alt.Scale(nice=False), axis=alt.Axis(format=",d"))
    base = alt.Chart().encode(x=x, color=alt.Color("line:N", scale=colours))
    y = alt.Y("lowest:Q", title="evidence", axis=axis)
    band = base.mark_area(opacity=0.25).encode(y=y, y2="highest:Q")
    line = base.mark_line(strokeWidth=1.6).add_params(zoom("x", "y"))
    line = line.encode(y="last:Q", strokeDash=alt.StrokeDash("line:N", scale=dashes))
    level = table([{"level": -math.log10(audit.alpha)}])
    needed = alt.Chart(level).mark_rule(strokeDash=[4, 4], color=GREY).encode(y="level:Q")
    tips = [
        alt.Tooltip("rows:Q", title="rounds", format=","),
        alt.Tooltip("last:Q", title="log10 of evidence", format=".2f"),
    ]
    pointer = alt.Chart().transform_filter(f"datum.line === '{ALL_ROUNDS}'").encode(x=x)
    layers = [band, line, needed, under_pointer(pointer, tips)]
    return finish(alt.layer(*layers, data=table(rows)), 260)
