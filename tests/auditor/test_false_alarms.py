"""Watched at every round, forecasts that are right are accused at most alpha of the time.

Each rate is measured on hundreds of streams, thousands in all; beside it stand broken audits whose
rate is far too high on the same streams.
"""

import numpy as np
import pytest

import trueup as tu
from auditor.tools import alarmed, moving_sums, shared_coins
from trueup.auditor import Auditor, _auditor

ALPHA = 0.2  # a loose one is a sharper test: more alarms are allowed, and more must not come
STREAMS, ROUNDS = 400, 160


def median_of_noise(rng):
    """The same forecast always."""
    return tu.Median(), rng.normal(size=ROUNDS), np.zeros(ROUNDS), {}


def informative_quantile(rng):
    """The place and the scale of the outcome are known; the forecast is its 90 % quantile."""
    place, scale = rng.normal(size=ROUNDS).cumsum(), rng.exponential(size=ROUNDS)
    return tu.Quantile(0.9), place + scale * rng.random(ROUNDS), place + 0.9 * scale, {}


def probabilities(rng):
    """Informative and constant by turns; sure ones too."""
    p = np.where(rng.random(ROUNDS) < 0.5, 0.3, rng.random(ROUNDS).round(1))
    return tu.Probability(), rng.random(ROUNDS) < p, p, {}


def bounded_means(rng):
    """Of uniform numbers between the forecast - r and + r."""
    p = 0.5 + 0.3 * np.sin(np.arange(ROUNDS))
    return tu.Mean(), p + 0.2 * rng.uniform(-1, 1, ROUNDS), p, {"bounds": (0, 1)}


def counts(rng):
    """Half of the outcomes are the median itself, a quarter on each side."""
    return tu.Median(), rng.integers(0, 2, ROUNDS) + rng.integers(0, 2, ROUNDS), np.ones(ROUNDS), {}


def intervals(rng):
    """Both ends at once."""
    ends = (np.full(ROUNDS, 0.1), np.full(ROUNDS, 0.9))
    return tu.Interval(0.8), rng.random(ROUNDS), ends, {}


def with_groups(rng):
    """Three of them."""
    groups = np.array(["a", "b", "c"])[rng.integers(0, 3, ROUNDS)]
    return tu.Median(), rng.normal(size=ROUNDS), np.zeros(ROUNDS), {"groups": groups}


def late_sums(rng):
    """Outcomes depend on those of the last seven rounds, and are known eight rounds later."""
    outcomes, known = moving_sums(rng, ROUNDS, 8)
    return tu.Median(), outcomes, np.zeros(ROUNDS), {"known_at": known}


def late_shared(rng):
    """Eight rounds share their luck, known after the last of them."""
    luck, known = shared_coins(rng, ROUNDS, 8)
    p = rng.random(ROUNDS).round(1)
    return tu.Probability(), luck < p, p, {"known_at": known}


def out_of_order(rng):
    """A high outcome is known at once, a low one late; neighbours share their luck."""
    luck, known = shared_coins(rng, ROUNDS, 4)
    known = np.where(luck < 0.5, known + 5, known)
    return tu.Quantile(0.5), luck, np.full(ROUNDS, 0.5), {"known_at": known}


def one_outcome_a_game(rng):
    """A forecast every minute, right in every minute: the outcome is drawn at the end."""
    start = rng.random(ROUNDS // 8).round(2)
    games = np.repeat(np.arange(start.size), 8)
    outcomes = np.repeat(rng.random(start.size) < start, 8)
    return tu.Probability(), outcomes, start[games], {"same_outcome": games}


RIGHT = [
    median_of_noise, informative_quantile, probabilities, bounded_means, counts, intervals,
    with_groups, late_sums, late_shared, out_of_order, one_outcome_a_game,
]  # fmt: skip


def alarms(stream, *, streams=STREAMS, drop=()):
    """Share of streams in which evidence ever reaches 1/alpha."""
    found = 0
    for seed in range(streams):
        wanted, outcomes, forecasts, options = stream(np.random.default_rng(seed))
        auditor = Auditor(wanted, bounds=options.pop("bounds", None), alpha=ALPHA)
        kept = {name: value for name, value in options.items() if name not in drop}
        auditor.add(outcomes, forecasts, **kept)
        found += alarmed(auditor)
    return found / streams


@pytest.mark.parametrize("stream", RIGHT, ids=lambda stream: stream.__name__)
def test_right_forecasts_are_accused_at_most_alpha_of_the_time(stream):
    """At any round, and with any dependence that the audit was told of."""
    assert alarms(stream) <= ALPHA


@pytest.mark.parametrize(
    "stream", [late_sums, late_shared, one_outcome_a_game], ids=lambda stream: stream.__name__
)
def test_ignoring_when_outcomes_were_known_accuses_right_forecasts(stream):
    """The same streams without what was known when."""
    assert alarms(stream, streams=200, drop=("known_at", "same_outcome")) > 1.5 * ALPHA


def test_counting_ties_as_evidence_accuses_right_forecasts(monkeypatch):
    """If y = p counted as above."""

    def greedy(part, said, seen, bounds):
        low, high = bets(part, said, seen, bounds)
        low[:, 0] = seen >= said
        return low, high

    bets = _auditor.bets
    monkeypatch.setattr(_auditor, "bets", greedy)

    assert alarms(counts, streams=200) > 0.9


def test_regions_chosen_in_hindsight_accuse_right_forecasts(monkeypatch):
    """If rounds were put into regions by what came of them."""

    def peeking(self, rounds, k):
        return np.where(rounds.outcomes > rounds.forecasts[:, k], 6, 1)

    monkeypatch.setattr(Auditor, "_regions", peeking)

    assert alarms(median_of_noise, streams=200) > 0.9
