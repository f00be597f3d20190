"""The compiled game is the game of `play`, only faster."""

import math
from collections import deque

import numpy as np
import pytest

from trueup import Mean, Median
from trueup._kernels import _engine as kernels
from trueup.adversaries import (
    SUITE,
    BadBin,
    BinMajority,
    Drift,
    GeneralConvex,
    Given,
    Midpoint,
    NearUniform,
    PotentialGreedy,
    RegimeShift,
    RotatingBins,
    SidePush,
    SignPreservation,
    uniform,
)
from trueup.engine import Engine
from trueup.errors import InvalidArgument
from trueup.losses import Absolute
from trueup.metrics import swap_regret
from trueup.replay import duel, losses_of, play

TIES_OR_BATCHES = (PotentialGreedy, GeneralConvex)  # these draw more than one number a round
SETTINGS = [
    RotatingBins(Mean(), places=3, epsilon=0.2),
    NearUniform(Mean()),
    RegimeShift(Mean(), regimes=3, noise=0.2),
    Drift(Mean(), waves=1.5),
    Midpoint(Mean(), moves=3),
    SignPreservation(Mean()),
    BinMajority(Mean()),
    uniform(Mean()),
]


def same_games():
    """Return the adversaries that draw one number a round, or none."""
    for adversary in (*SUITE, *SETTINGS):
        if not isinstance(adversary, TIES_OR_BATCHES):
            yield adversary


@pytest.mark.parametrize("adversary", list(same_games()), ids=repr)
@pytest.mark.parametrize("options", [{}, {"c": 1.0, "horizon": 400}], ids=repr)
def test_a_duel_is_the_same_game_bit_for_bit(adversary, options):
    """Forecasts, outcomes and all evidence, for adversaries that draw one number a round."""
    fast, slow = Engine(seed=1, **options), Engine(seed=1, **options)
    game = duel(fast, adversary, 400, seed=2)
    record = play(slow, adversary, 400, seed=2)

    np.testing.assert_array_equal(game.forecasts, record.forecasts)
    np.testing.assert_array_equal(game.labels, record.forecasts)
    np.testing.assert_array_equal(game.outcomes, record.outcomes())
    assert fast.to_bytes() == slow.to_bytes()
    assert fast.info() == slow.info()
    assert game.losses.size == 0


@pytest.mark.parametrize("adversary", [BadBin(), RegimeShift(), SETTINGS[2]], ids=repr)
def test_a_duel_is_the_same_game_to_rounding(adversary):
    """Where outcomes are computed by two formulas: the last digit of an outcome may differ."""
    fast, slow = Engine(seed=1), Engine(seed=1)
    game = duel(fast, adversary, 400, seed=2)
    record = play(slow, adversary, 400, seed=2)

    np.testing.assert_allclose(game.outcomes, record.outcomes(), rtol=0, atol=1e-15)
    np.testing.assert_array_equal(game.forecasts, record.forecasts)
    assert fast.certificate() == pytest.approx(slow.certificate())


def test_another_seed_gives_another_game():
    """The companion: the comparison above can fail, for the engine's seed and the adversary's."""
    games = [duel(Engine(seed=s), BadBin(), 200, seed=t) for s, t in ((1, 1), (2, 1), (1, 2))]

    assert (games[0].forecasts != games[1].forecasts).any()
    assert (games[0].outcomes != games[2].outcomes).any()
    again = duel(Engine(seed=1), BadBin(), 200, seed=1)
    np.testing.assert_array_equal(games[0].forecasts, again.forecasts)


@pytest.mark.parametrize("late", [1, 7, 500])
def test_late_outcomes_are_those_of_open_forecasts(late):
    """Step by step: each outcome is chosen in its own round and learned `late` rounds later."""
    fast, slow = Engine(seed=3), Engine(seed=3)
    game, waiting = duel(fast, SidePush(), 300, late=late), deque()
    for number in range(300):
        if number > late:
            slow.update(*waiting.popleft())
        forecast = slow.open()
        outcome = 0.0 if forecast.support[np.argmax(forecast.probabilities)] > 0.5 else 1.0
        waiting.append((Absolute(outcome), forecast.round))
        assert (forecast.label, forecast.scale) == (game.labels[number], game.scales[number])
        assert outcome == game.outcomes[number]
    while waiting:
        slow.update(*waiting.popleft())

    assert fast.info() == slow.info()
    assert fast.certificate() == slow.certificate()
    np.testing.assert_array_equal(fast.wealth(), slow.wealth())


def test_the_greedy_one_takes_an_outcome_of_the_largest_gain():
    """Replayed step by step: no other outcome has a larger expected gain in its round."""
    game, steps = duel(Engine(seed=4), PotentialGreedy(), 400, seed=5), Engine(seed=4)
    chosen = set()
    for outcome, label in zip(game.outcomes, game.labels, strict=True):
        assert steps.predict().label == label
        cells, gains = steps.cell_gains()
        most = gains.max()
        starts = cells - steps.spacing / 2
        gain = gains[np.searchsorted(starts, outcome, side="right") - 1]
        assert gain >= most - 1e-12 * max(abs(most), 1e-300) - 1e-15
        chosen.add(float(outcome))
        steps.update(Absolute(outcome))

    assert len(chosen) > 3


def test_general_losses_are_played_as_rows_and_can_be_read_back():
    """Seven kinds, slopes of at most 1: the same run step by step, and its certificate holds."""
    fast, slow = Engine(seed=6), Engine(seed=6, lipschitz=1.0)
    game = duel(fast, GeneralConvex(), 400, seed=7)
    losses = losses_of(game.losses)
    record = play(slow, losses)

    assert np.isnan(game.outcomes).all()
    assert len(set(game.losses[:, kernels.KIND])) == 4
    assert max(loss.lipschitz for loss in losses) == pytest.approx(1)
    np.testing.assert_array_equal(record.forecasts, game.forecasts)
    assert slow.certificate() == pytest.approx(fast.certificate())
    assert swap_regret(record) <= fast.certificate() * (1 + 1e-9)


def test_a_duel_goes_on_from_where_the_engine_is():
    """The next round's number, spacing and evidence are those of the engine."""
    engine = Engine(seed=8)
    engine.play(np.full(300, 0.4), Median())
    game = duel(engine, SidePush(), 100)

    assert engine.played == 400
    assert abs(game.labels[0] - 0.4) < 0.1
    assert math.isfinite(engine.certificate())


def test_a_duel_divides_losses_by_what_the_engine_divides_them_by():
    """An engine made for steeper losses plays the same game in both ways."""
    fast, slow = Engine(seed=9, lipschitz=2.0), Engine(seed=9, lipschitz=2.0)
    duel(fast, SidePush(), 200)
    play(slow, SidePush(), 200)

    assert fast.certificate() == slow.certificate()


def test_wrong_duels_are_refused():
    """With one sentence each, before anything is played."""
    engine = Engine(seed=10)
    for call, sentence in (
        (lambda: duel(engine, SidePush(), 0), "rounds must be at least 1"),
        (lambda: duel(engine, SidePush(), 5, seed=-1), "seed must be at least 0"),
        (lambda: duel(engine, SidePush(), 5, late=-1), "late must be at least 0"),
        (lambda: duel(None, SidePush(), 5), "engine must be an Engine"),
        (lambda: duel(engine, None, 5), "adversary must be an adversary"),
        (lambda: duel(engine, Given([Absolute(0.5)]), 1), "adversary must be one of SUITE's kinds"),
        (lambda: duel(Engine(lipschitz=1.0), uniform(Mean()), 5), "losses must have slopes of at"),
    ):
        with pytest.raises(InvalidArgument, match=sentence):
            call()

    assert engine.played == 0
