"""What a calibrator hands out and what it remembers of it."""

from typing import Any, NamedTuple

from trueup.protocols import FloatArray


class Forecast(NamedTuple):
    """What is issued, and how it came about; tuples where several numbers are issued."""

    id: int
    value: Any  # a float, or Ends or Levels
    label: Any  # the drawn bin
    scale: Any  # its scale: how far around the bin its claims reach
    support: Any  # the bins that could be drawn, a tuple
    probabilities: Any  # of each, a tuple
    raw: float | None  # what the user's model said, if it was a number
    overruled: bool  # another bin was drawn than the one the belief aimed at
    guarded: bool  # False before the range is known


class Open(NamedTuple):
    """What must be remembered of an open forecast."""

    slips: tuple[int, ...]
    said: tuple[float, ...]
    anchor: float
    memos: tuple[FloatArray, ...]  # what the steering of each stream wants back


class Report(NamedTuple):
    """How a calibrator has done so far, in the user's units."""

    rounds: int  # forecasts issued
    scored: int  # outcomes learned
    open: int
    missing: int  # outcomes that never came
    expired: int  # forecasts given up because too many were open
    unguarded: int  # forecasts from before the range was known
    clipped: int  # outcomes outside the given bounds
    doubled: int  # how often the range grew
    low: float
    high: float
    since: int  # the round in which the guarantee began
    followed: int  # rounds played as the belief's bin
    overruled: int  # rounds in which another bin was drawn
    below: tuple[float, ...]  # share of outcomes below what was said, a number each
    score: tuple[float, ...]  # mean loss of what was said
    raw_score: tuple[float, ...]  # mean loss of the user's own numbers, where there were some
    compared_score: tuple[float, ...]  # mean loss of what was said in the same rounds
    certificate: tuple[float, ...]  # swap regret by label is at most this, a round
    nbytes: int


class Bins(NamedTuple):
    """The bins that were drawn for one number, in the user's units, in the order of first draws."""

    labels: FloatArray  # shape (n,)
    scales: FloatArray  # on the other scale where there is a transform, shape (n,)
    visits: FloatArray  # settled rounds in which each was drawn, shape (n,)
    wealth: FloatArray  # of the bettors against each claim; all start with 1 together, shape (n, 4)
    certificates: FloatArray  # what the swap regret of each is at most, shape (n,)
