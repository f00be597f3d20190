"""Games of the engine against the adversaries of SUITE, piece by piece.

`trueup.replay.duel` keeps every round of a game. Here an engine plays on from piece to piece, and
all that is kept is how often which outcome came when which bin was said; that is enough for the
exact swap regret, and a game of 10^8 rounds fits into memory. `disagreements` compares the two.
"""

import math
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from trueup._kernels import _engine as kernels
from trueup._rounds import ADVERSARIES, LAWS
from trueup.adversaries import (
    SUITE,
    Adversary,
    ChangeOfWidth,
    Drift,
    GeneralConvex,
    Independent,
    RegimeShift,
)
from trueup.distributions import Piecewise
from trueup.engine import Engine
from trueup.engine._losses import rows_of_outcomes
from trueup.metrics import swap_regret
from trueup.metrics._minimise import Terms, differences, minimisers
from trueup.properties import Quantile
from trueup.protocols import BoolArray, FloatArray, IntArray
from trueup.replay import duel, losses_of
from trueup.replay._duel import KINDS, OFF_CENTRE, general_convex

NAMES = (
    "fair coin",
    "uniform",
    "beta(2, 5)",
    "two points",
    "midpoint",
    "midpoint, 20 moves",
    "bad bin",
    "near uniform",
    "rotating bins",
    "side push",
    "bin majority",
    "greedy",
    "just above",
    "just above, 0.9",
    "regime shift",
    "drift",
    "change of width",
    "sign preservation",
    "general convex",
)
ADVERSARY: dict[str, Adversary] = dict(zip(NAMES, SUITE, strict=True))
PIECE = 2**20  # rounds
UNITS = 2**24  # of a bin: gamma is above 2^-24 for 10^12 rounds


class Opponent:
    """An adversary in the course of one game of a known length."""

    def __init__(self, adversary: Adversary, rounds: int, seed: int = 0) -> None:
        self.adversary, self.rounds, self.seed = adversary, rounds, seed
        self.kind, self.setting = kernels.GIVEN, (0.0, 0.0)
        self.template = np.zeros(kernels.LOSS)
        if type(adversary) in KINDS:
            self.kind, setting = KINDS[type(adversary)]
            self.setting = setting(adversary)
            self.template = self._rows(np.array([0.5]))[0]
        self.memory = np.zeros(kernels.MEMORY)
        self.memory[1] = 1.0
        self._coin = np.random.default_rng((LAWS, seed))

    def piece(self, first: int, count: int) -> tuple[FloatArray, FloatArray]:
        """Return the tosses of the next rounds, and their losses as rows if they are known."""
        tosses = np.zeros(count)
        certain = self._certain(np.arange(first, first + count))
        tosses[~certain] = self._coin.random(count - certain.sum())
        if isinstance(self.adversary, GeneralConvex):
            return tosses, general_convex(count, self.seed + 2**32 * (first // PIECE))
        if self.kind != kernels.GIVEN:
            return tosses, np.zeros((0, kernels.LOSS))
        return tosses, self._rows(self._outcomes(np.arange(first, first + count), tosses))

    def _certain(self, steps: IntArray) -> BoolArray:
        """Return the rounds for which no coin is tossed."""
        own = self.adversary
        if isinstance(own, ChangeOfWidth):
            return steps * own.stretches // self.rounds % 3 == 0
        return np.zeros(steps.size, dtype=bool)

    def _rows(self, outcomes: FloatArray) -> FloatArray:
        adversary: Any = self.adversary
        return rows_of_outcomes(outcomes, adversary.wanted, adversary.lipschitz)

    def _outcomes(self, steps: IntArray, tosses: FloatArray) -> FloatArray:
        """Return outcomes that do not depend on the forecasts, as in `duel`."""
        own, rounds = self.adversary, self.rounds
        if isinstance(own, Independent):
            return quantiles(own.outcomes, tosses)
        if isinstance(own, RegimeShift):
            rng = np.random.default_rng((ADVERSARIES, self.seed))
            levels = rng.uniform(own.noise, 1 - own.noise, own.regimes)
            low = levels[steps * own.regimes // rounds] - own.noise
            return low + tosses * (2 * own.noise)
        if isinstance(own, Drift):
            level = 0.5 + (0.5 - own.noise) * np.sin(2 * math.pi * own.waves * steps / rounds)
            low = np.maximum(level - own.noise, 0.0)
            return low + tosses * (np.minimum(level + own.noise, 1.0) - low)
        if isinstance(own, ChangeOfWidth):
            stretch = steps * own.stretches // rounds % 3
            two = np.where(tosses < 0.5, 0.1, 0.9)
            return np.where(stretch == 0, OFF_CENTRE, np.where(stretch == 1, two, tosses))
        raise TypeError(f"{own!r} is not an adversary of SUITE")


def quantiles(law: Piecewise, levels: FloatArray) -> FloatArray:
    """Return the smallest quantile of a law at each level."""
    first = np.searchsorted(law.right, levels)
    before = np.maximum(first - 1, 0)
    rise = law.left[first] - law.right[before]
    inside = (first > 0) & (law.left[first] >= levels) & (rise > 0)
    share = (levels - law.right[before]) / np.where(inside, rise, 1.0)
    between = law.nodes[before] + share * (law.nodes[first] - law.nodes[before])
    return np.where(inside, np.minimum(between, law.nodes[first]), law.nodes[first])


class Piece(NamedTuple):
    """What happened in some rounds."""

    bins: IntArray  # what was said, in units of 1 / UNITS
    outcomes: FloatArray
    rows: FloatArray  # the losses where they are not those of outcomes


def pieces(engine: Engine, opponent: Opponent, *, late: int = 0) -> Iterator[tuple[Piece, float]]:
    """Play a game; yield what happened and the seconds of processor time it took, piece by piece.

    At the end of a piece all its outcomes are learned, however late.
    """
    engine.lipschitz = engine.lipschitz or opponent.adversary.lipschitz
    for first in range(0, opponent.rounds, PIECE):
        count = min(PIECE, opponent.rounds - first)
        tosses, rows = opponent.piece(first, count)
        said, labels = np.empty(count), np.zeros((count, 2), dtype=np.int64)
        slips, outcomes, number = np.full(count, -1, dtype=np.int64), np.zeros(count), 0
        start = time.process_time()
        while True:
            number = kernels.duel(
                *engine.state, opponent.kind, np.array(opponent.setting), opponent.template, rows,
                first, opponent.rounds, number, late, tosses, opponent.memory, slips, outcomes,
                said, labels, engine.seen, *engine.scratch,
            )  # fmt: skip
            if number >= count:
                break
            engine.make_room(0)
        took = time.process_time() - start
        if opponent.kind == kernels.GIVEN:
            outcomes = rows[:, kernels.OUTCOME].copy()
        general = isinstance(opponent.adversary, GeneralConvex)
        bins = (said * UNITS).astype(np.int64)
        yield Piece(bins, outcomes, rows if general else rows[:0]), took


class Outcomes:
    """How often each outcome came when each bin was said."""

    def __init__(self, adversary: Adversary) -> None:
        self._level = adversary.wanted.level if isinstance(adversary.wanted, Quantile) else 0.5  # type: ignore[attr-defined]
        self._table = np.empty(0, dtype=np.int64), np.empty(0), np.empty(0)
        self._parts: list[tuple[IntArray, FloatArray, FloatArray]] = []

    def add(self, piece: Piece) -> None:
        """Count the rounds of a piece."""
        self._parts.append(counted(piece.bins, piece.outcomes, np.ones(piece.bins.size)))
        if sum(part[0].size for part in self._parts) > PIECE + self._table[0].size:
            self._merge()

    def _merge(self) -> None:
        parts = [self._table, *self._parts]
        bins, outcomes, counts = (np.concatenate([part[k] for part in parts]) for k in range(3))
        self._table, self._parts = counted(bins, outcomes, counts), []

    def swap_regret(self) -> float:
        """Return the swap regret of all rounds so far, divided by the Lipschitz constant."""
        self._merge()
        bins, outcomes, counts = self._table
        starts = np.flatnonzero(np.diff(bins, prepend=-1))
        sizes = np.diff(np.append(starts, bins.size))
        totals = np.add.reduceat(counts, starts)
        within = np.cumsum(counts) - np.repeat(np.cumsum(totals) - totals, sizes)
        reached = within >= np.repeat(self._level * totals, sizes) - 1e-6  # counts are whole
        row = np.where(reached, np.arange(bins.size), bins.size)
        best = np.repeat(outcomes[np.minimum.reduceat(row, starts)], sizes)
        saved = counts * (self._cost(bins / UNITS - outcomes) - self._cost(best - outcomes))
        total = np.maximum(np.add.reduceat(saved, starts), 0.0).sum()
        return float(total / max(self._level, 1 - self._level))

    def _cost(self, error: FloatArray) -> FloatArray:
        return np.where(error < 0, -self._level * error, (1 - self._level) * error)


def counted(
    bins: IntArray, outcomes: FloatArray, counts: FloatArray
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return distinct pairs of a bin and an outcome in order, with the sums of their counts."""
    order = np.lexsort((outcomes, bins))
    bins, outcomes = bins[order], outcomes[order]
    new = np.append(True, (np.diff(bins) != 0) | (np.diff(outcomes) != 0))
    starts = np.flatnonzero(new)
    return bins[starts], outcomes[starts], np.add.reduceat(counts[order], starts)


class General:
    """The swap regret under losses of all kinds: their slopes are kept."""

    def __init__(self) -> None:
        self._pieces: list[tuple[IntArray, Terms]] = []

    def add(self, piece: Piece) -> None:
        """Keep the losses of a piece."""
        self._pieces.append((piece.bins, terms_of_rows(piece.rows)))

    def swap_regret(self) -> float:
        """Return the swap regret of all rounds so far."""
        said = np.concatenate([bins for bins, _ in self._pieces])
        before = np.cumsum([0, *(bins.size for bins, _ in self._pieces)])
        parts = [
            terms._replace(owner=terms.owner + first)
            for (_, terms), first in zip(self._pieces, before[:-1], strict=True)
        ]
        terms = Terms(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
        groups, group = np.unique(said, return_inverse=True)
        ones = np.ones(said.size)
        best = minimisers(terms, ones, group, groups.size)
        saved = differences(terms, ones, said / UNITS, best[group])
        return float(np.maximum(np.bincount(group, saved), 0.0).sum())


def terms_of_rows(rows: FloatArray) -> Terms:
    """Return the slopes of losses that are given as rows, divided by their Lipschitz constants."""
    kind, v, first = (rows[:, k] for k in (kernels.KIND, kernels.OUTCOME, kernels.FIRST))
    pointed, huber = kind == kernels.POINTED, kind == kernels.HUBER
    slopes = rows[:, kernels.SLOPES :]
    slope = np.select(
        [pointed, kind == kernels.SQUARED, huber],
        [first, -2 * v, -np.minimum(v, first)],
        slopes[:, 0],
    )
    curvature = np.select([kind == kernels.SQUARED, huber & (v < first)], [2.0, 1.0], 0.0)
    owners, knots, jumps, bends = [], [], [], []

    def knot(where: Any, places: FloatArray, jump: Any = 0.0, bend: Any = 0.0) -> None:
        """Append a knot of some of the losses."""
        some = np.flatnonzero(where)
        owners.append(some)
        knots.append(places[some])
        jumps.append(np.broadcast_to(jump, v.shape)[some])
        bends.append(np.broadcast_to(bend, v.shape)[some])

    knot(pointed, v, jump=rows[:, kernels.SECOND] - first)
    knot(huber & (v >= first), v - first, bend=1.0)
    knot(huber & (v + first < 1), v + first, bend=-1.0)
    for k in range(kernels.SLOPES - kernels.KNOTS):
        has = (kind == kernels.KINKED) & (first > k)
        knot(has, rows[:, kernels.KNOTS + k], jump=slopes[:, k + 1] - slopes[:, k])
    owner = np.concatenate(owners)
    order = np.argsort(owner, kind="stable")
    steepest = rows[:, kernels.STEEPEST]
    jump, bend = (np.concatenate(x)[order] / steepest[owner[order]] for x in (jumps, bends))
    place = np.concatenate(knots)[order]
    return Terms(slope / steepest, curvature / steepest, owner[order], place, jump, bend)


class Result(NamedTuple):
    """A finished game."""

    swap_regret: float  # divided by the Lipschitz constant
    seconds: float  # of processor time, the adversary's included


def game(engine: Engine, name: str, rounds: int, seed: int = 0, *, late: int = 0) -> Result:
    """Play an adversary of SUITE by its name and return the exact swap regret."""
    adversary, seconds = ADVERSARY[name], 0.0
    tally = General() if isinstance(adversary, GeneralConvex) else Outcomes(adversary)
    for piece, took in pieces(engine, Opponent(adversary, rounds, seed), late=late):
        tally.add(piece)
        seconds += took
    return Result(tally.swap_regret(), seconds)


def disagreements(rounds: int = 5_000) -> list[str]:
    """Return a sentence for each adversary where `game` is not what the library says."""
    wrong = []
    for name, adversary in ADVERSARY.items():
        mine = game(Engine(seed=1), name, rounds, seed=2).swap_regret
        theirs = duel(Engine(seed=1), adversary, rounds, seed=2)
        if theirs.losses.size:
            wanted = swap_regret(theirs.forecasts, losses_of(theirs.losses))
        else:
            property_ = adversary.wanted  # type: ignore[attr-defined]
            wanted = swap_regret(theirs.forecasts, theirs.outcomes, property_) / adversary.lipschitz
        if abs(mine - wanted) > 1e-9 * rounds:
            wrong.append(f"{name}: {mine} here, {wanted} there")
    return wrong
