"""What run.py writes: summaries of the games, tables, the figure, and what is out of bounds."""

import itertools
from typing import Any

import numpy as np
from games import NAMES

import trueup

PANELS = (
    "fair coin",
    "side push",
    "just above, 0.9",
    "midpoint",
    "change of width",
    "sign preservation",
)
FORECASTERS = ("engine", "faithful", "single scale", "Blum-Mansour", "TreeSwap")
COLOURS = ("#c1121f", "#edae49", "#2e8b57", "#30638e", "#8d6cab")
LATE = (1, 10, 100)
THREAT = 0.5  # an adversary that never gets so far has no rate to speak of
EARLIEST_THREAT = 100_000
LEVELS = {
    "0.55: exact value of small games": 0.55,
    "0.399: what a fair coin costs anyone, on average": (2 * np.pi) ** -0.5,
}

Rows = list[dict[str, Any]]


def ratios(rows: Rows, **wanted: object) -> np.ndarray:
    """Return swap regret / sqrt((late + 1) T) of the games that are described."""
    return np.array(
        [
            row["swap_regret"] / np.sqrt((row["late"] + 1) * row["rounds"])
            for row in rows
            if all(row[key] == value for key, value in wanted.items())
        ]
    )


def spread(values: np.ndarray) -> dict[str, Any]:
    """Return mean, standard deviation and largest of some numbers."""
    return {
        "mean": round(float(values.mean()), 4),
        "sd": round(float(values.std(ddof=1)), 4) if values.size > 1 else None,
        "worst": round(float(values.max()), 4),
        "seeds": int(values.size),
    }


def reach(rows: Rows, sizes: list[int]) -> Rows:
    """Return the ratios of every adversary at the sizes of the first table."""
    result = []
    for name in NAMES:
        for rounds in sizes:
            key = {"forecaster": "engine", "adversary": name, "rounds": rounds, "late": 0}
            own = [row for row in rows if all(row[k] == v for k, v in key.items())]
            numbers = {
                "us": round(float(np.mean([row["us"] for row in own])), 2),
                "visited": round(float(np.mean([row["visited"] for row in own])), 1),
                "peak": round(max(row["peak"] for row in own), 4),
                "gains": max(row["gains"] for row in own),
            }
            result.append({"adversary": name, "rounds": rounds, **spread(ratios(own)), **numbers})
    return result


def slopes(rows: Rows, sizes: list[int]) -> dict[str, Any]:
    """Return how fast swap regret grows: slopes of its logarithm in log T.

    One for each adversary, from means over seeds; for the largest mean over adversaries at each T;
    and the steepest among adversaries that are a threat.
    """
    logs = np.log(sizes)
    lines, means = [], []
    for name in NAMES:
        own = [
            ratios(rows, forecaster="engine", adversary=name, rounds=t, late=0).mean()
            for t in sizes
        ]
        means.append(own)
        late_on = [ratio for ratio, t in zip(own, sizes, strict=True) if t >= EARLIEST_THREAT]
        slope = 0.5 + np.polyfit(logs, np.log(own), 1)[0]
        lines.append(
            {
                "adversary": name,
                "ratios": np.round(own, 4).tolist(),
                "slope": round(float(slope), 4),
                "threat": bool(max(late_on) > THREAT),
            }
        )
    largest = 0.5 + np.polyfit(logs, np.log(np.max(means, axis=0)), 1)[0]
    return {
        "sizes": sizes,
        "lines": lines,
        "largest": round(float(largest), 4),
        "worst": max((line["slope"] for line in lines if line["threat"]), default=None),
    }


def late(rows: Rows, rounds: int) -> Rows:
    """Return the ratios against side-push where outcomes come late."""
    key = {"forecaster": "engine", "adversary": "side push", "rounds": rounds}
    return [{"late": d, **spread(ratios(rows, **key, late=d))} for d in (0, *LATE)]


def others(rows: Rows) -> Rows:
    """Return the lines of the figure."""
    result = []
    for name in PANELS:
        for forecaster in FORECASTERS:
            key = {"forecaster": forecaster, "adversary": name, "late": 0}
            sizes = sorted(
                {row["rounds"] for row in rows if all(row[k] == v for k, v in key.items())}
            )
            groups = [spread(ratios(rows, **key, rounds=t)) for t in sizes]
            result.append(
                {"adversary": name, "forecaster": forecaster, "rounds": sizes, "ratios": groups}
            )
    return result


def table(results: dict[str, Any]) -> str:
    """Return the results as Markdown."""
    return "\n".join(
        [
            f"Written by run.py of version {trueup.__version__}. Swap regret is exact and divided"
            " by the Lipschitz constant of the losses; us are of processor time.",
            "",
            *reach_table(results["reach"]),
            "",
            *slope_table(results["slopes"]),
            "",
            *late_table(results["late"]),
            "",
            *others_table(results["others"]),
            "",
        ]
    )


def reach_table(lines: Rows) -> list[str]:
    """Return the table of all adversaries."""
    sizes = sorted({line["rounds"] for line in lines})
    head = " | ".join(f"T = {t:,}: mean (sd) | worst | us a round | pairs" for t in sizes)
    text = [
        "## Swap regret / sqrt(T), 10 seeds",
        "",
        f"| adversary | {head} |",
        "|---|" + "---|" * (4 * len(sizes)),
    ]
    for name in NAMES:
        own = [line for line in lines if line["adversary"] == name]
        cells = " | ".join(
            f"{x['mean']:.2f} ({x['sd']:.2f}) | {x['worst']:.2f} | {x['us']:.2f}"
            f" | {x['visited']:.0f}"
            for x in own
        )
        text.append(f"| {name} | {cells} |")
    peak, gains = (max(line[key] for line in lines) for key in ("peak", "gains"))
    return [*text, "", f"Largest wealth in any game {peak:.3g}; largest sum of gains {gains:.1e}."]


def slope_table(result: dict[str, Any]) -> list[str]:
    """Return the table of slopes."""
    head = " | ".join(f"{t:,}" for t in result["sizes"])
    text = [
        "## Slope of log swap regret in log T",
        "",
        "Means of swap regret / sqrt(T) over 10 seeds (three at ten million), and the slope"
        " of a straight line through the logarithms of swap regret at all sizes. An adversary is a"
        f" threat if a mean from T = {EARLIEST_THREAT:,} on is above {THREAT}.",
        "",
        f"| adversary | {head} | slope | threat |",
        "|---|" + "---|" * (len(result["sizes"]) + 2),
    ]
    for line in result["lines"]:
        cells = " | ".join(f"{ratio:.3f}" for ratio in line["ratios"])
        threat = "yes" if line["threat"] else ""
        text.append(f"| {line['adversary']} | {cells} | {line['slope']:.3f} | {threat} |")
    worst = "none" if result["worst"] is None else f"{result['worst']:.3f}"
    return [
        *text,
        "",
        f"Steepest of the threats: {worst}. Of the largest mean at each T:"
        f" {result['largest']:.3f}.",
    ]


def late_table(lines: Rows) -> list[str]:
    """Return the table of late outcomes."""
    return [
        "## Late outcomes, side push, T = 100,000, 10 seeds",
        "",
        "| d rounds late | swap regret / sqrt((d + 1) T), mean (sd) | worst |",
        "|---|---|---|",
        *(f"| {x['late']} | {x['mean']:.2f} ({x['sd']:.2f}) | {x['worst']:.2f} |" for x in lines),
    ]


def others_table(lines: Rows) -> list[str]:
    """Return the numbers of the figure at every power of ten."""
    sizes = [10**k for k in range(3, 9)]
    text = [
        "## Beside other forecasters: mean swap regret / sqrt(T)",
        "",
        "| adversary | forecaster | " + " | ".join(f"T = {t:,}" for t in sizes) + " |",
        "|---|---|" + "---|" * len(sizes),
    ]
    for line in lines:
        seen = dict(zip(line["rounds"], line["ratios"], strict=True))
        cells = " | ".join(f"{seen[t]['mean']:.2f}" if t in seen else "" for t in sizes)
        text.append(f"| {line['adversary']} | {line['forecaster']} | {cells} |")
    return text


def figure(lines: Rows) -> str:
    """Return the figure as SVG: one panel an adversary, swap regret / sqrt(T) against T."""
    import altair as alt  # noqa: PLC0415 - of the [report] extra
    import vl_convert as vlc  # noqa: PLC0415

    data = [
        {"adversary": x["adversary"], "forecaster": x["forecaster"], "T": t, "ratio": r["mean"]}
        for x in lines
        for t, r in zip(x["rounds"], x["ratios"], strict=True)
    ]
    for name, (words, height) in itertools.product(PANELS, LEVELS.items()):
        ends = [{"adversary": name, "level": words, "T": t, "ratio": height} for t in (900, 1.2e8)]
        data += [*ends, {**ends[1], "label": f"{height:.3g}"}]
    x = alt.X(
        "T:Q",
        scale=alt.Scale(type="log", domain=[900, 1.2e8], nice=False),
        axis=alt.Axis(values=[10**k for k in range(3, 9)], format="~e", grid=False),
    )
    y = alt.Y(
        "ratio:Q",
        scale=alt.Scale(type="log", domain=[0.1, 30], clamp=True),
        axis=alt.Axis(values=[0.1, 0.3, 1, 3, 10, 30], gridColor="#eeeeee"),
        title="swap regret / sqrt(T)",
    )
    names = [*FORECASTERS, *LEVELS]
    colour = alt.Scale(domain=names, range=[*COLOURS, "#555555", "#999999"])
    legend = alt.Legend(orient="bottom", title=None, symbolStrokeWidth=3, labelLimit=300)
    base = alt.Chart(alt.Data(values=data), width=270, height=210)
    played = base.transform_filter("isValid(datum.forecaster)")
    level = base.transform_filter("isValid(datum.level) && !isValid(datum.label)")
    label = base.transform_filter("isValid(datum.label)")
    by_level = alt.Color("level:N", scale=colour, legend=legend)
    layers = [
        level.mark_line(strokeDash=[4, 3], strokeWidth=1.2).encode(x=x, y=y, color=by_level),
        label.mark_text(align="left", dx=4, fontSize=10).encode(
            x=x, y=y, text="label:N", color=by_level
        ),
        played.mark_line(point=alt.OverlayMarkDef(size=18), strokeWidth=1.8, clip=True).encode(
            x=x, y=y, color=alt.Color("forecaster:N", sort=names, scale=colour, legend=legend)
        ),
    ]
    chart = (
        alt.layer(*layers)
        .facet(facet=alt.Facet("adversary:N", sort=list(PANELS), title=None), columns=3, spacing=36)
        .resolve_axis(x="independent", y="independent")
        .configure_view(stroke="#cccccc")
        .configure(background="white", font="sans-serif")
    )
    return vlc.vegalite_to_svg(chart.to_dict())


def unexpected(results: dict[str, Any], expected: dict[str, Any]) -> list[str]:
    """Return a sentence for each number outside what expected.json allows."""
    missed = []
    for what in ("mean", "worst"):
        most = expected["reach"][what]
        missed += [
            f"{x['adversary']}, T = {x['rounds']}: {what} {x[what]:.2f}, at most {most}"
            for x in results["reach"]
            if x[what] > most
        ]
    for what in ("worst", "largest"):
        seen, most = results["slopes"][what], expected["slope"][what]
        if seen is not None and seen > most:
            missed.append(f"slope, {what}: {seen:.3f}, at most {most}")
    most = expected["late"]["mean"]
    missed += [
        f"{x['late']} late: {x['mean']:.2f}, at most {most}"
        for x in results["late"]
        if x["mean"] > most
    ]
    return missed
