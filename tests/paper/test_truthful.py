"""Lemma 4.2: the truthful bin meets all four claims under the announced law."""

import numpy as np
import pytest

from reference.claims import claims_at, outcomes_that_matter
from reference.laws import random_laws
from trueup.distributions import discrete
from trueup.errors import HorizonReached, InvalidArgument
from trueup.grid import MultiScaleBins
from trueup.losses import Absolute
from trueup.paper import (
    TruthfulPredictor,
    Width,
    _truthful,
    default_gamma,
    expected_claims,
    truthful_pair,
    width,
)

LAWS = random_laws(2000, seed=7)
BINS = [MultiScaleBins(g) for g in (1.0, 0.5, 0.25, 0.218, 0.125, 0.0921034, 1 / 32, 0.0138)]


def test_the_truthful_bin_meets_all_four_claims_on_thousands_of_laws():
    """The largest expected claim is at most rounding."""
    worst = max(
        expected_claims(bins, law)[truthful_pair(bins, law)].max()
        for number, law in enumerate(LAWS)
        for bins in (BINS[number % len(BINS)], BINS[(number // 8) % len(BINS)])
    )

    assert worst <= 1e-12


def test_the_truthful_bin_is_the_one_of_steps_2_and_3():
    """R is the largest scale up to the width and b lies between the quantiles."""
    bins = BINS[4]
    for law in LAWS[:500]:
        found, pair = width(law, bins.gamma), truthful_pair(bins, law)

        assert bins.scale[pair] <= found.w + 1e-12
        assert 2 * bins.scale[pair] > found.w - 1e-12 or bins.scale[pair] == bins.scales[-1]
        assert found.alpha - 1e-12 <= bins.bin[pair] <= found.beta + 1e-12


@pytest.mark.parametrize("bins", BINS[3:], ids=repr)
def test_a_width_off_the_grid_is_answered_by_the_coarsest_truthful_pair(bins):
    """Where no bin is in [alpha, beta], or only one whose claims fail, all are looked at."""
    shifted = 0
    for law in LAWS[:60]:
        worst = expected_claims(bins, law).max(axis=1)
        found = width(law, bins.gamma)
        between = bins.points[1] * 0.5
        wrong_end = 1.0 if law.expected_distance(1.0) > 0.5 else 0.0
        for off in (
            found._replace(alpha=between, beta=between),
            Width(found.w, wrong_end, wrong_end),
        ):
            pair = _truthful._answer(bins, law, off)

            assert worst[pair] <= 1e-12
            if not off.alpha <= bins.bin[pair] <= off.beta:
                shifted += 1
                assert bins.step[pair] == bins.step[worst <= max(worst.min(), 1e-12)].max()

    assert shifted > 60


@pytest.mark.parametrize("shift", [-1, 1], ids=["finer", "coarser"])
def test_a_scale_chosen_wrongly_breaks_a_claim(shift):
    """One scale off, at the same place, some claim fails for many laws."""
    bins, failures = BINS[6], 0
    for law in LAWS[:300]:
        pair = truthful_pair(bins, law)
        other = np.searchsorted(bins.scales, bins.scale[pair]) + shift
        if not 0 <= other < bins.scales.size:
            continue
        same_scale = np.flatnonzero(bins.scale == bins.scales[other])
        nearest = same_scale[np.argmin(np.abs(bins.bin[same_scale] - bins.bin[pair]))]
        failures += expected_claims(bins, law, np.array([nearest])).max() > 1e-3

    assert failures > 30


def test_the_printed_chain_of_inequalities_is_wrong_where_beta_is_an_atom():
    """Erratum 1: Pr[v > beta] can be 0 although Pr[v >= beta] is at least 1/2 - gamma/(2w)."""
    law, gamma = discrete([0.25, 0.75], [0.5, 0.5]), 0.25
    found = width(law, gamma)
    level = 0.5 - gamma / (2 * found.w)

    assert 1 - law.cdf(found.beta) < level
    assert 1 - law.cdf_left(found.beta) >= level


@pytest.mark.parametrize("bins", BINS[:6], ids=repr)
def test_expected_claims_are_those_written_out(bins):
    """For point masses at every outcome that matters, against plain comparisons."""
    for outcome in outcomes_that_matter(bins):
        found = expected_claims(bins, discrete([outcome], [1.0]))
        for pair in range(bins.n_pairs):
            expected = claims_at(bins.scale[pair], bins.bin[pair], bins.gamma, outcome)
            np.testing.assert_allclose(found[pair], expected, atol=1e-12)


def test_the_papers_gamma_is_the_default():
    """sqrt(ln T ln(1/delta) / T) with delta = 1/T, at most 1."""
    assert default_gamma(10_000) == pytest.approx(np.log(10_000) / 100)
    assert default_gamma(2, 1e-9) == 1.0
    assert TruthfulPredictor(10_000, 0.05).spacing == pytest.approx(default_gamma(10_000, 0.05))


def test_bad_input_and_a_late_round_are_refused():
    """Rounds, delta and gamma have their ranges; the horizon is an end."""
    for arguments in ({"rounds": 1}, {"rounds": 2.5}, {"rounds": 9, "delta": 1.0}):
        with pytest.raises(InvalidArgument):
            TruthfulPredictor(**arguments)
    with pytest.raises(InvalidArgument, match="gamma must be"):
        TruthfulPredictor(9, gamma=2.0)
    predictor = TruthfulPredictor(2)
    for _ in range(2):
        predictor.predict(LAWS[0])
        predictor.update(Absolute(0.5))
    with pytest.raises(HorizonReached, match="All 2 rounds"):
        predictor.predict(LAWS[0])
