"""Measures of a finished run. All sums are in natural units and exact to rounding.

| function | what it answers |
|---|---|
| `swap_regret` | what would the best rule "whenever it said A, use B" have saved? |
| `pseudo_swap_regret` | the same for the mixtures of a record, before the draws |
| `external_regret` | what would the best single forecast have saved? |
| `calibration_error` | swap regret as a sum over forecasts: CAL_S of the paper |
| `l2_calibration_error` | the same for means, from group means |
| `identification_calibration_error` | MCal_r: how often were outcomes on the wrong side? |
| `binned_calibration_error` | the same in equal-count bins, beside a perfect forecaster's |
| `coverage`, `worst_window_coverage` | how often did outcomes stay below or inside? |
| `decompose` | miscalibration, discrimination and uncertainty of a mean score |
"""

from trueup.metrics._calibration import (
    BinnedCalibration,
    binned_calibration_error,
    calibration_error,
    identification_calibration_error,
    l2_calibration_error,
)
from trueup.metrics._coverage import WorstWindow, coverage, worst_window_coverage
from trueup.metrics._decompose import Decomposition, decompose, isotonic_fit
from trueup.metrics._regret import (
    SwapRegret,
    external_regret,
    pseudo_swap_regret,
    pseudo_swap_regret_by_group,
    swap_regret,
    swap_regret_by_group,
)

__all__ = [
    "BinnedCalibration",
    "Decomposition",
    "SwapRegret",
    "WorstWindow",
    "binned_calibration_error",
    "calibration_error",
    "coverage",
    "decompose",
    "external_regret",
    "identification_calibration_error",
    "isotonic_fit",
    "l2_calibration_error",
    "pseudo_swap_regret",
    "pseudo_swap_regret_by_group",
    "swap_regret",
    "swap_regret_by_group",
    "worst_window_coverage",
]
