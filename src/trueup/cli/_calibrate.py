"""`trueup calibrate`: a table in, the same table with calibrated columns out."""

from typing import Any

import click

from trueup.cli._options import (
    all_of,
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

EXAMPLES = """Add calibrated columns to a table: FILE, or standard input where FILE is "-".

Rows must be in the order in which forecasts were made. Each gets a forecast from what was known
before it; the row's own outcome is learned afterwards. Outcomes that are empty, NA, NaN or null
never came.

CSV, TSV and JSON lines, also as .gz, are read as they are; Parquet and .zst with the extra `data`.
From standard input each row is answered before the next one is waited for.

\b
The 90 % quantile, your own forecast in column yhat:
  trueup calibrate data.csv --outcome y --forecast yhat --quantile 0.9 -o out.csv
\b
An interval for many series, and a page to show:
  trueup calibrate sales.csv.gz --outcome sold --forecast plan --interval 0.9 --key shop \\
    -o out.csv.gz --report page.html
\b
Outcomes known only later, and tomorrow goes on where today ended:
  trueup calibrate today.csv --outcome delay --quantile 0.9 --time departed --known-at landed \\
    --state flights.state -o today-out.csv
\b
As a filter:
  producer | trueup calibrate - --outcome y --forecast yhat --median | consumer
"""

output_options = all_of(
    option("--key", metavar="COLUMN", help="Many series: each value of it is one, by itself."),
    option("-o", "--output", default="-", metavar="OUT", help="Where to write; its name says the format. Standard output if not given."),  # noqa: E501
    option("--name", default="calibrated", show_default=True, help="Of the new columns."),
    option("--state", metavar="STATE", help="Continue from this file, and keep the state in it."),
    option("--report", metavar="PAGE", help="Write a page (.html) about it as well."),
    option("--force", is_flag=True, help="Overwrite OUT and PAGE; learn a table a second time."),
    option("--json", "as_json", is_flag=True, help="Print the summary as JSON."),
)  # fmt: skip


@click.command("calibrate", help=EXAMPLES, short_help="Add calibrated columns to a table.")
@file_argument
@input_options
@option("--forecast", metavar="COLUMN", help="What your model said, if it said something.")
@wanted_options
@output_options
@time_options
@setting_options
def command(file: str, **given: Any) -> None:
    """Parse; then compute, then print."""
    wanted = wanted_of(given)
    settings = settings_of_calibrator(given)
    from trueup.cli._job import Job, calibrate_file
    from trueup.cli._summary import print_summary

    job = Job(
        file, given["format_"], given["delimiter"], roles_of(given, given["forecast"]), wanted,
        settings, given["output"], given["name"], given["state"], given["report"], given["force"],
    )  # fmt: skip
    done = calibrate_file(job)
    print_summary(done, job, as_json=given["as_json"])
