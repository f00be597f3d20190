"""What a calibrator hands out and what it remembers of it."""

from typing import Any, NamedTuple

from trueup.calibrator._order import Moved
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
    moved: Moved | None  # how its numbers were put in order


class Evidence(NamedTuple):
    """What speaks against a bin: how much bettors against it have won, and which way it is off."""

    number: int  # which of the numbers that are issued
    label: float  # the bin
    scale: float  # how far around it its claims reach
    rounds: int  # in which it was drawn and answered
    grown: float  # by what factor the money against its strongest claim has grown
    outcomes: str  # "higher" or "lower": where that claim says that they lie
    certificate: float  # what replacing it by the best constant would have saved is at most this


class Report(NamedTuple):
    """How a calibrator has done so far, in the user's units; `print` shows it as a table."""

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
    overruled_last: tuple[tuple[int, float], ...]  # the last of these: round and what was drawn
    evidence: tuple[Evidence, ...]  # on which it was: the bins against which it is strongest
    crossed: int  # rounds in which numbers were moved to be in order
    coverage: tuple[float, ...]  # share of outcomes inside an interval, or up to each number
    below: tuple[float, ...]  # share of outcomes below what was said, a number each
    score: tuple[float, ...]  # mean loss of what was said
    raw_score: tuple[float, ...]  # mean loss of the user's own numbers, where there were some
    compared_score: tuple[float, ...]  # mean loss of what was said in the same rounds
    certificate: tuple[float, ...]  # swap regret by label is at most this, a round
    nbytes: int

    def __str__(self) -> str:
        lines = [f"{name:15} {_shown(value)}" for name, value in self._asdict().items()]
        return "\n".join(lines)


def _shown(value: Any) -> str:
    """Return a number, or a tuple of them, as a person reads it."""
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, Evidence):
        where = f"number {value.number}, bin {value.label:.6g} +- {2 * value.scale:.3g}"
        return (
            f"\n    {where}: outcomes lie {value.outcomes}, money against it x {value.grown:.3g}"
            f" after {value.rounds} rounds, certificate {value.certificate:.3g}"
        )
    if isinstance(value, tuple):
        return ", ".join(map(_shown, value)) or "-"
    return str(value)


class Bins(NamedTuple):
    """The bins that were drawn for one number, in the user's units, in the order of first draws."""

    labels: FloatArray  # shape (n,)
    scales: FloatArray  # on the other scale where there is a transform, shape (n,)
    visits: FloatArray  # settled rounds in which each was drawn, shape (n,)
    wealth: FloatArray  # of the bettors against each claim; all start with 1 together, shape (n, 4)
    certificates: FloatArray  # what the swap regret of each is at most, shape (n,)
