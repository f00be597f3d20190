"""Rivals through their own packages, where installed (requirements.txt): river and crepes.

They work on residuals like the others, in the order in which these become known. Left out, with the
reason: MAPIE's TimeSeriesRegressor (milliseconds a round; its adaptive rule is ACI's), online-cp
(its regressors fit a model of their own instead of taking a forecast, at a cost that grows with the
rows), aci-python (not found in the package index).
"""

from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from rivals import Rows, ends_of, issued, residuals_of, row_of
from scores import FIRST, measure
from streams import Stream, Task, read

from trueup.protocols import FloatArray

NAMES = ("river", "crepes")
WINDOW = 500


def installed() -> list[str]:
    """Return the packages that are here."""
    return [name for name in NAMES if find_spec(name) is not None]


def measured(path: Path, rows: int | None, package: str) -> Rows:
    """Return the measures of a package's methods in a stream."""
    stream, found = read(path, rows), []
    make = {"river": _river, "crepes": _crepes}[package]
    for task in stream.tasks():
        if task.kind in ("quantile", "interval"):
            for name, setting, raw in make(task, residuals_of(stream, task)):
                found.append(_row(stream, task, name, setting, raw))
    return found


def _row(stream: Stream, task: Task, name: str, setting: str, raw: FloatArray) -> Any:
    """Return the line of one method, from its thresholds."""
    q, share = issued(stream, task, residuals_of(stream, task), raw)
    said, top = (task.given + q, None) if task.kind == "quantile" else ends_of(task, q)
    return row_of(task, name, setting, measure(stream, task, said, top, share), default=True)


def _river(task: Task, residuals: FloatArray) -> Iterator[tuple[str, str, FloatArray]]:
    """Yield river's streaming quantiles."""
    stats, level = import_module("river.stats"), float(task.level or 0.9)
    kinds = (
        ("river Quantile", "", stats.Quantile(level)),
        ("river RollingQuantile", f"window={WINDOW}", stats.RollingQuantile(level, WINDOW)),
    )
    for name, setting, estimate in kinds:
        said = np.zeros(residuals.size + 1)
        for k, residual in enumerate(residuals.tolist()):
            estimate.update(residual)
            said[k + 1] = estimate.get()
        yield name, setting, said


def _crepes(task: Task, residuals: FloatArray) -> Iterator[tuple[str, str, FloatArray]]:
    """Yield crepes' online intervals, which are of distances from a forecast."""
    if task.kind != "interval" or task.own or residuals.size <= FIRST:
        return
    kind = import_module("crepes").ConformalRegressor
    regressor = kind().fit(residuals[:FIRST])
    later = np.append(residuals[FIRST:], 0.0)
    ends = regressor.predict_int_online(np.zeros(later.size), later, confidence=task.level)
    early = np.full(
        FIRST, float(ends[0, 1])
    )  # of rows that are not measured, but for late outcomes
    yield "crepes online", "", np.concatenate([early, ends[:, 1]])
