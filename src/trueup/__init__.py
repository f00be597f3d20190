"""True up your forecasts, online: calibrated against any sequence of outcomes.

`import trueup as tu` is light: it brings the properties that can be forecast; every other part is
loaded when it is first used, as in `tu.paper.EfficientPredictor`.
"""

from importlib import import_module
from types import ModuleType

from trueup.properties import Expectile, Mean, Median, Quantile

__version__ = "0.1.0.dev0"

__all__ = [  # the submodules are loaded on first use
    "Expectile",
    "Mean",
    "Median",
    "Quantile",
    "__version__",
    "adversaries",
    "baselines",
    "checks",
    "distributions",
    "engine",
    "errors",
    "grid",
    "losses",
    "metrics",
    "paper",
    "properties",
    "protocols",
    "record",
    "replay",
]


def __getattr__(name: str) -> ModuleType:
    """Load a submodule on first use."""
    if name in __all__:
        return import_module(f"trueup.{name}")
    raise AttributeError(f"module 'trueup' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Name what can be reached, loaded or not."""
    return sorted(__all__)
