"""What all forecasters share: the draw of a round, and the constant that losses are divided by."""

import numpy as np

from trueup import _validation as check
from trueup.errors import HorizonReached, InvalidArgument
from trueup.losses import refuse_wrong
from trueup.protocols import FloatArray, Loss

DRAWS, LAWS, ADVERSARIES = 1, 2, 3  # whose coin: no two share a stream, whatever their seeds


def draw(probabilities: FloatArray, seed: int, played: int) -> int:
    """Return the number drawn from a distribution by the coin of this seed and round.

    >>> draw(np.array([0.5, 0.5]), seed=1, played=0) == draw(np.array([0.5, 0.5]), 1, 0)
    True
    """
    coin = np.random.default_rng((DRAWS, seed, played)).random()
    drawn = int(np.searchsorted(np.cumsum(probabilities), coin, side="right"))
    return min(drawn, probabilities.size - 1)


def remaining(rounds: int, played: int) -> int:
    """Return how many rounds are left of a horizon, refusing when there are none."""
    if played >= rounds:
        raise HorizonReached(f"All {rounds} rounds have been played; make a new one.")
    return rounds - played


def run_lipschitz(loss: Loss, known: float | None) -> float | None:
    """Return the Lipschitz constant of a run after one more loss.

    It is the one known, else that of the first loss with any slope (None until then). Flatter
    losses are welcome; a steeper one is refused, since the guarantee is about losses divided by
    one constant.
    """
    refuse_wrong(loss)
    steepest = check.nonnegative("lipschitz", loss.lipschitz)
    if known is None:
        return steepest or None
    if steepest > known * (1 + check.SLOPE_TOLERANCE):
        raise InvalidArgument(
            f"loss must have slopes of at most {known}, got {loss!r} with {steepest};"
            f" give lipschitz={steepest} from the start."
        )
    return known
