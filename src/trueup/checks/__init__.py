"""Contract checks for anybody's losses, forecasters, rivals, adversaries and calibrators.

Each function raises AssertionError with a sentence at the first broken promise, and returns None.
"""

from trueup.checks._adversary import check_adversary
from trueup.checks._calibrator import check_calibrator
from trueup.checks._forecaster import check_forecaster
from trueup.checks._loss import check_loss
from trueup.checks._rival import check_rival

__all__ = ["check_adversary", "check_calibrator", "check_forecaster", "check_loss", "check_rival"]
