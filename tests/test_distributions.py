"""Distributions answer exactly, at atoms, between them and at the ends."""

import math

import numpy as np
import pytest

from reference.laws import random_laws
from trueup.distributions import FromCdf, Piecewise, discrete, mix, uniform
from trueup.errors import InvalidArgument

LAWS = random_laws(200, seed=1)
LEVELS = np.concatenate([[0.0, 1.0, 0.5], np.random.default_rng(2).uniform(size=20)])


def test_a_discrete_law_counts_its_atoms():
    """CDF, left limit and expected distance by plain sums, ties added up."""
    rng = np.random.default_rng(3)
    points = np.round(rng.uniform(size=50), 1)
    masses = rng.dirichlet(np.ones(50))
    law = discrete(points, masses)
    for x in np.linspace(0, 1, 41):
        assert law.cdf(x) == pytest.approx(masses[points <= x].sum(), abs=1e-14)
        assert law.cdf_left(x) == pytest.approx(masses[points < x].sum(), abs=1e-14)
        assert law.expected_distance(x) == pytest.approx(masses @ np.abs(points - x), abs=1e-14)


@pytest.mark.parametrize("law", LAWS[:60], ids=lambda law: "")
def test_quantile_sets_are_those_of_the_definition(law):
    """Each end satisfies both inequalities and nothing outside does."""
    for level in LEVELS:
        low, high = law.quantile_set(level)
        for q in (low, high):
            assert law.cdf_left(q) <= level + 1e-12
            assert law.cdf(q) >= level - 1e-12
        for q in (low - 1e-6, high + 1e-6):
            inside = 0 <= q <= 1
            assert not (inside and law.cdf_left(q) < level - 1e-9 and law.cdf(q) > level + 1e-9)
        if low > 1e-6:
            assert law.cdf(low - 1e-7) < level + 1e-9
        if high < 1 - 1e-6:
            assert law.cdf_left(high + 1e-7) > level - 1e-9


def test_a_law_known_by_its_cdf_agrees_with_the_exact_one():
    """Bisection and quadrature against closed forms, on the same laws."""
    for law in LAWS[:15]:
        blind = FromCdf(law.cdf, law.cdf_left)
        xs = np.linspace(0, 1, 9)
        np.testing.assert_allclose(
            blind.expected_distance(xs), law.expected_distance(xs), atol=1e-10
        )
        for level in LEVELS[:8]:
            np.testing.assert_allclose(
                blind.quantile_set(level), law.quantile_set(level), atol=1e-12
            )


def test_jumps_do_not_hide_from_the_quadrature():
    """Equal jumps in mirrored places cancel in one cut of a panel; many pairs, and triples."""
    rng = np.random.default_rng(5)
    for _ in range(120):
        points = np.round(rng.uniform(size=rng.integers(2, 4)), 2)
        law = discrete(points, np.full(points.size, 1 / points.size))
        blind = FromCdf(law.cdf, law.cdf_left)
        for x in (0.0, 0.5, 1.0):
            assert blind.expected_distance(x) == pytest.approx(law.expected_distance(x), abs=1e-9)


def test_a_noisy_cdf_is_integrated_in_bounded_time():
    """Noise above the tolerance is not chased for ever, and the value is right to its size."""
    rng = np.random.default_rng(6)
    blind = FromCdf(lambda x: np.clip(x + 1e-9 * rng.uniform(size=np.shape(x)), 0, 1))

    assert blind.expected_distance(0.0) == pytest.approx(0.5, abs=1e-8)


def test_a_mixture_averages_the_cdfs():
    """Of exact laws and of a law known by its CDF."""
    first, second = discrete([0.25], [1.0]), uniform(0.5, 1.0)
    for other in (second, FromCdf(second.cdf, second.cdf_left)):
        law = mix([first, other], [0.25, 0.75])

        assert law.cdf(0.25) == pytest.approx(0.25)
        assert law.cdf_left(0.25) == 0.0
        assert law.cdf(0.75) == pytest.approx(0.625)
        assert law.cdf(1.0) == 1.0


@pytest.mark.parametrize("law", [LAWS[0], uniform(0, 1), FromCdf(lambda x: x**2)], ids=repr)
def test_a_cdf_answers_on_the_whole_line(law):
    """0 before the interval and 1 beyond it, as far as one likes."""
    for f in (law.cdf, law.cdf_left):
        assert (f(-math.inf), f(-2.0), f(2.0), f(math.inf)) == (0.0, 0.0, 1.0, 1.0)
        assert f(np.array([-math.inf, math.inf])).tolist() == [0.0, 1.0]


def test_samples_follow_the_law():
    """The share of draws up to a point is near the CDF, for every kind of law."""
    rng = np.random.default_rng(4)
    for law in (*LAWS[:4], FromCdf(lambda x: x**2)):
        draws = np.array([law.sample(rng) for _ in range(400)])
        for x in (0.2, 0.5, 0.8):
            assert np.mean(draws <= x) == pytest.approx(law.cdf(x), abs=0.1)


BAD = [
    (lambda: discrete([0.5], [0.9]), "probabilities must sum to 1, got the sum 0.9"),
    (lambda: discrete([0.5, 0.6], [1.5, -0.5]), "probabilities must be 0 or more"),
    (lambda: discrete([0.5, 0.6], [1.0]), "must have the same length"),
    (lambda: discrete([1.5], [1.0]), "points must be inside the interval"),
    (lambda: discrete([math.nan], [1.0]), "points must be finite"),
    (lambda: uniform(0.6, 0.4), "end must be above the start"),
    (lambda: mix([uniform(0, 1)], [0.5]), "probabilities must sum to 1"),
    (lambda: Piecewise([0, 1], [0, 0.5], [0.7, 1.0]), "A CDF must never fall"),
    (lambda: Piecewise([0, 0.5], [0, 0.5], [0.5, 1.0]), "nodes must be a sequence from 0 to 1"),
    (lambda: Piecewise([0, 1], [0.1, 0.5], [0.5, 1.0]), "must start at 0"),
    (lambda: uniform(0, 1).quantile_set(1.5), "level must be inside the interval"),
]


@pytest.mark.parametrize(("make", "sentence"), BAD)
def test_bad_input_gets_one_sentence(make, sentence):
    """The error names the argument, the rule and what was got."""
    with pytest.raises(InvalidArgument, match=sentence):
        make()
