"""A run of a forecaster against a rule that sees its mixture, never its draw."""

import numpy as np
import pytest

from trueup.losses import Absolute


def _play(forecaster, rule, *, kind=Absolute, rounds=None):
    """Return the mixtures, losses and outcomes of a run; `rule` maps a mixture to an outcome."""
    mixtures, outcomes = [], []
    for _ in range(forecaster.rounds if rounds is None else rounds):
        mixture = forecaster.predict()
        outcome = float(rule(mixture))
        forecaster.update(kind(outcome))
        mixtures.append(mixture)
        outcomes.append(outcome)
    return mixtures, [kind(outcome) for outcome in outcomes], np.array(outcomes)


@pytest.fixture
def play():
    """Give the loop of a run."""
    return _play


@pytest.fixture
def rules():
    """Give the outcomes to play against: at random, against the certain, against the likeliest."""
    rng = np.random.default_rng(3)
    return {
        "random": lambda mixture: rng.random(),
        "certain": lambda mixture: 0.0 if mixture.probabilities.max() > 0.5 else 1.0,
        "likeliest": lambda mixture: mixture.support[mixture.probabilities.argmax()] <= 0.5,
    }
