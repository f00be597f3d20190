"""Contract checks that anybody's loss, forecaster, rival or adversary can be run through.

Each function raises AssertionError with a sentence at the first broken promise, and returns None.
"""

from trueup.checks._adversary import check_adversary
from trueup.checks._forecaster import check_forecaster
from trueup.checks._loss import check_loss
from trueup.checks._rival import check_rival

__all__ = ["check_adversary", "check_forecaster", "check_loss", "check_rival"]
