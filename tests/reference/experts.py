"""MsMwC with its normalisation found by plain bisection."""

import math


def msmwc_weights(rewards_by_round, n_experts, rounds):
    """Return the weights after the given rounds."""
    log_size = math.log(n_experts * rounds)
    floor = 1 / (n_experts * rounds)
    weights, squares = [1 / n_experts] * n_experts, [0.0] * n_experts
    for rewards in rewards_by_round:
        rates = [min(1 / 64, math.sqrt(log_size / s)) if s else 1 / 64 for s in squares]
        z = [-u + 32 * eta * u * u for u, eta in zip(rewards, rates, strict=True)]
        low, high = min(z), max(z)
        for _ in range(200):
            lam = (low + high) / 2
            if sum(raised(weights, rates, z, lam, floor)) > 1:
                high = lam
            else:
                low = lam
        weights = raised(weights, rates, z, (low + high) / 2, floor)
        squares = [s + u * u for s, u in zip(squares, rewards, strict=True)]
    return weights


def raised(weights, rates, z, lam, floor):
    """Return max(floor, w exp(eta (lam - z)))."""
    return [
        max(floor, w * math.exp(eta * (lam - x)))
        for w, eta, x in zip(weights, rates, z, strict=True)
    ]
