"""Writes the page, a table per metric, and the figures, from the compact results alone."""

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from keeping import write
from ours import ALL_ON, NAME, SETTINGS, VARIANTS
from results import Row
from summary import ORDER, Summary, excesses, label, stress, targets, verdict

METRICS = {
    "score": ("Score / that of the best rival in hindsight", "ratio"),
    "calibration": ("Calibration error in 20 bins", "calibration"),
    "worst100": ("Largest deviation of coverage over 100 rounds", "worst100"),
    "worst500": ("Largest deviation of coverage over 500 rounds", "worst500"),
    "width": ("Mean width of intervals", "width"),
    "infinite": ("Share of infinite forecasts", "infinite"),
    "swap": ("Share of the score that the best shift in each of 20 bins would save", "swap"),
}
SHORT = {"quantile tracker": "tracker", "weighted quantile": "weighted", "raw forecast": "raw"}


def pages(results: dict[str, Any], folder: Path, page: Path) -> None:
    """Write the tables and figures into a folder, and the page."""
    summary = Summary(results)
    for name, (title, measure) in METRICS.items():
        write(folder / "tables" / f"{name}.md", metric_table(summary, title, measure))
    write(folder / "tables" / "ranks.md", rank_table(summary))
    drawn = figures(summary, folder)
    write(page, page_text(summary, link(page, folder), drawn))


def link(page: Path, folder: Path) -> str:
    """Return the way from the page to the folder of tables."""
    if folder.resolve() == page.parent.resolve():
        return "."
    return Path(*[".."] * 1, *folder.resolve().parts[-2:]).as_posix()


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a Markdown table."""
    head = list(head)
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def number(value: Any, digits: int = 3) -> str:
    """Return a number, or a dash."""
    if value is None:
        return "-"
    if value != 0 and abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.{digits}f}"


def metric_table(s: Summary, title: str, measure: str) -> str:
    """Return the table of one metric: a row a task, a column a method."""
    get: Callable[[Row], Any] = s.ratio if measure == "ratio" else lambda row: row[measure]
    names = sorted({row["rival"] for key in s.keys for row in s.rivals(key, default=True)})
    rows, shown = [], set()
    for key in s.keys:
        own = s.ours(key)
        cells = {NAME: None if own is None else get(own)}
        cells |= {row["rival"]: get(row) for row in s.rivals(key, default=True)}
        if all(value is None for value in cells.values()):
            continue
        shown |= {name for name, value in cells.items() if value is not None}
        perfect = own["perfect"] if own is not None and measure == "calibration" else None
        rows.append((key, cells, perfect))
    names = [name for name in (NAME, *names) if name in shown]
    head = ["stream, task", *names]
    head += (
        ["perfect (ours)", "ours by label", "perfect by label"] if measure == "calibration" else []
    )
    lines = []
    for key, cells, perfect in rows:
        line = [label(key), *(number(cells.get(name), 4) for name in names)]
        if measure == "calibration":
            own = s.ours(key) or {}
            line += [
                number(x, 4)
                for x in (perfect, own.get("label_calibration"), own.get("label_perfect"))
            ]
        lines.append(line)
    text = "Rivals at their documented defaults. Generated; see docs/benchmarks.md.\n\n"
    return f"# {title}\n\n{text}{table(head, lines)}"


def rank_table(s: Summary) -> str:
    """Return mean ranks by kind of task and metric, at defaults and at the best in hindsight."""
    text = "# Mean ranks\n\n1 is best. A rival that is missing in more than half of the tasks has none.\n"
    for kind in ORDER:
        keys = s.of(kind)
        if not keys:
            continue
        columns = {
            "score": s.ranks(keys, "score"),
            "score, rivals at their best": s.ranks(keys, "score", default=False),
            "calibration": s.ranks(keys, "calibration"),
            "calibration, rivals at their best": s.ranks(keys, "calibration", default=False),
        }
        if kind in ("quantile", "interval"):
            columns["worst 500"] = s.ranks(keys, "worst500")
        names = sorted(set().union(*columns.values()), key=lambda n: columns["score"].get(n, 99.0))
        rows = [[bold(n), *(number(c.get(n), 2) for c in columns.values())] for n in names]
        text += (
            f"\n## {kind.capitalize()}: {len(keys)} tasks\n\n{table(['method', *columns], rows)}"
        )
    return text


def bold(name: str) -> str:
    """Return ours in bold."""
    return f"**{name}**" if name.startswith((NAME, ALL_ON)) else name


def page_text(s: Summary, to: str, drawn: list[str]) -> str:
    """Return the whole page."""
    parts = (
        preface(s),
        in_short(s),
        reached(s),
        methods(s),
        losses(s),
        by_stream(s),
        hostile(s, drawn, to),
        parts_left_out(s),
        times(s),
        closing(to, drawn),
    )
    return "\n".join(part for part in parts if part)


def preface(s: Summary) -> str:
    """Return what this page is."""
    streams = sorted({key[0] for key in s.keys})
    counts = ", ".join(f"{len(s.of(kind))} {kind}" for kind in ORDER if s.of(kind))
    rivals = sorted({row["rival"] for key in s.keys for row in s.rivals(key)})
    cut = s.results.get("rows")
    short = f"Only the first {cut:,} rows of each stream: a short run.\n" if cut else ""
    settings = len({(row["rival"], row["setting"]) for row in s.results["fixed"]})
    return f"""# Benchmarks on streams

Generated by `benchmarks/streams/run.py`; no number on this page is written by hand.
Version {s.results["version"]}, code {s.results["code"]} (a hash of the calibrator's sources), {s.results["machine"]}.
{short}
{len(streams)} streams ({", ".join(streams)}), {len(s.keys)} tasks: {counts}.
{len(rivals)} rivals in {settings} settings: each counts once with its documented default, and once as its best setting in hindsight, chosen task by task by its score.
The calibrator has its default settings everywhere.
All get the same forecast: the model's own quantile of the level where the file has one beside its point forecast, else the point forecast.
Nobody sees an outcome before it is known (`known_at`); the first 100 rows are not measured.

Reading it honestly:

- The best rival in hindsight is no method that anybody could run: {settings} settings compete in every task, and the winner is known only afterwards.
- The rivals are helped where they must be told something: scales come from the first 100 residuals, and MVP and the internal-regret grid get the range of all residuals.
- An infinite threshold is scored as the extreme residual so far; the share of them is in a table of its own. It counts as it is for coverage.
- An outcome exactly on a forecast counts for the better side, for everybody.
- {through(s)}
- The developers have seen these streams; on streams nobody tuned to, expect less.
"""


def through(s: Summary) -> str:
    """Return which packages took part."""
    here = s.results["packages"]
    missing = [name for name in ("river", "crepes") if name not in here]
    text = (
        f"Through their own packages: {', '.join(here)}."
        if here
        else "No rival's own package was installed."
    )
    if missing and here:
        text += f" Not installed: {', '.join(missing)}."
    return (
        text
        + " All others are our own from the published formulas, held equal to golden values of the"
        " original codes by tests. Left out: MAPIE (milliseconds a round; its adaptive rule is that of"
        " ACI), online-cp (fits a model of its own), aci-python (in no package index)."
    )


def in_short(s: Summary) -> str:
    """Return the result in a few sentences."""
    keys = s.of("quantile", "interval")
    ratio, calibration = s.means(keys, "ratio"), s.means(keys, "calibration")
    if NAME not in ratio or len(ratio) < 2:
        return ""
    others = sorted((value, name) for name, value in ratio.items() if name != NAME)
    near = sorted((value, name) for name, value in calibration.items() if name != NAME)
    lost = [key for key in s.keys if (own := s.ours(key)) is not None and s.ratio(own) > 1.01]
    streams = sorted({key[0] for key in lost})
    text = (
        f"On quantiles and intervals the calibrator's score is {ratio[NAME]:.3f} times that of the best rival in"
        f" hindsight, on average; the best single rival ({others[0][1]}) is at {others[0][0]:.3f}."
        f" Its calibration error is {calibration[NAME]:.4f}; the best rival's"
        f" ({near[0][1]}) {near[0][0]:.4f}."
    )
    if lost:
        text += f" It loses more than 1 % in {len(lost)} of {len(s.keys)} tasks, of {', '.join(streams)}."
    return f"## In short\n\n{text}\n"


def reached(s: Summary) -> str:
    """Return the table of what was to be reached."""
    rows = [[t.what, t.wanted, t.measured, verdict(t)] for t in targets(s)]
    missed = sum(t.reached is False for t in targets(s))
    head = f"{missed} of {len(rows)} lines are not reached." if missed else "All are reached."
    return f"## Reached or not\n\n{head}\n\n{table(['what', 'wanted', 'measured', ''], rows)}"


def methods(s: Summary) -> str:
    """Return one line a method, over the quantile and interval tasks, then the others."""
    text = "## All methods\n"
    for title, kinds in (
        ("Quantiles and intervals", ("quantile", "interval")),
        ("Means", ("mean",)),
        ("Probabilities", ("probability",)),
    ):
        keys = s.of(*kinds)
        if not keys:
            continue
        wanted = kinds[0] == "quantile"
        columns = {
            "score / best": s.means(keys, "ratio"),
            "at its best": s.means(keys, "ratio", default=False),
            "rank": s.ranks(keys, "score"),
        }
        if kinds != ("mean",):
            columns["calibration error"] = s.means(keys, "calibration")
        columns["its rank"] = s.ranks(keys, "calibration")
        if wanted:
            columns |= {
                "worst 100": s.means(keys, "worst100"),
                "worst 500": s.means(keys, "worst500"),
                "infinite": s.means(keys, "infinite"),
            }
        columns["swap"] = s.means(keys, "swap")
        names = sorted(
            {name for column in columns.values() for name in column},
            key=lambda n: columns["score / best"].get(n, columns["at its best"].get(n, 1e9)),
        )
        rows = [[bold(n), *(number(c.get(n)) for c in columns.values())] for n in names]
        own = [row["perfect"] for key in keys if (row := s.ours(key)) is not None]
        note = (
            ""
            if kinds == ("mean",) or not own
            else f" Perfect calibration would show {np.mean(own):.4f}."
        )
        text += (
            f"\n{title}: means over {len(keys)} tasks.{note}\n\n{table(['method', *columns], rows)}"
        )
    return (
        text + "\n*At its best*: with the setting that was best in each task, known afterwards."
        " *Swap*: the share of the score that the best shift in each of 20 bins would save.\n"
    )


def losses(s: Summary) -> str:
    """Return where others are better."""
    pairs = [(s.ratio(own), key) for key in s.keys if (own := s.ours(key)) is not None]
    lost = sorted([pair for pair in pairs if pair[0] > 1], reverse=True)
    text = f"## Where we lose\n\nThe score is worse than that of the best rival in hindsight in {len(lost)} of {len(pairs)} tasks"
    if lost:
        text += f", by more than 1 % in {sum(r > 1.01 for r, _ in lost)}. The {min(len(lost), 12)} worst:\n\n"
        rows = []
        for ratio, key in lost[:12]:
            best = s.best[key]
            rows.append(
                [label(key), number(ratio, 4), f"{best['rival']} {best['setting']}".strip()]
            )
        text += table(["task", "score / best", "best rival"], rows)
    else:
        text += ".\n"
    beaten: dict[str, list[Any]] = {}
    for _, over, key, row in excesses(s):
        if over > 0:
            beaten.setdefault(row["rival"], []).append(key)
    if beaten:
        names = sorted(beaten, key=lambda name: -len(beaten[name]))
        total = sum(len(keys) for keys in beaten.values())
        listed = ", ".join(f"{name} ({len(beaten[name])})" for name in names)
        text += (
            f"\nIn {total} of {len(excesses(s))} tasks some rival's default has a smaller calibration"
            f" error than ours: {listed}.\n"
        )
    return text + better(s)


def better(s: Summary) -> str:
    """Return what single rivals are better at, on average."""
    keys = s.of("quantile", "interval")
    found = []
    for measure, what in (
        ("ratio", "score"),
        ("calibration", "calibration error"),
        ("worst100", "worst stretch of 100"),
        ("worst500", "worst stretch of 500"),
    ):
        means = s.means(keys, measure)
        if NAME not in means:
            continue
        ahead = sorted((v, n) for n, v in means.items() if v < means[NAME])
        names = ", ".join(f"{n} ({v:.4f})" for v, n in ahead) or "nobody"
        found.append(f"- {what}: ours {means[NAME]:.4f}; better: {names}")
    if not found:
        return ""
    return (
        "\nOver quantiles and intervals, rivals at their defaults that are better on average:\n\n"
        + "\n".join(found)
        + "\n"
    )


def by_stream(s: Summary) -> str:
    """Return one line a stream: ours beside the best rivals."""
    rows = []
    for stream in sorted({key[0] for key in s.keys}):
        keys = [key for key in s.keys if key[0] == stream]
        own = [row for key in keys if (row := s.ours(key)) is not None]
        if not own:
            continue
        ratios = [s.ratio(row) for row in own]
        units = [key for key in keys if key[1] != "mean"]
        least = [min(r["calibration"] for r in s.rivals(k, default=True)) for k in units]
        swaps = [row["label_swap"] / row["score"] for row in own if row["score"] > 0]
        cells = [_mean(ratios), max(ratios)]
        cells += [mean_of(s, units, name) for name in ("calibration", "perfect")]
        cells += [_mean(least)]
        cells += [mean_of(s, units, name) for name in ("label_calibration", "label_perfect")]
        cells += [mean_of(s, units, "worst500"), mean_of(s, units, "swap"), _mean(swaps)]
        cells += [mean_of(s, units, "overruled")]
        rows.append([stream, str(len(keys)), *(number(cell, 4) for cell in cells)])
    head = ["stream", "tasks", "score / best", "worst", "calibration error", "perfect"]
    head += ["best default's", "by label", "perfect by label", "worst 500", "swap", "swap by label"]
    head += ["overruled"]
    return (
        f"## Stream by stream\n\n{table(head, rows)}\n*Best default's*: the smallest calibration error"
        " that any rival's default has, task by task. *By label*: in the drawn bins, which the guarantee"
        " is about; *swap by label*, what the best constant for each label would save. *Overruled*: how"
        " often another bin was drawn than the one that was aimed at."
        " Calibration errors of means are in the units of the stream and left out.\n"
    )


def mean_of(s: Summary, keys: list[Any], measure: str) -> float | None:
    """Return the mean of a measure of ours."""
    return _mean([(s.ours(key) or {}).get(measure) for key in keys])


def _mean(values: list[Any]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def hostile(s: Summary, drawn: list[str], to: str) -> str:
    """Return the games against outcome makers."""
    games = s.results["games"]
    if not games:
        return ""
    sizes = sorted({game["rounds"] for game in games})
    text = (
        "## Against outcomes that answer\n\nThe 90 % quantile of outcomes in [0, 1], no forecast given;"
        " the outcome maker sees what may be said, with its probabilities, and never the draw."
        " *Just above* says a little more than everything below 1/2, else 0; *side push* says 1 when the"
        " likeliest forecast is at most 1/2, else 0. Cells: coverage / calibration error in 20 bins of"
        " equal count / the same of equal width (kinder to grids of close pairs).\n\n"
    )
    columns = [(maker, rounds) for maker in sorted({g["maker"] for g in games}) for rounds in sizes]
    at = {(g["player"], g["maker"], g["rounds"]): g for g in games}
    players = sorted(
        {g["player"] for g in games}, key=lambda n: at[n, "just above", sizes[-1]]["calibration"]
    )
    rows = []
    for player in players:
        cells = [at.get((player, *column)) for column in columns]
        rows.append(
            [
                bold(player),
                *(
                    "-"
                    if g is None
                    else f"{g['coverage']:.3f} / {g['calibration']:.4f} / {g['equal_widths']:.4f}"
                    for g in cells
                ),
            ]
        )
    text += table(["method", *(f"{maker}, T = {rounds:,}" for maker, rounds in columns)], rows)
    perfect = at[players[0], "just above", sizes[-1]]["perfect"]
    text += f"\nPerfect calibration would show {max(g['perfect'] for g in games if g['rounds'] == sizes[-1]):.4f} or less at T = {sizes[-1]:,} (the first line: {perfect:.4f}).\n"
    if "hostile" in drawn:
        text += f"\n![calibration error against just above]({to}/hostile.svg)\n"
    found = stress(s)
    if found:
        rows = [
            [maker, number(on, 1), number(engine, 1), number(on / engine, 2)]
            for maker, (on, engine) in found.items()
        ]
        rounds = s.results["stress"][0]["rounds"]
        text += f"\nSwap regret by label after {rounds:,} rounds, means of {len(s.results['stress']) // len(found)} seeds:\n\n"
        text += table(["outcome maker", "everything on", "engine", "ratio"], rows)
    return text


def parts_left_out(s: Summary) -> str:
    """Return what each part does, by leaving it out, and what other settings would do."""
    here = {r["setting"] for key in s.keys for r in s.lines[key] if r["rival"] == NAME}
    found = ""
    for title, names in (
        ("The calibrator with one part left out", VARIANTS),
        ("Everything on, with other values than the defaults", {ALL_ON: {}} | SETTINGS),
    ):
        rows = [variant_row(s, name) for name in names if name in here]
        head = ["what is on", *(f"{kind}: score / best" for kind in ORDER)]
        head += ["calibration error", "by label", "worst 500", "overruled"]
        if len(rows) > 1:
            found += f"\n{title}; means over all tasks, lower is better.\n\n{table(head, rows)}"
    return f"## What each part does\n{found}" if found else ""


def variant_row(s: Summary, name: str) -> list[str]:
    """Return the means of one setting of ours."""
    line = [bold(name)]
    for kind in ORDER:
        of_kind = [row for key in s.of(kind) if (row := s.ours(key, name)) is not None]
        line.append(number(_mean([s.ratio(row) for row in of_kind]), 4))
    own = [row for key in s.keys if key[1] != "mean" and (row := s.ours(key, name)) is not None]
    measures = ("calibration", "label_calibration", "worst500", "overruled")
    return line + [number(_mean([row[measure] for row in own]), 4) for measure in measures]


def times(s: Summary) -> str:
    """Return microseconds a round."""
    rows = [
        [bold(n), number(t, 2)] for n, t in sorted(s.results["time"].items(), key=lambda p: p[1])
    ]
    return (
        "## Time\n\nMicroseconds of processor time a round, one quantile of one stream; the rivals are"
        f" the plain Python of `trueup.baselines`.\n\n{table(['method', 'us'], rows)}"
    )


def closing(to: str, drawn: list[str]) -> str:
    """Return how to run it again, and where the rest is."""
    tables = ", ".join(f"[{name}]({to}/tables/{name}.md)" for name in (*METRICS, "ranks"))
    shown = "".join(
        f"\n![{what}]({to}/{name}.svg)\n"
        for name, what in (
            ("scores", "score over that of the best rival in hindsight, every task"),
            ("plane", "score against calibration error, every method"),
        )
        if name in drawn
    )
    sources = "" if to == "." else f" Where the streams come from: [SOURCES.md]({to}/SOURCES.md)."
    return f"""## Figures and tables
{shown}
A table a metric: {tables}.{sources}

## Run it again

```
./run streams FOLDER                     # resumes; work/page has the result
./run streams FOLDER --rows 2000 --streams NAME,NAME
./run streams FOLDER --publish           # writes this page
./run streams --publish                  # from results.json alone
```

FOLDER has a Parquet or CSV file a stream, with the columns `y`, `known_at`, and what forecasts there are (`yhat`, `q05`, `prob`); `benchmarks/streams/streams.py` says more.
"""


def figures(s: Summary, folder: Path) -> list[str]:
    """Draw what can be drawn; without Altair say so and draw nothing."""
    try:
        from figures import drawn  # noqa: PLC0415 - Altair is an extra
    except ImportError as error:
        if error.name not in ("altair", "vl_convert"):
            raise
        print('No figures: pip install "trueup[report]"', file=sys.stderr)
        return []
    return drawn(s, folder)
