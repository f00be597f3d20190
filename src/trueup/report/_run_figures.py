"""Figures of a run: swap regret, bins, and the evidence of an audit."""

import math
from typing import Any

import numpy as np

from trueup import _validation as check
from trueup.auditor import Audit
from trueup.errors import InvalidArgument
from trueup.protocols import FloatArray
from trueup.report._altair import (
    COLOURS,
    GREEN,
    GREY,
    ISSUED,
    MODEL,
    PURPLE,
    finish,
    load,
    records,
    table,
    under_pointer,
    zoom,
)
from trueup.report._axes import log_axis
from trueup.report._labels import Visits
from trueup.report._numbers import plain
from trueup.report._summary import Summary, number_of

REGRET, CERTIFICATE, BOUND, SMALL_GAMES = "swap regret", "certificate", "bound", "0.55 √t"
ALL_ROUNDS, RESTARTED = "all rounds", "started later"
MOST_BINS = 2_500  # in the maps of all numbers together
LINES = {REGRET: COLOURS[ISSUED], CERTIFICATE: PURPLE, BOUND: GREY, SMALL_GAMES: GREEN}


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

    If there are more than 2,500, those that were drawn most.
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


def evidence(audit: Audit) -> Any:
    """Return the evidence of an audit against calibration, as rounds went by.

    A pale band shows the extremes between two points; the dashed line is the evidence that a
    calibrated forecaster reaches with probability `audit.alpha` at most, ever.
    """
    check.instance("audit", audit, Audit, "an Audit, as of trueup.audit")
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
