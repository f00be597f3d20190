"""Lemma 2.1: the distribution and the constant rebuild the loss."""

import numpy as np
import pytest

from trueup.errors import InvalidArgument
from trueup.losses import (
    Absolute,
    AsymmetricSquared,
    Convex,
    Huber,
    Linear,
    PiecewiseLinear,
    Pinball,
    Squared,
    v_shaped,
)

GRID = np.linspace(0.0, 1.0, 1001)
LINEAR = [
    Absolute(0.3),
    Absolute(0.0),
    Absolute(1.0),
    Pinball(0.3, 0.9),
    Pinball(1.0, 0.1),
    Linear(0.7),
    Linear(-1.0),
    Linear(0.0),
    PiecewiseLinear([0.1, 0.2, 0.9], [-2.0, -0.1, 0.0, 3.0]),
]
SMOOTH = [
    Squared(0.3),
    AsymmetricSquared(0.3, 0.8),
    Huber(0.3, 0.15),
    Convex(np.exp, np.exp, lipschitz=3.0),
    Convex(
        lambda p: p**2 / 2 + abs(p - 0.3),
        lambda p: (p - 1 + 2 * (p > 0.3), p - 1 + 2 * (p >= 0.3)),
        lipschitz=2.0,
    ),
]


def rebuilt(loss):
    """Return lipschitz times (E|p - v| + constant) on the grid."""
    law = v_shaped(loss)
    return (loss.lipschitz or 1.0) * (law.expected_distance(GRID) + law.constant)


@pytest.mark.parametrize("loss", LINEAR, ids=repr)
def test_piecewise_linear_losses_are_rebuilt_to_1e_12(loss):
    """E|p - v| + C is the loss divided by its Lipschitz constant."""
    np.testing.assert_allclose(rebuilt(loss), loss.value(GRID), rtol=0, atol=1e-12)


@pytest.mark.parametrize("loss", SMOOTH, ids=lambda loss: type(loss).__name__)
def test_smooth_losses_are_rebuilt_to_1e_9(loss):
    """The same by integrating a CDF that is not a step function."""
    np.testing.assert_allclose(rebuilt(loss), loss.value(GRID), rtol=0, atol=1e-9)


def test_the_law_of_another_level_does_not_rebuild_the_loss():
    """A broken decomposition is seen."""
    loss = Pinball(0.3, 0.9)
    law = v_shaped(Pinball(0.3, 0.1))
    wrong = loss.lipschitz * (law.expected_distance(GRID) + law.constant)

    assert np.abs(wrong - loss.value(GRID)).max() > 0.1


def test_functions_with_kinks_anywhere_are_rebuilt():
    """Two kinks in mirrored places, and slopes by finite differences."""
    kinks = Convex(
        lambda p: (abs(p - 0.48) + abs(p - 0.51)) / 2,
        lambda p: (((p > 0.48) + (p > 0.51)) - 1.0, ((p >= 0.48) + (p >= 0.51)) - 1.0),
        lipschitz=1.0,
    )

    def quartic(p):
        return (p - 0.4) ** 4

    noisy = Convex(quartic, lambda p: (quartic(p + 1e-6) - quartic(p - 1e-6)) / 2e-6, lipschitz=1.0)

    np.testing.assert_allclose(rebuilt(kinks), kinks.value(GRID), rtol=0, atol=1e-9)
    law, some = v_shaped(noisy), GRID[::500]
    np.testing.assert_allclose(
        law.expected_distance(some) + law.constant, noisy.value(some), rtol=0, atol=1e-8
    )


@pytest.mark.parametrize("c", [-1.0, -0.25, 0.0, 0.5, 1.0])
def test_a_linear_loss_has_its_mass_at_the_ends(c):
    """Divided by 1, the loss c p puts (1 + c) / 2 at 0 and (1 - c) / 2 at 1 (erratum 9)."""
    law = v_shaped(Linear(c), lipschitz=1.0)

    assert law.cdf(0.0) == pytest.approx((1 + c) / 2)
    assert law.cdf_left(1.0) == pytest.approx((1 + c) / 2)
    assert law.cdf(1.0) == 1.0


def test_an_absolute_loss_is_one_v():
    """All mass at the outcome, and no constant."""
    law = v_shaped(Absolute(0.3))

    assert (law.cdf_left(0.3), law.cdf(0.3), law.constant) == (0.0, 1.0, pytest.approx(0.0))


def test_the_decomposition_unpacks_into_distribution_and_constant():
    """It is a pair."""
    distribution, constant = v_shaped(Squared(0.5))

    assert distribution.cdf(0.5) == pytest.approx(0.5)
    assert constant == pytest.approx((0.125 + 0.125 - 1) / 2)


def test_a_loss_steeper_than_the_run_is_refused():
    """Dividing by too little would leave [0, 1]."""
    with pytest.raises(InvalidArgument, match=r"give lipschitz=2\.0"):
        v_shaped(Squared(0.5), lipschitz=1.0)
