"""A forecaster for as many rounds as there are.

**Spacing.** gamma_t is the largest power of 1/2 up to c / sqrt(t), known before the round. A scale
r = 2^-s is in play while r >= gamma_t; its claims +-1 sleep while r = gamma_t.

**Wealth.** Against each of the four claims of each pair stand bettors with rates eta = 1/2, 1/4,
..., 2^-20. All that will ever exist share prior mass 1 from the start: a claim of scale 2^-s has

    q = 1 / ((s+1)(s+2)) * 1 / (4 (2^s + 1)),      each of its rates q / 20.

When its pair is drawn, a bettor's wealth is multiplied by 1 + eta u, u being by how much the claim
was exceeded in the round, at the spacing of that round. Asleep or not drawn, it stays.

**Guard.** The mixture is such that no outcome has positive expected gain, so total wealth W is a
supermartingale that starts at 1, against any adversary that does not see the draw. So with
probability 1 - delta W stays below 1 / delta for ever, and no claim of any pair can be exceeded in
sum by more than about sqrt(n log(1 / (q delta))).

**Certificate.** With n the rounds in which a pair was drawn and S_x the sums of what its four
thresholds saw, its swap regret is at most

    max( min(2r, 1-b) (n - 2 S_{v<=b})+ + (1-b-2r)+ (2 S_{v>b+2r} - n)+ , its mirror image ),

an inequality about the losses alone: no outcome has to be stored.
"""

from typing import Any, NamedTuple

import numpy as np

from trueup import _validation as check
from trueup._kernels import _engine as kernels
from trueup._rounds import run_lipschitz
from trueup.errors import InvalidArgument, SolverFailed
from trueup.properties import Median, Quantile
from trueup.protocols import ArrayLike, FloatArray, Loss, Mixture, Property

__all__ = ["Engine", "Info"]

SMALLEST_TABLE = 64
FLOATS = (
    5 * kernels.MOST_COLUMNS
    + 2 * kernels.MOST_ROWS
    + 1
    + (kernels.MOST_ROWS + 1) * (kernels.MOST_COLUMNS + 1)
)
WHOLE = 2 * kernels.MOST_ROWS + kernels.MOST_COLUMNS + 1


class Info(NamedTuple):
    """How a run has gone so far; the next round never looks at it."""

    played: int
    spacing: float  # gamma of the next round
    visited: int  # pairs that have been drawn
    wealth: float  # W, at most 1 on average
    peak: float  # the largest W so far
    gains: float  # sum over rounds of the mixture's largest gain / W where it was positive
    reused: int  # rounds that kept the last mixture
    points: int  # rounds played as a point mass for good reason
    solved: int  # small games solved
    pivots: int  # in all of them
    stalled: int  # rounds whose gain was left at rounding


class Engine:
    """Forecasts with swap regret of order sqrt(t) up to logarithms at every t.

    Parameters
    ----------
    seed : int
        Seed of the draws. A round's draw depends on the seed and the round alone.
    c : float
        Spacing times sqrt(t), above 0 and at most 1 (an outcome in the middle of a finest cell
        costs up to c sqrt(t)).
    lipschitz : float, optional
        What all losses are divided by; that of the first sloped loss by default.

    Examples
    --------
    >>> from trueup.losses import Absolute
    >>> engine = Engine(seed=1)
    >>> for _ in range(500):
    ...     mixture = engine.predict()
    ...     engine.update(Absolute(0.3))
    >>> abs(mixture.value - 0.3) <= engine.spacing
    True
    >>> engine.certificate() < 2 * 500**0.5
    True
    """

    def __init__(self, seed: int = 0, *, c: float = 0.5, lipschitz: float | None = None) -> None:
        self.seed = check.integer("seed", seed, at_least=0)
        self.c = check.half_open_unit("c", c)
        self.lipschitz = None if lipschitz is None else check.positive("lipschitz", lipschitz)
        self._counts = np.zeros(10, dtype=np.int64)
        self._sums = np.array([1.0, 0.0, 1.0, self.c])
        self._support = np.zeros((kernels.MOST_COLUMNS, 2), dtype=np.int64)
        self._shares = np.zeros(kernels.MOST_COLUMNS)
        self._table = _empty_table(SMALLEST_TABLE)
        self._floats, self._whole = np.zeros(FLOATS), np.zeros(WHOLE, dtype=np.int64)

    def __repr__(self) -> str:
        return f"Engine(seed={self.seed}, c={self.c}, lipschitz={self.lipschitz})"

    @property
    def played(self) -> int:
        """How many rounds have been played."""
        return int(self._counts[kernels.ROUNDS])

    @property
    def spacing(self) -> float:
        """Gamma of the next round."""
        self._prepare()
        return float(0.5 ** self._counts[kernels.FINEST])

    def predict(self) -> Mixture:
        """Return the mixture of the next round and the forecast drawn from it; nothing changes."""
        self._prepare()
        size = self._counts[kernels.SIZE]
        scales = 0.5 ** self._support[:size, 0].astype(np.float64)
        support = self._support[:size, 1] * scales
        chosen = kernels.drawn(self._counts, self._shares, self.seed)
        return Mixture(support, scales, self._shares[:size].copy(), float(support[chosen]))

    def update(self, loss: Loss) -> None:
        """Learn the loss of the round: four one-sided slopes at the drawn bin and 2r around it."""
        lipschitz = run_lipschitz(loss, self.lipschitz)
        self._prepare()
        chosen = kernels.drawn(self._counts, self._shares, self.seed)
        scale, place = self._support[chosen].tolist()
        observed = _observed(loss, 0.5**scale, place, lipschitz or 1.0)
        self._grow()
        counts, sums, support = self._counts, self._sums, self._support
        kernels.learn(counts, sums, support, *self._table, chosen, observed)
        self.lipschitz = lipschitz

    def play_outcomes(self, outcomes: ArrayLike, wanted: Property) -> FloatArray:
        """Play a whole array of outcomes of a median or quantile, and return what was said.

        The same as `predict` and `update` in turn, bit for bit, at the speed of compiled code.

        Examples
        --------
        >>> said = Engine(seed=1).play_outcomes(np.full(1_000, 0.25), Median())
        >>> bool(abs(said[-1] - 0.25) < 0.05)
        True
        """
        values = check.unit_vector("outcomes", outcomes)
        if not isinstance(wanted, Median | Quantile):
            raise check.refuse("wanted", "Median() or Quantile(level)", wanted)
        loss = wanted.loss(0.5)
        lipschitz = run_lipschitz(loss, self.lipschitz) or 1.0
        below, above = loss.slopes(0.25)[0] / lipschitz, loss.slopes(0.75)[1] / lipschitz
        said, number = np.empty(values.size), 0
        while number < values.size:
            self._grow()
            number, status = kernels.play_outcomes(
                values, number, below, above, self.seed, said, *self._state(),
            )  # fmt: skip
            _refuse_failure(status)
            self.lipschitz = lipschitz
        return said

    def info(self) -> Info:
        """Return how the run has gone so far."""
        self._prepare()
        counts = self._counts.tolist()
        wealth, gains, peak, _ = self._sums.tolist()
        return Info(
            counts[kernels.ROUNDS],
            0.5 ** counts[kernels.FINEST],
            counts[kernels.VISITED],
            wealth,
            peak,
            gains,
            *counts[kernels.REUSED :],
        )

    def cell_gains(self) -> tuple[FloatArray, FloatArray]:
        """Return an outcome in each stretch of cells between breakpoints, and the gain there.

        The largest of them is the certificate of the mixture: at most rounding, relative to W.
        """
        self._prepare()
        keys, _, weights, _ = self._table
        size, finest = self._counts[kernels.SIZE], self._counts[kernels.FINEST]
        columns = np.zeros((kernels.MOST_COLUMNS, 4))
        rows = np.zeros(kernels.MOST_ROWS, dtype=np.int64)
        n_rows = kernels.lay_out(keys, weights, self._support, size, finest, columns, rows)
        gains = np.zeros(n_rows)
        for i in range(size):
            scale, place = self._support[i]
            for k in range(n_rows):
                piece = kernels.piece_at(rows[k], scale, place, finest)
                gains[k] += self._shares[i] * columns[i, piece]
        return (rows[:n_rows] + 0.5) * 0.5**finest, gains

    def certificate(self) -> float:
        """Return what swap regret is at most so far, whatever comes, in natural units."""
        bins, scales, seen = self.visited()
        s_up, s_down, s_from, s_to, n = seen.T
        right = np.minimum(2 * scales, 1 - bins) * np.maximum(n - 2 * s_to, 0)
        right += np.maximum(1 - bins - 2 * scales, 0) * np.maximum(2 * s_up - n, 0)
        left = np.minimum(2 * scales, bins) * np.maximum(n - 2 * s_from, 0)
        left += np.maximum(bins - 2 * scales, 0) * np.maximum(2 * s_down - n, 0)
        return float(np.maximum(left, right).sum() * (self.lipschitz or 1.0))

    def visited(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the bins that were drawn, their scales, and their five sums, shape (n, 5).

        The sums are those of Pr[v > b+2r], Pr[v < b-2r], Pr[v >= b], Pr[v <= b], and the rounds.
        """
        keys, _, _, seen = self._table
        slots = np.flatnonzero(keys >= 0)
        levels, places = _pairs_of(keys[slots])
        scales = 0.5 ** levels.astype(np.float64)
        return places * scales, scales, seen[slots]

    def _state(self) -> tuple[Any, ...]:
        keys, logs, weights, seen = self._table
        return (
            self._counts, self._sums, self._support, self._shares,
            keys, logs, weights, seen, self._floats, self._whole,
        )  # fmt: skip

    def _prepare(self) -> None:
        keys, _, weights, _ = self._table
        status = kernels.prepare(
            self._counts, self._sums, self._support, self._shares,
            keys, weights, self._floats, self._whole,
        )  # fmt: skip
        _refuse_failure(status)

    def _grow(self) -> None:
        """Double the table while it is half full."""
        keys, logs, weights, seen = self._table
        if 2 * self._counts[kernels.VISITED] + 2 <= keys.size:
            return
        larger = _empty_table(2 * keys.size)
        for slot in np.flatnonzero(keys >= 0):
            level, place = _pairs_of(keys[slot : slot + 1])
            new = kernels.slot_of(larger[0], level[0], place[0])
            larger[0][new], larger[1][new] = keys[slot], logs[slot]
            larger[2][new], larger[3][new] = weights[slot], seen[slot]
        self._table = larger


def _empty_table(size: int) -> tuple[Any, FloatArray, FloatArray, FloatArray]:
    return (
        np.full(size, -1, dtype=np.int64),
        np.zeros((size, 4, kernels.N_RATES)),
        np.zeros((size, 4)),
        np.zeros((size, 5)),
    )


def _pairs_of(keys: Any) -> tuple[Any, Any]:
    """Return scale numbers and places of pair numbers: scale s starts at 2^s - 1 + s."""
    starts = (1 << np.arange(50)) - 1 + np.arange(50)
    levels = np.searchsorted(starts, keys, side="right") - 1
    return levels, keys - starts[levels]


def _observed(loss: Loss, scale: float, place: int, lipschitz: float) -> FloatArray:
    """Return Pr[v > b+2r], Pr[v < b-2r], Pr[v >= b], Pr[v <= b] from four one-sided slopes."""
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


def _refuse_failure(status: int) -> None:
    if status != 0:
        raise SolverFailed("The small game of this round did not end; please report the run.")
