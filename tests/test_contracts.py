"""Everything that implements a protocol is found and put through the shared checks."""

import inspect

import numpy as np
import pytest

from trueup import baselines, paper
from trueup.adversaries import SUITE, Adversary, FiniteLaw, GeneralConvex
from trueup.checks import check_adversary, check_forecaster, check_rival
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


def rivals():
    """Yield every public class that is a rival and says something."""
    for name in baselines.__all__:
        thing = getattr(baselines, name)
        if (
            inspect.isclass(thing)
            and issubclass(thing, baselines.Rival)
            and not inspect.isabstract(thing)
        ):
            yield thing


RIVALS = {kind.__name__: kind for kind in rivals()} | {
    "Calibeating of OnlinePlatt": lambda: baselines.Calibeating(baselines.OnlinePlatt()),
    "HedgedBins of OnlinePlatt": lambda: baselines.HedgedBins(baselines.OnlinePlatt(), seed=1),
    "ACI with all options": lambda: baselines.ACI(step=0.1, burn_in=5, window=20, decay=0.95),
    "InternalRegretGrid of a quantile": lambda: baselines.InternalRegretGrid(0.9),
}
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


def test_the_lists_of_rivals_hold_them_all():
    """What discovery finds is in one of the two."""
    assert set(rivals()) == {*baselines.THRESHOLDS, *baselines.RECALIBRATORS}


@pytest.mark.parametrize("name", RIVALS)
def test_every_rival_keeps_the_contract(name):
    """Purity, refusals, seeds, copies, with a model's forecast and, where it may, without."""
    outcomes, forecasts = RNG.uniform(0.5, 1, 60).tolist(), RNG.uniform(0, 0.5, 60).tolist()
    check_rival(RIVALS[name], outcomes, forecasts)
    if not isinstance(RIVALS[name](), baselines.RECALIBRATORS):
        check_rival(RIVALS[name], outcomes)


def test_a_rival_that_counts_questions_breaks_the_contract():
    """The check sees a predict that moves on."""

    class Curious(baselines.QuantileTracker):
        def predict(self, forecast=None):
            self._threshold += 1e-3
            return super().predict(forecast)

    with pytest.raises(AssertionError, match="predict changes nothing"):
        check_rival(Curious, [0.5] * 60)


def test_a_rival_that_swallows_nan_breaks_the_contract():
    """The check sees a missing refusal."""

    class Careless(baselines.SFOGD):
        def update(self, outcome):
            if outcome == outcome:  # noqa: PLR0124 - not a NaN
                super().update(outcome)

    with pytest.raises(AssertionError, match="it refuses the outcome nan"):
        check_rival(Careless, [0.5] * 60)


class Shared(baselines.TrailingWindow):
    """Its copies go on with the same list of scores."""

    def __deepcopy__(self, memo):
        twin = type(self)()
        twin.__dict__.update(self.__dict__)
        return twin


def test_a_rival_whose_copies_share_breaks_the_contract():
    """The check sees state that a copy does not own."""
    with pytest.raises(AssertionError, match="copies go on alike"):
        check_rival(Shared, RNG.uniform(size=60).tolist())


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
