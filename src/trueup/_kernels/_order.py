"""Several numbers put in order, compiled: weighted means of those that cross, and who pays for it.

**State** is one array `z`: a header, then five counts a level, then J wealths a level.

| slot | holds |
|---|---|
| `REACH` | the unit of what a level can lose in a round: the deepest crossing so far, rounded up |
| `EPOCH` | how often the wealth began anew, because the unit has grown or at a reset |
| `CROSSED` | rounds in which the numbers had to be moved |

The counts of a level: what it has lost by being moved where it lost, all in all, outcomes below
what is said less those below its own number, the loss in rounds with a forecast of the user, and
outcomes equal to what is said less those equal to its own number.

**Stakes.** Level k has bettors with rates eta = 2^-1, 2^-3, ..., 2^-11 against being moved, all of
them with prior mass 1 together. A bettor stakes eta (P - E), E the sum of its open stakes, and wins
stake * u, u in [-1, 1] being what the level has lost over REACH. The numbers are moved to their
isotonic regression under the weights w_k = sum of the stakes of level k, under which
sum w_k u_k <= 0 whatever the outcome: so the wealth of all never grows.

Rows of `open` are the stakes of open rounds, shape (levels, J) each.
"""

import math

import numpy as np

from trueup._kernels._jit import compiled_with_memory as compiled

N_RATES = 6
RATE_STEP = 0.25
POOREST = 1e-280
REACH, EPOCH, CROSSED, COUNTS = 0, 1, 2, 3
LOST, MORE, BELOW, COMPARED, EQUAL, N_COUNTS = range(6)


@compiled
def size_of(levels):
    """Return the length of the state of so many levels."""
    return COUNTS + (N_COUNTS + N_RATES) * levels


@compiled
def begin(z, levels):
    """Give all bettors their prior mass; what was staked before is void."""
    for at in range(COUNTS + N_COUNTS * levels, z.size):
        z[at] = 1.0 / (levels * N_RATES)


@compiled
def depth_of(raw):
    """Return by how much a number is below one of a lower level, at most; 0 where none is."""
    highest, depth = raw[0], 0.0
    for k in range(1, raw.size):
        depth = max(depth, highest - raw[k])
        highest = max(highest, raw[k])
    return depth


@compiled
def isotonic(raw, weights, issued):
    """Write the isotonic regression of `raw`: weighted means over blocks that would cross."""
    n, levels = 0, raw.size
    mass, starts = np.empty(levels), np.empty(levels + 1, dtype=np.int64)
    for k in range(levels):
        issued[n], mass[n], starts[n] = raw[k], weights[k], k
        n += 1
        while n > 1 and issued[n - 2] > issued[n - 1]:
            total = mass[n - 2] + mass[n - 1]
            upper, lower = issued[n - 2], issued[n - 1]
            mean = lower + (upper - lower) * (mass[n - 2] / total)
            issued[n - 2], mass[n - 2] = min(max(mean, lower), upper), total
            n -= 1
    starts[n] = levels
    for block in range(n - 1, -1, -1):
        mean = issued[block]
        for k in range(starts[block], starts[block + 1]):
            issued[k] = mean


@compiled
def arrange(z, raw, staked, issued, stakes):
    """Put numbers in order; nothing that lasts changes.

    `staked` (levels, J) is the sum of all open stakes. Writes what is issued and what is staked on
    it; returns the unit of the round, 0 where the numbers are in order already.
    """
    levels, depth = raw.size, depth_of(raw)
    for k in range(levels):
        issued[k] = raw[k]
    if not depth > 0.0:
        return 0.0
    reach, anew = z[REACH], depth > z[REACH]
    if anew:
        reach = reach if reach > 0.0 else 1.0
        while reach < depth:
            reach *= 2.0
        while z[REACH] == 0.0 and 0.5 * reach >= depth and reach > POOREST:
            reach *= 0.5
    weights, wealth = np.empty(levels), COUNTS + N_COUNTS * levels
    for k in range(levels):
        total, rate = 0.0, 0.5
        for j in range(N_RATES):
            free = 1.0 / (levels * N_RATES)
            if not anew:
                free = max(z[wealth + N_RATES * k + j] - staked[k, j], 0.0)
            stakes[k, j] = rate * free
            total += stakes[k, j]
            rate *= RATE_STEP
        weights[k] = max(total, POOREST)
    isotonic(raw, weights, issued)
    return reach


@compiled
def accept(z, levels, reach):
    """Keep what `arrange` has returned, the round being open now."""
    if reach > 0.0:
        z[CROSSED] += 1.0
    if reach > z[REACH]:
        z[REACH] = reach
        z[EPOCH] += 1.0
        begin(z, levels)


@compiled
def pay(z, slopes, raw, issued, stakes, epoch, y, share, certified, own):
    """Count what a round has cost each level, and pay its bettors where their stakes are valid.

    `slopes` (levels, 2) are those of the losses below and above the outcome; `share` is what the
    round weighs, `certified` whether it counts for the certificate, `own` whether the user had a
    number of his own.
    """
    levels = raw.size
    wealth = COUNTS + N_COUNTS * levels
    for k in range(levels):
        if issued[k] == raw[k]:
            continue
        one, two = issued[k] - y, raw[k] - y
        more = slopes[k, 0 if one < 0.0 else 1] * one - slopes[k, 0 if two < 0.0 else 1] * two
        at = COUNTS + N_COUNTS * k
        if certified:
            z[at + LOST] += share * max(more, 0.0)
        z[at + MORE] += more
        z[at + BELOW] += (1.0 if y < issued[k] else 0.0) - (1.0 if y < raw[k] else 0.0)
        z[at + EQUAL] += (1.0 if y == issued[k] else 0.0) - (1.0 if y == raw[k] else 0.0)
        if own:
            z[at + COMPARED] += more
        if epoch == z[EPOCH]:
            u = min(max(share * more / z[REACH], -1.0), 1.0)
            for j in range(N_RATES):
                at = wealth + N_RATES * k + j
                z[at] = max(z[at] + stakes[k, j] * u, POOREST)


@compiled
def arrange_all(
    z, slopes, raw, outcomes, shares, own, starts, order, before, issued, opened, kept, epochs
):
    """Put the numbers of a whole run in order, round by round: the same bits as one by one.

    `raw` (T, levels), `outcomes` (T,) with NaN for those that never come, `shares` (T or 0,), `own`
    (T,) whether there was a number of the user; `before` (levels, J) is what was staked in rounds
    before this run. At the end `opened` has the open rounds that were moved, in order of opening,
    and `kept` and `epochs` their stakes and epochs. Returns how many there are.
    """
    rounds, levels = raw.shape
    stakes, staked, count = np.zeros((levels, N_RATES)), np.zeros((levels, N_RATES)), 0
    first_epoch = z[EPOCH]
    for number in range(rounds + 1):
        for at in range(starts[number], starts[number + 1]):
            past = order[at]
            for n in range(count):
                if opened[n] != past:
                    continue
                if not math.isnan(outcomes[past]):
                    share = shares[past] if shares.size > 0 else 1.0
                    pay(
                        z, slopes, raw[past], issued[past], kept[n], epochs[n], outcomes[past],
                        share, True, own[past],
                    )  # fmt: skip
                for later in range(n + 1, count):
                    opened[later - 1], epochs[later - 1] = opened[later], epochs[later]
                    kept[later - 1] = kept[later]
                count -= 1
                break
        if number == rounds:
            break
        if not depth_of(raw[number]) > 0.0:
            issued[number] = raw[number]
            continue
        staked[:] = 0.0
        if z[EPOCH] == first_epoch:
            staked += before
        for n in range(count):
            if epochs[n] == z[EPOCH]:
                staked += kept[n]
        reach = arrange(z, raw[number], staked, issued[number], stakes)
        accept(z, levels, reach)
        opened[count], epochs[count], kept[count] = number, z[EPOCH], stakes
        count += 1
    return count
