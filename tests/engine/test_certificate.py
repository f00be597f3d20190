"""The certificate: an inequality about the losses of a run, and how small it stays."""

import math

import numpy as np
import pytest

from engine.tools import numbers_of
from trueup import Median
from trueup.adversaries import SUITE, GeneralConvex, Midpoint, SidePush
from trueup.engine import Engine
from trueup.losses import Absolute
from trueup.metrics import swap_regret, swap_regret_by_group
from trueup.replay import duel, losses_of, play

ROUNDS = 20_000
WORST_SEEN = 2.5  # swap regret / sqrt(T), over all adversaries, with room for seeds


def regret_of(game, adversary):
    """Return the swap regret of a duel by pair."""
    if isinstance(adversary, GeneralConvex):
        return swap_regret(game.forecasts, losses_of(game.losses), by=numbers_of(game))
    return swap_regret(game.forecasts, game.outcomes, adversary.wanted, by=numbers_of(game))


@pytest.mark.parametrize("adversary", SUITE, ids=repr)
def test_the_certificate_is_never_below_swap_regret_and_both_stay_small(adversary):
    """By pair, against every adversary; gains that rounding left over are negligible."""
    rounds = 2_000 if isinstance(adversary, GeneralConvex) else ROUNDS
    engine = Engine(seed=3)
    game = duel(engine, adversary, rounds, seed=4)
    scale = adversary.lipschitz * math.sqrt(rounds)

    assert regret_of(game, adversary) <= engine.certificate() * (1 + 1e-9)
    assert regret_of(game, adversary) <= WORST_SEEN * scale
    assert engine.certificate() <= 3 * WORST_SEEN * scale
    assert engine.info().gains <= 1e-9


@pytest.mark.parametrize("adversary", SUITE, ids=repr)
def test_the_certificate_knows_of_late_outcomes(adversary):
    """Outcomes that come seven rounds late: it counts settled rounds, at the end all of them."""
    engine = Engine(seed=5)
    game = duel(engine, adversary, 2_000, seed=6, late=7)

    assert regret_of(game, adversary) <= engine.certificate() * (1 + 1e-9)
    assert engine.info().gains <= 1e-9


@pytest.mark.parametrize("adversary", [SidePush(), Midpoint(moves=20), SUITE[3]], ids=repr)
def test_the_certificate_is_never_below_swap_regret_at_any_time(adversary):
    """After every tenth of a run, pair by pair."""
    engine, rounds = Engine(seed=5, refine=False), 1_000
    record = play(engine, adversary, rounds, seed=6)
    again, said, outcomes = Engine(seed=5, refine=False), [], record.outcomes()
    pairs = []
    for number, outcome in enumerate(outcomes, start=1):
        forecast = again.predict()
        said.append(forecast.value)
        pairs.append(forecast.label - 4 * np.log2(forecast.scale))
        again.update(adversary.wanted.loss(float(outcome)))
        if number % 100 == 0:
            by_pair = swap_regret_by_group(said, outcomes[:number], adversary.wanted, by=pairs)
            bins, scales, most = again.certificates()
            known = dict(zip((bins - 4 * np.log2(scales)).tolist(), most.tolist(), strict=True))
            for pair, regret in zip(by_pair.groups.tolist(), by_pair.regrets, strict=True):
                assert regret <= known[pair] * (1 + 1e-9) + 1e-12
    np.testing.assert_array_equal(said, record.forecasts)


def parts_of_certificates(engine):
    """Return what each visited pair's certificate is without its near and without its far part."""
    bins, scales, (n, up, down, above, below) = *engine.visited()[:2], engine.visited()[2].T
    near = np.minimum(2 * scales, 1 - bins) * np.maximum(n - 2 * below, 0)
    far = np.maximum(1 - bins - 2 * scales, 0) * np.maximum(2 * up - n, 0)
    near_left = np.minimum(2 * scales, bins) * np.maximum(n - 2 * above, 0)
    far_left = np.maximum(bins - 2 * scales, 0) * np.maximum(2 * down - n, 0)
    whole = np.maximum(near + far, near_left + far_left)
    np.testing.assert_allclose(whole, engine.certificates()[2])
    return np.maximum(far, far_left).sum(), np.maximum(near, near_left).sum()


def test_a_certificate_without_one_of_its_parts_is_too_low():
    """The companion: after a jump the far part is needed, after a small one the near part."""
    for before, after, part in ((0.3, 1.0, 1), (0.3, 0.31, 0)):
        engine, outcomes = Engine(seed=3, c=0.25, horizon=400), np.full(80, after)
        outcomes[:20] = before
        run = engine.play(outcomes, Median())
        regret = swap_regret(run.forecasts, outcomes, Median(), by=numbers_of(run))

        assert parts_of_certificates(engine)[part] < regret <= engine.certificate()


def test_an_engine_that_never_learns_exceeds_what_was_ever_seen():
    """The companion of the ceiling: frozen, it loses in proportion to T."""

    class Frozen(Engine):
        def update(self, loss):
            self.__dict__.update(Engine(self.seed).__dict__)

    regret = swap_regret(play(Frozen(), [Absolute(1.0)] * 3_000))

    assert regret > WORST_SEEN * math.sqrt(3_000)


def test_regret_grows_like_the_square_root():
    """Sixty-four times the rounds cost about eight times the regret, without a restart."""
    short, long = (
        np.mean([regret_of(duel(Engine(s), SidePush(), n, seed=s), SidePush()) for s in range(4)])
        for n in (2_000, 128_000)
    )

    assert long / short < 2 * math.sqrt(64)
