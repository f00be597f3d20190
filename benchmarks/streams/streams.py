"""A folder of streams: what each file holds, what is forecast in it, and when outcomes are known.

A file is Parquet (read by DuckDB or pyarrow, whichever is installed) or CSV, with a row a forecast
in the order in which forecasts have to be made, and the columns

    y            the outcome; no value may be missing
    known_at     the outcome of row i may be used for row j only if j >= known_at[i]; i + 1 without
    t            optional: a time stamp or a number; it is only shown
    yhat         a point forecast that came with the data; else yhat_ar, else yhat_snaive is used
    qNN          the NN % quantile as somebody forecast it (q05, q50; q025 is 2.5 %)
    prob         the probability that y is 1; prob_NAME is that of another 0/1 column y_NAME

Outcomes of 0 and 1 alone are forecast as probabilities, all others as quantiles, intervals and,
where the point forecast is one of a mean, means.

The forecast that recalibrators are given, all the same one: the model's own quantile of that level
where the file has both `yhat` and that quantile, else the point forecast. Where a file has no
`yhat`, its quantiles are a forecaster of their own to compare with.
"""

import csv
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from trueup.protocols import FloatArray, IntArray

LEVELS = (0.05, 0.1, 0.5, 0.9, 0.95)
COVERAGE = 0.9
BEFORE, AFTER, ROOM = 1000, 300, 800  # rows around a break
POINTS = ("yhat", "yhat_ar", "yhat_snaive")
WANTED = re.compile(r"t|y|y_\w+|known_at|yhat|yhat_ar|yhat_snaive|q\d+|prob(_\w+)?")


class BadStream(ValueError):
    """A file is not what it has to be; one sentence says why."""


@dataclass(frozen=True)
class Task:
    """What is forecast in a stream: the numbers of one column."""

    stream: str
    kind: str  # "quantile", "interval", "mean" or "probability"
    level: float | None  # of the quantile; the coverage of the interval
    column: str  # of the outcome
    y: FloatArray
    given: FloatArray  # the forecast; for an interval its lower end
    above: FloatArray | None = None  # the upper end of an interval
    own: bool = False  # whether `given` is the model's own quantile, or interval

    @property
    def name(self) -> str:
        """Return what the tables call it."""
        return self.kind if self.level is None else f"{self.kind} {self.level:g}"


@dataclass(frozen=True)
class Stream:
    """One file, cut to its first rows where that was asked for."""

    name: str
    columns: dict[str, FloatArray]
    stamps: Any
    known_at: IntArray

    @cached_property
    def order(self) -> IntArray:
        """The rows in the order in which their outcomes become known (the file's among equals)."""
        return np.argsort(self.known_at, kind="stable")

    @cached_property
    def known(self) -> IntArray:
        """How many outcomes are known when row j is forecast."""
        return np.searchsorted(np.sort(self.known_at), np.arange(len(self)), side="right")

    def __len__(self) -> int:
        return self.known_at.size

    @property
    def point(self) -> FloatArray:
        """The point forecast; zeros where the file has none."""
        for name in POINTS:
            if name in self.columns:
                return self.columns[name]
        return np.zeros(len(self))

    @property
    def binary(self) -> bool:
        """Whether all outcomes are 0 or 1."""
        return bool(np.isin(self.columns["y"], (0.0, 1.0)).all())

    @cached_property
    def break_row(self) -> int | None:
        """The row at which the point forecast breaks worst; None in a short stream.

        There the mean size of its errors over the next 300 rows is the largest multiple of that
        over the last 1000.
        """
        rows = np.arange(BEFORE, len(self) - ROOM)
        if rows.size == 0:
            return None
        total = np.concatenate([[0.0], np.cumsum(np.abs(self.columns["y"] - self.point))])
        after = (total[rows + AFTER] - total[rows]) / AFTER
        before = (total[rows] - total[rows - BEFORE]) / BEFORE
        return int(rows[np.argmax(after / np.maximum(before, 1e-300))])

    def quantile(self, level: float) -> FloatArray | None:
        """Return the file's quantile of a level."""
        digits = f"{level:.10f}".rstrip("0")[2:].ljust(2, "0")
        return self.columns.get(f"q{digits}")

    def tasks(self) -> Iterator[Task]:
        """Return all that is forecast in this stream."""
        if not self.binary:
            yield from self._quantiles()
            if self._of_mean():
                point = self.point
                yield Task(self.name, "mean", None, "y", self.columns["y"], point)
        for name, column in self.columns.items():
            outcome = "y" + name.removeprefix("prob")
            if name.startswith("prob") and outcome in self.columns:
                y = self.columns[outcome]
                if not np.isin(y, (0.0, 1.0)).all():
                    raise BadStream(f"{self.name}: {outcome} must be 0 or 1, as it has {name}.")
                yield Task(self.name, "probability", None, outcome, y, column)

    def _quantiles(self) -> Iterator[Task]:
        y = self.columns["y"]
        own = {level: self.quantile(level) if "yhat" in self.columns else None for level in LEVELS}
        for level in LEVELS:
            mine = own[level]
            given = self.point if mine is None else mine
            yield Task(self.name, "quantile", level, "y", y, given, own=mine is not None)
        rest = round((1 - COVERAGE) / 2, 12)
        low, high = own.get(rest), own.get(round(1 - rest, 12))
        if low is None or high is None:
            yield Task(self.name, "interval", COVERAGE, "y", y, self.point, self.point)
        else:
            yield Task(self.name, "interval", COVERAGE, "y", y, low, high, own=True)

    def _of_mean(self) -> bool:
        """Whether the point forecast is one of a mean: there is one, and it is not the median."""
        median = self.columns.get("q50")
        here = any(name in self.columns for name in POINTS)
        return here and not (median is not None and np.array_equal(median, self.point))


def files_of(folder: Path) -> list[Path]:
    """Return the streams of a folder, by name."""
    found = sorted([*folder.glob("*.parquet"), *folder.glob("*.csv")])
    if not found:
        raise BadStream(f"There is no .parquet or .csv file in {folder}.")
    return found


def read(path: Path, rows: int | None = None) -> Stream:
    """Return the stream of a file."""
    columns = _csv(path) if path.suffix == ".csv" else _parquet(path)
    if "y" not in columns:
        raise BadStream(f"{path.name} must have a column y.")
    total = len(columns["y"])
    stamps = columns.pop("t", np.arange(total))
    numbers = {name: np.asarray(column, dtype=float) for name, column in columns.items()}
    known_at = numbers.pop("known_at", np.arange(1, total + 1, dtype=float))
    for name, column in numbers.items():
        if not np.isfinite(column).all():
            raise BadStream(f"{path.name}: {name} must be finite everywhere.")
    if not (known_at > np.arange(total)).all():
        raise BadStream(f"{path.name}: known_at must be after its own row.")
    cut = slice(0, rows)
    return Stream(
        path.stem,
        {name: np.ascontiguousarray(column[cut]) for name, column in numbers.items()},
        stamps[cut],
        known_at[cut].astype(np.int64),
    )


def digest(path: Path) -> str:
    """Return a hash of a file's bytes."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _parquet(path: Path) -> dict[str, Any]:
    """Return the columns that matter."""
    try:
        parquet = import_module("pyarrow.parquet")
    except ImportError:
        return _by_duckdb(path)
    names = [name for name in parquet.read_schema(path).names if WANTED.fullmatch(name)]
    table = parquet.read_table(path, columns=names)
    return {name: table.column(name).to_numpy() for name in names}


def _by_duckdb(path: Path) -> dict[str, Any]:
    try:
        duckdb = import_module("duckdb")
    except ImportError:
        raise BadStream("Parquet needs DuckDB or pyarrow: pip install duckdb") from None
    columns = duckdb.read_parquet(str(path)).fetchnumpy()
    return {name: column for name, column in columns.items() if WANTED.fullmatch(name)}


def _csv(path: Path) -> dict[str, Any]:
    with path.open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    names = [name for name in (rows[0] if rows else {}) if WANTED.fullmatch(name)]
    columns: dict[str, Any] = {}
    for name in names:
        raw = [row[name] for row in rows]
        try:
            columns[name] = np.array(raw, dtype=float)
        except ValueError:
            if name != "t":
                raise BadStream(f"{path.name}: {name} must be numbers.") from None
            columns[name] = np.array(raw, dtype="datetime64[s]")
    return columns
