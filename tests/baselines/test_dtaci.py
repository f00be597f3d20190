"""DtACI and FACI: golden values, the twin, and constants that differ from code to code."""

import math

import numpy as np
import pytest

from reference import thresholds
from reference.streams import STREAMS, WAVE, golden, issued
from trueup.baselines import FACI, DtACI
from trueup.baselines._dtaci import tuned_rate

TUNED = {name: s for name, s in STREAMS.items() if len(s) <= 300}


def test_golden_values_of_faci():
    """The salesforce constants."""
    said, coverage = golden(FACI(0.9))

    assert said == [1.042517, 1.183627, 1.922600, 2.907962]
    assert coverage == 0.8150


def test_golden_values_of_the_mean_alpha():
    """The authors' constants; the first residual is only stored."""
    rival, means = DtACI(0.9), []
    for residual in WAVE:
        rival.update(residual)
        means.append(round(rival.alpha, 6))

    assert [means[j - 1] for j in (1, 25, 50, 200, 399)] == [
        0.1,
        0.023371,
        0.017890,
        -0.010833,
        -0.003128,
    ]


def test_three_codes_have_three_rates():
    """2.72, 5.67 and 9.82 at alpha = 0.1."""
    assert DtACI(0.9).rate == 2.72
    assert DtACI.tuned(0.9).rate == pytest.approx(5.67, abs=0.005)
    assert FACI(0.9).rate == pytest.approx(9.82, abs=0.005)
    assert (DtACI(0.9).mixing, DtACI.tuned(0.9).mixing, FACI(0.9).mixing) == (0.001, 0.005, 0.005)


@pytest.mark.parametrize("name", TUNED)
@pytest.mark.parametrize("kind", ["authors", "tuned", "adaptive", "salesforce"])
def test_thresholds_agree_with_the_whole_history(name, kind):
    """Every weight anew from all betas in every round."""
    residuals, alpha = TUNED[name][:150], 0.1
    rate = tuned_rate(alpha)
    make, settings = {
        "authors": (DtACI, {"rate": 2.72, "mixing": 0.001}),
        "tuned": (DtACI.tuned, {"rate": rate, "mixing": 0.005}),
        "adaptive": (
            lambda: DtACI(lookback=20),
            {"rate": 2.72, "mixing": 0.001, "lookback": 20},
        ),
        "salesforce": (
            FACI,
            {"rate": rate * math.sqrt(3), "mixing": 0.005, "stored": 10, "clip": True},
        ),
    }[kind]
    slow = thresholds.dtaci(residuals, alpha, **settings)

    np.testing.assert_allclose(issued(make(), residuals), slow, rtol=0, atol=1e-12)


def test_a_free_alpha_issues_infinity_and_a_clipped_one_never_does():
    """Residuals that always rise drive alpha below 0; residuals that always fall, above 1."""
    for sign in (1, -1):
        residuals = [float(sign * t) for t in range(2000)]

        assert issued(DtACI(0.9), residuals)[-1] == sign * math.inf or sign < 0
        assert np.isfinite(issued(FACI(0.9), residuals)).all()


def test_losses_of_zero_leave_an_adaptive_rate_finite():
    """Where beta is always alpha there is nothing to divide by."""
    rival = DtACI(0.5, lookback=3)
    for _ in range(5):
        rival._weigh(rival.alpha)
        rival._alphas = [0.5] * 8

    assert math.isfinite(rival.alpha)
