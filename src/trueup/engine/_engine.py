"""A forecaster for as many rounds as there are.

**Spacing.** gamma_t is the largest power of 1/2 up to c / sqrt(t), known before the round. A scale
r = 2^-s is in play while r >= gamma_t; its claims +-1 sleep while r = gamma_t.

**Wealth.** Against each of the four claims of each pair stand bettors with rates eta = 2^-1, 2^-3,
..., 2^-11. All that will ever exist share prior mass 1. It is handed out in the order of visits:
the k-th pair that is drawn (k = 0, 1, ...) gets 1 / ((k+1)(k+2)), each of its claims a quarter,
each rate a sixth of that. When its pair is drawn, a bettor's wealth is multiplied by 1 + eta u, u
being by how much the claim was exceeded in the round, at the spacing of that round. Asleep or not
drawn, it stays. While forecasts are open, a bettor stakes only what it cannot have lost already.

**Guard.** The mixture is such that no outcome has positive expected gain, so total wealth W is a
supermartingale that starts at 1, against any adversary that does not see the draw. So with
probability 1 - delta W stays below 1 / delta for ever, and no claim of any pair can be exceeded in
sum by more than about sqrt(n log(1 / (q delta))), q being its prior mass.

**Follow.** Given a belief, its truthful bin is played as it is while 1 + G + (the most that this
round could add) <= cap = (11/8) / delta', G being what wealth has gained in rounds played so. If
the belief is the true law every time, it is overruled with probability at most delta', ever.

**Certificate.** With n the rounds in which a pair was drawn and S_x the sums of what its four
thresholds saw, its swap regret is at most

    max( min(2r, 1-b) (n - 2 S_{v<=b})+ + (1-b-2r)+ (2 S_{v>b+2r} - n)+ , its mirror image ),

an inequality about the losses alone: no outcome has to be stored.
"""

import zlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from trueup import _validation as check
from trueup._kernels import _engine as kernels
from trueup._rounds import run_lipschitz
from trueup.engine._arrays import (
    all_options,
    checked_outcomes,
    laws_of,
    members_of,
    replay_order,
    sizes_of,
)
from trueup.engine._belief import nodes_of
from trueup.engine._evidence import certificates_of, gains_of, rows_of, wealth_of
from trueup.engine._forecast import Forecast, Info, Run
from trueup.engine._losses import NUMBERS, encode, rows_of_losses, rows_of_outcomes
from trueup.engine._state import (
    State,
    from_bytes,
    grown,
    new,
    open_rounds,
    roomier,
    to_bytes,
    trimmed,
)
from trueup.errors import InvalidArgument, StateFormatError, UnknownForecast
from trueup.protocols import ArrayLike, FloatArray, IntArray, Loss, Property

__all__ = ["Engine", "Forecast", "Info", "Run"]

ALL = (0,)  # the group of all rounds
TAIL = 24  # bytes after the state: two settings and their checksum
NO_REACH = 11.0 / 8.0  # 1 + 3/8: the most that wealth can grow by in one round
REFINE_REACH = 3.0 / 2.0
SCHEDULES = ("shared", "own")
MOST_SEED, MOST_GROUP = 2**63 - 1, 2**20


class Engine:
    """Forecasts with swap regret of order sqrt(t) up to logarithms at every t.

    Parameters
    ----------
    seed : int
        Seed of the draws. A round's draw depends on the seed and the round alone.
    c : float
        Spacing times sqrt(t), above 0 and at most 1 (an outcome in the middle of a finest cell
        costs up to c sqrt(t)).
    horizon : int, optional
        Keep the spacing at c / sqrt(horizon) throughout.
    lipschitz : float, optional
        What all losses are divided by; that of the first sloped loss by default.
    schedule : "shared" or "own"
        With overlapping groups: gamma_t from the number of all rounds (every group has swap regret
        of order sqrt(T)), or from the smallest count of the round's groups (of order
        sqrt(number of groups * T_g) for a group of T_g rounds).
    overrule : float, optional
        delta', the probability with which a true belief may be overruled, ever. None: beliefs are
        only a hint, and the guard always mixes.
    refine : bool
        Say the belief's own number inside the drawn cell, while that costs nothing.
    expected : bool
        Learn for every bin of the mixture in proportion to its probability instead of for the drawn
        one: slower, with a deterministic guarantee for the swap regret of the mixtures (which the
        certificate is then about).

    Examples
    --------
    >>> from trueup.losses import Absolute
    >>> engine = Engine(seed=1)
    >>> for _ in range(500):
    ...     forecast = engine.predict()
    ...     engine.update(Absolute(0.3))
    >>> abs(forecast.value - 0.3) <= engine.spacing
    True
    >>> engine.certificate() < 2 * 500**0.5
    True
    """

    def __init__(
        self,
        seed: int = 0,
        *,
        c: float = 0.25,
        horizon: int | None = None,
        lipschitz: float | None = None,
        schedule: str = "shared",
        overrule: float | None = 0.05,
        refine: bool = True,
        expected: bool = False,
    ) -> None:
        self.seed = check.integer("seed", seed, at_least=0)
        if self.seed > MOST_SEED:
            raise check.refuse("seed", "below 2^63", seed)
        self.c = check.half_open_unit("c", c)
        self.horizon = None if horizon is None else check.integer("horizon", horizon, at_least=1)
        self.lipschitz = None if lipschitz is None else check.positive("lipschitz", lipschitz)
        if schedule not in SCHEDULES:
            raise check.refuse("schedule", "'shared' or 'own'", schedule)
        self.schedule = schedule
        self.overrule = None if overrule is None else check.open_unit("overrule", overrule)
        self.refine, self.expected = bool(refine), bool(expected)
        self._state = new(
            {
                kernels.SEED: self.seed,
                kernels.HORIZON: self.horizon or 0,
                kernels.RULE: SCHEDULES.index(schedule),
                kernels.EXPECTED: int(self.expected),
                kernels.FOLLOWS: int(self.overrule is not None),
                kernels.REFINES: int(self.refine),
            },
            {
                kernels.C: self.c,
                kernels.CAP: NO_REACH / (self.overrule or 1.0),
                kernels.REFINE_CAP: REFINE_REACH / (self.overrule or 1.0),
            },
        )
        self._open: dict[int, int] = {}
        self._stale = False  # a forecast was predicted, then an older one answered
        self._make_scratch()

    def _make_scratch(self) -> None:
        self._work = np.zeros(kernels.SCRATCH)
        self._whole = np.zeros(kernels.WHOLE_SCRATCH, dtype=np.int64)
        self._seen = np.zeros((kernels.MOST_COLUMNS * kernels.MOST_GROUPS, 4))
        self._row = np.zeros(kernels.LOSS)
        self._out = np.zeros(8 + 3 * kernels.MOST_COLUMNS)

    def __repr__(self) -> str:
        return (
            f"Engine(seed={self.seed}, c={self.c}, horizon={self.horizon},"
            f" lipschitz={self.lipschitz}, schedule={self.schedule!r}, overrule={self.overrule},"
            f" refine={self.refine}, expected={self.expected})"
        )

    @property
    def played(self) -> int:
        """How many rounds have been opened (and skipped or settled, unless they are open)."""
        return int(self._state.i[kernels.ROUNDS])

    @property
    def spacing(self) -> float:
        """Gamma of the next round: of the one that was predicted, if one was."""
        if self._state.i[kernels.READY]:
            return float(0.5 ** int(self._state.i[kernels.FINEST]))
        return float(0.5 ** int(kernels.finest_of(*self._state)))

    def predict(
        self,
        belief: object = None,
        *,
        point: float | None = None,
        groups: Sequence[int] = ALL,
    ) -> Forecast:
        """Return the forecast of the next round; nothing that lasts changes.

        Parameters
        ----------
        belief : distribution of v, optional
            Where the kink of the round's loss will be (see `trueup.properties.law_of_v`).
        point : float, optional
            What the belief itself would say; the engine says it where that costs nothing.
        groups : sequence of int
            The groups that the round belongs to, numbered from 0.
        """
        size = self._prepare(belief, point, groups)
        return Forecast(self._out[:size].tolist())

    def open(
        self,
        belief: object = None,
        *,
        point: float | None = None,
        groups: Sequence[int] = ALL,
    ) -> Forecast:
        """Return the forecast of the next round and go on; its outcome may come late.

        Any number may be open, and outcomes may come in any order: `update(loss, number)` with the
        forecast's `round`, or `skip(number)`.
        """
        forecast = self.predict(belief, point=point, groups=groups)
        first = self._open_round()
        kernels.weigh_open(*self._state, first, self._work)
        self._open[forecast.round] = first
        return forecast

    def update(self, loss: Loss, number: int | None = None) -> None:
        """Learn the loss of an open forecast, or else of the forecast last predicted.

        Four one-sided slopes at the drawn bin and 2r around it are all that is needed.
        """
        lipschitz = self._lipschitz_of(loss)
        if number is None:
            self._learn_next(loss, lipschitz or 1.0)
        else:
            self._learn_open(loss, lipschitz or 1.0, number)
        self.lipschitz = lipschitz

    def _learn_next(self, loss: Loss, steepest: float) -> None:
        """Open the round that was predicted, or else the next one, and settle it at once."""
        if self._stale:
            raise UnknownForecast(
                "An outcome has come since the last forecast: predict again, or open it first."
            )
        i, f = self._state
        if not i[kernels.READY]:
            self._prepare(None, None, ALL)
            i, f = self._state
        row, numbers_of = self._row, NUMBERS.get(type(loss))
        if numbers_of is not None:
            kind, outcome, first, second = numbers_of(loss)
            kernels.step_with(
                i, f, row, kind, steepest, outcome, first, second, self._seen, self._work
            )
        elif encode(loss, steepest, row):
            kernels.step(i, f, row, self._seen, self._work)
        else:
            seen = self._look(loss, -1, steepest)
            kernels.settle(i, f, self._open_round(), *seen, self._work)

    def _learn_open(self, loss: Loss, steepest: float, number: int) -> None:
        """Settle a round that is open."""
        first, (i, f) = self._first_slip(number), self._state
        if encode(loss, steepest, self._row):
            kernels.learn(i, f, self._open.pop(number), self._row, self._seen, self._work)
        else:
            seen = self._look(loss, first, steepest)
            kernels.settle(i, f, self._open.pop(number), *seen, self._work)
        self._outdate()

    def seen_of(self, first: int, loss: Loss, steepest: float) -> tuple[FloatArray, float, float]:
        """Return what an open round sees of a loss divided by `steepest`, as `settle` wants it."""
        return self._look(loss, first, steepest)

    def skip(self, number: int) -> None:
        """Close an open forecast whose outcome will not come: nothing is learned."""
        first = self._first_slip(number)
        del self._open[number]
        kernels.abandon(*self._state, first, self._work)
        self._outdate()

    def _outdate(self) -> None:
        """Let a forecast that was predicted and not opened go: its mixture was for old wealth."""
        self._stale = bool(self._state.i[kernels.READY])
        kernels.unmake(self._state.i)

    def play(
        self,
        outcomes: ArrayLike,
        wanted: Property,
        *,
        known_at: ArrayLike | None = None,
        points: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        nodes: ArrayLike | None = None,
        cdfs: ArrayLike | None = None,
    ) -> Run:
        """Play a whole array of outcomes, the same as step by step, bit for bit, only faster.

        Parameters
        ----------
        outcomes : array, shape (T,)
            In [0, 1]; NaN is an outcome that never comes.
        wanted : Mean, Median, Quantile or Expectile
        known_at : array of int, shape (T,), optional
            The outcome of round t may be used from round known_at[t] on; t + 1 by default. Outcomes
            known at T are learned after the last round, later ones never.
        points : array, shape (T,), optional
            What the belief itself would say.
        groups : array of int, shape (T,) or (T, n), optional
            The groups of each round, numbered from 0.
        nodes, cdfs : arrays, shape (n,) and (T, n), optional
            Beliefs without atoms: Pr[v <= node] in each round, linear between nodes, the first of
            which is 0 and the last 1.

        Examples
        --------
        >>> from trueup import Median
        >>> run = Engine(seed=1).play(np.full(1_000, 0.25), Median())
        >>> bool(abs(run.forecasts[-1] - 0.25) < 0.05)
        True
        """
        values = checked_outcomes(outcomes)
        loss = wanted.loss(0.5) if hasattr(wanted, "loss") else None
        lipschitz = self._lipschitz_of(loss) if loss is not None else None
        rows = rows_of_outcomes(values[:1], wanted, lipschitz or 1.0)
        return self._play(rows, values, lipschitz, known_at, points, groups, nodes, cdfs)

    def play_losses(self, losses: Sequence[Loss], **options: Any) -> Run:
        """Play a sequence of losses of compiled kinds; options as for `play`.

        >>> from trueup.losses import Absolute, Huber
        >>> Engine(seed=1).play_losses([Absolute(0.5), Huber(0.2, 0.5)]).forecasts.size
        2
        """
        lipschitz = self.lipschitz
        for loss in losses:
            lipschitz = run_lipschitz(loss, lipschitz)
        rows = rows_of_losses(losses, lipschitz or 1.0)
        outcomes = np.ascontiguousarray(rows[:, kernels.OUTCOME])
        return self._play(rows, outcomes, lipschitz, **all_options(options))

    def _play(
        self,
        rows: FloatArray,
        outcomes: FloatArray,
        lipschitz: float | None,
        known_at: Any,
        points: Any,
        groups: Any,
        nodes: Any,
        cdfs: Any,
    ) -> Run:
        rounds = outcomes.size
        starts, order = replay_order(rounds, known_at)
        members = members_of(rounds, groups)
        places = np.empty(0) if points is None else check.unit_vector("points", points)
        laws = laws_of(rounds, nodes, cdfs)
        if places.size not in (0, rounds):
            raise check.refuse("points", f"of length {rounds}", places.size)
        said, labels = np.empty(rounds), np.zeros((rounds, 2), dtype=np.int64)
        notes, slips = np.zeros((rounds, 2)), np.full(rounds, -1, dtype=np.int64)
        base, number = self.played, 0
        while True:
            i, f = self._state
            number = kernels.play(
                i, f, rows, outcomes, number, starts, order, members, *laws, places, slips, said,
                labels, notes, self._seen, self._work, self._whole,
            )  # fmt: skip
            if number >= rounds:
                break
            self._state = grown(self._state, int(members.max()))
        self.lipschitz = lipschitz
        self._open |= {base + t: int(slips[t]) for t in np.flatnonzero(slips >= 0).tolist()}
        scales = sizes_of(labels[:, 0])
        return Run(said, labels[:, 1] * scales, scales, notes[:, 0] == kernels.FOLLOW)

    def play_against(
        self,
        kind: int,
        setting: tuple[float, float],
        template: FloatArray,
        rows: FloatArray,
        rounds: int,
        late: int,
        tosses: FloatArray,
        lipschitz: float,
    ) -> tuple[FloatArray, IntArray, FloatArray]:
        """Run a compiled adversary: the loop behind `trueup.replay.duel`, which says what it needs.

        Returns what was said, the drawn pairs (scale, place), and the outcomes.
        """
        if self.lipschitz is not None:
            if lipschitz > self.lipschitz:
                raise InvalidArgument(f"losses must have slopes of at most {self.lipschitz}.")
            for block in (template, rows):
                block[..., kernels.STEEPEST] *= self.lipschitz / lipschitz
        memory = np.zeros(kernels.MEMORY)
        memory[1] = 1.0
        said, labels = np.empty(rounds), np.zeros((rounds, 2), dtype=np.int64)
        slips, outcomes = np.full(rounds, -1, dtype=np.int64), np.zeros(rounds)
        number = 0
        while True:
            number = kernels.duel(
                *self._state, kind, np.array(setting), template, rows, 0, rounds, number, late,
                tosses, memory, slips, outcomes, said, labels, self._seen, self._work, self._whole,
            )  # fmt: skip
            if number >= rounds:
                break
            self._state = grown(self._state, 0)
        self.lipschitz = self.lipschitz or lipschitz
        return said, labels, outcomes

    def info(self) -> Info:
        """Return how the run has gone so far."""
        i, f = self._state
        counts = i[kernels.REUSED : kernels.UNREFINED + 1].tolist()
        reused, solved, pivots, added, stalled, followed, overruled, unrefined = counts
        return Info(
            played=self.played,
            open=int(i[kernels.OPEN]),
            visited=int(i[kernels.ROWS]),
            wealth=float(f[kernels.WEALTH]),
            peak=float(f[kernels.PEAK]),
            gains=float(f[kernels.GAINS]),
            reused=reused,
            solved=solved,
            pivots=pivots,
            added=added,
            stalled=stalled,
            followed=followed,
            overruled=overruled,
            unrefined=unrefined,
            nbytes=self._state.nbytes,
        )

    def cell_gains(self) -> tuple[FloatArray, FloatArray]:
        """Return an outcome in each stretch of cells between breakpoints, and the gain there.

        The largest of them is the certificate of the mixture last predicted: at most rounding,
        relative to W.
        """
        if not self._state.i[kernels.READY]:
            self._prepare(None, None, ALL)
        return gains_of(self._state)

    def certificate(self, group: int = 0) -> float:
        """Return what swap regret by label is at most so far, whatever comes, in natural units.

        It counts the rounds that have been settled; where numbers were refined, the loss of what
        was said less that of the labels is in it.
        """
        group = check.integer("group", group, at_least=0)
        return float(self.certificates(group)[2].sum() * (self.lipschitz or 1.0))

    def certificates(self, group: int = 0) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return visited bins, their scales, and what the swap regret of each is at most, over L.

        Merging pairs of the same bin can only lower the truth.
        """
        return certificates_of(self._state, group)

    def visited(self, group: int = 0) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the bins drawn in a group, their scales, and their five sums, shape (n, 5).

        The sums are the rounds and those of Pr[v > b+2r], Pr[v < b-2r], Pr[v >= b], Pr[v <= b].
        """
        bins, scales, numbers = rows_of(self._state, group)
        return bins, scales, numbers[:, : kernels.REFINED_HERE]

    def wealth(self, group: int = 0) -> FloatArray:
        """Return the wealth of each claim (+2, -2, +1, -1) of each visited pair, shape (n, 4)."""
        return wealth_of(self._state, group)

    def to_bytes(self) -> bytes:
        """Return everything that the next round needs, open forecasts included.

        A forecast that was predicted and not opened is none of it: predict it again.

        >>> engine = Engine(seed=3)
        >>> from trueup import Median
        >>> engine.update(Median().loss(0.25))
        >>> again = Engine.from_bytes(engine.to_bytes())
        >>> again.played, again.predict().value == engine.predict().value
        (1, True)
        """
        state = trimmed(self._state)
        settings = np.array([self.lipschitz or 0.0, self.overrule or 0.0]).astype("<f8").tobytes()
        return to_bytes(state) + settings + zlib.crc32(settings).to_bytes(8, "little")

    @classmethod
    def from_bytes(cls, data: bytes) -> "Engine":
        """Return the engine that `to_bytes` wrote."""
        if not isinstance(data, bytes):
            raise check.refuse("data", "bytes", data)
        state, settings = from_bytes(data[:-TAIL]), data[-TAIL:-8]
        if zlib.crc32(settings).to_bytes(8, "little") != data[-8:]:
            raise StateFormatError("The state is damaged or cut off.")
        lipschitz, overrule = np.frombuffer(settings, dtype="<f8").tolist()
        i, f = state
        engine = cls(
            int(i[kernels.SEED]),
            c=float(f[kernels.C]),
            horizon=int(i[kernels.HORIZON]) or None,
            lipschitz=lipschitz or None,
            schedule=SCHEDULES[int(i[kernels.RULE])],
            overrule=overrule or None,
            refine=bool(i[kernels.REFINES]),
            expected=bool(i[kernels.EXPECTED]),
        )
        engine._state, engine._open = state, open_rounds(state)
        return engine

    def __getstate__(self) -> bytes:
        return self.to_bytes()

    def __setstate__(self, data: bytes) -> None:
        self.__dict__.update(Engine.from_bytes(data).__dict__)

    @property
    def state(self) -> State:
        """The state itself, for kernels that build on the engine's."""
        return self._state

    @state.setter
    def state(self, state: State) -> None:
        self._state = state

    @property
    def scratch(self) -> tuple[FloatArray, IntArray]:
        """Memory that kernels may write to and that means nothing between calls."""
        return self._work, self._whole

    @property
    def seen(self) -> FloatArray:
        """Scratch for what the slips of a round see of its loss."""
        return self._seen

    def enter(self, groups: Sequence[int]) -> None:
        """Set the groups of the coming round and make room for it."""
        self.make_room(self._enter_groups(groups))

    def make_room(self, highest_group: int) -> None:
        """Grow the state until the coming round can be opened."""
        while not kernels.has_room(self._state.i):
            self._state = grown(self._state, highest_group)

    def make_room_for(self, header: IntArray) -> None:
        """Grow the state until that of another header would fit."""
        self._state = roomier(self._state, header)

    def forget(self) -> None:
        """Forget all evidence, as at a known break; the guarantee starts again.

        The spacing goes on as it was, so it is that of a group of later rounds.
        """
        kernels.forget(*self._state)

    def _prepare(self, belief: object, point: float | None, groups: Sequence[int]) -> int:
        """Prepare the coming round; return how many numbers describe it."""
        if belief is None and point is None and groups is ALL:
            i, f = self._state
            size = kernels.look_alone(i, f, self._out, self._work, self._whole)
            if size:
                self._stale = False
                return int(size)
        said = float("nan") if point is None else check.unit("point", point)
        before = self._state.i[kernels.N_GROUPS], self._now().copy()
        try:
            self.enter(groups)
            i, f = self._state
            law = nodes_of(belief, int(kernels.finest_of(i, f)) if belief is not None else 0)
        except Exception:
            self._state.i[kernels.N_GROUPS], self._now()[:] = before
            raise
        kernels.look(i, f, *law, said, self._out, self._work, self._whole)
        self._stale = False
        return 8 + 3 * int(self._out[7])

    def _now(self) -> IntArray:
        """Return the groups of the coming round, in the state."""
        return self._state.i[kernels.AT_NOW : kernels.AT_POOL]

    def _enter_groups(self, groups: Sequence[int]) -> int:
        """Write the groups of the coming round into the header; return the highest."""
        i = self._state.i
        if isinstance(groups, tuple) and groups == (0,):
            i[kernels.N_GROUPS], i[kernels.AT_NOW] = 1, 0
            return 0
        if isinstance(groups, str | bytes) or not isinstance(groups, Iterable):
            raise check.refuse("groups", "a sequence of whole numbers", groups)
        numbers = sorted({check.integer("group", group, at_least=0) for group in groups})
        if numbers and numbers[-1] > MOST_GROUP:
            raise check.refuse("group", f"at most {MOST_GROUP}", numbers[-1])
        if not 1 <= len(numbers) <= kernels.MOST_GROUPS:
            raise check.refuse("groups", f"1 to {kernels.MOST_GROUPS} of them", len(numbers))
        i[kernels.N_GROUPS] = len(numbers)
        i[kernels.AT_NOW : kernels.AT_NOW + len(numbers)] = numbers
        return numbers[-1]

    def _open_round(self) -> int:
        return int(kernels.open_round(*self._state, self._work))

    def _first_slip(self, number: int) -> int:
        if not isinstance(number, int) or number not in self._open:
            raise UnknownForecast(f"No forecast of number {number!r} is open.")
        return self._open[number]

    def _lipschitz_of(self, loss: Any) -> float | None:
        known = self.lipschitz
        if known is not None and type(loss) in NUMBERS and loss.lipschitz == known:
            return known
        return run_lipschitz(loss, known)

    def _look(self, loss: Loss, first: int, steepest: float) -> tuple[FloatArray, float, float]:
        """Return what the slips of a round see of a loss of the user's own, and two differences.

        `first` is -1 for the forecast that was predicted and is about to be opened.
        """
        if first >= 0:
            pairs, label, said, point = self._open_pairs(first)
        else:
            pairs, label, said, point = self._next_pairs()
        seen = np.array([_observed(loss, level, place, steepest) for level, place in pairs])
        base = float(loss.value(label))
        more = [
            float(loss.value(place)) - base if place != label else 0.0 for place in (said, point)
        ]
        return seen, more[0] / steepest, more[1] / steepest

    def _open_pairs(self, first: int) -> tuple[list[tuple[int, int]], float, float, float]:
        """Return the pairs of the slips of an open round; its label, what was said, and why."""
        i, f = self._state
        whole = i[int(i[kernels.AT_SLIPS]) :].reshape(-1, kernels.WHOLE_SLIP)
        pairs, slip, label, said, point = [], first, 0.0, 0.0, 0.0
        while slip >= 0:
            level, place = (int(whole[slip, k]) for k in (kernels.SLIP_SCALE, kernels.SLIP_PLACE))
            pairs.append((level, place))
            if whole[slip, kernels.SLIP_CHOSEN]:
                at = int(i[kernels.AT_FSLIPS]) + kernels.SLIP * slip
                label = place * 0.5**level
                said, point = float(f[at + kernels.SLIP_SAID]), float(f[at + kernels.SLIP_POINT])
            slip = int(whole[slip, kernels.SLIP_OF_ROUND])
        return pairs, label, said, point

    def _next_pairs(self) -> tuple[list[tuple[int, int]], float, float, float]:
        """Return the same for the round that has been predicted."""
        i, f = self._state
        n_groups, chosen = int(i[kernels.N_GROUPS]), int(i[kernels.CHOSEN])
        size = int(i[kernels.NEXT_SIZE])
        shares = f[kernels.AT_NEXT_SHARES : kernels.AT_NEXT_SHARES + size]
        numbers = np.flatnonzero(shares > 0).tolist() if self.expected else [chosen]
        table = i[kernels.AT_NEXT : kernels.AT_NEXT + 2 * size].reshape(size, 2).tolist()
        pairs = [(table[n][0], table[n][1]) for n in numbers for _ in range(n_groups)]
        level, place = table[chosen]
        return pairs, place * 0.5**level, float(f[kernels.SAID]), float(f[kernels.POINT])


def _observed(loss: Loss, level: int, place: int, lipschitz: float) -> FloatArray:
    """Return Pr[v > b+2r], Pr[v < b-2r], Pr[v >= b], Pr[v <= b] from four one-sided slopes."""
    scale = 0.5**level
    at, up, down = place * scale, (place + 2) * scale, (place - 2) * scale
    left, right = loss.slopes(at)
    observed = np.array(
        [
            0.0 if up >= 1 else (1 - loss.slopes(up)[1] / lipschitz) / 2,
            0.0 if down <= 0 else (1 + loss.slopes(down)[0] / lipschitz) / 2,
            1.0 if at <= 0 else (1 - left / lipschitz) / 2,
            1.0 if at >= 1 else (1 + right / lipschitz) / 2,
        ]
    )
    if not np.all((observed >= -check.SLOPE_TOLERANCE) & (observed <= 1 + check.SLOPE_TOLERANCE)):
        raise InvalidArgument(
            f"slopes must be at most {lipschitz} in size, got those of {loss!r} around {at}."
        )
    return np.asarray(np.clip(observed, 0.0, 1.0))
