"""Outcomes that come late, in any order, or never."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.tools import clone, draws, growth, laws, mixture_of, outcomes_at, pair_of, push, rows
from reference.wealth import RATES, Point, Wealth, finest_level
from trueup import Median
from trueup._kernels import _engine as kernels
from trueup.adversaries import SidePush
from trueup.engine import Engine
from trueup.errors import InvalidArgument, UnknownForecast
from trueup.losses import Absolute
from trueup.metrics import swap_regret
from trueup.replay import duel

ROUNDING = 1e-12


class Script:
    """An engine and its books, driven by words: open, settle and skip, in any order."""

    def __init__(self, seed):
        self.engine, self.books, self.outcome = Engine(seed), Wealth(), {}

    def open(self, choice):
        """Open a round; its outcome is chosen at once, and seen later. Check the mixture."""
        engine, books = self.engine, self.books
        finest = finest_level(engine.played + 1, engine.c)
        forecast = engine.predict()
        outcomes = outcomes_at(forecast)
        gains = books.gain((0,), mixture_of(forecast), finest, laws(outcomes))
        assert max(gains) <= ROUNDING * books.total()
        opened = engine.open()
        assert opened == forecast
        drawn = [(*pair_of(opened.label, opened.scale), 1.0)]
        books.stake(opened.round, (0,), drawn, finest)
        greedy = outcomes[int(np.argmax(gains))]
        self.outcome[opened.round] = (greedy, push(forecast), 0.0, 1.0, 0.3)[choice]

    def settle(self, number):
        """Learn the outcome of an open round."""
        outcome = self.outcome.pop(number)
        self.engine.update(Absolute(outcome), number)
        self.books.pay(number, Point(outcome))

    def skip(self, number):
        """Close a round without an outcome."""
        del self.outcome[number]
        self.engine.skip(number)
        del self.books.open[number]

    def check(self):
        """Compare the engine with the books: wealth, and that nobody can have lost more."""
        engine, books = self.engine, self.books
        np.testing.assert_allclose(
            engine.wealth().reshape(-1, 4), np.reshape(books.by_claim(0), (-1, 4)), rtol=1e-8
        )
        assert engine.info().wealth == pytest.approx(books.total(), rel=1e-9)
        assert engine.info().open == len(books.open)
        assert all(books.free(bettor) > 0 for bettor in books.has)


@settings(max_examples=50, deadline=None)
@given(
    seed=st.integers(0, 9),
    words=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 99)), max_size=60),
)
def test_the_books_agree_whatever_comes_late(seed, words):
    """Stakes, escrow and payments in any order; no mixture gains on average from what is free."""
    script = Script(seed)
    for word, number in words:
        waiting = sorted(script.outcome)
        if word <= 1 or not waiting:
            script.open(number % 5)
        elif word == 2:
            script.settle(waiting[number % len(waiting)])
        elif number < 30:
            script.skip(waiting[number % len(waiting)])
        script.check()


@pytest.mark.parametrize("seed", range(3))
def test_no_outcome_makes_wealth_grow_on_average_while_others_are_open(seed):
    """Counted by the round of the forecast: the exact expectation over the draw."""
    engine, rng = Engine(seed, refine=False), np.random.default_rng(seed)
    waiting, worst = {}, []
    for _ in range(80):
        worst.append(growth(engine, outcomes_at(engine.predict())))
        forecast = engine.open()
        waiting[forecast.round] = push(forecast)
        if len(waiting) > 7:
            number = int(rng.choice(list(waiting)))
            engine.update(Absolute(waiting.pop(number)), number)

    assert max(worst) <= ROUNDING
    assert max(worst) > -1e-4


def toy(delay, rounds, seed, *, naive):
    """Return swap regret and the largest wealth in a game of two bins, 0 and 1, against a pusher.

    A bin's one claim is that outcomes meet it nearly half of the time. Naive bettors stake what
    they have when the outcome arrives; the others what was free when the forecast was made.
    """
    rng, near = np.random.default_rng(seed), 0.5 - 0.5 / 64
    has, waiting, met, peak = [[1 / 12] * 6, [1 / 12] * 6], [], np.zeros((2, 2)), 1.0
    for _ in range(rounds):
        free = [
            [
                p - sum(stakes[k] * (1 - near) for b, stakes, _ in waiting if b == place)
                for k, p in enumerate(has[place])
            ]
            for place in (0, 1)
        ]
        w = [np.dot(RATES, has[place] if naive else free[place]) for place in (0, 1)]
        chance = w[0] / (w[0] + w[1])  # of bin 1: x0 w0 = x1 w1, so no outcome gains
        v, b = 0 if chance > 0.5 else 1, int(rng.uniform() < chance)
        met[b, v] += 1
        waiting.append((b, [rate * p for rate, p in zip(RATES, free[b], strict=True)], v))
        if len(waiting) > delay:
            b, stakes, v = waiting.pop(0)
            now = [rate * p for rate, p in zip(RATES, has[b], strict=True)]
            for k in range(6):
                has[b][k] += (now if naive else stakes)[k] * (near - (v == b))
        peak = max(peak, sum(map(sum, has)))
    return sum(max(met[b, 1 - b] - met[b, b], 0) for b in (0, 1)), peak


@pytest.mark.parametrize("delay", [1, 10, 100])
def test_late_outcomes_cost_the_root_of_the_delay(delay):
    """Swap regret at most 2 sqrt((d + 1) T), and the certificate knows, against the pusher."""
    rounds, regrets = 20_000, []
    for seed in range(3):
        engine = Engine(seed)
        game = duel(engine, SidePush(), rounds, seed=seed, late=delay)
        regrets.append(swap_regret(game.forecasts, game.outcomes, Median()))
        assert regrets[-1] <= engine.certificate() * (1 + 1e-9)
        assert engine.info().open == 0

    assert np.mean(regrets) <= 2 * math.sqrt((delay + 1) * rounds)


def test_naive_late_updates_are_ruinous():
    """The companion: with stakes of the day of arrival regret is linear and wealth explodes."""
    rounds, delay = 3_000, 20
    naive, peak = toy(delay, rounds, 0, naive=True)
    fair, low = toy(delay, rounds, 0, naive=False)

    assert toy(0, 200, 0, naive=True) == pytest.approx(toy(0, 200, 0, naive=False))
    assert naive > 0.5 * rounds
    assert peak > 1e30
    assert fair <= 2.5 * math.sqrt((delay + 1) * rounds)
    assert low < 20


def test_the_order_of_arrival_changes_nothing_that_counts():
    """Thirty open rounds, settled forwards and backwards: the same wealth, sums and certificate."""
    first = Engine(seed=2)
    numbers = [first.open().round for _ in range(30)]
    second = clone(first)
    for engine, order in ((first, numbers), (second, numbers[::-1])):
        for number in order:
            engine.update(Absolute((0.37 * number) % 1), number)

    np.testing.assert_allclose(first.wealth(), second.wealth(), rtol=1e-12)
    np.testing.assert_allclose(first.visited()[2], second.visited()[2], rtol=1e-12)
    assert first.certificate() == pytest.approx(second.certificate())


def test_nothing_can_be_lost_twice():
    """Many open rounds, then an outcome that costs some bettors all they staked: none is below 0.

    Stakes of eta times all that one has would have lost more than there is.
    """
    engine = Engine(seed=3)
    numbers = [engine.open().round for _ in range(100)]
    for number in numbers:
        engine.update(Absolute(0.0), number)
    most_rounds = engine.visited()[2][:, 0].max()

    assert rows(engine)[1][:, kernels.PRODUCTS :].min() > 0
    assert most_rounds * 0.5 * 0.25 > 1


def test_a_skipped_forecast_teaches_nothing():
    """Wealth, sums and certificate are as before; the round is played, its number gone."""
    engine = Engine(seed=4)
    engine.play(np.random.default_rng(1).uniform(size=50), Median())
    before = engine.wealth(), engine.certificate(), engine.info().wealth
    numbers = [engine.open().round for _ in range(3)]
    for number in numbers[::-1]:
        engine.skip(number)
    rows = len(before[0])

    np.testing.assert_array_equal(engine.wealth()[:rows], before[0])
    assert (engine.certificate(), engine.info().wealth) == before[1:]
    assert (engine.played, engine.info().open) == (53, 0)


def test_unknown_and_answered_numbers_are_refused():
    """With one sentence, and nothing has changed."""
    engine = Engine(seed=5)
    numbers = [engine.open().round for _ in range(4)]
    engine.update(Absolute(0.5), numbers[1])
    engine.skip(numbers[2])
    before = engine.to_bytes()
    for number in (numbers[1], numbers[2], 99, -1):
        with pytest.raises(UnknownForecast, match=f"No forecast of number {number} is open"):
            engine.update(Absolute(0.5), number)
        with pytest.raises(UnknownForecast, match=f"No forecast of number {number} is open"):
            engine.skip(number)
    with pytest.raises(InvalidArgument):
        engine.update(None, numbers[0])

    assert engine.to_bytes() == before
    assert engine.info().open == 2


def test_forgetting_leaves_open_forecasts_without_effect():
    """They can still be answered or skipped, and teach nothing of what came before."""
    engine = Engine(seed=6)
    engine.play(np.random.default_rng(2).uniform(size=200), Median())
    numbers = [engine.open().round for _ in range(3)]
    engine.forget()
    engine.update(Absolute(0.9), numbers[0])
    engine.skip(numbers[1])

    assert engine.info().visited == 0
    assert engine.certificate() == 0
    assert engine.info().wealth == 1
    late = engine.open().round
    engine.update(Absolute(0.1), numbers[2])
    engine.update(Absolute(0.1), late)
    assert engine.visited()[2][:, 0].sum() == 1


def stale(outcome, answer):
    """Return how wealth grows on average if a forecast is learned after an older outcome."""
    engine = Engine(seed=7, refine=False)
    for _ in range(40):
        engine.update(Absolute(push(engine.predict())))
    older, after = engine.open().round, 0.0
    for share, copy in draws(engine):
        copy.update(Absolute(outcome), older)
        before = copy.info().wealth
        copy._stale, copy.state.i[kernels.READY] = False, 1
        copy.update(Absolute(answer))
        after += share * copy.info().wealth / before
    return after - 1


def test_a_forecast_must_be_opened_before_an_older_outcome_comes():
    """Its mixture was for the wealth of then: learned all the same, wealth could be made to grow.

    So it is let go with one sentence, and the next forecast is asked for anew.
    """
    engine = Engine(seed=7)
    first, second = engine.open().round, engine.open().round
    for learn in (lambda: engine.update(Absolute(0.0), first), lambda: engine.skip(second)):
        engine.predict()
        learn()
        before = engine.to_bytes()
        with pytest.raises(UnknownForecast, match="An outcome has come since"):
            engine.update(Absolute(1.0))
        assert engine.to_bytes() == before
    engine.predict()
    engine.update(Absolute(1.0))

    assert engine.played == 3
    assert max(stale(v, w) for v in (0.0, 1.0) for w in (0.0, 1.0)) > 1e-4
