"""What a calibrator can be asked for, and the streams of single numbers that this takes.

| asked for | numbers | outcomes |
|---|---|---|
| `Mean`, `Median`, `Quantile`, `Expectile` | one | any |
| `Interval(coverage)` | two quantiles, or one for a one-sided one | any |
| `Quantiles(levels)` | one a level, never crossing | any |
| `Probability()` | the chance of yes | 0 or 1 |
| `Decision(cost)` | the decision of least cost | any |
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from trueup import _validation as check
from trueup._kernels import _engine as kernels
from trueup.calibrator._stream import Template
from trueup.errors import InvalidArgument
from trueup.losses import Convex
from trueup.properties import Expectile, Mean, Median, Quantile

SIDES = ("both", "lower", "upper")
STEP = 1e-5  # of the range, over which differences of a cost are taken
PROBED = 64  # outcomes that are tried to find the steepest slope


class Ends(NamedTuple):
    """The ends of an interval; an open side is infinite."""

    lower: float
    upper: float


class Levels(NamedTuple):
    """Quantiles of several levels, none below one of a lower level."""

    levels: tuple[float, ...]
    values: tuple[float, ...]


@dataclass(frozen=True)
class Interval:
    """An interval that contains the outcome with the given probability.

    With `side="both"` it is between two quantiles that leave half the rest outside each;
    "lower" gives only a lower end, "upper" only an upper one.

    >>> Interval(0.9).levels
    (0.05, 0.95)
    """

    coverage: float
    side: str = "both"

    def __post_init__(self) -> None:
        object.__setattr__(self, "coverage", check.open_unit("coverage", self.coverage))
        if self.side not in SIDES:
            raise check.refuse("side", "'both', 'lower' or 'upper'", self.side)
        if not all(0 < level < 1 for level in self.levels):
            raise check.refuse("coverage", "farther away from 0 and 1", self.coverage)

    @property
    def levels(self) -> tuple[float, ...]:
        """The levels of the quantiles at its ends."""
        rest = round(1 - self.coverage, 12)
        both = (round(rest / 2, 12), round(1 - rest / 2, 12))
        return {"both": both, "lower": (rest,), "upper": (self.coverage,)}[self.side]


@dataclass(frozen=True, init=False)
class Quantiles:
    """Several quantiles at once, which never cross in what is issued.

    >>> Quantiles([0.1, 0.5, 0.9]).levels
    (0.1, 0.5, 0.9)
    """

    levels: tuple[float, ...]

    def __init__(self, levels: Sequence[float]) -> None:
        if isinstance(levels, str | bytes) or not np.iterable(levels):
            raise check.refuse("levels", "one or more, strictly increasing", levels)
        checked = tuple(check.open_unit("level", level) for level in levels)
        if not checked or any(a >= b for a, b in pairwise(checked)):
            raise check.refuse("levels", "one or more, strictly increasing", list(levels))
        object.__setattr__(self, "levels", checked)


@dataclass(frozen=True)
class Probability:
    """The probability that the outcome is 1, for outcomes that are 0 or 1."""


@dataclass(frozen=True)
class Decision:
    """The number whose cost is least, for any cost that is convex in it.

    Parameters
    ----------
    cost : function of (decision, outcome), optional
        What a decision costs once the outcome is known, in the user's units. Without it every
        `update` needs a loss.
    slopes : function of (decision, outcome), optional
        The one-sided slopes (left, right) of the cost in the decision, or one number where they
        agree; differences of the cost are taken without.
    lipschitz : float, optional
        A bound on the size of every slope; without it the steepest at either end of the bounds.

    Examples
    --------
    >>> def newsvendor(stock, demand):    # 4 for each one missing, 1 for each one left over
    ...     return 4.0 * max(demand - stock, 0.0) + 1.0 * max(stock - demand, 0.0)
    >>> Decision(newsvendor, lipschitz=4.0).loss(0.5, 0.0, 1.0).value(1.0)
    0.5
    """

    cost: Callable[[float, float], float] | None = None
    slopes: Callable[[float, float], Any] | None = None
    lipschitz: float | None = None

    def __post_init__(self) -> None:
        for name in ("cost", "slopes"):
            if getattr(self, name) is not None and not callable(getattr(self, name)):
                raise check.refuse(name, "a function of (decision, outcome)", getattr(self, name))
        if self.lipschitz is not None:
            object.__setattr__(self, "lipschitz", check.positive("lipschitz", self.lipschitz))
        elif self.cost is None:
            raise InvalidArgument("lipschitz must be given for a Decision without a cost.")

    def steepest(self, low: float, width: float) -> float:
        """Return the bound on slopes, in the user's units."""
        if self.lipschitz is not None:
            return self.lipschitz
        ends = (low, low + width)
        outcomes = [low + width * k / PROBED for k in range(PROBED + 1)]
        sizes = [abs(s) for end in ends for y in outcomes for s in self._both(end, y, low, width)]
        return float(max(*sizes, 1e-300)) * (1 + 1e-6)

    def loss(
        self, outcome: float, low: float, width: float, steepest: float | None = None
    ) -> Convex:
        """Return the cost of an outcome as a loss on [0, 1], the range being [low, low + width]."""
        cost, most = self.cost, steepest or self.steepest(low, width)
        if cost is None:
            raise InvalidArgument("update needs a loss: this Decision has no cost.")

        def slopes(x: float) -> tuple[float, float]:
            left, right = self._both(low + width * x, outcome, low, width)
            return width * left, width * right

        return Convex(
            lambda x: cost(low + width * x, outcome),
            slopes,
            lipschitz=most * width,
        )

    def _both(self, decision: float, outcome: float, low: float, width: float) -> Any:
        """Return the one-sided slopes; at an end of the range, twice the one inside."""
        if self.slopes is not None:
            answer = self.slopes(decision, outcome)
            return answer if isinstance(answer, tuple) else (answer, answer)
        step, cost = STEP * width, self.cost
        here = check.finite("cost", cost(decision, outcome))  # type: ignore[misc]
        left, right = None, None
        if decision - step >= low:
            left = (here - check.finite("cost", cost(decision - step, outcome))) / step  # type: ignore[misc]
        if decision + step <= low + width:
            right = (check.finite("cost", cost(decision + step, outcome)) - here) / step  # type: ignore[misc]
        return (right if left is None else left, left if right is None else right)


Target = Mean | Median | Quantile | Expectile | Interval | Quantiles | Probability | Decision


def templates_of(wanted: Target) -> tuple[Template, ...]:
    """Return the losses of the streams that a target takes."""
    if isinstance(wanted, Interval | Quantiles):
        return tuple(_pinball(level) for level in wanted.levels)
    if isinstance(wanted, Quantile):
        return (_pinball(wanted.level),)
    if isinstance(wanted, Median):
        return (Template(kernels.POINTED, 1.0, -1.0, 1.0),)
    if isinstance(wanted, Mean | Probability):
        return (Template(kernels.SQUARED, 2.0, 1.0, 1.0),)
    if isinstance(wanted, Expectile):
        a = wanted.level
        return (Template(kernels.SQUARED, 2 * max(a, 1 - a), a, 1 - a),)
    raise InvalidArgument(
        "wanted must be Mean(), Median(), Quantile(level), Expectile(level), Interval(coverage),"
        f" Quantiles(levels), Probability() or Decision(cost), got {wanted!r}."
    )


def _pinball(level: float) -> Template:
    return Template(kernels.POINTED, max(level, 1 - level), -level, 1 - level)


def shaped(wanted: Target, values: Sequence[float]) -> Any:
    """Return the numbers of a target in the form in which it is issued."""
    if isinstance(wanted, Quantiles):
        return Levels(wanted.levels, tuple(values))
    if isinstance(wanted, Interval):
        if wanted.side == "lower":
            return Ends(values[0], float("inf"))
        if wanted.side == "upper":
            return Ends(float("-inf"), values[0])
        return Ends(values[0], values[1])
    return values[0]
