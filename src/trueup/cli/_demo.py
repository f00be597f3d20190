"""`trueup demo`: real flights, a model that is wrong, and what is made of it."""

from importlib.resources import as_file, files

import click

from trueup.cli._options import Roles, option, target

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


@click.command("demo", help=EXAMPLES, short_help="See what it does, on real flights.")
@option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the draws.")
def command(seed: int) -> None:
    """Compute, then print."""
    from trueup.cli._contest import GROUPS, compare
    from trueup.cli._read import open_table
    from trueup.cli._table import text_of

    with (
        as_file(files("trueup.cli") / "data" / "flights.csv.gz") as path,
        open_table(str(path)) as table,
    ):
        contest = compare(table, ROLES, [MODEL], target("quantile", 0.9), {"seed": seed})
    click.echo(OPENING.format(rows=contest.rows))
    click.echo(text_of(contest, GROUPS))
