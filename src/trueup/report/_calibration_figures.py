"""Figures of calibration: in bins of forecasts, in periods, in groups, with bands."""

from typing import Any

import numpy as np

from trueup.errors import InvalidArgument
from trueup.protocols import FloatArray
from trueup.report._altair import GREY, ISSUED, MODEL, colour, finish, load, records, table, zoom
from trueup.report._axes import places_of, scale_of, ticks_of, time_axis
from trueup.report._summary import Bands, NumberSummary, Summary, number_of

Sides = list[tuple[str, Bands]]  # the model first, so that what was issued is drawn over it


def reliability(summary: Summary, number: int = 0) -> Any:
    """Return what was seen where it said so, for what was issued and for the raw model.

    Each band is where a perfectly calibrated forecaster stays, in all its bins at once, with
    probability 95 %.
    """
    alt, one = load(), number_of(summary, number)
    sides = _sides(one.by_forecast, one.raw_by_forecast)
    said = [bands.said for _, bands in sides]
    limits = scale_of(said, said)
    title = "forecast (log-like scale)" if "type" in limits else "forecast"
    ticks = alt.Axis(**ticks_of(limits, said))
    x = alt.X("said:Q", title=title, scale=alt.Scale(**limits), axis=ticks)
    right = _target(one)
    if one.number.chance:
        ends = [one.by_forecast.said.min(initial=np.inf), one.by_forecast.said.max(initial=-np.inf)]
        diagonal = table(records(said=ends, value=ends))
        right = alt.Chart(diagonal).mark_line(strokeDash=[4, 4], color=GREY)
        right = right.encode(x=x, y=_y(one, "value", deviation=False))
    more = [("said", "mean forecast"), ("start", "from"), ("end", "to")]
    rows = {kind: _columns(bands) for kind, bands in sides}
    layers = _banded(one, list(rows), x, more, deviation=False)
    return finish(alt.layer(right, *layers, data=_table(rows)), 300)


def calibration_over_time(summary: Summary, number: int = 0) -> Any:
    """Return calibration in periods, for what was issued and for the raw model."""
    alt, one = load(), number_of(summary, number)
    rows = {}
    for kind, bands in _sides(one.by_time, one.raw_by_time):
        middle = (bands.start + bands.end) / 2
        rows[kind] = _columns(bands) | {"x": places_of(summary, middle)}
    more = [("start", "from round"), ("end", "to round")]
    layers = _banded(one, list(rows), time_axis(summary, padding=6), more, deviation=True)
    return finish(alt.layer(_target(one), *layers, data=_table(rows)), 260)


def groups(summary: Summary, number: int = 0) -> Any:
    """Return the calibration of the largest groups, with bands."""
    alt, one = load(), number_of(summary, number)
    if one.by_group is None:
        raise InvalidArgument("There are no groups: none were given.")
    sides = _sides(one.by_group, one.raw_by_group)[::-1]
    rows, names = [], list(one.group_names)
    for kind, bands in sides:
        numbered = {"group": names, "place": list(range(len(names)))}
        rows += records(kind=[kind] * len(names), **numbered, **_columns(bands))
    kinds = [kind for kind, _ in sides]
    base = alt.Chart().encode(
        # By a number: a list of names would become part of an expression.
        y=alt.Y("group:N", sort=alt.EncodingSortField("place", op="min"), title=None),
        yOffset=alt.YOffset("kind:N", sort=kinds),
        color=alt.Color("kind:N", scale=colour(kinds)),
        tooltip=[alt.Tooltip("group:N", title="group"), *_tips(one, [])],
    )
    x = alt.X(
        "low:Q",
        title=_title(one, deviation=True),
        scale=alt.Scale(zero=False),
        axis=alt.Axis(**_format(one)),
    )
    bars = base.mark_bar(height=5, opacity=0.3, cornerRadius=2).encode(x=x, x2="high:Q")
    dots = base.mark_circle(size=55, opacity=1).encode(x="value:Q").add_params(zoom("x"))
    return finish(alt.layer(bars, dots, data=table(rows)), max(80, 26 * len(names) + 20))


def _sides(issued: Bands, raw: Bands | None) -> Sides:
    return [(MODEL, raw), (ISSUED, issued)] if raw is not None else [(ISSUED, issued)]


def _columns(bands: Bands) -> dict[str, FloatArray]:
    names = ("rounds", "start", "end", "said", "seen", "value", "low", "high")
    return {name: getattr(bands, name) for name in names}


def _table(sides: dict[str, dict[str, FloatArray]]) -> Any:
    """Return the rows of all sides, each with its kind."""
    rows = []
    for kind, columns in sides.items():
        rows += records(kind=[kind] * columns["rounds"].size, **columns)
    return table(rows)


def _banded(
    one: NumberSummary, kinds: list[str], x: Any, more: list[tuple[str, str]], *, deviation: bool
) -> list[Any]:
    """Return bands, lines and dots of one or two sides."""
    alt = load()
    base = alt.Chart().encode(x=x, color=alt.Color("kind:N", scale=colour(kinds)))
    low, value = (_y(one, field, deviation=deviation) for field in ("low", "value"))
    band = base.mark_area(opacity=0.16).encode(y=low, y2="high:Q")
    lines = base.mark_line(strokeWidth=1.4).encode(y=value)
    dots = base.mark_circle(size=46, opacity=1).encode(y=value, tooltip=_tips(one, more))
    return [band, lines, dots.add_params(zoom("x", "y"))]


def _target(one: NumberSummary) -> Any:
    """Return the dashed line of what is right."""
    data = table([{"level": one.number.level or 0.0}])
    return load().Chart(data).mark_rule(strokeDash=[4, 4], color=GREY).encode(y="level:Q")


def _y(one: NumberSummary, field: str, *, deviation: bool) -> Any:
    alt = load()
    return alt.Y(
        f"{field}:Q",
        title=_title(one, deviation=deviation),
        scale=alt.Scale(zero=False),
        axis=alt.Axis(**_format(one)),
    )


def _title(one: NumberSummary, *, deviation: bool) -> str:
    """Return what `Bands.value` is."""
    if one.number.level is not None:
        return "share of outcomes below"
    if not one.number.compares_means:
        return "mean slope of the loss (0 is right)"
    if one.number.chance and not deviation:
        return "share of ones"
    return "mean outcome less forecast"


def _format(one: NumberSummary) -> dict[str, str]:
    return {"format": "~%"} if one.number.level is not None or one.number.chance else {}


def _tips(one: NumberSummary, more: list[tuple[str, str]]) -> list[Any]:
    alt = load()
    digits = ".2~%" if one.number.level is not None or one.number.chance else ",.4~g"
    title = "share below" if one.number.level is not None else "value"
    return [
        alt.Tooltip("kind:N", title="of"),
        *(alt.Tooltip(f"{name}:Q", title=text, format=",.5~g") for name, text in more),
        alt.Tooltip("rounds:Q", title="rounds", format=","),
        alt.Tooltip("value:Q", title=title, format=digits),
        alt.Tooltip("low:Q", title="band from", format=digits),
        alt.Tooltip("high:Q", title="band to", format=digits),
    ]
