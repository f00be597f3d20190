"""The four claims written out for one pair and one outcome, with plain comparisons."""

from itertools import pairwise


def claims_at(scale, bin_, gamma, outcome):
    """Return h for xi = +2, -2, +1, -1 at an outcome, as the paper prints them.

    Compared in units of gamma, where grid points are whole numbers.
    """
    far, near = 0.5 - gamma / (4 * scale), 0.5 - gamma / (2 * scale)
    r, b, v = (whole(x / gamma) for x in (scale, bin_, outcome))
    return ((v > b + 2 * r) - far, (v < b - 2 * r) - far, near - (v >= b), near - (v <= b))


def whole(units):
    """Return a whole number where rounding has hidden one."""
    return round(units) if abs(units - round(units)) < 1e-9 else units


def expected_gain(bins, weights, pairs, probabilities, outcome):
    """Return the expected weighted claim of a mixture at an outcome."""
    total = 0.0
    for pair, probability in zip(pairs, probabilities, strict=True):
        h = claims_at(bins.scale[pair], bins.bin[pair], bins.gamma, outcome)
        total += probability * sum(w * x for w, x in zip(weights[pair], h, strict=True))
    return total


def outcomes_that_matter(bins):
    """Return every grid point and one outcome in every open cell."""
    ends = sorted({*bins.points.tolist(), 1.0})
    return ends + [(a + b) / 2 for a, b in pairwise(ends)]
