"""What the rivals from practice share: a forecast in, a number out, then the outcome.

The methods people use today do not answer a loss with a mixture on [0, 1]. They take a model's
forecast (or none), say one number in natural units, and learn from the outcome:

    said = rival.predict(forecast)      asking again, or about other forecasts, changes nothing
    rival.update(outcome)               for the forecast asked about last; then the next round

There are two kinds. A `ThresholdRival` keeps a threshold q for the residual s = outcome - forecast
and says forecast + q; without a forecast, the residual is the outcome. (Two-sided intervals: give
it abs(outcome - forecast) as the outcome and no forecast.) A `Recalibrator` turns the probability
of a model into another one.

Where a rule draws, the coin of a round depends on the seed and the round alone. Thresholds may be
infinite where a rule says so. Whatever is refused changes nothing: all checks come first.
"""

import functools
import operator
from abc import ABC, abstractmethod
from collections.abc import Iterable
from fractions import Fraction

from trueup import _validation as check
from trueup.errors import InvalidArgument

LARGEST = 1e150  # the size of a residual: squares and differences of smaller ones are finite
MASK = 2**64 - 1
STREAM = 0x5DEECE66D  # keeps these coins apart from those of other forecasters


class Rival(ABC):
    """A method from practice: `predict` a number, then `update` with the outcome.

    Examples
    --------
    >>> from trueup.baselines import QuantileTracker
    >>> rival = QuantileTracker(0.9)
    >>> isinstance(rival, Rival), rival.predict(20.0)
    (True, 20.0)
    >>> rival.update(23.5)
    >>> rival.played
    1
    """

    _played = 0
    _shown: tuple[str, ...] = ()

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self._shown)
        return f"{type(self).__name__}({shown})"

    @property
    def played(self) -> int:
        """How many outcomes have been learned."""
        return self._played

    @abstractmethod
    def predict(self, forecast: float | None = None) -> float:
        """Return what is said in this round, given a model's forecast; asking changes nothing."""

    @abstractmethod
    def update(self, outcome: float) -> None:
        """Learn the outcome of the forecast asked about last, and go on to the next round."""


class ThresholdRival(Rival):
    """What rivals share that say forecast + q and learn the residual s = outcome - forecast.

    A method keeps `_threshold`, the q of the coming round, and `_learn(residual)` moves it.

    Examples
    --------
    >>> class Latest(ThresholdRival):
    ...     def _learn(self, residual):
    ...         self._threshold = residual
    >>> rival = Latest(0.9)
    >>> rival.update(2.0)
    >>> rival.predict(10.0), rival.threshold
    (12.0, 2.0)
    """

    _shown: tuple[str, ...] = ("level",)

    def __init__(
        self, level: float, *, low: float = -LARGEST, high: float = LARGEST, start: float = 0.0
    ) -> None:
        self.level = check.open_unit("level", level)
        self._low, self._high = low, high
        self._threshold = start
        self._forecast = 0.0

    @property
    def threshold(self) -> float:
        """What is added to the forecast in the coming round: q."""
        return self._threshold

    @abstractmethod
    def _learn(self, residual: float) -> None:
        """Move the threshold, having seen the residual of the round."""

    def predict(self, forecast: float | None = None) -> float:
        """Return forecast + q, or q without a forecast; asking again changes nothing."""
        self._forecast = 0.0 if forecast is None else bounded("forecast", forecast)
        return self._forecast + self.threshold

    def update(self, outcome: float) -> None:
        """Learn the outcome of the forecast asked about last (of none, if none was)."""
        residual = bounded("outcome", outcome) - self._forecast
        if not self._low <= residual <= self._high:
            interval = f"inside the interval [{self._low}, {self._high}]"
            raise check.refuse("outcome - forecast", interval, residual)
        self._learn(residual)
        self._forecast = 0.0
        self._played += 1


class Recalibrator(Rival):
    """What rivals share that turn a model's probability into another one.

    A method answers with `_say(probability)`, without changing anything, and `_learn(probability,
    said, outcome)` is what it makes of the round.

    Examples
    --------
    >>> class Halfway(Recalibrator):
    ...     def _say(self, probability):
    ...         return (probability + 0.5) / 2
    ...     def _learn(self, probability, said, outcome):
    ...         pass
    >>> Halfway().predict(0.9)
    0.7
    """

    _asked: tuple[float, float] | None = None

    @abstractmethod
    def _say(self, probability: float) -> float:
        """Return the recalibrated probability."""

    @abstractmethod
    def _learn(self, probability: float, said: float, outcome: float) -> None:
        """Learn from a round."""

    def predict(self, forecast: float | None = None) -> float:
        """Return the recalibrated probability; asking again changes nothing."""
        probability = check.unit("forecast", forecast)
        said = self._say(probability)
        self._asked = (probability, said)
        return said

    def update(self, outcome: float) -> None:
        """Learn the outcome, of [0, 1], of the probability asked about last."""
        outcome = check.unit("outcome", outcome)
        if self._asked is None:
            raise InvalidArgument("forecast must be given to predict before update, got none.")
        self._learn(*self._asked, outcome)
        self._asked = None
        self._played += 1


def bounded(name: str, value: float) -> float:
    """Return a number that is small enough to be squared."""
    number = check.finite(name, value)
    if not -LARGEST <= number <= LARGEST:
        raise check.refuse(name, f"at most {LARGEST:g} in size", number)
    return number


def added(numbers: Iterable[float]) -> float:
    """Return the sum from left to right: that of `sum` has more digits since Python 3.12.

    >>> added([1e16, 1.0, -1e16])
    0.0
    """
    return functools.reduce(operator.add, numbers, 0.0)


def miss_rate(level: float) -> float:
    """Return alpha = 1 - level, in the digits in which the level was written.

    1 - 0.9 is not 0.1 in floats, and rules such as "more than 1 / alpha residuals" would notice.

    >>> 1 - 0.9, miss_rate(0.9)
    (0.09999999999999998, 0.1)
    """
    return float(1 - Fraction(repr(level)))


def coin(seed: int, number: int) -> float:
    """Return a number of [0, 1) fixed by the seed and the round, by two steps of SplitMix64.

    >>> coin(1, 0) == coin(1, 0) != coin(1, 1)
    True
    """
    mixed = _mixed(_mixed(seed + STREAM) + 0x9E3779B97F4A7C15 * (number + 1))
    return (mixed >> 11) / 2**53


def _mixed(bits: int) -> int:
    """The finaliser of SplitMix64 (steele2014fast): a bijection of 64 bits that scatters them."""
    bits &= MASK
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB & MASK
    return bits ^ (bits >> 31)


def pinball(level: float, outcome: float, forecast: float) -> float:
    """Return l_c(y, q) = max(c (y - q), (1 - c) (q - y)).

    >>> pinball(0.75, 1.0, 3.0), pinball(0.75, 3.0, 1.0)
    (0.5, 1.5)
    """
    above = outcome - forecast
    return level * above if above >= 0 else (level - 1) * above
