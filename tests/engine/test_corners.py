"""What once went wrong: corners of the engine that an attack on it found."""

import numpy as np
import pytest

from engine.tools import all_pairs, guarded, with_rows
from trueup._kernels import _engine as kernels
from trueup.distributions import discrete
from trueup.engine import Engine
from trueup.errors import InvalidArgument, UnknownForecast
from trueup.losses import Absolute, Pinball

NONE = np.zeros(1)


def test_expected_updates_never_run_out_of_room():
    """Every outcome is learned, however many pairs are looked at."""
    rng, engine = np.random.default_rng(0), Engine(seed=1, expected=True, overrule=None)
    for number in range(300):
        engine.predict(discrete([float(rng.uniform())], [1.0]))
        engine.update(Absolute(float(rng.uniform())))

        assert engine.played == number + 1
    assert engine.visited()[2][:, 0].sum() == pytest.approx(300)


@pytest.mark.parametrize("seed", [6, 10, 37])
def test_a_tiny_pivot_does_not_spoil_the_small_game(seed):
    """Weights over dozens of orders of magnitude, climbing towards games that are long to solve."""
    rng, worst = np.random.default_rng(seed), 0.0
    for _ in range(12):
        finest = int(rng.integers(3, 6))
        pairs = all_pairs(finest)
        engine = Engine(seed=1, c=1.0, horizon=4**finest)
        places = with_rows(engine, pairs)
        spread, longest = float(np.exp(rng.uniform(0.0, 2.5))), -1.0
        logs = np.clip(spread * rng.normal(size=(len(pairs), 4)), -40.0, 0.0)
        for _ in range(150):
            moved = rng.random(logs.shape) < rng.choice([0.01, 0.05, 0.3])
            step = spread * rng.choice([0.1, 0.5, 1.5]) * rng.normal(size=logs.shape)
            tried = np.clip(logs + step * moved, -40.0, 0.0)
            i, f = engine.state
            f[places], f[kernels.WEALTH] = np.exp(tried), 2 * np.exp(tried).sum()
            i[kernels.SIZE] = 0
            worst = max(worst, guarded(engine, finest)[2])
            effort = float(i[kernels.DID_SOLVE]) + 0.01 * float(i[kernels.DID_PIVOT])
            if effort >= longest:
                longest, logs = effort, tried

    assert longest > 2
    assert worst <= 1e-12


def test_the_certificate_holds_when_the_range_has_doubled():
    """A pinball loss goes on beyond the old end with its own slope, not with the steepest."""
    level, steepest = 0.9, 0.9
    engine = Engine(seed=0, c=1.0, horizon=4**5, overrule=1e-300, refine=False)
    rounds = ((1_000, 2, 2, 0.5), (500, 3, 2, 1.0))
    for count, scale, place, outcome in rounds:  # the same bin, before and after
        for _ in range(count):
            engine.enter((0,))
            aim = np.array([float(scale)]), np.array([float(place)])
            kernels.look(*engine.state, NONE, *aim, -1, np.nan, engine._out, *engine.scratch)
            assert engine.state.i[kernels.MODE] == kernels.FOLLOW
            engine.update(Pinball(outcome, level))
        if count == 1_000:
            kernels.double(*engine.state, False)  # noqa: FBT003 - a kernel
    b, end = 0.25, 1.0
    truth = 500 * level * (end - b) - 1_000 * (1 - level) * (end - b)

    assert engine.certificate() / steepest >= truth / steepest - 1e-9


def test_a_mixture_made_for_other_wealth_is_not_played():
    """An older answer outdates what was predicted and not opened; the user is told."""
    engine = Engine(seed=1)
    late = engine.open()
    engine.predict()
    engine.update(Absolute(0.2), late.round)
    before = engine.to_bytes()
    with pytest.raises(UnknownForecast, match="predict again"):
        engine.update(Absolute(0.3))

    assert engine.to_bytes() == before
    engine.predict()
    engine.update(Absolute(0.3))
    assert engine.played == 2


def test_a_refused_prediction_leaves_the_last_one_standing():
    """Its groups too."""
    engine = Engine(seed=1)
    engine.predict(groups=(0,))
    with pytest.raises(InvalidArgument, match="belief must be"):
        engine.predict("nonsense", groups=(3,))
    engine.update(Absolute(0.4))

    assert engine.visited(0)[2][:, 0].sum() == 1
    assert not engine.visited(3)[2].size
