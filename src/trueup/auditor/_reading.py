"""What the wealth of bettors says: where the evidence is, and since when."""

import math
from collections.abc import Hashable, Sequence

import numpy as np

from trueup._kernels import _audit as kernels
from trueup.auditor._claims import Part
from trueup.auditor._result import Break, Evidence
from trueup.properties import Mean, Quantile
from trueup.protocols import FloatArray

LOG10 = math.log(10.0)
DIRECTIONS, SPREADS = ("too low", "too high"), ("too extreme", "too flat")
REGIONS = ((kernels.HALVES, "half"), (kernels.QUARTERS, "quarter"), (kernels.EIGHTHS, "eighth"))


def evidence_of(
    parts: tuple[Part, ...],
    states: Sequence[kernels.State],
    cuts: Sequence[FloatArray],
    names: Sequence[Hashable],
) -> tuple[Evidence, ...]:
    """Return the evidence of every place that had rounds, the strongest first."""
    places = []
    for k, (part, state) in enumerate(zip(parts, states, strict=True)):
        level = part.level if len(parts) > 1 and isinstance(part, Quantile) else None
        used = np.flatnonzero(state.sums[:, kernels.ROWS])
        for c in used.tolist():
            name, low, high = _place(c, cuts[k] if cuts else np.empty(0), names)
            log, direction = _wealth(state, c)
            log += math.log(state.mass[c] / (len(parts) * state.head.shape[0]))
            words = SPREADS if c == kernels.SPREAD else DIRECTIONS
            wanted, got = _compared(part, c, direction, state.sums[c])
            rows = int(state.sums[c, kernels.ROWS])
            said = words[direction]
            places.append(Evidence(name, level, rows, log / LOG10, said, wanted, got, low, high))
    return tuple(sorted(places, key=lambda item: -item.log10))


def _wealth(state: kernels.State, c: int) -> tuple[float, int]:
    """Return the log of the wealth of a cell (its start is 1) and its better direction."""
    best = -math.inf, 0
    for x in range(state.head.shape[0]):
        with np.errstate(divide="ignore"):
            logs = np.log(state.wealth[x, :, c].sum(axis=-1))  # (accounts, directions)
        logs += state.power[x, :, c] * math.log(2.0)
        waiting = math.log(0.5 / (1 + math.log(state.visits[x, c] + 1)))
        logs[1] = np.logaddexp(logs[1], waiting)
        each = np.logaddexp(logs[0], logs[1]) - math.log(2.0)
        best = max(best, (float(np.logaddexp(*each)), int(np.argmax(each))))
    return best


def _compared(part: Part, c: int, direction: int, sums: FloatArray) -> tuple[float, float]:
    """Return what should have been and what was."""
    mean = sums / sums[kernels.ROWS]
    if c != kernels.SPREAD and isinstance(part, Mean):
        return float(mean[kernels.SAID]), float(mean[kernels.SEEN])
    if c != kernels.SPREAD and isinstance(part, Quantile):
        return part.level, float(mean[kernels.Z_HIGH] if direction else 1 - mean[kernels.Z_LOW])
    z, m = ((kernels.Z_LOW, kernels.M_LOW), (kernels.Z_HIGH, kernels.M_HIGH))[direction]
    return float(mean[m]), float(mean[z])


def _place(
    c: int, cuts: FloatArray, names: Sequence[Hashable]
) -> tuple[str, float | None, float | None]:
    """Return the name of a cell, and between which forecasts it lies."""
    if c == kernels.ALL:
        return "all rows", None, None
    if c == kernels.SPREAD:
        return "spread of the forecasts", None, None
    if c >= kernels.GROUPS:
        return f"group {names[c - kernels.GROUPS]}", None, None
    first, word = next((f, w) for f, w in REGIONS if f <= c < 2 * f)
    k, step = c - first, kernels.EIGHTHS // first
    low = None if k == 0 else float(cuts[k * step - 1])
    high = None if k == first - 1 else float(cuts[(k + 1) * step - 1])
    ends = ("" if low is None else f"from {low:.4g} ") + ("" if high is None else f"to {high:.4g} ")
    return f"forecasts {ends}({word} {k + 1} of {first})", low, high


def break_of(
    parts: tuple[Part, ...], states: Sequence[kernels.State], alpha: float, *, shared: bool
) -> Break | None:
    """Return the strongest run of wrong rounds, if it comes after better ones.

    A bettor that begins with the run must be worth 1/alpha, all costs of the search paid. And the
    product of its factors must have been losing by that much before the run, where rounds that are
    open together (as many as there are in a block on average) count once. A run over more than
    nineteen twentieths of the rows is no break: so short a past says little.
    """
    found, likelihood = None, -math.inf
    for part, state in zip(parts, states, strict=True):
        at = np.unravel_index(np.argmax(state.best), state.best.shape)
        if state.best[at] <= likelihood:
            continue
        likelihood, found = float(state.best[at]), None
        blocks = state.visits[:, kernels.ALL].sum() / state.sums[kernels.ALL, kernels.ROWS]
        lost = (state.best[at] - state.best_plain[at]) * (1.0 if shared else blocks)
        cost = state.mass[kernels.ALL] / 2 / (2 * kernels.N_RATES)
        cost /= len(parts) * state.head.shape[0]
        proved = float(state.proved[:, at[0], at[1]].max()) + math.log(cost)
        past = state.best_from[at] >= state.sums[kernels.ALL, kernels.ROWS] / 20
        if past and min(lost, proved) >= -math.log(alpha):
            level = part.level if len(parts) > 1 and isinstance(part, Quantile) else None
            start, end = int(state.best_from[at]), int(state.best_to[at])
            since = float(state.best_time[at])
            found = Break(start, end, proved / LOG10, DIRECTIONS[int(at[0])], level, since)
    return found
