"""Everything that implements a protocol is found and put through the shared checks."""

import inspect

import numpy as np
import pytest

from trueup import baselines, paper
from trueup.adversaries import SUITE, Adversary, FiniteLaw, GeneralConvex
from trueup.checks import check_adversary, check_forecaster
from trueup.losses import Absolute, Linear, Squared

RNG = np.random.default_rng(0)
LOSSES = {
    "TwoEndpoints": [Linear(float(c)) for c in RNG.choice([-1.0, 1.0], 60)],
    "SquaredCalibration": [Squared(float(v)) for v in RNG.uniform(size=60)],
}
GENERAL = [Absolute(float(v)) for v in RNG.uniform(size=60)]


def forecasters():
    """Yield every public class with predict, update and spacing."""
    for room in (paper, baselines):
        for name in room.__all__:
            thing = getattr(room, name)
            if (
                inspect.isclass(thing)
                and not inspect.isabstract(thing)
                and all(hasattr(thing, part) for part in ("predict", "update", "spacing"))
            ):
                yield thing


FORECASTERS = [kind for kind in forecasters() if kind is not paper.TruthfulPredictor]


def test_discovery_finds_what_there_is():
    """The paper's predictor and seven baselines; the truthful one answers laws instead."""
    assert len(FORECASTERS) >= 8


@pytest.mark.parametrize("kind", FORECASTERS, ids=lambda kind: kind.__name__)
def test_every_forecaster_keeps_the_contract(kind):
    """Mixtures, purity, seeds, copies, refusals."""
    check_forecaster(lambda: kind(rounds=60, seed=3), LOSSES.get(kind.__name__, GENERAL))


def test_the_master_variant_keeps_the_contract_too():
    """The other expert algorithm."""
    check_forecaster(lambda: paper.EfficientPredictor(60, seed=3, experts="master"), GENERAL)


@pytest.mark.parametrize("adversary", SUITE, ids=repr)
def test_every_adversary_keeps_the_contract(adversary):
    """Seeds and Lipschitz bounds."""
    check_adversary(adversary)


def test_a_forecaster_that_looks_twice_differently_breaks_the_contract():
    """The check sees a predict that moves on."""

    class Restless(baselines.BlumMansour):
        def predict(self):
            self._played, self._mixture = self._played + 1, None
            return super().predict()

    with pytest.raises(AssertionError, match="changes nothing"):
        check_forecaster(lambda: Restless(200, seed=3), GENERAL)


def test_a_forecaster_that_swallows_bad_losses_breaks_the_contract():
    """The check sees a missing refusal."""

    class Careless(paper.EfficientPredictor):
        def update(self, loss):
            if hasattr(loss, "pieces"):
                super().update(loss)

    with pytest.raises(AssertionError, match="it refuses the loss None"):
        check_forecaster(lambda: Careless(200, seed=3), GENERAL)


def test_an_adversary_over_its_bound_breaks_the_contract():
    """The check sees a loss steeper than said."""

    class Steep(GeneralConvex):
        lipschitz = 0.5

    with pytest.raises(AssertionError, match="no loss is steeper than its bound"):
        check_adversary(Steep())


def test_an_unseeded_adversary_breaks_the_contract():
    """The check sees a run that cannot be repeated."""

    class Unseeded(Adversary):
        def law(self, view):
            return FiniteLaw([Absolute(float(np.random.default_rng().uniform()))], [1.0])

    with pytest.raises(AssertionError, match="the same seed gives the same losses"):
        check_adversary(Unseeded())
