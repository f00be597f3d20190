"""What every calibrator promises: anything that is opened, answered late or never, and saved."""

import math
import pickle
from collections.abc import Callable, Sequence
from typing import Any

from trueup.errors import TrueupError

ROUNDS = 60
LATE = 5  # rounds until an outcome comes, in the part of the check that waits
WRONG_OUTCOMES: tuple[object, ...] = ("0.5", True, math.inf, -math.inf, [0.5])
WRONG_FORECASTS: tuple[object, ...] = ("0.5", True, math.nan, math.inf)


def check_calibrator(
    make: Callable[[], Any],
    outcomes: Sequence[float],
    forecasts: Sequence[float | None] | None = None,
) -> None:
    """Check the promises of a calibrator made by `make`, on outcomes and forecasts that suit it.

    It needs `predict`, `peek`, `update`, `skip`, `open`, `to_bytes` and `from_bytes` as
    `trueup.Calibrator` has them.

    >>> from trueup import Calibrator, Median
    >>> check_calibrator(lambda: Calibrator(Median()), [1.0, 4.0, 2.0] * 20)
    """
    own = [None] * len(outcomes) if forecasts is None else list(forecasts)
    rounds = list(zip(own, outcomes, strict=True))[:ROUNDS]
    name = type(make()).__name__
    _check_rounds(make(), rounds, name)
    _check_late(make(), rounds, name)
    _check_copies(make(), rounds, name)
    said = [_run(make(), rounds) for _ in range(2)]
    _promise(said[0] == said[1], "the same seed says the same", name)
    _promise("object at 0x" not in repr(make()), "its repr is readable", name)


def _check_rounds(calibrator: Any, rounds: list[tuple[Any, float]], name: str) -> None:
    """Looks change nothing, refusals change nothing, missing outcomes teach nothing."""
    for number, (own, outcome) in enumerate(rounds):
        before = calibrator.to_bytes()
        seen = calibrator.peek(own)
        _promise(calibrator.peek(own) == seen, "two looks agree", name)
        _promise(calibrator.to_bytes() == before, "a look changes nothing", name)
        forecast = calibrator.predict(own)
        _promise(forecast == seen, "predict says what peek has shown", name)
        if number in (0, 9):
            _check_refusals(calibrator, forecast, name)
        if number == 20:
            calibrator.update(None)
            continue
        calibrator.update(outcome, forecast=forecast)
        refused = _refuses(calibrator, "update", outcome, forecast=forecast)
        _promise(refused, "a forecast is answered once, a second answer changes nothing", name)
    _promise(not calibrator.open, "what is answered is not open", name)


def _check_refusals(calibrator: Any, forecast: Any, name: str) -> None:
    for wrong in WRONG_OUTCOMES:
        refused = _refuses(calibrator, "update", wrong, forecast=forecast)
        _promise(refused, f"it refuses the outcome {wrong!r} and stays as it was", name)
    for wrong in WRONG_FORECASTS:
        refused = _refuses(calibrator, "predict", wrong)
        _promise(refused, f"it refuses the forecast {wrong!r} and stays as it was", name)
    refused = _refuses(calibrator, "skip", 10**9)
    _promise(refused, "it refuses a forecast that was never made", name)


def _check_late(calibrator: Any, rounds: list[tuple[Any, float]], name: str) -> None:
    """Any number may be open, and answers may come in any order."""
    waiting: list[tuple[Any, float]] = []
    for own, outcome in rounds:
        waiting.append((calibrator.predict(own), outcome))
        if len(waiting) > LATE:
            for forecast, late in reversed(waiting[1:]):
                calibrator.update(late, forecast=forecast)
            waiting = waiting[:1]
    _promise(len(calibrator.open) == len(waiting), "it knows what is open", name)
    for forecast, _ in waiting:
        calibrator.skip(forecast)
    _promise(not calibrator.open, "what is skipped is not open", name)


def _check_copies(calibrator: Any, rounds: list[tuple[Any, float]], name: str) -> None:
    """What is saved with a forecast open goes on as the original does."""
    middle = len(rounds) // 2
    _run(calibrator, rounds[:middle])
    forecast = calibrator.predict(rounds[middle][0])
    copies = [
        type(calibrator).from_bytes(calibrator.to_bytes()),
        pickle.loads(pickle.dumps(calibrator)),  # noqa: S301 - made the line before
    ]
    runs = []
    for each in (calibrator, *copies):
        each.update(rounds[middle][1], forecast=forecast)
        runs.append(_run(each, rounds[middle + 1 :]))
    _promise(runs[0] == runs[1] == runs[2], "what is loaded goes on bit for bit", name)


def _run(calibrator: Any, rounds: list[tuple[Any, float]]) -> list[Any]:
    said = []
    for own, outcome in rounds:
        said.append(calibrator.predict(own).value)
        calibrator.update(outcome)
    return said


def _refuses(calibrator: Any, method: str, *arguments: object, **options: object) -> bool:
    before = calibrator.to_bytes()
    try:
        getattr(calibrator, method)(*arguments, **options)
    except TrueupError:
        return bool(calibrator.to_bytes() == before)
    return False


def _promise(kept: bool, promise: str, name: str) -> None:  # noqa: FBT001 - a small assertion
    if not kept:
        raise AssertionError(f"A calibrator promises that {promise}; {name} does not.")
