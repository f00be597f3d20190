"""Several forecasts of the same outcomes and their calibrated versions, side by side.

Only rows in which the outcome and all forecasts are there are compared. Their numbers, eight bytes
each, are kept in memory.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from trueup.calibrator._targets import Target
from trueup.cli._errors import CommandError
from trueup.cli._feed import Feed, Feeder
from trueup.cli._options import Roles
from trueup.cli._progress import Progress
from trueup.cli._read import Table
from trueup.cli._session import Answers, Session
from trueup.cli._tally import level_of, losses_of, ones
from trueup.metrics import binned_calibration_error, coverage, swap_regret, worst_window_coverage
from trueup.metrics._calibration import equal_count_groups
from trueup.properties import Mean, Median, Quantile
from trueup.protocols import FloatArray

GROUPS = 20  # of similar forecasts, for calibration and swap regret
Listener = Callable[[Feed, Answers, Session], None]


class Scores(NamedTuple):
    """How one forecast did; a mean over the rows that are compared."""

    name: str
    loss: float  # in the unit of the loss: pinball, absolute or squared error
    coverage: float | None  # for quantiles
    calibration_error: float  # in coverage for quantiles, in the outcome's unit for means
    by_chance: float  # what a perfect forecaster would show
    worst_window: float | None  # the coverage farthest from the level
    swap_regret: float  # a row, of the best rule that treats similar forecasts alike


class Contest(NamedTuple):
    """What was compared, and how."""

    rows: int
    left_out: int
    level: float | None
    window: int
    scores: list[Scores]


class Kept(NamedTuple):
    """The numbers of all rows so far, block by block."""

    outcomes: list[FloatArray]
    said: dict[str, list[FloatArray]]


def compare(
    table: Table,
    roles: Roles,
    forecasts: Sequence[str],
    wanted: Target,
    settings: dict[str, Any],
    *,
    window: int | None = None,
    listener: Listener | None = None,
) -> Contest:
    """Calibrate each forecast by itself and score all; `listener` hears of the last forecast."""
    if len(ones(wanted)) > 1:
        raise CommandError("Forecasts are compared for one number: not --interval, --quantiles.")
    for column in forecasts:
        table.find(column)
    sessions = {
        name: Session(wanted, settings, keyed=roles.key is not None, grouped=bool(roles.groups))
        for name in forecasts
    }
    feeder = Feeder(table, roles, next(iter(sessions.values())).refuse)
    kept = Kept([], {name: [] for one in forecasts for name in (one, trued(one))})
    with Progress(table) as progress:
        for block in table.blocks():
            feed = feeder.feed(block)
            kept.outcomes.append(feed.outcomes)
            for name, session in sessions.items():
                own = feed._replace(own=block.numbers(name))
                session.refuse(own)
                answers = session.answer(own)
                kept.said[name].append(own.own)
                kept.said[trued(name)].append(answers.values[:, 0])
                if listener is not None:
                    listener(own, answers, session)
            progress.add(len(block))
    return scored(kept, wanted, window)


def trued(name: str) -> str:
    """Return the name of the calibrated version of a forecast."""
    return f"{name}, trued up"


def scored(kept: Kept, wanted: Target, window: int | None) -> Contest:
    """Return the scores of all that was kept."""
    outcomes = np.concatenate(kept.outcomes) if kept.outcomes else np.empty(0)
    said = {name: np.concatenate(parts) for name, parts in kept.said.items() if parts}
    used = ~np.isnan(outcomes)
    for values in said.values():
        used &= ~np.isnan(values)
    rows = int(used.sum())
    if not rows:
        raise CommandError("There is no row with an outcome and all forecasts.")
    wide = min(window or max(rows // 20, min(rows, 50)), rows)
    y = outcomes[used]
    span = _span([y, *(values[used] for values in said.values())])
    scores = [scores_of(name, values[used], y, wanted, wide, span) for name, values in said.items()]
    return Contest(rows, outcomes.size - rows, level_of(wanted), wide, scores)


def scores_of(
    name: str,
    said: FloatArray,
    outcomes: FloatArray,
    wanted: Target,
    window: int,
    span: tuple[float, float],
) -> Scores:
    """Return the scores of one forecast; all numbers lie in `span`, its lower end and width."""
    one, level = ones(wanted)[0], level_of(wanted)
    p, y = (np.clip((values - span[0]) / span[1], 0.0, 1.0) for values in (said, outcomes))
    error = binned_calibration_error(p, y, one, GROUPS)
    regret = swap_regret(p, y, one, by=equal_count_groups(p, GROUPS)) / y.size
    squared = level is None
    unit = unit_of(one, span[1])
    covered = worst = None
    if level is not None:
        covered = coverage(said, outcomes)
        worst = worst_window_coverage(said, outcomes, level, window).coverage
    return Scores(
        name,
        float(np.mean(losses_of(one, said, outcomes))),
        covered,
        error.error * unit,
        error.perfect * unit,
        worst,
        regret * span[1] ** (2 if squared else 1),
    )


def unit_of(one: Any, width: float) -> float:
    """Return what one unit of identification is: a share, or a difference in the user's unit.

    That of a median is twice a share, that of a mean twice a difference.
    """
    if isinstance(one, Median):
        return 0.5
    if isinstance(one, Quantile):
        return 1.0
    return width / 2 if isinstance(one, Mean) else width


def _span(columns: list[FloatArray]) -> tuple[float, float]:
    """Return the lower end and the width of all numbers."""
    low = min(float(column.min()) for column in columns)
    high = max(float(column.max()) for column in columns)
    return low, (high - low) or 1.0
