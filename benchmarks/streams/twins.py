"""Compiled twins of the rivals: the thresholds that each would have, residual after residual.

The rivals in `trueup.baselines` are one object for one level, in plain Python. Here the same rules
run over a whole array, so that some seventy settings on 400,000 rows take minutes instead of hours.
Every function returns the thresholds q_0 .. q_T, q_k after k residuals; several settings at once
where they can share what is sorted. `tests/benchmarks/test_twins.py` holds them equal to the
rivals, and `run.py --plain` uses the rivals.

alpha is always 1 - level, in the digits in which the level was written.
"""

import math

import numpy as np
from numba import njit

compiled = njit(cache=True, error_model="numpy", nogil=True)

TIE_SAOCP, TIE_MVP, STEEPEST, MIXING = 1e-12, 1e-9, 700.0, 1e-10
QUANTILE, ADAPTIVE, WEIGHED = 0, 1, 2  # kinds of rows of `sorted_thresholds`
EXPERTS = 8


@compiled
def place_of(ordered, count, value):
    """Return how many of the first `count` numbers are below the value."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if ordered[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def put(ordered, count, place, value):
    """Insert a number; what lies above moves up."""
    for i in range(count, place, -1):
        ordered[i] = ordered[i - 1]
    ordered[place] = value


@compiled
def take(ordered, count, place):
    """Remove a number; what lies above moves down."""
    for i in range(place, count - 1):
        ordered[i] = ordered[i + 1]


@compiled
def weigh(row, beta, alphas, shares, losses):
    """Move the eight experts of DtACI; `row` has alpha, rate, mixing, whether to clip."""
    target, rate, mixing = row[1], row[2], row[3]
    total = 0.0
    for k in range(EXPERTS):
        above = beta - alphas[k]
        loss = target * above if above >= 0 else (target - 1) * above
        losses[k] = shares[k] * math.exp(-rate * loss)
        total += losses[k]
    again = 0.0
    for k in range(EXPERTS):
        losses[k] = (1 - mixing) * losses[k] / total + mixing / EXPERTS
        again += losses[k]
    for k in range(EXPERTS):
        shares[k] = losses[k] / again
        alphas[k] += 0.001 * 2**k * (target - (1.0 if alphas[k] > beta else 0.0))
        if row[4] > 0:
            alphas[k] = min(max(alphas[k], 0.0), 1.0)


@compiled
def sorted_thresholds(residuals, window, rows):
    """Return thresholds that are sample quantiles, shape (rows, T + 1); window 0 keeps all.

    Rows: kind, alpha, then: for ADAPTIVE the step; for WEIGHED rate, mixing, clipping, stored.
    """
    rounds, count = residuals.size, 0
    kept = window if window > 0 else rounds
    ordered = np.empty(kept + 1)
    said = np.empty((rows.shape[0], rounds + 1))
    alphas = np.empty((rows.shape[0], EXPERTS))
    shares = np.full((rows.shape[0], EXPERTS), 1 / EXPERTS)
    losses = np.empty(EXPERTS)
    for j in range(rows.shape[0]):
        kind = rows[j, 0]
        alphas[j] = rows[j, 1]
        infinite = kind == ADAPTIVE or (kind == WEIGHED and rows[j, 4] == 0)
        said[j, 0] = math.inf if infinite else 0.0
    for t in range(rounds):
        residual = residuals[t]
        beta = 1 - place_of(ordered, count, residual) / count if count else 0.0
        for j in range(rows.shape[0]):
            if rows[j, 0] == ADAPTIVE:
                missed = 1.0 if residual > said[j, t] else 0.0
                alphas[j, 0] += rows[j, 2] * (rows[j, 1] - missed)
            elif rows[j, 0] == WEIGHED and count > rows[j, 5]:
                weigh(rows[j], beta, alphas[j], shares[j], losses)
        if count == kept:
            take(ordered, count, place_of(ordered, count, residuals[t - kept]))
            count -= 1
        put(ordered, count, place_of(ordered, count, residual), residual)
        count += 1
        for j in range(rows.shape[0]):
            kind = rows[j, 0]
            if kind == QUANTILE:
                said[j, t + 1] = ordered[math.ceil(rows[j, 2] * (count - 1))]
            elif kind == ADAPTIVE:
                alpha = alphas[j, 0]
                if alpha <= 1 / (t + 2):
                    said[j, t + 1] = math.inf
                elif alpha >= 1:
                    said[j, t + 1] = -math.inf
                else:
                    said[j, t + 1] = ordered[math.ceil((1 - alpha) * (count - 1))]
            else:
                alpha = 0.0
                for k in range(EXPERTS):
                    alpha += shares[j, k] * alphas[j, k]
                if rows[j, 4] == 0 and not 0 < alpha < 1:
                    said[j, t + 1] = math.inf if alpha <= 0 else -math.inf
                else:
                    said[j, t + 1] = ordered[max(math.ceil((1 - alpha) * count) - 1, 0)]
    return said


@compiled
def widths(residuals, memory):
    """Return the range of the last `memory` residuals before each round (0 before any)."""
    rounds = residuals.size
    found = np.zeros(rounds)
    falling, rising = np.empty(rounds, np.int64), np.empty(rounds, np.int64)
    f0, f1, r0, r1 = 0, 0, 0, 0
    for t in range(rounds):
        if t:
            found[t] = residuals[falling[f0]] - residuals[rising[r0]]
        value = residuals[t]
        while f1 > f0 and residuals[falling[f1 - 1]] <= value:
            f1 -= 1
        while r1 > r0 and residuals[rising[r1 - 1]] >= value:
            r1 -= 1
        falling[f1] = t
        rising[r1] = t
        f1 += 1
        r1 += 1
        if falling[f0] <= t - memory:
            f0 += 1
        if rising[r0] <= t - memory:
            r0 += 1
    return found


@compiled
def tracked(residuals, seen, alpha, rate, saturation, gain):
    """Return thresholds of the trackers P (gain 0) and P + I; `seen` are the widths."""
    rounds = residuals.size
    said = np.zeros(rounds + 1)
    level, misses = 0.0, 0
    for t in range(rounds):
        missed = residuals[t] > said[t]
        step = rate * seen[t] if t else rate
        level += step * ((1.0 if missed else 0.0) - alpha)
        if gain == 0:
            said[t + 1] = level
            continue
        over = misses - alpha * t
        misses += 1 if missed else 0
        angle = over * math.log(t + 1) / (saturation * (t + 1))
        if abs(angle) >= math.pi / 2:
            said[t + 1] = math.copysign(math.inf, angle)
        else:
            said[t + 1] = level + gain * math.tan(angle)
    return said


@compiled
def decaying(residuals, alpha, power, size):
    """Return thresholds of the tracker whose steps fall."""
    said = np.zeros(residuals.size + 1)
    for t in range(residuals.size):
        before = said[t] if t else residuals[0]
        missed = 1.0 if residuals[t] > before else 0.0
        said[t + 1] = before + size * (t + 1) ** -power * (missed - alpha)
    return said


@compiled
def slope_of(alpha, residual, threshold):
    """Return the slope of the pinball loss in the threshold."""
    if residual < threshold:
        return alpha
    return alpha - 1 if residual > threshold else 0.0


@compiled
def descended(residuals, alpha, scale, floor):
    """Return thresholds of SF-OGD."""
    said = np.zeros(residuals.size + 1)
    squares, pace = 0.0, scale / math.sqrt(3.0)
    for t in range(residuals.size):
        gradient = slope_of(alpha, residuals[t], said[t])
        squares += gradient * gradient
        moved = said[t]
        if squares > 0:
            moved = max(floor, said[t] - pace * gradient / math.sqrt(squares))
        said[t + 1] = moved
    return said


@compiled
def loss_of(level, residual, threshold):
    """Return the pinball loss."""
    above = residual - threshold
    return level * above if above >= 0 else (level - 1) * above


@compiled
def mixed(state, count):
    """Return the mixture of SAOCP's learners: rows prior, weight, threshold."""
    total, weighted = 0.0, 0.0
    for i in range(count):
        if state[1, i] > 0:
            total += state[0, i] * state[1, i]
    if total > 0:
        for i in range(count):
            if state[1, i] > 0:
                weighted += state[0, i] * state[1, i] * state[2, i]
        return weighted / total
    for i in range(count):
        total += state[0, i]
        weighted += state[0, i] * state[2, i]
    return weighted / total


@compiled
def adapted(residuals, level, alpha, scale, lifetime, floor):
    """Return thresholds of SAOCP.

    State: prior, weight, threshold, squares, gained, wagered, age, life.
    """
    rounds = residuals.size
    said = np.zeros(rounds + 1)
    most = 64
    while most < lifetime * (2 + math.log2(rounds + 2)) + 8:
        most *= 2
    state = np.zeros((8, 4 * most))
    count = 0
    unit, pace = scale * max(level, 1 - level), scale / math.sqrt(3.0)
    for t in range(rounds):
        kept = 0
        for i in range(count):
            if state[6, i] <= state[7, i]:
                if kept != i:
                    state[:, kept] = state[:, i]
                kept += 1
        count = kept + 1
        born, bits = t + 1, 0
        while born >> bits:
            bits += 1
        state[:, kept] = 0.0
        state[0, kept] = 1 / (born * born * bits)
        state[2, kept] = said[t]
        state[7, kept] = lifetime * (born & -born)
        residual = residuals[t]
        met = loss_of(level, residual, mixed(state, count))
        for i in range(count):
            better = (met - loss_of(level, residual, state[2, i])) / unit
            better = 0.0 if abs(better) < TIE_SAOCP else min(better, 1.0)
            better = max(better, -1.0 if state[1, i] > 0 else 0.0)
            state[4, i] += better
            state[5, i] += better * state[1, i]
            state[6, i] += 1
            state[1, i] = state[4, i] / state[6, i] * (1 + state[5, i])
            gradient = slope_of(alpha, residual, state[2, i])
            state[3, i] += gradient * gradient
            if state[3, i] > 0:
                state[2, i] = max(floor, state[2, i] - pace * gradient / math.sqrt(state[3, i]))
        said[t + 1] = mixed(state, count)
    return said


@compiled
def multivalid(residuals, alpha, coins, buckets, resolution, rate, low, high):
    """Return thresholds of MVP with one group."""
    rounds = residuals.size
    said = np.zeros(rounds + 1)
    counts, misses = np.zeros(buckets, np.int64), np.zeros(buckets, np.int64)
    pressures = np.zeros(buckets)
    for t in range(rounds + 1):
        bucket, share = -1, 0.0
        before = pressures[0]
        for place in range(1, buckets):
            after = pressures[place]
            if before * after <= 0:
                total = abs(after) + abs(before)
                if coins[t] < (abs(after) / total if total > 0 else 1.0):
                    bucket, share = place - 1, place / buckets - 1 / (resolution * buckets)
                else:
                    bucket, share = place, place / buckets
                break
            before = after
        if bucket < 0:
            bucket, share = (buckets - 1, 1.0) if before <= 0 else (0, 0.0)
        said[t] = low + (high - low) * share
        if t == rounds:
            break
        counts[bucket] += 1
        misses[bucket] += 1 if (residuals[t] - low) / (high - low) > share else 0
        excess = alpha * counts[bucket] - misses[bucket]
        spread = math.sqrt(counts[bucket] + 1.0) * math.log2(counts[bucket] + 2.0)
        power = 0.0 if abs(excess) < TIE_MVP else rate * excess / spread
        pressures[bucket] = 2 * math.sinh(max(-STEEPEST, min(power, STEEPEST))) / spread
    return said


@compiled
def stationary(moves, system, right):
    """Return the law that a matrix of rows leaves as it is, by elimination with pivots."""
    size = moves.shape[0]
    for i in range(size):
        for j in range(size):
            system[j, i] = (1 - MIXING) * moves[i, j] + MIXING / size
        right[i] = 0.0
    for i in range(size):
        system[i, i] -= 1.0
        system[size - 1, i] = 1.0
    system[size - 1, size - 1] = 1.0
    right[size - 1] = 1.0
    for k in range(size):
        best = k
        for i in range(k + 1, size):
            if abs(system[i, k]) > abs(system[best, k]):
                best = i
        if best != k:
            for j in range(k, size):
                system[k, j], system[best, j] = system[best, j], system[k, j]
            right[k], right[best] = right[best], right[k]
        for i in range(k + 1, size):
            factor = system[i, k] / system[k, k]
            if factor != 0:
                for j in range(k + 1, size):
                    system[i, j] -= factor * system[k, j]
                right[i] -= factor * right[k]
    total = 0.0
    for k in range(size - 1, -1, -1):
        for j in range(k + 1, size):
            right[k] -= system[k, j] * right[j]
        right[k] /= system[k, k]
    for k in range(size):
        right[k] = max(right[k], 0.0)
        total += right[k]
    for k in range(size):
        right[k] /= total


@compiled
def regretless(residuals, level, coins, points, low, high):
    """Return thresholds of the internal-regret grid; a level below 0 stands for the mean."""
    rounds, size = residuals.size, points + 1
    said = np.zeros(rounds + 1)
    sums, moves, system = np.zeros((size, size)), np.zeros((size, size)), np.zeros((size, size))
    law, losses = np.zeros(size), np.zeros(size)
    logs = 3 * math.sqrt(2.0) * math.sqrt(math.log(points * size))
    for t in range(rounds + 1):
        rate = logs / math.sqrt(t + 1.0)
        least = math.inf
        for i in range(size):
            for j in range(size):
                if i != j:
                    least = min(least, sums[i, j])
        most = 0.0
        for i in range(size):
            total = 0.0
            moves[i, i] = 0.0
            for j in range(size):
                if i != j:
                    moves[i, j] = math.exp(-rate * (sums[i, j] - least))
                    total += moves[i, j]
            losses[i] = total
            most = max(most, total)
        for i in range(size):
            for j in range(size):
                moves[i, j] /= most
            moves[i, i] = 1 - losses[i] / most
        stationary(moves, system, law)
        reached, drawn = 0.0, points
        for i in range(size):
            reached += law[i]
            if reached > coins[t]:
                drawn = i
                break
        said[t] = low + (high - low) * (drawn / points)
        if t == rounds:
            break
        share = (residuals[t] - low) / (high - low)
        for i in range(size):
            above = share - i / points
            losses[i] = above * above if level < 0 else loss_of(level, share, i / points)
        for i in range(size):
            for j in range(size):
                sums[i, j] += law[i] * (losses[j] - losses[i])
    return said


@compiled
def aged(residuals, levels, weights):
    """Return the quantiles with weights that fall with age, shape (levels, T + 1)."""
    rounds, kept, count = residuals.size, weights.size - 1, 0
    ordered, born = np.empty(kept + 1), np.empty(kept + 1, np.int64)
    said = np.full((levels.size, rounds + 1), math.inf)
    reached, mass, total = np.zeros(levels.size, np.int64), np.zeros(levels.size), 0.0
    for t in range(rounds):
        if count == kept:
            old = t - kept
            place = place_of(ordered, count, residuals[old])
            while born[place] != old:
                place += 1
            take(ordered, count, place)
            take(born, count, place)
            count -= 1
            total -= weights[kept]
            for j in range(levels.size):
                if place < reached[j]:
                    reached[j] -= 1
                    mass[j] -= weights[kept]
        total = total * weights[1] + weights[1]
        place = place_of(ordered, count, residuals[t])
        while place < count and ordered[place] == residuals[t]:
            place += 1
        put(ordered, count, place, residuals[t])
        put(born, count, place, t)
        count += 1
        for j in range(levels.size):
            mass[j] *= weights[1]
            if place < reached[j]:
                reached[j] += 1
                mass[j] += weights[1]
            wanted = levels[j] * (1 + total)
            while mass[j] < wanted and reached[j] < count:
                mass[j] += weights[t + 1 - born[reached[j]]]
                reached[j] += 1
            while reached[j] and mass[j] - weights[t + 1 - born[reached[j] - 1]] >= wanted:
                reached[j] -= 1
                mass[j] -= weights[t + 1 - born[reached[j]]]
            if mass[j] >= wanted and reached[j] > 0:
                said[j, t + 1] = ordered[reached[j] - 1]
    return said


@compiled
def marked(residuals, level):
    """Return thresholds of the P-square estimate."""
    rounds = residuals.size
    said = np.zeros(rounds + 1)
    h, n = np.empty(5), np.arange(5)
    wanted = np.array([0.0, level / 2, level, (1 + level) / 2, 1.0])
    for t in range(rounds):
        x = residuals[t]
        if t < 5:
            put(h, t, place_of(h, t, x), x)
            said[t + 1] = h[2 if t == 4 else max(math.ceil(level * (t + 1)) - 1, 0)]
            continue
        h[0], h[4] = min(h[0], x), max(h[4], x)
        cell = 0
        while cell < 4 and h[cell] <= x:
            cell += 1
        for marker in range(max(cell, 1), 5):
            n[marker] += 1
        for i in range(1, 4):
            off = wanted[i] * t - n[i]
            if off >= 1 and n[i + 1] - n[i] > 1:
                d = 1
            elif off <= -1 and n[i - 1] - n[i] < -1:
                d = -1
            else:
                continue
            right = (n[i] - n[i - 1] + d) * (h[i + 1] - h[i]) / (n[i + 1] - n[i])
            left = (n[i + 1] - n[i] - d) * (h[i] - h[i - 1]) / (n[i] - n[i - 1])
            height = h[i] + d / (n[i + 1] - n[i - 1]) * (right + left)
            if not h[i - 1] < height < h[i + 1]:
                height = h[i] + d * (h[i + d] - h[i]) / (n[i + d] - n[i])
            h[i] = height
            n[i] += d
        said[t + 1] = h[2]
    return said
