"""Scale-free gradient descent on the pinball loss, and many of them with limited lives.

Both of Bhatnagar, Wang, Xiong and Bai (bhatnagar2023improved); the first is the gradient descent
of Orabona and Pal (orabona2018scale). With c = level, l_c the pinball loss and its slope

    g_c(s, q) = 1 - c if s < q,   -c if s > q,   0 if s = q,

SFOGD keeps one threshold, from q = G = 0, with D = `scale`:

    G <- G + g^2,   q <- max(0, q - (D / sqrt(3)) g / sqrt(G))      (if G > 0; g = g_c(s_t, q)).

SAOCP keeps one such learner i for every round i in which it was born, with its own q_i and G_i,
for L_i = 8 * 2^u rounds, where 2^u is the largest power of two that divides i. Its weight w_i
comes from betting on being better than the mixture:

    mix(A) = sum over A of p_i q_i,   p_i proportional to pi_i max(0, w_i), or to pi_i if all are 0
    pi_i = 1 / (i^2 (1 + floor(log2 i)))
    round t:  say q = mix(A), 0 if A is empty
              those older than their L_i leave A; learner t enters with q_t = q and w_t = 0
              m = l_c(s_t, mix(A))
              r_i = (m - l_c(s_t, q_i)) / (D max(c, 1 - c)), clipped to [-1[w_i > 0], 1]
              z_i <- z_i + r_i,   Z_i <- Z_i + r_i w_i,   n_i <- n_i + 1
              w_i <- (z_i / n_i) (1 + Z_i),   then q_i takes its step.

Ties. A learner just born has the mixture's own loss, so its r is 0, and in floats perhaps 1e-17;
the sign would decide whether it counts in the next round. abs(r) < 1e-12 is read as 0.

Scale. D should be about the largest residual (`gradient_scale` takes it from residuals seen
before). One much too small covers too little and one much too large, for SAOCP, too much: neither
says so.

Thresholds start at 0 and stay at or above `floor`, for residuals that are distances. For residuals
of either sign use floor=-math.inf.
"""

import math
from collections.abc import Sequence
from typing import Any

from trueup import _validation as check
from trueup.baselines._rival import ThresholdRival, added, miss_rate, pinball

__all__ = ["SAOCP", "SFOGD", "gradient_scale"]

TIE = 1e-12


def gradient_scale(residuals: Sequence[float] | Any) -> float:
    """Return D = sqrt(3) times the largest residual seen before, in size; 1 if there is none but 0.

    Examples
    --------
    >>> gradient_scale([0.5, -2.0, 1.0]), gradient_scale([])
    (3.46, 1.0)
    """
    sizes = abs(check.vector("residuals", residuals))
    return math.sqrt(3) * float(sizes.max(initial=0.0)) or 1.0


def slope(target: float, residual: float, threshold: float) -> float:
    """Return g_c(s, q), given 1 - c.

    >>> slope(0.25, 1.0, 2.0), slope(0.25, 2.0, 1.0), slope(0.25, 1.0, 1.0)
    (0.25, -0.75, 0.0)
    """
    return target if residual < threshold else target - 1 if residual > threshold else 0.0


def stepped(threshold: float, gradient: float, squares: float, pace: float, floor: float) -> float:
    """Return q after a step; `pace` is D / sqrt(3), `squares` is G with this g.

    >>> stepped(1.0, -0.5, 0.25, 2.0, 0.0), stepped(1.0, 0.5, 0.25, 2.0, 0.0)
    (3.0, 0.0)
    """
    return max(floor, threshold - pace * gradient / math.sqrt(squares)) if squares else threshold


def _floor(value: float) -> float:
    """Minus infinity, or a number of at most 0, where thresholds start."""
    floor = value if value == -math.inf else check.finite("floor", value)
    if floor > 0:
        raise check.refuse("floor", "0 or less", floor)
    return floor


class SFOGD(ThresholdRival):
    """Scale-free online gradient descent on the pinball loss.

    Parameters
    ----------
    level : float
        The share of outcomes that should lie at or below what is said.
    scale : float
        D, about the largest residual.
    floor : float
        Thresholds are not below it; 0 or less.

    Examples
    --------
    >>> rival = SFOGD(0.9, scale=3.0)
    >>> rival.update(5.0)
    >>> rival.predict(), rival.predict(10.0)
    (1.73, 11.73)
    """

    _shown: tuple[str, ...] = ("level", "scale", "floor")

    def __init__(self, level: float = 0.9, *, scale: float = 1.0, floor: float = 0.0) -> None:
        super().__init__(level)
        self.scale, self.floor = check.positive("scale", scale), _floor(floor)
        self._target = miss_rate(self.level)
        self._squares = 0.0  # G

    def _learn(self, residual: float) -> None:
        gradient = slope(self._target, residual, self._threshold)
        self._squares += gradient * gradient
        pace = self.scale / math.sqrt(3)
        self._threshold = stepped(self._threshold, gradient, self._squares, pace, self.floor)


class Learner:
    """One of SAOCP's gradient descents, its age and its wealth."""

    __slots__ = ("age", "gained", "life", "prior", "squares", "threshold", "wagered", "weight")

    def __init__(self, born: int, threshold: float, lifetime: int) -> None:
        self.threshold = threshold  # q_i
        self.prior = 1 / (born * born * born.bit_length())  # pi_i; 1 + floor(log2 i) bits
        self.life = lifetime * (born & -born)  # L_i
        self.age = 0  # n_i
        self.gained = self.wagered = self.weight = self.squares = 0.0  # z_i, Z_i, w_i, G_i


def mixture(learners: Sequence[Learner]) -> float:
    """Return mix(A), of one learner or more."""
    masses = [x.prior * x.weight if x.weight > 0 else 0.0 for x in learners]
    total = added(masses)
    if total <= 0:
        masses = [x.prior for x in learners]
        total = added(masses)
    return added(m * x.threshold for m, x in zip(masses, learners, strict=True)) / total


class SAOCP(ThresholdRival):
    """Strongly adaptive online conformal prediction: learners of many ages, weighted by wealth.

    Parameters
    ----------
    level : float
        The share of outcomes that should lie at or below what is said.
    scale : float
        D, about the largest residual.
    lifetime : int
        For how many rounds a learner born in an odd round lives.
    floor : float
        Thresholds are not below it; 0 or less.

    Examples
    --------
    >>> rival = SAOCP(0.9, scale=3.0)
    >>> for outcome in (5.0, 4.0, 5.0):
    ...     rival.update(outcome)
    >>> rival.predict(), rival.predict(10.0)
    (4.69, 14.69)
    """

    _shown: tuple[str, ...] = ("level", "scale", "lifetime", "floor")

    def __init__(
        self, level: float = 0.9, *, scale: float = 1.0, lifetime: int = 8, floor: float = 0.0
    ) -> None:
        super().__init__(level)
        self.scale, self.floor = check.positive("scale", scale), _floor(floor)
        self.lifetime = check.integer("lifetime", lifetime, at_least=1)
        self._target = miss_rate(self.level)
        self._unit = self.scale * max(self.level, 1 - self.level)
        self._pace = self.scale / math.sqrt(3)
        self._learners: list[Learner] = []

    def _learn(self, residual: float) -> None:
        alive = [learner for learner in self._learners if learner.age <= learner.life]
        alive.append(Learner(self._played + 1, self._threshold, self.lifetime))
        met = pinball(self.level, residual, mixture(alive))
        for learner in alive:
            self._move(learner, residual, met)
        self._learners = alive
        self._threshold = mixture(alive)

    def _move(self, learner: Learner, residual: float, met: float) -> None:
        """Pay a learner what it was better than the mixture, and let it take its step."""
        better = (met - pinball(self.level, residual, learner.threshold)) / self._unit  # r
        better = 0.0 if abs(better) < TIE else min(better, 1.0)
        better = max(better, -1.0 if learner.weight > 0 else 0.0)
        learner.gained += better
        learner.wagered += better * learner.weight
        learner.age += 1
        learner.weight = learner.gained / learner.age * (1 + learner.wagered)
        gradient = slope(self._target, residual, learner.threshold)
        learner.squares += gradient * gradient
        learner.threshold = stepped(
            learner.threshold, gradient, learner.squares, self._pace, self.floor
        )
