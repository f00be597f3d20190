"""The internal-regret grid: its fixed point, its bound with a broken companion, calibration."""

import numpy as np
import pytest

from reference.recalibration import internal_regret_laws, modified
from trueup.baselines import InternalRegretGrid, internal_regret_bound

LEVELS = {"mean": None, "quantile": 0.9}
ADVERSARIES = {
    "random": lambda law, t: float(np.sin(t * t) / 2 + 0.5),
    "react": lambda law, t: 1.0 if law @ np.linspace(0, 1, law.size) < 0.5 else 0.0,
    "likeliest": lambda law, t: float(law.argmax() < law.size / 2),
    "blocks": lambda law, t: float(t // 200 % 2),
}


def play(rival, adversary, rounds):
    """Return the laws and the losses of a run."""
    laws, losses = [], []
    for t in range(rounds):
        laws.append(rival.probabilities())
        outcome = adversary(laws[-1], t)
        losses.append(rival.losses(outcome))
        rival.update(outcome)
    return np.array(laws), np.array(losses)


def internal_regret(laws, losses):
    """Return the most that moving one point's mass to another would have saved."""
    moved = laws.T @ losses  # row i: what the mass at i would have paid everywhere
    return float((np.diag(moved)[:, None] - moved).max())


@pytest.mark.parametrize("level", LEVELS.values(), ids=LEVELS)
def test_laws_agree_with_experts_written_out(level):
    """One expert a pair, each paying under its own modified law; the fixed point by iteration."""
    laws, losses = play(InternalRegretGrid(level, points=3), ADVERSARIES["random"], 25)

    np.testing.assert_allclose(laws, internal_regret_laws(list(losses)), atol=1e-7)


def test_the_law_is_a_fixed_point():
    """P is the mixture of its own modifications."""
    rival = InternalRegretGrid(points=4)
    play(rival, ADVERSARIES["random"], 40)
    law, rate = rival.probabilities(), 3 * np.sqrt(2 * np.log(20) / 41)
    delta = np.exp(-rate * (rival._advantages - rival._advantages.min()))
    np.fill_diagonal(delta, 0.0)
    mixed = sum(delta[i, j] * modified(law, i, j) for i in range(5) for j in range(5) if i != j)

    np.testing.assert_allclose(mixed / delta.sum(), law, atol=1e-8)


@pytest.mark.parametrize("level", LEVELS.values(), ids=LEVELS)
@pytest.mark.parametrize("name", ADVERSARIES)
def test_internal_regret_stays_under_its_bound(level, name):
    """Whatever reacts to the law."""
    laws, losses = play(InternalRegretGrid(level), ADVERSARIES[name], 1500)

    assert internal_regret(laws, losses) <= internal_regret_bound(1500)


def test_moving_the_wrong_way_breaks_the_bound():
    """The test above can fail: weights that grow with the loss."""

    class Backwards(InternalRegretGrid):
        def losses(self, residual):
            return -super().losses(residual) if self.flipped else super().losses(residual)

        flipped = True

    rival = Backwards()
    laws, losses = play(rival, ADVERSARIES["blocks"], 1500)

    assert internal_regret(laws, -losses) > internal_regret_bound(1500)


def test_a_constant_outcome_is_found():
    """For the mean the nearest point; in units of the interval given."""
    rival = InternalRegretGrid(points=4, low=-5.0, high=5.0)
    for _ in range(600):
        rival.predict(100.0)
        rival.update(102.5)

    assert rival.probabilities()[3] > 0.99
    assert rival.predict(100.0) == pytest.approx(102.5)
