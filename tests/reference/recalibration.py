"""Recalibrators by their formulas, with matrices and whole histories.

Each function takes the probabilities and outcomes of a run and returns what was said.
"""

import math

import numpy as np
from scipy.optimize import minimize_scalar


def platt(probabilities, outcomes, rate=0.1, diameter=1.0, radius=100.0):
    """Return online Platt scaling's probabilities; the projection tries the whole circle."""
    said, theta, inverse = [], np.zeros(2), np.eye(2) * (rate * diameter) ** 2
    for probability, outcome in zip(probabilities, outcomes, strict=True):
        p = np.clip(probability, 1e-5, 1 - 1e-5)
        z = np.array([np.log(p / (1 - p)), 1.0])
        said.append(float(np.exp(-np.logaddexp(0, -theta @ z))))
        g = (said[-1] - outcome) * z
        inverse = inverse - np.outer(inverse @ g, inverse @ g) / (1 + g @ inverse @ g)
        theta = theta - inverse @ g / rate
        if np.linalg.norm(theta) > radius:
            theta = nearest(theta, np.linalg.inv(inverse), radius)
    return said


def nearest(point, metric, radius):
    """Return the nearest point of a circle in a metric, by looking around it."""

    def far(angle):
        off = radius * np.array([math.cos(angle), math.sin(angle)]) - point
        return off @ metric @ off

    angles = np.linspace(0, 2 * math.pi, 2001)
    best = angles[np.argmin([far(angle) for angle in angles])]
    found = minimize_scalar(far, bounds=(best - 0.01, best + 0.01), options={"xatol": 1e-13})
    return radius * np.array([math.cos(found.x), math.sin(found.x)])


def place_of(probability, bins):
    """Return the number i of the bin with i / m < p <= (i + 1) / m; 0 is in the first."""
    return next(i for i in range(bins) if probability * bins <= i + 1)


def calibeating(probabilities, outcomes, bins=10, start=0.5):
    """Return the running means of the bins."""
    said, places = [], [place_of(p, bins) for p in probabilities]
    for t, place in enumerate(places):
        met = [y for i, y in zip(places[:t], outcomes[:t], strict=True) if i == place]
        said.append((sum(met) + (place + 1 - start) / bins) / (1 + len(met)))
    return said


def hedged(probabilities, outcomes, coin, bins=10):
    """Return the midpoints that Foster's games play; `coin(t)` is the draw of a round."""
    said, played = [], []
    for t, probability in enumerate(probabilities):
        game = place_of(probability, bins)
        d, e = [], []
        for i in range(bins):
            met = [y for (k, c), y in zip(played, outcomes[:t], strict=True) if (k, c) == (game, i)]
            mean = sum(met) / len(met) if met else (i + 0.5) / bins
            d.append(i / bins - mean)
            e.append(mean - (i + 1) / bins)
        good = [i for i in range(bins) if d[i] <= 0 and e[i] <= 0]
        if game in good:
            cell = game
        elif good:
            cell = good[0]
        else:
            cell = next(j for j in range(bins) if d[j] > 0) - 1
            cell += coin(t) >= d[cell + 1] / (d[cell + 1] + e[cell])
        played.append((game, cell))
        said.append((cell + 0.5) / bins)
    return said


def modified(law, i, j):
    """Return the law after its mass at i has moved to j."""
    moved = law.copy()
    moved[j] += moved[i]
    moved[i] = 0.0
    return moved


def internal_regret_laws(losses):
    """Return what is played before each row of losses: a fixed point, by iteration."""
    laws, size = [], len(losses[0])
    pairs = [(i, j) for i in range(size) for j in range(size) if i != j]
    for t in range(1, len(losses) + 1):
        paid = [
            sum(modified(law, *pair) @ met for law, met in zip(laws, losses, strict=False))
            for pair in pairs
        ]
        rate = 3 * math.sqrt(2 * math.log(len(pairs)) / t)
        delta = np.exp(-rate * (np.array(paid) - min(paid)))
        delta /= delta.sum()
        law = np.full(size, 1 / size)
        for _ in range(100_000):
            moved = sum(d * modified(law, *pair) for d, pair in zip(delta, pairs, strict=True))
            if np.abs(moved - law).max() < 1e-15:
                break
            law = moved
        laws.append(law)
    return laws
