"""True up your forecasts, online: calibrated against any sequence of outcomes.

`import trueup as tu` is light: every part is loaded when it is first used, as in
`tu.Quantile(0.9)` or `tu.paper.EfficientPredictor`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trueup.properties import Expectile, Mean, Median, Quantile

__version__ = "0.1.0.dev0"

FROM_CALIBRATOR = (
    "Calibrator", "Decision", "Interval", "Panel", "Probability", "Quantiles", "calibrate", "load",
)  # fmt: skip
FROM_AUDITOR = ("Auditor", "audit")

FROM_PROPERTIES = ("Expectile", "Mean", "Median", "Quantile")

__all__ = [  # the submodules, and what is theirs, are loaded on first use
    "Auditor",
    "Calibrator",
    "Decision",
    "Expectile",
    "Interval",
    "Mean",
    "Median",
    "Panel",
    "Probability",
    "Quantile",
    "Quantiles",
    "__version__",
    "adversaries",
    "audit",
    "auditor",
    "baselines",
    "beliefs",
    "calibrate",
    "calibrator",
    "checks",
    "distributions",
    "engine",
    "errors",
    "grid",
    "load",
    "losses",
    "metrics",
    "paper",
    "properties",
    "protocols",
    "record",
    "replay",
    "report",
]


def __getattr__(name: str) -> Any:
    """Load a submodule on first use."""
    if name in FROM_CALIBRATOR:
        return getattr(import_module("trueup.calibrator"), name)
    if name in FROM_PROPERTIES:
        return getattr(import_module("trueup.properties"), name)
    if name in FROM_AUDITOR:
        return getattr(import_module("trueup.auditor"), name)
    if name in __all__:
        return import_module(f"trueup.{name}")
    raise AttributeError(f"module 'trueup' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Name what can be reached, loaded or not."""
    return sorted(__all__)
