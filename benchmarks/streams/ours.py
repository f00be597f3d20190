"""The calibrator on the streams: everything on, and with parts left out."""

import time
from pathlib import Path
from typing import Any

import numpy as np
from scores import FIRST, Measures, calibration_of, measure
from streams import Stream, Task, read

import trueup as tu
from trueup._kernels import _engine as kernels
from trueup.calibrator._batch import continue_run
from trueup.protocols import FloatArray

NAME = "trueup"
ALL_ON = "all on"
VARIANTS: dict[str, dict[str, Any]] = {
    ALL_ON: {},
    "no refining": {"exact": True},
    "no steering": {"steer": False},
    "no guard": {"overrule": 1e-300},
    "guard alone": {"steer": False, "exact": True},
}
SETTINGS: dict[str, dict[str, Any]] = {
    "window=32": {"window": 32},
    "window=64": {"window": 64},
    "window=256": {"window": 256},
    "c=0.125": {"c": 0.125},
    "c=0.5": {"c": 0.5},
    "overrule=0.5": {"overrule": 0.5},
    "overrule=None": {"overrule": None},
}  # other values of what the defaults are, to explain them
WITHOUT = {f"no {kind} experts": k for k, kind in enumerate(getattr(kernels, "KINDS", ()))}
TIMED = 20_000


def targets(task: Task) -> list[tuple[Any, FloatArray]]:
    """Return what the calibrator is asked for, and with which forecasts.

    An interval of a point forecast is one `Interval`; one between the model's own quantiles is two
    calibrators, each with the quantile of its level.
    """
    if task.kind == "quantile":
        return [(tu.Quantile(float(task.level or 0.5)), task.given)]
    if task.kind == "mean":
        return [(tu.Mean(), task.given)]
    if task.kind == "probability":
        return [(tu.Probability(), task.given)]
    if task.above is None or not task.own:
        return [(tu.calibrator.Interval(float(task.level or 0.9)), task.given)]
    rest = round((1 - float(task.level or 0.9)) / 2, 12)
    return [(tu.Quantile(rest), task.given), (tu.Quantile(round(1 - rest, 12)), task.above)]


def variant(path: Path, rows: int | None, name: str) -> list[Measures]:
    """Return the measures of one setting in all tasks of a stream."""
    stream = read(path, rows)
    return [row(stream, task, name) for task in stream.tasks()]


def row(stream: Stream, task: Task, name: str) -> Measures:
    """Return a line of the results."""
    runs = []
    for wanted, given in targets(task):
        runs.append(run_of(stream, task, wanted, given, name))
    said = np.column_stack([run.values for run in runs])
    top = None
    if task.kind == "interval":
        said, top = np.min(said, axis=1), np.max(said, axis=1)
    else:
        said = said[:, 0]
    keys = {"stream": task.stream, "task": task.kind, "column": task.column, "level": task.level}
    keys |= {"rival": NAME, "setting": name, "default": name == ALL_ON}
    return keys | measure(stream, task, said, top, 0.0) | by_label(task, runs)


def run_of(stream: Stream, task: Task, wanted: Any, given: FloatArray, name: str) -> Any:
    """Return a run of one setting; where a kind of experts is left out, by the kernels' switch."""
    if name not in WITHOUT:
        settings = (VARIANTS | SETTINGS)[name]
        return tu.calibrate(task.y, wanted, forecasts=given, known_at=stream.known_at, **settings)
    calibrator = tu.Calibrator(wanted)
    for one in calibrator._streams:  # noqa: SLF001 - a switch for this measurement alone
        one.z[vars(kernels)["LEFT_OUT"]] = float(1 << WITHOUT[name])
    return continue_run(calibrator, task.y, task.y, given, stream.known_at, None)


def by_label(task: Task, runs: list[Any]) -> Measures:
    """Return what the guarantee is about: calibration and swap regret by label, the certificate."""
    losses = np.array([run.swap_regret() for run in runs])
    found: Measures = {
        "label_swap": short(losses.sum() / task.y.size),
        "certificate": short(sum(run.certificate for run in runs) / task.y.size),
        "overruled": short(np.mean([np.mean(run.overruled) for run in runs])),
    }
    run = runs[0]
    if task.kind == "quantile":
        used = np.asarray(run.guarded) & (np.arange(task.y.size) >= FIRST)
        pairs = np.column_stack([run.labels, run.scales])[used]
        _, group = np.unique(pairs, axis=0, return_inverse=True)
        said, y = run.values[used], task.y[used]
        off = calibration_of(group.ravel(), said > y, said >= y, float(task.level or 0.5))
        found |= {f"label_{key}": short(off[key]) for key in ("calibration", "perfect")}
    return found


def short(value: float) -> float:
    """Return a number of six digits."""
    return float(f"{float(value):.6g}")


def timing(path: Path, rows: int | None) -> Measures:
    """Return microseconds a round, over whole arrays and one by one (processor time)."""
    stream = read(path, rows if rows is not None else TIMED)
    task = next(iter(stream.tasks()))
    wanted, given = targets(task)[0]
    tu.calibrate(task.y[:200], wanted, forecasts=given[:200])  # compiled now
    start = time.process_time()
    tu.calibrate(task.y, wanted, forecasts=given, known_at=stream.known_at)
    whole = time.process_time() - start
    calibrator, few = tu.Calibrator(wanted), min(2_000, task.y.size)
    start = time.process_time()
    for own, outcome in zip(given[:few].tolist(), task.y[:few].tolist(), strict=True):
        calibrator.predict(own)
        calibrator.update(outcome)
    steps = time.process_time() - start
    return {
        "trueup, whole arrays": short(1e6 * whole / task.y.size),
        "trueup, one by one": short(1e6 * steps / few),
    }
