"""One number forecast again and again in the user's units: an engine, its range, past errors."""

import math
from typing import Any, NamedTuple

import numpy as np

from trueup._kernels import _engine as kernels
from trueup.engine import Engine
from trueup.engine._state import trimmed
from trueup.errors import InvalidArgument
from trueup.protocols import FloatArray, IntArray, Loss


class Said(NamedTuple):
    """What one stream says in a round, in the user's units."""

    value: float
    label: float
    scale: float
    overruled: bool
    followed: bool
    support: tuple[float, ...]
    probabilities: tuple[float, ...]
    guarded: bool  # False before the range is known


class Template(NamedTuple):
    """The loss of a stream but for its outcome, on [0, 1]; see the kernels' table of losses."""

    kind: float
    steepest: float
    below: float
    above: float


class Stream:
    """The state of one number and the kernels that move it."""

    def __init__(
        self,
        template: Template,
        engine: Engine,
        bounds: tuple[float, float] | None,
        window: int,
        *,
        steer: bool,
        other: bool = False,
    ) -> None:
        self.template = template
        self.engine = engine
        self.z = np.zeros(kernels.STREAM + 2 * window)
        self.z[kernels.WINDOW], self.z[kernels.STEERS] = window, float(steer)
        self.z[kernels.OTHER] = float(other)
        if bounds is not None:
            self.z[kernels.LOW], self.z[kernels.WIDTH] = bounds[0], bounds[1] - bounds[0]
            self.z[kernels.BOUNDED] = self.z[kernels.RANGED] = 1.0
        self._loss = np.zeros(kernels.LOSS)
        self._loss[kernels.KIND], self._loss[kernels.STEEPEST] = template.kind, template.steepest
        self._loss[kernels.FIRST], self._loss[kernels.SECOND] = template.below, template.above
        self._law = np.zeros((4, window + 4))
        self.memo = np.zeros(kernels.MEMO)  # what the forecast just asked about must remember

    @property
    def ranged(self) -> bool:
        """Whether the range is known, so that there are guarded forecasts."""
        return bool(self.z[kernels.RANGED])

    def ask(self, anchor: float, groups: tuple[int, ...], law: Any) -> Said:
        """Return what would be said now; nothing that lasts changes."""
        self.memo[:] = 0.0
        if not self.ranged:
            value = 0.0 if math.isnan(anchor) else anchor
            return Said(
                value,
                value,
                0.0,
                overruled=False,
                followed=False,
                support=(value,),
                probabilities=(1.0,),
                guarded=False,
            )
        own, rows = self._own(law)
        self.engine.enter(groups)
        i, f = self.engine.state
        kernels.ask(i, f, self.z, self._loss, anchor, own, rows, self.memo, *self.engine.scratch)
        _, _, size, mode, aimed, *aim, chosen = i[kernels.READY : kernels.CHOSEN + 1].tolist()
        shares = f[kernels.AT_NEXT_SHARES : kernels.AT_NEXT_SHARES + size].tolist()
        pairs = i[kernels.AT_NEXT : kernels.AT_NEXT + 2 * size].tolist()
        low, width = self.range
        level, place = pairs[2 * chosen : 2 * chosen + 2]
        bins = zip(pairs[::2], pairs[1::2], shares, strict=True)
        return Said(
            kernels.spoken(i, f, self.z, anchor),
            low + width * (place * 0.5**level),
            width * 0.5**level,
            bool(aimed) and aim != [level, place],
            bool(mode == kernels.FOLLOW),
            tuple([low + width * (b * 0.5**s) for s, b, share in bins if share > 0]),
            tuple([share for share in shares if share > 0]),
            guarded=True,
        )

    def _own(self, law: Any) -> tuple[int, FloatArray]:
        """Return the user's own law of the outcome in scratch, and its number of nodes."""
        if law is None:
            return 0, self._law
        nodes, heights = law
        rows = np.zeros((4, nodes.size + 4))
        rows[0, 1 : nodes.size + 1], rows[1, 1 : nodes.size + 1] = nodes, heights
        rows[0, 0], rows[1, 0] = self.z[kernels.LOW], 0.0
        rows[0, nodes.size + 1 :], rows[1, nodes.size + 1 :] = sum(self.range), 1.0
        return nodes.size + 2, rows

    @property
    def range(self) -> tuple[float, float]:
        """The lower end and the width of the range."""
        low, width = self.z[kernels.LOW : kernels.WIDTH + 1].tolist()
        return low, width

    def open(self) -> int:
        """Open the round that was asked about; return its first slip."""
        i, f = self.engine.state
        first = int(kernels.open_round(i, f, self.engine.scratch[0]))
        kernels.weigh_open(i, f, first, self.engine.scratch[0])
        return first

    def check(
        self,
        slip: int,  # noqa: ARG002 - the face that all streams share
        anchor: float,  # noqa: ARG002
        said: float,  # noqa: ARG002
        outcome: Any,
        loss: Loss | None,
        share: float,  # noqa: ARG002
    ) -> float:
        """Return an outcome as `tell` wants it."""
        if loss is not None:
            raise InvalidArgument("A loss can be given to a calibrator of a Decision alone.")
        return float(outcome)

    def tell(
        self,
        slip: int,
        anchor: float,
        said: float,
        outcome: Any,
        memo: FloatArray,
        share: float = 1.0,
    ) -> None:
        """Learn an outcome; slip -2 for a forecast from before the range was known.

        `share` is what the round weighs, at most 1.
        """
        i, f = self.engine.state
        work, seen = self.engine.scratch[0], self.engine.seen
        self._loss[kernels.STEEPEST] = self.template.steepest / share
        kernels.tell(i, f, self.z, self._loss, slip, anchor, said, outcome, memo, seen, work)
        self._loss[kernels.STEEPEST] = self.template.steepest

    def skip(self, slip: int) -> None:
        """Close a forecast whose outcome will not come."""
        self.z[kernels.N_MISSING] += 1.0
        if slip >= 0:
            kernels.abandon(*self.engine.state, slip, self.engine.scratch[0])

    def run(
        self,
        outcomes: FloatArray,
        anchors: FloatArray,
        replay: tuple[IntArray, IntArray],
        groups: IntArray,
        shares: FloatArray,
    ) -> tuple[FloatArray, FloatArray, FloatArray, IntArray, FloatArray]:
        """Forecast a whole array; return values, labels, notes, slips, memos of the open."""
        rounds = outcomes.size
        said, labels, notes = np.empty(rounds), np.zeros((rounds, 2)), np.zeros((rounds, 2))
        slips, number = np.full(rounds, -1, dtype=np.int64), 0
        most = most_open(replay[0])
        memos = np.zeros((most, kernels.MEMO))
        places = np.zeros(rounds + most + 1, dtype=np.int64)
        places[rounds], places[rounds + 1 :] = most, np.arange(most)
        highest = int(groups.max()) if groups.size else 0
        while True:
            i, f = self.engine.state
            number = kernels.stream(
                i, f, self.z, self._loss, outcomes, anchors, shares, number, *replay, groups,
                slips, said, labels, notes, memos, places, self._law, self.engine.seen,
                *self.engine.scratch,
            )  # fmt: skip
            if number >= rounds:
                return said, labels, notes, slips, memos[places[:rounds][slips != -1]]
            self.engine.make_room(highest)

    def pack(self, *, trim: bool = False) -> bytes:
        """Return what lasts, without spare room; trimmed, the same bytes for equal streams."""
        i, f = trimmed(self.engine.state) if trim else self.engine.state
        out = np.empty(int(kernels.packed_size(i, self.z)))
        used = int(kernels.pack(i, f, self.z, out, out.view(np.int64)))
        return out[:used].astype("<f8", copy=False).tobytes()

    def unpack(self, data: bytes) -> None:
        """Become the stream that `pack` wrote, one with the same settings."""
        out = np.frombuffer(data, dtype="<f8")
        whole = out.view(np.int64)
        self.engine.make_room_for(whole)
        i, f = self.engine.state
        kernels.unpack(out, whole, i, f, self.z, self.engine.scratch[0])


def most_open(starts: IntArray) -> int:
    """Return how many forecasts of a replay are open at the same time, at most.

    >>> most_open(np.array([0, 0, 1, 2]))
    1
    """
    rounds = starts.size - 2
    return int((np.arange(1, rounds + 1) - starts[1 : rounds + 1]).max(initial=1))
