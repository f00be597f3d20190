"""Lemma 3.2: the gamma-width is unique and its quantiles are valid."""

import numpy as np
import pytest

from reference.laws import random_laws
from trueup.distributions import discrete, uniform
from trueup.errors import InvalidArgument
from trueup.paper import quantile_set, width

LAWS = random_laws(3000, seed=5)
GAMMAS = np.random.default_rng(6).choice([1.0, 0.5, 0.25, 0.218, 0.1, 0.0921, 1 / 32, 0.013], 3000)
SLACK = 1e-11  # of levels: gamma / (2w) moves by this when w moves by a rounding error


def is_quantile(law, q, level):
    """Return whether q is a `level`-quantile by the definition, up to rounding."""
    return law.cdf_left(q - 1e-13) <= level + SLACK and law.cdf(q + 1e-13) >= level - SLACK


def is_width(law, gamma, w, alpha, beta):
    """Return whether (w, alpha, beta) is what lemma 3.2 promises."""
    tail = gamma / (2 * w)
    return (
        gamma <= w <= 1
        and abs(beta - alpha - w) < 1e-12
        and is_quantile(law, alpha, 0.5 - tail)
        and is_quantile(law, beta, 0.5 + tail)
    )


def test_width_is_valid_on_thousands_of_random_laws():
    """Alpha and beta are quantiles of the two levels and w apart."""
    wrong = [
        (law, gamma)
        for law, gamma in zip(LAWS, GAMMAS, strict=True)
        if not is_width(law, gamma, *width(law, gamma))
    ]

    assert wrong == []


def test_no_other_width_is_possible_on_thousands_of_random_laws():
    """Below w every difference of quantiles is larger, above w every one is smaller."""
    for law, gamma in zip(LAWS, GAMMAS, strict=True):
        w = width(law, gamma).w
        for other in (w - 1e-6, w + 1e-6, gamma, 1.0):
            if not gamma <= other <= 1 or abs(other - w) < 1e-7:
                continue
            tail = min(gamma / (2 * other), 0.5)
            low, high = law.quantile_set(0.5 - tail), law.quantile_set(0.5 + tail)
            smallest, largest = high[0] - low[1], high[1] - low[0]
            assert smallest > other if other < w else largest < other


def test_a_width_from_the_wrong_levels_is_not_valid():
    """With gamma / w instead of gamma / (2w) in the levels the check fails for most laws."""
    failures = 0
    for law, gamma in zip(LAWS[:300], GAMMAS[:300], strict=True):
        doubled = min(2 * gamma, 1.0)
        found = width(law, doubled)
        failures += not is_width(law, gamma, *found)

    assert failures > 150


def test_quantile_sets_include_the_ends_at_levels_0_and_1():
    """Q(0) reaches down to 0 and Q(1) up to 1 (erratum 10)."""
    law = discrete([0.2, 0.6], [0.5, 0.5])

    assert quantile_set(law, 0.0) == (0.0, 0.2)
    assert quantile_set(law, 1.0) == (0.6, 1.0)
    assert quantile_set(law, 0.5) == (0.2, 0.6)


def test_width_is_gamma_exactly_for_laws_within_an_interval_of_gamma():
    """Both directions of erratum 10."""
    assert width(uniform(0.4, 0.5), 0.125).w == 0.125
    assert width(discrete([0.4, 0.55], [0.999, 0.001]), 0.125).w > 0.125


def test_width_of_a_uniform_law_solves_its_equation():
    """On [0, 1], w = gamma / w."""
    for gamma in (1.0, 0.25, 0.04):
        assert width(uniform(0.0, 1.0), gamma).w == pytest.approx(gamma**0.5, abs=1e-12)


@pytest.mark.parametrize("gamma", [0.0, 1.5, float("nan")])
def test_a_bad_gamma_is_refused(gamma):
    """It must be above 0 and at most 1."""
    with pytest.raises(InvalidArgument, match="gamma must be"):
        width(uniform(0.0, 1.0), gamma)
