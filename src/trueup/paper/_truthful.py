"""The truthful predictor for the order-reversed game (section 3.2, lemma 3.4).

Here the adversary moves first: it shows the law of the loss to come, the predictor answers with
one bin. It is not a forecaster for real use: it is the proof that an answer to every law exists,
and its swap regret shows what the bins cost when nothing has to be learned.
"""

import math
from typing import NamedTuple

import numpy as np

from trueup import _validation as check
from trueup._rounds import remaining
from trueup.grid import MultiScaleBins
from trueup.losses import refuse_wrong
from trueup.paper._claims import expected_claims
from trueup.paper._width import Width, width
from trueup.protocols import Distribution, FloatArray, Loss

__all__ = ["TruthfulForecast", "TruthfulPredictor", "default_gamma", "truthful_pair"]

ROUNDING = 1e-12  # claims computed from a CDF in floats are true to this


def default_gamma(rounds: int, delta: float | None = None) -> float:
    """Return the paper's gamma = sqrt(ln T ln(1/delta) / T), at most 1 (delta = 1/T by default).

    >>> default_gamma(10_000)
    0.092103
    """
    rounds = check.integer("rounds", rounds, at_least=2)
    failure = 1 / rounds if delta is None else check.open_unit("delta", delta)
    return min(1.0, math.sqrt(math.log(rounds) * math.log(1 / failure) / rounds))


class TruthfulForecast(NamedTuple):
    """The bin that answers a law, and why: its scale and the width of the law."""

    value: float
    scale: float
    width: Width


def truthful_pair(bins: MultiScaleBins, law: Distribution) -> int:
    """Return the number of a pair all of whose claims hold in expectation under `law`.

    The pair of steps 2 and 3: r is the largest scale up to the width w, so w lies in [r, 2r); an
    interval [alpha, beta] of length w >= r holds a bin of scale r. Rounding can put w, alpha or
    beta just on the wrong side of a grid point; then the pair of the coarsest scale with the
    smallest violation is returned, which lemma 4.2 makes at most 0 in exact arithmetic.

    >>> from trueup.distributions import uniform
    >>> bins = MultiScaleBins(0.125)
    >>> pair = truthful_pair(bins, uniform(0.0, 1.0))
    >>> float(bins.scale[pair]), float(bins.bin[pair])
    (0.25, 0.5)
    """
    return _answer(bins, law, width(law, bins.gamma))


def _answer(bins: MultiScaleBins, law: Distribution, found: Width) -> int:
    """Return the truthful pair of a law whose width has been found."""
    scale = bins.scales[np.searchsorted(bins.scales, found.w, side="right") - 1]
    held = (bins.scale == scale) & (bins.bin >= found.alpha) & (bins.bin <= found.beta)
    if held.any():
        chosen = np.flatnonzero(held)
        worst = expected_claims(bins, law, chosen).max(axis=1)
        if worst.min() <= ROUNDING:
            return int(chosen[np.argmin(np.abs(bins.bin[chosen] - (found.alpha + found.beta) / 2))])
    worst = expected_claims(bins, law).max(axis=1)
    fitting = np.flatnonzero(worst <= max(worst.min(), ROUNDING))
    return int(fitting[np.argmax(bins.step[fitting])])


class TruthfulPredictor:
    """Answers each announced law with a truthful bin.

    Parameters
    ----------
    rounds : int
        T, at least 2.
    delta : float, optional
        Allowed probability of failure of the bound, in (0, 1); 1/T by default.
    gamma : float, optional
        The finest spacing; `default_gamma(rounds, delta)` by default.

    Examples
    --------
    >>> from trueup.distributions import discrete
    >>> predictor = TruthfulPredictor(rounds=10_000, delta=0.05)
    >>> forecast = predictor.predict(discrete([0.25, 0.75], [0.5, 0.5]))
    >>> 0.25 <= forecast.value <= 0.75, forecast.scale > predictor.spacing
    (True, True)
    """

    def __init__(
        self, rounds: int, delta: float | None = None, *, gamma: float | None = None
    ) -> None:
        self.rounds = check.integer("rounds", rounds, at_least=2)
        self.delta = 1 / self.rounds if delta is None else check.open_unit("delta", delta)
        self.bins = MultiScaleBins(default_gamma(rounds, self.delta) if gamma is None else gamma)
        self._played = 0

    @property
    def played(self) -> int:
        """How many rounds have been played."""
        return self._played

    @property
    def spacing(self) -> float:
        """Gamma, the distance between the finest bins."""
        return self.bins.gamma

    def predict(self, law: Distribution) -> TruthfulForecast:
        """Return the truthful bin for a law of v (the mixture of the losses' decompositions)."""
        remaining(self.rounds, self._played)
        found = width(law, self.bins.gamma)
        pair = _answer(self.bins, law, found)
        return TruthfulForecast(float(self.bins.bin[pair]), float(self.bins.scale[pair]), found)

    def update(self, loss: Loss) -> None:
        """Count the round; a truthful predictor has nothing to learn."""
        remaining(self.rounds, self._played)
        refuse_wrong(loss)
        self._played += 1

    def __repr__(self) -> str:
        return f"TruthfulPredictor({self.rounds}, {self.delta}, gamma={self.bins.gamma})"

    def claims(self, law: Distribution) -> FloatArray:
        """Return E h under `law` for every pair, shape (n_pairs, 4): the four claims."""
        return expected_claims(self.bins, law)
