"""The engine as a whole: spacing, both ways in, and what does not change anything."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.tools import clone, parts
from reference.wealth import finest_level
from trueup import Expectile, Mean, Median, Quantile
from trueup._kernels import _engine as kernels
from trueup.adversaries import SidePush, View
from trueup.distributions import Piecewise, uniform
from trueup.engine import Engine
from trueup.losses import Absolute, Squared
from trueup.replay import play


@pytest.mark.parametrize("horizon", [None, 500])
@pytest.mark.parametrize("c", [0.25, 1.0, 0.1])
def test_the_spacing_is_the_largest_power_that_is_allowed(c, horizon):
    """Up to c / sqrt(t) at each t, or c / sqrt(horizon) throughout; known before the round."""
    engine = Engine(seed=1, c=c, horizon=horizon)
    for number in range(1, 1_500):
        wanted = 0.5 ** finest_level(horizon or number, c)
        assert engine.spacing == wanted
        forecast = engine.predict()
        assert engine.spacing == forecast.spacing == wanted
        assert forecast.scales.min() >= wanted
        assert wanted <= c / math.sqrt(horizon or number) < 2 * wanted
        engine.update(Absolute(0.3))


@settings(max_examples=20, deadline=None)
@given(
    outcomes=st.lists(
        st.sampled_from([0.0, 0.25, 0.3, 0.5, 1.0]) | st.floats(0, 1), min_size=1, max_size=80
    ),
    c=st.sampled_from([0.25, 1.0]),
)
@pytest.mark.parametrize("wanted", [Median(), Quantile(0.1), Mean(), Expectile(0.9)], ids=repr)
def test_both_ways_in_give_the_same_bits(wanted, outcomes, c):
    """Whole arrays and step by step, at once or opened first: state and forecasts are equal."""
    stepped, opened, whole = (Engine(seed=7, c=c) for _ in range(3))
    said = []
    for outcome in outcomes:
        said.append(stepped.predict().value)
        stepped.update(wanted.loss(outcome))
        forecast = opened.open()
        assert forecast.value == said[-1]
        opened.update(wanted.loss(outcome), forecast.round)

    assert whole.play(outcomes, wanted).forecasts.tolist() == said
    assert whole.to_bytes() == stepped.to_bytes() == opened.to_bytes()
    assert whole.info() == stepped.info() == opened.info()


def test_both_ways_in_agree_with_everything_at_once():
    """Beliefs, points, groups, missing and late outcomes: the same bits, step by step."""
    rng, rounds = np.random.default_rng(8), 250
    nodes = np.array([0.0, 0.2, 0.5, 1.0])
    cdfs = np.sort(rng.uniform(size=(rounds, 4)), axis=1)
    cdfs[:, -1] = 1.0
    groups = np.sort([rng.permutation(4)[:2] for _ in range(rounds)])
    outcomes, points = rng.beta(2, 3, rounds), rng.uniform(size=rounds)
    outcomes[rng.uniform(size=rounds) < 0.1] = np.nan
    known_at = np.arange(1, rounds + 1) + rng.integers(0, 6, rounds)
    options = {"schedule": "own", "overrule": 0.5}
    whole, steps = Engine(seed=9, **options), Engine(seed=9, **options)
    for engine in (whole, steps):
        engine.state.f[kernels.CAP] = 1.002  # so that some beliefs are followed and some are not
    run = whole.play(
        outcomes, Median(), known_at=known_at, points=points, groups=groups, nodes=nodes, cdfs=cdfs
    )
    for number in range(rounds + 1):
        for earlier in np.flatnonzero(known_at == number).tolist():
            if np.isnan(outcomes[earlier]):
                steps.skip(earlier)
            else:
                steps.update(Absolute(outcomes[earlier]), earlier)
        if number < rounds:
            left = np.append(0.0, cdfs[number, 1:])
            belief = Piecewise(nodes, left, cdfs[number])
            forecast = steps.open(belief, point=points[number], groups=groups[number].tolist())
            assert forecast.round == number
            assert forecast.value == run.forecasts[number]
            assert (forecast.label, forecast.scale) == (run.labels[number], run.scales[number])
            assert forecast.followed == run.followed[number]

    assert whole.to_bytes() == steps.to_bytes()
    assert whole.info().open == steps.info().open == 2 * (known_at > rounds).sum() > 0
    assert 0 < whole.info().followed < rounds


def test_predicting_changes_nothing_that_lasts():
    """Any number of questions, with beliefs, points and groups, before the one that counts."""
    rng = np.random.default_rng(10)
    asked, quiet = (Engine(seed=11) for _ in range(2))
    for number in range(150):
        asked.enter((0,))  # the room that the round needs is made first
        before = asked.to_bytes()
        for _ in range(3):
            low = float(rng.uniform(0, 0.9))
            asked.predict(uniform(low, low + 0.1), point=low, groups=(0,))
        first = parts(asked.predict())
        assert parts(asked.predict()) == first == parts(quiet.predict())
        assert asked.to_bytes() == before
        outcome = Absolute(float(rng.uniform()))
        asked.update(outcome)
        quiet.update(outcome)
        if number % 50 == 0:
            asked.open(uniform(0.2, 0.3))
            quiet.open(uniform(0.2, 0.3))

    assert asked.to_bytes() == quiet.to_bytes()


def test_predicting_changes_nothing_that_lasts_when_whole_mixtures_learn():
    """The same where the whole mixture learns."""
    engine = Engine(seed=11, expected=True)
    before = engine.to_bytes()
    engine.predict(uniform(0.9, 0.95))

    assert engine.to_bytes() == before


def test_scratch_is_not_state():
    """Filling it with NaN between all calls changes nothing."""
    plain, dirty = Engine(seed=4), Engine(seed=4)

    def soil():
        dirty.scratch[0][:] = math.nan
        dirty.scratch[1][:] = -99
        dirty.seen[:] = math.nan
        dirty._row[:] = math.nan
        dirty._out[:] = math.nan

    waiting = []
    for k in range(300):
        loss = (Absolute(0.0 if k % 7 < 3 else 0.9), Squared(0.3))[k % 2]
        soil()
        dirty.lipschitz = plain.lipschitz = 2.0
        groups, belief = ((0,), (0, 1))[k % 2], uniform(0.3, 0.6) if k % 3 else None
        both = [parts(e.predict(belief, point=0.4, groups=groups)) for e in (plain, dirty)]
        assert both[0] == both[1]
        soil()
        if k % 5:
            plain.update(loss)
            dirty.update(loss)
        else:
            waiting.append([e.open(groups=groups).round for e in (plain, dirty)])
        if len(waiting) > 4:
            plain.update(loss, waiting[0][0])
            soil()
            dirty.update(loss, waiting.pop(0)[1])
    assert plain.to_bytes() == dirty.to_bytes()


def test_an_adversary_may_look_at_the_evidence_but_not_at_the_draw():
    """The view of a round is the same for two seeds until their draws have parted."""
    views = []

    class Watching(SidePush):
        def law(self, view: View):
            views.append((view.round, view.support.tolist(), view.probabilities.tolist()))
            return super().law(view)

    for seed in (1, 2):
        play(Engine(seed), Watching(), 1)

    assert views[0] == views[1]


def test_a_forecast_is_plain_data():
    """Its support holds the label, its shares sum to 1, and it reads well."""
    engine = Engine(seed=2)
    for _ in range(30):
        forecast = engine.predict()
        assert forecast.label in forecast.support[forecast.probabilities > 0]
        assert forecast.probabilities.sum() == pytest.approx(1)
        assert len({forecast, engine.predict()}) == 1
        engine.update(Absolute(0.7))

    assert engine.predict() != forecast
    assert forecast != 0.5
    assert repr(forecast).startswith(f"Forecast(value={forecast.value}, label={forecast.label},")
    assert repr(Engine(seed=5)) == (
        "Engine(seed=5, c=0.25, horizon=None, lipschitz=None, schedule='shared', overrule=0.05,"
        " refine=True, expected=False)"
    )


def test_equal_forecasts_are_equal():
    """Those of an engine and of its copy, whatever either has said before."""
    engine = Engine(seed=2)
    for _ in range(30):
        engine.predict()
        engine.update(Absolute(0.7))
    first, second = engine.predict(), clone(engine).predict()

    assert parts(first) == parts(second)
    assert first == second
    assert hash(first) == hash(second)
