"""From the measures of thousands of settings to what the page needs, small enough to keep.

Of every rival two lines a task stay: its documented default, and the setting that was best in
hindsight there, by score. Of every setting its means over all streams stay.
"""

from collections import defaultdict
from typing import Any

from ours import NAME

NUMBERS = (
    "score", "calibration", "perfect", "spread", "worst100", "worst500", "coverage", "recovered",
    "swap", "infinite", "width", "label_calibration", "label_perfect", "label_swap",
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
    lines = [row | {"best": 0} for row in mine] + chosen(rows)
    lines.sort(key=lambda row: (str(key_of(row)), row["rival"] != NAME))
    tasks = list(dict.fromkeys(key_of(line) for line in lines))
    names = sorted({line[what] for line in lines for what in ("rival", "setting")})
    return {
        "tasks": tasks,
        "names": names,
        "numbers": NUMBERS,
        "lines": [packed(line, tasks, names) for line in lines],
        "fixed": fixed(rows, best),
        "games": [part for name, part in found.items() if name.startswith("game ")],
        "stress": [part for name, part in found.items() if name.startswith("stress ")],
        "time": found["time ours"] | found["time rivals"],
    }


def chosen(rows: list[Row]) -> list[Row]:
    """Return, of every rival in every task, its default and its best setting (perhaps the same)."""
    groups: dict[Any, list[Row]] = defaultdict(list)
    for row in rows:
        groups[*key_of(row), row["rival"]].append(row)
    found = []
    for members in groups.values():
        best = min(members, key=lambda row: row["score"])
        found += [
            row | {"best": int(row is best)} for row in members if row["default"] or row is best
        ]
    return found


def packed(row: Row, tasks: list[Any], names: list[str]) -> list[Any]:
    """Return a line as a list, without the empty end."""
    places = [tasks.index(key_of(row)), names.index(row["rival"]), names.index(row["setting"])]
    numbers = [rounded(row.get(name), 6 if name == "score" else 4) for name in NUMBERS]
    while numbers and numbers[-1] is None:
        numbers.pop()
    return [*places, int(row["default"]) + 2 * row["best"], *numbers]


def unpacked(results: dict[str, Any]) -> list[Row]:
    """Return the lines as they were."""
    found, names = [], results["names"]
    for task, rival, setting, flags, *numbers in results["lines"]:
        row = dict(zip(TASK, results["tasks"][task], strict=True))
        row |= {"rival": names[rival], "setting": names[setting]}
        row |= {"default": flags & 1, "best": flags >> 1}
        padded = [*numbers, *[None] * (len(results["numbers"]) - len(numbers))]
        found.append(row | dict(zip(results["numbers"], padded, strict=True)))
    return found


def rounded(value: Any, digits: int = 5) -> Any:
    """Return a few digits of a number, a whole one as an int."""
    if value is None:
        return None
    short = float(f"{value:.{digits}g}")
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
