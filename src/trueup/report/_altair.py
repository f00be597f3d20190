"""The way to Altair: loaded when the first figure is made, and what all figures share."""

import math
from importlib import import_module
from typing import Any

import numpy as np

from trueup.errors import MissingExtra

OUTCOME, ISSUED, MODEL = "outcome", "issued", "model"
GREY, GREEN, PURPLE = "#8b93a1", "#2fa36b", "#c2489b"
COLOURS = {OUTCOME: GREY, ISSUED: "#2f7fd6", MODEL: "#ef8722"}  # seen well on white and black
FONT = "system-ui, -apple-system, Segoe UI, Roboto, Helvetica Neue, Arial, sans-serif"
WIDTH = 640  # of a figure alone, in pixels
DIGITS = 6  # of the numbers in a figure's data
MOUSE = "[pointerdown[event.pointerType === 'mouse'], window:pointerup] > window:pointermove!"
WHEEL = "wheel![event.ctrlKey || event.metaKey]"  # a page is scrolled with the wheel alone


def load() -> Any:
    """Return Altair, or say the command that installs it."""
    try:
        return import_module("altair")
    except ImportError:
        raise MissingExtra("A figure", "report") from None


def load_converter() -> Any:
    """Return vl-convert, or say the command that installs it."""
    try:
        return import_module("vl_convert")
    except ImportError:
        raise MissingExtra("A page or a picture", "report") from None


def records(**columns: Any) -> list[dict[str, Any]]:
    """Return rows for a figure: short numbers, None for NaN.

    >>> records(x=[1.0, float("nan")], name=["a", "b"])
    [{'x': 1, 'name': 'a'}, {'x': None, 'name': 'b'}]
    """
    names, lists = list(columns), [_plain(column) for column in columns.values()]
    return [dict(zip(names, row, strict=True)) for row in zip(*lists, strict=True)]


def _plain(column: Any) -> list[Any]:
    values = column.tolist() if isinstance(column, np.ndarray) else list(column)
    return [_short(value) if isinstance(value, float) else value for value in values]


def _short(value: float) -> float | int | None:
    if not math.isfinite(value):
        return None
    if value == int(value) and abs(value) < 1e15:
        return int(value)
    return float(f"{value:.{DIGITS}g}")


def table(rows: list[dict[str, Any]]) -> Any:
    """Return rows as the data of a figure."""
    return load().Data(values=rows)


def colour(kinds: list[str]) -> Any:
    """Return the scale of colours of outcome, issued and model, those that there are."""
    return load().Scale(domain=kinds, range=[COLOURS[kind] for kind in kinds])


def zoom(*encodings: str) -> Any:
    """Return what lets a figure be dragged, and zoomed with Ctrl and the wheel."""
    return load().selection_interval(
        bind="scales", encodings=list(encodings), translate=MOUSE, zoom=WHEEL
    )


def under_pointer(chart: Any, tips: list[Any]) -> Any:
    """Return a line at the point nearest to the pointer, with what there is to tell of it."""
    alt = load()
    nearest = alt.selection_point(
        nearest=True, on="pointerover", encodings=["x"], empty=False, clear="pointerout"
    )
    shade = alt.condition(nearest, alt.value(0.5), alt.value(0.0))
    return chart.mark_rule(color=GREY).encode(opacity=shade, tooltip=tips).add_params(nearest)


def finish(chart: Any, height: int) -> Any:
    """Return the figure with quiet axes; a page makes it as wide as its place."""
    return (
        chart.properties(width=WIDTH, height=height, background="transparent")
        .configure(font=FONT)
        .configure_view(stroke=None)
        .configure_axis(
            gridOpacity=0.5, labelFontSize=11, titleFontSize=12, titleFontWeight="normal",
            labelOverlap=True, tickCount=6, labelLimit=130, titlePadding=8,
        )
        .configure_legend(
            orient="top", title=None, labelFontSize=12, symbolOpacity=1, labelLimit=200,
            columnPadding=18, offset=6,
        )
    )  # fmt: skip
