"""Losses as the kernels know them: a row of 16 numbers, see the kernels' own table."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from trueup._kernels import _engine as kernels
from trueup.errors import InvalidArgument
from trueup.losses import (
    Absolute,
    AsymmetricSquared,
    Huber,
    Linear,
    PiecewiseLinear,
    Pinball,
    Squared,
)
from trueup.properties import Expectile, Mean, Median, Quantile
from trueup.protocols import FloatArray, Loss, Property

MOST_KNOTS = 5

Numbers = tuple[float, float, float, float]  # kind, v, and two parameters


def _absolute(loss: Any) -> Numbers:
    return kernels.POINTED, loss.v, -1.0, 1.0


def _pinball(loss: Any) -> Numbers:
    return kernels.POINTED, loss.v, -loss.q, 1.0 - loss.q


def _squared(loss: Any) -> Numbers:
    return kernels.SQUARED, loss.v, 1.0, 1.0


def _asymmetric(loss: Any) -> Numbers:
    return kernels.SQUARED, loss.v, loss.a, 1.0 - loss.a


def _huber(loss: Any) -> Numbers:
    return kernels.HUBER, loss.v, loss.delta, 0.0


def _linear(loss: Any) -> Numbers:
    return kernels.POINTED, 0.0, loss.c, loss.c


NUMBERS: dict[type, Callable[[Any], Numbers]] = {
    Absolute: _absolute,
    Pinball: _pinball,
    Squared: _squared,
    AsymmetricSquared: _asymmetric,
    Huber: _huber,
    Linear: _linear,
}


def encode(loss: Loss, steepest: float, row: FloatArray) -> bool:
    """Write a loss into a row of 16 numbers; return False if the kernels do not know its kind."""
    numbers = NUMBERS.get(type(loss))
    if numbers is not None:
        row[0], row[2], row[3], row[4] = numbers(loss)
    elif type(loss) is PiecewiseLinear and len(loss.knots) <= MOST_KNOTS:
        count = len(loss.knots)
        row[0], row[2], row[3] = kernels.KINKED, 0.0, count
        row[kernels.KNOTS : kernels.KNOTS + count] = loss.knots
        row[kernels.SLOPES : kernels.SLOPES + count + 1] = loss.slopes_between
    else:
        return False
    row[1] = steepest
    return True


def rows_of_losses(losses: Sequence[Loss], steepest: float) -> FloatArray:
    """Return losses of known kinds as rows."""
    rows = np.zeros((len(losses), kernels.LOSS))
    for row, loss in zip(rows, losses, strict=True):
        if not encode(loss, steepest, row):
            raise InvalidArgument(
                f"losses must be of a kind that is compiled, got {loss!r}; use predict and update."
            )
    return rows


def rows_of_outcomes(outcomes: FloatArray, wanted: Property, steepest: float) -> FloatArray:
    """Return the losses of a property at many outcomes as rows."""
    if type(wanted) not in (Median, Quantile, Mean, Expectile):
        raise InvalidArgument(
            f"wanted must be Mean(), Median(), Quantile(level) or Expectile(level), got {wanted!r}."
        )
    rows = np.zeros((outcomes.size, kernels.LOSS))
    if not outcomes.size:
        return rows
    encode(wanted.loss(0.5), steepest, rows[0])
    rows[:] = rows[0]
    rows[:, kernels.OUTCOME] = outcomes
    return rows
