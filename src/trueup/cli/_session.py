"""A calibrator, or one for each of many series, that is fed block by block.

The answers do not depend on how rows are cut into blocks, and are those of `calibrate` and `Panel`
bit for bit. Outcomes that are known at once go through compiled code as whole arrays; where they
come late (`--known-at`), rows go through `predict` and `update` one by one.
"""

import heapq
import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

import trueup as tu
from trueup.calibrator import Calibrator, Panel
from trueup.calibrator._batch import continue_run, refuse_outcomes
from trueup.calibrator._targets import Ends, Levels, Target
from trueup.calibrator._transform import transform_of
from trueup.cli._errors import CommandError
from trueup.cli._feed import Feed
from trueup.cli._read import Block
from trueup.errors import InvalidArgument
from trueup.protocols import FloatArray

INDEX = re.compile(r" at index (\d+)|\[(\d+)\]")


class Answers(NamedTuple):
    """What was said to the rows of a block; a column a number that is forecast."""

    values: FloatArray  # shape (T, k)
    labels: FloatArray  # the drawn bins, shape (T, k)
    scales: FloatArray  # their scales, shape (T, k)
    overruled: Any  # bool, shape (T,)
    guarded: Any  # bool, shape (T,)


class Session:
    """Calibrators at work, and the outcomes that they may not know yet."""

    def __init__(
        self, wanted: Target, settings: dict[str, Any], *, keyed: bool, grouped: bool
    ) -> None:
        if keyed and grouped:
            raise CommandError("--key and --group cannot go together: a series has no groups.")
        self.wanted = wanted
        self._blank = Calibrator(wanted, **settings)  # to ask what it would refuse
        self.model: Calibrator | Panel = (
            Panel(wanted, **settings) if keyed else Calibrator(wanted, **settings)
        )
        self.waiting: dict[str, list[tuple[Any, int, int, float]]] = {}  # heaps, a series each
        self.rows = 0  # ever answered
        self.most_open = 0  # outcomes of a series still to come when one of its rows was answered

    def refuse(self, feed: Feed) -> None:
        """Refuse what a calibrator would refuse, before anything is learned of it."""
        transform = transform_of(self._blank.transform)
        with _placed(feed.block):
            refuse_outcomes(self._blank, feed.outcomes)
            if transform is not None:
                transform.into_all("outcomes", feed.outcomes)
                transform.into_all("forecasts", feed.own)

    def answer(self, feed: Feed) -> Answers:
        """Forecast the rows of a block and learn what is known."""
        answers = self._at_once(feed) if feed.known is None else self._late(feed)
        self.rows += len(feed.block)
        return answers

    @property
    def open(self) -> int:
        """How many outcomes are still to be learned."""
        return sum(map(len, self.waiting.values()))

    @property
    def certificate(self) -> float | None:
        """What swap regret by label is at most; None for many series."""
        return self.model.certificate() if isinstance(self.model, Calibrator) else None

    def _at_once(self, feed: Feed) -> Answers:
        if isinstance(self.model, Panel):
            run: Any = self.model.run(feed.keys, feed.outcomes, forecasts=feed.own)
        else:
            run = continue_run(
                self.model, feed.outcomes, feed.outcomes, feed.own, None, feed.groups
            )
        size = feed.outcomes.size
        values, labels, scales = (
            block.reshape(size, -1) for block in (run.values, run.labels, run.scales)
        )
        return Answers(values, labels, scales, np.asarray(run.overruled), np.asarray(run.guarded))

    def _late(self, feed: Feed) -> Answers:
        """Answer row by row; rows of a series follow each other, as unpacking takes time."""
        size, numbers = feed.outcomes.size, len(names_of(self.wanted, ""))
        values, labels, scales = (np.empty((size, numbers)) for _ in range(3))
        flags = np.zeros((2, size), dtype=bool)
        answers = Answers(values, labels, scales, flags[0], flags[1])
        if isinstance(self.model, Panel):
            for key, rows in _by_key(feed.keys or []).items():
                with self.model._at_work(key) as calibrator:  # noqa: SLF001 - unpacked only once
                    self._walk(calibrator, key, rows, feed, answers)
        else:
            self._walk(self.model, "", range(size), feed, answers)
        return answers

    def _walk(
        self, calibrator: Calibrator, key: str, rows: Any, feed: Feed, answers: Answers
    ) -> None:
        """Answer some rows of one series, learning before each what is known by then."""
        heap = self.waiting.setdefault(key, [])
        clocks, known = feed.clocks, feed.known or []
        outcomes, own = feed.outcomes.tolist(), feed.own.tolist()
        for row in rows:
            self._learn(calibrator, heap, clocks[row])
            self.most_open = max(self.most_open, len(heap))
            groups = () if feed.groups is None else feed.groups[row]
            said = calibrator.predict(None if math.isnan(own[row]) else own[row], groups=groups)
            heapq.heappush(heap, (known[row], self.rows + row, said.id, outcomes[row]))
            answers.values[row] = _flat(said.value)
            answers.labels[row], answers.scales[row] = said.label, said.scale
            answers.overruled[row], answers.guarded[row] = said.overruled, said.guarded
        if not heap:
            del self.waiting[key]

    @staticmethod
    def _learn(calibrator: Calibrator, heap: list[tuple[Any, int, int, float]], now: Any) -> None:
        """Learn what is known by now, of equals the earlier row first."""
        due = []
        while heap and heap[0][0] <= now:
            due.append(heapq.heappop(heap)[1:])
        for _, number, outcome in sorted(due):
            calibrator.update(outcome, forecast=number)


def names_of(wanted: Target, base: str) -> list[str]:
    """Return what the numbers of a target are called.

    >>> names_of(tu.Quantiles([0.1, 0.9]), "calibrated")
    ['calibrated_0.1', 'calibrated_0.9']
    """
    if isinstance(wanted, tu.Interval):
        return [f"{base}_lower", f"{base}_upper"]
    if isinstance(wanted, tu.Quantiles):
        return [f"{base}_{level:g}" for level in wanted.levels]
    return [base]


def _flat(value: Any) -> Any:
    """Return what was said as one number or a tuple of several."""
    if isinstance(value, Levels):
        return value.values
    return tuple(value) if isinstance(value, Ends) else value


def _by_key(keys: list[str]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for row, key in enumerate(keys):
        found.setdefault(key, []).append(row)
    return found


@contextmanager
def _placed(block: Block) -> Iterator[None]:
    """Say the row where an error says an index of the block."""
    try:
        yield
    except InvalidArgument as error:
        found = INDEX.search(str(error))
        if found is None:
            raise
        at = int(found[1] or found[2])
        rest = INDEX.sub("", str(error), count=1)
        raise CommandError(f"{block.where(at)}: {rest}") from None
