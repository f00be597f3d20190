"""The page: one HTML file with everything in it, that asks for nothing from anywhere.

User's words reach it in two ways, both closed: as text, through `html.escape`, and inside the
figures' JSON, where `<`, `>` and `&` are written as escapes, so no tag can begin or end there.
"""

import json
import platform
from collections.abc import Callable
from functools import lru_cache
from html import escape
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np

import trueup
from trueup.report import _captions as captions
from trueup.report import charts
from trueup.report._altair import COLOURS, ISSUED, MODEL, load, load_converter
from trueup.report._numbers import percent, plain
from trueup.report._summary import NumberSummary, Score, Summary
from trueup.report._verdict import verdict_of
from trueup.report._words import clean

POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline';"
    " img-src data: blob:; base-uri 'none'; form-action 'none'"
)  # the figures' language is compiled in the page; nothing is fetched and nothing is sent
DRAG = "Drag a figure to move it, hold Ctrl and turn the wheel to zoom, double-click to go back."


class Figure(NamedTuple):
    """A section with one figure, or one a number."""

    place: str
    title: str
    caption: str
    charts: list[tuple[str, Any]]  # a heading (may be empty) and the chart


def html_of(
    summary: Summary,
    *,
    settings: dict[str, Any] | None,
    audit: Any,
    title: str,
    command: str | None,
) -> str:
    """Return the page."""
    load()
    script, title = bundle(), clean(title, lines=True)
    figures = figures_of(summary, audit)
    specs = {
        f"{figure.place}-{n}": spec_of(chart)
        for figure in figures
        for n, (_, chart) in enumerate(figure.charts)
    }
    parts = [
        "<!doctype html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f'<meta name="generator" content="trueup {trueup.__version__}">',
        f"<title>{escape(title)}</title>",
        f"<style>{_own('page.css')}</style>",
        "</head>",
        "<body>",
        "<main>",
        f"<h1>{escape(title)}</h1>",
        _verdict(summary, audit),
        "<noscript><p>The figures need JavaScript; the words and tables do not.</p></noscript>",
        *[_section(figure) for figure in figures],
        _scores(summary),
        _reproduce(summary, settings, command),
        "</main>",
        f'<script type="application/json" id="figures">{json_for_script(specs)}</script>',
        f"<script>{script}</script>",
        f"<script>{_own('page.js')}</script>",
        "</body>",
        "</html>",
    ]
    return "\n".join(parts) + "\n"


@lru_cache(maxsize=1)
def bundle() -> str:
    """Return the script that draws figures, fit for the Vega-Lite of the Altair that is here."""
    version = ".".join(load().SCHEMA_VERSION.lstrip("v").split(".")[:2])
    text: str = load_converter().javascript_bundle(vl_version=version)
    return text.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def json_for_script(value: Any) -> str:
    """Return JSON that can stand inside a script element: no `<`, `>` or `&` as such.

    >>> json.loads(json_for_script(["</script>"])), "<" in json_for_script(["</script>"])
    (['</script>'], False)
    """
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def spec_of(chart: Any) -> dict[str, Any]:
    """Return a figure as the drawing script wants it."""
    spec: dict[str, Any] = chart.to_dict(validate=False)  # the tests validate; it takes seconds
    spec.pop("$schema", None)
    return spec | {"width": "container"}


def figures_of(summary: Summary, audit: Any) -> list[Figure]:
    """Return the figures that there is something to show in, in the order of the page."""
    figures = [
        Figure(
            "time",
            "Forecast and outcome",
            captions.time(summary),
            [("", charts.over_time(summary))],
        ),
        Figure(
            "reliability",
            "Reliability",
            captions.reliability(summary),
            _each(summary, charts.reliability),
        ),
        Figure(
            "periods",
            "Calibration by time",
            captions.PERIODS,
            _each(summary, charts.calibration_over_time),
        ),
    ]
    if audit is not None:
        figures.append(
            Figure(
                "evidence",
                "Evidence against the model",
                captions.evidence(audit),
                [("", charts.evidence(audit))],
            )
        )
    if summary.regret is not None:
        figures.append(
            Figure(
                "regret",
                "Swap regret",
                captions.regret(summary),
                [("", charts.swap_regret(summary))],
            )
        )
    if any(one.visits is not None for one in summary.numbers):
        figures.append(
            Figure(
                "bins", "Bins at all scales", captions.bins(summary), _each(summary, charts.bins)
            )
        )
    if summary.n_groups:
        figures.append(
            Figure("groups", "Groups", captions.groups(summary), _each(summary, charts.groups))
        )
    return figures


def _each(summary: Summary, chart: Callable[[Summary, int], Any]) -> list[tuple[str, Any]]:
    """Return a chart for each number, with its name where there are several."""
    several = len(summary.numbers) > 1
    return [
        (one.number.name if several else "", chart(summary, k))
        for k, one in enumerate(summary.numbers)
    ]


def _section(figure: Figure) -> str:
    several = len(figure.charts) > 1
    places = "".join(
        f"<div>{f'<h3>{escape(name)}</h3>' if name else ''}"
        f'<div class="chart" id="{figure.place}-{n}"></div></div>'
        for n, (name, _) in enumerate(figure.charts)
    )
    return (
        f'<section id="{figure.place}"><h2>{escape(figure.title)}</h2><figure>'
        f"<figcaption>{_text(figure.caption)}</figcaption>"
        f'<div class="{"several" if several else "single"}">{places}</div></figure></section>'
    )


def _verdict(summary: Summary, audit: Any) -> str:
    verdict = verdict_of(summary, audit)
    lines = "".join(f"<p>{_text(line)}</p>" for line in verdict.sentences)
    headline = f"<strong>{_text(verdict.headline)}</strong>"
    return (
        f'<section class="verdict {verdict.mood}" id="verdict">{headline}{lines}</section>'
        f'<p class="note mouse">{DRAG}</p>'
    )


def _scores(summary: Summary) -> str:
    """Return the table of scores, split into three parts."""
    head = [
        "",
        "rounds",
        "share below",
        "mean loss",
        "miscalibration",
        "discrimination",
        "uncertainty",
    ]
    quantiles = any(one.number.level is not None for one in summary.numbers)
    if not quantiles:
        head.pop(2)
    rows = []
    for one in summary.numbers:
        for kind, score in ((ISSUED, one.issued), (MODEL, one.raw)):
            if score is not None and score.rounds:
                rows.append(_row(one, kind, score, len(summary.numbers) > 1, quantiles))
    sampled = max((one.issued.sampled for one in summary.numbers), default=0)
    note = (
        "Mean loss = miscalibration - discrimination + uncertainty: what a better scale of the same"
        " forecasts would save, what the forecasts know, and what a constant leaves."
    )
    if sampled < max(one.issued.rounds for one in summary.numbers):
        note += f" The three parts are from a uniform sample of {sampled:,} rounds."
    cells = "".join(f"<th>{escape(name)}</th>" for name in head)
    return (
        f'<section id="scores"><h2>Scores</h2><p class="note">{_text(note)}</p>'
        f'<div class="scroll"><table class="numbers"><thead><tr>{cells}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div></section>"
    )


def _row(one: NumberSummary, kind: str, score: Score, several: bool, quantiles: bool) -> str:  # noqa: FBT001
    name = f"{one.number.name}, {kind}" if several else kind
    below = ""
    if quantiles:
        below = percent(score.share(one.number.level), 2)
    values = [f"{score.rounds:,}", *([below] if quantiles else [])]
    values += [
        plain(value)
        for value in (score.loss, score.miscalibration, score.discrimination, score.uncertainty)
    ]
    swatch = f'<span class="swatch" style="background:{COLOURS[kind]}"></span>'
    return (
        f"<tr><td>{swatch}{escape(name)}</td>" + "".join(f"<td>{v}</td>" for v in values) + "</tr>"
    )


def _reproduce(summary: Summary, settings: dict[str, Any] | None, command: str | None) -> str:
    lines = [
        f"trueup {trueup.__version__}",
        f"Python {platform.python_version()}, NumPy {np.__version__}",
    ]
    lines.append(f"wanted: {summary.wanted!r}")
    lines += [clean(f"{name}: {value!r}") for name, value in (settings or {}).items()]
    shown = f"<pre>{escape(clean(command, lines=True))}</pre>" if command else ""
    return (
        '<section id="reproduce"><h2>How to reproduce</h2>'
        '<p class="note">The same input, settings and version give the same numbers.</p>'
        f"{shown}<pre>{escape(chr(10).join(lines))}</pre></section>"
    )


def _text(words: str) -> str:
    """Return words as HTML; a number stays with its per cent sign."""
    return escape(words).replace(" %", "&nbsp;%")


def _own(name: str) -> str:
    return files("trueup.report").joinpath(name).read_text(encoding="utf-8").strip()
