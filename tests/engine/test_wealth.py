"""Wealth is what the books say, and nobody can expect it to grow."""

import numpy as np
import pytest

from engine.tools import (
    all_outcomes,
    clone,
    growth,
    laws,
    mixture_of,
    outcomes_at,
    pair_of,
    push,
    rows,
)
from reference.wealth import Point, Wealth, finest_level, money
from trueup import Median
from trueup._kernels import _engine as kernels
from trueup.adversaries import SidePush
from trueup.engine import Engine
from trueup.engine._state import pairs_of
from trueup.losses import Absolute
from trueup.metrics import pseudo_swap_regret
from trueup.replay import duel, play

ROUNDING = 1e-12


def hostile(gains, outcomes, forecast, rng):
    """Return the outcome that gains most, or the one that pushes, or any."""
    kind = rng.integers(3)
    if kind == 0:
        return outcomes[int(np.argmax(gains))]
    return push(forecast) if kind == 1 else float(rng.choice(outcomes))


def check_round(engine, books, groups):
    """Compare a round's mixture with the books; return forecast, spacing, gains and outcomes."""
    forecast = engine.predict(groups=groups)
    finest = finest_level(engine.played + 1, engine.c)
    assert engine.spacing == forecast.spacing == 0.5**finest
    outcomes = all_outcomes(finest)
    gains = books.gain(groups, mixture_of(forecast), finest, laws(outcomes))
    assert max(gains) <= ROUNDING * books.total()
    assert engine.cell_gains()[1].max() == pytest.approx(max(gains), abs=1e-13)
    return forecast, finest, gains, outcomes


def check_books(engine, books, groups):
    """Compare what every claim of every pair of some groups has, and the total."""
    for group in groups:
        known = np.array(books.by_claim(group)).reshape(-1, 4)
        np.testing.assert_allclose(engine.wealth(group), known, rtol=1e-9)
    assert engine.info().wealth == pytest.approx(books.total(), rel=1e-9)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("many", [False, True])
def test_the_books_agree_in_every_round(seed, many):
    """Money by order of visits, products, weights and gains, with one group and with several."""
    rng, engine, books = np.random.default_rng(seed), Engine(seed), Wealth()
    for _ in range(200):
        drawn = rng.permutation(4)[: rng.integers(1, 4)] if many else [0]
        groups = tuple(sorted(drawn.tolist() if many else drawn))
        forecast, finest, gains, outcomes = check_round(engine, books, groups)
        outcome = hostile(gains, outcomes, forecast, rng)
        books.stake(0, groups, [(*pair_of(forecast.label, forecast.scale), 1.0)], finest)
        books.pay(0, Point(outcome))
        engine.update(Absolute(outcome))
        check_books(engine, books, range(4) if many else [0])
    assert engine.info().visited == len(books.order)


@pytest.mark.parametrize("seed", range(2))
def test_the_books_agree_when_whole_mixtures_learn(seed):
    """Each bin stakes in proportion to its probability; pairs get their money as they are met."""
    rng, engine, books = np.random.default_rng(seed), Engine(seed, expected=True), Wealth()
    for _ in range(120):
        engine.predict()
        keys = pairs_of(rows(engine)[0][:, kernels.KEY])
        for group, level, place in zip(*(part.tolist() for part in keys), strict=True):
            books.arrive(group, level, place)
        forecast, finest, gains, outcomes = check_round(engine, books, (0,))
        outcome = hostile(gains, outcomes, forecast, rng)
        books.stake(0, (0,), mixture_of(forecast), finest)
        books.pay(0, Point(outcome))
        engine.update(Absolute(outcome))
        check_books(engine, books, [0])


def test_books_with_other_money_do_not_agree():
    """The companion: had the second pair as much money as the first, the books would differ."""

    class Even(Wealth):
        def arrive(self, group, level, place):
            known = len(self.order)
            super().arrive(group, level, place)
            if len(self.order) > known > 0:
                for bettor in list(self.has)[-24:]:
                    self.has[bettor] = money(0) / 24

    engine, books = Engine(1), Even()
    for _ in range(50):
        forecast = engine.predict()
        finest = finest_level(engine.played + 1, engine.c)
        books.stake(0, (0,), [(*pair_of(forecast.label, forecast.scale), 1.0)], finest)
        books.pay(0, Point(push(forecast)))
        engine.update(Absolute(push(forecast)))
    with pytest.raises(AssertionError):
        check_books(engine, books, [0])


@pytest.mark.parametrize("seed", range(3))
def test_no_outcome_makes_wealth_grow_on_average(seed):
    """The exact expectation over the draw, in every round of a hostile run."""
    engine, worst = Engine(seed, refine=False), []
    rng = np.random.default_rng(seed)
    for _ in range(100):
        forecast = engine.predict()
        worst.append(growth(engine, outcomes_at(forecast)))
        engine.update(Absolute(push(forecast) if rng.uniform() < 0.8 else rng.uniform()))

    assert max(worst) <= ROUNDING
    assert max(worst) > -1e-4  # no slack to speak of: the mixture is at its limit


def test_wealth_that_the_mixture_does_not_know_of_grows():
    """The companion: with weights that lag behind wealth some outcome gains on average."""
    engine = Engine(2, refine=False)
    for _ in range(60):
        engine.update(Absolute(push(engine.predict())))
    i, f = engine.state
    at = int(i[kernels.AT_FROWS]) + kernels.PRODUCTS + 3 * kernels.N_RATES
    for row in range(int(i[kernels.ROWS])):
        f[at + kernels.ROW * row : at + kernels.ROW * row + kernels.N_RATES] *= 5
    engine.predict()

    assert growth(engine, outcomes_at(engine.predict())) > 1e-3


def test_wealth_never_grows_when_whole_mixtures_learn():
    """Not on average but for certain, whatever the outcome, in every round."""
    engine = Engine(seed=3, expected=True)
    for _ in range(150):
        forecast, before = engine.predict(), engine.info().wealth
        for outcome in outcomes_at(forecast):
            copy = clone(engine)
            copy.predict()
            copy.update(Absolute(outcome))
            assert copy.played == engine.played + 1
            assert copy.info().wealth <= before * (1 + ROUNDING)
        engine.predict()
        engine.update(Absolute(push(forecast)))
    assert engine.info().peak <= 1 + ROUNDING


def test_wealth_does_grow_now_and_then_when_the_draw_alone_learns():
    """The companion: a realised update can gain, so the test above can fail."""
    engine, grown = Engine(seed=3), 0
    for _ in range(150):
        before = engine.info().wealth
        engine.update(Absolute(push(engine.predict())))
        grown += engine.info().wealth > before * (1 + 1e-6)

    assert grown > 10


def test_mixtures_that_learn_have_small_pseudo_swap_regret():
    """Certain, not likely: it stays below the certificate, and both below 3 sqrt(T)."""
    rounds = 1_500
    engine = Engine(seed=1, expected=True)
    record = play(engine, SidePush(), rounds)
    regret = pseudo_swap_regret(record)

    assert engine.played == rounds
    assert regret <= engine.certificate() * (1 + 1e-9)
    assert regret <= 3 * rounds**0.5
    assert engine.info().peak <= 1 + ROUNDING


@pytest.mark.parametrize("way", ["step", "open", "play"])
def test_no_round_is_lost_when_whole_mixtures_learn(way):
    """Each outcome is counted, also where the state has to grow."""
    outcomes = np.random.default_rng(0).uniform(size=60)
    engine = Engine(seed=1, expected=True)
    if way == "play":
        engine.play(outcomes, Median())
    else:
        for outcome in outcomes.tolist():
            number = engine.open().round if way == "open" else None
            engine.update(Absolute(outcome), number)

    assert engine.played == 60


def test_few_runs_ever_have_much_wealth():
    """Ville's inequality: the share of runs with peak above 1/delta is at most delta."""
    peaks = []
    for seed in range(300):
        engine = Engine(seed)
        duel(engine, SidePush(), 200, seed=seed)
        peaks.append(engine.info().peak)

    assert max(peaks) > 1.05
    for delta in (0.9, 0.5, 0.2):
        assert np.mean(np.array(peaks) >= 1 / delta) <= delta


def leaked(seed, rounds):
    """Return an engine after a run against someone who sees its draws."""
    engine = Engine(seed)
    for _ in range(rounds):
        engine.update(Absolute(0.0 if engine.predict().label > 0.5 else 1.0))
    return engine


def test_wealth_explodes_when_the_draw_leaks():
    """The companion: then nothing is promised, and Ville's inequality fails."""
    peaks = np.array([leaked(seed, 400).info().peak for seed in range(20)])

    assert np.mean(peaks >= 5) > 0.9


def test_numbers_stay_finite_at_the_ends_of_what_wealth_can_be():
    """Bettors that always lose end at 1e-280, those that always win at 1e280."""
    poor = Engine(seed=1, c=1.0, horizon=64)
    poor.play(np.full(30_000, 0.3), Median())
    rich = leaked(1, 12_000)
    for engine in (poor, rich):
        wealths = rows(engine)[1][:, kernels.PRODUCTS :]
        assert wealths.min() >= kernels.POOREST
        assert wealths.max() <= kernels.RICHEST
        assert np.isfinite(engine.info().wealth)
        assert engine.predict().probabilities.sum() == pytest.approx(1)
    assert rows(poor)[1][:, kernels.PRODUCTS :].min() == kernels.POOREST
    assert rows(rich)[1][:, kernels.PRODUCTS :].max() > 1e100
