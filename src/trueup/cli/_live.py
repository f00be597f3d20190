"""A stream while it comes: numbers so far, and drawn on a terminal the way they took."""

import sys
import time
from typing import Any, NamedTuple

import click

from trueup.calibrator._targets import Target
from trueup.cli._bettor import Bettor, bettor_of
from trueup.cli._feed import Feeder
from trueup.cli._options import Roles
from trueup.cli._read import Table
from trueup.cli._session import Session
from trueup.cli._tally import RECENT, Summary, Tally

BARS = "▁▂▃▄▅▆▇█"
WIDTH, EVERY = 60, 0.1  # bars that are shown; seconds between two drawings
BUCKET = RECENT // WIDTH  # outcomes a bar
LATELY = 1_000  # outcomes


class Moment(NamedTuple):
    """What can be said at one time."""

    summary: Summary
    recent: float | None  # coverage of the last rows
    certificate: float  # a row
    said: str  # the last forecast
    bars: list[float]  # coverage of the last buckets
    evidence: float | None  # log10 of what bets against the user's model have made of 1


def watch(
    table: Table, roles: Roles, wanted: Target, settings: dict[str, Any], *, every: int
) -> None:
    """Show a stream until it ends."""
    session = Session(wanted, settings, keyed=False, grouped=bool(roles.groups))
    feeder, tally, screen = Feeder(table, roles, session.refuse), Tally(wanted), Screen()
    bettor = bettor_of(wanted, settings, roles)
    printed, said = 0, "none"
    for block in table.blocks(None if screen.live else every):
        for start in range(0, len(block), every):
            part = block.part(start, start + every)
            feed = feeder.feed(part)
            answers = session.answer(feed)
            tally.add(feed, answers)
            if bettor is not None:
                bettor.add(feed)
            said = ", ".join(f"{value:.5g}" for value in answers.values[-1].tolist())
            if screen.live:
                screen.draw(lambda said=said: moment_of(tally, session, bettor, said))
            elif session.rows // every > printed // every:
                click.echo(line_of(moment_of(tally, session, bettor, said)))
                printed = session.rows
    if screen.live:
        screen.draw(lambda: moment_of(tally, session, bettor, said), last=True)
    elif session.rows > printed:
        click.echo(line_of(moment_of(tally, session, bettor, said)))


def moment_of(tally: Tally, session: Session, bettor: Bettor | None, said: str) -> Moment:
    """Return what can be said now."""
    summary, covered = tally.summary(), tally.recent
    lately = covered[-LATELY:]
    recent = sum(lately) / len(lately) if lately else None
    buckets = [covered[k : k + BUCKET] for k in range(0, len(covered) - BUCKET + 1, BUCKET)]
    bars = [sum(bucket) / len(bucket) for bucket in buckets]
    certificate = (session.certificate or 0.0) / max(summary.rows, 1)
    audit = None if bettor is None else bettor.result()
    evidence = None if audit is None else audit.log10_evidence
    return Moment(summary, recent, certificate, said, bars, evidence)


def line_of(moment: Moment) -> str:
    """Return one line for a log."""
    one = moment.summary
    parts = [f"rows {one.rows}"]
    if one.coverage is not None and moment.recent is not None:
        parts += [f"coverage {one.coverage:.3f}", f"recent {moment.recent:.3f}"]
    parts += [f"loss {one.score:.5g}"]
    if one.raw_score == one.raw_score:  # there is one
        parts += [f"model {one.raw_score:.5g}"]
    share = one.overruled / max(one.rows, 1)
    parts += [f"overruled {share:.3f}", f"certificate {moment.certificate:.4g}"]
    if moment.evidence is not None:
        parts += [f"evidence 10^{moment.evidence:.1f}"]
    return "  ".join(parts)


def lines_of(moment: Moment) -> list[str]:
    """Return what is drawn on a terminal."""
    one = moment.summary
    lines = [f"{one.rows:,} rows, {one.missing:,} without outcome; last forecast {moment.said}"]
    if one.coverage is not None and moment.recent is not None:
        lines += [
            f"coverage     {one.coverage:.3f}, lately {moment.recent:.3f}, should be {one.level:g}",
            f"             {bars_of(moment.bars)}",
        ]
    losses = f"mean loss    {one.score:.5g}"
    if one.raw_score == one.raw_score:
        losses += f", your model {one.raw_score:.5g}"
    share = 100 * one.overruled / max(one.rows, 1)
    if moment.evidence is not None:
        against = f"evidence     10^{moment.evidence:.1f} to 1 against your model (10^1.3 is much)"
        losses += f"\n{against}"
    return [
        *lines,
        *losses.split("\n"),
        f"overruled    {share:.1f} % of the rows",
        f'certificate  {moment.certificate:.4g} a row: no rule "for A say B" would have saved more',
    ]


def bars_of(shares: list[float]) -> str:
    """Return shares as bars.

    >>> bars_of([0.0, 0.5, 1.0])
    '▁▅█'
    """
    return "".join(BARS[min(int(share * len(BARS)), len(BARS) - 1)] for share in shares)


class Screen:
    """Lines of a terminal that are drawn again in their place."""

    def __init__(self) -> None:
        self.live = sys.stdout.isatty()
        self._drawn, self._last = 0, 0.0

    def draw(self, moment: Any, *, last: bool = False) -> None:
        """Draw what `moment` returns, unless that was just done."""
        now = time.monotonic()
        if not last and now - self._last < EVERY:
            return
        self._last = now
        lines = lines_of(moment())
        up = f"\x1b[{self._drawn}F" if self._drawn else ""
        sys.stdout.write(up + "".join(f"\x1b[2K{line}\n" for line in lines))
        sys.stdout.flush()
        self._drawn = len(lines)
