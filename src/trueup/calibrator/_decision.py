"""Decisions: the minimiser of any convex cost, forecast under the guard in Python.

The stream has the same face as that of a quantile. Its belief is a running mean of the cost's
slopes at places around what the user's own model says: where the mean slope crosses zero the mean
cost is least, and (1 + mean slope / L) / 2 is the CDF of v, the point at which the loss of the
round has its kink.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from trueup import _validation as check
from trueup._kernels import _engine as kernels
from trueup.calibrator._stream import Said, Template
from trueup.calibrator._targets import Decision
from trueup.distributions import Piecewise
from trueup.engine import Engine
from trueup.errors import InvalidArgument
from trueup.losses import Convex
from trueup.protocols import FloatArray, IntArray, Loss

PLACES = 33  # at which slopes are remembered
MEMORY = 256.0  # rounds
FEWEST = 8  # before there is a belief at all
AROUND = kernels.STREAM + PLACES  # where the slopes around the user's own numbers stand


class Learned(NamedTuple):
    """Everything that a loss has to say about one forecast."""

    seen: FloatArray
    said_more: float
    point_more: float
    said_cost: float
    raw_cost: float
    slopes: FloatArray
    around: FloatArray | None


class DecisionStream:
    """The state of one decision and what moves it."""

    def __init__(
        self,
        wanted: Decision,
        engine: Engine,
        bounds: tuple[float, float] | None,
        *,
        steer: bool,
    ) -> None:
        if bounds is None:
            raise InvalidArgument("bounds must be given for a Decision.")
        self.steepest = wanted.steepest(bounds[0], bounds[1] - bounds[0])
        self.template = Template(-1.0, self.steepest, 0.0, 0.0)
        self.wanted, self.engine = wanted, engine
        self.z = np.zeros(kernels.STREAM + 2 * PLACES)
        self.z[kernels.LOW], self.z[kernels.WIDTH] = bounds[0], bounds[1] - bounds[0]
        self.z[kernels.BOUNDED] = self.z[kernels.RANGED] = 1.0
        self.z[kernels.STEERS] = float(steer)
        self.memo = np.zeros(1)
        self.ranged = True

    @property
    def range(self) -> tuple[float, float]:
        """The lower end and the width of the range."""
        return float(self.z[kernels.LOW]), float(self.z[kernels.WIDTH])

    def _unit(self, value: float) -> float | None:
        """Return a number of the user as one of [0, 1]; None for NaN."""
        if math.isnan(value):
            return None
        low, width = self.range
        return min(max((value - low) / width, 0.0), 1.0)

    def ask(self, anchor: float, groups: tuple[int, ...], law: Any) -> Said:
        """Return what would be said now; nothing that lasts changes."""
        low, width = self.range
        point = self._unit(anchor)
        belief = self._remembered(point) if law is None else self._under(law)
        if belief is not None and (point is None or self.z[kernels.STEERS] == 1.0):
            point = belief.quantile_set(0.5)[0]
        said = self.engine.predict(belief, point=point, groups=groups)
        as_given = low <= anchor <= low + width and said.value == self._unit(anchor)
        return Said(
            anchor if as_given else low + width * said.value,
            low + width * said.label,
            width * said.scale,
            said.overruled,
            said.followed,
            tuple((low + width * said.support).tolist()),
            tuple(said.probabilities.tolist()),
            guarded=True,
        )

    def _remembered(self, point: float | None) -> Piecewise | None:
        """Return the law of v after the slopes so far, moved to the user's own number."""
        if self.z[kernels.ERRORS] < FEWEST:
            return None
        at = kernels.STREAM if point is None else AROUND
        return _law(_places(point), self.z[at : at + PLACES])

    def _under(self, law: tuple[FloatArray, FloatArray]) -> Piecewise:
        """Return the law of v under a law of the outcome, by 32 of its quantiles."""
        nodes, heights = law
        low, width = self.range
        full = np.concatenate([[0.0], heights, [1.0]])
        ends = np.concatenate([[nodes[0]], nodes, [nodes[-1]]])
        outcomes = np.interp((np.arange(32) + 0.5) / 32, full, ends)
        losses = [self._loss(float(y)) for y in np.clip(outcomes, low, low + width).tolist()]
        places = _places(None)
        slopes = np.mean([_slopes(loss, places) for loss in losses], axis=0)
        return _law(places, slopes / losses[0].lipschitz)

    def open(self) -> int:
        """Open the round that was asked about; return its first slip."""
        i, f = self.engine.state
        first = int(kernels.open_round(i, f, self.engine.scratch[0]))
        kernels.weigh_open(i, f, first, self.engine.scratch[0])
        return first

    def check(
        self,
        slip: int,
        anchor: float,
        said: float,
        outcome: Any,
        loss: Loss | None,
        share: float,
    ) -> "Learned":
        """Return what `tell` wants of an outcome, or of a loss given instead."""
        own = self._own(loss) if loss is not None else self._loss(float(outcome))
        point = self._unit(anchor)
        around = np.clip(_places(point), 0.0, 1.0) if point is not None else None
        return Learned(
            *self.engine.seen_of(slip, own, own.lipschitz / share),
            own.value(self._unit(said)),
            own.value(point) if point is not None else math.nan,
            _slopes(own, _places(None)) / own.lipschitz,
            _slopes(own, around) / own.lipschitz if around is not None else None,
        )

    def tell(
        self,
        slip: int,
        anchor: float,  # noqa: ARG002 - `check` has looked at all of it
        said: float,  # noqa: ARG002
        outcome: "Learned",
        memo: FloatArray,  # noqa: ARG002
        share: float = 1.0,  # noqa: ARG002
    ) -> None:
        """Learn what `check` has returned."""
        learned, z = outcome, self.z
        i, f = self.engine.state
        kernels.settle(
            i, f, slip, learned.seen, learned.said_more, learned.point_more, self.engine.scratch[0]
        )
        z[kernels.N_SCORED] += 1.0
        z[kernels.SAID_COST] += learned.said_cost
        if not math.isnan(learned.raw_cost):
            z[kernels.N_RAW] += 1.0
            z[kernels.RAW_COST] += learned.raw_cost
            z[kernels.LABEL_COST] += learned.said_cost
        z[kernels.ERRORS] += 1.0
        rate = 1.0 / min(z[kernels.ERRORS], MEMORY)
        for at, slopes in ((kernels.STREAM, learned.slopes), (AROUND, learned.around)):
            if slopes is not None:
                z[at : at + PLACES] += rate * (slopes - z[at : at + PLACES])

    def skip(self, slip: int) -> None:
        """Close a forecast whose outcome will not come."""
        self.z[kernels.N_MISSING] += 1.0
        kernels.abandon(*self.engine.state, slip, self.engine.scratch[0])

    def pack(self, *, trim: bool = True) -> bytes:  # noqa: ARG002 - it always is
        """Return what lasts; a multiple of 8 bytes."""
        engine = self.engine.to_bytes()
        return self.z.astype("<f8").tobytes() + engine + bytes(-len(engine) % 8)

    def unpack(self, data: bytes) -> None:
        """Become the stream that `pack` wrote, one with the same settings."""
        size = self.z.nbytes
        self.z[:] = np.frombuffer(data[:size], dtype="<f8")
        self.engine = Engine.from_bytes(data[size:])

    def run(
        self,
        outcomes: FloatArray,
        anchors: FloatArray,
        replay: tuple[IntArray, IntArray],
        groups: IntArray,
        shares: FloatArray,
    ) -> tuple[FloatArray, FloatArray, FloatArray, IntArray, FloatArray]:
        """Forecast a whole array, one by one; as `Stream.run`."""
        starts, order = replay
        rounds = outcomes.size
        said, labels, notes = np.empty(rounds), np.zeros((rounds, 2)), np.zeros((rounds, 2))
        slips = np.full(rounds, -1, dtype=np.int64)

        def answer(known: IntArray) -> None:
            for t in known.tolist():
                if math.isnan(outcomes[t]):
                    self.skip(int(slips[t]))
                else:
                    share = float(shares[t]) if shares.size else 1.0
                    one = int(slips[t]), float(anchors[t]), float(said[t])
                    learned = self.check(*one, outcomes[t], None, share)
                    self.tell(*one, learned, self.memo, share)
                slips[t] = -1

        for t in range(rounds):
            answer(order[starts[t] : starts[t + 1]])
            row = groups[t if groups.shape[0] > 1 else 0]
            one = self.ask(float(anchors[t]), tuple(row[row >= 0].tolist()), None)
            said[t], labels[t, 0], labels[t, 1] = one.value, one.label, one.scale
            notes[t, 0] = float(one.overruled)
            slips[t] = self.open()
        answer(order[starts[rounds] : starts[rounds + 1]])
        return said, labels, notes, slips, np.zeros((int((slips != -1).sum()), 1))

    def _loss(self, outcome: float) -> Convex:
        """Return the cost of an outcome as a loss on [0, 1]."""
        return self.wanted.loss(outcome, *self.range, self.steepest)

    def _own(self, loss: Loss) -> Convex:
        """Return a loss in the user's units as one on [0, 1]."""
        check.instance("loss", loss, Loss, "a loss with value, slopes and lipschitz")
        low, width = self.range
        steepest = self.steepest
        if loss.lipschitz > steepest * (1 + check.SLOPE_TOLERANCE):
            raise check.refuse("loss", f"of slopes up to {steepest}", loss.lipschitz)

        def slopes(x: float) -> tuple[float, float]:
            left, right = loss.slopes(low + width * x)
            return width * left, width * right

        return Convex(
            lambda x: float(loss.value(low + width * x)), slopes, lipschitz=steepest * width
        )


def _places(point: float | None) -> FloatArray:
    """Return where slopes are remembered: on [0, 1], or around the user's own number."""
    if point is None:
        return np.linspace(0.0, 1.0, PLACES)
    steps = np.linspace(-1.0, 1.0, PLACES)
    return np.asarray(point + np.sign(steps) * steps**2)  # finer near the number


def _slopes(loss: Convex, places: FloatArray) -> FloatArray:
    left, right = loss.slopes(places)
    return np.asarray((left + right) / 2)


def _law(places: FloatArray, slopes: FloatArray) -> Piecewise:
    """Return the law with CDF (1 + slope) / 2 at the places inside (0, 1)."""
    inside = (places > 0.0) & (places < 1.0)
    nodes = np.concatenate([[0.0], places[inside], [1.0]])
    heights = np.clip((1 + slopes[inside]) / 2, 0.0, 1.0)
    heights = np.maximum.accumulate(np.concatenate([[0.0], heights, [1.0]]))
    return Piecewise(nodes, heights, heights)
