"""The P-square estimate: the example of its paper, and samples whose quantiles are known."""

import numpy as np
import pytest

from reference.streams import STREAMS, issued
from trueup.baselines import PSquare

EXAMPLE = """0.02 0.15 0.74 3.39 0.83 22.37 10.15 15.43 38.62 15.92
34.60 10.28 1.47 0.40 0.05 11.39 0.27 0.42 0.09 11.37"""  # table I of the paper: twenty numbers


def test_the_example_of_the_paper():
    """Its estimate of the median after twenty numbers is 4.44."""
    rival = PSquare(0.5)
    issued(rival, [float(number) for number in EXAMPLE.split()])

    assert round(rival.threshold, 2) == 4.44


@pytest.mark.parametrize("level", [0.1, 0.5, 0.9])
def test_quantiles_of_long_samples_are_found(level):
    """Of normal, skewed and tied ones."""
    rng = np.random.default_rng(5)
    for sample in (rng.normal(size=20_000), rng.exponential(size=20_000), rng.random(20_000)):
        rival = PSquare(level)
        issued(rival, sample.tolist())
        share = (sample <= rival.threshold).mean()

        assert share == pytest.approx(level, abs=0.01)


@pytest.mark.parametrize("name", STREAMS)
def test_markers_stay_in_order(name):
    """Heights never cross, places are distinct, the ends are the extremes."""
    rival, residuals = PSquare(0.9), STREAMS[name]
    for n, residual in enumerate(residuals, start=1):
        rival.update(residual)
        if n >= 5:
            assert rival._heights == sorted(rival._heights)
            assert rival._places == sorted(set(rival._places))
            assert (rival._heights[0], rival._heights[4]) == (
                min(residuals[:n]),
                max(residuals[:n]),
            )
            assert rival._places[4] == n - 1
