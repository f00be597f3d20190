"""Tables and runs that several tests of the command line share."""

import csv
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

import trueup
from trueup.cli._main import run

ROWS = 400
PROGRAM = [sys.executable, "-m", "trueup"]
SOURCE = str(Path(trueup.__file__).resolve().parents[1])


def numbers(rows=ROWS, seed=0):
    """Return forecasts and outcomes; some outcomes never came."""
    rng = np.random.default_rng(seed)
    forecasts = rng.uniform(0, 50, rows)
    outcomes = forecasts + rng.exponential(10, rows) - 3
    outcomes[rng.random(rows) < 0.03] = np.nan
    return forecasts, outcomes


def cell(value):
    """Return a number as text that is read back as the same bits; nothing for NaN."""
    return "" if np.isnan(value) else repr(float(value))


def write(path, columns, delimiter=","):
    """Write columns as a table with a header."""
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


def sample(path, rows=ROWS, **more):
    """Write forecasts and outcomes as CSV; return them."""
    forecasts, outcomes = numbers(rows)
    write(path, {"y": map(cell, outcomes), "yhat": map(cell, forecasts), **more})
    return forecasts, outcomes


def read(path):
    """Return the rows of a CSV file as dictionaries."""
    with Path(path).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def column(path, name="calibrated"):
    """Return a column of a CSV file as numbers."""
    return np.array([float(row[name]) for row in read(path)])


def trueup_(*arguments):
    """Run the program in this process; return its exit code."""
    return run([str(argument) for argument in arguments])


def calibrate(source, *arguments, target=("--quantile", 0.9)):
    """Run `trueup calibrate` on the columns y and yhat in this process."""
    return trueup_("calibrate", source, "--outcome", "y", "--forecast", "yhat", *target, *arguments)


def started(*arguments, cwd, to=subprocess.PIPE, **options):
    """Start the program as a process of its own."""
    environment = {**os.environ, "PYTHONPATH": SOURCE}
    return subprocess.Popen(
        [*PROGRAM, *map(str, arguments)], cwd=cwd, env=environment,
        stdout=to, stderr=subprocess.PIPE, **options,
    )  # fmt: skip


def finished(*arguments, cwd, data=None, **options):
    """Run the program as a process; return its exit code, and what it wrote."""
    process = started(*arguments, cwd=cwd, stdin=subprocess.PIPE, **options)
    out, err = process.communicate(data, timeout=120)
    return process.returncode, (out or b"").decode(), err.decode()
