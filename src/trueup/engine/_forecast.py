"""What the engine says in a round, in a whole run, and about how it has gone."""

from typing import Any, NamedTuple

import numpy as np

from trueup.protocols import FloatArray


class Forecast:
    """What the engine says in a round: a mixture, the draw from it, and how it came about.

    Attributes
    ----------
    value : float
        What is said: the label, or a number near it when refining.
    label, scale : float
        The drawn bin b and its scale r.
    round : int
        Counted from 0; the number of an open forecast.
    spacing : float
        Gamma of the round.
    followed : bool
        The belief's bin was played as it is.
    overruled : bool
        There was a belief and another bin was drawn.
    support, scales, probabilities : arrays, shape (n,)
        The bins that could be drawn, and their probabilities.
    """

    __slots__ = ("_numbers", "value")

    def __init__(self, numbers: list[float]) -> None:
        self._numbers, self.value = numbers, numbers[0]

    @property
    def label(self) -> float:
        """The drawn bin b."""
        return self._numbers[1]

    @property
    def scale(self) -> float:
        """Its scale r."""
        return self._numbers[2]

    @property
    def round(self) -> int:
        """The number of the round."""
        return int(self._numbers[3])

    @property
    def spacing(self) -> float:
        """Gamma of the round."""
        return self._numbers[4]

    @property
    def followed(self) -> bool:
        """Whether the belief's bin was played as it is."""
        return self._numbers[5] > 0

    @property
    def overruled(self) -> bool:
        """Whether there was a belief and another bin was drawn."""
        return self._numbers[6] > 0

    def _column(self, place: int) -> FloatArray:
        return np.array(self._numbers[8 + place :: 3])

    @property
    def support(self) -> FloatArray:
        """The bins that could be drawn."""
        return self._column(0)

    @property
    def scales(self) -> FloatArray:
        """Their scales."""
        return self._column(1)

    @property
    def probabilities(self) -> FloatArray:
        """Their probabilities."""
        return self._column(2)

    def __repr__(self) -> str:
        return (
            f"Forecast(value={self.value}, label={self.label}, scale={self.scale},"
            f" round={self.round}, followed={self.followed}, overruled={self.overruled})"
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Forecast) and self._numbers == other._numbers

    def __hash__(self) -> int:
        return hash(tuple(self._numbers))


class Info(NamedTuple):
    """How a run has gone so far; the next round never looks at it."""

    played: int
    open: int  # stakes of open forecasts
    visited: int  # pairs that have been drawn
    wealth: float  # W, at most 1 on average
    peak: float  # the largest W so far
    gains: float  # sum over rounds of the mixture's largest gain / W where it was positive
    reused: int  # rounds that kept the last mixture
    solved: int  # small games solved
    pivots: int  # in all of them
    added: int  # pairs that came from a dual law
    stalled: int  # rounds whose gain was left at rounding
    followed: int  # rounds played as the belief's bin
    overruled: int  # rounds with a belief in which another bin was drawn
    unrefined: int  # rounds in which the belief's number was not said as it is
    nbytes: int  # of the state


class Run(NamedTuple):
    """What was said in each of T rounds of a whole array."""

    forecasts: FloatArray  # shape (T,)
    labels: FloatArray  # the drawn bins, shape (T,)
    scales: FloatArray  # their scales, shape (T,)
    followed: Any  # whether the belief's bin was played as it is, shape (T,), bool
