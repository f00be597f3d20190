"""Weights on claims as they come up in play, where few mixtures are left that nothing exploits."""

import numpy as np

from reference.claims import claims_at
from trueup.paper import solve_mixture


def played_weights(bins, rounds=200, rate=0.5, seed=0):
    """Return every tenth of the exponential weights of a run against a pushing outcome."""
    rng = np.random.default_rng(seed)
    evidence, kept = np.zeros((bins.n_pairs, 4)), []
    for number in range(rounds):
        weights = np.exp(rate * evidence) * bins.live
        solution = solve_mixture(weights, bins)
        if number >= 50 and number % 10 == 0:
            kept.append(weights)
        likeliest = solution.support[np.argmax(solution.probabilities)]
        end = bins.cells[0] if likeliest > 0.5 else bins.cells[-1]
        outcome = end if rng.uniform() < 0.7 else rng.choice(bins.cells)
        for pair, share in zip(solution.pairs, solution.probabilities, strict=True):
            h = claims_at(bins.scale[pair], bins.bin[pair], bins.gamma, outcome)
            evidence[pair] += share * np.array(h)
    return kept
