"""Other forecasters, to compare with: seven with the same protocol, and the rivals from practice.

| forecaster | pseudo swap regret | forecasts |
|---|---|---|
| `BlumMansour` | T^(2/3), Hedge rows | a grid of T^(1/3) points |
| `CheapBlumMansour` | T^(2/3), gradient rows | the same grid |
| `SingleScale` | T^(2/3), realised | the centres of T^(1/3) bins |
| `TreeSwap` | T / (2K) and more | K layers |
| `FollowTheLeader` | T, no guarantee | a grid of sqrt(T) points |
| `TwoEndpoints` | sqrt(T ln 2), linear losses only | 0 and 1 |
| `SquaredCalibration` | T^(1/3), squared losses only | a grid finer near 0 and 1 |

Every bound is a function with all constants, for losses of Lipschitz constant 1 (the last one:
for (p - y)^2), proved in the file of its forecaster. "Pseudo" means that the law of the forecast
is measured, not the draw.

`SUITE` holds all seven classes; `GENERAL` those that are meant for any convex losses, without the
last two. Each is called as `kind(rounds, seed)`.

The rivals from practice say one number in natural units and learn from the outcome itself
(`Rival`: `predict(forecast)`, `update(outcome)`; the forecast of a model may be left out):

| rival | what it does | promise |
|---|---|---|
| `ACI` | adapts which quantile of past residuals is issued | `aci_bound` on coverage |
| `DtACI`, `FACI` | eight of them, weighted by loss | none computed |
| `QuantileTracker` | up after a miss, down after a hit | `tracker_bound` on coverage, one step |
| `IntegralTracker` | the same with a term for the sum of misses | none computed |
| `DecayingTracker` | the same with steps that fall | `decaying_tracker_bound` on coverage |
| `SFOGD`, `SAOCP` | gradient descent; many of them with limited lives | none computed |
| `MVP` | a grid of thresholds, each right, in every group | none computed |
| `InternalRegretGrid` | a grid for the mean or a quantile | `internal_regret_bound` |
| `OnlinePlatt` | logistic regression on a model's log odds | none computed |
| `Calibeating`, `HedgedBins` | running means, or Foster's game, in bins of a probability | none |
| `FixedSplit`, `TrailingWindow`, `WeightedQuantile`, `PSquare` | sample quantiles only | none |

`THRESHOLDS` holds those that are called as `kind(level)` and say forecast + threshold;
`RECALIBRATORS` those that are called as `kind()` and turn a probability into another one.
"""

from trueup.baselines._aci import ACI, aci_bound
from trueup.baselines._baseline import Baseline
from trueup.baselines._blum_mansour import BlumMansour, blum_mansour_bound
from trueup.baselines._calibeating import Calibeating, HedgedBins
from trueup.baselines._cheap_blum_mansour import CheapBlumMansour, cheap_blum_mansour_bound
from trueup.baselines._controls import FixedSplit, TrailingWindow, WeightedQuantile
from trueup.baselines._dtaci import FACI, DtACI
from trueup.baselines._follow_the_leader import FollowTheLeader
from trueup.baselines._internal_regret import InternalRegretGrid, internal_regret_bound
from trueup.baselines._mvp import MVP
from trueup.baselines._p_square import PSquare
from trueup.baselines._platt import OnlinePlatt
from trueup.baselines._rival import Recalibrator, Rival, ThresholdRival
from trueup.baselines._saocp import SAOCP, SFOGD, gradient_scale
from trueup.baselines._single_scale import SingleScale, single_scale_bound
from trueup.baselines._squared_calibration import SquaredCalibration, squared_calibration_bound
from trueup.baselines._trackers import (
    DecayingTracker,
    IntegralTracker,
    QuantileTracker,
    decaying_tracker_bound,
    tracker_bound,
)
from trueup.baselines._tree_swap import TreeSwap, tree_swap_bound
from trueup.baselines._two_endpoints import TwoEndpoints, two_endpoints_bound

__all__ = [
    "ACI",
    "FACI",
    "GENERAL",
    "MVP",
    "RECALIBRATORS",
    "SAOCP",
    "SFOGD",
    "SUITE",
    "THRESHOLDS",
    "Baseline",
    "BlumMansour",
    "Calibeating",
    "CheapBlumMansour",
    "DecayingTracker",
    "DtACI",
    "FixedSplit",
    "FollowTheLeader",
    "HedgedBins",
    "IntegralTracker",
    "InternalRegretGrid",
    "OnlinePlatt",
    "PSquare",
    "QuantileTracker",
    "Recalibrator",
    "Rival",
    "SingleScale",
    "SquaredCalibration",
    "ThresholdRival",
    "TrailingWindow",
    "TreeSwap",
    "TwoEndpoints",
    "WeightedQuantile",
    "aci_bound",
    "blum_mansour_bound",
    "cheap_blum_mansour_bound",
    "decaying_tracker_bound",
    "gradient_scale",
    "internal_regret_bound",
    "single_scale_bound",
    "squared_calibration_bound",
    "tracker_bound",
    "tree_swap_bound",
    "two_endpoints_bound",
]

GENERAL: tuple[type[Baseline], ...] = (
    BlumMansour,
    CheapBlumMansour,
    SingleScale,
    TreeSwap,
    FollowTheLeader,
)
SUITE: tuple[type[Baseline], ...] = (*GENERAL, TwoEndpoints, SquaredCalibration)
THRESHOLDS: tuple[type[ThresholdRival], ...] = (
    ACI,
    DtACI,
    FACI,
    QuantileTracker,
    IntegralTracker,
    DecayingTracker,
    SFOGD,
    SAOCP,
    MVP,
    InternalRegretGrid,
    FixedSplit,
    TrailingWindow,
    WeightedQuantile,
    PSquare,
)
RECALIBRATORS: tuple[type[Recalibrator], ...] = (OnlinePlatt, Calibeating, HedgedBins)
