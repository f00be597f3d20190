"""MVP: golden values, its twin with and without groups, the tie rule, and its calibration."""

import numpy as np
import pytest

from reference import thresholds
from reference.streams import WAVE, golden, issued
from trueup.baselines import ACI, MVP, SFOGD, QuantileTracker, _mvp
from trueup.baselines._rival import coin
from trueup.errors import InvalidArgument

GOLDEN = 0.6180339887498949


class FixedDraws(MVP):
    """Its k-th draw is given."""

    draws = 0

    def _coin(self):
        self.draws += 1
        return GOLDEN * self.draws % 1


def test_golden_values():
    """M = 40, r = 800000, eta = 0.5, on a quarter of the residuals."""
    rival = FixedDraws(0.9, buckets=40, resolution=800_000, rate=0.5)
    said, coverage = golden(rival, [residual / 4 for residual in WAVE])

    assert said == [0.275, 0.3, 0.475, 0.725]
    assert coverage == 0.7825


def streams():
    """Yield residuals of [0, 1]: smooth, random, few values, ends, constant."""
    rng = np.random.default_rng(4)
    yield [residual / 4 for residual in WAVE[:250]]
    yield rng.beta(2, 5, 250).tolist()
    yield rng.choice([0.0, 0.25, 0.5, 1.0], 250).tolist()
    yield [0.0] * 60
    yield [1.0] * 150
    yield [0.5] * 60


@pytest.mark.parametrize("residuals", list(streams()), ids=range(6))
@pytest.mark.parametrize("settings", [(10, 1000, 0.5), (40, 800_000, 0.118)], ids=str)
def test_thresholds_agree_with_the_whole_history(residuals, settings):
    """All counts anew in every round, and the same draws."""
    buckets, resolution, rate = settings
    known = {"buckets": buckets, "resolution": resolution, "rate": rate}
    slow = thresholds.mvp(residuals, 0.1, lambda k: GOLDEN * k % 1, **known)

    np.testing.assert_allclose(
        issued(FixedDraws(0.9, **known), residuals), slow, rtol=0, atol=1e-12
    )


def test_overlapping_groups_agree_with_the_whole_history():
    """Points of none, one, two and three groups."""
    rng = np.random.default_rng(6)
    groups = [tuple(np.flatnonzero(rng.random(3) < 0.5).tolist()) for _ in range(300)]
    residuals = [float(rng.beta(2, 2 + 4 * (0 in inside))) for inside in groups]
    known = {"buckets": 10, "resolution": 1000, "rate": 0.5}
    slow = thresholds.mvp(residuals, 0.1, lambda k: GOLDEN * k % 1, groups=groups, **known)
    rival, fast = FixedDraws(0.9, groups=3, **known), []
    for inside, residual in zip(groups, residuals, strict=True):
        fast.append(rival.predict(groups=inside))
        rival.update(residual)

    np.testing.assert_allclose(fast, slow, rtol=0, atol=1e-12)


def test_a_group_twice_is_a_group_and_a_point_of_none_changes_nothing():
    """Groups are a set; where there are several, they must be named."""
    rival = MVP(0.9, groups=2)
    assert rival.predict(groups=[1, 1]) == rival.predict(groups=(1,))

    rival.predict(groups=())
    before = [list(row) for row in rival._pressures]
    rival.update(1.0)

    assert rival._pressures == before
    with pytest.raises(InvalidArgument, match="groups must be given to predict before update"):
        rival.update(0.5)
    with pytest.raises(InvalidArgument, match="groups must be given where there are several"):
        rival.predict()
    with pytest.raises(InvalidArgument, match="groups must be below 2, got 2"):
        rival.predict(groups=[2])


def test_counts_that_are_just_right_are_ties(monkeypatch):
    """One miss in ten rounds is exactly alpha, and in floats it is not: 10 * 0.3 - 3 is fine."""
    rival = MVP(0.7, buckets=2)
    rival._counts, rival._misses = [[10, 0]], [[3, 0]]
    assert rival._pressure(0, 0) == 0.0

    rival = MVP(1 - 0.35, buckets=2)
    rival._counts, rival._misses = [[180, 0]], [[63, 0]]
    assert 0.35 * 180 != 63.0
    assert rival._pressure(0, 0) == 0.0

    monkeypatch.setattr(_mvp, "TIE", 0.0)
    assert rival._pressure(0, 0) != 0.0


def test_thresholds_come_in_the_units_of_the_residuals():
    """With low and high, a forecast, and residuals outside refused."""
    plain, scaled = MVP(0.9, seed=3), MVP(0.9, seed=3, low=-10.0, high=30.0)
    rng = np.random.default_rng(5)
    for residual in rng.random(200).tolist():
        assert scaled.predict(7.0) == pytest.approx(7 - 10 + 40 * plain.predict())
        plain.update(residual)
        scaled.update(7 - 10 + 40 * residual)
    scaled.predict(7.0)
    with pytest.raises(InvalidArgument, match=r"outcome - forecast must be inside the interval"):
        scaled.update(38.0)


def calibration_error(said, residuals, alpha):
    """Return the sum over 20 equal bins of the threshold of |sum of (e - alpha)|, over T."""
    said, missed = np.array(said), np.array(residuals) > np.array(said)
    place = np.clip(np.floor(said * 20), 0, 19)
    return sum(abs((missed[place == b] - alpha).sum()) for b in range(20)) / len(said)


def against(rival, rounds=5000):
    """Play the residual just above the threshold where that is below 1/2, and else 0.

    What is looked at is the end of the bucket, which both thresholds of MVP's coin share.
    """
    said, residuals = [], []
    for _ in range(rounds):
        threshold = rival.predict()
        end = np.ceil(threshold * 40 - 1e-9) / 40 if isinstance(rival, MVP) else threshold
        residual = end + 1e-3 if end < 0.5 else 0.0
        rival.update(residual)
        said.append(threshold)
        residuals.append(residual)
    return np.mean(np.array(residuals) <= np.array(said)), calibration_error(said, residuals, 0.1)


@pytest.mark.parametrize(
    "rival", [QuantileTracker(0.9, step=0.02), SFOGD(0.9), ACI(0.9)], ids=lambda r: type(r).__name__
)
def test_marginal_methods_are_covered_and_miscalibrated(rival):
    """About 90 % covered, and the worst calibration that is possible at that: 2 * 0.1 * 0.9."""
    covered, error = against(rival)

    assert covered == pytest.approx(0.9, abs=0.006)
    assert error == pytest.approx(0.18, abs=0.006)


def test_mvp_is_calibrated_against_the_same_residuals():
    """An error of about 0.01 at 0.9 coverage."""
    covered, error = against(MVP(0.9, seed=1, buckets=40, resolution=800_000))

    assert covered == pytest.approx(0.9, abs=0.01)
    assert error < 0.02


def test_the_coin_is_fair_and_its_rounds_are_not_alike():
    """Means, neighbours and seeds of 20,000 draws."""
    draws = np.array([coin(3, number) for number in range(20_000)])
    other = np.array([coin(4, number) for number in range(20_000)])

    assert draws.mean() == pytest.approx(0.5, abs=0.01)
    assert np.histogram(draws, 10, (0, 1))[0].min() > 1_850
    assert abs(np.corrcoef(draws[1:], draws[:-1])[0, 1]) < 0.03
    assert abs(np.corrcoef(draws, other)[0, 1]) < 0.03
