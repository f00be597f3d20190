"""The engine's round, compiled: wealth, the small game, the draw, the update.

Positions are whole numbers. A pair (s, j) is the bin b = j 2^-s of scale r = 2^-s; the spacing of
the round is gamma = 2^-K with K >= s; the open cell number k is (k 2^-K, (k + 1) 2^-K).

State of a stream, all changed in place:

| array | holds |
|---|---|
| `counts` int64 | rounds played, K, size of the support, bins visited, then tallies (see below) |
| `sums` float64 | total wealth W, sum of positive relative gains, largest W, c |
| `support` int64 (n, 2), `shares` float64 (n,) | (s, j) and probability of the mixture |
| `keys` int64 (capacity,) | pair number in each slot of an open-addressing table, -1 if free |
| `logs` float64 (capacity, 4, J) | log wealth of each bettor, prior included |
| `weights` float64 (capacity, 4) | sum over bettors of eta * wealth, from `logs` |
| `seen` float64 (capacity, 5) | sums of Pr[v > b+2r], Pr[v < b-2r], Pr[v >= b], Pr[v <= b], 1 |

Claims are ordered +2, -2, +1, -1 as everywhere. A bettor with rate eta multiplies its wealth by
1 + eta u when its claim is off by u in a round in which its pair was drawn; so W changes by exactly
the sum of weights times u. The mixture is chosen so that no outcome makes the expectation of that
positive.

The small game: minimise the largest entry of A x over the simplex, A the gains of a few columns on
the cells between their breakpoints. Each column is divided by its largest entry; with B = A + 2 > 0
it is the linear program max sum(x), B x <= 1, started at x = 0, and a sum of 1/2 means value 0.
Where the value stays positive, the dual is a law of outcomes; its truthful bin is a new column
with no gain under it, so the method ends (at the latest with all pairs in the pool).
"""

import math

import numpy as np

from trueup._kernels._jit import compiled

N_RATES = 20  # eta = 2^-1 .. 2^-20: bounds hold up to about 4^20 rounds
ALL_RATES = 1.0 - 0.5**20  # their sum
MOST_COLUMNS = 32  # of a small game; 14 is the most that has been seen
MOST_ROWS = 3 * MOST_COLUMNS + 1
TOLERANCE = 1e-13  # of W: a gain below it is rounding
LEVEL_SLACK = 1e-13  # of a probability
PIVOT_SLACK = 1e-12  # of an entry of a column scaled to 1
ROUNDS, FINEST, SIZE, VISITED, READY, REUSED, POINTS, SOLVED, PIVOTS, STALLED = range(10)
WEALTH, GAINS, PEAK, SPACING = range(4)
SOLVER_FAILED = 1


@compiled
def coin(seed, number):
    """Return a number of [0, 1) fixed by the seed and the round (SplitMix64, twice)."""
    z = np.uint64(seed) * np.uint64(0x9E3779B97F4A7C15)
    z = z + np.uint64(number) * np.uint64(0xD1B54A32D192ED03) + np.uint64(0x9E3779B97F4A7C15)
    for _ in range(2):
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = (z ^ (z >> np.uint64(31))) + np.uint64(0x9E3779B97F4A7C15)
    return float(z >> np.uint64(11)) / 9007199254740992.0


@compiled
def slot_of(keys, scale, place):
    """Return the slot of a pair, or the free one where it belongs."""
    key = (np.int64(1) << scale) - 1 + scale + place
    mask = keys.size - 1
    slot = (key * np.int64(2654435761)) & mask
    while keys[slot] != -1 and keys[slot] != key:
        slot = (slot + 1) & mask
    return slot


@compiled
def prior(scale):
    """Return the mass of one claim of this scale; those of all claims add up to 1."""
    return 1.0 / ((scale + 1.0) * (scale + 2.0) * 4.0 * (2.0**scale + 1.0))


@compiled
def alive(claim, scale, place, finest):
    """Return whether a claim can fail at all in a round of this spacing; else its bettors sleep."""
    last = np.int64(1) << scale
    if claim == 0:
        return place + 2 < last
    if claim == 1:
        return place - 2 > 0
    if claim == 2:
        return scale < finest and place > 0
    return scale < finest and place < last


@compiled
def pieces(keys, weights, scale, place, finest, out):
    """Write the gain of a pair far left, left, right and far right of its bin into `out`."""
    slot = slot_of(keys, scale, place)
    known = keys[slot] != -1
    fresh = prior(scale) * ALL_RATES / N_RATES
    w = np.zeros(4)
    for claim in range(4):
        if alive(claim, scale, place, finest):
            w[claim] = weights[slot, claim] if known else fresh
    ratio = 2.0 ** (scale - finest)
    base = (w[2] + w[3]) * (0.5 - 0.5 * ratio) - (w[0] + w[1]) * (0.5 - 0.25 * ratio)
    out[0], out[1] = base - w[3] + w[1], base - w[3]
    out[2], out[3] = base - w[2], base - w[2] + w[0]


@compiled
def piece_at(cell, scale, place, finest):
    """Return which of the four pieces of a pair a cell lies in."""
    step = np.int64(1) << (finest - scale)
    offset = cell - place * step
    if offset >= 2 * step:
        return 3
    if offset >= 0:
        return 2
    return 1 if offset >= -2 * step else 0


@compiled
def lay_out(keys, weights, support, size, finest, columns, rows):
    """Write the pieces of each pair and the first cell of each stretch between breakpoints.

    Returns the number of rows; `columns` and `rows` are modified in place.
    """
    cells = np.int64(1) << finest
    rows[0] = 0
    count = 1
    for i in range(size):
        pieces(keys, weights, support[i, 0], support[i, 1], finest, columns[i])
        step = np.int64(1) << (finest - support[i, 0])
        for shift in (-2, 0, 2):
            cell = (support[i, 1] + shift) * step
            if 0 < cell < cells:
                k = count
                while k > 0 and rows[k - 1] > cell:
                    k -= 1
                if rows[k - 1] != cell:
                    for other in range(count, k, -1):
                        rows[other] = rows[other - 1]
                    rows[k] = cell
                    count += 1
    return count


@compiled
def largest_gain(support, shares, size, finest, columns, rows, n_rows):
    """Return the largest expected gain of the mixture over all cells: its certificate."""
    worst = -math.inf
    for k in range(n_rows):
        total = 0.0
        for i in range(size):
            piece = piece_at(rows[k], support[i, 0], support[i, 1], finest)
            total += shares[i] * columns[i, piece]
        worst = max(worst, total)
    return worst


@compiled
def truthful(ends, masses, count, finest):
    """Return the coarsest pair all of whose claims hold under a law that is uniform in stretches.

    Stretch k goes from ends[k] to ends[k + 1] and has mass masses[k]. Each claim bounds b from one
    side by a quantile: b >= Q(p2), b + 2r >= Q(1 - p4) and the mirror images; a bin between the
    bounds will do, and lemma 4.2 says that some scale has one.
    """
    for scale in range(finest + 1):
        ratio = 2.0 ** (scale - finest)
        near, far = 0.5 - 0.5 * ratio, 0.5 + 0.25 * ratio
        width = 2.0 * 0.5**scale
        low = max(lower(ends, masses, count, near), lower(ends, masses, count, far) - width)
        high = min(upper(ends, masses, count, near), upper(ends, masses, count, far) + width)
        low, high = max(low, 0.0), min(high, 1.0)
        first, last = math.ceil(low * 2.0**scale), math.floor(high * 2.0**scale)
        if first <= last:
            middle = math.floor((low + high) / 2.0 * 2.0**scale + 0.5)
            return scale, min(max(middle, first), last)
    return finest, np.int64(1) << max(finest - 1, 0)


@compiled
def lower(ends, masses, count, level):
    """Return the first place at which the mass from below reaches a level (0 for level 0)."""
    total = 0.0
    for k in range(count):
        if total + masses[k] >= level - LEVEL_SLACK and masses[k] > 0.0:
            share = min(max((level - total) / masses[k], 0.0), 1.0)
            return ends[k] + share * (ends[k + 1] - ends[k]) if level > LEVEL_SLACK else 0.0
        total += masses[k]
    return 1.0


@compiled
def upper(ends, masses, count, level):
    """Return the last place at which the mass from above reaches a level (1 for level 0)."""
    total = 0.0
    for k in range(count - 1, -1, -1):
        if total + masses[k] >= level - LEVEL_SLACK and masses[k] > 0.0:
            share = min(max((level - total) / masses[k], 0.0), 1.0)
            return ends[k + 1] - share * (ends[k + 1] - ends[k]) if level > LEVEL_SLACK else 1.0
        total += masses[k]
    return 0.0


@compiled
def solve_game(table, m, n, basis, free, stop):
    """Maximise sum(x), B x <= 1, by the simplex method on a condensed tableau.

    `table` holds B in its first m rows and n columns on entry; everything is modified in place.
    Ends at a sum of `stop` or at the optimum. Returns the number of pivots, -1 if it did not end.
    The column of the most negative cost enters, ties by number; after 60 pivots the lowest number
    enters and leaves (Bland), which cannot cycle.
    """
    for i in range(m):
        table[i, n] = 1.0
        basis[i] = n + i
    for j in range(n + 1):
        table[m, j] = -1.0 if j < n else 0.0
        free[j] = j
    for pivots in range(2000):
        enter, cost = -1, -PIVOT_SLACK
        for j in range(n):
            better = table[m, j] < cost
            if pivots >= 60:
                better = table[m, j] < -PIVOT_SLACK and (enter < 0 or free[j] < free[enter])
            if better:
                enter, cost = j, table[m, j]
        if enter < 0 or table[m, n] >= stop:
            return pivots
        leave, least = -1, 0.0
        for i in range(m):
            if table[i, enter] > PIVOT_SLACK:
                ratio = table[i, n] / table[i, enter]
                tie = leave >= 0 and ratio == least and basis[i] < basis[leave]
                if leave < 0 or ratio < least or tie:
                    leave, least = i, ratio
        if leave < 0:
            return -1
        pivot(table, m, n, leave, enter)
        basis[leave], free[enter] = free[enter], basis[leave]
    return -1


@compiled
def pivot(table, m, n, leave, enter):
    """Exchange a row's variable for a column's. `table` is modified in place."""
    value = table[leave, enter]
    for j in range(n + 1):
        if j != enter:
            table[leave, j] /= value
    for i in range(m + 1):
        factor = table[i, enter]
        if i != leave and factor != 0.0:
            for j in range(n + 1):
                if j != enter:
                    table[i, j] -= factor * table[leave, j]
            table[i, enter] = -factor / value
    table[leave, enter] = 1.0 / value


@compiled
def unscale(table, m, n, basis, scales, shares):
    """Write the mixture of a solved game, columns unscaled, into `shares`."""
    for j in range(n):
        shares[j] = 0.0
    for i in range(m):
        if basis[i] < n:
            shares[basis[i]] = max(table[i, n], 0.0) / scales[basis[i]]
    largest = shares[:n].max()
    total = 0.0
    for j in range(n):
        shares[j] /= largest
        if shares[j] < 1e-15:
            shares[j] = 0.0
        total += shares[j]
    for j in range(n):
        shares[j] /= total


@compiled
def fill(support, size, finest, columns, rows, n_rows, scales, table):
    """Write B, the scaled gains plus 2, into `table`, and the size of each column into `scales`."""
    for i in range(size):
        scales[i] = 0.0
        for k in range(n_rows):
            piece = piece_at(rows[k], support[i, 0], support[i, 1], finest)
            scales[i] = max(scales[i], abs(columns[i, piece]))
        if scales[i] == 0.0:
            scales[i] = 1.0
        for k in range(n_rows):
            piece = piece_at(rows[k], support[i, 0], support[i, 1], finest)
            table[k, i] = columns[i, piece] / scales[i] + 2.0


@compiled
def harmless(support, size, finest, columns, rows, n_rows):
    """Return a pair of the pool that gains nowhere, or -1."""
    for i in range(size):
        worst = -math.inf
        for k in range(n_rows):
            piece = piece_at(rows[k], support[i, 0], support[i, 1], finest)
            worst = max(worst, columns[i, piece])
        if worst <= 0.0:
            return i
    return -1


@compiled
def mix(counts, sums, support, shares, keys, weights, floats, whole):
    """Find a mixture that no outcome exploits, from the last one. Returns 0 or SOLVER_FAILED.

    `floats` and `whole` are scratch; `support`, `shares`, `counts` and `sums` are modified.
    """
    finest, size, limit = counts[FINEST], counts[SIZE], TOLERANCE * sums[WEALTH]
    columns = floats[: 4 * MOST_COLUMNS].reshape(MOST_COLUMNS, 4)
    scales = floats[4 * MOST_COLUMNS : 5 * MOST_COLUMNS]
    ends = floats[5 * MOST_COLUMNS : 5 * MOST_COLUMNS + MOST_ROWS + 1]
    duals = floats[5 * MOST_COLUMNS + MOST_ROWS + 1 : 5 * MOST_COLUMNS + 2 * MOST_ROWS + 1]
    table = floats[5 * MOST_COLUMNS + 2 * MOST_ROWS + 1 :].reshape(MOST_ROWS + 1, MOST_COLUMNS + 1)
    rows, basis, free = whole[:MOST_ROWS], whole[MOST_ROWS : 2 * MOST_ROWS], whole[2 * MOST_ROWS :]
    if size == 0:
        support[0, 0], support[0, 1], shares[0], size = 0, 0, 1.0, 1
    gain = 0.0
    for attempt in range(MOST_COLUMNS):
        n_rows = lay_out(keys, weights, support, size, finest, columns, rows)
        if attempt == 0:
            gain = largest_gain(support, shares, size, finest, columns, rows, n_rows)
            if gain <= limit:
                counts[REUSED] += 1
                break
        alone = harmless(support, size, finest, columns, rows, n_rows)
        if alone >= 0:
            support[0, 0], support[0, 1] = support[alone, 0], support[alone, 1]
            shares[0], size, gain = 1.0, 1, 0.0
            counts[POINTS] += 1
            break
        for stop in (0.5, math.inf):
            fill(support, size, finest, columns, rows, n_rows, scales, table)
            pivots = solve_game(table, n_rows, size, basis, free, stop)
            if pivots < 0:
                return SOLVER_FAILED
            counts[SOLVED] += 1
            counts[PIVOTS] += pivots
            unscale(table, n_rows, size, basis, scales, shares)
            gain = largest_gain(support, shares, size, finest, columns, rows, n_rows)
            if gain <= limit or table[n_rows, size] < 0.5:
                break
        if gain <= limit:
            break
        if not add_column(support, size, finest, table, free, rows, n_rows, ends, duals):
            counts[STALLED] += 1  # the value is rounding; the gain is reported
            break
        shares[size] = 0.0
        size += 1
        if size == MOST_COLUMNS:
            return SOLVER_FAILED
    sums[GAINS] += max(gain, 0.0) / sums[WEALTH]
    counts[SIZE] = compress(support, shares, size)
    return 0


@compiled
def add_column(support, size, finest, table, free, rows, n_rows, ends, duals):
    """Append the truthful bin of the dual law to the pool; return False if it is there already.

    The dual gives a mass to each stretch of cells. Spread evenly over its stretch it is as good a
    dual, and a wide one, so that one coarse bin answers a whole stretch.
    """
    total = 0.0
    for k in range(n_rows):
        ends[k] = rows[k] * 0.5**finest
        duals[k] = 0.0
    ends[n_rows] = 1.0
    for j in range(size):
        if free[j] >= size:
            duals[free[j] - size] = max(table[n_rows, j], 0.0)
            total += duals[free[j] - size]
    if total <= 0.0:
        return False
    for k in range(n_rows):
        duals[k] /= total
    scale, place = truthful(ends, duals, n_rows, finest)
    for i in range(size):
        if support[i, 0] == scale and support[i, 1] == place:
            return False
    support[size, 0], support[size, 1] = scale, place
    return True


@compiled
def compress(support, shares, size):
    """Keep the pairs with positive probability, in their order; return how many."""
    kept = 0
    for i in range(size):
        if shares[i] > 0.0:
            support[kept, 0], support[kept, 1] = support[i, 0], support[i, 1]
            shares[kept] = shares[i]
            kept += 1
    return kept


@compiled
def prepare(counts, sums, support, shares, keys, weights, floats, whole):
    """Find the mixture of the next round unless it has been found. Returns a status."""
    if counts[READY] == 1:
        return 0
    while 0.5 ** counts[FINEST] > sums[SPACING] / math.sqrt(counts[ROUNDS] + 1.0):
        counts[FINEST] += 1
    status = mix(counts, sums, support, shares, keys, weights, floats, whole)
    counts[READY] = 1 - status
    return status


@compiled
def drawn(counts, shares, seed):
    """Return which pair of the mixture the coin of this round picks."""
    toss = coin(seed, counts[ROUNDS])
    total = 0.0
    for i in range(counts[SIZE]):
        total += shares[i]
        if toss < total:
            return i
    return counts[SIZE] - 1


@compiled
def learn(counts, sums, support, keys, logs, weights, seen, chosen, observed):
    """Move the wealth of the drawn pair's bettors and go on to the next round.

    `observed` are Pr[v > b+2r], Pr[v < b-2r], Pr[v >= b], Pr[v <= b] under the loss of the round.
    """
    scale, place, finest = support[chosen, 0], support[chosen, 1], counts[FINEST]
    slot = slot_of(keys, scale, place)
    if keys[slot] == -1:
        keys[slot] = (np.int64(1) << scale) - 1 + scale + place
        counts[VISITED] += 1
        logs[slot] = math.log(prior(scale) / N_RATES)
        weights[slot] = prior(scale) * ALL_RATES / N_RATES
        seen[slot] = 0.0
    ratio = 2.0 ** (scale - finest)
    for claim in range(4):
        seen[slot, claim] += observed[claim]
        if not alive(claim, scale, place, finest):
            continue
        off = observed[claim] - (0.5 - 0.25 * ratio)
        if claim >= 2:
            off = (0.5 - 0.5 * ratio) - observed[claim]
        sums[WEALTH] += weights[slot, claim] * off
        total, rate = 0.0, 1.0
        for j in range(N_RATES):
            rate *= 0.5
            logs[slot, claim, j] += math.log1p(rate * off)
            total += rate * math.exp(logs[slot, claim, j])
        weights[slot, claim] = total
    seen[slot, 4] += 1.0
    sums[PEAK] = max(sums[PEAK], sums[WEALTH])
    counts[ROUNDS] += 1
    counts[READY] = 0


@compiled
def observe(outcome, scale, place, below, above, out):
    """Write the four probabilities of a loss with slope `below` before its outcome, `above` after.

    Slopes are divided by the Lipschitz constant; beyond the ends nothing lies.
    """
    bin_, width = place * 0.5**scale, 2.0 * 0.5**scale
    up, down = bin_ + width, bin_ - width
    out[0] = 0.0 if up >= 1.0 else (1.0 - (above if outcome <= up else below)) / 2.0
    out[1] = 0.0 if down <= 0.0 else (1.0 + (above if outcome < down else below)) / 2.0
    out[2] = 1.0 if bin_ <= 0.0 else (1.0 - (above if outcome < bin_ else below)) / 2.0
    out[3] = 1.0 if bin_ >= 1.0 else (1.0 + (above if outcome <= bin_ else below)) / 2.0


@compiled
def play_outcomes(
    outcomes, first, below, above, seed, said, counts, sums, support, shares, keys, logs, weights,
    seen, floats, whole,
):  # fmt: skip
    """Play given outcomes from number `first` on, writing forecasts into `said`.

    Stops where the table is half full. Returns (outcomes played, status).
    """
    observed = np.zeros(4)
    for number in range(first, outcomes.size):
        if 2 * counts[VISITED] + 2 > keys.size:
            return number, 0
        status = prepare(counts, sums, support, shares, keys, weights, floats, whole)
        if status != 0:
            return number, status
        chosen = drawn(counts, shares, seed)
        scale, place = support[chosen, 0], support[chosen, 1]
        said[number] = place * 0.5**scale
        observe(outcomes[number], scale, place, below, above, observed)
        learn(counts, sums, support, keys, logs, weights, seen, chosen, observed)
    return outcomes.size, 0
