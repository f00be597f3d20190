"""TreeSwap: when its layers learn and restart, and its bound with a version that breaks it."""

import numpy as np
import pytest

from reference.regret import pseudo_swap_regret
from trueup.baselines import TreeSwap, tree_swap_bound
from trueup.losses import Absolute


class Frozen(TreeSwap):
    """Never learns: every layer says 1/2 for ever."""

    def _learn(self, said, loss, lipschitz):
        pass


def layer_reference(outcomes, block, layer):
    """Return a layer's forecast by running it anew from its last restart."""
    held = block**layer
    since = outcomes[len(outcomes) - len(outcomes) % (held * block) :]
    forecast = 0.5
    for start in range(0, len(since) - held + 1, held):
        mean_slope = np.mean(np.sign(forecast - since[start : start + held]))
        forecast = min(max(forecast - mean_slope / (2 * block**0.5), 0.0), 1.0)
    return forecast


def test_layers_agree_with_runs_from_their_last_restart():
    """After every round, each of three layers is what its own blocks say."""
    outcomes = np.random.default_rng(3).random(64) ** 2
    forecaster = TreeSwap(64)
    for played, outcome in enumerate(outcomes):
        forecaster.update(Absolute(outcome))
        if played + 1 < 64:
            slow = [layer_reference(outcomes[: played + 1], forecaster.block, k) for k in range(3)]

            np.testing.assert_allclose(forecaster.layers(), slow, atol=1e-12)


def test_layers_restart_when_their_blocks_are_full():
    """With M = 3: layer 0 restarts every 3 rounds, layer 1 every 9; a restart says 1/2."""
    forecaster = TreeSwap(27)
    seen = []
    for _ in range(27):
        forecaster.update(Absolute(1.0))
        seen.append((forecaster.layers() == 0.5).tolist())

    assert forecaster.block == 3
    assert [t for t in range(1, 28) if seen[t - 1][0]] == list(range(3, 28, 3))
    assert [t for t in range(1, 28) if seen[t - 1][1]] == [1, 2, 9, 10, 11, 18, 19, 20, 27]
    assert [t for t in range(1, 28) if seen[t - 1][2]] == [*range(1, 9), 27]


def test_equal_layers_are_said_once():
    """At first all layers say 1/2, with probability 1; later each has its share."""
    forecaster = TreeSwap(1000, layers=4)
    first = forecaster.predict()
    forecaster.update(Absolute(1.0))
    second = forecaster.predict()

    assert (first.support.tolist(), first.probabilities.tolist()) == ([0.5], [1.0])
    assert second.probabilities.tolist() == [0.75, 0.25]


@pytest.mark.parametrize("rounds", [1000, 1500])
@pytest.mark.parametrize("name", ["random", "certain", "likeliest"])
def test_pseudo_swap_regret_stays_under_its_bound(play, rules, name, rounds):
    """Against random and adaptive outcomes, with full and with unfinished blocks."""
    mixtures, losses, outcomes = play(TreeSwap(rounds, 1), rules[name])
    regret = pseudo_swap_regret(mixtures, losses, np.unique(outcomes))

    assert regret <= tree_swap_bound(rounds)


def test_frozen_layers_break_the_bound(play, rules):
    """The test above can fail: layers that never move have regret T/2."""
    mixtures, losses, outcomes = play(Frozen(1000, 1), rules["likeliest"])

    assert pseudo_swap_regret(mixtures, losses, np.unique(outcomes)) > tree_swap_bound(1000)


def test_the_bound_of_full_blocks_is_the_formula():
    """For T = M^K: T / (2K) + T / (2 sqrt(M))."""
    assert tree_swap_bound(1000) == pytest.approx(1000 / 6 + 1000 / (2 * 10**0.5))


def test_one_layer_is_plain_gradient_descent():
    """With K = 1 nothing restarts before the end, and the forecast follows a constant outcome."""
    forecaster = TreeSwap(400, layers=1)
    for _ in range(399):
        forecaster.update(Absolute(0.8))

    assert forecaster.block == 400
    assert abs(forecaster.predict().value - 0.8) <= forecaster.spacing
