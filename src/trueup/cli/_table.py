"""Scores as a table in the terminal."""

from typing import Any

from trueup.cli._contest import Contest, Scores

CLOSING = """
Calibration error: how far {what} is off, averaged over {groups} groups of similar forecasts; by
chance: what a perfect forecaster would show in these groups. Swap regret: what the best rule
"whenever it said about A, say B" would have saved a row.{window}"""


def described(contest: Contest) -> dict[str, Any]:
    """Return it all as JSON knows it; what does not apply is left out."""
    rows = [{k: v for k, v in one._asdict().items() if v is not None} for one in contest.scores]
    whole = contest._asdict() | {"scores": rows}
    return {name: value for name, value in whole.items() if value is not None}


HEADS = {  # of the columns, over two lines; their width
    "loss": ("mean", "loss", 10),
    "coverage": ("", "coverage", 10),
    "worst": ("worst", "window", 9),
    "error": ("calibration", "error", 13),
    "chance": ("by", "chance", 9),
    "regret": ("swap", "regret", 10),
}


def text_of(contest: Contest, groups: int) -> str:
    """Return the table with the lines that explain it."""
    level, rows = contest.level, [_cells(one, contest.level) for one in contest.scores]
    width = max(len(one.name) for one in contest.scores)
    lines = [
        " " * width + "".join(f"{HEADS[name][k]:>{HEADS[name][2]}}" for name in rows[0])
        for k in range(2)
    ]
    for one, cells in zip(contest.scores, rows, strict=True):
        numbers = "".join(f"{cell:>{HEADS[name][2]}}" for name, cell in cells.items())
        lines.append(f"{one.name:{width}}{numbers}")
    what, window = "the forecast", ""
    if level is not None:
        what = "coverage"
        window = f"\nWorst window: the {contest.window:,} rows in a row whose coverage is worst."
    closing = CLOSING.format(what=what, groups=groups, window=window)
    return "\n".join(lines) + "\n" + closing


def _cells(one: Scores, level: float | None) -> dict[str, str]:
    cells = {"loss": f"{one.loss:.5g}"}
    shape = ".4g"
    if level is not None:
        shape = ".3f"
        cells |= {"coverage": f"{one.coverage:.3f}", "worst": f"{one.worst_window:.3f}"}
    cells |= {"error": f"{one.calibration_error:{shape}}", "chance": f"{one.by_chance:{shape}}"}
    return cells | {"regret": f"{one.swap_regret:.4g}"}
