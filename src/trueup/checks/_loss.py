"""What every loss promises."""

import math

import numpy as np

from trueup.errors import InvalidArgument
from trueup.losses import v_shaped
from trueup.protocols import Loss

GRID = np.linspace(0.0, 1.0, 257)
REBUILT_TO = 1e-9


def check_loss(loss: Loss) -> None:
    """Check that a loss is convex, within its bound, and the mean of V-shaped ones.

    >>> from trueup.losses import Absolute
    >>> check_loss(Absolute(0.3))
    """
    _promise(isinstance(loss, Loss), "it has value, slopes and lipschitz", loss)
    left, right = loss.slopes(GRID)
    climb = np.column_stack([left, right]).ravel()
    slack = 1e-12 + 1e-9 * loss.lipschitz
    _promise(bool(np.all(np.diff(climb) >= -slack)), "slopes never decrease", loss)
    _promise(bool(np.all(np.abs(climb) <= loss.lipschitz + slack)), "slopes keep its bound", loss)
    _promise(
        left[0] == -loss.lipschitz and right[-1] == loss.lipschitz,
        "outer slopes at 0 and 1 are the steepest allowed",
        loss,
    )
    values = loss.value(GRID)
    steps = np.diff(values) / np.diff(GRID)
    between = np.all((steps >= right[:-1] - 1e-9) & (steps <= left[1:] + 1e-9))
    _promise(bool(between), "slopes are those of its values", loss)
    singly = [loss.value(float(x)) for x in GRID[::32]]
    _promise(bool(np.array_equal(singly, values[::32])), "numbers and arrays agree", loss)
    law = v_shaped(loss)
    rebuilt = (loss.lipschitz or 1.0) * (law.expected_distance(GRID) + law.constant)
    _promise(
        bool(np.all(np.abs(rebuilt - values) <= REBUILT_TO)), "V-shaped losses rebuild it", loss
    )
    for wrong in (-0.1, 1.1, math.nan, math.inf):
        _promise(_refuses(loss, wrong), f"it refuses the forecast {wrong}", loss)


def _refuses(loss: Loss, forecast: float) -> bool:
    for method in (loss.value, loss.slopes):
        try:
            method(forecast)
        except InvalidArgument:
            continue
        return False
    return True


def _promise(kept: bool, promise: str, loss: object) -> None:  # noqa: FBT001 - a small assertion
    if not kept:
        raise AssertionError(f"A loss promises that {promise}; {loss!r} does not.")
