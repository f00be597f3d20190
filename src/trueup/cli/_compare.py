"""`trueup compare`: forecasts and their calibrated versions, side by side."""

import json
from typing import Any

import click

from trueup.cli._options import (
    file_argument,
    input_options,
    option,
    roles_of,
    setting_options,
    settings_of_calibrator,
    time_options,
    wanted_of,
    wanted_options,
)

EXAMPLES = """Score forecasts of the same outcomes, each as it is and trued up.

Rows without the outcome or without one of the forecasts are left out for all.

\b
Two models of the 90 % quantile:
  trueup compare data.csv --outcome y --forecast a --forecast b --quantile 0.9
\b
Two models of a mean, for a program:
  trueup compare data.csv --outcome y --forecast a --forecast b --mean --json
"""


@click.command("compare", help=EXAMPLES, short_help="Score forecasts as they are and trued up.")
@file_argument
@input_options
@option(
    "--forecast",
    "forecasts",
    multiple=True,
    required=True,
    metavar="COLUMN",
    help="What a model said; repeatable.",
)
@wanted_options
@time_options
@option(
    "--window",
    type=click.IntRange(min=1),
    help="Rows of the worst window; a 20th of all if not given.",
)
@option("--json", "as_json", is_flag=True, help="Print numbers for programs.")
@setting_options
def command(file: str, **given: Any) -> None:  # fmt: skip
    """Parse; then compute, then print."""
    wanted = wanted_of(given)
    from trueup.cli._contest import GROUPS, compare
    from trueup.cli._read import open_table
    from trueup.cli._table import described, text_of

    with open_table(file, given["format_"], given["delimiter"]) as table:
        contest = compare(
            table,
            roles_of(given, None),
            list(dict.fromkeys(given["forecasts"])),
            wanted,
            settings_of_calibrator(given),
            window=given["window"],
        )
    if given["as_json"]:
        click.echo(json.dumps(described(contest)))
    else:
        click.echo(text_of(contest, GROUPS))
