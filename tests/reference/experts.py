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


def master_weights(rewards_by_round, n_experts, rounds):
    """Return the weights of the master over learning rates after the given rounds."""
    rates = [0.5**k / 32 for k in range(1, math.ceil(math.log2(rounds)) + 1)]
    total = sum(eta * eta for eta in rates)
    masters = [eta * eta / total for eta in rates]
    learners = [[1 / n_experts] * n_experts for _ in rates]
    for rewards in rewards_by_round:
        met = [-sum(w * u for w, u in zip(row, rewards, strict=True)) for row in learners]
        z = [g + 32 * eta * g * g for g, eta in zip(met, rates, strict=True)]
        low, high = min(z), max(z)
        for _ in range(200):
            lam = (low + high) / 2
            if sum(raised(masters, rates, z, lam, 0.0)) > 1:
                high = lam
            else:
                low = lam
        masters = raised(masters, rates, z, (low + high) / 2, 0.0)
        for k, eta in enumerate(rates):
            raw = [
                w * math.exp(2 * eta * (u - 64 * eta * u * u))
                for w, u in zip(learners[k], rewards, strict=True)
            ]
            learners[k] = [w / sum(raw) for w in raw]
    return [
        sum(m * row[i] for m, row in zip(masters, learners, strict=True)) for i in range(n_experts)
    ]
