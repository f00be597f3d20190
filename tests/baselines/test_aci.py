"""Adaptive conformal inference: golden values, its twin, its bound, and what must not happen."""

import math

import numpy as np
import pytest

from reference import thresholds
from reference.streams import STREAMS, golden, issued
from trueup.baselines import ACI, aci_bound


def test_golden_values():
    """Burn-in of 20 past residuals, as coded for conformal control."""
    said, coverage = golden(ACI(0.9, step=0.005, burn_in=21))

    assert said == [1.042517, 1.136718, math.inf, 2.907962]
    assert coverage == 0.8525


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"step": 0.05},
        {"step": 0.3, "window": 7},
        {"burn_in": 21, "window": 50},
        {"step": 0.05, "decay": 0.95},
        {"step": 0.02, "decay": 0.95, "burn_in": 31},
    ],
    ids=str,
)
def test_thresholds_agree_with_the_whole_history(name, settings):
    """Sorting all past residuals in every round gives the same thresholds."""
    residuals = STREAMS[name]
    known = {"step": 0.005, "window": 10**7, "decay": None} | settings
    burn_in = known.pop("burn_in", 0)
    slow = thresholds.aci(residuals, 0.1, burn_in=max(burn_in - 1, 0), **known)

    np.testing.assert_allclose(issued(ACI(0.9, **settings), residuals), slow, rtol=0, atol=1e-12)


ADVERSARIES = {
    "random": lambda threshold, t: math.sin(t * t),
    "just above": lambda threshold, t: max(min(threshold, 1e9), -1e9) + 1e-6,
    "always lower": lambda threshold, t: -float(t),
    "always higher": lambda threshold, t: float(t),
    "blocks": lambda threshold, t: float(t // 300 % 2),
    "react": lambda threshold, t: 1.0 if threshold < 0.5 else 0.0,
}


def excess(rival, adversary, rounds):
    """Return |mean of e - alpha| after every round."""
    misses, alpha, gaps = 0, 1 - rival.level, []
    for t in range(1, rounds + 1):
        threshold = rival.predict()
        residual = adversary(threshold, t)
        misses += residual > threshold
        rival.update(residual)
        gaps.append(abs(misses / t - alpha))
    return np.array(gaps)


def bounds(rounds, **settings):
    """Return the bound after every round."""
    return np.array([aci_bound(t, **settings) for t in range(1, rounds + 1)])


@pytest.mark.parametrize("level", [0.9, 0.3])
@pytest.mark.parametrize("name", ADVERSARIES)
def test_the_share_of_misses_keeps_its_bound(name, level):
    """At every round, against every sequence."""
    gaps = excess(ACI(level, step=0.02), ADVERSARIES[name], 3000)

    assert (gaps <= bounds(3000, level=level, step=0.02) + 1e-12).all()


def test_a_step_of_the_wrong_sign_breaks_the_bound():
    """The test above can fail: an alpha that rises after misses."""
    broken = ACI(0.9, step=0.02)
    broken.step = -0.02
    gaps = excess(broken, ADVERSARIES["random"], 3000)

    assert (gaps > bounds(3000, level=0.9, step=0.02)).any()


def test_issuing_the_least_residual_in_place_of_none_breaks_the_bound():
    """Why alpha_t >= 1 is a miss here: residuals that fall for ever would always be covered."""

    class Clipped(ACI):
        def _quantile(self, count):
            said = super()._quantile(count)
            return self._past.higher(0.0) if said == -math.inf else said

    gaps = excess(Clipped(0.9, step=0.02), ADVERSARIES["always lower"], 3000)

    assert gaps[-1] > aci_bound(3000, level=0.9, step=0.02)


def test_nothing_is_learned_about_alpha_in_the_burn_in():
    """Misses of the first rounds leave alpha_t; those after them move it."""
    rival = ACI(0.9, burn_in=15)
    issued(rival, [float(t) for t in range(15)])

    assert rival.alpha == 0.1
    assert rival.threshold == 13.0

    rival.update(99.0)

    assert rival.alpha == 0.1 + 0.005 * (0.1 - 1)
