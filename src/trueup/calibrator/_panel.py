"""Many series at once: a calibrator a key, at rest as a few kilobytes.

A series is unpacked into a calibrator that is kept for the purpose, does its rounds, and is packed
again; whole frames are cut by key and go through on all cores. A key draws with a coin of its own.
"""

import contextlib
import hashlib
import os
import threading
import zlib
from collections.abc import Hashable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from trueup import _validation as check
from trueup._kernels import _engine as kernels
from trueup.calibrator._batch import (
    give_up,
    given_back,
    note_overruled,
    put_in_order,
    refuse_outcomes,
    shares_of,
)
from trueup.calibrator._calibrator import Calibrator
from trueup.calibrator._columns import as_floats, is_missing, plain, rows_by_key
from trueup.calibrator._issued import Forecast, Open
from trueup.calibrator._targets import Decision, Target
from trueup.engine._arrays import replay_order
from trueup.errors import InvalidArgument, UnknownForecast
from trueup.protocols import FloatArray, IntArray

LEVEL = 6  # of compression
EVERYONE = np.zeros((1, 1), dtype=np.int64)  # the group of all rounds
CHUNKS = 8  # a worker, so that the last one is not waited for long


class Resting(NamedTuple):
    """A calibrator without its scratch and its spare room."""

    streams: tuple[bytes, ...]
    issued: int
    open: dict[int, Open]
    order: bytes
    given_up: int
    expired: tuple[int, ...]
    overruled: tuple[tuple[int, float], ...]


class PanelRun(NamedTuple):
    """A whole frame of forecasts, in the order of its rows."""

    forecasts: Any  # as what was given: list, array or column; Ends or Levels of these
    values: FloatArray  # the same as an array, shape (T,) or (T, k)
    labels: FloatArray  # the drawn bins
    scales: FloatArray  # their scales
    overruled: Any  # bool: another bin was drawn than the one aimed at
    guarded: Any  # bool: False before the range of the series is known

    def __repr__(self) -> str:
        return f"PanelRun({len(self.values)} rows, {int(np.sum(self.overruled))} overruled)"


class Frame(NamedTuple):
    """The columns of a frame, and room for the answers."""

    outcomes: FloatArray
    own: FloatArray
    shares: FloatArray
    known_at: Any
    said: FloatArray
    labels: FloatArray
    scales: FloatArray
    overruled: Any
    guarded: Any


class Panel:
    """Calibrators for many series, made when a key is first seen.

    Parameters
    ----------
    wanted : what a `Calibrator` can be asked for, but for a Decision
    workers : int, optional
        Threads for whole frames; as many as there are cores by default.
    settings
        Those of `Calibrator`, the same for all series; the seed of a series is made of `seed` and
        its key.

    Examples
    --------
    >>> from trueup import Median
    >>> panel = Panel(Median())
    >>> run = panel.run(["a", "b"] * 300, [1.0, 8.0] * 300)
    >>> run.values[-2:].round().tolist(), len(panel)
    ([1.0, 8.0], 2)
    >>> [forecast.id for forecast in panel.predict(["a", "c"])]
    [300, 0]
    >>> panel.update(["a", "c"], [1.0, 5.0])
    >>> panel.keys()
    ('a', 'b', 'c')
    """

    def __init__(self, wanted: Target, *, workers: int | None = None, **settings: Any) -> None:
        if isinstance(wanted, Decision):
            raise InvalidArgument("A Panel cannot forecast a Decision: use a Calibrator a series.")
        self.wanted, self.workers, self.settings = wanted, workers, settings
        if workers is not None:
            check.integer("workers", workers, at_least=1)
        model = Calibrator(wanted, **settings)
        self._fresh = [stream.pack() for stream in model._streams]
        self._order = model._order.copy()
        self._seed = check.integer("seed", model.seed, at_least=0)
        self._series: dict[Hashable, Resting | None] = {}  # None before the first round
        self._spare: list[Calibrator] = [model]
        self._lock = threading.RLock()

    def __repr__(self) -> str:
        given = "".join(f", {name}={value!r}" for name, value in self.settings.items())
        return f"Panel({self.wanted!r}{given}): {len(self)} series"

    def __len__(self) -> int:
        return len(self._series)

    def __contains__(self, key: Hashable) -> bool:
        return _named(key) in self._series

    def keys(self) -> tuple[Hashable, ...]:
        """Return all keys, in the order in which they were first seen."""
        return tuple(self._series)

    @property
    def nbytes(self) -> int:
        """How many bytes the series take, at rest."""
        return sum(
            sum(map(len, rest.streams)) + len(rest.order) + 16 * len(rest.overruled)
            for rest in self._series.values()
            if rest
        )

    def calibrator(self, key: Hashable) -> Calibrator:
        """Return the calibrator of a series, a copy that goes its own way."""
        key = _named(key)
        if key not in self._series:
            raise InvalidArgument(f"There is no series {key!r}.")
        copy = Calibrator(self.wanted, **(self.settings | {"seed": self._seed_of(key)}))
        self._wake(copy, key)
        return copy

    def model(self) -> Calibrator:
        """Return a calibrator with the panel's settings that has seen nothing."""
        return Calibrator(self.wanted, **self.settings)

    def predict(self, keys: Sequence[Hashable], forecasts: Any = None) -> list[Forecast]:
        """Open a forecast for each key; `forecasts` are the user's own, None for none."""
        with self._lock:
            own = [None] * len(keys) if forecasts is None else list(forecasts)
            if len(own) != len(keys):
                raise check.refuse("forecasts", f"of length {len(keys)}", len(own))
            names = [_named(key) for key in keys]
            for forecast in own:
                self._spare[-1]._given(forecast)  # refuses what is wrong before any is opened
            answers = []
            for key, forecast in zip(names, own, strict=True):
                with self._at_work(key) as calibrator:
                    answers.append(calibrator.predict(forecast))
            return answers

    def update(
        self,
        keys: Sequence[Hashable],
        outcomes: Iterable[float | None],
        *,
        forecasts: Sequence[Forecast | int] | None = None,
    ) -> None:
        """Learn an outcome for each key, of its only open forecast or of the one named.

        All are looked at before the first is learned.
        """
        with self._lock:
            values = list(outcomes)
            named: Sequence[Any] = [None] * len(keys) if forecasts is None else forecasts
            if not len(values) == len(named) == len(keys):
                raise InvalidArgument(f"keys, outcomes and forecasts must be {len(keys)} each.")
            names = [_named(key) for key in keys]
            self._refuse(names, values, named)
            for key, value, forecast in zip(names, values, named, strict=True):
                with self._at_work(key) as calibrator:
                    calibrator.update(value, forecast=forecast)

    def run(
        self,
        keys: Any,
        outcomes: Any,
        *,
        forecasts: Any = None,
        known_at: Any = None,
        weights: Any = None,
    ) -> PanelRun:
        """Forecast a whole frame whose rows are in the order of time.

        Parameters
        ----------
        keys : array, list or column, shape (T,)
        outcomes, forecasts, weights : array, list or column, shape (T,)
            As in `calibrate`.
        known_at : array of int, shape (T,), optional
            Outcome t may be used from row known_at[t] of the frame on; from the next row of its
            series on by default.
        """
        with self._lock:
            return self._run(keys, outcomes, forecasts, known_at, weights)

    def _run(self, keys: Any, given: Any, forecasts: Any, known_at: Any, weights: Any) -> PanelRun:
        y = as_floats("outcomes", given)
        own = np.full(y.size, np.nan) if forecasts is None else as_floats("forecasts", forecasts)
        check.same_length("outcomes and forecasts", y, own)
        model = self._spare[0]
        refuse_outcomes(model, y)
        shares = shares_of(model, y.size, weights)
        rows = rows_by_key(keys, y.size)
        if known_at is not None:
            replay_order(y.size, known_at)  # refuses what is wrong
            known_at = np.asarray(known_at, dtype=np.int64)
        transform = model._transform
        if transform is not None:
            y, own = transform.into_all("outcomes", y), transform.into_all("forecasts", own)
        frame = blank(y, own, shares, known_at, len(self._fresh))
        for key in rows:
            self._series.setdefault(key, None)
        self._all(list(rows.items()), frame)
        blocks = [frame.said, frame.labels, frame.scales]
        if transform is not None:
            blocks[:2] = [transform.back_all(block) for block in blocks[:2]]
        values, labels, scales = (b[:, 0] if b.shape[1] == 1 else b for b in blocks)
        answer = given_back(given, self.wanted, blocks[0])
        return PanelRun(answer, values, labels, scales, frame.overruled, frame.guarded)

    def to_bytes(self) -> bytes:
        """Return everything that the continuation needs, open forecasts included."""
        from trueup.calibrator._storage import panel_to_bytes  # noqa: PLC0415 - it builds panels

        with self._lock:
            return panel_to_bytes(self)

    @classmethod
    def from_bytes(cls, data: bytes, wanted: Target | None = None, **settings: Any) -> "Panel":
        """Return the panel that `to_bytes` wrote; what is given beside must be what was stored."""
        from trueup.calibrator._storage import panel_from_bytes  # noqa: PLC0415

        return panel_from_bytes(data, wanted, settings)

    def save(self, path: Any) -> None:
        """Write everything to a file: a crash leaves the old file or the new one, whole."""
        from trueup.calibrator._storage import write  # noqa: PLC0415

        write(path, self.to_bytes())

    @classmethod
    def load(cls, path: Any, wanted: Target | None = None, **settings: Any) -> "Panel":
        """Return the panel of a file; what is given beside must be what was stored."""
        from trueup.calibrator._storage import load_panel  # noqa: PLC0415

        return load_panel(path, wanted, settings)

    def __getstate__(self) -> bytes:
        return self.to_bytes()

    def __setstate__(self, data: bytes) -> None:
        self.__dict__.update(Panel.from_bytes(data).__dict__)

    def _all(self, jobs: list[tuple[Hashable, IntArray]], frame: Frame) -> None:
        """Run all series, on several threads if that is worth it."""
        workers = min(self.workers or os.cpu_count() or 1, max(len(jobs), 1))
        if workers == 1:
            self._some(jobs, frame)
            return
        size = -(-len(jobs) // (workers * CHUNKS))
        with ThreadPoolExecutor(workers) as pool:
            starts = range(0, len(jobs), size)
            for done in [pool.submit(self._some, jobs[at : at + size], frame) for at in starts]:
                done.result()

    def _some(self, jobs: list[tuple[Hashable, IntArray]], frame: Frame) -> None:
        for key, rows in jobs:
            with self._at_work(key) as calibrator:
                _play(calibrator, rows, frame)

    def _refuse(self, keys: Sequence[Hashable], values: list[Any], named: Sequence[Any]) -> None:
        """Refuse what any of the series would refuse."""
        seen: set[tuple[Hashable, Any]] = set()
        for key, value, forecast in zip(keys, values, named, strict=True):
            if key not in self._series:
                raise UnknownForecast(f"There is no series {key!r}.")
            calibrator = self._spare[-1]
            _count(calibrator, self._series[key])
            number = calibrator._which(forecast)
            _checked(calibrator, value)
            if (key, number) in seen:
                raise UnknownForecast(f"Forecast {number} of {key!r} is answered twice.")
            seen.add((key, number))

    @contextlib.contextmanager
    def _at_work(self, key: Hashable) -> Iterator[Calibrator]:
        """Unpack a series for a while; what happens to it is kept unless it fails."""
        try:
            calibrator = self._spare.pop()
        except IndexError:
            calibrator = self.model()
        try:
            self._wake(calibrator, key)
            yield calibrator
            self._series[key] = _rested(calibrator)
        finally:
            self._spare.append(calibrator)

    def _wake(self, calibrator: Calibrator, key: Hashable) -> None:
        """Make a calibrator that of a series, which may have seen nothing."""
        resting = self._series.get(key)
        if resting is not None:
            _wake(calibrator, resting)
            return
        for stream, packed in zip(calibrator._streams, self._fresh, strict=True):
            stream.unpack(packed)
            stream.engine.state.i[kernels.SEED] = self._seed_of(key)
        calibrator._order = self._order.copy()
        _count(calibrator, None)

    def _seed_of(self, key: Hashable) -> int:
        text = f"{self._seed} {type(key).__name__} {key!r}".encode()
        return int.from_bytes(hashlib.blake2b(text, digest_size=6).digest(), "little")


def _named(key: Any) -> Hashable:
    try:
        hash(key)
    except TypeError:
        raise check.refuse("keys", "names or whole numbers", key) from None
    return plain(key)


def blank(
    outcomes: FloatArray, own: FloatArray, shares: FloatArray, known_at: Any, numbers: int
) -> Frame:
    """Return a frame whose answers are still to be written."""
    size = outcomes.size
    said, labels, scales = (np.empty((size, numbers)) for _ in range(3))
    overruled, guarded = np.zeros(size, dtype=bool), np.zeros(size, dtype=bool)
    return Frame(outcomes, own, shares, known_at, said, labels, scales, overruled, guarded)


def _play(calibrator: Calibrator, rows: IntArray, frame: Frame) -> None:
    """Run one series through its rows of a frame."""
    y, own = frame.outcomes[rows], frame.own[rows]
    shares = frame.shares[rows] if frame.shares.size else frame.shares
    replay = replay_order(rows.size, _known(rows, frame))
    if calibrator.max_open is not None:
        replay, late = give_up(calibrator, replay)
        y[late] = np.nan
    parts = [stream.run(y, own, replay, EVERYONE, shares) for stream in calibrator._streams]
    for k, (_, labels, notes, _, _) in enumerate(parts):
        frame.labels[rows, k], frame.scales[rows, k] = labels[:, 0], labels[:, 1]
        frame.overruled[rows] |= notes[:, 0] > 0
        frame.guarded[rows] = notes[:, 0] >= 0
    frame.said[rows] = put_in_order(calibrator, parts, y, shares, own, replay)
    labels = frame.labels[rows, 0]
    if calibrator._transform is not None:
        labels = calibrator._transform.back_all(labels)
    note_overruled(calibrator, frame.overruled[rows], labels)


def _known(rows: IntArray, frame: Frame) -> Any:
    """Return from which round of a series on each of its outcomes may be used."""
    if frame.known_at is None:
        return None
    times = frame.known_at[rows]
    rounds = np.maximum(np.searchsorted(rows, times), np.arange(rows.size) + 1)
    return np.where(times > frame.outcomes.size, rows.size + 1, rounds)


def _checked(calibrator: Calibrator, value: Any) -> None:
    """Refuse an outcome that the calibrator would refuse."""
    if not is_missing(value):
        calibrator._checked(value)


def _rested(calibrator: Calibrator) -> Resting:
    """Return what lasts of a calibrator."""
    return Resting(
        tuple(zlib.compress(stream.pack(), LEVEL) for stream in calibrator._streams),
        calibrator._issued,
        dict(calibrator._open),
        calibrator._order.z.tobytes() if len(calibrator._streams) > 1 else b"",
        calibrator._given_up,
        tuple(calibrator._expired),
        tuple(calibrator._overruled),
    )


def _wake(calibrator: Calibrator, resting: Resting) -> None:
    """Make a calibrator the one that `resting` was made of."""
    for stream, packed in zip(calibrator._streams, resting.streams, strict=True):
        stream.unpack(zlib.decompress(packed))
    if resting.order:  # one number is always in order
        calibrator._order.z[:] = np.frombuffer(resting.order)
    _count(calibrator, resting)


def _count(calibrator: Calibrator, resting: Resting | None) -> None:
    """Give a calibrator the ids of a series alone."""
    rest = resting or Resting((), 0, {}, b"", 0, (), ())
    calibrator._issued, calibrator._open = rest.issued, dict(rest.open)
    calibrator._given_up, calibrator._expired = rest.given_up, dict.fromkeys(rest.expired)
    calibrator._overruled = list(rest.overruled)
