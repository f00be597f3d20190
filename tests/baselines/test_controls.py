"""Sample quantiles: windows, weights, and the residuals they are taken from."""

import math

import numpy as np
import pytest

from reference import thresholds
from reference.streams import STREAMS, issued
from trueup.baselines import FixedSplit, TrailingWindow, WeightedQuantile
from trueup.baselines._residuals import Residuals


@pytest.mark.parametrize("name", STREAMS)
def test_the_split_and_the_window_agree_with_numpy(name):
    """The method higher, of the first and of the last residuals."""
    residuals = STREAMS[name]
    for kind, part in (
        (FixedSplit(0.9, first=30), lambda n: residuals[: min(n, 30)]),
        (TrailingWindow(0.9, window=30), lambda n: residuals[max(n - 30, 0) : n]),
    ):
        slow = [
            float(np.quantile(part(n), 0.9, method="higher")) if n else 0.0
            for n in range(len(residuals))
        ]

        np.testing.assert_array_equal(issued(kind, residuals), slow)


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize(("level", "decay"), [(0.9, 0.99), (0.9, 0.975), (0.5, 0.8), (0.05, 0.7)])
def test_weighted_quantiles_agree_with_the_whole_history(name, level, decay):
    """All weights anew, also those too small to be kept."""
    residuals = STREAMS[name]
    slow = thresholds.weighted(residuals, level, decay)

    np.testing.assert_array_equal(issued(WeightedQuantile(level, decay=decay), residuals), slow)


def test_a_long_run_leaves_no_rounding_behind():
    """After 5,000 rounds the running sum of weights is still that of the weights."""
    rival = WeightedQuantile(0.9, decay=0.99)
    issued(rival, np.random.default_rng(1).standard_cauchy(5000).tolist())
    mass = math.fsum(rival._weights[5000 - born] for _, born in rival._ordered[: rival._reached])

    assert rival._mass == pytest.approx(mass, abs=1e-11)
    assert len(rival._ordered) == math.ceil(math.log(1e-17) / math.log(0.99))


@pytest.mark.parametrize("window", [None, 1, 20])
def test_ordered_residuals_agree_with_numpy(window):
    """Three kinds of quantile and ranks, with ties."""
    rng = np.random.default_rng(3)
    values = np.where(rng.random(200) < 0.5, rng.normal(size=200), rng.integers(0, 3, 200))
    residuals = Residuals(window)
    for n, value in enumerate(values.tolist(), start=1):
        residuals.add(value)
        last = values[max(n - window, 0) if window else 0 : n]
        level = float(rng.random())

        assert len(residuals) == last.size
        assert residuals.higher(level) == np.quantile(last, level, method="higher")
        assert residuals.inverted(level) == np.quantile(last, level, method="inverted_cdf")
        assert residuals.between(level) == pytest.approx(np.quantile(last, level), abs=1e-12)
        assert residuals.share_at_least(0.0) == pytest.approx((last >= 0).mean(), abs=1e-15)
