"""The tables of the page: one a metric, and the ranks."""

from collections.abc import Callable, Iterable
from typing import Any

from ours import ALL_ON, NAME
from results import Row
from summary import ORDER, Summary, label

METRICS = {
    "score": ("Score / that of the best rival in hindsight", "ratio"),
    "calibration": ("Calibration error in 20 bins", "calibration"),
    "worst100": ("Largest deviation of coverage over 100 rounds", "worst100"),
    "worst500": ("Largest deviation of coverage over 500 rounds", "worst500"),
    "width": ("Mean width of intervals", "width"),
    "infinite": ("Share of infinite forecasts", "infinite"),
    "swap": ("Share of the score that the best shift in each of 20 bins would save", "swap"),
}


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
        names = sorted(
            set().union(*columns.values()), key=lambda n: (columns["score"].get(n, 99.0), n)
        )
        rows = [[bold(n), *(number(c.get(n), 2) for c in columns.values())] for n in names]
        text += (
            f"\n## {kind.capitalize()}: {len(keys)} tasks\n\n{table(['method', *columns], rows)}"
        )
    return text


def bold(name: str) -> str:
    """Return ours in bold."""
    return f"**{name}**" if name.startswith((NAME, ALL_ON)) else name
