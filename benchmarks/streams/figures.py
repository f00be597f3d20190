"""The figures of the page, as static SVG."""

from pathlib import Path
from typing import Any

import altair as alt
import vl_convert  # noqa: F401 - what Altair writes SVG with
from ours import NAME
from summary import Summary, label

OURS, OTHERS = "#c1121f", "#5b7088"
FARTHEST = 2.0


def drawn(s: Summary, folder: Path) -> list[str]:
    """Draw all; return the names of what there was something to draw of."""
    found = []
    for name, chart in (("scores", scores(s)), ("plane", plane(s)), ("hostile", hostile(s))):
        if chart is not None:
            chart.configure_view(stroke=None).save(str(folder / f"{name}.svg"))
            found.append(name)
    return found


def data(rows: list[dict[str, Any]]) -> Any:
    """Return rows as a chart's data."""
    kind: Any = alt.Data
    return kind(values=rows)


def scores(s: Summary) -> Any:
    """Draw every task of every stream: ours over the best in hindsight, and the best default."""
    rows = []
    for key in s.keys:
        own, defaults = s.ours(key), s.rivals(key, default=True)
        if own is None or not defaults:
            continue
        least = min(defaults, key=lambda row: row["score"])
        for who, row in ((NAME, own), ("best default there", least)):
            ratio = min(max(s.ratio(row), 0.5), 2.0)
            rows.append({"stream": key[0], "ratio": ratio, "who": who, "task": label(key)})
    if not rows:
        return None
    scale = alt.Scale(domain=[NAME, "best default there"], range=[OURS, OTHERS])
    title = "score / best rival in hindsight (cut to 0.5 .. 2)"
    axis = alt.Axis(values=[0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.4, 1.6, 2.0])
    x = alt.X(
        "ratio:Q",
        title=title,
        scale=alt.Scale(type="log", domain=[0.5, 2.0], nice=False),
        axis=axis,
    )
    dots = (
        alt.Chart(data(rows))
        .mark_circle(size=40, opacity=0.7)
        .encode(
            x=x,
            y=alt.Y("stream:N", title=None),
            yOffset=alt.YOffset("who:N"),
            color=alt.Color("who:N", title=None, scale=scale),
        )
    )
    line = alt.Chart(data([{"ratio": 1.0}])).mark_rule(strokeDash=[4, 3]).encode(x=x)
    return (line + dots).properties(width=560, height=alt.Step(14))


def plane(s: Summary) -> Any:
    """Draw every default: mean score against mean calibration error, as far as they are near."""
    keys = s.of("quantile", "interval")
    ratio, calibration = s.means(keys, "ratio"), s.means(keys, "calibration")
    rows = [
        {
            "method": name,
            "ratio": ratio[name],
            "calibration": calibration[name],
            "ours": name == NAME,
        }
        for name in ratio
        if name in calibration and ratio[name] < FARTHEST
    ]
    if not rows:
        return None
    scale = alt.Scale(domain=[True, False], range=[OURS, OTHERS])
    base = alt.Chart(data(rows)).encode(
        x=alt.X(
            "ratio:Q",
            title=f"mean score / best rival in hindsight (those below {FARTHEST:g})",
            scale=alt.Scale(type="log", nice=False, padding=20),
        ),
        y=alt.Y(
            "calibration:Q",
            title="mean calibration error",
            scale=alt.Scale(type="log", nice=False, padding=20),
        ),
        color=alt.Color("ours:N", legend=None, scale=scale),
    )
    dots = base.mark_circle(size=60)
    names = base.mark_text(align="left", dx=6, fontSize=9).encode(text="method:N")
    return (dots + names).properties(width=620, height=460)


def hostile(s: Summary) -> Any:
    """Draw the calibration error of every player against just above."""
    games = [game for game in s.results["games"] if game["maker"] == "just above"]
    if not games:
        return None
    rows = [
        {
            "player": game["player"],
            "T": f"T = {game['rounds']:,}",
            "calibration": max(game["calibration"], 1e-4),
            "ours": game["player"].startswith(NAME),
        }
        for game in games
    ]
    scale = alt.Scale(domain=[True, False], range=[OURS, OTHERS])
    return (
        alt.Chart(data(rows))
        .mark_circle(size=70)
        .encode(
            x=alt.X("calibration:Q", title="calibration error", scale=alt.Scale(type="log")),
            y=alt.Y("player:N", title=None, sort="x"),
            color=alt.Color("ours:N", legend=None, scale=scale),
            column=alt.Column("T:N", title=None),
        )
        .properties(width=280)
    )
