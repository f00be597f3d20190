"""`trueup watch`: how a stream is doing, while it comes."""

from typing import Any

import click

from trueup.cli._options import (
    input_options,
    option,
    roles_of,
    setting_options,
    settings_of_calibrator,
    time_options,
    wanted_of,
    wanted_options,
)

EXAMPLES = """Watch a stream of forecasts and outcomes on standard input.

On a terminal a few lines are drawn again and again; otherwise a line is printed every so many rows.

\b
  tail -n +1 -f today.csv | trueup watch --outcome y --forecast yhat --quantile 0.9
  trueup watch today.csv --outcome y --forecast yhat --median --every 500 > log.txt
"""


@click.command("watch", help=EXAMPLES, short_help="Watch a stream while it comes.")
@click.argument("file", type=click.Path(allow_dash=True), default="-")
@input_options
@option("--forecast", metavar="COLUMN", help="What your model said, if it said something.")
@wanted_options
@time_options
@option(
    "--every",
    type=click.IntRange(min=1),
    default=1_000,
    show_default=True,
    help="Rows a printed line.",
)
@setting_options
def command(file: str, **given: Any) -> None:
    """Parse; then watch."""
    wanted = wanted_of(given)
    from trueup.cli._live import watch
    from trueup.cli._read import open_table

    with open_table(file, given["format_"], given["delimiter"]) as table:
        roles = roles_of(given, given["forecast"])
        watch(table, roles, wanted, settings_of_calibrator(given), every=given["every"])
