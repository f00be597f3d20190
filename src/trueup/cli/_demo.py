"""`trueup demo`: real flights, a model that is wrong, and what is made of it."""

import sys
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import click

from trueup.cli._errors import CommandError
from trueup.cli._options import Roles, option, target
from trueup.errors import MissingExtra

EXAMPLES = """Forecast how late flights will land, on a sample that comes along.

All flights that left Newark from June to August 2013 (U.S. Bureau of Transportation Statistics).
The model says that a flight lands as late as it left; wanted is what 9 of 10 flights stay below. A
flight's own delay is known only when it has landed, while others have left.

\b
  trueup demo
"""
OPENING = """{rows:,} flights from Newark in the summer of 2013, in the order in which they left.
Forecast: the delay on arrival, in minutes, that 9 of 10 flights stay below.
The model says: as late as it left. Delays are known when flights have landed.
"""
ROLES = Roles("arrival_delay", time="departed", known_at="landed")
MODEL = "departure_delay"


PAGE = "trueup-demo.html"
SAMPLE = files("trueup.cli") / "data" / "flights.csv.gz"


@click.command("demo", help=EXAMPLES, short_help="See what it does, on real flights.")
@option("--report", metavar="PAGE", help=f"Where to write the page; {PAGE} here if not given.")
@option(
    "--sample", metavar="FILE", help="Write the sample as CSV (.csv.gz) to try things on, and stop."
)
@option("--force", is_flag=True, help="Overwrite PAGE or FILE.")
@option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the draws.")
def command(report: str | None, sample: str | None, *, force: bool, seed: int) -> None:
    """Compute, then print."""
    if sample is not None:
        _copy(sample, force=force)
        return
    if sys.stderr.isatty():
        click.echo("(The first time it compiles, which takes a while.)", err=True)
    from trueup.cli._contest import GROUPS, compare
    from trueup.cli._page import Page
    from trueup.cli._read import open_table
    from trueup.cli._table import text_of

    wanted = target("quantile", 0.9)
    try:
        roles = ROLES._replace(forecast=MODEL)
        page = Page(report or PAGE, wanted, {}, roles, force=force or report is None)
        closing = f"The page: {Path(page.path).resolve()}"
    except MissingExtra as error:
        page, closing = None, str(error)
    sessions = []

    def listen(feed: Any, answers: Any, session: Any) -> None:
        sessions.append(session)
        if page is not None:
            page.add(feed, answers, session)

    with as_file(SAMPLE) as path, open_table(str(path)) as table:
        contest = compare(table, ROLES, [MODEL], wanted, {"seed": seed}, listener=listen)
    if page is not None:
        page.write(sessions[-1], "Delays of flights from Newark, summer of 2013")
    click.echo(OPENING.format(rows=contest.rows))
    click.echo(text_of(contest, GROUPS))
    click.echo(f"\n{closing}")


def _copy(target: str, *, force: bool) -> None:
    """Write the sample to a file."""
    if not target.endswith(".csv.gz"):
        raise CommandError(f"--sample must be a name that ends in .csv.gz, got {target}.")
    if Path(target).exists() and not force:
        raise CommandError(f"{target} exists already; give --force to overwrite it.")
    Path(target).write_bytes(SAMPLE.read_bytes())
    click.echo(f"written to {target}")
