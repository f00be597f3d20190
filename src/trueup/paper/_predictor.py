"""The efficient algorithm for swap regret (section 4, theorem 1.2), step by step.

    1  weights w from MsMwC over all claims, h-bar = sum of w h          experts.weights
    2  kappa by the linear program of lemma 4.1                          solve_mixture
    3  draw (r, b) from kappa, say b                                     predict
    4  see the loss, phi its V-shaped distribution                       update
    5  reward of every claim: its expectation under kappa and phi        update

The paper writes tau_t for kappa_t in step 5 and "l_t in [0, 1]" for l_t: [0, 1] -> R in step 4.
Losses are divided by one Lipschitz constant for the whole run, so that the guarantee is about the
losses in natural units.
"""

from typing import Literal

import numpy as np

from trueup import _validation as check
from trueup._rounds import draw, remaining, run_lipschitz
from trueup.errors import InvalidArgument
from trueup.grid import MultiScaleBins
from trueup.losses import v_shaped
from trueup.paper._bound import swap_regret_bound
from trueup.paper._claims import expected_claims, gains
from trueup.paper._linear_program import Solution, solve_mixture
from trueup.paper._msmwc import MasterMsMwC, MsMwC
from trueup.paper._truthful import default_gamma
from trueup.protocols import FloatArray, Loss, Mixture

__all__ = ["EfficientPredictor"]


class EfficientPredictor:
    """Forecasts with swap regret of order sqrt(T) log T against any convex Lipschitz losses.

    Parameters
    ----------
    rounds : int
        T, at least 2; the predictor refuses to go further.
    delta : float, optional
        Allowed probability that the bound fails, in (0, 1); 1/T by default.
    seed : int
        Seed of the draws. A round's draw depends on the seed and the round alone, so `predict` may
        be asked as often as one likes.
    gamma : float, optional
        Finest spacing, in (0, 1]; the paper's sqrt(ln T ln(1/delta) / T) by default.
    lipschitz : float, optional
        What all losses are divided by; that of the first loss by default. Losses may be flatter,
        not steeper.
    experts : {"msmwc", "master"}
        The expert algorithm: as in the paper, or its master over learning rates.

    Examples
    --------
    >>> from trueup.losses import Absolute
    >>> predictor = EfficientPredictor(rounds=100, delta=0.05, seed=1)
    >>> mixture = predictor.predict()
    >>> mixture.value in mixture.support
    True
    >>> predictor.update(Absolute(0.3))
    """

    def __init__(
        self,
        rounds: int,
        delta: float | None = None,
        seed: int = 0,
        *,
        gamma: float | None = None,
        lipschitz: float | None = None,
        experts: Literal["msmwc", "master"] = "msmwc",
    ) -> None:
        self.rounds = check.integer("rounds", rounds, at_least=2)
        self.delta = 1 / self.rounds if delta is None else check.open_unit("delta", delta)
        self.seed = check.integer("seed", seed, at_least=0)
        self.lipschitz = None if lipschitz is None else check.positive("lipschitz", lipschitz)
        self.bins = MultiScaleBins(default_gamma(rounds, self.delta) if gamma is None else gamma)
        if experts not in ("msmwc", "master"):
            raise check.refuse("experts", "'msmwc' or 'master'", experts)
        self.experts = experts
        kind = MsMwC if experts == "msmwc" else MasterMsMwC
        self._experts: MsMwC | MasterMsMwC = kind(4 * self.bins.n_pairs, self.rounds)
        self._played = 0
        self._solution: Solution | None = None

    def __repr__(self) -> str:
        return (
            f"EfficientPredictor(rounds={self.rounds}, delta={self.delta}, seed={self.seed},"
            f" gamma={self.bins.gamma}, lipschitz={self.lipschitz}, experts={self.experts!r})"
        )

    @property
    def played(self) -> int:
        """How many rounds have been played."""
        return self._played

    @property
    def spacing(self) -> float:
        """Gamma, the distance between the finest bins."""
        return self.bins.gamma

    @property
    def weights(self) -> FloatArray:
        """The weight of each claim in this round, shape (n_pairs, 4)."""
        return self._experts.weights.reshape(self.bins.n_pairs, 4)

    def solution(self) -> Solution:
        """Return this round's mixture over pairs with its certificate (steps 1 and 2)."""
        remaining(self.rounds, self._played)
        if self._solution is None:
            self._solution = solve_mixture(self.weights, self.bins)
        return self._solution

    def predict(self) -> Mixture:
        """Return this round's mixture and the forecast drawn from it (step 3)."""
        solution = self.solution()
        drawn = draw(solution.probabilities, self.seed, self._played)
        said = float(solution.support[drawn])
        return Mixture(
            solution.support.copy(), solution.scales.copy(), solution.probabilities.copy(), said
        )

    def update(self, loss: Loss) -> None:
        """Learn the loss of this round (steps 4 and 5)."""
        solution = self.solution()
        scale = run_lipschitz(loss, self.lipschitz)
        law = v_shaped(loss, scale)
        rewards = np.zeros((self.bins.n_pairs, 4))
        claims = expected_claims(self.bins, law, solution.pairs)
        rewards[solution.pairs] = solution.probabilities[:, None] * claims
        self._experts.update(rewards.ravel())
        self.lipschitz = scale
        self._played += 1
        self._solution = None

    def cell_gains(self) -> tuple[FloatArray, FloatArray]:
        """Return an outcome in each open cell and the mixture's expected gain there, all <= 0."""
        solution = self.solution()
        values = gains(self.bins, self.weights)[:, solution.pairs] @ solution.probabilities
        return self.bins.cells, values

    def swap_regret_bound(self) -> float:
        """Return the bound on swap regret after all rounds, in natural units.

        It holds with probability 1 - delta; see `trueup.paper.swap_regret_bound`. The Lipschitz
        constant must be known: given, or taken from the first loss.
        """
        if self.lipschitz is None:
            raise InvalidArgument("lipschitz must be given, or learned from a first loss.")
        bound = swap_regret_bound(
            self.rounds, self.delta, gamma=self.bins.gamma, experts=self.experts
        )
        return bound * self.lipschitz
