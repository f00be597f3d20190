"""The bins that a calibrator has drawn, in the user's units."""

import numpy as np
import pytest

import trueup as tu
from calibrator.support import feed, uniform


def test_bins_are_those_that_were_drawn():
    """Labels, scales and visits are those of what was handed out."""
    calibrator = tu.Calibrator(tu.Median(), bounds=(0, 8))
    said = list(feed(calibrator, uniform(1, 400, 0, 8)))
    (bins,) = calibrator.bins()
    drawn = {}
    for forecast in said:
        pair = (forecast.label, forecast.scale)
        drawn[pair] = drawn.get(pair, 0) + 1

    assert dict(zip(zip(bins.labels, bins.scales, strict=True), bins.visits, strict=True)) == drawn
    assert bins.wealth.shape == (len(drawn), 4)
    assert bins.certificates.sum() == pytest.approx(calibrator.certificate())


def test_there_is_a_table_for_each_number_also_on_another_scale():
    """Labels come back through the transform; before the first outcome there are none."""
    calibrator = tu.Calibrator(tu.Interval(0.8), transform="log")
    assert [bins.labels.size for bins in calibrator.bins()] == [0, 0]
    said = list(feed(calibrator, np.exp(uniform(2, 300, 0, 4))))
    for k, bins in enumerate(calibrator.bins()):
        labels = {f.label[k] for f in said if f.guarded}
        assert all(min(abs(label - known) for known in bins.labels) < 1e-9 for label in labels)
