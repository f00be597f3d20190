"""Monotone changes of scale for quantiles of heavy tails.

A quantile of f(y) is f of the quantile of y for every increasing f, so quantiles can be forecast on
a scale where outcomes are not so spread out; the grid is then as fine as it needs to be where most
outcomes lie. Numbers of the user go through f on the way in and through its inverse on the way out.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from trueup import _validation as check
from trueup.calibrator._columns import LARGEST
from trueup.errors import InvalidArgument
from trueup.protocols import FloatArray

Function = Callable[[float], float]
OWN = "own"  # how a pair of functions is written down


class Transform(NamedTuple):
    """An increasing function and its inverse."""

    name: str
    forward: Function
    inverse: Function
    must: str  # what its numbers must be

    def into(self, name: str, value: float) -> float:
        """Return a number of the user on the other scale."""
        try:
            answer = float(self.forward(value))
        except (ArithmeticError, ValueError, TypeError):
            answer = math.nan
        if not abs(answer) <= LARGEST:
            raise check.refuse(name, f"{self.must} for transform={self.name!r}", value)
        return answer

    def back(self, value: float) -> float:
        """Return a number of the other scale in the user's units."""
        try:
            return float(self.inverse(value))
        except OverflowError:
            return math.inf

    def into_all(self, name: str, values: FloatArray) -> FloatArray:
        """Return numbers of the user on the other scale; NaN stays."""
        answers = np.full(values.shape, math.nan)
        for at in np.flatnonzero(~np.isnan(values)).tolist():
            answers[at] = self.into(f"{name}[{at}]", float(values[at]))
        return answers

    def back_all(self, values: FloatArray) -> FloatArray:
        """Return numbers of the other scale in the user's units."""
        flat = [self.back(value) for value in values.ravel().tolist()]
        return np.array(flat).reshape(values.shape)


NAMED = {
    "log": Transform("log", math.log, math.exp, "above 0"),
    "log1p": Transform("log1p", math.log1p, math.expm1, "above -1"),
    "asinh": Transform("asinh", math.asinh, math.sinh, "finite"),
}


def transform_of(given: Any) -> Transform | None:
    """Return what `transform` names: one of `NAMED`, or a pair of the user's own functions.

    >>> transform_of("log1p").back(0.0)
    0.0
    """
    if given is None:
        return None
    if isinstance(given, str) and given in NAMED:
        return NAMED[given]
    pair = given if isinstance(given, tuple) else ()
    if len(pair) != 2 or not all(callable(part) for part in pair):
        names = ", ".join(repr(name) for name in NAMED)
        raise InvalidArgument(f"transform must be {names} or a pair of functions, got {given!r}.")
    return Transform(OWN, pair[0], pair[1], "where the function is finite")
