"""Online Platt scaling: its twin, its projection, and that it finds the right line."""

import math

import numpy as np
import pytest

from reference.recalibration import nearest, platt
from trueup.baselines import OnlinePlatt
from trueup.baselines._platt import pulled_back


def said_by(rival, probabilities, outcomes):
    """Return what a recalibrator says."""
    said = []
    for probability, outcome in zip(probabilities, outcomes, strict=True):
        said.append(rival.predict(probability))
        rival.update(outcome)
    return said


def runs():
    """Yield probabilities and outcomes: honest, distorted, constant, certain, fractions."""
    rng = np.random.default_rng(7)
    honest = rng.random(400)
    happened = (rng.random(400) < honest).astype(float)
    yield honest, happened
    yield honest**2, happened
    yield np.full(300, 0.3), happened[:300]
    yield np.repeat([0.0, 1.0], 100), np.repeat([1.0, 0.0], 100)
    yield honest, honest


@pytest.mark.parametrize("run", list(runs()), ids=range(5))
@pytest.mark.parametrize("settings", [{}, {"rate": 0.5, "diameter": 3.0}], ids=str)
def test_probabilities_agree_with_matrices(run, settings):
    """The same formulas with arrays."""
    fast = said_by(OnlinePlatt(**settings), *run)

    np.testing.assert_allclose(fast, platt(*run, **settings), rtol=0, atol=1e-12)


def test_a_small_disc_agrees_with_a_search_of_the_circle():
    """The projection happens in most rounds of this run."""
    run = list(runs())[1]
    rival = OnlinePlatt(radius=0.4)
    fast = said_by(rival, *run)

    assert math.hypot(*rival.theta) <= 0.4 * (1 + 1e-12)
    np.testing.assert_allclose(fast, platt(*run, radius=0.4), rtol=0, atol=1e-6)


def test_the_nearest_point_of_a_disc_is_nearest_in_its_metric():
    """Random matrices, round and thin."""
    rng = np.random.default_rng(9)
    for thin in (1.0, 1e-3):
        for _ in range(50):
            root = rng.normal(size=(2, 2)) * [1.0, thin]
            matrix = root @ root.T
            point = 3 * rng.normal(size=2) + np.sign(rng.normal(size=2))
            if np.linalg.norm(point) <= 1:
                continue
            found = pulled_back(*point, (matrix[0, 0], matrix[0, 1], matrix[1, 1]), 1.0)
            metric = np.linalg.inv(matrix)
            best = nearest(point, metric, 1.0)

            assert math.hypot(*found) == pytest.approx(1.0, abs=1e-9)
            ours, theirs = ((v - point) @ metric @ (v - point) for v in (np.array(found), best))
            assert ours <= theirs * (1 + 1e-6)


def test_a_distorted_model_is_put_right():
    """Squared probabilities: the Brier score comes back to within 0.01 of the honest one."""
    rng = np.random.default_rng(11)
    honest = rng.uniform(0.2, 0.8, 5000)
    happened = (rng.random(5000) < honest).astype(float)
    said = np.array(said_by(OnlinePlatt(), honest**2, happened))
    brier = [np.mean((p - happened) ** 2) for p in (honest, honest**2, said)]

    assert brier[1] > brier[0] + 0.04
    assert brier[2] < brier[0] + 0.01
