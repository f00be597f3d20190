"""The paper, exactly, as readable code with its lemma numbers and errata.

L. Hu, J. Schneider, Y. Wu: Near-optimal Swap Regret Minimization for Convex Losses (2026).

This room is slow, obvious and right. It takes a known number of rounds, keeps weights by MsMwC
and solves a linear program in every round. `docs/theory/` states each theorem beside the code.

| module | in the paper |
|---|---|
| `_width` | quantile sets and the gamma-width, section 3.1 |
| `_truthful` | the truthful predictor of the order-reversed game, section 3.2 |
| `_claims` | the functions h, section 4 |
| `_linear_program` | lemma 4.1 |
| `_msmwc` | the expert algorithm and its master |
| `_predictor` | the efficient algorithm, section 4 |
| `_bound` | the theorems with explicit constants |
| `minimax` | the exact value of small repeated games (orientation, not in the paper) |
"""

from trueup.grid import CLAIMS, MultiScaleBins
from trueup.paper import minimax
from trueup.paper._bound import swap_regret_bound, truthful_swap_regret_bound
from trueup.paper._claims import expected_claims, gains
from trueup.paper._linear_program import Solution, solve_mixture
from trueup.paper._msmwc import (
    MasterMsMwC,
    MsMwC,
    MsMwCState,
    master_regret_bound,
    msmwc_regret_bound,
)
from trueup.paper._predictor import EfficientPredictor
from trueup.paper._truthful import (
    TruthfulForecast,
    TruthfulPredictor,
    default_gamma,
    truthful_pair,
)
from trueup.paper._width import Width, quantile_set, width

__all__ = [
    "CLAIMS",
    "EfficientPredictor",
    "MasterMsMwC",
    "MsMwC",
    "MsMwCState",
    "MultiScaleBins",
    "Solution",
    "TruthfulForecast",
    "TruthfulPredictor",
    "Width",
    "default_gamma",
    "expected_claims",
    "gains",
    "master_regret_bound",
    "minimax",
    "msmwc_regret_bound",
    "quantile_set",
    "solve_mixture",
    "swap_regret_bound",
    "truthful_pair",
    "truthful_swap_regret_bound",
    "width",
]
