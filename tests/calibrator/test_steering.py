"""Steering: its mixture written out, units that do not matter, parts left out, no harm."""

import math

import numpy as np
import pytest

import trueup as tu
from trueup._kernels import _engine as kernels
from trueup.calibrator._batch import continue_run

ROUNDS = 1_500


def drifting(seed=0):
    """Return outcomes with a wave, noise that swells, and a forecast that misses the wave."""
    rng = np.random.default_rng(seed)
    t = np.arange(ROUNDS)
    noise = (0.5 + (t % 300 > 150)) * rng.standard_t(5, ROUNDS)
    own = 20 + rng.normal(0, 3, ROUNDS)
    return own + 2 * np.sin(t / 40) + noise, own


def steered(outcomes, own, wanted, left_out=0):
    """Return what is said, and the stream's memory, with some kinds of experts left out."""
    calibrator = tu.Calibrator(wanted)
    calibrator._streams[0].z[kernels.LEFT_OUT] = left_out
    run = continue_run(calibrator, outcomes, outcomes, own, None, None)
    return run.values, calibrator._streams[0].z


def kind(name):
    """Return the number that leaves a kind of experts out."""
    return 1 << kernels.KINDS.index(name)


def cost(level, said, outcomes):
    """Return pinball losses."""
    error = outcomes - said
    return np.where(error > 0, level, level - 1) * error


@pytest.mark.parametrize("wanted", [tu.Quantile(0.9), tu.Median(), tu.Mean()], ids=repr)
@pytest.mark.parametrize("factor", [2.0**10, 2.0**-10])
def test_units_do_not_matter(wanted, factor):
    """Outcomes and forecasts a thousand times larger: a thousand times what was said."""
    outcomes, own = drifting()
    plain, larger = (steered(outcomes * c, own * c, wanted)[0] for c in (1.0, factor))

    np.testing.assert_allclose(larger / factor, plain, rtol=1e-9, atol=1e-9)


def test_a_memory_in_fixed_units_fails_the_same_check():
    """The companion: experts that start at a number of their own do not scale."""
    outcomes, own = drifting()
    said = []
    for factor in (1.0, 2.0**10):
        calibrator = tu.Calibrator(tu.Median())
        calibrator._streams[0].z[kernels.AT_THETAS : kernels.AT_THETAS + kernels.RAW] = 1.0
        run = continue_run(
            calibrator, outcomes * factor, outcomes * factor, own * factor, None, None
        )
        said.append(run.values / factor)

    assert np.abs(said[0] - said[1]).max() > 1e-3


def test_the_mixture_written_out():
    """Weights from leads, their squares and what came last; the user's own number is trusted."""
    rng = np.random.default_rng(1)
    n = kernels.EXPERTS
    for trusts in (False, True):
        for other in (0.0, 1.0):
            z, memo = np.zeros(kernels.STREAM + 16), np.zeros(kernels.MEMO)
            z[kernels.OTHER] = other
            leads, batch = rng.normal(0, 3, n), rng.normal(0, 1, n)
            squares = rng.uniform(0, 20, n)
            z[kernels.AT_LEADS : kernels.AT_LEADS + n] = leads
            z[kernels.AT_LEAD_SQUARES : kernels.AT_LEAD_SQUARES + n] = squares
            z[kernels.AT_BATCH : kernels.AT_BATCH + n] = batch
            memo[:n] = rng.normal(0, 1, n)
            weights = []
            for k in range(n):
                rate = 1 / (1 + math.sqrt(squares[k] + batch[k] ** 2))
                weight = rate * math.exp(2 * rate * (leads[k] + batch[k]))
                if k == n - 1 and other == 0.0:
                    weight *= 200
                elif trusts:
                    weight = max(weight - rate, 0.0)
                weights.append(weight)
            mixed = np.dot(weights, memo[:n]) / np.sum(weights)

            assert kernels.mixture_of(z, trusts, memo) == pytest.approx(mixed, rel=1e-12)


def test_kinds_of_experts_can_be_left_out():
    """With all but the user's own number left out nothing moves it; one kind changes something."""
    outcomes, own = drifting()
    every = sum(kind(name) for name in kernels.KINDS if name != "none")
    alone, _ = steered(outcomes, own, tu.Quantile(0.9), every)
    full, _ = steered(outcomes, own, tu.Quantile(0.9))
    assert cost(0.9, full, outcomes).mean() < 0.8 * cost(0.9, alone, outcomes).mean()
    for name in ("raw", "scaled", "moved", "fitted", "standard", "window"):
        without, _ = steered(outcomes, own, tu.Quantile(0.9), kind(name))
        assert not np.array_equal(without, full)


def games(seed=2, rounds=100, rows=40):
    """Return probabilities that are right, row by row, and one outcome a game for all its rows."""
    rng = np.random.default_rng(seed)
    outcomes = np.repeat((rng.uniform(size=rounds) < 0.5).astype(float), rows)
    left = np.tile(np.linspace(1.0, 0.1, rows), rounds)
    evidence = (
        np.cumsum(rng.normal(0, 0.3, (rounds, rows)), axis=1).ravel() + (outcomes - 0.5) / left
    )
    known = np.repeat(np.arange(1, rounds + 1) * rows, rows)
    return outcomes, 1 / (1 + np.exp(-evidence)), known


def test_a_right_probability_is_not_harmed_while_evidence_is_thin():
    """One outcome for forty forecasts is one piece of evidence."""
    outcomes, own, known = games()
    said = tu.calibrate(outcomes, tu.Probability(), forecasts=own, known_at=known).values
    lost = ((said - outcomes) ** 2 - (own - outcomes) ** 2).mean()

    assert lost < 0.002


def test_taking_every_row_for_evidence_does_harm():
    """The companion: told as if each outcome had come by itself, the same is worse by far."""
    outcomes, own, _ = games()
    calibrator = tu.Calibrator(tu.Probability())
    z, rows, lost = calibrator._streams[0].z, 40, 0.0
    for start in range(0, outcomes.size, rows):
        said = [calibrator.predict(float(p)) for p in own[start : start + rows]]
        for f, y in zip(said, outcomes[start : start + rows], strict=True):
            lost += (f.value - y) ** 2 - (f.raw - y) ** 2
            z[kernels.TOGETHER_AT] = z[kernels.AT_BATCH + kernels.EXPERTS] = -1.0
            calibrator.update(float(y), forecast=f)

    assert lost / outcomes.size > 0.002


def test_platt_scaling_repairs_a_distorted_probability():
    """Too sure probabilities become less so; without that expert less is gained."""
    rng = np.random.default_rng(3)
    truth = rng.uniform(0.1, 0.9, 4_000)
    outcomes = (rng.uniform(size=truth.size) < truth).astype(float)
    own = 1 / (1 + (1 / truth - 1) ** 3)
    said, z = steered(outcomes, own, tu.Probability())
    brier = [((p - outcomes) ** 2)[1_000:].mean() for p in (truth, own, said)]

    assert z[kernels.PLATT_SLOPE] == pytest.approx(-2 / 3, abs=0.1)
    assert brier[2] - brier[0] < 0.25 * (brier[1] - brier[0])


def test_the_sizes_of_errors_are_mixed_by_their_odds():
    """Where errors grow with the forecast, the measure in relation to it wins."""
    rng = np.random.default_rng(4)
    own = np.exp(rng.uniform(0, 8, ROUNDS))
    z = steered(own * (1 + 0.1 * rng.normal(size=ROUNDS)), own, tu.Quantile(0.9))[1]
    costs = z[kernels.AT_SCALE_COSTS : kernels.AT_SCALE_COSTS + kernels.SCALES]

    assert costs.argmin() == 4
