"""The auditor: rounds in, block by block; what they say against calibration out.

The state of the bets is in the arrays of `_kernels/_audit.py`; here are regions of forecasts and
the sums over audited numbers and classes of rounds.

The wealth of a class is the mean over the audited numbers. With two classes (late outcomes)
evidence is the larger wealth divided by 2: a class alone is a supermartingale, at the times when
its own outcomes are known, so wealths of different classes are compared, not added.
"""

import builtins
from collections.abc import Hashable
from typing import Any

import numpy as np

from trueup import _validation as check
from trueup._kernels import _audit as kernels
from trueup.auditor._claims import Audited, bets, bounds_of, parts_of
from trueup.auditor._curve import Track
from trueup.auditor._reading import LOG10, break_of, evidence_of
from trueup.auditor._result import Audit, Break
from trueup.auditor._rounds import (
    Keys,
    Rounds,
    checked,
    due_of,
    groups_of,
    is_dates,
    keys_of,
    known_of,
    listed,
    times_of,
)
from trueup.auditor._sample import Sample
from trueup.auditor._saving import saving
from trueup.auditor._state import copied, fresh_state, grown
from trueup.errors import InvalidArgument
from trueup.protocols import FloatArray, IntArray

RATES = np.expm1(kernels.STEEPEST / 2.0 ** np.arange(kernels.N_RATES))
FIRST_CUT = 64  # rounds after which there are regions; they are cut anew whenever rounds doubled
BLOCK = 2**17  # rounds that go through at a time
EIGHTHS = np.arange(1, 8) / 8


class Auditor:
    """Evidence against a forecaster, block by block, in bounded memory.

    Parameters
    ----------
    property : what is forecast
        `Mean`, `Median`, `Quantile`, `Expectile`, `Interval`, `Quantiles` or `Probability`.
    bounds : pair of numbers, optional
        The range that outcomes cannot leave; needed for `Mean` and `Expectile`.
    alpha : float
        Allowed probability of a false alarm, over all times at which one looks.

    Examples
    --------
    >>> import numpy as np
    >>> import trueup as tu
    >>> rng = np.random.default_rng(0)
    >>> auditor = tu.Auditor(tu.Median())
    >>> for day in range(10):
    ...     auditor.add(rng.normal(size=100), np.zeros(100))
    >>> print(auditor.result().crossed_at)
    None
    """

    def __init__(
        self,
        property: Audited,  # noqa: A002 - the word for the idea
        *,
        bounds: tuple[float, float] | None = None,
        alpha: float = 0.05,
    ) -> None:
        self.property, self.alpha = property, check.open_unit("alpha", alpha)
        self._parts = parts_of(property)
        self.bounds = bounds_of(property, bounds)
        self._options: tuple[bool, ...] | None = None  # which of them come
        self._start((False,) * 4)
        self._given = self._used = 0
        self._names: dict[Hashable, int] = {}
        self._keys = Keys({}, None, 0, unchecked=False)
        self._cuts: list[FloatArray] = []
        self._sample = Sample(3 + len(self._parts))
        self._total, self._restarted = Track(), Track()
        self._peak, self._crossed = 0.0, -1
        self._runs = 0  # of shared outcomes
        self._last = -np.inf  # time of a forecast
        self._dates = False  # times are dates

    @builtins.property
    def numbers(self) -> int:
        """How many numbers a forecast has: a column each."""
        return len(self._parts)

    def __repr__(self) -> str:
        return f"Auditor({self.property!r}, alpha={self.alpha}, rows={self._used})"

    def _start(self, options: tuple[bool, ...]) -> None:
        late, grouped, self._shared, self._timed = options
        self._classes = 2 if late else 1
        room = 0 if grouped else None
        self._states = [fresh_state(self._classes, room) for _ in self._parts]

    def add(
        self,
        outcomes: Any,
        forecasts: Any,
        *,
        known_at: Any = None,
        times: Any = None,
        groups: Any = None,
        same_outcome: Any = None,
    ) -> None:
        """Take more rounds, as `audit` does; `known_at` counts rounds from the first ever."""
        given = (known_at, groups, same_outcome, times)
        options = tuple(option is not None for option in given)
        if self._options not in (None, options):
            raise InvalidArgument(
                "known_at, times, groups and same_outcome must be given in every block or in none."
            )
        seen, said, counts = checked(
            self.property, self.bounds, len(self._parts), outcomes, forecasts
        )
        number = self._given + np.arange(seen.size)
        clock = times_of(times, self._last, number)
        known = None if known_at is None else known_of(known_at, clock, timed=times is not None)
        table, names = np.empty((seen.size, 0), dtype=np.int64), dict[Hashable, int]()
        if groups is not None:
            table, names = groups_of(self._names, listed("groups", groups, seen.size))
        fresh, keys, new = np.ones(seen.size, dtype=bool), self._keys, dict[Hashable, float]()
        if same_outcome is not None:
            rows = listed("same_outcome", same_outcome, seen.size)
            fresh, keys, new = keys_of(keys, rows, clock, known, counts)
        if self._options is None:
            self._start(options)
        self._options, self._keys = options, keys
        self._given += seen.size
        self._names |= names
        self._keys.known.update(new)
        self._states = [grown(state, len(self._names)) for state in self._states]
        if seen.size:
            self._last = float(clock[-1])
        self._dates = is_dates(times)
        due, fresh = due_of(known, fresh, clock, shared=self._shared)
        self._play_all(Rounds(number, seen, said, clock, due, fresh, table).only(counts))

    def _play_all(self, rounds: Rounds) -> None:
        """Bet on rounds, in pieces that end where regions are cut anew."""
        start = 0
        while start < rounds.number.size:
            if self._used >= FIRST_CUT and (self._used & (self._used - 1)) == 0:
                said = self._sample.rows[:, 3:]
                self._cuts = [np.quantile(column, EIGHTHS) for column in said.T]
            next_cut = max(FIRST_CUT, 1 << self._used.bit_length())
            stop = min(rounds.number.size, start + BLOCK, start + next_cut - self._used)
            self._play(rounds.part(start, stop))
            start = stop

    def _play(self, rounds: Rounds) -> None:
        out = np.empty((len(self._parts), rounds.number.size, self._classes, 3))
        for k, (part, state) in enumerate(zip(self._parts, self._states, strict=True)):
            said = np.ascontiguousarray(rounds.forecasts[:, k])
            low, high = bets(part, said, rounds.outcomes, self.bounds)
            kernels.play(
                state, RATES, low, high, said, rounds.outcomes, self._regions(rounds, k),
                rounds.groups, rounds.number, rounds.clock, rounds.known, rounds.fresh,
                self._shared, out[k],
            )  # fmt: skip
        logs = self._combined(out)
        self._total.add(rounds.number, logs[0] / LOG10)
        self._restarted.add(rounds.number, logs[2] / LOG10)
        self._peak = max(self._peak, float(logs[0].max()))
        crossed = np.flatnonzero(logs[0] >= -np.log(self.alpha))
        if self._crossed < 0 and crossed.size:
            self._crossed = int(rounds.number[crossed[0]])
        time, known = rounds.clock, rounds.known
        if self._shared and self._classes == 1:  # then what counts is the number of the outcome
            time = self._runs + np.cumsum(rounds.fresh)
            known, self._runs = time + 1, int(time[-1])
        columns = [time, known, rounds.outcomes, *rounds.forecasts.T]
        self._sample.add(self._used, np.column_stack(columns))
        self._used += rounds.number.size

    def _regions(self, rounds: Rounds, k: int) -> IntArray:
        """Return the eighth of past forecasts that each one is in, -1 before there are any."""
        if not self._cuts:
            return np.full(rounds.number.size, -1)
        return np.searchsorted(self._cuts[k], rounds.forecasts[:, k], side="right")

    def _combined(self, out: FloatArray) -> FloatArray:
        """Return logs of evidence, in all, from the start, restarted, from (numbers, T, x, 3)."""
        mean = np.logaddexp.reduce(out, axis=0) - np.log(len(self._parts))
        return np.asarray((mean.max(axis=1) - np.log(self._classes)).T)

    def _finished(self) -> tuple[list[kernels.State], FloatArray]:
        """Return the bets and the logs of evidence with the outcomes of all rounds known."""
        states = [copied(state) for state in self._states]
        out = np.empty((len(states), 1, self._classes, 3))
        for k, state in enumerate(states):
            kernels.finish(state, out[k])
        return states, self._combined(out)[:, 0]

    @builtins.property
    def log10_evidence(self) -> float:
        """Evidence now; much quicker than the whole `result`."""
        return float(self._finished()[1][0]) / LOG10

    def result(self) -> Audit:
        """Return what there is now; the outcomes of all rounds so far are taken as known."""
        states, logs = self._finished()
        total, restarted = self._total.copy(), self._restarted.copy()
        total.add(np.array([self._given]), logs[:1] / LOG10)
        restarted.add(np.array([self._given]), logs[2:] / LOG10)
        peak, crossed = max(self._peak, float(logs[0])), self._crossed
        if crossed < 0 and peak >= -np.log(self.alpha):
            crossed = self._given
        rows, known, seen, *said = self._sample.rows.T
        columns = np.column_stack(said)
        return Audit(
            property=repr(self.property),
            rows=self._used,
            missing=self._given - self._used,
            alpha=self.alpha,
            log10_evidence=float(logs[0]) / LOG10,
            log10_peak=peak / LOG10,
            log10_start=float(logs[1]) / LOG10,
            log10_restarted=float(logs[2]) / LOG10,
            crossed_at=None if crossed < 0 else crossed,
            valid=not (self._keys.returned or self._keys.unchecked),
            reason=self._reason(),
            evidence=evidence_of(self._parts, states, self._cuts, list(self._names)),
            break_at=self._dated(break_of(self._parts, states, self.alpha, shared=self._shared)),
            saving=saving(self._parts, self.bounds, rows, known, seen, columns),
            curve=total.curve,
            restarted_curve=restarted.curve,
        )

    def _dated(self, found: Break | None) -> Break | None:
        """Return a break with its time as it was given."""
        if found is None or not self._timed:
            return None if found is None else found._replace(since=None)
        if self._dates and isinstance(found.since, float):
            time = np.datetime64(int(found.since), "us")
            text = str(time.astype("datetime64[s]") if time == time.astype("M8[s]") else time)
            return found._replace(since=text)
        return found

    def _reason(self) -> str:
        late, shared = self._classes == 2, self._shared
        if self._keys.returned and late:
            return f"{self._keys.returned:,} rows came after their shared outcome was known"
        if self._keys.returned:
            return "rows of one outcome lie apart and known_at does not say when it was known"
        if self._keys.unchecked:
            return "there are too many shared outcomes to see whether one came back"
        if late:
            return "bets wait until outcomes are known, and a block of open rows counts once"
        if shared:
            return "rows that share an outcome count once, known when the next one begins"
        return "each outcome is taken as known before the next forecast was issued"


def audit(
    outcomes: Any,
    forecasts: Any,
    property: Audited,  # noqa: A002 - the word for the idea
    *,
    bounds: tuple[float, float] | None = None,
    known_at: Any = None,
    times: Any = None,
    groups: Any = None,
    same_outcome: Any = None,
    alpha: float = 0.05,
) -> Audit:
    """Is a forecaster calibrated? Evidence against it, valid whenever one looks.

    The question: given everything known when it was issued, has each forecast the property? If so,
    evidence ever reaches 1/alpha with probability at most alpha, however outcomes depend on each
    other.

    Parameters
    ----------
    outcomes : array, list or column, shape (T,)
        In the order of their forecasts; NaN or None for one that never came.
    forecasts : array, list or column, shape (T,)
        One a number for `Interval` and `Quantiles`: shape (T, k), or a tuple of columns.
    property : what is forecast
        `Mean`, `Median`, `Quantile`, `Expectile`, `Interval`, `Quantiles` or `Probability`.
    bounds : pair of numbers, optional
        The range that outcomes cannot leave; needed for `Mean` and `Expectile`.
    known_at : array of int, shape (T,), optional
        Outcome t was known when round known_at[t] was forecast; t + 1 by default. With `times` it
        is a time.
    times : array of numbers or dates, shape (T,), optional
        When each forecast was issued; they never go back.
    groups : sequence of names, or of tuples of names, optional
        The groups of each round; None for no group.
    same_outcome : sequence of names, optional
        Rounds of the same name share one outcome (a game, with a forecast every minute).
    alpha : float
        Allowed probability of a false alarm, over all times at which one looks.

    Returns
    -------
    Audit
        What was found; `print` shows it in short, `to_dict` is for JSON.

    Examples
    --------
    >>> import numpy as np
    >>> import trueup as tu
    >>> rng = np.random.default_rng(0)
    >>> rain = rng.random(500) < 0.3
    >>> tu.audit(rain, np.full(500, 0.3), tu.Probability()).rejected
    False
    >>> tu.audit(rain, np.full(500, 0.5), tu.Probability()).rejected
    True
    """
    auditor = Auditor(property, bounds=bounds, alpha=alpha)
    auditor.add(
        outcomes, forecasts,
        known_at=known_at, times=times, groups=groups, same_outcome=same_outcome,
    )  # fmt: skip
    return auditor.result()
