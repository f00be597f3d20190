"""What the rivals say in a stream, and how it is measured.

Late outcomes: a rival learns a residual when it becomes known, with the forecast of its own row.
Its threshold in a row is the one after all residuals known by then, so the thresholds depend on the
residuals in the order in which they become known, and not on the delays.
"""

import math
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import twins
from scores import FIRST, Measures, measure
from settings import FAMILIES, RECALIBRATORS, Entry, Known, ages, coins
from streams import Stream, Task, read

from trueup.baselines import Recalibrator
from trueup.protocols import FloatArray

TIMED = 2_000
Rows = list[Measures]


def thresholds(entry: Entry, residuals: FloatArray, level: float, *, plain: bool) -> FloatArray:
    """Return q_0 .. q_T of one setting, by the rival itself or by its twin."""
    known = Known.of(residuals)
    if plain:
        rival, said = entry.make(level, known), np.empty(residuals.size + 1)
        for k, residual in enumerate(residuals.tolist()):
            said[k] = rival.threshold
            rival.update(residual)
        said[-1] = rival.threshold
        return said
    return next(said for e, said in all_thresholds([entry], residuals, level))


def all_thresholds(
    entries: list[Entry], residuals: FloatArray, level: float
) -> Iterator[tuple[Entry, FloatArray]]:
    """Return the thresholds of many settings; what can be is sorted once."""
    known, levels = Known.of(residuals), np.array([level])
    windows: dict[int, list[Entry]] = {}
    for entry in entries:
        if entry.row is not None:
            windows.setdefault(entry.row[0], []).append(entry)
        elif entry.decay is not None:
            yield entry, twins.aged(residuals, levels, ages(entry.decay))[0]
        elif entry.twin is not None:
            yield entry, entry.twin(residuals, level, known)
    for window, members in windows.items():
        rows = np.zeros((len(members), 6))
        for number, entry in enumerate(members):
            numbers = entry.row[1](level) if entry.row else []
            rows[number, : len(numbers)] = numbers
        yield from zip(members, twins.sorted_thresholds(residuals, window, rows), strict=True)


def issued(
    stream: Stream, task: Task, residuals: FloatArray, raw: FloatArray
) -> tuple[FloatArray, float]:
    """Return the threshold of every row, infinite ones replaced, and how many those were.

    An infinite threshold is what somebody would use in its place: the extreme residual so far.
    """
    q, known = raw[stream.known], stream.known
    infinite = np.isinf(q)
    share = float(infinite[FIRST:].mean())
    if infinite.any():
        highest = np.concatenate([[0.0], np.maximum.accumulate(residuals)])[known]
        lowest = np.concatenate([[0.0], np.minimum.accumulate(residuals)])[known]
        if task.kind == "interval" and task.above is task.given:
            lowest = np.zeros(q.size)
        q = np.where(q == math.inf, highest, np.where(q == -math.inf, lowest, q))
    return q, share


def residuals_of(stream: Stream, task: Task) -> FloatArray:
    """Return the residuals in the order in which they become known."""
    above = task.y - task.given
    if task.above is not None:
        above = np.maximum(task.given - task.y, task.y - task.above)
    return np.ascontiguousarray(above[stream.order])


def ends_of(task: Task, q: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the interval that is q wider on each side; never one turned inside out."""
    above = task.given if task.above is None else task.above
    low, high = task.given - q, above + q
    middle = (low + high) / 2
    return np.minimum(low, middle), np.maximum(high, middle)


def row_of(
    task: Task, rival: str, setting: str, measures: Measures, *, default: bool = False
) -> Measures:
    """Return a line of the results."""
    names = {"stream": task.stream, "task": task.kind, "column": task.column, "level": task.level}
    return names | {"rival": rival, "setting": setting, "default": default} | measures


def family(stream: Stream, name: str, *, plain: bool = False) -> Rows:
    """Return the measures of a family of rivals in all quantile and interval tasks of a stream."""
    entries, rows = list(FAMILIES[name]()), []
    ends: dict[tuple[str, str], dict[float, tuple[FloatArray, float]]] = {}
    tasks = [task for task in stream.tasks() if task.kind in ("quantile", "interval")]
    for task in tasks:
        residuals = residuals_of(stream, task)
        level = float(task.level or 0.0)
        if plain:
            pairs = ((e, thresholds(e, residuals, level, plain=True)) for e in entries)
        else:
            pairs = all_thresholds(entries, residuals, level)  # type: ignore[assignment]
        for entry, raw in pairs:
            q, share = issued(stream, task, residuals, raw)
            if task.kind == "quantile":
                said, top = task.given + q, None
                if level in (0.05, 0.95):
                    kept = ends.setdefault((entry.rival, entry.setting), {})
                    kept[level] = (said, share)
            else:
                said, top = ends_of(task, q)
            found = measure(stream, task, said, top, share)
            rows.append(row_of(task, entry.rival, entry.setting, found, default=entry.default))
    for task in tasks:
        if task.kind == "interval":
            rows += _two_ends(stream, task, entries, ends)
    return rows


def _two_ends(stream: Stream, task: Task, entries: list[Entry], ends: Any) -> Rows:
    """Return the measures of the intervals between two quantiles of the same setting."""
    rows = []
    for entry in entries:
        (low, first), (high, second) = (
            ends[entry.rival, entry.setting][level] for level in (0.05, 0.95)
        )
        low, high = np.minimum(low, high), np.maximum(low, high)
        found = measure(stream, task, low, high, max(first, second))
        setting = f"{entry.setting} two ends".strip()
        rows.append(row_of(task, entry.rival, setting, found))
    return rows


def recalibrated(stream: Stream, task: Task, rival: Recalibrator) -> FloatArray:
    """Return what a recalibrator says; late outcomes are learned with their own forecasts."""
    y, given, order, known = task.y.tolist(), task.given.tolist(), stream.order.tolist(), 0
    said = np.empty(len(stream))
    for row, count in enumerate(stream.known.tolist()):
        while known < count:
            rival.predict(given[order[known]])
            rival.update(y[order[known]])
            known += 1
        said[row] = rival.predict(given[row])
    return said


def probabilities(stream: Stream, *, plain: bool = False) -> Rows:
    """Return the measures of the recalibrators in the 0/1 tasks, and of the simplest means."""
    del plain
    rows = []
    for task in stream.tasks():
        if task.kind != "probability":
            continue
        for name, setting, default, make in RECALIBRATORS:
            said = recalibrated(stream, task, make())
            rows.append(
                row_of(task, name, setting, measure(stream, task, said, None, 0.0), default=default)
            )
        rows += _means(stream, task, anchored=False)
        rows += _means(stream, task, anchored=True)
        rows.append(_raw(stream, task, task.given, None, "the probability"))
    return rows


def means(stream: Stream, *, plain: bool = False) -> Rows:
    """Return the measures of the rivals in the tasks of means."""
    del plain
    rows = []
    for task in stream.tasks():
        if task.kind == "mean":
            rows += _means(stream, task, anchored=True)
    return rows


def _means(stream: Stream, task: Task, *, anchored: bool) -> Rows:
    """Return means of past residuals (or of outcomes), and the grid without internal regret."""
    base = task.given if anchored else np.zeros(len(stream))
    residuals = np.ascontiguousarray((task.y - base)[stream.order])
    known = Known.of(residuals)
    what = "" if anchored else " of outcomes"
    pairs = [
        ("trailing mean" + what, f"window={w}", w == 100, trailing(residuals, w))
        for w in (100, 250, 500, 1000, 2000, residuals.size)
    ]
    pairs += [
        ("smoothed mean" + what, f"rate={rate:g}", rate == 0.05, smoothed(residuals, rate))
        for rate in (0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001)
    ]
    pairs += [
        (
            "internal regret" + what,
            f"points={n}",
            n == 10,
            twins.regretless(residuals, -1.0, coins(residuals.size + 1), n, known.low, known.high),
        )
        for n in (10, 20)
    ]
    rows = []
    for name, setting, default, raw in pairs:
        said = base + raw[stream.known]
        if task.kind == "probability":
            said = np.clip(said, 0.0, 1.0)
        found = measure(stream, task, said, None, 0.0)
        rows.append(row_of(task, name, setting, found, default=default))
    return rows


def trailing(residuals: FloatArray, window: int) -> FloatArray:
    """Return the mean of the last residuals after 0 .. T of them, 0 before any."""
    total = np.concatenate([[0.0], np.cumsum(residuals)])
    count = np.arange(residuals.size + 1)
    start = np.maximum(count - window, 0)
    return np.asarray((total - total[start]) / np.maximum(count - start, 1))


def smoothed(residuals: FloatArray, rate: float) -> FloatArray:
    """Return m_T of m <- m + rate (residual - m), from 0."""
    said, level = [0.0], 0.0
    for residual in residuals.tolist():
        level += rate * (residual - level)
        said.append(level)
    return np.array(said)


def raw_forecasts(stream: Stream, *, plain: bool = False) -> Rows:
    """Return the measures of the forecasts as they are, and of trailing windows of outcomes."""
    del plain
    rows = []
    for task in stream.tasks():
        if task.kind == "mean":
            rows.append(_raw(stream, task, task.given, None, "the forecast"))
        if task.kind not in ("quantile", "interval"):
            continue
        rows += _by_columns(stream, task)
        rows += _of_outcomes(stream, task)
    return rows


def _raw(
    stream: Stream, task: Task, said: FloatArray, top: FloatArray | None, what: str
) -> Measures:
    return row_of(task, "raw forecast", what, measure(stream, task, said, top, 0.0), default=True)


def _by_columns(stream: Stream, task: Task) -> Rows:
    """Return the forecast that recalibrators are given, and the file's quantiles, as they are."""
    rows = [_raw(stream, task, task.given, task.above, "what is given")]
    if task.kind == "quantile":
        mine = stream.quantile(float(task.level or 0.5))
        if mine is not None and not task.own:
            found = measure(stream, task, mine, None, 0.0)
            rows.append(row_of(task, "quantiles of the file", "", found, default=True))
    else:
        low, high = stream.quantile(0.05), stream.quantile(0.95)
        if low is not None and high is not None and not task.own:
            found = measure(stream, task, np.minimum(low, high), np.maximum(low, high), 0.0)
            rows.append(row_of(task, "quantiles of the file", "", found, default=True))
    return rows


def _of_outcomes(stream: Stream, task: Task) -> Rows:
    """Return the sample quantiles of the last outcomes, without any forecast."""
    rows, outcomes = [], np.ascontiguousarray(task.y[stream.order])
    level = float(task.level or 0.5)
    rest = round((1 - level) / 2, 12)
    levels = [level] if task.kind == "quantile" else [rest, round(1 - rest, 12)]
    for window in (100, 250, 500, 1000):
        table = np.array([[twins.QUANTILE, 0.0, p] for p in levels])
        said = twins.sorted_thresholds(outcomes, window, table)[:, stream.known]
        top = said[1] if len(levels) == 2 else None
        found = measure(stream, task, said[0], top, 0.0)
        name, setting = "trailing window of outcomes", f"window={window}"
        rows.append(row_of(task, name, setting, found, default=window == 100))
    return rows


PIECES: dict[str, Callable[..., Rows]] = {
    **{
        name: (lambda stream, *, plain=False, name=name: family(stream, name, plain=plain))
        for name in FAMILIES
    },
    "means": means,
    "probabilities": probabilities,
    "raw forecasts": raw_forecasts,
}


def timing(path: Any, rows: int | None) -> Measures:
    """Return microseconds a round of each rival at its default (processor time, plain Python)."""
    stream = read(path, min(rows or TIMED, TIMED))
    task = next(iter(stream.tasks()))
    found: Measures = {}
    if task.level is None:
        return found
    residuals = residuals_of(stream, task)
    known = Known.of(residuals)
    for entry in (e for make in FAMILIES.values() for e in make() if e.default):
        rival = entry.make(float(task.level), known)
        start = time.process_time()
        for residual in residuals.tolist():
            rival.predict()
            rival.update(residual)
        spent = time.process_time() - start
        found[entry.rival] = float(f"{1e6 * spent / residuals.size:.4g}")
    return found
