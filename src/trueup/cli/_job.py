"""The whole of `trueup calibrate`: read, calibrate, write, keep the state.

Nothing is lost by a crash: the output gets its name when it is whole, then the state. Between the
two the state is still the old one, and the same command makes the same output again.
"""

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from trueup.calibrator import Panel
from trueup.calibrator._targets import Target
from trueup.cli import _state
from trueup.cli._errors import CommandError
from trueup.cli._feed import Feed, Feeder
from trueup.cli._lines import SlowLines
from trueup.cli._options import Roles
from trueup.cli._progress import Progress
from trueup.cli._read import Block, Table, open_table
from trueup.cli._session import Answers, Session, names_of
from trueup.cli._signals import Stops
from trueup.cli._tally import Summary, Tally
from trueup.cli._write import Output

EVERY = 10.0  # seconds between two states of a stream that has no end


class Job(NamedTuple):
    """What is to be done."""

    file: str
    format: str | None
    delimiter: str | None
    roles: Roles
    wanted: Target
    settings: dict[str, Any]
    output: str = "-"
    name: str = "calibrated"
    state: str | None = None
    report: str | None = None
    force: bool = False
    block: int | None = None  # rows at once; the answers do not depend on it

    def options(self) -> dict[str, Any]:
        """Return what must not change from one run of a state to the next."""
        fixed = {f"--{name.replace('_', '-')}": value for name, value in self.settings.items()}
        fixed["--of"] = None if self.settings["of"] is None else repr(self.settings["of"])
        fixed["--bounds"] = None if fixed["--bounds"] is None else list(fixed["--bounds"])
        fixed |= {f"--{n.replace('_', '-')}": v for n, v in self.roles._asdict().items()}
        fixed["--group"] = list(fixed.pop("--groups"))
        return {"what is forecast": repr(self.wanted)} | fixed


class Done(NamedTuple):
    """What came of it."""

    summary: Summary
    certificate: float | None  # of a single series
    open: int  # outcomes that wait
    series: int
    output: str
    report: str | None


def calibrate_file(job: Job) -> Done:
    """Do a job."""
    with contextlib.ExitStack() as stack:
        if job.state is not None:
            stack.enter_context(_state.locked(job.state))
        table = stack.enter_context(open_table(job.file, job.format, job.delimiter))
        stops = stack.enter_context(Stops())
        return Run(job, table, stops).done()


class Run:
    """One run over one table."""

    def __init__(self, job: Job, table: Table, stops: Stops) -> None:
        self.job, self.table, self.stops = job, table, stops
        self.session = Session(
            job.wanted,
            job.settings,
            keyed=job.roles.key is not None,
            grouped=bool(job.roles.groups),
        )
        self.feeder = Feeder(table, job.roles, self.session.refuse)
        self.tally = Tally(job.wanted)
        self.learned = ""
        if job.state is not None and Path(job.state).exists():
            self.learned = _state.load(job.state, self.session, self.feeder, job.options())
        self.page = None
        if job.report is not None:
            from trueup.cli._page import Page  # it needs an extra

            self.page = Page(job.report, job.wanted, job.settings, job.roles, force=job.force)
        self.streams = isinstance(table.lines, SlowLines) and job.output == "-"

    def done(self) -> Done:
        """Run to the end; where that fails, what was there before stays."""
        job, output = self.job, None
        try:
            with self.stops.whole():
                names = added_names(job.wanted, job.name)
                output = Output(job.output, self.table, names, job.delimiter, force=job.force)
            if self.streams:
                self._stream(output)
            else:
                self._whole(output)
        except BaseException:
            if output is not None:
                output.abort()
            raise
        model = self.session.model
        return Done(
            self.tally.summary(),
            self.session.certificate,
            self.session.open,
            len(model) if isinstance(model, Panel) else 1,
            job.output,
            job.report,
        )

    def _whole(self, output: Output) -> None:
        """Write a file when all of it is there, then the state."""
        with Progress(self.table) as progress:
            for block in self.table.blocks(self.job.block):
                self._through(self.feeder.feed(block), output)
                progress.add(len(block))
        if self.learned == self.feeder.digest and self.table.rows and not self.job.force:
            raise CommandError(
                f"{self.job.state} has learned {self.table.name} already; give --force to learn it"
                " again."
            )
        self._show()
        with self.stops.whole():
            output.commit()
            self._keep()

    def _stream(self, output: Output) -> None:
        """Answer each row before the next one is waited for; keep the state from time to time."""
        kept = time.monotonic()
        output.flush()
        try:
            for feed in self._feeds():
                with self.stops.whole():
                    self._through(feed, output)
                    output.flush()
                if time.monotonic() - kept > EVERY:
                    self._keep()
                    kept = time.monotonic()
        finally:
            if not self.stops.torn:
                self._keep()
                self._show()
        output.commit()

    def _feeds(self) -> Iterator[Feed]:
        """Yield blocks as numbers; rows before a wrong one are answered."""
        for block in self.table.blocks(self.job.block):
            try:
                feed = self.feeder.feed(block)
            except CommandError:
                yield from map(self.feeder.feed, _single(block))
            else:
                yield feed

    def _through(self, feed: Feed, output: Output) -> None:
        answers = self.session.answer(feed)
        output.write(feed.block, added_cells(answers))
        self.tally.add(feed, answers)
        if self.page is not None:
            self.page.add(feed, answers, self.session)

    def _show(self) -> None:
        if self.page is not None and self.session.rows:
            self.page.write(self.session, f"{self.job.roles.outcome} in {self.table.name}")

    def _keep(self) -> None:
        if self.job.state is not None:
            _state.save(self.job.state, self.session, self.feeder, self.job.options())


def _single(block: Block) -> Iterator[Block]:
    for k in range(len(block)):
        yield block.part(k, k + 1)


def added_names(wanted: Target, base: str) -> list[str]:
    """Return the names of the new columns.

    >>> import trueup as tu
    >>> added_names(tu.Median(), "ours")
    ['ours', 'ours_label', 'ours_overruled', 'ours_guarded']
    """
    names = names_of(wanted, base)
    labels = [f"{name}_label" for name in names]
    return [*names, *labels, f"{base}_overruled", f"{base}_guarded"]


def added_cells(answers: Answers) -> list[tuple[Any, ...]]:
    """Return the new cells of each row, in the order of their names."""
    columns = [*answers.values.T.tolist(), *answers.labels.T.tolist()]
    flags = [answers.overruled.tolist(), answers.guarded.tolist()]
    return list(zip(*columns, *flags, strict=True))
