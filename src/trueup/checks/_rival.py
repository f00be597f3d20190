"""What every rival from practice promises."""

import copy
import math
import pickle
from collections.abc import Callable, Sequence

from trueup.baselines import Rival
from trueup.errors import InvalidArgument

ROUNDS = 60
WRONG: tuple[object, ...] = (None, "0.5", True, math.nan, math.inf, -math.inf, [0.5])
OTHER = 0.123  # a forecast nobody asked about

Forecasts = Sequence[float] | None


def check_rival(
    make: Callable[[], Rival], outcomes: Sequence[float], forecasts: Forecasts = None
) -> None:
    """Check the promises of a rival made by `make`, on outcomes and forecasts that suit it.

    >>> from trueup.baselines import QuantileTracker
    >>> check_rival(QuantileTracker, [0.1, 0.7, 0.4] * 20)
    """
    rival = make()
    name = type(rival).__name__
    said = []
    for number, (forecast, outcome) in enumerate(_rounds(outcomes, forecasts)):
        first = rival.predict(forecast)
        _promise(isinstance(first, float) and not math.isnan(first), "it says a float", name)
        rival.predict(OTHER)
        _promise(rival.predict(forecast) == first, "predict changes nothing", name)
        if number in (0, 7):
            _check_refusals(rival, forecast, name)
        _promise(rival.played == number, "played counts the outcomes learned", name)
        rival.update(outcome)
        said.append(first)
    alone = _run(make(), outcomes, forecasts)
    _promise(alone == said, "the same seed says the same, whatever else it was asked", name)
    _check_copies(make(), outcomes, forecasts, name)
    _promise("object at 0x" not in repr(rival), "its repr is readable", name)


def _rounds(outcomes: Sequence[float], forecasts: Forecasts) -> list[tuple[float | None, float]]:
    asked = [None] * len(outcomes) if forecasts is None else forecasts
    return list(zip(asked, outcomes, strict=True))[:ROUNDS]


def _run(rival: Rival, outcomes: Sequence[float], forecasts: Forecasts) -> list[float]:
    said = []
    for forecast, outcome in _rounds(outcomes, forecasts):
        said.append(rival.predict(forecast))
        rival.update(outcome)
    return said


def _check_copies(rival: Rival, outcomes: Sequence[float], forecasts: Forecasts, name: str) -> None:
    """Copies made in the middle of a run, a forecast asked about, go on as the original does."""
    middle = len(outcomes[:ROUNDS]) // 2
    before, after = (None, None) if forecasts is None else (forecasts[:middle], forecasts[middle:])
    _run(rival, outcomes[:middle], before)
    rival.predict(None if after is None else after[0])
    copies = (copy.deepcopy(rival), pickle.loads(pickle.dumps(rival)))  # noqa: S301
    for each in (rival, *copies):
        each.update(outcomes[middle])
    rest = outcomes[middle + 1 :], None if after is None else after[1:]
    said = _run(rival, *rest)
    for copied in copies:
        _promise(_run(copied, *rest) == said, "copies go on alike", name)


def _check_refusals(rival: Rival, forecast: float | None, name: str) -> None:
    """Wrong forecasts and outcomes are refused with an error of ours and change nothing."""
    before = rival.predict(forecast)
    for wrong in WRONG:
        if wrong is not None:
            _promise(_refuses(rival.predict, wrong), f"it refuses the forecast {wrong!r}", name)
        _promise(_refuses(rival.update, wrong), f"it refuses the outcome {wrong!r}", name)
        _promise(rival.predict(forecast) == before, "what is refused changes nothing", name)


def _refuses(method: Callable[..., object], wrong: object) -> bool:
    try:
        method(wrong)
    except InvalidArgument:
        return True
    return False


def _promise(kept: bool, promise: str, name: str) -> None:  # noqa: FBT001 - a small assertion
    if not kept:
        raise AssertionError(f"A rival promises that {promise}; {name} does not.")
