"""The one loop: forecast, let the adversary choose a law, draw the loss, learn.

The order matters and is the whole contract: the adversary sees the mixture before it chooses, and
the draw only afterwards. `play_reversed` is the order-reversed game of the paper, in which the law
comes first.
"""

from collections.abc import Sequence
from copy import deepcopy

import numpy as np

from trueup import _validation as check
from trueup._rounds import LAWS, remaining
from trueup.adversaries import Adversary, Given, View
from trueup.paper import TruthfulPredictor
from trueup.protocols import FloatArray, Forecaster, Issued, Loss, Mixture
from trueup.record import History, Record, Recorder

__all__ = ["play", "play_reversed"]


def play(
    forecaster: Forecaster,
    opponent: Adversary | Sequence[Loss],
    rounds: int | None = None,
    *,
    seed: int = 0,
) -> Record:
    """Run a forecaster and return the record.

    Parameters
    ----------
    forecaster : Forecaster
        It goes on learning from where it is; make a new one for a new run.
    opponent : Adversary or sequence of losses
    rounds : int, optional
        How many; by default as many as losses are given, or as the forecaster has left.
    seed : int
        Of the adversary and its draws.

    Examples
    --------
    >>> from trueup.losses import Absolute
    >>> from trueup.paper import EfficientPredictor
    >>> record = play(EfficientPredictor(rounds=20, seed=1), [Absolute(0.25)] * 20)
    >>> record.rounds
    20
    """
    check.instance("forecaster", forecaster, Forecaster, "a forecaster")
    adversary = _adversary(opponent)
    if rounds is None:
        rounds = len(adversary.losses) if isinstance(adversary, Given) else _left(forecaster)
    recorder, rng, adversary = _start(forecaster, adversary, rounds, seed)
    for number in range(rounds):
        mixture = forecaster.predict()
        view = _view(number, mixture, forecaster.spacing, recorder, forecaster)
        loss = adversary.law(view).sample(rng)
        forecaster.update(loss)
        adversary.observe(mixture.value, loss)
        recorder.add(mixture, loss)
    return recorder.record()


def play_reversed(
    predictor: TruthfulPredictor, adversary: Adversary, rounds: int | None = None, *, seed: int = 0
) -> Record:
    """Run the order-reversed game: the law is announced, the predictor answers, the loss is drawn.

    An adaptive adversary answers here to the forecast of the round before.

    Examples
    --------
    >>> from trueup.adversaries import bernoulli
    >>> record = play_reversed(TruthfulPredictor(rounds=20), bernoulli(0.5))
    >>> record.rounds
    20
    """
    check.instance("predictor", predictor, TruthfulPredictor, "a truthful predictor")
    rounds = _left(predictor) if rounds is None else rounds
    recorder, rng, adversary = _start(predictor, _adversary(adversary), rounds, seed)
    spacing = predictor.spacing
    mixture = _said(min(round(0.5 / spacing) * spacing, 1.0), spacing)  # a place on its grid
    for number in range(rounds):
        law = adversary.law(_view(number, mixture, predictor.spacing, recorder, None))
        forecast = predictor.predict(law.announced())
        loss = law.sample(rng)
        predictor.update(loss)
        adversary.observe(forecast.value, loss)
        mixture = _said(forecast.value, forecast.scale)
        recorder.add(mixture, loss)
    return recorder.record()


def _adversary(opponent: Adversary | Sequence[Loss]) -> Adversary:
    if isinstance(opponent, Adversary):
        return opponent
    check.instance("opponent", opponent, Sequence, "an adversary or a sequence of losses")
    return Given(tuple(opponent))


def _start(
    forecaster: object, adversary: Adversary, rounds: int, seed: int
) -> tuple[Recorder, np.random.Generator, Adversary]:
    """Refuse what cannot be played to its end, before the first round."""
    rounds = check.integer("rounds", rounds, at_least=1)
    seed = check.integer("seed", seed, at_least=0)
    if hasattr(forecaster, "rounds") and rounds > _left(forecaster):
        raise check.refuse("rounds", f"at most the {_left(forecaster)} that are left", rounds)
    own = deepcopy(adversary)
    own.reset(rounds, seed)
    return Recorder(), np.random.default_rng((LAWS, seed)), own


def _left(forecaster: object) -> int:
    """How many rounds a forecaster with a horizon can still play."""
    rounds = check.integer("rounds", getattr(forecaster, "rounds", None), at_least=1)
    return remaining(rounds, getattr(forecaster, "played", 0))


def _said(forecast: float, scale: float) -> Mixture:
    return Mixture(np.array([forecast]), np.array([scale]), np.ones(1), forecast)


def _view(
    number: int, mixture: Issued, spacing: float, history: Recorder, forecaster: object
) -> View:
    """Everything of the round but the draw, in copies that cannot be written to."""
    parts = [part.copy() for part in (mixture.support, mixture.scales, mixture.probabilities)]
    for part in parts:
        part.flags.writeable = False
    inside = getattr(forecaster, "cell_gains", None)

    def shown() -> tuple[FloatArray, FloatArray]:
        """Hand over the numbers, not the forecaster."""
        cells, values = inside()  # type: ignore[misc]
        return cells, values

    gains = None if inside is None else shown
    return View(number, parts[0], parts[1], parts[2], spacing, History(history), gains)
