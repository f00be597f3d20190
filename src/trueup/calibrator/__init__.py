"""Forecasts in the user's units: the object people use, and whole arrays."""

from trueup.calibrator._batch import CalibratedRun, calibrate
from trueup.calibrator._calibrator import Calibrator
from trueup.calibrator._issued import Bins, Evidence, Forecast, Report
from trueup.calibrator._panel import Panel, PanelRun
from trueup.calibrator._storage import from_bytes, load, save, to_bytes
from trueup.calibrator._targets import (
    Decision,
    Ends,
    Interval,
    Levels,
    Probability,
    Quantiles,
)

__all__ = [
    "Bins",
    "CalibratedRun",
    "Calibrator",
    "Decision",
    "Ends",
    "Evidence",
    "Forecast",
    "Interval",
    "Levels",
    "Panel",
    "PanelRun",
    "Probability",
    "Quantiles",
    "Report",
    "calibrate",
    "from_bytes",
    "load",
    "save",
    "to_bytes",
]
