"""The figures of a report as Altair charts: each a function of a summary.

| function | shows |
|---|---|
| `over_time` | forecast and outcome, with the user's own model |
| `reliability` | what was seen where it said so, before and after, with bands |
| `calibration_over_time` | the same in periods |
| `swap_regret` | swap regret by label against its certificate, the bound and 0.55 sqrt(t) |
| `bins` | the bins at all scales: how often each was drawn, and the wealth against it |
| `groups` | each group's calibration |
| `evidence` | the wealth of an audit's bettors |

A figure is shown by a notebook as it is; `trueup.report.save` writes it to a file. All need the
extra `report`.
"""

import math
from typing import Any

import numpy as np

from trueup import _validation as check
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
    scale_of,
    table,
    zoom,
)
from trueup.report._summary import Bands, NumberSummary, Stretch, Summary

__all__ = [
    "bins",
    "calibration_over_time",
    "evidence",
    "groups",
    "over_time",
    "reliability",
    "swap_regret",
]


def over_time(summary: Summary) -> Any:
    """Return forecast and outcome over time, with the raw model.

    Up to 1,024 stretches of rounds are drawn; of each the mean and, as a pale band, the smallest
    and the largest value, so no extreme is hidden.
    """
    alt, series = load(), summary.series
    parts = [(OUTCOME, series.outcome)]
    parts += [(MODEL, part) for part in series.raw]
    parts += [(ISSUED, part) for part in series.issued]
    x, times = _time_axis(summary, series.start, series.time)
    limits = scale_of(*(column for _, part in parts for column in (part.low, part.high)))
    title = "value" + (" (log-like scale)" if "type" in limits else "")
    scale = alt.Scale(**limits)
    kinds = list(dict.fromkeys(kind for kind, _ in parts))
    layers = []
    for number, (kind, part) in enumerate(parts):
        data = table(_stretches(series, times, part, shares=number == len(parts) - 1))
        base = alt.Chart(data).transform_calculate(kind=f"'{kind}'")
        base = base.encode(x=x, color=alt.Color("kind:N", scale=colour(kinds)))
        low, mean = (alt.Y(f"{part}:Q", title=title, scale=scale) for part in ("low", "mean"))
        if series.width > 1:
            layers.append(base.mark_area(opacity=0.25).encode(y=low, y2="high:Q"))
        if kind == OUTCOME and series.width == 1:
            mark = base.mark_circle(size=14, opacity=0.55)
        else:
            mark = base.mark_line(strokeWidth=1.6 if kind == ISSUED else 1.1, opacity=0.9)
        layers.append(mark.encode(y=mean, tooltip=_stretch_tips(series.width)))
    layers[0] = layers[0].add_params(zoom("x", "y"))
    return finish(alt.layer(*layers), 300)


def reliability(summary: Summary, number: int = 0) -> Any:
    """Return what was seen where it said so, for what was issued and for the raw model.

    Each band is where a perfectly calibrated forecaster stays, in all its bins at once, with
    probability 95 %.
    """
    one = _one(summary, number)
    sides = [(ISSUED, one.by_forecast)]
    if one.raw_by_forecast is not None:
        sides.insert(0, (MODEL, one.raw_by_forecast))
    alt = load()
    scale = scale_of(*(bands.said for _, bands in sides))
    x = alt.X("said:Q", title="forecast", scale=alt.Scale(**scale))
    layers = []
    if one.number.level is None and one.number.loss_name != "asymmetric squared error":
        ends = [f([f(b.said) for _, b in sides]) for f in (np.min, np.max)]
        line = alt.Chart(table(records(said=ends, seen=ends)))
        layers.append(
            line.mark_line(strokeDash=[4, 4], color=GREY).encode(x=x, y=_y_of(one, "seen"))
        )
    else:
        layers.append(_target_rule(one))
    layers += _banded(one, sides, x, [("said", "mean forecast"), ("start", "from"), ("end", "to")])
    return finish(alt.layer(*layers), 300)


def calibration_over_time(summary: Summary, number: int = 0) -> Any:
    """Return calibration in periods, for what was issued and for the raw model."""
    one = _one(summary, number)
    sides = [(ISSUED, one.by_time)]
    if one.raw_by_time is not None:
        sides.insert(0, (MODEL, one.raw_by_time))
    x, _ = _time_axis(summary, np.empty(0), np.empty(0))
    alt = load()
    layers = [_target_rule(one)]
    layers += _banded(one, sides, x, [("start", "from round"), ("end", "to round")], summary)
    return finish(alt.layer(*layers), 260)


def swap_regret(summary: Summary) -> Any:
    """Return swap regret by label as rounds went by, on log scales."""
    if summary.regret is None:
        raise InvalidArgument("There is no swap regret by label: no labels were given.")
    alt, regret = load(), summary.regret
    rows = _named_rows("swap regret by label", regret.rounds, regret.regret)
    rows += _named_rows("certificate", regret.certified, regret.certificates)
    rows += _named_rows("bound", regret.rounds, regret.bound)
    rows += _named_rows("0.55 √t", regret.rounds, regret.orientation)
    rows = [row for row in rows if row["value"] is not None and row["value"] > 0]
    names = list(dict.fromkeys(row["line"] for row in rows))
    palette = {
        "swap regret by label": COLOURS[ISSUED],
        "certificate": PURPLE,
        "bound": GREY,
        "0.55 √t": GREEN,
    }
    base = alt.Chart(table(rows)).encode(
        x=alt.X(
            "rounds:Q",
            title="rounds that were guarded and answered",
            scale=alt.Scale(type="log", nice=False),
            axis=_log_axis(),
        ),
        y=alt.Y("value:Q", title="in units of loss", scale=alt.Scale(type="log"), axis=_log_axis()),
        color=alt.Color("line:N", scale=alt.Scale(domain=names, range=[palette[n] for n in names])),
        tooltip=[
            alt.Tooltip("line:N", title=" "),
            alt.Tooltip("rounds:Q", format=","),
            alt.Tooltip("value:Q", format=",.4~g"),
        ],
    )
    line = base.mark_line(strokeWidth=1.8).add_params(zoom("x", "y"))
    dots = base.mark_circle(size=50).transform_filter("datum.line == 'certificate'")
    return finish(alt.layer(line, dots), 300)


def bins(summary: Summary, number: int = 0) -> Any:
    """Return the bins that were drawn, by place and scale: visits as shade, wealth as circles."""
    one = _one(summary, number)
    if one.visits is None:
        raise InvalidArgument("There is no map of bins: no labels were given.")
    alt, visits = load(), one.visits
    wealth = visits.wealth if visits.wealth is not None else np.full(visits.rounds.size, math.nan)
    rows = records(
        label=visits.labels,
        start=visits.labels - visits.scales,
        end=visits.labels + visits.scales,
        scale=[f"{scale:.4g}" for scale in visits.scales.tolist()],
        rounds=visits.rounds,
        wealth=wealth,
    )
    order = [f"{scale:.4g}" for scale in sorted(set(visits.scales.tolist()), reverse=True)]
    y = alt.Y("scale:O", sort=order, title="scale of the bin")
    tips = [
        alt.Tooltip("label:Q", title="bin", format=",.5~g"),
        alt.Tooltip("scale:N", title="scale"),
        alt.Tooltip("rounds:Q", title="drawn in rounds", format=","),
        alt.Tooltip("wealth:Q", title="wealth against it", format=".3~g"),
    ]
    base = alt.Chart(table(rows))
    rects = (
        base.mark_rect(color=COLOURS[ISSUED], stroke=GREY, strokeWidth=0.4)
        .encode(
            x=alt.X("start:Q", title="forecast", scale=alt.Scale(zero=False, nice=False)),
            x2="end:Q",
            y=y,
            opacity=alt.Opacity(
                "rounds:Q",
                scale=alt.Scale(type="log", range=[0.12, 0.95]),
                legend=alt.Legend(
                    title="drawn", format="~s", orient="top", tickCount=3, symbolType="square"
                ),
            ),
            tooltip=tips,
        )
        .add_params(zoom("x"))
    )
    layers = [rects]
    if visits.wealth is not None:
        dots = base.mark_circle(color=COLOURS[MODEL], opacity=0.9).encode(
            x="label:Q",
            y=y,
            size=alt.Size(
                "wealth:Q",
                scale=alt.Scale(type="linear", domainMin=0, range=[0, 160]),
                legend=alt.Legend(title="wealth", orient="top", tickCount=3, format="~g"),
            ),
            tooltip=tips,
        )
        layers.append(dots)
    return finish(alt.layer(*layers), max(120, 34 * len(order)))


def groups(summary: Summary, number: int = 0) -> Any:
    """Return the calibration of the largest groups, with bands."""
    one = _one(summary, number)
    shown = [(ISSUED, one.by_group), (MODEL, one.raw_by_group)]
    if one.by_group is None:
        raise InvalidArgument("There are no groups: none were given.")
    alt = load()
    rows = []
    for kind, bands in shown:
        if bands is not None:
            kinds = [kind] * len(one.group_names)
            rows += records(kind=kinds, group=one.group_names, **_columns(bands))
    order = list(dict.fromkeys(row["group"] for row in rows))
    kinds = [kind for kind, bands in shown if bands is not None]
    base = alt.Chart(table(rows)).encode(
        y=alt.Y("group:N", sort=order, title=None),
        color=alt.Color("kind:N", scale=colour(kinds)),
        yOffset=alt.YOffset("kind:N", sort=kinds),
        tooltip=[alt.Tooltip("group:N"), *_tips(one, [])],
    )
    title = _axis_title(one, deviation=True)
    fmt = "%" if one.number.level is not None else "~g"
    x = alt.X("low:Q", title=title, scale=alt.Scale(zero=False), axis=alt.Axis(format=fmt))
    rule = base.mark_bar(height=5, opacity=0.3, cornerRadius=2).encode(x=x, x2="high:Q")
    dots = base.mark_circle(size=55, opacity=1).encode(x="value:Q").add_params(zoom("x"))
    return finish(alt.layer(rule, dots), max(80, 26 * len(order) + 20))


def evidence(audit: Any) -> Any:
    """Return the evidence of an audit against calibration, as rounds went by.

    A pale band shows the extremes between two points; the dashed line is the evidence that a
    calibrated forecaster reaches with probability `audit.alpha` at most, ever.
    """
    alt, curves = load(), [("all rounds", audit.curve), ("restarted", audit.restarted_curve)]
    rows = []
    for name, curve in curves:
        columns = {part: np.asarray(getattr(curve, part), dtype=float) for part in curve._fields}
        rows += records(line=[name] * columns["rows"].size, **columns)
    names = [name for name, _ in curves]
    colours = alt.Scale(domain=names, range=[COLOURS[ISSUED], PURPLE])
    axis = alt.Axis(labelExpr="datum.value == 0 ? '1' : '10^' + datum.value", tickMinStep=1)
    base = alt.Chart(table(rows)).encode(
        x=alt.X("rows:Q", title="rounds", scale=alt.Scale(nice=False), axis=alt.Axis(format="~s")),
        color=alt.Color("line:N", scale=colours),
        tooltip=[
            alt.Tooltip("line:N", title=" "),
            alt.Tooltip("rows:Q", title="rounds", format=","),
            alt.Tooltip("last:Q", title="log10 of evidence", format=".2f"),
        ],
    )
    y = alt.Y("lowest:Q", title="evidence", axis=axis)
    band = base.mark_area(opacity=0.25).encode(y=y, y2="highest:Q")
    line = base.mark_line(strokeWidth=1.6).encode(y="last:Q").add_params(zoom("x", "y"))
    data = table([{"level": -math.log10(audit.alpha)}])
    needed = alt.Chart(data).mark_rule(strokeDash=[4, 4], color=GREY).encode(y="level:Q")
    return finish(alt.layer(band, line, needed), 260)


def _one(summary: Summary, number: int) -> NumberSummary:
    check.instance("summary", summary, Summary, "a Summary, as of Digest.summary()")
    if check.integer("number", number, at_least=0) >= len(summary.numbers):
        raise check.refuse("number", f"below {len(summary.numbers)}", number)
    return summary.numbers[number]


def _columns(bands: Bands) -> dict[str, FloatArray]:
    names = ("rounds", "start", "end", "said", "seen", "value", "low", "high")
    return {name: getattr(bands, name) for name in names}


def _axis_title(one: NumberSummary, *, deviation: bool) -> str:
    """Return what `Bands.value` is."""
    if one.number.level is not None:
        return "share of outcomes below"
    if one.number.chance:
        return "outcomes less forecasts" if deviation else "share of outcomes that were 1"
    if one.number.power == 2 and one.number.loss_name == "squared error":
        return "mean outcome less mean forecast" if deviation else "mean outcome"
    return "mean slope of the loss (0 is right)"


def _y_of(one: NumberSummary, field: str, *, deviation: bool = False) -> Any:
    alt = load()
    axis = alt.Axis(format="~%" if one.number.level is not None or one.number.chance else "~g")
    return alt.Y(
        f"{field}:Q",
        title=_axis_title(one, deviation=deviation),
        scale=alt.Scale(zero=False),
        axis=axis,
    )


def _target_rule(one: NumberSummary) -> Any:
    """Return the dashed line of what is right."""
    level = one.number.level if one.number.level is not None else 0.0
    data = table([{"level": level}])
    return load().Chart(data).mark_rule(strokeDash=[4, 4], color=GREY).encode(y="level:Q")


def _tips(one: NumberSummary, more: list[tuple[str, str]]) -> list[Any]:
    alt = load()
    share = ".2~%" if one.number.level is not None or one.number.chance else ".4~g"
    title = "share below" if one.number.level is not None else "value"
    return [
        alt.Tooltip("kind:N", title=" "),
        *(alt.Tooltip(f"{name}:Q", title=text, format=",.5~g") for name, text in more),
        alt.Tooltip("rounds:Q", title="rounds", format=","),
        alt.Tooltip("value:Q", title=title, format=share),
        alt.Tooltip("low:Q", title="band from", format=share),
        alt.Tooltip("high:Q", title="band to", format=share),
    ]


def _banded(
    one: NumberSummary,
    sides: list[tuple[str, Bands]],
    x: Any,
    more: list[tuple[str, str]],
    summary: Summary | None = None,
) -> list[Any]:
    """Return bands, lines and dots of one or two sides."""
    alt, kinds, layers = load(), [kind for kind, _ in sides], []
    deviation = summary is not None
    for number, (kind, bands) in enumerate(sides):
        columns = _columns(bands)
        if summary is not None:
            columns["x"] = _middles(summary, bands)
        data = table(records(kind=[kind] * bands.rounds.size, **columns))
        base = alt.Chart(data).encode(x=x, color=alt.Color("kind:N", scale=colour(kinds)))
        low = _y_of(one, "low", deviation=deviation)
        layers.append(base.mark_area(opacity=0.18).encode(y=low, y2="high:Q"))
        y = _y_of(one, "value", deviation=deviation)
        layers.append(base.mark_line(strokeWidth=1.4).encode(y=y))
        dots = base.mark_circle(size=46, opacity=1).encode(y=y, tooltip=_tips(one, more))
        layers.append(dots.add_params(zoom("x", "y")) if number == 0 else dots)
    return layers


def _middles(summary: Summary, bands: Bands) -> FloatArray:
    """Return where periods stand on the time axis: the middle of each."""
    middle = (bands.start + bands.end) / 2
    series = summary.series
    known = np.isfinite(series.time)
    if not known.any():
        return middle
    factor = 1_000 if summary.dated else 1
    return factor * np.interp(middle, series.start[known] + series.width / 2, series.time[known])


def _time_axis(summary: Summary, start: FloatArray, time: FloatArray) -> tuple[Any, FloatArray]:
    """Return the time axis, and where stretches stand on it."""
    alt, known = load(), np.isfinite(summary.series.time).any()
    if not known:
        axis = alt.Axis(format="~s" if summary.rounds >= 10_000 else ",d")
        return alt.X("x:Q", title="round", scale=alt.Scale(nice=False), axis=axis), start
    if summary.dated:
        return alt.X("x:T", title=None, scale=alt.Scale(type="utc", nice=False)), 1_000 * time
    return alt.X("x:Q", title="time", scale=alt.Scale(nice=False, zero=False)), time


def _stretches(series: Any, x: FloatArray, part: Stretch, *, shares: bool) -> list[dict[str, Any]]:
    columns = {"x": x, "start": series.start, "mean": part.mean}
    if series.width > 1:
        columns |= {"low": part.low, "high": part.high}
    if shares and np.isfinite(series.overruled).any():
        columns["overruled"] = series.overruled
    return records(**columns)


def _stretch_tips(width: int) -> list[Any]:
    alt = load()
    tips = [alt.Tooltip("start:Q", title="round" if width == 1 else "from round", format=",")]
    if width == 1:
        return [*tips, alt.Tooltip("mean:Q", title="value", format=",.5~g")]
    return [
        *tips,
        alt.Tooltip("mean:Q", title="mean", format=",.5~g"),
        alt.Tooltip("low:Q", title="smallest", format=",.5~g"),
        alt.Tooltip("high:Q", title="largest", format=",.5~g"),
    ]


def _named_rows(line: str, rounds: FloatArray, values: FloatArray) -> list[dict[str, Any]]:
    if not values.size:
        return []
    return records(line=[line] * values.size, rounds=rounds, value=values)


def _log_axis() -> Any:
    """Return an axis with a tick a power of ten."""
    return load().Axis(format="~s", tickCount=5, labelOverlap=True)
