"""What every adversary promises."""

import numpy as np

from trueup.adversaries import Adversary
from trueup.losses import v_shaped
from trueup.paper import EfficientPredictor
from trueup.protocols import FloatArray, Loss
from trueup.replay import play

ROUNDS = 60
GRID: FloatArray = np.linspace(0.0, 1.0, 33)


def check_adversary(adversary: Adversary) -> None:
    """Check that an adversary repeats itself for a seed and keeps its Lipschitz bound.

    >>> from trueup.adversaries import SidePush
    >>> check_adversary(SidePush())
    """
    first, second = (_losses(adversary) for _ in range(2))
    same = all(
        np.array_equal(a.value(GRID), b.value(GRID)) for a, b in zip(first, second, strict=True)
    )
    _promise(same, "the same seed gives the same losses", adversary)
    bound = adversary.lipschitz * (1 + 1e-12)
    steep = [loss for loss in first if loss.lipschitz > bound]
    _promise(not steep, "no loss is steeper than its bound", adversary)
    for loss in first:
        v_shaped(loss, bound)
    _promise("object at 0x" not in repr(adversary), "its repr is readable", adversary)


def _losses(adversary: Adversary) -> tuple[Loss, ...]:
    return play(EfficientPredictor(ROUNDS, 0.05, seed=5), adversary, seed=11).losses


def _promise(kept: bool, promise: str, adversary: object) -> None:  # noqa: FBT001 - a small assertion
    if not kept:
        raise AssertionError(f"An adversary promises that {promise}; {adversary!r} does not.")
