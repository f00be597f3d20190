"""SF-OGD and SAOCP: golden values, twins, the tie rule, and what the scale does."""

import math

import numpy as np
import pytest

from reference import thresholds
from reference.streams import STREAMS, WAVE, golden, issued
from trueup.baselines import SAOCP, SFOGD, _saocp, gradient_scale
from trueup.baselines._rival import added


def test_golden_values_of_sf_ogd():
    """D = 3."""
    said, coverage = golden(SFOGD(0.9, scale=3.0))

    assert said == [1.050900, 1.395992, 1.767204, 3.033371]
    assert coverage == 0.8850


def test_golden_values_of_saocp():
    """D = 3, lifetime 8, with the tie rule."""
    said, coverage = golden(SAOCP(0.9, scale=3.0))

    assert said == [1.616955, 1.233195, 1.902358, 2.248794]
    assert coverage == 0.8100


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize("scale", [0.1, 3.0, 1000.0])
def test_sf_ogd_agrees_with_the_whole_history(name, scale):
    """All squared slopes summed anew."""
    residuals = STREAMS[name]
    slow = thresholds.sf_ogd(residuals, 0.9, scale)

    np.testing.assert_allclose(
        issued(SFOGD(0.9, scale=scale), residuals), slow, rtol=1e-12, atol=1e-12
    )


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize(("scale", "lifetime"), [(3.0, 8), (0.5, 1), (20.0, 3)])
def test_saocp_agrees_with_its_formulas(name, scale, lifetime):
    """Lists of dictionaries, powers of two by trial."""
    residuals = STREAMS[name]
    slow = thresholds.saocp(residuals, 0.9, scale, lifetime)
    fast = issued(SAOCP(0.9, scale=scale, lifetime=lifetime), residuals)

    np.testing.assert_allclose(fast, slow, rtol=1e-12, atol=1e-12)


def test_the_tie_rule_is_needed(monkeypatch):
    """Without it, rounding decides which learners count, and the golden values are missed.

    Sums go from left to right on every Python, so rounding is the same on all of them.
    """
    monkeypatch.setattr(_saocp, "TIE", 0.0)
    said, _ = golden(SAOCP(0.9, scale=3.0))

    assert said != [1.616955, 1.233195, 1.902358, 2.248794]


def test_sums_are_the_same_on_every_python():
    """Plain rounding after each step: 16 times 0.1 is not 1.6; an exact sum would be."""
    assert added([0.1] * 16) == 1.6000000000000003
    assert added([1e16, 1.0, -1e16]) == 0.0
    assert added(()) == 0.0


def test_few_learners_live_at_a_time():
    """At most lifetime + 1 of those born in odd rounds, and so on: logarithmically many."""
    rival = SAOCP(0.9, scale=3.0)
    issued(rival, WAVE * 5)

    assert len(rival._learners) <= 5 * math.log2(2000)


def test_residuals_of_either_sign_need_a_floor_below():
    """By default thresholds are distances."""
    residuals = np.random.default_rng(1).normal(-3, 0.1, 500).tolist()
    for kind in (SFOGD, SAOCP):
        assert issued(kind(0.5, scale=3.0), residuals)[-1] == 0.0
        assert abs(issued(kind(0.5, scale=3.0, floor=-math.inf), residuals)[-1] + 3) < 0.5


def test_the_scale_is_taken_from_residuals_seen_before():
    """sqrt(3) times the largest; 1 where that is 0."""
    assert gradient_scale([1.0, -4.0]) == pytest.approx(4 * math.sqrt(3))
    assert gradient_scale([0.0, 0.0]) == 1.0
