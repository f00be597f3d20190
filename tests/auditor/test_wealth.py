"""Wealth is what the definition says, and never grows on average while forecasts are right."""

from itertools import product

import numpy as np
import pytest

import trueup as tu
from auditor.tools import wealth
from reference import audit as reference
from trueup.auditor import Auditor, _auditor

RNG = np.random.default_rng(3)
N = 300
NORMAL = RNG.normal(size=N)
PLACES = RNG.normal(size=N) * 0.5
COUNTS = RNG.poisson(2.0, N).astype(float)
CHANCES = RNG.random(N).round(2)
RAIN = (RNG.random(N) < CHANCES).astype(float)
DELAYS = np.arange(N) + RNG.integers(1, 12, N)
DAYS = (np.arange(N) // 7 + 1) * 7
GROUPS = [(int(g), 3 + int(h)) for g, h in RNG.integers(0, 3, (N, 2))]

CASES = {
    "median": (tu.Median(), PLACES, NORMAL, {}),
    "quantile with atoms": (tu.Quantile(0.7), np.full(N, 2.0), COUNTS, {}),
    "probability": (tu.Probability(), CHANCES, RAIN, {}),
    "mean": (tu.Mean(), np.clip(PLACES, -2, 2), np.clip(NORMAL, -3, 4), {"bounds": (-3, 4)}),
    "expectile": (tu.Expectile(0.8), np.clip(PLACES, -2, 2), np.clip(NORMAL, -3, 4),
                  {"bounds": (-3, 4)}),
    "late": (tu.Quantile(0.3), PLACES, NORMAL, {"known_at": DELAYS}),
    "days": (tu.Probability(), CHANCES, RAIN, {"known_at": DAYS}),
    "groups": (tu.Median(), PLACES, NORMAL, {"groups": GROUPS}),
    "late groups": (tu.Median(), PLACES, NORMAL, {"groups": GROUPS, "known_at": DELAYS}),
}  # fmt: skip


def twin(wanted, forecasts, outcomes, options, **broken):
    """The wealth of each class by the reference."""
    part = {tu.Median(): tu.Quantile(0.5), tu.Probability(): tu.Mean()}.get(wanted, wanted)
    order = {}
    groups = options.get("groups")
    if groups is not None:  # numbered as first seen
        groups = [[order.setdefault(name, len(order)) for name in row] for row in groups]
    late = "known_at" in options
    return reference.wealth(
        part, forecasts, outcomes,
        bounds=options.get("bounds", (0, 1)),
        known=options["known_at"] if late else None,
        classes=2 if late else 1, groups=groups, **broken,
    )  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda name: name)
def test_wealth_is_what_every_bettor_written_out_would_have(case):
    """Products of factors, restarts one by one, blocks as lists."""
    wanted, forecasts, outcomes, options = CASES[case]
    for rounds in (1, 70, N):
        auditor = Auditor(wanted, bounds=options.get("bounds"))
        given = {k: v[:rounds] for k, v in options.items() if k != "bounds"}
        auditor.add(outcomes[:rounds], forecasts[:rounds], **given)
        cut = options | given
        expected = twin(wanted, forecasts[:rounds], outcomes[:rounds], cut)

        np.testing.assert_allclose(wealth(auditor), expected, rtol=1e-9)


def paths(rounds):
    """All sequences of coins."""
    return [np.array(path) for path in product([0.0, 1.0], repeat=rounds)]


def mean_wealth(wanted, make, rounds, wealth_of):
    """Average over all fair coins; `make` turns coins into forecasts, outcomes and options."""
    total = 0.0
    for coins in paths(rounds):
        forecasts, outcomes, options = make(coins)
        total += np.asarray(wealth_of(wanted, forecasts, outcomes, options)) / 2**rounds
    return total


def by_auditor(wanted, forecasts, outcomes, options):
    """The wealth of each class by the auditor."""
    auditor = Auditor(wanted, bounds=options.get("bounds"))
    auditor.add(outcomes, forecasts, **{k: v for k, v in options.items() if k != "bounds"})
    return wealth(auditor)


def forecasts_that_react(coins):
    """Right probabilities that depend on the past: outcomes are cut from two coins a round."""
    forecasts, outcomes = [], []
    for a, b in coins.reshape(-1, 2):
        p = [0.25, 0.5, 0.75][int(sum(outcomes)) % 3]
        forecasts.append(p)
        outcomes.append(float(a + 2 * b < 4 * p))
    return forecasts, outcomes, {}


def blocks_of_one_coin(coins):
    """Three rounds share an outcome, the next three another."""
    return [0.5] * 9, np.repeat(coins[:3], 3), {"known_at": np.repeat([3, 6, 9], 3)}


def shared_by_name(coins):
    """The same, said by names."""
    return [0.5] * 9, np.repeat(coins[:3], 3), {"same_outcome": np.repeat([7, 8, 9], 3)}


def early_when_no(coins):
    """A no is known at once, a yes three rounds later: block sizes depend on outcomes."""
    known = np.arange(coins.size) + np.where(coins > 0, 4, 1)
    return [0.5] * coins.size, coins, {"known_at": known}


def anything_goes(coins):
    """All at once: forecasts, groups and delays react, delays to the outcome itself.

    Each second round shares the luck of the one before, which is still open then.
    """
    forecasts, outcomes, known, groups, luck = [], [], [], [], []
    for t, (a, b) in enumerate(coins.reshape(-1, 2)):
        seen = int(sum(y for y, when in zip(outcomes, known, strict=True) if when <= t))
        luck.append(luck[-1] if t % 2 else int(a + 2 * b))
        forecasts.append([0.25, 0.5, 0.75][seen % 3])
        outcomes.append(float(luck[-1] < 4 * forecasts[-1]))
        known.append(t + 1 + luck[-1] if t % 2 else t + 2 + luck[-1] % 2)
        groups.append(seen % 2)
    return forecasts, outcomes, {"known_at": known, "groups": groups}


def ties(coins):
    """Outcomes below, at or above the median, which has an atom."""
    pairs = coins.reshape(-1, 2)
    return [1.0] * len(pairs), pairs.sum(axis=1), {}


@pytest.mark.parametrize(
    ("wanted", "make", "exact"),
    [
        (tu.Probability(), forecasts_that_react, True),
        (tu.Probability(), blocks_of_one_coin, True),
        (tu.Probability(), shared_by_name, True),
        (tu.Probability(), early_when_no, True),
        (tu.Probability(), anything_goes, True),
        (tu.Median(), ties, False),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_mean_wealth_over_all_outcomes_is_one_or_less(wanted, make, exact, monkeypatch):
    """Summed over every path, with regions from the third round on; exactly 1 in fair games."""
    monkeypatch.setattr(_auditor, "FIRST_CUT", 2)
    rounds = 10 if make is not early_when_no else 9
    mean = mean_wealth(wanted, make, rounds, by_auditor)

    assert (mean <= 1 + 1e-12).all()
    if exact:
        np.testing.assert_allclose(mean, 1, rtol=1e-12)


def test_regions_that_know_the_outcome_would_make_wealth_grow(monkeypatch):
    """The same sum notices."""

    def peeking(self, rounds, k):
        return np.where(rounds.outcomes > 0, 7, 0)

    monkeypatch.setattr(Auditor, "_regions", peeking)

    assert mean_wealth(tu.Probability(), forecasts_that_react, 6, by_auditor)[0] > 1.01


def test_sharing_a_block_by_its_own_size_would_make_wealth_grow():
    """Sizes that depend on outcomes pay: what a careless average gets."""

    def careless(wanted, forecasts, outcomes, options):
        return twin(wanted, forecasts, outcomes, options, shares="size")

    right = mean_wealth(tu.Probability(), early_when_no, 8, twin)
    wrong = mean_wealth(tu.Probability(), early_when_no, 8, careless)

    np.testing.assert_allclose(right, 1, rtol=1e-12)
    assert wrong.max() > 1.001
