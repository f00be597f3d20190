"""Whole arrays through a calibrator, at kernel speed: the same bits as one by one."""

from collections.abc import Hashable, Sequence
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from trueup import _validation as check
from trueup._kernels import _engine as kernels
from trueup.calibrator._calibrator import NAMED, REMEMBERED, Calibrator
from trueup.calibrator._columns import as_floats, like
from trueup.calibrator._issued import Open, Report
from trueup.calibrator._order import Moved
from trueup.calibrator._stream import most_open
from trueup.calibrator._targets import Decision, Ends, Levels, Probability, Target, shaped
from trueup.engine._arrays import replay_order
from trueup.errors import InvalidArgument
from trueup.losses import Scaled
from trueup.metrics import swap_regret
from trueup.properties import Mean, Quantile
from trueup.protocols import FloatArray, IntArray, Loss


class CalibratedRun(NamedTuple):
    """A whole array of forecasts; arrays have a column a number where several are wanted."""

    forecasts: Any  # as what was given: list, array or column; Ends or Levels of these
    values: FloatArray  # the same as an array, shape (T,) or (T, k)
    labels: FloatArray  # the drawn bins
    scales: FloatArray  # their scales
    overruled: Any  # bool: another bin was drawn than the one aimed at
    guarded: Any  # bool: False before the range is known
    answered: Any  # bool: the outcome came and was learned
    outcomes: FloatArray
    raw: FloatArray  # the user's own numbers, NaN without
    weights: Any  # shape (T,), or None
    calibrator: Calibrator  # in the state after the run

    def __repr__(self) -> str:
        said, overruled = len(self.outcomes), int(np.sum(self.overruled))
        text = f"{said} rounds of {self.calibrator.wanted!r}, {overruled} overruled"
        return f"CalibratedRun({text}, certificate {self.certificate:.6g})"

    @property
    def certificate(self) -> float:
        """Swap regret by label is at most this, in the user's units of loss."""
        return self.calibrator.certificate()

    def summary(self) -> Report:
        """Return counts, coverage, scores and the certificate."""
        return self.calibrator.report()

    def swap_regret(self) -> float:
        """Return swap regret by label over all rounds that were guarded and answered.

        For several numbers it is the sum over them. Weights count as they do in the certificate.
        """
        calibrator, report = self.calibrator, self.calibrator.report()
        low, span = report.low, report.high - report.low
        used = np.asarray(self.guarded) & self.answered
        used &= np.arange(used.size) >= report.since - (report.rounds - used.size)
        levels = getattr(calibrator.wanted, "levels", None)
        total, count = 0.0, 1 if levels is None else len(levels)
        for k in range(count):
            said, label, scale = (
                _column(block, k)[used] for block in (self.values, self.labels, self.scales)
            )
            said, outcomes = (
                _inside(calibrator, v, low, span) for v in (said, self.outcomes[used])
            )
            labels = np.column_stack([label, scale])
            if isinstance(calibrator.wanted, Decision) or self.weights is not None:
                wanted = _one(calibrator.wanted, k)
                losses = _losses(calibrator, wanted, outcomes, self.outcomes[used], low, span)
                if self.weights is not None:
                    shares = self.weights[used] / calibrator.max_weight
                    losses = [Scaled(loss, w) for loss, w in zip(losses, shares, strict=True)]
                total += swap_regret(said, losses, by=labels)
            else:
                total += swap_regret(said, outcomes, _one(calibrator.wanted, k), by=labels)
        power = {kernels.POINTED: 1, kernels.SQUARED: 2}.get(
            calibrator._streams[0].template.kind, 0
        )
        return float(total * span**power * calibrator.max_weight)

    def to_frame(self) -> Any:
        """Return the run as a pandas frame, a row a round.

        With the index of what was given, and of several numbers a column each: `value_0` and so on.
        """
        try:
            pd = import_module("pandas")
        except ImportError:
            raise InvalidArgument("to_frame needs pandas; install it: pip install pandas") from None
        columns = {"outcome": self.outcomes, "raw": self.raw}
        for name in ("values", "labels", "scales"):
            block = getattr(self, name)
            if block.ndim == 1:
                columns[name[:-1]] = block
            else:
                columns |= {f"{name[:-1]}_{k}": block[:, k] for k in range(block.shape[1])}
        flags = ("overruled", "guarded", "answered")
        columns |= {name: getattr(self, name) for name in flags}
        if self.weights is not None:
            columns["weight"] = self.weights
        said = self.forecasts.values if isinstance(self.forecasts, Levels) else self.forecasts
        one = (
            next((c for c in said if hasattr(c, "index")), None)
            if isinstance(said, tuple)
            else said
        )
        index = getattr(one, "index", None)
        return pd.DataFrame(columns, index=index if isinstance(index, pd.Index) else None)


def calibrate(
    outcomes: Any,
    wanted: Target,
    *,
    forecasts: Any = None,
    known_at: Any = None,
    groups: Sequence[Sequence[Hashable]] | None = None,
    weights: Any = None,
    **settings: Any,
) -> CalibratedRun:
    """Forecast a whole array, in order, each number from what was known before it.

    Parameters
    ----------
    outcomes : array, list or column, shape (T,)
        NaN or None for one that never came.
    wanted : what a `Calibrator` can be asked for
    forecasts : array, list or column, shape (T,), optional
        The user's own forecasts; NaN where there is none.
    known_at : array of int, shape (T,), optional
        Outcome t may be used from round known_at[t] on; t + 1 by default.
    groups : sequence of sequences of names, optional
        The groups of each round.
    weights : array, shape (T,), optional
        How much each round counts: above 0 and at most `max_weight`.
    settings
        Those of `Calibrator`.

    Examples
    --------
    >>> from trueup import Median
    >>> run = calibrate([3.0, 4.0, 5.0] * 200, Median())
    >>> run.values.shape, bool(run.swap_regret() <= run.certificate)
    ((600,), True)
    """
    calibrator = Calibrator(wanted, **settings)
    given, values = outcomes, as_floats("outcomes", outcomes)
    anchors = np.full(values.size, np.nan)
    if forecasts is not None:
        anchors = as_floats("forecasts", forecasts)
        check.same_length("outcomes and forecasts", values, anchors)
    refuse_outcomes(calibrator, values)
    return continue_run(calibrator, given, values, anchors, known_at, groups, weights)


def continue_run(
    calibrator: Calibrator,
    given: Any,
    values: FloatArray,
    anchors: FloatArray,
    known_at: Any,
    groups: Sequence[Sequence[Hashable]] | None,
    weights: Any = None,
) -> CalibratedRun:
    """Run a calibrator over arrays from where it is; `given` says what to give back."""
    rounds, transform = values.size, calibrator._transform
    shares = shares_of(calibrator, rounds, weights)
    y, own = values, anchors
    if transform is not None:
        y, own = transform.into_all("outcomes", values), transform.into_all("forecasts", anchors)
    replay = replay_order(rounds, known_at)
    members = _members(calibrator, rounds, groups)
    used = y
    if calibrator.max_open is not None:
        replay, late = give_up(calibrator, replay)
        used = y.copy()
        used[late] = np.nan
    parts = [stream.run(used, own, replay, members, shares) for stream in calibrator._streams]
    issued = put_in_order(calibrator, parts, used, shares, own, replay)
    answered = ~np.isnan(used) & (parts[0][3] == -1)
    labels = np.column_stack([part[1][:, 0] for part in parts])
    if transform is not None:
        same = issued == own[:, None]  # the user's own number comes back as it was
        issued = np.where(same, anchors[:, None], transform.back_all(issued))
        labels = transform.back_all(labels)
    scales = np.column_stack([part[1][:, 1] for part in parts])
    overruled = np.any([part[2][:, 0] > 0 for part in parts], axis=0)
    note_overruled(calibrator, overruled, labels[:, 0])
    single = issued.shape[1] == 1
    return CalibratedRun(
        given_back(given, calibrator.wanted, issued),
        issued[:, 0] if single else issued,
        labels[:, 0] if single else labels,
        scales[:, 0] if single else scales,
        overruled,
        parts[0][2][:, 0] >= 0,
        answered,
        values,
        anchors,
        shares * calibrator.max_weight if shares.size else None,
        calibrator,
    )


def give_up(calibrator: Calibrator, replay: Any) -> tuple[Any, list[int]]:
    """Return the order in which rounds are closed when not more than `max_open` may be open.

    With it come the rounds that are given up, which the calibrator remembers.
    """
    starts, order = replay
    most, first = calibrator.max_open or 0, calibrator._issued
    rounds, closed, late = starts.size - 2, [], []
    is_open: dict[int, None] = {}
    ends = np.zeros(rounds + 2, dtype=np.int64)
    for t in range(rounds + 1):
        for k in order[starts[t] : starts[t + 1]].tolist():
            if k in is_open:
                del is_open[k]
                closed.append(k)
        ends[t + 1] = len(closed)
        if t < rounds:
            is_open[t] = None
            if len(is_open) > most:
                late.append(next(iter(is_open)))
                del is_open[late[-1]]
                closed.append(late[-1])
    calibrator._expired |= dict.fromkeys(first + t for t in late[-REMEMBERED:])
    calibrator._given_up += len(late)
    return (ends, np.array(closed, dtype=np.int64)), late


def put_in_order(
    calibrator: Calibrator,
    parts: Any,
    outcomes: FloatArray,
    shares: FloatArray,
    anchors: FloatArray,
    replay: tuple[IntArray, IntArray],
) -> FloatArray:
    """Return what is issued, shape (T, k), and keep what is still open at the end of a run."""
    said = np.column_stack([part[0] for part in parts])
    issued, moved = said, dict[int, Moved]()
    if said.shape[1] > 1:
        waiting, most = calibrator._waiting(), most_open(replay[0])
        own = ~np.isnan(anchors)
        issued, moved = calibrator._order.run(said, outcomes, shares, own, replay, most, waiting)
    slips = np.column_stack([part[3] for part in parts])
    for k, t in enumerate(np.flatnonzero(slips[:, 0] != -1).tolist()):
        memos = tuple(part[4][k].copy() for part in parts)
        calibrator._open[calibrator._issued + t] = Open(
            tuple(slips[t].tolist()), tuple(said[t].tolist()), float(anchors[t]), memos,
            moved.get(t),
        )  # fmt: skip
    calibrator._issued += said.shape[0]
    return issued


def note_overruled(calibrator: Calibrator, overruled: Any, labels: FloatArray) -> None:
    """Remember the last rounds of a run that were overruled; the run has been counted already."""
    rounds = np.flatnonzero(overruled)[-NAMED:].tolist()
    first = calibrator._issued - overruled.size
    calibrator._note_overruled([(first + t, float(labels[t])) for t in rounds])


def shares_of(calibrator: Calibrator, rounds: int, weights: Any) -> FloatArray:
    """Return what each round weighs, at most 1; nothing where all weigh the same."""
    if weights is None:
        return np.empty(0)
    values = as_floats("weights", weights)
    if values.size != rounds:
        raise check.refuse("weights", f"of length {rounds}", values.size)
    wrong = np.flatnonzero(~((values > 0) & (values <= calibrator.max_weight)))
    if wrong.size:
        must = f"above 0 and at most max_weight={calibrator.max_weight}"
        raise check.refuse(f"weights[{wrong[0]}]", must, float(values[wrong[0]]))
    return values / calibrator.max_weight


def _members(
    calibrator: Calibrator, rounds: int, groups: Sequence[Sequence[Hashable]] | None
) -> IntArray:
    """Return the numbers of the groups of each round, shape (T or 1, n), shorter rows with -1."""
    if groups is None:
        return np.zeros((1, 1), dtype=np.int64)
    check.same_length("outcomes and groups", range(rounds), groups)
    if len(groups) != rounds:
        raise InvalidArgument(f"groups must have {rounds} rows, got {len(groups)}.")
    rows = []
    for row in groups:
        named = calibrator._named(row)
        calibrator._groups |= {name: number for name, number in named.items() if number}
        rows.append(sorted(named.values()))
    most = max((len(row) for row in rows), default=1)
    return np.array([row + [-1] * (most - len(row)) for row in rows], np.int64).reshape(-1, most)


def refuse_outcomes(calibrator: Calibrator, values: FloatArray) -> None:
    known = ~np.isnan(values)
    wrong = np.zeros(values.size, dtype=bool)
    must = ""
    if isinstance(calibrator.wanted, Probability):
        wrong, must = known & (values != 0) & (values != 1), "0 or 1"
    elif calibrator.strict and calibrator.bounds is not None:
        low, high = calibrator.bounds
        wrong, must = known & ((values < low) | (values > high)), f"inside [{low}, {high}]"
    if wrong.any():
        at = int(np.flatnonzero(wrong)[0])
        raise InvalidArgument(f"outcomes must be {must}, got {float(values[at])} at index {at}.")


def given_back(given: Any, wanted: Target, issued: FloatArray) -> Any:
    """Return the issued numbers in the kind of column that was given."""
    columns = [like(given, issued[:, k]) for k in range(issued.shape[1])]
    answer = shaped(wanted, columns)
    if isinstance(answer, Ends | Levels):
        return answer
    return columns[0]


def _column(block: FloatArray, k: int) -> FloatArray:
    return block if block.ndim == 1 else np.asarray(block[:, k])


def _one(wanted: Target, k: int) -> Any:
    """Return what the k-th number of a target is."""
    levels = getattr(wanted, "levels", None)
    if levels is not None:
        return Quantile(levels[k])
    return Mean() if isinstance(wanted, Probability) else wanted


def _inside(calibrator: Calibrator, values: FloatArray, low: float, span: float) -> FloatArray:
    """Return numbers of the user as numbers of [0, 1]."""
    if calibrator._transform is not None:
        values = calibrator._transform.into_all("values", values)
    return np.clip((values - low) / span, 0.0, 1.0)


def _losses(
    calibrator: Calibrator,
    wanted: Any,
    outcomes: FloatArray,
    given: FloatArray,
    low: float,
    span: float,
) -> list[Loss]:
    """Return the loss of each outcome on [0, 1]."""
    if isinstance(wanted, Decision):
        steepest = calibrator._streams[0].steepest
        return [wanted.loss(y, low, span, steepest) for y in given.tolist()]
    return [wanted.loss(y) for y in outcomes.tolist()]
