"""Online Platt scaling: logistic regression of the outcome on a model's log odds, step by step.

Gupta and Ramdas (gupta2023online), by the online Newton step of Hazan, Agarwal and Kale
(hazan2007logarithmic). From a probability p, clipped to [1e-5, 1 - 1e-5], with z = (ln(p / (1 -
p)), 1):

    say sigma(theta . z),   sigma(x) = 1 / (1 + exp(-x)),   theta_1 = (0, 0),   A_1 = (beta D)^2 I
    g = (said - outcome) z
    A <- A - (A g)(A g)' / (1 + g' A g)
    theta <- theta - A g / beta, and back to norm(theta) <= radius in the metric of A^-1

where beta is `rate` and D is `diameter`. A is the inverse of the sum of g g', so that steps shrink
by themselves. Outcomes between 0 and 1 are learned like mixtures of both.

The way back: the nearest theta' has (I + lam A) theta' = theta with the lam >= 0 that puts it on
the circle; in the eigenvectors of A that is one equation for lam, solved by bisection.
"""

import math

from trueup import _validation as check
from trueup.baselines._rival import Recalibrator

__all__ = ["OnlinePlatt"]

CLIP = 1e-5


def log_odds(probability: float) -> float:
    """Return ln(p / (1 - p)), clipped.

    >>> log_odds(0.5), log_odds(0.0)
    (0.0, -11.51)
    """
    inside = min(max(probability, CLIP), 1 - CLIP)
    return math.log(inside / (1 - inside))


def sigmoid(x: float) -> float:
    """Return 1 / (1 + exp(-x)), without overflow.

    >>> sigmoid(0.0), sigmoid(-2000.0)
    (0.5, 0.0)
    """
    if x >= 0:
        return 1 / (1 + math.exp(-x))
    small = math.exp(x)
    return small / (1 + small)


Matrix = tuple[float, float, float]  # of a symmetric matrix: first, off the diagonal, second


def pulled_back(x: float, y: float, metric: Matrix, radius: float) -> tuple[float, float]:
    """Return the point of a disc nearest to (x, y) in the metric of the inverse matrix.

    >>> pulled_back(3.0, 4.0, (2.0, 0.0, 2.0), 1.0)
    (0.6, 0.8)
    """
    a, b, d = metric
    angle = math.atan2(2 * b, a - d) / 2  # of the eigenvector of the larger eigenvalue
    cos, sin = math.cos(angle), math.sin(angle)
    middle, half = (a + d) / 2, math.hypot((a - d) / 2, b)
    first, second = middle + half, max(middle - half, 0.0)
    u, v = cos * x + sin * y, cos * y - sin * x
    low, high = 0.0, 1 / first
    while math.hypot(u / (1 + high * first), v / (1 + high * second)) > radius:
        if high > 1e300:  # nothing moves along an eigenvector of 0
            break
        low, high = high, 2 * high
    for _ in range(200):
        lam = (low + high) / 2
        inside = math.hypot(u / (1 + lam * first), v / (1 + lam * second)) <= radius
        low, high = (low, lam) if inside else (lam, high)
    u, v = u / (1 + high * first), v / (1 + high * second)
    return cos * u - sin * v, sin * u + cos * v


class OnlinePlatt(Recalibrator):
    """Online Platt scaling of a model's probabilities.

    Parameters
    ----------
    rate : float
        Beta, the assumed curvature: smaller means larger steps.
    diameter : float
        D, how far theta may have to go.
    radius : float
        Theta stays in a disc around 0 of this radius.

    Examples
    --------
    >>> rival = OnlinePlatt()
    >>> for number in range(2_000):        # the model says 0.9 for what happens in 3 of 4 rounds
    ...     said = rival.predict(0.9)
    ...     rival.update(1 if number % 4 else 0)
    >>> 0.74 < said < 0.76
    True
    """

    _shown: tuple[str, ...] = ("rate", "diameter", "radius")

    def __init__(self, *, rate: float = 0.1, diameter: float = 1.0, radius: float = 100.0) -> None:
        self.rate = check.positive("rate", rate)
        self.diameter = check.positive("diameter", diameter)
        self.radius = check.positive("radius", radius)
        self._theta = (0.0, 0.0)
        start = (self.rate * self.diameter) ** 2
        self._inverse: Matrix = (start, 0.0, start)  # A

    @property
    def theta(self) -> tuple[float, float]:
        """The slope and the offset of the log odds."""
        return self._theta

    def _say(self, probability: float) -> float:
        slope, offset = self._theta
        return sigmoid(slope * log_odds(probability) + offset)

    def _learn(self, probability: float, said: float, outcome: float) -> None:
        first, second = (said - outcome) * log_odds(probability), said - outcome  # g
        a, b, d = self._inverse
        along, across = a * first + b * second, b * first + d * second  # A g
        share = 1 + first * along + second * across
        self._inverse = (
            a - along * along / share,
            b - along * across / share,
            d - across * across / share,
        )
        pace = self.rate * share  # the new A g is the old one divided by this share
        x, y = self._theta[0] - along / pace, self._theta[1] - across / pace
        if math.hypot(x, y) > self.radius:
            x, y = pulled_back(x, y, self._inverse, self.radius)
        self._theta = (x, y)
