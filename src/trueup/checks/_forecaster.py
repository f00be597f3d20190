"""What every forecaster promises."""

import copy
import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from trueup.errors import TrueupError
from trueup.protocols import Forecaster, Issued, Loss, Mixture

ROUNDS = 40


@dataclass(frozen=True)
class Undefined:
    """A loss without values or slopes: no forecaster may learn from it."""

    lipschitz: float = 1e-3

    def value(self, forecast: Any) -> Any:
        """Return what is not a number."""
        return float("nan") * np.asarray(forecast)

    def slopes(self, forecast: Any) -> tuple[Any, Any]:
        """Return what are not numbers."""
        return self.value(forecast), self.value(forecast)


@dataclass(frozen=True)
class Concave:
    """A function whose slopes fall: not a loss."""

    lipschitz: float = 1e-3

    def value(self, forecast: Any) -> Any:
        """Return the distance to 1/2, with a minus sign."""
        return -self.lipschitz * np.abs(np.asarray(forecast) - 0.5)

    def slopes(self, forecast: Any) -> tuple[Any, Any]:
        """Return its slopes."""
        side = -self.lipschitz * np.sign(np.asarray(forecast) - 0.5)
        return side, side


def check_forecaster(make: Callable[[], Forecaster], losses: Sequence[Loss]) -> None:
    """Check the promises of a forecaster made by `make` on a sequence of suitable losses.

    >>> from trueup.losses import Absolute
    >>> from trueup.paper import EfficientPredictor
    >>> check_forecaster(lambda: EfficientPredictor(rounds=50), [Absolute(0.25)] * 50)
    """
    forecaster = make()
    name = type(forecaster).__name__
    said: list[Mixture] = []
    for number, loss in enumerate(losses[:ROUNDS]):
        issued = forecaster.predict()
        mixture = _parts(issued)
        _check_mixture(mixture, name)
        _promise(_same(mixture, _parts(forecaster.predict())), "predict changes nothing", name)
        if number in (0, 7):
            _check_refusals(forecaster, mixture, name)
        kept = [np.array(part) for part in mixture]
        forecaster.update(loss)
        _promise(_same(_parts(issued), kept), "update does not write into a mixture it gave", name)
        said.append(mixture)
    _promise(_run(make(), losses) == [m.value for m in said], "the same seed says the same", name)
    _check_copies(make(), losses, name)
    _promise(0 < forecaster.spacing <= 1, "its spacing is in (0, 1]", name)


def _check_copies(forecaster: Forecaster, losses: Sequence[Loss], name: str) -> None:
    """Copies made in the middle of a run go on as the original does."""
    middle = len(losses[:ROUNDS]) // 2
    _run(forecaster, losses[:middle])
    copies = (copy.deepcopy(forecaster), pickle.loads(pickle.dumps(forecaster)))  # noqa: S301
    said = _run(forecaster, losses[middle:ROUNDS])
    for copied in copies:
        _promise(_run(copied, losses[middle:ROUNDS]) == said, "copies go on alike", name)


def _run(forecaster: Forecaster, losses: Sequence[Loss]) -> list[float]:
    said = []
    for loss in losses[:ROUNDS]:
        said.append(forecaster.predict().value)
        forecaster.update(loss)
    return said


def _parts(issued: Issued) -> Mixture:
    return Mixture(issued.support, issued.scales, issued.probabilities, issued.value)


def _check_mixture(mixture: Mixture, name: str) -> None:
    support, probabilities = mixture.support, mixture.probabilities
    shapes = {support.shape, mixture.scales.shape, probabilities.shape}
    _promise(len(shapes) == 1, "support, scales and probabilities have one shape", name)
    _promise(bool(np.all((support >= 0) & (support <= 1))), "forecasts are in [0, 1]", name)
    _promise(bool(np.all(probabilities >= 0)), "probabilities are 0 or more", name)
    _promise(abs(float(probabilities.sum()) - 1) < 1e-9, "probabilities sum to 1", name)
    _promise(mixture.value in support[probabilities > 0], "what is said may be said", name)


def _check_refusals(forecaster: Forecaster, before: Mixture, name: str) -> None:
    """A wrong loss is refused with an error of ours and changes nothing."""
    for wrong in (None, 0.5, Undefined(), Concave()):
        try:
            forecaster.update(wrong)  # type: ignore[arg-type]
        except TrueupError:
            unchanged = _same(before, _parts(forecaster.predict()))
            _promise(unchanged, "a refused loss changes nothing", name)
            continue
        _promise(False, f"it refuses the loss {wrong!r}", name)  # noqa: FBT003


def _same(first: Sequence[object], second: Sequence[object]) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))  # type: ignore[arg-type]


def _promise(kept: bool, promise: str, name: str) -> None:  # noqa: FBT001 - a small assertion
    if not kept:
        raise AssertionError(f"A forecaster promises that {promise}; {name} does not.")
