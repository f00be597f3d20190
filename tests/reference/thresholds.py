"""Thresholds of the rivals by their formulas, from the whole history anew in every round.

Each function takes the residuals of a run and returns what was issued before each of them.
"""

import math

import numpy as np


def pinball(level, outcome, threshold):
    """Return l_c(s, q)."""
    return max(level * (outcome - threshold), (1 - level) * (threshold - outcome))


def aci(residuals, alpha, step, burn_in=0, window=10**7, decay=None):
    """Return ACI's thresholds; with a decay, the misses are averaged as in the momentum form."""
    issued, misses, current = [], [], alpha
    for n, residual in enumerate(residuals):
        past = residuals[max(n - window, 0) : n]
        if n <= burn_in and burn_in:
            enough = n > math.ceil(1 / alpha)
            issued.append(float(np.quantile(past, 1 - alpha)) if enough else math.inf)
            continue
        if current <= 1 / (n + 1):
            threshold = math.inf
        elif current >= 1:
            threshold = -math.inf
        else:
            threshold = float(np.quantile(past, 1 - current, method="higher"))
        issued.append(threshold)
        misses.append(float(residual > threshold))
        met = misses[-1]
        if decay is not None:
            weights = [decay ** (len(misses) - i + 1) for i in range(1, len(misses) + 1)]
            met = sum(w * e for w, e in zip(weights, misses, strict=True)) / sum(weights)
        current += step * (alpha - met)
    return issued


def dtaci_levels(betas, alpha, rate, mixing, *, lookback=None, low=-math.inf, high=math.inf):
    """Return the mean alpha played against each beta, and the next one."""
    steps = [0.001 * 2**k for k in range(8)]
    count, played, paid = len(steps), [], []
    alphas, weights = [alpha] * count, [1.0] * count
    for beta in betas:
        if lookback and len(paid) >= lookback:
            squares = sum(x * x for x in paid[-lookback:])
            rate = math.sqrt((math.log(2 * count * lookback) + 1) / squares)
        shares = [w / sum(weights) for w in weights]
        played.append(sum(p * a for p, a in zip(shares, alphas, strict=True)))
        losses = [pinball(alpha, beta, a) for a in alphas]
        paid.append(sum(p * x for p, x in zip(shares, losses, strict=True)))
        alphas = [
            min(max(a + g * (alpha - (a > beta)), low), high)
            for a, g in zip(alphas, steps, strict=True)
        ]
        raw = [w * math.exp(-rate * x) for w, x in zip(weights, losses, strict=True)]
        weights = [(1 - mixing) * w / sum(raw) + mixing / count for w in raw]
    shares = [w / sum(weights) for w in weights]
    return played, sum(p * a for p, a in zip(shares, alphas, strict=True))


def inverted(past, level):
    """Return the quantile of the kind numpy calls inverted_cdf."""
    return sorted(past)[max(math.ceil(level * len(past)) - 1, 0)]


def dtaci(residuals, alpha, rate, mixing, *, stored=0, clip=False, lookback=None):
    """Return thresholds of DtACI, or with `stored` and `clip` of the salesforce form."""
    low, high = (0.0, 1.0) if clip else (-math.inf, math.inf)
    issued, betas = [], []
    for n, residual in enumerate(residuals):
        past = residuals[:n]
        current = dtaci_levels(betas, alpha, rate, mixing, lookback=lookback, low=low, high=high)[1]
        if clip:
            issued.append(inverted(past, 1 - current) if n else 0.0)
        elif n == 0 or current <= 0:
            issued.append(math.inf)
        else:
            issued.append(-math.inf if current >= 1 else inverted(past, 1 - current))
        if n > stored:
            betas.append(sum(s >= residual for s in past) / n)
    return issued


def tracker(residuals, alpha, rate, memory=100, integral=None, *, lagged=True, step=None):
    """Return thresholds of the tracker; `integral` is (C_sat, K_I), `step` a fixed step."""
    issued, misses, p, q = [], [], 0.0, 0.0
    for t, residual in enumerate(residuals, start=1):
        issued.append(q)
        misses.append(float(residual > q))
        past = residuals[max(t - 1 - memory, 0) : t - 1]
        eta = step if step is not None else rate * (max(past) - min(past)) if past else rate
        p += eta * (misses[-1] - alpha)
        q = p
        if integral is not None:
            counted = misses[:-1] if lagged else misses
            over = sum(counted) - alpha * len(counted)
            x = over * math.log(t) / (integral[0] * t)
            inside = abs(x) < math.pi / 2
            q = p + integral[1] * (math.tan(x) if inside else math.copysign(math.inf, x))
    return issued


def decaying(residuals, alpha, power, size=1.0):
    """Return thresholds of the tracker with steps size * t^-power, which starts at s_1."""
    issued, q = [], 0.0
    for t, residual in enumerate(residuals, start=1):
        issued.append(q)
        q = residual if t == 1 else q
        q -= size * t**-power * (alpha - (residual > q))
    return issued


def slope(level, outcome, threshold):
    """Return g_c(s, q)."""
    return (1 - level) * (outcome < threshold) - level * (outcome > threshold)


def sf_ogd(residuals, level, scale):
    """Return thresholds of scale-free gradient descent."""
    issued, slopes, q = [], [], 0.0
    for residual in residuals:
        issued.append(q)
        slopes.append(slope(level, residual, q))
        total = sum(g * g for g in slopes)
        if total > 0:
            q = max(0.0, q - scale / math.sqrt(3) * slopes[-1] / math.sqrt(total))
    return issued


def saocp(residuals, level, scale, lifetime=8):
    """Return thresholds of SAOCP with the tie rule."""

    def mix(experts):
        prior = [1 / (e["i"] ** 2 * (1 + math.floor(math.log2(e["i"])))) for e in experts]
        raw = [p * max(0.0, e["w"]) for p, e in zip(prior, experts, strict=True)]
        shares = raw if sum(raw) > 0 else prior
        return sum(p * e["q"] for p, e in zip(shares, experts, strict=True)) / sum(shares)

    experts, issued, largest = [], [], max(level, 1 - level)
    for t, residual in enumerate(residuals, start=1):
        issued.append(mix(experts) if experts else 0.0)
        experts = [e for e in experts if e["n"] <= e["life"]]
        power = next(2**u for u in range(64, -1, -1) if t % 2**u == 0)
        born = {"i": t, "q": issued[-1], "n": 0, "life": lifetime * power}
        experts.append(born | {"z": 0.0, "Z": 0.0, "w": 0.0, "G": 0.0})
        met = pinball(level, residual, mix(experts))
        for e in experts:
            r = (met - pinball(level, residual, e["q"])) / (scale * largest)
            r = 0.0 if abs(r) < 1e-12 else min(max(r, -1.0 if e["w"] > 0 else 0.0), 1.0)
            e["z"], e["Z"], e["n"] = e["z"] + r, e["Z"] + r * e["w"], e["n"] + 1
            e["w"] = e["z"] / e["n"] * (1 + e["Z"])
            g = slope(level, residual, e["q"])
            e["G"] += g * g
            if e["G"] > 0:
                e["q"] = max(0.0, e["q"] - scale / math.sqrt(3) * g / math.sqrt(e["G"]))
    return issued


def mvp(residuals, alpha, coin, *, buckets, resolution, rate, groups=None):
    """Return thresholds of MVP; `coin(k)` is its k-th draw, `groups[t]` the groups of round t."""
    issued, seen, draws = [], [], 0

    def pressure(b, inside):
        total = 0.0
        for g in inside:
            misses = [e for place, other, e in seen if place == b and g in other]
            v, f = alpha * len(misses) - sum(misses), spread(len(misses))
            total += 2 * math.sinh(rate * (0.0 if abs(v) < 1e-9 else v) / f) / f
        return total

    for t, residual in enumerate(residuals):
        inside = (0,) if groups is None else groups[t]
        c = [pressure(b, inside) for b in range(buckets)]
        b = next((b for b in range(1, buckets) if c[b - 1] * c[b] <= 0), None)
        if b is None:
            q = 1.0 if max(c) <= 0 else 0.0
        else:
            draws += 1
            total = abs(c[b]) + abs(c[b - 1])
            below = coin(draws) < (abs(c[b]) / total if total else 1.0)
            q = b / buckets - (1 / (resolution * buckets) if below else 0.0)
        issued.append(q)
        place = min(math.floor(q * buckets + 1 / (2 * resolution)), buckets - 1)
        seen.append((place, inside, float(residual > q)))
    return issued


def spread(count):
    """Return f(N)."""
    return math.sqrt((count + 1) * math.log2(count + 2) ** 2)


def weighted(residuals, level, decay):
    """Return the weighted quantile of the past, the coming residual counted as infinite."""
    issued = []
    for n in range(len(residuals)):
        pairs = sorted((s, decay ** (n - i)) for i, s in enumerate(residuals[:n]))
        total, reached, threshold = 1.0 + sum(w for _, w in pairs), 0.0, math.inf
        for s, w in pairs:
            reached += w
            if reached >= level * total:
                threshold = s
                break
        issued.append(threshold)
    return issued
