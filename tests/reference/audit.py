"""Wealth of an audit written out: every bettor's factors in lists, every restart by itself."""

import math

import numpy as np

from trueup.properties import Mean, Quantile

THETAS = [4 / 2**j for j in range(12)]


def bet(part, p, y, bounds):
    """Return (z, m) for "too low" and for "too high", from the definitions."""
    if isinstance(part, Quantile):
        return (float(y > p), 1 - part.level), (float(y < p), part.level)
    a, b = bounds
    if isinstance(part, Mean):
        return ((y - a) / (b - a), (p - a) / (b - a)), ((b - y) / (b - a), (b - p) / (b - a))
    q = part.level
    up, down = q * (b - p), (1 - q) * (p - a)  # the most that the identification can be, each way
    v = q * max(y - p, 0) - (1 - q) * max(p - y, 0)
    return ((v + down) / (up + down), down / (up + down)), (
        (up - v) / (up + down),
        up / (up + down),
    )


def blocks(known, classes):
    """Return (class, rounds) of every block, in the order in which they are settled."""
    is_open, active, done = {x: [] for x in range(classes)}, 0, []
    for t in range(len(known)):
        for x, rounds in is_open.items():
            if rounds and all(known[i] <= t for i in rounds):
                done.append((x, rounds))
                is_open[x] = []
        here = is_open[active]
        if classes == 2 and any(known[i] <= t for i in here) and not is_open[1 - active]:
            active = 1 - active
        is_open[active].append(t)
    return done + [(x, rounds) for x, rounds in is_open.items() if rounds]


def regions(p):
    """Return the eighth of each forecast among earlier ones, cut anew at 64, 128, 256, ..."""
    answer, cuts = [], None
    for t, value in enumerate(p):
        if t >= 64 and t & (t - 1) == 0:
            cuts = np.quantile(p[:t], np.arange(1, 8) / 8)
        answer.append(-1 if cuts is None else sum(bool(cut <= value) for cut in cuts))
    return answer


def cells(region, groups):
    """Return name -> (mass, sign) of the cells of a round; sign -1 swaps the directions."""
    mine = {"all": (0.6 if groups is None else 0.4, 1)}
    if region >= 0:
        mine["spread"] = (0.1, -1 if region >= 4 else 1)
        for count in (2, 4, 8):
            mine[count, region * count // 8] = (0.1 / count, 1)
    for g in groups or ():
        mine["group", g] = (0.2 / ((g + 1) * (g + 2)), 1)
    return mine


def wealth(part, p, y, *, bounds=None, known=None, classes=1, groups=None, shares="before"):
    """Return the wealth of each class after all rounds.

    With `shares="size"` a block is shared by its own size, which is wrong: the size may depend on
    the outcomes.
    """
    known = list(range(1, len(p) + 1)) if known is None else known
    region = regions(p)
    factors = {}  # (class, cell) -> list of arrays (2, rates), one a block
    most, masses = {}, {}
    for x, rounds in blocks(known, classes):
        inside = {}
        for t in rounds:
            mine = cells(region[t], None if groups is None else groups[t])
            for name, (mass, sign) in mine.items():
                inside.setdefault(name, []).append((t, sign))
                masses[name] = mass
        for name, members in inside.items():
            n = math.ceil(most.get((x, name), 1)) if shares == "before" else len(members)
            total = np.ones((2, len(THETAS)))
            for t, sign in members[:n]:
                for d, (z, m) in enumerate(bet(part, p[t], y[t], bounds)[::sign]):
                    for j, theta in enumerate(THETAS):
                        odds = math.exp(theta)
                        f = (1 - z + odds * z) / (1 - m + odds * m)
                        total[d, j] += (f - 1) / n
            factors.setdefault((x, name), []).append(total)
            most[x, name] = max(len(members), 0.875 * most.get((x, name), 1))
    answer = []
    for x in range(classes):
        gained = sum(
            masses[name] * (worth(list_of) - 1) for (k, name), list_of in factors.items() if k == x
        )
        answer.append(1 + gained)
    return answer


def worth(factors):
    """Return the wealth of a cell whose start is 1: half from the start, half restarted."""
    start = np.prod(factors, axis=0).mean()
    restarted = asleep(len(factors) + 1)
    for v in range(1, len(factors) + 1):
        restarted += (asleep(v) - asleep(v + 1)) * np.prod(factors[v - 1 :], axis=0).mean()
    return (start + restarted) / 2


def asleep(v):
    """Return the mass that restarts at visit v or later."""
    return 1 / (1 + math.log(v))
