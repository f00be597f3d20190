"""The numbers that a target consists of, and what is summed of each round, in the user's units.

For every number and every round with a forecast p and an outcome y, eight sums are enough for all
figures:

| column | what is added |
|---|---|
| ROUNDS | 1 |
| SAID | p |
| SEEN | y |
| SLOPE | 1[y <= p] for a quantile; p - y; the derivative of the asymmetric square |
| SQUARE | its square |
| TIED | 1 where y = p (quantiles alone: then both p and y count as right) |
| CHANCE | p (1 - p) for probabilities, else 0 |
| LOSS | the property's loss |
"""

from typing import Any, NamedTuple

import numpy as np

from trueup import _validation as check
from trueup.calibrator import Interval, Probability, Quantiles
from trueup.properties import Expectile, Mean, Median, Quantile
from trueup.protocols import FloatArray, Property

ROUNDS, SAID, SEEN, SLOPE, SQUARE, TIED, CHANCE, LOSS = range(8)
COLUMNS = 8
TARGETS = Mean | Median | Quantile | Expectile | Interval | Quantiles | Probability


LOSS_NAMES = {
    Mean: "squared error",
    Median: "absolute error",
    Quantile: "pinball loss",
    Expectile: "asymmetric squared error",
}


class Number(NamedTuple):
    """One of the numbers that are forecast."""

    name: str  # "90 % quantile"
    wanted: Property
    level: float | None  # of a quantile: the wanted share of outcomes below
    chance: bool  # a probability, of outcomes 0 and 1

    @property
    def power(self) -> int:
        """Which power of the outcomes' unit the loss is in."""
        return 1 if self.level is not None else 2

    @property
    def compares_means(self) -> bool:
        """Whether forecasts are right if they are the mean of their outcomes."""
        return isinstance(self.wanted, Mean)

    @property
    def loss_name(self) -> str:
        """What the loss is called."""
        if self.chance:
            return "Brier score"
        return LOSS_NAMES[type(self.wanted)]

    def steepest(self, span: float) -> float:
        """Return the largest slope of the loss over a range, times the range."""
        if self.level is not None:
            return span * (
                1.0 if isinstance(self.wanted, Median) else max(self.level, 1 - self.level)
            )
        weight = (
            max(self.wanted.level, 1 - self.wanted.level)
            if isinstance(self.wanted, Expectile)
            else 1.0
        )
        return 2 * weight * span**2


def numbers_of(wanted: Any) -> tuple[Number, ...]:
    """Return the numbers that a target consists of.

    >>> [number.name for number in numbers_of(Interval(0.9))]
    ['5 % quantile', '95 % quantile']
    """
    check.instance(
        "wanted",
        wanted,
        TARGETS,
        "Mean(), Median(), Quantile(level), Expectile(level), Interval(coverage),"
        " Quantiles(levels) or Probability()",
    )
    if isinstance(wanted, Interval | Quantiles):
        return tuple(_one(Quantile(level)) for level in wanted.levels)
    return (_one(wanted),)


def _one(wanted: Any) -> Number:
    if isinstance(wanted, Probability):
        return Number("probability", Mean(), None, chance=True)
    if isinstance(wanted, Median):
        return Number("median", wanted, 0.5, chance=False)
    if isinstance(wanted, Quantile):
        return Number(f"{percent(wanted.level)} quantile", wanted, wanted.level, chance=False)
    if isinstance(wanted, Expectile):
        return Number(f"{percent(wanted.level)} expectile", wanted, None, chance=False)
    return Number("mean", wanted, None, chance=False)


def percent(share: float, digits: int = 6) -> str:
    """Return a share as text, with no more digits than it needs.

    >>> percent(0.9), percent(0.025), percent(0.12345, 1)
    ('90 %', '2.5 %', '12.3 %')
    """
    return f"{round(100 * share, digits):.{digits}f}".rstrip("0").rstrip(".") + " %"


def plain(value: float) -> str:
    """Return a number as text with four digits, whole from a thousand on.

    >>> plain(0.123456), plain(25951.7), plain(-1237012.0)
    ('0.1235', '25,952', '-1,237,012')
    """
    return f"{value:,.0f}" if 1e3 <= abs(value) < 1e12 else f"{value:.4g}"


def sums_of(number: Number, said: FloatArray, seen: FloatArray) -> FloatArray:
    """Return what each round adds to the eight sums, shape (n, 8): nothing where one is missing."""
    known = ~(np.isnan(said) | np.isnan(seen))
    rows = np.zeros((said.size, COLUMNS))
    p, y = said[known], seen[known]
    slope, loss = _slope_and_loss(number, p, y)
    tied = (y == p) if number.level is not None else np.zeros(p.size)
    chance = p * (1 - p) if number.chance else np.zeros(p.size)
    rows[known] = np.column_stack([np.ones(p.size), p, y, slope, slope**2, tied, chance, loss])
    return rows


def errors_of(number: Number, rows: FloatArray) -> FloatArray:
    """Return the identification of each round from its sums; 0 where something is missing."""
    return np.asarray(rows[:, SLOPE] - (number.level or 0.0) * rows[:, ROUNDS])


def _slope_and_loss(number: Number, p: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    if number.level is not None:
        unit = 2.0 if isinstance(number.wanted, Median) else 1.0
        error = y - p
        loss = unit * np.maximum(number.level * error, (number.level - 1) * error)
        return (y <= p).astype(float), loss
    if isinstance(number.wanted, Expectile):
        weight = np.where(y > p, number.wanted.level, 1 - number.wanted.level)
        return 2 * weight * (p - y), weight * (p - y) ** 2
    return p - y, (p - y) ** 2
