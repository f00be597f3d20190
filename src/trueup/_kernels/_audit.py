"""Bets against a forecaster, compiled: wealth of all bettors, blocks of open rounds, dates.

A **bettor** has a cell (all rounds, a region of forecasts, a group), a direction d and a rate j. In
a round of its cell it sees z, a number of [0, 1] whose mean is at most m if the forecast is right,
and what it stakes is multiplied by

    f = (1 + k z) / (1 + k m),    k = exp(theta_j) - 1,

as if the odds were exp(theta_j) times what the forecast says. Its mean is at most 1.

**Blocks.** A bettor's wealth is fixed while outcomes are open. Rounds go to one of two classes;
the open rounds of a class are its block, and its next block begins only after all of it is known.
Of a block a bettor plays at most N rounds, N fixed before, each with a share 1 / N of its wealth:
the factor of the block is 1 + sum (f - 1) / N. Where each outcome is known before the next
forecast, a block is one round, N = 1, and the second class is never used.

**Accounts.** Each bettor has two: one that plays from the start (mass 1), and one whose mass wakes
up over time, g(v) - g(v + 1) just before the v-th block of the cell, g(v) = 1 / (1 + log v): every
possible restart, summed.

**Numbers.** Wealth is a product of many factors; the accounts of a cell and direction have a common
power of 2 (`power`), the sums of a class another (`top`). What falls below 1e-280 of its power is
given up: wealth only gets smaller by it.
"""

import math
from typing import NamedTuple

import numpy as np

from trueup._kernels._jit import compiled_with_memory as compiled

N_RATES = 12  # theta = 4, 2, 1, ..., 1/512: the last sees a bias of 0.0005 after some 10^7 rounds
STEEPEST = 4.0
N_ACCOUNTS = 2  # from the start, restarted
ALL, SPREAD, HALVES, QUARTERS, EIGHTHS, GROUPS = 0, 1, 2, 4, 8, 16  # numbers of cells
LOST = 1e-280
STEP = 200  # powers of 2 move by this much
LARGE, SMALL = 2.0**STEP, 2.0**-STEP
LN2 = math.log(2.0)
FORGETS = 0.875  # of the largest block seen, a block
# of a class, whole numbers
OPEN, TOUCHED = range(2)
WHOLE = 2
EARLIEST, LATEST = range(2)  # of a class, when the first and the last of its block is known
# of a cell, sums over rounds
ROWS, SAID, SEEN, Z_LOW, M_LOW, Z_HIGH, M_HIGH = range(7)
SUMS = 7


class State(NamedTuple):
    """All that bets need to go on; x counts classes, c cells."""

    active: np.ndarray  # (1,): the class that takes the next round
    head: np.ndarray  # (x, WHOLE)
    due: np.ndarray  # (x, 2)
    wealth: np.ndarray  # (x, accounts, c, 2, rates)
    held: np.ndarray  # (x, accounts, c, 2): sums of it
    power: np.ndarray  # (x, accounts, c, 2)
    block: np.ndarray  # (x, c, 2, rates): sum of (f - 1) / N over the open block
    entered: np.ndarray  # (x, c): rounds of the open block so far
    most: np.ndarray  # (x, c): a recent largest block
    visits: np.ndarray  # (x, c): blocks so far
    touched: np.ndarray  # (x, c): the cells of the open block
    tree: np.ndarray  # (x, accounts, 2 leaves): sums of wealth, the root at 1
    top: np.ndarray  # (x, accounts): powers of 2 of the tree
    mass: np.ndarray  # (c,): of a cell
    cash: np.ndarray  # (1,): mass of cells that are not there yet
    run: np.ndarray  # (2, rates): log of the largest product of factors since a restart
    run_from: np.ndarray  # (2, rates): the round of its restart
    run_time: np.ndarray  # (2, rates): when that was
    best: np.ndarray  # (2, rates): its maximum so far
    best_from: np.ndarray  # (2, rates)
    best_time: np.ndarray  # (2, rates)
    best_to: np.ndarray  # (2, rates)
    plain: np.ndarray  # (2, rates): log of the product since the first round
    best_plain: np.ndarray  # (2, rates): the same at the maximum
    again: np.ndarray  # (x, 2, rates): log of the wealth of that restart; it waits for outcomes
    waits: np.ndarray  # (x, 2, rates): bool, it begins with the next block
    proved: np.ndarray  # (x, 2, rates): its maximum in the run of `best`
    proved_from: np.ndarray  # (x, 2, rates): the restart which that is of
    sums: np.ndarray  # (c, SUMS)


@compiled
def asleep(visit):
    """Return the mass that has not woken up before a visit (the first is 1)."""
    return 1.0 / (1.0 + math.log(visit))


@compiled
def set_leaf(state, x, c):
    """Write the wealth of a cell into both trees; the roots are right after it."""
    leaves = state.tree.shape[2] // 2
    for a in range(N_ACCOUNTS):
        total = 0.0
        for d in range(2):
            total += math.ldexp(state.held[x, a, c, d], state.power[x, a, c, d] - state.top[x, a])
        if a == 1:
            total += math.ldexp(asleep(state.visits[x, c] + 1.0), -state.top[x, a])
        place = leaves + c
        state.tree[x, a, place] = state.mass[c] * total
        place //= 2
        while place >= 1:
            state.tree[x, a, place] = state.tree[x, a, 2 * place] + state.tree[x, a, 2 * place + 1]
            place //= 2


@compiled
def rebuild(state):
    """Write all cells of all classes into the trees."""
    for x in range(state.head.shape[0]):
        for c in range(state.mass.size):
            set_leaf(state, x, c)


@compiled
def rescale(state, x):
    """Keep the roots of a class between 2^-400 and 2^400 (as long as the power is above 0)."""
    for a in range(N_ACCOUNTS):
        moved = True
        while moved:
            moved = False
            if state.tree[x, a, 1] > LARGE * LARGE:
                state.top[x, a] += STEP
                moved = True
            elif state.tree[x, a, 1] < SMALL * SMALL and state.top[x, a] > 0:
                state.top[x, a] -= STEP
                moved = True
            if moved:
                for c in range(state.mass.size):
                    set_leaf(state, x, c)


@compiled
def settle_account(state, x, a, c, d, woken):
    """Multiply one account of a cell and direction by the factors of the block."""
    fresh = math.ldexp(woken / (2 * N_RATES), -state.power[x, a, c, d])
    wealth, block = state.wealth, state.block
    for j in range(N_RATES):
        value = (wealth[x, a, c, d, j] + fresh) * (1.0 + block[x, c, d, j])
        wealth[x, a, c, d, j] = value if value > LOST else 0.0
    held, shift = 0.0, 0
    for j in range(N_RATES):
        held += wealth[x, a, c, d, j]
    while held > LARGE:
        held *= SMALL
        shift += STEP
    while held < SMALL and held > 0.0 and state.power[x, a, c, d] + shift > 0:
        held *= LARGE
        shift -= STEP
    state.held[x, a, c, d] = held
    if shift != 0:
        state.power[x, a, c, d] += shift
        for j in range(N_RATES):
            value = math.ldexp(wealth[x, a, c, d, j], -shift)
            wealth[x, a, c, d, j] = value if value > LOST else 0.0


@compiled
def date(state, factors, share, now, clock):
    """Carry the best run of each bettor on all rounds over one round; outcomes need not be known.

    A run is an estimate of when forecasts were wrong, no evidence: factors of rounds that are open
    at the same time are multiplied.
    """
    visit = state.sums[ALL, ROWS]
    anew = math.log(asleep(visit) - asleep(visit + 1.0))
    for d in range(2):
        for j in range(N_RATES):
            gain = share * math.log(factors[d, j])
            if anew > state.run[d, j]:
                state.run[d, j] = anew
                state.run_from[d, j] = now
                state.run_time[d, j] = clock
                state.waits[:, d, j] = True
            state.run[d, j] += gain
            state.plain[d, j] += gain
            if state.run[d, j] > state.best[d, j]:
                state.best[d, j] = state.run[d, j]
                state.best_from[d, j] = state.run_from[d, j]
                state.best_time[d, j] = state.run_time[d, j]
                state.best_to[d, j] = now + 1
                state.best_plain[d, j] = state.plain[d, j]


@compiled
def prove(state, x, woken):
    """Carry the wealth of the restart of each run over a block of a class."""
    anew = math.log(woken)
    for d in range(2):
        for j in range(N_RATES):
            if state.waits[x, d, j]:
                state.waits[x, d, j] = False
                state.again[x, d, j] = anew
            state.again[x, d, j] += math.log1p(state.block[x, ALL, d, j])
            if state.run_from[d, j] == state.best_from[d, j]:
                if state.proved_from[x, d, j] != state.best_from[d, j]:
                    state.proved_from[x, d, j] = state.best_from[d, j]
                    state.proved[x, d, j] = -math.inf
                state.proved[x, d, j] = max(state.proved[x, d, j], state.again[x, d, j])


@compiled
def settle(state, x):
    """Close the block of a class: all of its outcomes are known."""
    for k in range(state.head[x, TOUCHED]):
        c = state.touched[x, k]
        state.visits[x, c] += 1
        woken = asleep(float(state.visits[x, c])) - asleep(state.visits[x, c] + 1.0)
        if c == ALL:
            prove(state, x, woken)
        for d in range(2):
            settle_account(state, x, 0, c, d, 0.0)
            settle_account(state, x, 1, c, d, woken)
        state.most[x, c] = max(float(state.entered[x, c]), FORGETS * state.most[x, c])
        set_leaf(state, x, c)
        state.entered[x, c] = 0
        for d in range(2):
            for j in range(N_RATES):
                state.block[x, c, d, j] = 0.0
    rescale(state, x)
    state.head[x, OPEN] = 0
    state.head[x, TOUCHED] = 0
    state.due[x, EARLIEST] = math.inf
    state.due[x, LATEST] = -math.inf


@compiled
def worth(state, x, a):
    """Return the log of the wealth of a class in one account, cash included."""
    top = state.top[x, a]
    return math.log(state.tree[x, a, 1] + math.ldexp(state.cash[0], -top)) + top * LN2


@compiled
def stake(state, x, c, factors, z, m, flipped, said, seen):
    """Enter a round into the open block of a class, for one cell."""
    first = 1 if flipped else 0
    state.sums[c, ROWS] += 1
    state.sums[c, SAID] += said
    state.sums[c, SEEN] += seen
    state.sums[c, Z_LOW] += z[first]
    state.sums[c, M_LOW] += m[first]
    state.sums[c, Z_HIGH] += z[1 - first]
    state.sums[c, M_HIGH] += m[1 - first]
    played = state.entered[x, c]
    if played == 0:
        state.touched[x, state.head[x, TOUCHED]] = c
        state.head[x, TOUCHED] += 1
    state.entered[x, c] = played + 1  # also what is beyond N: the next N is at least that
    most = math.ceil(state.most[x, c])
    if played < most:
        share = 1.0 / most
        for d in range(2):
            source = 1 - d if flipped else d
            for j in range(N_RATES):
                state.block[x, c, d, j] += share * (factors[source, j] - 1.0)


@compiled
def choose(state, now):
    """Settle what is known by now and return the class that takes the round."""
    for x in range(state.head.shape[0]):
        if state.head[x, OPEN] == 1 and state.due[x, LATEST] <= now:
            settle(state, x)
    x = state.active[0]
    if state.head.shape[0] == 2:
        other = 1 - x
        waits = state.head[x, OPEN] == 1 and state.due[x, EARLIEST] <= now
        if waits and state.head[other, OPEN] == 0:
            x = other
    state.active[0] = x
    return x


@compiled
def play(
    state, rates, low, high, said, seen, region, groups, rows, clock, known, fresh, shared, out
):
    """Bet on rounds in order; `state` and `out` are modified in place.

    rates (rates,): k; low, high (T, 2): z and m of the two directions; region (T,): the eighth of
    the forecasts, or -1; groups (T, n): numbers from 0, or -1; rows (T,): a round's number;
    clock, known (T,): when it is forecast, when its outcome is known; fresh (T,): all earlier
    outcomes are known; shared: rounds of a block may have one outcome;
    out (T, x, 3): logs of the wealth of a class before the round: all, from the start, restarted.
    """
    factors = np.empty((2, N_RATES))
    z, m = np.empty(2), np.empty(2)
    for t in range(rows.size):
        now = rows[t]
        if fresh[t]:
            for x in range(state.head.shape[0]):
                state.due[x, LATEST] = min(state.due[x, LATEST], clock[t])
        x = choose(state, clock[t])
        for y in range(state.head.shape[0]):
            report(state, y, out, t)
        state.head[x, OPEN] = 1
        state.due[x, EARLIEST] = min(state.due[x, EARLIEST], known[t])
        state.due[x, LATEST] = max(state.due[x, LATEST], known[t])
        z[0], m[0], z[1], m[1] = low[t, 0], low[t, 1], high[t, 0], high[t, 1]
        for d in range(2):
            for j in range(N_RATES):
                factors[d, j] = (1.0 + rates[j] * z[d]) / (1.0 + rates[j] * m[d])
        r = region[t]
        share = 1.0 / math.ceil(state.most[x, ALL]) if shared else 1.0
        stake(state, x, ALL, factors, z, m, False, said[t], seen[t])
        date(state, factors, share, now, clock[t])
        if r >= 0:
            stake(state, x, SPREAD, factors, z, m, r >= 4, said[t], seen[t])
            stake(state, x, HALVES + (r >> 2), factors, z, m, False, said[t], seen[t])
            stake(state, x, QUARTERS + (r >> 1), factors, z, m, False, said[t], seen[t])
            stake(state, x, EIGHTHS + r, factors, z, m, False, said[t], seen[t])
        for k in range(groups.shape[1]):
            if groups[t, k] >= 0:
                stake(state, x, GROUPS + groups[t, k], factors, z, m, False, said[t], seen[t])


@compiled
def report(state, x, out, t):
    """Write the logs of the wealth of a class: in all, from the start, restarted."""
    start, again = worth(state, x, 0), worth(state, x, 1)
    top = max(start, again)
    out[t, x, 0] = top + math.log(0.5 * math.exp(start - top) + 0.5 * math.exp(again - top))
    out[t, x, 1] = start
    out[t, x, 2] = again


@compiled
def finish(state, out):
    """Settle all that is open, as at the end of a file, and report; out (1, x, 3)."""
    for x in range(state.head.shape[0]):
        if state.head[x, OPEN] == 1:
            settle(state, x)
        report(state, x, out, 0)
