"""Quantile trackers: the threshold goes up after a miss and down after a hit.

Angelopoulos, Candes and Tibshirani (angelopoulos2023conformal). With alpha = 1 - level and
e_t = 1[s_t > q_t], from p_1 = q_1 = 0:

    eta_1 = rate,   eta_t = rate (max - min of the last `memory` residuals before s_t)
    p_{t+1} = p_t + eta_t (e_t - alpha)
    q_{t+1} = p_{t+1}                              "P", QuantileTracker
    q_{t+1} = p_{t+1} + K tan(x_t)                 "P + I", IntegralTracker
    x_t = E_t ln(t) / (C t),   E_t = sum over i < t of (e_i - alpha)

where K is `gain`, C is `saturation`, and tan is +-inf outside (-pi/2, pi/2). The paper's E_t counts
e_t too (`lagged=False`); its code does not. With a fixed `step`, eta_t is that step.

With steps that fall (angelopoulos2024online), DecayingTracker, from q_1 = s_1:

    q_{t+1} = q_t + eta_t (e_t - alpha),   eta_t = size t^(-power).

As q_1 is only known with s_1, that tracker says 0 before it, and e_1 = 0 in its rule.

Guarantees, for residuals of size at most b and every sequence. A threshold above b is not missed
and one below -b is, so with steps of at most eta_1 thresholds stay in an interval of length 2 b +
eta_1 around all residuals. For one step eta, from q_1 = 0,

    abs(mean of e_t - alpha) <= (b + eta) / (eta T),

and for steps that fall, by summation by parts, (2 b + eta_1) / (eta_T T), and 1 / T for the first
round. These count misses; they say nothing about when they occur.
"""

import math
from collections import deque

from trueup import _validation as check
from trueup.baselines._rival import ThresholdRival, miss_rate

__all__ = [
    "DecayingTracker",
    "IntegralTracker",
    "QuantileTracker",
    "decaying_tracker_bound",
    "tracker_bound",
]


def tracker_bound(rounds: int, *, step: float, largest: float) -> float:
    """Return how far the share of misses may be from 1 - level, for one step of any size.

    `largest` is b: no residual may be larger in size.

    Examples
    --------
    >>> tracker_bound(10_000, step=0.05, largest=1.0)
    0.0021
    """
    rounds = check.integer("rounds", rounds, at_least=1)
    step, largest = check.positive("step", step), check.nonnegative("largest", largest)
    return (largest + step) / (step * rounds)


def decaying_tracker_bound(
    rounds: int, *, largest: float, power: float = 0.6, size: float = 1.0
) -> float:
    """Return how far the share of misses may be from 1 - level, for steps size t^(-power).

    `largest` is b: no residual may be larger in size.

    Examples
    --------
    >>> decaying_tracker_bound(10_000, largest=1.0)
    0.0755
    """
    rounds = check.integer("rounds", rounds, at_least=1)
    power, size = check.unit("power", power), check.positive("size", size)
    width = 2 * check.nonnegative("largest", largest) + size
    return (width / (size * math.pow(rounds, -power)) + 1) / rounds


class SlidingRange:
    """The range of the last few numbers; a number costs constant time, averaged over a run.

    >>> seen = SlidingRange(2)
    >>> for number in (9.0, 1.0, 4.0):
    ...     seen.add(number)
    >>> seen.width()
    3.0
    """

    def __init__(self, memory: int) -> None:
        self._memory, self._added = memory, 0
        self._falling: deque[tuple[int, float]] = deque()  # the first is the largest
        self._rising: deque[tuple[int, float]] = deque()  # the first is the least

    def add(self, number: float) -> None:
        """Add a number and forget what is too old, or can be no extreme any more."""
        while self._falling and self._falling[-1][1] <= number:
            self._falling.pop()
        while self._rising and self._rising[-1][1] >= number:
            self._rising.pop()
        for kept in (self._falling, self._rising):
            kept.append((self._added, number))
            if kept[0][0] <= self._added - self._memory:
                kept.popleft()
        self._added += 1

    def width(self) -> float:
        """Return the largest less the least, of one number or more."""
        (_, largest), (_, least) = self._falling[0], self._rising[0]
        return largest - least


class QuantileTracker(ThresholdRival):
    """The tracker "P" of conformal control: steps in proportion to the recent range of residuals.

    Parameters
    ----------
    level : float
        The share of outcomes that should lie at or below what is said; alpha = 1 - level.
    rate : float
        The step, as a share of the range.
    memory : int
        Over how many of the last residuals the range is taken.
    step : float, optional
        One step for all rounds, in natural units, in place of `rate` and `memory`.

    Examples
    --------
    >>> rival = QuantileTracker(0.9, step=0.5)
    >>> rival.update(3.0)
    >>> rival.predict(), rival.predict(20.0)
    (0.45, 20.45)
    """

    _shown: tuple[str, ...] = ("level", "rate", "memory", "step")

    def __init__(
        self,
        level: float = 0.9,
        *,
        rate: float = 0.1,
        memory: int = 100,
        step: float | None = None,
    ) -> None:
        super().__init__(level)
        self.rate = check.positive("rate", rate)
        self.memory = check.integer("memory", memory, at_least=1)
        self.step = None if step is None else check.positive("step", step)
        self._target = miss_rate(self.level)
        self._range = SlidingRange(self.memory)
        self._tracked = 0.0  # p

    def _learn(self, residual: float) -> None:
        missed = residual > self._threshold
        self._tracked += self._step() * (missed - self._target)
        self._range.add(residual)
        self._threshold = self._tracked + self._correction(missed)

    def _step(self) -> float:
        """Return eta_t, from the residuals before this one."""
        if self.step is not None:
            return self.step
        return self.rate * self._range.width() if self._played else self.rate

    def _correction(self, missed: bool) -> float:  # noqa: FBT001, ARG002 - an indicator
        """Return what is added to p; for P, nothing."""
        return 0.0


class IntegralTracker(QuantileTracker):
    """The tracker "P + I": a correction that grows without limit as misses pile up.

    Parameters
    ----------
    level : float
        The share of outcomes that should lie at or below what is said; alpha = 1 - level.
    rate, memory, step
        As for `QuantileTracker`.
    saturation : float
        C: how many misses too many, over t / ln(t), make the correction infinite: C pi / 2.
    gain : float
        K, in natural units; about the size of the largest residuals.
    lagged : bool
        Whether the sum of misses leaves out the latest one.

    Examples
    --------
    >>> rival = IntegralTracker(0.9, gain=1.0)
    >>> for _ in range(10):
    ...     rival.update(3.0)
    >>> rival.predict()
    0.48
    """

    _shown: tuple[str, ...] = ("level", "rate", "memory", "step", "saturation", "gain", "lagged")

    def __init__(
        self,
        level: float = 0.9,
        *,
        rate: float = 0.1,
        memory: int = 100,
        step: float | None = None,
        saturation: float = 5.0,
        gain: float = 10.0,
        lagged: bool = True,
    ) -> None:
        super().__init__(level, rate=rate, memory=memory, step=step)
        self.saturation = check.positive("saturation", saturation)
        self.gain = check.positive("gain", gain)
        self.lagged = bool(lagged)
        self._misses = 0

    def _correction(self, missed: bool) -> float:  # noqa: FBT001 - an indicator
        round_, counted = self._played + 1, self._misses + (0 if self.lagged else missed)
        over = counted - self._target * (self._played + (0 if self.lagged else 1))  # E_t
        self._misses += missed
        angle = over * math.log(round_) / (self.saturation * round_)
        if abs(angle) >= math.pi / 2:
            return math.copysign(math.inf, angle)
        return self.gain * math.tan(angle)


class DecayingTracker(ThresholdRival):
    """A tracker whose steps fall: it settles where residuals are drawn from one law.

    Parameters
    ----------
    level : float
        The share of outcomes that should lie at or below what is said; alpha = 1 - level.
    power : float
        How fast steps fall; 0 for one step.
    size : float
        The first step, in natural units.

    Examples
    --------
    >>> rival = DecayingTracker(0.9)
    >>> rival.update(3.0)
    >>> rival.predict()
    2.9
    """

    _shown: tuple[str, ...] = ("level", "power", "size")

    def __init__(self, level: float = 0.9, *, power: float = 0.6, size: float = 1.0) -> None:
        super().__init__(level)
        self.power = check.unit("power", power)
        self.size = check.positive("size", size)
        self._target = miss_rate(self.level)

    def _learn(self, residual: float) -> None:
        before = self._threshold if self._played else residual
        step = self.size * (self._played + 1) ** -self.power
        self._threshold = before + step * ((residual > before) - self._target)
