"""What the page says, computed from the kept lines: comparisons, ranks, and what was to be reached."""

from collections import defaultdict
from typing import Any, NamedTuple

import numpy as np
from ours import ALL_ON, NAME
from results import Row, key_of, unpacked

ORDER = ("quantile", "interval", "mean", "probability")
BREAKS = ("demand_ciso", "price_pjm")
MARGIN, NEAR, WATCHED = 0.005, 0.03, 500


class Summary:
    """The lines by task, and the best of the rivals there."""

    def __init__(self, results: dict[str, Any]) -> None:
        self.results = results
        self.lines: dict[Any, list[Row]] = defaultdict(list)
        for line in unpacked(results):
            self.lines[key_of(line)].append(line)
        self.keys = sorted(self.lines, key=lambda k: (ORDER.index(k[1]), k[0], k[2], k[3] or 0))
        self.best = {key: min(self.rivals(key), key=lambda r: r["score"]) for key in self.keys}

    def rivals(self, key: Any, *, default: bool | None = None) -> list[Row]:
        """Return the rivals' lines of a task, those of defaults, of the best, or all."""
        rows = [row for row in self.lines[key] if row["rival"] != NAME]
        if default is None:
            return rows
        return [row for row in rows if row["default" if default else "best"]]

    def ours(self, key: Any, variant: str = ALL_ON) -> Row | None:
        """Return our own line."""
        for row in self.lines[key]:
            if row["rival"] == NAME and row["setting"] == variant:
                return row
        return None

    def ratio(self, row: Row) -> float:
        """Return a score over that of the best rival in hindsight."""
        best = self.best[key_of(row)]["score"]
        return float(row["score"] / best) if best > 0 else 1.0 if row["score"] == 0 else np.inf

    def of(self, *kinds: str) -> list[Any]:
        """Return the tasks of some kinds."""
        return [key for key in self.keys if key[1] in kinds]

    def methods(self, key: Any, *, default: bool) -> list[tuple[str, Row]]:
        """Return ours and the rivals (at their defaults, or at their best) by name."""
        own = self.ours(key)
        rows = [] if own is None else [(NAME, own)]
        return rows + [(row["rival"], row) for row in self.rivals(key, default=default)]

    def ranks(self, keys: list[Any], measure: str, *, default: bool = True) -> dict[str, float]:
        """Return the mean rank of every method that is there in all of the tasks of a kind.

        Equal values share their rank. A rival's lines are those of its defaults or its best; ours
        is always the default.
        """
        found: dict[str, list[float]] = defaultdict(list)
        for key in keys:
            rows = [(n, r) for n, r in self.methods(key, default=default) if r[measure] is not None]
            values = np.array([row[measure] for _, row in rows])
            for (name, _), value in zip(rows, values, strict=True):
                below, same = (values < value).sum(), (values == value).sum()
                found[name].append(float(below + (same + 1) / 2))
        return {name: float(np.mean(r)) for name, r in found.items() if 2 * len(r) >= len(keys)}

    def means(self, keys: list[Any], measure: str, *, default: bool = True) -> dict[str, float]:
        """Return the mean of a measure ("ratio": of scores) of every method."""
        found: dict[str, list[float]] = defaultdict(list)
        for key in keys:
            for name, row in self.methods(key, default=default):
                value = self.ratio(row) if measure == "ratio" else row[measure]
                if value is not None:
                    found[name].append(value)
        return {name: float(np.mean(v)) for name, v in found.items() if 2 * len(v) >= len(keys)}


class Target(NamedTuple):
    """One line of what was to be reached."""

    what: str
    wanted: str
    measured: str
    reached: bool | None


def verdict(target: Target) -> str:
    """Return a word."""
    return (
        "not measured"
        if target.reached is None
        else "reached"
        if target.reached
        else "**not reached**"
    )


def label(key: Any) -> str:
    """Return the name of a task."""
    stream, task, column, level = key
    name = task if level is None else f"{task} {level:g}"
    return f"{stream}{'' if column == 'y' else ' (' + column + ')'}, {name}"


def targets(s: Summary) -> list[Target]:
    """Return all lines; a line that has nothing to be measured on says so."""
    makers = (_scores, _calibration, _windows, _probabilities, _breaks, _hostile, _swap)
    return [target for make in makers for target in make(s)]


def _scores(s: Summary) -> list[Target]:
    pairs = [(s.ratio(own), key) for key in s.keys if (own := s.ours(key)) is not None]
    if not pairs:
        return []
    mean, (worst, where) = float(np.mean([r for r, _ in pairs])), max(pairs)
    what = "score / best rival in hindsight, per stream and task"
    return [
        Target(f"{what}: mean", "at most 0.98", f"{mean:.4f}", mean <= 0.98),
        Target(f"{what}: worst", "at most 1.01", f"{worst:.4f} ({label(where)})", worst <= 1.01),
    ]


def excesses(s: Summary) -> list[tuple[float, float, Any, Row]]:
    """Return, for each task in units of probability, how far ours is above the best default.

    First by how much more than allowed, then by how much, the task, and the line of that rival.
    """
    found = []
    for key in s.of("quantile", "interval", "probability"):
        own = s.ours(key)
        rows = s.rivals(key, default=True)
        if own is None or not rows:
            continue
        best = min(rows, key=lambda row: row["calibration"])
        over = own["calibration"] - best["calibration"]
        found.append((over - max(MARGIN, 2 * own["spread"]), over, key, best))
    return found


def _calibration(s: Summary) -> list[Target]:
    keys = s.of("quantile", "interval", "probability")
    found = []
    for kind, rest in (("defaults", True), ("the best in hindsight", False)):
        ranks = s.ranks(keys, "calibration", default=rest)
        if NAME in ranks:
            order = sorted(ranks, key=lambda name: ranks[name])
            text = f"mean rank {ranks[NAME]:.2f}, place {order.index(NAME) + 1} of {len(order)}"
            first = order[0]
            text += "" if first == NAME else f" ({first}: {ranks[first]:.2f})"
            what = f"calibration error: mean rank among {kind}"
            found.append(Target(what, "first", text, first == NAME))
    over = excesses(s)
    if over:
        most = max(over, key=lambda one: one[0])
        count = sum(one[0] > 0 for one in over)
        text = f"broken in {count} of {len(over)} tasks, worst by {most[1]:.4f} ({label(most[2])})"
        what = f"calibration error above the best default: at most {MARGIN}, or two deviations"
        found.append(Target(what, "in every task", text, count == 0))
    return found


def _windows(s: Summary) -> list[Target]:
    rows = [row for key in s.of("quantile", "interval") if (row := s.ours(key)) is not None]
    deviations = [row["worst500"] for row in rows if row["worst500"] is not None]
    if not deviations:
        return []
    own, keys = float(np.mean(deviations)), [key_of(row) for row in rows]
    groups: dict[Any, list[tuple[int, float]]] = defaultdict(list)
    for row in s.results["fixed"]:
        if row["task"] in ("quantile", "interval") and row["worst500"] is not None:
            groups[row["rival"], row["setting"]].append((row["count"], row["worst500"]))
    wanted = len(s.of("quantile")), len(s.of("interval"))
    means = {
        name: sum(n * w for n, w in rows) / sum(n for n, _ in rows)
        for name, rows in groups.items()
        if sum(n for n, _ in rows) == sum(wanted)
    }
    defaults = s.means(keys, "worst500")
    defaults.pop(NAME, None)
    found = []
    for what, values in (("default", defaults), ("fixed setting", means)):
        if values:
            name = min(values, key=lambda n: values[n])
            shown = name if isinstance(name, str) else " ".join(name)
            text = f"{own:.4f}; {shown}: {values[name]:.4f}"
            line = f"worst-window coverage deviation (500), mean; best {what}"
            found.append(Target(line, "no worse", text, own <= values[name]))
    return found


def _probabilities(s: Summary) -> list[Target]:
    found = []
    for name, room in (("mlb_games", 3e-4), ("ncaa_ingame", 0.0), ("markets", 0.0)):
        for key in s.of("probability"):
            own = s.ours(key)
            raw = [row for row in s.rivals(key, default=True) if row["rival"] == "raw forecast"]
            if key[0] == name and own is not None and raw:
                lost = own["score"] - raw[0]["score"]
                text = f"{lost:+.5f} ({raw[0]['score']:.5f} to {own['score']:.5f})"
                wanted = f"at most {room:g} lost" if room else "improved or equal"
                found.append(Target(f"Brier score of {name}", wanted, text, lost <= room))
    return found


def recovers(row: Row) -> bool:
    """Return whether coverage is near the level again: 3 points, or two deviations of chance."""
    chance = 2 * (row["level"] * (1 - row["level"]) / WATCHED) ** 0.5
    return bool(abs(row["recovered"]) <= max(NEAR, chance))


def _breaks(s: Summary) -> list[Target]:
    found = []
    for name in BREAKS:
        keys = [key for key in s.of("quantile", "interval") if key[0] == name]
        lines = [s.methods(key, default=True) for key in keys]
        if not any(row["recovered"] is not None for rows in lines for _, row in rows):
            continue
        near: dict[str, int] = defaultdict(int)
        for rows in lines:
            for method, row in rows:
                near[method] += recovers(row)
        own = [row for rows in lines for method, row in rows if method == NAME]
        worst = max(own, key=lambda row: abs(row["recovered"]))
        others = [n for n, count in near.items() if n != NAME and count == len(keys)]
        text = f"{near[NAME]} of {len(keys)} tasks, worst {worst['recovered']:+.3f} ({label(key_of(worst))})"
        text += f"; in all tasks: {', '.join(others) or 'no rival'}"
        what = f"coverage in {WATCHED} rounds from the 300th after the break of {name}"
        wanted = "within 3 points, or two deviations of chance"
        found.append(Target(what, wanted, text, near[NAME] == len(keys)))
    return found


def _hostile(s: Summary) -> list[Target]:
    games = [g for g in s.results["games"] if g["maker"] == "just above"]
    if not games:
        return []
    largest = max(game["rounds"] for game in games)
    found = []
    for name in ("trueup, all on", "trueup, guard alone"):
        for game in games:
            if game["player"] == name and game["rounds"] == largest:
                text = f"{game['calibration']:.4f} at coverage {game['coverage']:.3f} (perfect {game['perfect']:.4f})"
                what = f"{name} against just above, T = {largest:,}: calibration error"
                right = abs(game["coverage"] - 0.9) <= 0.01
                reached = game["calibration"] <= 0.01 and right if largest >= 100_000 else None
                found.append(Target(what, "at most 0.01", text, reached))
    return found


def stress(s: Summary) -> dict[str, tuple[float, float]]:
    """Return the mean swap regret of everything on and of the engine, maker by maker."""
    found: dict[str, list[Row]] = defaultdict(list)
    for row in s.results["stress"]:
        found[row["maker"]].append(row)
    return {
        maker: tuple(float(np.mean([row[name] for row in rows])) for name in ("all on", "engine"))  # type: ignore[misc]
        for maker, rows in found.items()
    }


def _swap(s: Summary) -> list[Target]:
    ratios = {maker: on / engine for maker, (on, engine) in stress(s).items()}
    if not ratios:
        return []
    worst = max(ratios, key=lambda maker: ratios[maker])
    text = f"{ratios[worst]:.2f} ({worst})"
    what = "swap regret by label on outcome makers, everything on / engine: worst"
    return [Target(what, "at most 1.5", text, ratios[worst] <= 1.5)]
