"""The few lines that `trueup calibrate` prints at its end."""

import json
import math
import sys
from typing import Any

import click

from trueup.cli._job import Done, Job


def print_summary(done: Done, job: Job, *, as_json: bool) -> None:
    """Print it where it is not in the way: beside an output that goes to standard output."""
    aside = job.output == "-"
    if as_json:
        click.echo(json.dumps(described(done)), err=aside)
    elif not aside or sys.stderr.isatty():
        click.echo(text_of(done), err=aside)


def described(done: Done) -> dict[str, Any]:
    """Return the summary as JSON knows it; what is not known is left out."""
    values = done.summary._asdict() | {
        "open": done.open,
        "series": done.series,
        "certificate": done.certificate,
        "output": done.output,
        "report": done.report,
    }
    return {
        name: value
        for name, value in values.items()
        if value is not None and not (isinstance(value, float) and math.isnan(value))
    }


def text_of(done: Done) -> str:
    """Return the summary as lines of text."""
    summary = done.summary
    counted = f"{summary.rows:,} rows"
    if done.series > 1:
        counted += f" of {done.series:,} series"
    asides = [
        (summary.missing, "without outcome"),
        (summary.silent if summary.silent < summary.rows else 0, "without forecast"),
        (done.open, "whose outcome was not known in time"),
        (summary.unguarded, "before the range was known"),
    ]
    lines = [", ".join([counted, *(f"{count:,} {words}" for count, words in asides if count)])]
    if summary.rows > summary.missing:
        lines += _scores(done)
    if done.output != "-":
        lines.append(f"written to {done.output}")
    if done.report is not None:
        lines.append(f"the page: {done.report}")
    return "\n".join(lines)


def _scores(done: Done) -> list[str]:
    """Return the table: the model against what was said instead."""
    summary = done.summary
    rows = [("calibrated", summary.coverage, summary.score)]
    if not math.isnan(summary.raw_score):
        ours = summary.coverage, summary.compared_score
        rows = [("your model", summary.raw_coverage, summary.raw_score), ("calibrated", *ours)]
    head = "" if summary.level is None else f"{'coverage':>12}"
    lines = [f"{'':12}{head}{'mean loss':>14}"]
    for name, covered, score in rows:
        share = "" if summary.level is None else f"{covered:12.3f}"
        lines.append(f"{name:12}{share}{score:14.5g}")
    if summary.level is not None:
        lines[0] += f"   (coverage should be {summary.level:g})"
    if done.certificate is not None:
        each = done.certificate / max(summary.rows - summary.missing, 1)
        lines.append(f'no rule "for A say B" would have saved more than {each:.4g} a row')
    return lines
