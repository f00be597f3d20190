"""`trueup audit`: evidence about the calibration of somebody's forecasts."""

import json
from typing import Any

import click

from trueup.cli._options import file_argument, input_options, option, wanted_of, wanted_options

EVIDENCE = 3  # exit code
EXAMPLES = """Is a forecast calibrated? Evidence against it, valid whenever one looks.

Exit code 0: no evidence; 3: evidence of 1/alpha or more; 2: wrong input; 1: crash.

\b
A model of the 90 % quantile:
  trueup audit data.csv --outcome y --forecast yhat --quantile 0.9
\b
Probabilities of games, minute by minute, one outcome a game:
  trueup audit games.csv --outcome won --forecast prob --probability --same-outcome game
\b
An interval, outcomes known later, in each region by itself too:
  trueup audit data.csv --outcome y --forecast low --forecast high --interval 0.9 \\
      --time issued --known-at known --group region
"""


@click.command("audit", help=EXAMPLES, short_help="Is a forecast calibrated? Evidence, any time.")
@file_argument
@input_options
@option(
    "--forecast",
    "forecasts",
    multiple=True,
    required=True,
    metavar="COLUMN",
    help="What the model said; one for each number of --interval and --quantiles.",
)
@wanted_options
@option(
    "--group",
    "groups",
    multiple=True,
    metavar="COLUMN",
    help="Look within each of its values too; repeatable.",
)
@option(
    "--known-at",
    metavar="COLUMN",
    help="When the outcome was known: a later row's number (from 1), or a time if --time is given.",
)
@option("--time", metavar="COLUMN", help="When the forecast was made; rows must be in its order.")
@option(
    "--same-outcome",
    metavar="COLUMN",
    help="Rows of the same value share one outcome and count once.",
)
@option(
    "--bounds",
    type=float,
    nargs=2,
    metavar="LOW HIGH",
    help="What outcomes cannot leave; needed for --mean and --expectile.",
)
@option(
    "--alpha",
    type=float,
    default=0.05,
    show_default=True,
    help="Allowed chance of a false alarm, over all times at which one looks.",
)
@option("--json", "as_json", is_flag=True, help="Print numbers for programs.")
def command(file: str, **given: Any) -> int:
    """Parse; then compute, then print."""
    wanted = wanted_of(given)
    from trueup.cli._evidence import audit_table
    from trueup.cli._read import open_table

    with open_table(file, given["format_"], given["delimiter"]) as table:
        answer = audit_table(table, wanted, given)
    click.echo(json.dumps(answer.to_dict(), allow_nan=False) if given["as_json"] else str(answer))
    return EVIDENCE if answer.rejected else 0
