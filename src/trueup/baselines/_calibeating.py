"""Two recalibrations by bins on top of a probability: running means, and Foster's game.

Both cut the probabilities p of a base (a recalibrator such as `OnlinePlatt`, or the model itself)
into m = `bins` bins that are closed on the right, i = max(ceil(p m) - 1, 0).

`Calibeating`, the "tracking" of Gupta and Ramdas (gupta2023online) after Foster and Hart
(foster2023calibeating): say the mean of the outcomes of earlier rounds in this bin and of one made
up outcome, (i + 1 - start) / m. The midpoint is start = 0.5; the authors' code has 0.05.

`HedgedBins`, their "hedging", plays in each bin the game of Foster (foster1999proof): m cells with
ends l_i = i / m, r_i = (i + 1) / m and midpoint M_i, and the mean rho_i of the outcomes met by cell
i (M_i before any). With d_i = l_i - rho_i and e_i = rho_i - r_i:

    if d_k <= 0 and e_k <= 0 for the bin k of p, play k;
    else the first i with d_i <= 0 and e_i <= 0;
    else i = (the first j with d_j > 0) - 1, with probability d_{i+1} / (d_{i+1} + e_i), else i + 1;

say M of the cell played; the outcome goes into its mean. Ties are decided by these comparisons of
i / m, (i + 1) / m and sum / count in floats.
"""

import math
from typing import NamedTuple

from trueup import _validation as check
from trueup.baselines._rival import Recalibrator, coin

__all__ = ["Calibeating", "HedgedBins"]


def bin_of(probability: float, bins: int) -> int:
    """Return the number of the bin, closed on the right.

    >>> [bin_of(p, 10) for p in (0.0, 0.1, 0.11, 1.0)]
    [0, 0, 1, 9]
    """
    return max(math.ceil(probability * bins) - 1, 0)


class _OnBins(Recalibrator):
    """What both share: the base, its probability of the round, and its learning."""

    def __init__(self, base: Recalibrator | None, bins: int) -> None:
        if base is not None:
            check.instance("base", base, Recalibrator, "a recalibrator")
        self.base = base
        self.bins = check.integer("bins", bins, at_least=1)

    def _bin(self, probability: float) -> int:
        base = probability if self.base is None else self.base.predict(probability)
        return bin_of(base, self.bins)

    def _learn_base(self, probability: float, outcome: float) -> None:
        if self.base is not None:
            self.base.predict(probability)
            self.base.update(outcome)


class Calibeating(_OnBins):
    """The running mean of the outcomes in the bin of a probability.

    Parameters
    ----------
    base : Recalibrator, optional
        What is asked for the probability first, and taught with it; the model itself by default.
    bins : int
        M.
    start : float
        The made up outcome of bin i is (i + 1 - start) / m.

    Examples
    --------
    >>> from trueup.baselines import OnlinePlatt
    >>> rival = Calibeating(OnlinePlatt())
    >>> rival.predict(0.9)
    0.45
    >>> rival.update(1)
    >>> rival.predict(0.5)
    0.55
    """

    _shown: tuple[str, ...] = ("base", "bins", "start")

    def __init__(
        self, base: Recalibrator | None = None, *, bins: int = 10, start: float = 0.5
    ) -> None:
        super().__init__(base, bins)
        self.start = check.unit("start", start)
        self._sums = [(i + 1 - self.start) / self.bins for i in range(self.bins)]
        self._counts = [1] * self.bins

    def _say(self, probability: float) -> float:
        place = self._bin(probability)
        return self._sums[place] / self._counts[place]

    def _learn(self, probability: float, said: float, outcome: float) -> None:  # noqa: ARG002
        place = self._bin(probability)
        self._learn_base(probability, outcome)
        self._sums[place] += outcome
        self._counts[place] += 1


class Choice(NamedTuple):
    """One cell, or the cell and the next one with a probability of the first."""

    cell: int
    probability: float = 1.0


class FosterGame:
    """The cells of one bin and the outcomes they have met.

    >>> game = FosterGame(10)
    >>> game.choice(3)
    Choice(cell=3, probability=1.0)
    >>> game.learn(3, 1.0)
    >>> game.choice(3)
    Choice(cell=0, probability=1.0)
    """

    __slots__ = ("_counts", "_size", "_sums")

    def __init__(self, size: int) -> None:
        self._size = size
        self._sums, self._counts = [0.0] * size, [0] * size

    def learn(self, cell: int, outcome: float) -> None:
        """Add an outcome to a cell's mean."""
        self._sums[cell] += outcome
        self._counts[cell] += 1

    def _excess(self, cell: int) -> tuple[float, float]:
        """Return d and e: how far the cell's mean lies below and above it."""
        size, count = self._size, self._counts[cell]
        mean = self._sums[cell] / count if count else (cell + 0.5) / size
        return cell / size - mean, mean - (cell + 1) / size

    def choice(self, wanted: int) -> Choice:
        """Return what to play where the probability's own bin is the wanted one."""
        if max(self._excess(wanted)) <= 0:
            return Choice(wanted)
        excesses = [self._excess(cell) for cell in range(self._size)]
        for cell, pair in enumerate(excesses):
            if max(pair) <= 0:
                return Choice(cell)
        cell = next(j for j, (below, _) in enumerate(excesses) if below > 0) - 1
        below, above = excesses[cell + 1][0], excesses[cell][1]
        return Choice(cell, below / (below + above))


class HedgedBins(_OnBins):
    """Foster's calibrated game in every bin of a probability.

    Parameters
    ----------
    base : Recalibrator, optional
        What is asked for the probability first, and taught with it; the model itself by default.
    seed : int
        Seed of the coins.
    bins : int
        M, of the bins and of the cells in each.

    Examples
    --------
    >>> rival = HedgedBins(seed=1)
    >>> rival.predict(0.92)
    0.95
    >>> for number in range(1_000):
    ...     said = rival.predict(0.92)
    ...     rival.update(number % 2)
    >>> round(said, 2) in (0.45, 0.55)
    True
    """

    _shown: tuple[str, ...] = ("base", "seed", "bins")

    def __init__(self, base: Recalibrator | None = None, seed: int = 0, *, bins: int = 10) -> None:
        super().__init__(base, bins)
        self.seed = check.integer("seed", seed, at_least=0)
        self._games = [FosterGame(self.bins) for _ in range(self.bins)]

    def _cell(self, probability: float) -> tuple[int, int]:
        """Return the bin, and the cell played in it."""
        place = self._bin(probability)
        choice = self._games[place].choice(place)
        if choice.probability < 1 and coin(self.seed, self._played) >= choice.probability:
            return place, choice.cell + 1
        return place, choice.cell

    def _say(self, probability: float) -> float:
        return (self._cell(probability)[1] + 0.5) / self.bins

    def _learn(self, probability: float, said: float, outcome: float) -> None:  # noqa: ARG002
        place, cell = self._cell(probability)
        self._learn_base(probability, outcome)
        self._games[place].learn(cell, outcome)
