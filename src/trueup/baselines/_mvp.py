"""MVP: thresholds from a fixed grid, right for each threshold issued and each group of points.

Bastani, Gupta, Jung, Noarov, Ramalingam and Roth (bastani2022practical). Residuals in [0, 1]
(others are scaled from [low, high]), alpha = 1 - level, m = `buckets`, r = `resolution`, eta =
`rate`. Each bucket b = 0 .. m - 1 and group g counts its rounds N and misses M:

    V = alpha N - M,   f(N) = sqrt(N + 1) log2(N + 2)
    C_b = sum over the groups of the point of 2 sinh(eta V / f(N)) / f(N).

Issue: at the first b = 1 .. m - 1 with C_{b-1} C_b <= 0, say b/m - 1/(r m) (bucket b - 1) with
probability abs(C_b) / (abs(C_b) + abs(C_{b-1})), or if both are 0, and else b/m (bucket b). If
there is none, say 1 if all C_b <= 0 and 0 if all are above. A point in no group changes nothing.

Ties. N and M are whole numbers, and abs(V) < 1e-9 is read as 0: 9 * 0.1 - 0.9 is not 0 in floats.

Constants. m = 50, r = 1000, eta = 0.5 are those of the authors' code; comparisons by others use
m = 40, r = 800000 and eta = sqrt(ln(m) / (2 K m)) = 0.118, K = sum of 1 / (i ln(i + 1)^2) = 3.30.

Guarantee (theirs, not computed here): in each bucket of each group the misses stay within about
the square root of its rounds of alpha times them, in expectation over the coin, whatever happens.
"""

import math
from collections.abc import Iterable

from trueup import _validation as check
from trueup.baselines._rival import ThresholdRival, added, bounded, coin, miss_rate
from trueup.errors import InvalidArgument

__all__ = ["MVP"]

TIE = 1e-9
STEEPEST = 700.0  # sinh of more has no float; reached after some 10^9 misses in a row


class MVP(ThresholdRival):
    """Multivalid prediction: coverage at every threshold issued and in every group.

    Parameters
    ----------
    level : float
        The share of outcomes that should lie at or below what is said; alpha = 1 - level.
    seed : int
        Seed of the coins.
    buckets, resolution, rate
        The m, r and eta of the module.
    groups : int
        How many groups there are. With more than one, `predict` is told those of the point.
    low, high : float
        Between which outcome - forecast must lie.

    Examples
    --------
    >>> rival = MVP(0.9, seed=1, buckets=10)
    >>> for number in range(300):
    ...     rival.update(0.55)
    >>> rival.predict()
    0.6
    >>> parted = MVP(0.9, groups=2)
    >>> parted.predict(groups=[1])
    0.019
    """

    _shown: tuple[str, ...] = ("level", "seed", "buckets", "resolution", "rate", "groups")

    def __init__(
        self,
        level: float = 0.9,
        seed: int = 0,
        *,
        buckets: int = 50,
        resolution: int = 1000,
        rate: float = 0.5,
        groups: int = 1,
        low: float = 0.0,
        high: float = 1.0,
    ) -> None:
        low, high = bounded("low", low), bounded("high", high)
        if high <= low:
            raise check.refuse("high", f"above low = {low}", high)
        super().__init__(level, low=low, high=high)
        self.seed = check.integer("seed", seed, at_least=0)
        self.buckets = check.integer("buckets", buckets, at_least=2)
        self.resolution = check.integer("resolution", resolution, at_least=2)
        self.rate = check.positive("rate", rate)
        self.groups = check.integer("groups", groups, at_least=1)
        self._target = miss_rate(self.level)
        self._counts = [[0] * self.buckets for _ in range(self.groups)]  # N
        self._misses = [[0] * self.buckets for _ in range(self.groups)]  # M
        self._pressures = [[0.0] * self.buckets for _ in range(self.groups)]  # C of one group
        self._inside: tuple[int, ...] | None = (0,) if self.groups == 1 else None
        self._issued: tuple[int, float] | None = None

    @property
    def threshold(self) -> float:
        """What is added to the forecast in the coming round, in natural units."""
        return self._low + (self._high - self._low) * self._issue()[1]

    def predict(
        self, forecast: float | None = None, *, groups: Iterable[int] | None = None
    ) -> float:
        """Return what is said for a point of these groups (numbers from 0); asking changes nothing.

        With one group, every point is in it unless said otherwise.
        """
        inside = self._groups(groups)
        base = 0.0 if forecast is None else bounded("forecast", forecast)
        if inside != self._inside:
            self._inside, self._issued = inside, None
        return super().predict(base)

    def _groups(self, groups: Iterable[int] | None) -> tuple[int, ...]:
        """Return the groups of a point, each once, in order."""
        if groups is None:
            if self.groups > 1:
                raise InvalidArgument("groups must be given where there are several, got None.")
            return (0,)
        inside = {check.integer("groups", group, at_least=0) for group in groups}
        if inside and max(inside) >= self.groups:
            raise check.refuse("groups", f"below {self.groups}", max(inside))
        return tuple(sorted(inside))

    def update(self, outcome: float) -> None:
        """Learn the outcome of the point asked about last."""
        if self._inside is None:
            raise InvalidArgument("groups must be given to predict before update, got none.")
        super().update(outcome)

    def _issue(self) -> tuple[int, float]:
        """Return the bucket and the threshold of this round, of [0, 1], made once."""
        if self._issued is None:
            if self._inside is None:
                raise InvalidArgument("groups must be given to predict first, got none.")
            rows = [self._pressures[group] for group in self._inside]
            pressures = rows[0] if len(rows) == 1 else [added(c) for c in zip(*rows, strict=True)]
            self._issued = self._chosen(pressures or [0.0] * self.buckets)
        return self._issued

    def _chosen(self, pressures: list[float]) -> tuple[int, float]:
        """Return the bucket and the threshold, from C."""
        size, before = self.buckets, pressures[0]
        for place in range(1, size):
            after = pressures[place]
            if before * after <= 0:
                total = abs(after) + abs(before)
                if self._coin() < (abs(after) / total if total else 1.0):
                    return place - 1, place / size - 1 / (self.resolution * size)
                return place, place / size
            before = after
        return (size - 1, 1.0) if before <= 0 else (0, 0.0)

    def _coin(self) -> float:
        """Return this round's number of [0, 1)."""
        return coin(self.seed, self._played)

    def _learn(self, residual: float) -> None:
        bucket, issued = self._issue()
        missed = (residual - self._low) / (self._high - self._low) > issued
        for group in self._inside or ():
            self._counts[group][bucket] += 1
            self._misses[group][bucket] += missed
            self._pressures[group][bucket] = self._pressure(group, bucket)
        self._issued = None
        self._inside = (0,) if self.groups == 1 else None

    def _pressure(self, group: int, bucket: int) -> float:
        """Return a group's part of C_b."""
        count, misses = self._counts[group][bucket], self._misses[group][bucket]
        excess, spread = self._target * count - misses, math.sqrt(count + 1) * math.log2(count + 2)
        power = 0.0 if abs(excess) < TIE else self.rate * excess / spread
        return 2 * math.sinh(max(-STEEPEST, min(power, STEEPEST))) / spread
