"""Every loss keeps the promises of its room; wrong ones are refused in one sentence."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueup import losses
from trueup.checks import check_loss
from trueup.errors import InvalidArgument
from trueup.losses import (
    Absolute,
    AsymmetricSquared,
    Convex,
    Huber,
    Linear,
    PiecewiseLinear,
    Pinball,
    Scaled,
    Squared,
)

GRID = np.linspace(0.0, 1.0, 401)
EXAMPLES = [
    *[Absolute(v) for v in (0.0, 0.3, 1.0)],
    *[Pinball(v, q) for v in (0.0, 0.3, 1.0) for q in (0.05, 0.5, 0.9)],
    *[Squared(v) for v in (0.0, 0.3, 1.0)],
    *[AsymmetricSquared(v, a) for v in (0.0, 0.3, 1.0) for a in (0.2, 0.8)],
    *[Huber(v, d) for v in (0.0, 0.3, 1.0) for d in (0.1, 0.4, 3.0)],
    PiecewiseLinear([], [0.3]),
    PiecewiseLinear([0.2, 0.7], [-1.0, -0.2, 0.5]),
    *[Linear(c) for c in (-1.0, 0.0, 0.25)],
    Convex(lambda p: (p - 0.4) ** 4, lambda p: 4 * (p - 0.4) ** 3, lipschitz=1.0),
    Convex(
        lambda p: abs(p - 0.25),
        lambda p: (-1.0 + 2 * (p > 0.25), -1.0 + 2 * (p >= 0.25)),
        lipschitz=1.0,
    ),
    Scaled(Huber(0.3, 0.2), 5.0),
]


def test_every_public_loss_has_an_example_here():
    """A loss that is added must be checked too."""
    classes = {
        value
        for name in losses.__all__
        if isinstance(value := getattr(losses, name), type) and hasattr(value, "slopes")
    }

    assert classes == {type(loss) for loss in EXAMPLES}


@pytest.mark.parametrize("loss", EXAMPLES, ids=lambda loss: repr(loss)[:40])
def test_every_loss_keeps_the_contract(loss):
    """Convex, within its bound, slopes of its own values, mean of V-shaped losses."""
    check_loss(loss)


@pytest.mark.parametrize(
    "loss", [loss for loss in EXAMPLES if hasattr(loss, "pieces")], ids=lambda loss: repr(loss)[:40]
)
def test_pieces_say_the_same_as_slopes(loss):
    """Integrating the pieces gives the values back."""
    piece = loss.pieces()
    beyond = np.maximum(GRID[:, None] - piece.knots, 0)
    rebuilt = (
        loss.value(0.0)
        + piece.slope * GRID
        + piece.curvature * GRID**2 / 2
        + beyond @ piece.jumps
        + beyond**2 @ piece.bends / 2
    )

    np.testing.assert_allclose(rebuilt, loss.value(GRID), atol=1e-12)


def test_a_loss_with_a_wrong_slope_breaks_the_contract():
    """The contract check sees slopes that are not those of the values."""

    class Wrong(Absolute):
        def slopes(self, forecast):
            return Absolute(0.5).slopes(forecast)

    with pytest.raises(AssertionError, match="slopes are those of its values"):
        check_loss(Wrong(0.3))


def test_the_pinball_loss_has_the_signs_of_the_erratum():
    """Forecasts that are too low cost the level; the printed formula is the negative, concave."""
    assert Pinball(0.5, 0.9).value(0.4) == pytest.approx(0.09)
    assert Pinball(0.5, 0.9).value(0.6) == pytest.approx(0.01)

    def printed(p):
        return (p <= 0.5) * 0.9 * (p - 0.5) + (p >= 0.5) * 0.1 * (0.5 - p)

    with pytest.raises(InvalidArgument, match="non-decreasing"):
        Convex(printed, lambda p: 0.9 if p <= 0.5 else -0.1, lipschitz=0.9)


@given(
    knots=st.lists(st.floats(0.01, 0.99), min_size=1, max_size=6, unique=True),
    data=st.data(),
)
def test_piecewise_linear_losses_of_any_shape_keep_the_contract(knots, data):
    """Any sorted knots with any sorted slopes make a convex loss."""
    size = len(knots) + 1
    slopes = data.draw(st.lists(st.floats(-5, 5), min_size=size, max_size=size))

    check_loss(PiecewiseLinear(sorted(knots), sorted(slopes)))


def test_piecewise_linear_takes_knots_with_or_without_the_ends():
    """Listing 0 and 1 among the knots changes nothing."""
    short, long = PiecewiseLinear([0.5], [-1, 1]), PiecewiseLinear([0, 0.5, 1], [-1, 1])

    np.testing.assert_array_equal(short.value(GRID), long.value(GRID))


def test_a_users_function_agrees_with_the_analytic_loss():
    """Convex built from Huber's functions is Huber."""
    huber = Huber(0.3, 0.2)
    own = Convex(huber.value, huber.slopes, lipschitz=huber.lipschitz)

    np.testing.assert_array_equal(own.value(GRID), huber.value(GRID))
    np.testing.assert_array_equal(own.slopes(GRID), huber.slopes(GRID))


def test_the_outer_slopes_of_a_users_function_are_not_used():
    """They may be anything, and pairs may be lists."""
    half = Convex(
        lambda p: p * p / 2,
        lambda p: [-math.inf if p == 0 else p, math.nan if p == 1 else p],
        lipschitz=1.0,
    )

    assert half.slopes(0.0) == (-1.0, 0.0)
    assert half.slopes(1.0) == (1.0, 1.0)


BAD = [
    (lambda: Absolute(math.nan), "v must be finite, got nan"),
    (lambda: Absolute(math.inf), "v must be finite, got inf"),
    (lambda: Absolute(1.5), r"v must be inside the interval \[0, 1\], got 1.5"),
    (lambda: Absolute("high"), "v must be a number, got 'high'"),
    (lambda: Pinball(0.5, 1.0), "q must be strictly between 0 and 1, got 1.0"),
    (lambda: AsymmetricSquared(0.5, 0.0), "a must be strictly between 0 and 1"),
    (lambda: Huber(0.5, 0.0), "delta must be above 0, got 0.0"),
    (lambda: Linear(math.inf), "c must be finite"),
    (lambda: Scaled(Linear(1.0), -1.0), "factor must be above 0"),
    (lambda: PiecewiseLinear([0.7, 0.2], [-1, 0, 1]), "knots must be sorted"),
    (lambda: PiecewiseLinear([0.2, 0.2], [-1, 0, 1]), "knots must be sorted"),
    (lambda: PiecewiseLinear([0.2, 1.2], [-1, 0, 1]), r"knots must be inside the interval"),
    (lambda: PiecewiseLinear([0.2, 0.7], [-1, 1]), "one per stretch .*: 3, got 2"),
    (lambda: PiecewiseLinear([0.2, 0.7], [-1, 1, 0]), "slopes must be non-decreasing"),
    (lambda: PiecewiseLinear([0.2], [-1, math.nan]), "slopes must be finite, got nan at index 1"),
    (lambda: Convex(lambda p: -(p**2), lambda p: -2 * p, lipschitz=2), "non-decreasing"),
    (lambda: Convex(lambda p: 3 * p, lambda p: 3.0, lipschitz=1), "at most lipschitz=1.0 in size"),
    (lambda: Convex(lambda p: p, lambda p: math.nan, lipschitz=1), "slopes must be finite"),
    (lambda: Convex(lambda p: math.nan, lambda p: 0.0, lipschitz=1), "value must be finite"),
    (lambda: Convex(lambda p: p, lambda p: (1.0, 0.5), lipschitz=1), "non-decreasing"),
    (lambda: Convex(lambda p: p, lambda p: 1.0, lipschitz=0), "lipschitz must be above 0"),
    (
        lambda: Convex(lambda p: -p * p, lambda p: p, lipschitz=1),
        "value must have the slopes given",
    ),
    (lambda: Huber(1.0, 1e-12), "delta must be at least 1e-06"),
    (lambda: Scaled(Squared(0.3), 1e308), "factor times lipschitz must be finite"),
    (lambda: Absolute(0.5).value(1.2), r"forecast must be inside the interval \[0, 1\], got 1.2"),
    (lambda: Absolute(0.5).slopes([0.1, math.nan]), "forecast must be inside .*, got nan"),
]


@pytest.mark.parametrize(("make", "sentence"), BAD)
def test_bad_input_gets_one_sentence(make, sentence):
    """The error names the argument, the rule and what was got."""
    with pytest.raises(InvalidArgument, match=sentence) as error:
        make()

    assert str(error.value).count("\n") == 0
    assert str(error.value).endswith(".")
