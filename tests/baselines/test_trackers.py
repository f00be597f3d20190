"""Trackers: golden values, twins, and the bounds with versions that break them."""

import math

import numpy as np
import pytest

from reference import thresholds
from reference.streams import STREAMS, golden, issued
from trueup.baselines import (
    DecayingTracker,
    IntegralTracker,
    QuantileTracker,
    decaying_tracker_bound,
    tracker_bound,
)
from trueup.baselines._trackers import SlidingRange

STEP = 0.05
ADVERSARIES = {
    "random": lambda threshold, t: math.sin(t * t),
    "just above": lambda threshold, t: min(threshold + 1e-9, 1.0),
    "react": lambda threshold, t: 1.0 if threshold < 0.5 else -1.0,
    "low": lambda threshold, t: -1.0,
    "high": lambda threshold, t: 1.0,
    "blocks": lambda threshold, t: float(t // 300 % 2),
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


def test_golden_values_of_p():
    """Rate 0.1, memory 100."""
    said, coverage = golden(QuantileTracker(0.9))

    assert said == [1.053141, 1.213044, 1.923335, 3.066070]
    assert coverage == 0.8375


def test_golden_values_of_p_and_i():
    """Saturation 5, gain 10, the sum of misses one round late."""
    said, coverage = golden(IntegralTracker(0.9))

    assert said == [0.957486, 1.232922, 1.849495, 3.131166]
    assert coverage == 0.8575


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize("memory", [1, 7, 100])
def test_p_agrees_with_the_whole_history(name, memory):
    """The range of a slice of all residuals."""
    residuals = STREAMS[name]
    slow = thresholds.tracker(residuals, 0.1, 0.1, memory)

    np.testing.assert_array_equal(issued(QuantileTracker(0.9, memory=memory), residuals), slow)


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize("integral", [(5.0, 10.0), (0.1, 100.0), (1.0, 2.0)])
@pytest.mark.parametrize("lagged", [True, False])
def test_p_and_i_agrees_with_the_whole_history(name, integral, lagged):
    """All misses summed anew, also where the tangent is infinite."""
    residuals = STREAMS[name]
    rival = IntegralTracker(0.9, saturation=integral[0], gain=integral[1], lagged=lagged)
    slow = thresholds.tracker(residuals, 0.1, 0.1, 100, integral, lagged=lagged)

    np.testing.assert_allclose(issued(rival, residuals), slow, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize("power", [0.6, 0.0])
def test_falling_steps_agree_with_their_formula(name, power):
    """From the first residual."""
    residuals = STREAMS[name]
    slow = thresholds.decaying(residuals, 0.1, power, size=0.5)

    np.testing.assert_allclose(
        issued(DecayingTracker(0.9, power=power, size=0.5), residuals), slow, rtol=0, atol=1e-12
    )


def test_the_sliding_range_agrees_with_slices():
    """Of random walks and of few values."""
    rng = np.random.default_rng(2)
    for numbers in (rng.normal(size=200).cumsum().tolist(), rng.integers(0, 3, 200).tolist()):
        for memory in (1, 2, 9, 500):
            seen = SlidingRange(memory)
            for t, number in enumerate(numbers, start=1):
                seen.add(number)
                last = numbers[max(t - memory, 0) : t]

                assert seen.width() == max(last) - min(last)


@pytest.mark.parametrize("level", [0.9, 0.3])
@pytest.mark.parametrize("name", ADVERSARIES)
def test_one_step_keeps_its_bound(name, level):
    """At every round, against every sequence of residuals of size at most 1."""
    gaps = excess(QuantileTracker(level, step=STEP), ADVERSARIES[name], 3000)
    bounds = [tracker_bound(t, step=STEP, largest=1.0) for t in range(1, 3001)]

    assert (gaps <= np.array(bounds) + 1e-12).all()


def test_a_step_of_the_wrong_sign_breaks_the_bound():
    """The test above can fail."""

    class Backwards(QuantileTracker):
        def _step(self):
            return -super()._step()

    gaps = excess(Backwards(0.9, step=STEP), ADVERSARIES["random"], 3000)

    assert gaps[-1] > tracker_bound(3000, step=STEP, largest=1.0)


@pytest.mark.parametrize("level", [0.9, 0.3])
@pytest.mark.parametrize("power", [0.0, 0.3, 0.6])
@pytest.mark.parametrize("name", ADVERSARIES)
def test_falling_steps_keep_their_bound(name, power, level):
    """At every round, against every sequence of residuals of size at most 1."""
    gaps = excess(DecayingTracker(level, power=power), ADVERSARIES[name], 3000)
    bounds = [decaying_tracker_bound(t, largest=1.0, power=power) for t in range(1, 3001)]

    assert (gaps <= np.array(bounds) + 1e-12).all()


def test_falling_steps_of_the_wrong_sign_break_the_bound():
    """The test above can fail."""
    broken = DecayingTracker(0.3)
    broken.size = -1.0
    gaps = excess(broken, ADVERSARIES["high"], 3000)

    assert gaps[-1] > decaying_tracker_bound(3000, largest=1.0)
