"""What an adversary announces is the law of what it draws."""

import numpy as np
import pytest

import trueup as tu
from trueup.adversaries import FiniteLaw, OutcomeLaw
from trueup.distributions import FromCdf, discrete, mix, uniform
from trueup.errors import InvalidArgument
from trueup.losses import Absolute, Huber, Linear, Squared, v_shaped

PROPERTIES = [tu.Mean(), tu.Median(), tu.Quantile(0.1), tu.Quantile(0.9), tu.Expectile(0.8)]
OUTCOMES = [
    discrete([0.0, 1.0], [0.5, 0.5]),
    discrete([0.2, 0.5, 0.9], [0.3, 0.3, 0.4]),
    mix([uniform(0.1, 0.6), discrete([0.7], [1.0])], [0.6, 0.4]),
]
GRID = np.linspace(0.0, 1.0, 41)


@pytest.mark.parametrize("outcomes", OUTCOMES, ids=["coin", "three", "mixed"])
@pytest.mark.parametrize("wanted", PROPERTIES, ids=repr)
def test_the_announced_law_is_the_mean_of_the_decompositions(outcomes, wanted):
    """E F over many outcomes at equally spaced levels is the announced CDF."""
    announced = OutcomeLaw(outcomes, wanted).announced()
    levels = (np.arange(400) + 0.5) / 400
    drawn = [outcomes.quantile_set(float(z))[0] for z in levels]
    mean = np.mean([v_shaped(wanted.loss(y)).cdf(GRID) for y in drawn], axis=0)

    np.testing.assert_allclose(announced.cdf(GRID), mean, atol=5e-3)


@pytest.mark.parametrize("wanted", PROPERTIES, ids=repr)
def test_a_law_known_by_its_cdf_is_announced_alike(wanted):
    """The exact way and the general way agree."""
    exact, blind = OUTCOMES[2], FromCdf(OUTCOMES[2].cdf, OUTCOMES[2].cdf_left)
    first, second = (OutcomeLaw(law, wanted).announced() for law in (exact, blind))

    np.testing.assert_allclose(first.cdf(GRID), second.cdf(GRID), atol=1e-9)
    np.testing.assert_allclose(first.cdf_left(GRID), second.cdf_left(GRID), atol=1e-9)


def test_a_finite_law_is_announced_at_its_steepest_constant():
    """Losses of different Lipschitz constants are averaged in natural units."""
    law = FiniteLaw([Squared(0.5), Linear(1.0)], [0.5, 0.5]).announced()
    slope = 0.5 * 2 * (GRID - 0.5) + 0.5

    np.testing.assert_allclose(law.cdf(GRID[1:-1]), (1 + slope[1:-1] / 2) / 2, atol=1e-12)


def test_a_finite_law_draws_by_its_probabilities():
    """Over many draws."""
    law = FiniteLaw([Absolute(0.0), Absolute(1.0)], [0.25, 0.75])
    rng = np.random.default_rng(0)
    share = np.mean([law.sample(rng).v for _ in range(4_000)])

    assert share == pytest.approx(0.75, abs=0.03)


def test_what_cannot_be_announced_is_refused():
    """A property of somebody's own needs a finite law."""

    class Own:
        def loss(self, outcome):
            return Huber(outcome, 0.1)

    with pytest.raises(InvalidArgument, match="use a FiniteLaw"):
        OutcomeLaw(uniform(0, 1), Own()).announced()
    with pytest.raises(InvalidArgument, match="probabilities must sum to 1"):
        FiniteLaw([Absolute(0.0)], [0.5])
