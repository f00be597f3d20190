"""The best constant for a list of losses, by golden-section search on their summed values."""

import math

SHRINK = (math.sqrt(5) - 1) / 2


def best_constant(losses):
    """Return a minimiser on [0, 1] of the sum of convex losses, to about 1e-12 in value."""

    def total(x):
        return math.fsum(loss.value(x) for loss in losses)

    low, high = 0.0, 1.0
    first, second = high - SHRINK * (high - low), low + SHRINK * (high - low)
    f, g = total(first), total(second)
    for _ in range(70):
        if f <= g:
            high, second, g = second, first, f
            first = high - SHRINK * (high - low)
            f = total(first)
        else:
            low, first, f = first, second, g
            second = low + SHRINK * (high - low)
            g = total(second)
    return min((0.0, 1.0, (low + high) / 2), key=total)


def slow_swap_regret(forecasts, losses):
    """Return the sum over distinct forecasts of what the best constant would have saved."""
    regret = 0.0
    for said in set(forecasts.tolist()):
        members = [x for p, x in zip(forecasts.tolist(), losses, strict=True) if p == said]
        best = best_constant(members)
        regret += math.fsum(loss.value(said) - loss.value(best) for loss in members)
    return regret
