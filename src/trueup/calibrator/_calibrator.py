"""The object people use: forecasts in their own units that stay calibrated whatever comes.

Each number that is asked for is a stream of its own: an engine, a range that doubles when an
outcome leaves it, and a window of past errors that completes a point forecast to a belief. Numbers
of several levels are drawn with one coin; those that cross are replaced by weighted means.

**Which guarantee holds.** With `exact=True` a grid value is issued: "whenever it said A, B would
have been better" is bounded for every A and B. By default the number is refined inside the drawn
cell, and the guarantee is by label, the drawn bin, which comes with every forecast: replacing all
that was said under a label by one constant is bounded to save little. With several levels that
holds for each level as issued: what it costs one to be put in order is bounded too (`Order`), and
counted, and its certificate has it. Forecasts from before the range is known have no guarantee;
they are counted too.
"""

import math
import threading
from collections.abc import Hashable, Iterable, Iterator
from decimal import Decimal
from inspect import signature
from numbers import Real
from typing import Any

import numpy as np

from trueup import _validation as check
from trueup._kernels import _engine as kernels
from trueup.calibrator._beliefs import nodes_of
from trueup.calibrator._columns import is_missing, sized
from trueup.calibrator._decision import DecisionStream
from trueup.calibrator._issued import Bins, Evidence, Forecast, Open, Report
from trueup.calibrator._order import Moved, Order
from trueup.calibrator._report import bins_of, evidence_of, report_of, unit_of
from trueup.calibrator._stream import Said, Stream
from trueup.calibrator._targets import (
    Decision,
    Interval,
    Probability,
    Quantiles,
    Target,
    shaped,
    templates_of,
)
from trueup.calibrator._transform import transform_of
from trueup.engine import Engine
from trueup.errors import InvalidArgument, UnknownForecast
from trueup.properties import Median, Quantile
from trueup.protocols import Loss, Property

NOTHING = float("nan")
MOST_WINDOW = 100_000  # errors in memory, and moved one by one
NAMED = 5  # rounds that were overruled, the last of them
REMEMBERED = 1_000  # forecasts given up whose ids are still known as such
SETTINGS = (
    "bounds", "seed", "exact", "steer", "of", "transform", "overrule", "strict", "c", "window",
    "max_open", "max_groups", "max_weight",
)  # fmt: skip


class Calibrator:
    """Online forecasts of a number that stay calibrated against any sequence of outcomes.

    Parameters
    ----------
    wanted : Mean, Median, Quantile, Expectile, Interval, Quantiles, Probability or Decision
    bounds : (low, high), optional
        Where outcomes lie. Without, the range is learnt: it doubles when an outcome leaves it.
    seed : int
        Of the draws: they depend on the seed and the number of the round alone.
    exact : bool
        Issue grid values instead of refining inside the drawn cell.
    steer : bool
        Move a point forecast by what its past errors looked like; False issues it as it is where
        the guard allows.
    of : property, optional
        What the user's numbers are forecasts of, where that is another property than `wanted`.
    transform : "log", "log1p", "asinh" or a pair of functions, optional
        For quantiles: forecast on this increasing scale (function, then its inverse). Everything
        that comes out is in the user's units, but scores, scales and certificates are on it.
    overrule : float or None
        The probability with which a true belief may be overruled, ever: one that the user gives, or
        a point forecast with `steer=False`. What steering makes of it has to earn being followed.
    strict : bool
        Raise on an outcome outside bounds; otherwise it is clipped and counted.
    c : float
        Fineness of the grid: spacing times sqrt(t), in units of the range.
    window : int
        How many past errors complete a point forecast.
    max_open : int, optional
        Give up the oldest open forecast when more would be open.
    max_groups : int
        How many groups may be made.
    max_weight : float
        The largest weight of a round.

    Examples
    --------
    >>> from trueup import Quantile
    >>> calibrator = Calibrator(Quantile(0.9), bounds=(0, 10))
    >>> rng = np.random.default_rng(0)
    >>> for _ in range(1_000):
    ...     forecast = calibrator.predict()
    ...     calibrator.update(rng.uniform(0, 10))
    >>> abs(forecast.value - 9) < 1
    True
    """

    def __init__(
        self,
        wanted: Target,
        *,
        bounds: tuple[float, float] | None = None,
        seed: int = 0,
        exact: bool = False,
        steer: bool = True,
        of: Property | None = None,
        transform: Any = None,
        overrule: float | None = 0.05,
        strict: bool = False,
        c: float = 0.25,
        window: int = 128,
        max_open: int | None = None,
        max_groups: int = 1_000,
        max_weight: float = 1.0,
    ) -> None:
        self.wanted, self.bounds, self.seed, self.exact = wanted, bounds, seed, exact
        self.steer, self.overrule, self.strict, self.c = steer, overrule, strict, c
        self.window, self.max_open, self.max_groups = window, max_open, max_groups
        self.of, self.transform, self.max_weight = of, transform, max_weight
        self._start()

    def _start(self) -> None:
        """Make the state before the first round from the settings."""
        ends = None
        if isinstance(self.wanted, Probability):
            if self.bounds is not None and _bounds(self.bounds) != (0.0, 1.0):
                raise check.refuse("bounds", "left out for a probability", self.bounds)
            ends = (0.0, 1.0)
        elif self.bounds is not None:
            ends = _bounds(self.bounds)
        self._transform = transform_of(self.transform)
        if self._transform is not None:
            if not isinstance(self.wanted, Median | Quantile | Interval | Quantiles):
                raise InvalidArgument(f"transform is for quantiles alone, not {self.wanted!r}.")
            if ends is not None:
                low, high = (self._transform.into("bounds", end) for end in ends)
                ends = _bounds((low, high))
        for name in ("exact", "steer", "strict"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise check.refuse(name, "True or False", getattr(self, name))
        if check.integer("seed", self.seed, at_least=0) >= 2**63:
            raise check.refuse("seed", "below 2**63", self.seed)
        if check.integer("window", self.window, at_least=8) > MOST_WINDOW:
            raise check.refuse("window", f"at most {MOST_WINDOW}", self.window)
        check.integer("max_groups", self.max_groups, at_least=0)
        check.positive("max_weight", self.max_weight)
        if self.of is not None:
            check.instance("of", self.of, Property, "a property")
        if self.max_open is not None:
            check.integer("max_open", self.max_open, at_least=1)
        self._streams = self._made(ends)
        self._open: dict[int, Open] = {}
        self._expired: dict[int, None] = {}  # the last of them, to say so
        self._groups: dict[Hashable, int] = {}
        self._issued = self._given_up = 0
        self._overruled: list[tuple[int, float]] = []  # the last of them: id and first label
        self._order = Order(tuple(stream.template for stream in self._streams))
        self._lock = threading.RLock()

    def _made(self, ends: tuple[float, float] | None) -> list[Any]:
        """Return the streams before the first round, one a number that is wanted."""
        engines = [
            Engine(self.seed, c=self.c, overrule=self.overrule, refine=not self.exact)
            for _ in range(
                1 if isinstance(self.wanted, Decision) else len(templates_of(self.wanted))
            )
        ]
        if isinstance(self.wanted, Decision):
            return [DecisionStream(self.wanted, engines[0], ends, steer=self.steer)]
        other = self.of is not None and self.of != self.wanted
        return [
            Stream(template, engine, ends, self.window, steer=self.steer, other=other)
            for template, engine in zip(templates_of(self.wanted), engines, strict=True)
        ]

    def __repr__(self) -> str:
        usual = signature(Calibrator).parameters
        given = [
            f", {name}={value!r}"
            for name, value in self.settings().items()
            if repr(value) != repr(usual[name].default)
        ]
        return f"Calibrator({self.wanted!r}{''.join(given)})"

    def settings(self) -> dict[str, Any]:
        """Return all settings but what is wanted."""
        return {name: getattr(self, name) for name in SETTINGS}

    def clone(self) -> "Calibrator":
        """Return a new calibrator with the same settings that has seen nothing."""
        return Calibrator(self.wanted, **self.settings())

    def peek(self, forecast: Any = None, *, groups: Iterable[Hashable] = ()) -> Forecast:
        """Return what `predict` would return; nothing changes."""
        with self._lock:
            numbers, given = tuple(sorted(self._named(groups).values())), self._given(forecast)
            before = [stream.engine.state for stream in self._streams]
            try:
                for stream, state in zip(self._streams, before, strict=True):
                    stream.engine.state = state.copy()
                return self._look(given, numbers)[0]
            finally:
                for stream, state in zip(self._streams, before, strict=True):
                    stream.engine.state = state

    def predict(self, forecast: Any = None, *, groups: Iterable[Hashable] = ()) -> Forecast:
        """Open a forecast.

        Parameters
        ----------
        forecast : float or belief, optional
            What the user's own model says: a number (of the property that is wanted), or a belief
            about the outcome (`trueup.beliefs`, or any object with `cdf`).
        groups : iterable of hashables
            The groups that this round belongs to; each keeps a guarantee of its own.
        """
        with self._lock:
            named, given = self._named(groups), self._given(forecast)
            self._groups |= {name: number for name, number in named.items() if number}
            said, raw, anchor, moved = self._look(given, tuple(sorted(named.values())))
            slips = tuple(s.open() if s.ranged else -2 for s in self._streams)
            for stream in self._streams:
                stream.z[kernels.UNGUARDED] += 0.0 if stream.ranged else 1.0
            memos = tuple(stream.memo.copy() for stream in self._streams)
            self._order.open(moved)
            self._open[said.id] = Open(slips, raw, anchor, memos, moved)
            self._issued += 1
            if said.overruled:
                self._note_overruled([(said.id, _first(said.label))])
            if self.max_open is not None and len(self._open) > self.max_open:
                self._give_up()  # only now: the mixture was chosen for the stakes as they were
            return said

    def update(
        self,
        outcome: float | None = None,
        *,
        forecast: "Forecast | int | None" = None,
        loss: Loss | None = None,
        weight: float | None = None,
    ) -> None:
        """Learn the outcome of an open forecast: of the only one, or of the one named.

        None and NaN say that the outcome will not come: nothing is learned.

        Parameters
        ----------
        outcome : float or None
        forecast : Forecast or its id, optional
        loss : optional
            For a `Decision`: the convex loss itself, in the user's units, instead of an outcome.
        weight : float, optional
            How much the round counts: above 0 and at most `max_weight` (which it is by default).
        """
        with self._lock:
            number = self._which(forecast)
            share = self._share(weight)
            plain_float = type(outcome) is float
            missing = math.isnan(outcome) if plain_float else is_missing(outcome)  # type: ignore[arg-type]
            if loss is None and missing:
                self._close(number, None)
                return
            if loss is not None and not missing:
                raise InvalidArgument("update takes an outcome or a loss, got both.")
            value = None if loss is not None else self._checked(outcome)
            entry = self._open[number]
            learned = [
                stream.check(entry.slips[k], entry.anchor, entry.said[k], value, loss, share)
                for k, stream in enumerate(self._streams)
            ]
            self._close(number, learned, share)

    def skip(self, forecast: "Forecast | int | None" = None) -> None:
        """Close an open forecast whose outcome will not come."""
        with self._lock:
            self._close(self._which(forecast), None)

    def to_bytes(self) -> bytes:
        """Return everything that the continuation needs, open forecasts included."""
        from trueup.calibrator._storage import to_bytes  # noqa: PLC0415 - it builds calibrators

        return to_bytes(self)

    @classmethod
    def from_bytes(cls, data: bytes, wanted: Target | None = None, **settings: Any) -> "Calibrator":
        """Return the calibrator of `to_bytes`; what is given beside must be what was stored."""
        from trueup.calibrator._storage import from_bytes  # noqa: PLC0415

        return from_bytes(data, wanted, **settings)

    def save(self, path: Any) -> None:
        """Write everything to a file: a crash leaves the old file or the new one, whole."""
        from trueup.calibrator._storage import save  # noqa: PLC0415

        save(self, path)

    @classmethod
    def load(cls, path: Any, wanted: Target | None = None, **settings: Any) -> "Calibrator":
        """Return the calibrator of a file; what is given beside must be what was stored."""
        from trueup.calibrator._storage import load  # noqa: PLC0415

        return load(path, wanted, **settings)

    def __getstate__(self) -> bytes:
        return self.to_bytes()

    def __setstate__(self, data: bytes) -> None:
        self.__dict__.update(Calibrator.from_bytes(data).__dict__)

    def reset(self) -> None:
        """Forget all evidence and past errors, as at a known break; the range is kept."""
        with self._lock:
            for stream in self._streams:
                stream.engine.forget()
                stream.z[kernels.ERRORS] = stream.z[kernels.HEAD] = 0.0
            self._order.forget()

    def report(self) -> Report:
        """Return how it has gone so far."""
        with self._lock:
            return report_of(self)

    def bins(self) -> tuple[Bins, ...]:
        """Return the bins that have been drawn, for each number that is wanted.

        >>> from trueup import Median
        >>> calibrator = Calibrator(Median(), bounds=(0, 8))
        >>> calibrator.update(3.0, forecast=calibrator.predict(3.0))
        >>> calibrator.bins()[0].visits
        array([1.])
        """
        with self._lock:
            return bins_of(self)

    def certificate(self, group: Hashable | None = None) -> float:
        """Return what swap regret by label is at most so far, in the user's units of loss.

        For several numbers it is that of their sum.
        """
        with self._lock:
            known = isinstance(group, Hashable) and group in self._groups
            number = 0 if group is None else self._groups[group] if known else -1
            if number < 0:
                raise InvalidArgument(f"There is no group {group!r}.")
            total = sum(
                unit_of(s) * s.engine.certificate(number) + more
                for s, more in zip(self._streams, self._order.counts[:, 0].tolist(), strict=True)
            )
            return float(total * self.max_weight)

    def group_report(self) -> dict[Hashable, tuple[int, float]]:
        """Return the settled rounds of each group and its certificate."""
        with self._lock:
            return {
                name: (
                    int(self._streams[0].engine.visited(number)[2][:, 0].sum()),
                    self.certificate(name),
                )
                for name, number in self._groups.items()
            }

    def evidence(self, most: int = 10) -> tuple[Evidence, ...]:
        """Return the bins against which evidence is strongest, the strongest first.

        It is on this that forecasts are overruled: the guard mixes so that money against bins
        cannot grow, whatever comes.

        >>> from trueup import Median
        >>> calibrator = Calibrator(Median(), bounds=(0, 8))
        >>> for _ in range(50):
        ...     forecast = calibrator.predict(2.0)
        ...     calibrator.update(6.0)
        >>> [one.outcomes for one in calibrator.evidence(1)]
        ['higher']
        """
        with self._lock:
            return evidence_of(self, check.integer("most", most, at_least=1))

    @property
    def open(self) -> tuple[int, ...]:
        """The ids of all open forecasts, oldest first."""
        return tuple(self._open)

    def _given(self, forecast: Any) -> tuple[float, Any, float | None]:
        """Return the user's number as streams want it, the law of a belief, the number itself."""
        if forecast is None:
            return NOTHING, None, None
        if _is_number(forecast):
            raw = sized("forecast", check.finite("forecast", forecast))
            into = self._transform
            return raw if into is None else into.into("forecast", raw), None, raw
        if isinstance(forecast, str | bytes | bool):
            raise check.refuse("forecast", "a number, a belief or None", forecast)
        low, width = self._streams[0].range
        return NOTHING, nodes_of(forecast, low, width, self._transform), None

    def _look(
        self, given: tuple[float, Any, float | None], numbers: tuple[int, ...]
    ) -> tuple[Forecast, tuple[float, ...], float, Moved | None]:
        """Return a forecast, what each stream says by itself, the user's own number, the moves."""
        anchor, law, raw = given
        parts = [stream.ask(anchor, numbers, law) for stream in self._streams]
        own = [part.value for part in parts]
        moved = self._order.ask(own, self._waiting())
        values = own if moved is None else moved.issued.tolist()
        return self._issue(parts, values, raw, anchor), tuple(own), anchor, moved

    def _note_overruled(self, rounds: list[tuple[int, float]]) -> None:
        self._overruled = (self._overruled + rounds)[-NAMED:]

    def _shown(self, value: float) -> float:
        """Return a number of the streams' scale in the user's units."""
        return value if self._transform is None else self._transform.back(value)

    def _waiting(self) -> Iterator[Moved | None]:
        return (entry.moved for entry in self._open.values())

    def _issue(
        self, parts: list[Said], values: list[float], raw: float | None, anchor: float
    ) -> Forecast:
        """Return what the streams say and what is issued, in the user's units."""

        def back(value: float) -> float:
            if self._transform is None:
                return value
            return raw if raw is not None and value == anchor else self._transform.back(value)

        def each(column: list[Any]) -> Any:
            return tuple(column) if len(parts) > 1 else column[0]

        if isinstance(self.wanted, Probability):
            values = [min(max(value, 0.0), 1.0) for value in values]
        if len(parts) == 1 and self._transform is None:  # the same, without detours
            part = parts[0]
            return Forecast(
                self._issued, shaped(self.wanted, values), part.label, part.scale, part.support,
                part.probabilities, raw, part.overruled, part.guarded,
            )  # fmt: skip
        return Forecast(
            self._issued,
            shaped(self.wanted, [back(value) for value in values]),
            each([self._shown(part.label) for part in parts]),
            each([part.scale for part in parts]),
            each([tuple([self._shown(b) for b in part.support]) for part in parts]),
            each([part.probabilities for part in parts]),
            raw,
            any(part.overruled for part in parts),
            parts[0].guarded,
        )

    def _close(self, number: int, learned: list[Any] | None, share: float = 1.0) -> None:
        """Close an open forecast with what each stream has to learn, or None."""
        entry = self._open.pop(number)
        slip, engine = entry.slips[0], self._streams[0].engine
        counts = bool(slip >= 0 and kernels.is_valid(engine.state.i, slip))
        parts = zip(self._streams, entry.slips, entry.said, entry.memos, strict=True)
        for k, (stream, slip, said, memo) in enumerate(parts):
            if learned is None:
                stream.skip(slip)
            else:
                stream.tell(slip, entry.anchor, said, learned[k], memo, share)
        if learned is not None and entry.moved is not None:
            own = not math.isnan(entry.anchor)
            self._order.tell(entry.moved, entry.said, learned[0], share, certified=counts, own=own)

    def _checked(self, outcome: Any) -> float:
        value = sized("outcome", check.finite("outcome", outcome))
        if isinstance(self.wanted, Probability) and value not in (0.0, 1.0):
            raise check.refuse("outcome", "0 or 1", value)
        if self.strict and self.bounds is not None:
            low, high = _bounds(self.bounds)
            if not low <= value <= high:
                raise check.refuse("outcome", f"inside the bounds [{low}, {high}]", value)
        return value if self._transform is None else self._transform.into("outcome", value)

    def _share(self, weight: float | None) -> float:
        """Return what a round weighs, at most 1."""
        if weight is None:
            return 1.0
        share = check.positive("weight", weight) / self.max_weight
        if share > 1:
            raise check.refuse("weight", f"at most max_weight={self.max_weight}", weight)
        return share

    def _which(self, forecast: "Forecast | int | None") -> int:
        """Return the id of the open forecast that is meant."""
        if forecast is None:
            if len(self._open) != 1:
                raise UnknownForecast(
                    f"Exactly one forecast must be open, or name one: {len(self._open)} are open."
                )
            return next(iter(self._open))
        number = forecast.id if isinstance(forecast, Forecast) else forecast
        if isinstance(number, bool) or not isinstance(number, int | np.integer):
            raise UnknownForecast(f"There is no forecast {number!r}.")
        number = int(number)
        if number in self._open:
            return number
        if number in self._expired:
            raise UnknownForecast(f"Forecast {number} has expired: more than max_open were open.")
        if 0 <= number < self._issued:
            raise UnknownForecast(f"Forecast {number} has been answered already.")
        raise UnknownForecast(f"There is no forecast {number!r}.")

    def _give_up(self) -> None:
        oldest = next(iter(self._open))
        self._close(oldest, None)
        self._expired[oldest] = None
        if len(self._expired) > REMEMBERED:
            del self._expired[next(iter(self._expired))]
        self._given_up += 1

    def _named(self, groups: Iterable[Hashable]) -> dict[Hashable, int]:
        """Return the groups of a round with their numbers: 0 is all rounds, always."""
        if isinstance(groups, tuple) and not groups:
            return {None: 0}
        if isinstance(groups, str | bytes):
            raise check.refuse("groups", "a collection of names", groups)
        try:
            names = list(dict.fromkeys(groups))
        except TypeError:
            raise check.refuse("groups", "a collection of names", groups) from None
        if len(names) >= kernels.MOST_GROUPS:
            raise check.refuse("groups", f"fewer than {kernels.MOST_GROUPS} a round", len(names))
        if any(is_missing(name) for name in names):
            raise check.refuse("groups", "names that are not missing", names)
        new = [name for name in names if name not in self._groups]
        if len(self._groups) + len(new) > self.max_groups:
            raise InvalidArgument(f"max_groups={self.max_groups} groups exist already.")
        numbers = {None: 0} | {name: self._groups[name] for name in names if name not in new}
        return numbers | {name: len(self._groups) + k for k, name in enumerate(new, start=1)}


def _is_number(forecast: Any) -> bool:
    if type(forecast) is float:
        return True
    return isinstance(forecast, int | float | np.number | Real | Decimal) and not isinstance(
        forecast, bool
    )


def _first(label: Any) -> float:
    return float(label[0] if isinstance(label, tuple) else label)


def _bounds(bounds: Any) -> tuple[float, float]:
    try:
        low, high = bounds
    except (TypeError, ValueError):
        raise check.refuse("bounds", "a pair (low, high)", bounds) from None
    low, high = (
        sized(name, check.finite(name, end))
        for name, end in (("low bound", low), ("high bound", high))
    )
    if low >= high:
        raise InvalidArgument(f"bounds must be increasing, got ({low}, {high}).")
    return low, high
