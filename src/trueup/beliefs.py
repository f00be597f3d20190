"""Beliefs that can be given to `Calibrator.predict` instead of a number."""

from trueup.calibrator._beliefs import FromQuantiles, Histogram, Normal, Samples

__all__ = ["FromQuantiles", "Histogram", "Normal", "Samples"]
