"""The one loop keeps the order of the game and repeats itself for a seed."""

import numpy as np
import pytest

from trueup.adversaries import SUITE, SidePush, bernoulli
from trueup.baselines import BlumMansour
from trueup.errors import InvalidArgument
from trueup.losses import Absolute
from trueup.paper import EfficientPredictor, TruthfulPredictor
from trueup.record import Mixture, Recorder, record_of
from trueup.replay import play, play_reversed


def test_a_record_holds_what_happened():
    """Mixtures end to end, draws among their points, losses in order."""
    record = play(EfficientPredictor(50, seed=1), bernoulli(0.5), seed=2)
    for t in range(record.rounds):
        part = slice(record.starts[t], record.starts[t + 1])
        assert record.forecasts[t] in record.support[part]
        assert record.probabilities[part].sum() == pytest.approx(1)
    np.testing.assert_allclose(
        record.costs(), [abs(p - x.v) for p, x in zip(record.forecasts, record.losses, strict=True)]
    )


def test_the_same_seeds_give_the_same_run():
    """And another seed another one."""
    runs = [play(EfficientPredictor(50, seed=1), bernoulli(0.5), seed=s) for s in (2, 2, 3)]

    np.testing.assert_array_equal(runs[0].forecasts, runs[1].forecasts)
    assert [x.v for x in runs[0].losses] != [x.v for x in runs[2].losses]


def test_playing_does_not_change_the_adversary():
    """A copy is played, so that one setting serves many runs."""
    adversary = SidePush()
    play(EfficientPredictor(5), adversary)

    assert vars(adversary) == vars(SidePush())


def test_a_sequence_of_losses_is_an_adversary_too():
    """As many rounds as losses, or as many as asked."""
    losses = [Absolute(0.25)] * 8

    assert play(EfficientPredictor(20), losses).rounds == 8
    assert play(EfficientPredictor(20), losses, 3).rounds == 3


@pytest.mark.parametrize("adversary", SUITE, ids=repr)
def test_every_adversary_can_play_the_reversed_game(adversary):
    """Its law can be announced, and the truthful predictor answers it."""
    record = play_reversed(TruthfulPredictor(60, 0.05), adversary, seed=1)

    assert record.rounds == 60
    assert np.all(np.diff(record.starts) == 1)


def test_records_of_given_mixtures_are_checked():
    """Support, probabilities, the draw and the lengths."""
    half = np.array([0.5, 0.5])
    good = Mixture(np.array([0.0, 1.0]), half, half, 1.0)
    for mixture, sentence in (
        (good._replace(support=np.array([0.0, 1.5])), "support must be inside the interval"),
        (good._replace(probabilities=half / 2), "probabilities must sum to 1"),
        (good._replace(scales=half[:1]), "must have the same length"),
        (good._replace(value=0.5), "value must be a point of the support"),
    ):
        with pytest.raises(InvalidArgument, match=sentence):
            record_of([mixture], [Absolute(0.5)])
    with pytest.raises(InvalidArgument, match="mixtures and losses must have the same length"):
        record_of([good], [])
    assert Recorder().record().rounds == 0
    recorder = Recorder()
    recorder.add(good, Absolute(0.5))
    assert recorder.last() == (good, Absolute(0.5))


def test_bad_rounds_and_seeds_are_refused():
    """Before anything is played."""
    for options, sentence in (
        ({"rounds": 0}, "rounds must be at least 1"),
        ({"seed": -1}, "seed must be at least 0"),
    ):
        with pytest.raises(InvalidArgument, match=sentence):
            play(EfficientPredictor(10), bernoulli(0.5), **options)

    class Endless:
        spacing = 1.0

        def predict(self):
            return None

        def update(self, loss):
            return None

    with pytest.raises(InvalidArgument, match="rounds must be a whole number"):
        play(Endless(), bernoulli(0.5))
    with pytest.raises(InvalidArgument, match="forecaster must be a forecaster, got 3"):
        play(3, bernoulli(0.5))
    with pytest.raises(InvalidArgument, match="opponent must be an adversary or a sequence"):
        play(EfficientPredictor(10), None)
    with pytest.raises(InvalidArgument, match="predictor must be a truthful predictor"):
        play_reversed(EfficientPredictor(10), bernoulli(0.5))


def test_a_run_that_cannot_end_does_not_begin():
    """A partly used predictor plays what it has left, and no more."""
    predictor = EfficientPredictor(10)
    assert play(predictor, bernoulli(0.5), 4).rounds == 4
    with pytest.raises(InvalidArgument, match="rounds must be at most the 6 that are left, got 7"):
        play(predictor, bernoulli(0.5), 7)
    assert predictor.played == 4
    assert play(predictor, bernoulli(0.5)).rounds == 6


def test_an_adversary_cannot_write_into_the_run():
    """What it is shown are copies, read-only, without the forecaster behind them."""

    class Meddler(SidePush):
        def law(self, view):
            for part in (view.support, view.probabilities):
                with pytest.raises(ValueError, match="read-only"):
                    part[:] = 0.5
            assert not hasattr(view.history, "add")
            assert not hasattr(view.cell_gains, "__self__")
            assert len(view.history) == view.round
            if view.round:
                mixture, _ = view.history.last()
                mixture.support[:] = 0.123
            return super().law(view)

    meddled = play(EfficientPredictor(30, seed=2), Meddler())
    plain = play(EfficientPredictor(30, seed=2), SidePush())

    np.testing.assert_array_equal(meddled.forecasts, plain.forecasts)


@pytest.mark.parametrize("seed", range(3))
def test_equal_seeds_share_no_coin(seed):
    """The draw of a forecaster says nothing about an adversary with the same seed."""
    agree = [
        (run := play(BlumMansour(2, s, points=2), bernoulli(0.5), seed=s)).forecasts[0]
        == run.losses[0].v
        for s in range(200 * seed, 200 * seed + 200)
    ]

    assert 60 < sum(agree) < 140
