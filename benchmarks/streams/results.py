"""From the measures of thousands of settings to what the page needs, small enough to keep.

Of every rival two lines a task stay: its documented default, and the setting that was best in
hindsight there, by score. Of every setting its means over all streams stay.
"""

from collections import defaultdict
from typing import Any

from ours import ALL_ON, NAME

NUMBERS = (
    "score", "calibration", "perfect", "spread", "worst100", "worst500", "coverage", "swap",
    "width", "infinite", "recovered", "label_calibration", "label_perfect", "label_swap",
    "certificate", "overruled",
)  # fmt: skip
TASK = ("stream", "task", "column", "level")
Row = dict[str, Any]


def key_of(row: Row) -> tuple[Any, ...]:
    """Return the task that a line is about."""
    return tuple(row[name] for name in TASK)


def reduced(found: dict[str, Any]) -> dict[str, Any]:
    """Return the compact results of all pieces."""
    rows = [row for name, part in found.items() if name.startswith("rivals ") for row in part]
    mine = [row for name, part in found.items() if name.startswith("ours ") for row in part]
    best: dict[Any, float] = {}
    for row in rows:
        best[key_of(row)] = min(row["score"], best.get(key_of(row), row["score"]))
    kept: dict[Any, Row] = {}
    for row in rows:
        if row["default"]:
            kept[*key_of(row), row["rival"], "default"] = row | {"default": True, "best": False}
        place = (*key_of(row), row["rival"], "best")
        if place not in kept or row["score"] < kept[place]["score"]:
            kept[place] = row | {"default": False, "best": True}
    for row in mine:
        place = (*key_of(row), row["rival"], row["setting"])
        kept[place] = row | {"default": row["setting"] == ALL_ON, "best": False}
    lines = sorted(kept.values(), key=lambda row: (str(key_of(row)), row["rival"] != NAME))
    return {
        "columns": [*TASK, "rival", "setting", "default", "best", *NUMBERS],
        "lines": [packed(line) for line in lines],
        "fixed": fixed(rows, best),
        "games": [part for name, part in found.items() if name.startswith("game ")],
        "stress": [part for name, part in found.items() if name.startswith("stress ")],
        "time": found["time ours"] | found["time rivals"],
    }


def packed(row: Row) -> list[Any]:
    """Return a line as a list, without the empty end."""
    head = [row[name] for name in (*TASK, "rival", "setting")]
    numbers = [rounded(row.get(name)) for name in NUMBERS]
    while numbers and numbers[-1] is None:
        numbers.pop()
    return [*head, int(row["default"]), int(row["best"]), *numbers]


def unpacked(results: dict[str, Any]) -> list[Row]:
    """Return the lines as they were."""
    columns = results["columns"]
    return [
        dict(zip(columns, [*line, *[None] * (len(columns) - len(line))], strict=True))
        for line in results["lines"]
    ]


def rounded(value: Any) -> Any:
    """Return five digits of a number, a whole one as an int."""
    if value is None or isinstance(value, bool | str):
        return value
    short = float(f"{value:.5g}")
    return int(short) if short.is_integer() else short


def fixed(rows: list[Row], best: dict[Any, float]) -> list[Row]:
    """Return the means of every setting over the tasks of each kind."""
    groups: dict[Any, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row["task"], row["rival"], row["setting"]].append(row)
    found = []
    for (task, rival, setting), members in groups.items():
        ratios = [row["score"] / best[key_of(row)] for row in members if best[key_of(row)] > 0]
        line: Row = {"task": task, "rival": rival, "setting": setting, "count": len(members)}
        line["default"] = int(members[0]["default"])
        line["ratio"] = rounded(sum(ratios) / max(len(ratios), 1))
        for name in ("calibration", "worst500"):
            values = [row[name] for row in members if row.get(name) is not None]
            line[name] = rounded(sum(values) / len(values)) if values else None
        found.append(line)
    return found
