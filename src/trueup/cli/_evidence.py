"""A table through an auditor, block by block."""

from typing import Any

import numpy as np

from trueup.auditor import Audit, Auditor
from trueup.auditor._rounds import is_dates
from trueup.calibrator import Probability
from trueup.cli._errors import CommandError
from trueup.cli._feed import Feed, Feeder
from trueup.cli._options import roles_of
from trueup.cli._progress import Progress
from trueup.cli._read import Table
from trueup.protocols import FloatArray


def audit_table(table: Table, wanted: Any, given: dict[str, Any]) -> Audit:
    """Return what an audit of the columns of a table finds."""
    auditor = Auditor(wanted, bounds=given["bounds"], alpha=given["alpha"])
    names = list(given["forecasts"])
    numbers = auditor.numbers
    if len(names) != numbers:
        raise CommandError(
            f"This takes {numbers} {'column' if numbers == 1 else 'columns'} of forecasts:"
            f" give --forecast {'once' if numbers == 1 else f'{numbers} times'}."
        )
    shared = given["same_outcome"]
    for name in (*names, *([] if shared is None else [shared])):
        table.find(name)
    feeder = Feeder(table, roles_of(given, None), _refuse_early)
    with Progress(table) as progress:
        for block in table.blocks():
            feed = feeder.feed(block)
            said = [block.numbers(name) for name in names]
            _refuse_outside(auditor, feed, given["outcome"], said, names)
            auditor.add(
                feed.outcomes,
                np.column_stack(said),
                times=feed.moments(),
                known_at=known_of(feed),
                groups=feed.groups,
                same_outcome=None
                if shared is None
                else [cell or None for cell in block.text(shared)],
            )
            progress.add(len(block))
    return auditor.result()


def known_of(feed: Feed) -> Any:
    """Return when outcomes are known; of one that never came, some time later."""
    if feed.known is None:
        return None
    clock = np.array(feed.clocks, dtype=float)  # microseconds are exact for centuries
    known = np.where(np.isnan(feed.outcomes), clock + 1, np.array(feed.known, dtype=float))
    moments = feed.moments()
    if moments is None:
        return known.astype(np.int64) - 1  # rows are counted from 0 there
    return known.astype(np.int64).astype(moments.dtype) if is_dates(moments) else known


def _refuse_early(feed: Feed) -> None:
    """Refuse an outcome that was known when it was forecast."""
    for k, (known, now) in enumerate(zip(feed.known or (), feed.clocks, strict=False)):
        if known <= now and not np.isnan(feed.outcomes[k]):
            raise CommandError(
                f"{feed.block.where(k)}: the outcome was known when it was forecast."
            )


def _refuse_outside(
    auditor: Auditor, feed: Feed, outcome: str, said: list[FloatArray], names: list[str]
) -> None:
    """Refuse numbers that contradict the bounds, with their place."""
    if auditor.bounds is None:
        return
    low, high = auditor.bounds
    must = f"inside [{low:g}, {high:g}]"
    for name, values in zip([outcome, *names], [feed.outcomes, *said], strict=True):
        wrong = (values < low) | (values > high)
        if name == outcome and isinstance(auditor.property, Probability):
            wrong, must = ~np.isnan(values) & (values != 0) & (values != 1), "0 or 1"
        if wrong.any():
            k = int(np.flatnonzero(wrong)[0])
            raise CommandError(f"{feed.block.where(k, name)}: must be {must}, got {values[k]:g}.")
        must = f"inside [{low:g}, {high:g}]"
