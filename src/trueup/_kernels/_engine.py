"""The engine's round, compiled: aim, small game, draw, stakes, update; losses and adversaries.

Positions are whole numbers. A pair (s, j) is the bin b = j 2^-s of scale r = 2^-s; the spacing of a
round is gamma = 2^-K with K >= s; the open cell number k is (k 2^-K, (k + 1) 2^-K). Claims are
ordered +2, -2, +1, -1 as everywhere.

**State** is one buffer of 8-byte slots: first whole numbers (`i`), then numbers (`f`). Each part
has a header (names below, the pool and the next pool with it), then blocks that can grow:

| block | whole numbers of an entry | numbers of an entry |
|---|---|---|
| pool, next | scale, place | probability |
| index | 1 + number of a row, or 0: an open-addressing table of keys | |
| rows | key, first slip | rounds, four sums, what refining cost, four weights, 4 J wealths |
| groups | first slip | rounds, gain from refining, J wealths against it, J for it |
| slips | see SLIP_... | see SLIP_... |

A row is a pair of a group that has been visited; a slip holds the stakes that an open forecast has
with one row. The pool is the working set of the guard, in order of arrival; `prepare` writes
the mixture of the coming round into `next` and touches nothing else that lasts.

**Money.** All bettors share mass 1. It is handed out in the order of visits: the k-th row (from 0)
gets 1 / ((k + 1) (k + 2)), a quarter for each claim, in equal parts for J rates. A bettor with rate
eta stakes eta (P - E), P its wealth and E the most that its open stakes can lose; when its claim
turns out to be off by u it gains stake * u. With nothing open that multiplies P by 1 + eta u. Only
additions and products occur, so that bits are equal on all machines with IEEE arithmetic. Wealth is
kept above 1e-280 (what that adds in all is below 1e-260) and below 1e280 (reached with probability
1e-280).

**The small game.** Minimise the largest entry of A x over the simplex, A the gains of a few columns
on the cells between their breakpoints. Each column is divided by its largest entry; with
B = A + 2 > 0 it is the linear program max sum(x), B x <= 1, started at x = 0; a sum of 1/2 means
value 0. Where the value is positive, the dual is a law of outcomes; its truthful bin is a new
column with no gain under it, so the method ends (at the latest with all pairs in the pool).
"""

import math

import numpy as np

from trueup._kernels._jit import compiled

N_RATES = 6  # eta = 2^-1, 2^-3, ..., 2^-11: the last is best for some 10^9 rounds of one bin
RATE_STEP = 0.25
FRESH = 0.5 * (1.0 - 0.25**N_RATES) / (0.75 * N_RATES)  # mean of the rates
MOST_COLUMNS = 64  # of a small game
KEPT = 6  # pairs that stay in the working set from round to round
KEPT_IN_GROUPS = 24  # where a round has several groups, and the next may have others
MOST_ROWS = 3 * MOST_COLUMNS + 1
MOST_GROUPS = 32  # of one round
MOST_SCALE = 40
TOLERANCE = 1e-13  # of W: a gain below it is rounding
LEVEL_SLACK = 1e-13  # of a probability
COST_SLACK = 1e-12  # of a reduced cost, columns being scaled to 1
PIVOT_SLACK, RATIO_SLACK = 1e-7, 1e-13  # of a pivot; of two ratios that count as equal
MOST_PIVOTS, CAREFUL = 400, 60  # then the game is left where it is; then ties go by number
MOST_SOLVES = 60  # of one round
MOST_NEW_ROWS = MOST_SOLVES + MOST_COLUMNS + 2  # of one group in one round, with expected updates
POOREST, RICHEST = 1e-280, 1e280

# header, whole numbers
SEED, ROUNDS, HORIZON, RULE, EXPECTED, FOLLOWS, REFINES = range(7)
ROW_ROOM, ROWS, INDEX_SIZE, GROUP_ROOM, SLIP_ROOM, FREE_SLIP, OPEN = range(7, 14)
AT_INDEX, AT_ROWS, AT_GROUPS, AT_SLIPS, AT_FROWS, AT_FGROUPS, AT_FSLIPS = range(14, 21)
SIZE = 21  # of the pool
REUSED, SOLVED, PIVOTS, ADDED, STALLED, FOLLOWED, OVERRULED, UNREFINED = range(22, 30)
READY, FINEST, NEXT_SIZE, MODE, AIMED, AIM_SCALE, AIM_PLACE, CHOSEN = range(30, 38)
DID_REUSE, DID_SOLVE, DID_PIVOT, DID_ADD, DID_STALL, N_GROUPS, REFINE_MODE = range(38, 45)
EPOCH, SINCE = 45, 46  # how often evidence was forgotten, and the round of the last time
LASTING = 47  # rows that are there whether or not the coming round is opened
AT_NOW = 48  # the groups of the coming round
AT_POOL = AT_NOW + MOST_GROUPS
AT_NEXT = AT_POOL + 2 * MOST_COLUMNS
WHOLE_HEADER = AT_NEXT + 2 * MOST_COLUMNS
# header, numbers
C, WEALTH, PEAK, GAINS, CAP, MODEL, RESERVED, GAIN, RESERVE, POINT, LAMBDA, SAID = range(12)
REFINE_CAP, REFINE_MODEL, REFINE_RESERVED, REFINE_RESERVE, REFINED = range(12, 17)
AT_SHARES = 17
AT_NEXT_SHARES = AT_SHARES + MOST_COLUMNS
HEADER = AT_NEXT_SHARES + MOST_COLUMNS

# entries of the blocks
KEY, FIRST_SLIP, WHOLE_ROW = 0, 1, 2
PLAYED, SUMS, REFINED_HERE, WEIGHTS, PRODUCTS = 0, 1, 5, 6, 10
ROW = PRODUCTS + 4 * N_RATES
WHOLE_GROUP = 1
GROUP_PLAYED, GROUP_REFINED, GROUP_AGAINST, GROUP_FOR = 0, 1, 2, 2 + N_RATES
GROUP = GROUP_FOR + N_RATES
SLIP_ROW, SLIP_NEXT, SLIP_OF_ROUND, SLIP_ROUND, SLIP_FINEST, SLIP_SCALE, SLIP_PLACE = range(7)
SLIP_MODE, SLIP_GROUP, SLIP_OF_GROUP, SLIP_REFINES, SLIP_CHOSEN, SLIP_EPOCH = range(7, 13)
WHOLE_SLIP = 13
SLIP_SHARE, SLIP_LAMBDA, SLIP_POINT, SLIP_SAID, SLIP_RESERVE, SLIP_REFINE_RESERVE = range(6)
SLIP_STAKES = 6
SLIP_AGAINST = SLIP_STAKES + 4 * N_RATES
SLIP_FOR = SLIP_AGAINST + N_RATES
SLIP = SLIP_FOR + N_RATES

# scratch
AT_COLUMNS = 0
AT_SCALES = AT_COLUMNS + 4 * MOST_COLUMNS
AT_ENDS = AT_SCALES + MOST_COLUMNS
AT_CLIMB = AT_ENDS + MOST_ROWS + 1
AT_BEST = AT_CLIMB + MOST_ROWS + 1
AT_ESCROW = AT_BEST + MOST_COLUMNS
AT_TABLE = AT_ESCROW + 4 * N_RATES
SCRATCH = AT_TABLE + (MOST_ROWS + 1) * (MOST_COLUMNS + 1)
AT_MARKS = 2 * MOST_ROWS + MOST_COLUMNS + 1
WHOLE_SCRATCH = AT_MARKS + MOST_COLUMNS + MOST_ROWS

GUARD, FOLLOW = 0, 1  # MODE
DONE, NO_ROOM = 0, -2  # status of opening; slips are numbered from 0


@compiled
def coin(seed, number):
    """Return a number in [0, 1) that depends on its arguments alone (splitmix64, twice)."""
    z = np.uint64(seed) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(number)
    for _ in range(2):
        z = z + np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    return float(z >> np.uint64(11)) / 9007199254740992.0


@compiled
def size_of(scale):
    """Return 2^-scale."""
    return 1.0 / float(np.int64(1) << scale)


# --- room ------------------------------------------------------------------------------------


@compiled
def place_blocks(i):
    """Write where the blocks start, from the rooms in the header; return both lengths."""
    i[AT_INDEX] = WHOLE_HEADER
    i[AT_ROWS] = i[AT_INDEX] + i[INDEX_SIZE]
    i[AT_GROUPS] = i[AT_ROWS] + WHOLE_ROW * i[ROW_ROOM]
    i[AT_SLIPS] = i[AT_GROUPS] + WHOLE_GROUP * i[GROUP_ROOM]
    i[AT_FROWS] = HEADER
    i[AT_FGROUPS] = i[AT_FROWS] + ROW * i[ROW_ROOM]
    i[AT_FSLIPS] = i[AT_FGROUPS] + GROUP * i[GROUP_ROOM]
    whole = i[AT_SLIPS] + WHOLE_SLIP * i[SLIP_ROOM]
    return whole, i[AT_FSLIPS] + SLIP * i[SLIP_ROOM]


@compiled
def furnish(i, f, groups, slips):
    """Make the entries of groups and slips from the given numbers on ready for use."""
    for group in range(groups, i[GROUP_ROOM]):
        i[i[AT_GROUPS] + WHOLE_GROUP * group] = -1
        at = i[AT_FGROUPS] + GROUP * group
        f[at + GROUP_PLAYED], f[at + GROUP_REFINED] = 0.0, 0.0
        for k in range(2 * N_RATES):
            f[at + GROUP_AGAINST + k] = 0.5 / ((group + 1.0) * (group + 2.0) * N_RATES)
    for slip in range(i[SLIP_ROOM] - 1, slips - 1, -1):
        i[i[AT_SLIPS] + WHOLE_SLIP * slip + SLIP_NEXT] = i[FREE_SLIP]
        i[FREE_SLIP] = slip


@compiled
def wipe(i, f):
    """Let free slips hold nothing but their place in the list."""
    slip = i[FREE_SLIP]
    while slip >= 0:
        at, stakes = i[AT_SLIPS] + WHOLE_SLIP * slip, i[AT_FSLIPS] + SLIP * slip
        for k in range(WHOLE_SLIP):
            i[at + k] = i[at + k] if k == SLIP_NEXT else 0
        for k in range(SLIP):
            f[stakes + k] = 0.0
        slip = i[at + SLIP_NEXT]


@compiled
def transfer(i, f, new_i, new_f):
    """Copy a state into another one, whose rooms stand in its header already and are enough."""
    rooms = new_i[ROW_ROOM], new_i[INDEX_SIZE], new_i[GROUP_ROOM], new_i[SLIP_ROOM]
    for k in range(WHOLE_HEADER):
        new_i[k] = i[k]
    new_i[ROW_ROOM], new_i[INDEX_SIZE], new_i[GROUP_ROOM], new_i[SLIP_ROOM] = rooms
    place_blocks(new_i)
    for k in range(HEADER):
        new_f[k] = f[k]
    for k in range(WHOLE_ROW * i[ROWS]):
        new_i[new_i[AT_ROWS] + k] = i[i[AT_ROWS] + k]
    for k in range(ROW * i[ROWS]):
        new_f[new_i[AT_FROWS] + k] = f[i[AT_FROWS] + k]
    groups = min(i[GROUP_ROOM], new_i[GROUP_ROOM])
    for k in range(WHOLE_GROUP * groups):
        new_i[new_i[AT_GROUPS] + k] = i[i[AT_GROUPS] + k]
    for k in range(GROUP * groups):
        new_f[new_i[AT_FGROUPS] + k] = f[i[AT_FGROUPS] + k]
    slips = i[SLIP_ROOM]
    if i[OPEN] == 0:
        slips, new_i[FREE_SLIP] = 0, -1
    for k in range(WHOLE_SLIP * slips):
        new_i[new_i[AT_SLIPS] + k] = i[i[AT_SLIPS] + k]
    for k in range(SLIP * slips):
        new_f[new_i[AT_FSLIPS] + k] = f[i[AT_FSLIPS] + k]
    wipe(new_i, new_f)
    furnish(new_i, new_f, groups, slips)
    for number in range(i[ROWS]):
        key = new_i[new_i[AT_ROWS] + WHOLE_ROW * number + KEY]
        if key > 0:
            new_i[slot_of(new_i, key)] = number + 1


# --- rows ------------------------------------------------------------------------------------


@compiled
def key_of(group, scale, place):
    """Return the number of a pair of a group, above 0."""
    return (np.int64(group) << 42) + (np.int64(1) << scale) + scale + place


@compiled
def slot_of(i, key):
    """Return the slot of a key in the index, or the free one where it belongs."""
    mask, start = i[INDEX_SIZE] - 1, i[AT_INDEX]
    slot = ((key * np.int64(-7046029254386353131)) >> 20) & mask
    while i[start + slot] != 0:
        if i[i[AT_ROWS] + (i[start + slot] - 1) * WHOLE_ROW + KEY] == key:
            break
        slot = (slot + 1) & mask
    return start + slot


@compiled
def row_of(i, group, scale, place):
    """Return the number of the row of a pair of a group, or -1."""
    return i[slot_of(i, key_of(group, scale, place))] - 1


@compiled
def handed_out(number):
    """Return the share of all money that a row gets, by its number in the order of visits."""
    return 1.0 / ((number + 1.0) * (number + 2.0))


@compiled
def new_row(i, f, group, scale, place):
    """Return the number of the row of a pair, making it if need be. There must be room."""
    key = key_of(group, scale, place)
    slot = slot_of(i, key)
    if i[slot] > 0:
        return i[slot] - 1
    number = i[ROWS]
    i[ROWS] += 1
    i[slot] = i[ROWS]
    at = i[AT_ROWS] + WHOLE_ROW * number
    i[at + KEY], i[at + FIRST_SLIP] = key, -1
    at = i[AT_FROWS] + ROW * number
    money = 0.25 * handed_out(number)
    for k in range(WEIGHTS):
        f[at + k] = 0.0
    for k in range(WEIGHTS, PRODUCTS):
        f[at + k] = money * FRESH
    for k in range(PRODUCTS, ROW):
        f[at + k] = money / N_RATES
    return number


@compiled
def unmake(i):
    """Take back the rows that were made for a round which was only looked at."""
    if i[READY] == 1:
        for number in range(i[ROWS] - 1, i[LASTING] - 1, -1):  # the last in is the first out
            i[slot_of(i, i[i[AT_ROWS] + WHOLE_ROW * number + KEY])] = 0
        i[ROWS] = min(i[ROWS], i[LASTING])
    i[READY] = 0


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
def threshold(claim, scale, finest):
    """Return 1/2 - gamma / (4 r) for the claims +-2 and 1/2 - gamma / (2 r) for +-1."""
    return 0.5 - (0.25 if claim < 2 else 0.5) * size_of(finest - scale)


@compiled
def most_loss(claim, scale, finest):
    """Return the most by which a claim can turn out to be kept: the size of the smallest u."""
    level = threshold(claim, scale, finest)
    return level if claim < 2 else 1.0 - level


@compiled
def escrow(i, f, number, work):
    """Write the most that the open stakes of a row can lose into scratch, bettor by bettor."""
    for k in range(4 * N_RATES):
        work[AT_ESCROW + k] = 0.0
    slip = i[i[AT_ROWS] + WHOLE_ROW * number + FIRST_SLIP]
    while slip >= 0:
        at, stakes = i[AT_SLIPS] + WHOLE_SLIP * slip, i[AT_FSLIPS] + SLIP * slip + SLIP_STAKES
        for claim in range(4):
            loss = most_loss(claim, i[at + SLIP_SCALE], i[at + SLIP_FINEST])
            for k in range(N_RATES * claim, N_RATES * (claim + 1)):
                work[AT_ESCROW + k] += f[stakes + k] * loss
        slip = i[at + SLIP_NEXT]


@compiled
def weigh(i, f, number, work):
    """Write the sum of eta (P - E) of each claim of a row into its weights."""
    at = i[AT_FROWS] + ROW * number
    is_open = i[i[AT_ROWS] + WHOLE_ROW * number + FIRST_SLIP] >= 0
    if is_open:
        escrow(i, f, number, work)
    for claim in range(4):
        total, rate = 0.0, 0.5
        for k in range(N_RATES * claim, N_RATES * (claim + 1)):
            free = f[at + PRODUCTS + k]
            if is_open:
                free = max(free - work[AT_ESCROW + k], 0.0)
            total += rate * free
            rate *= RATE_STEP
        f[at + WEIGHTS + claim] = total


# --- columns of the game ---------------------------------------------------------------------


@compiled
def pieces(i, f, scale, place, finest, out, at):
    """Write the gain of a pair far left, left, right and far right of its bin into `out`."""
    w0, w1, w2, w3 = 0.0, 0.0, 0.0, 0.0
    fresh = i[ROWS]
    for k in range(i[N_GROUPS]):
        number = row_of(i, i[AT_NOW + k], scale, place)
        if number >= 0:
            row = i[AT_FROWS] + ROW * number + WEIGHTS
            w0 += f[row]
            w1 += f[row + 1]
            w2 += f[row + 2]
            w3 += f[row + 3]
        else:
            weight = 0.25 * handed_out(fresh) * FRESH
            fresh += 1
            w0 += weight
            w1 += weight
            w2 += weight
            w3 += weight
    last = np.int64(1) << scale
    w0 = w0 if place + 2 < last else 0.0
    w1 = w1 if place - 2 > 0 else 0.0
    w2 = w2 if scale < finest and place > 0 else 0.0
    w3 = w3 if scale < finest and place < last else 0.0
    ratio = size_of(finest - scale)
    base = (w2 + w3) * (0.5 - 0.5 * ratio) - (w0 + w1) * (0.5 - 0.25 * ratio)
    out[at], out[at + 1] = base - w3 + w1, base - w3
    out[at + 2], out[at + 3] = base - w2, base - w2 + w0


@compiled
def piece_at(cell, scale, place, finest):
    """Return which of the four pieces of a pair a cell lies in."""
    step = np.int64(1) << (finest - scale)
    offset = cell - place * step
    if offset >= 0:
        return 3 if offset >= 2 * step else 2
    return 1 if offset >= -2 * step else 0


@compiled
def worst_piece(scale, place, out, at):
    """Return the largest gain of a pair over the outcomes that there are."""
    last = np.int64(1) << scale
    worst = -math.inf
    if place - 2 > 0:
        worst = max(worst, out[at])
    if place > 0:
        worst = max(worst, out[at + 1])
    if place < last:
        worst = max(worst, out[at + 2])
    if place + 2 < last:
        worst = max(worst, out[at + 3])
    return worst


@compiled
def lay_out(i, f, size, finest, rows, likely):
    """Write the first cell of each stretch between breakpoints of the next pool; return how many.

    With `likely`, only pairs of positive probability count.
    """
    cells = np.int64(1) << finest
    rows[0] = 0
    count = 1
    for k in range(size):
        if likely and f[AT_NEXT_SHARES + k] <= 0.0:
            continue
        scale, place = i[AT_NEXT + 2 * k], i[AT_NEXT + 2 * k + 1]
        step = np.int64(1) << (finest - scale)
        for shift in (-2, 0, 2):
            cell = (place + shift) * step
            if 0 < cell < cells:
                at = count
                while at > 0 and rows[at - 1] > cell:
                    at -= 1
                if rows[at - 1] != cell:
                    for other in range(count, at, -1):
                        rows[other] = rows[other - 1]
                    rows[at] = cell
                    count += 1
    return count


@compiled
def largest_gain(i, f, size, finest, work, rows, n_rows):
    """Return the largest expected gain of the next mixture over all cells: its certificate."""
    worst = -math.inf
    for k in range(n_rows):
        total = 0.0
        for n in range(size):
            share = f[AT_NEXT_SHARES + n]
            if share > 0.0:
                piece = piece_at(rows[k], i[AT_NEXT + 2 * n], i[AT_NEXT + 2 * n + 1], finest)
                total += share * work[AT_COLUMNS + 4 * n + piece]
        worst = max(worst, total)
    return worst


# --- the truthful bin ------------------------------------------------------------------------


@compiled
def lower(nodes, left, right, count, level):
    """Return the smallest x with F(x) >= level; 0 for level 0."""
    if level <= LEVEL_SLACK:
        return 0.0
    level -= LEVEL_SLACK
    first, last = 0, count - 1
    while first < last:
        middle = (first + last) // 2
        if right[middle] >= level:
            last = middle
        else:
            first = middle + 1
    if first > 0 and left[first] >= level:
        rise = left[first] - right[first - 1]
        share = (level - right[first - 1]) / rise
        return nodes[first - 1] + min(max(share, 0.0), 1.0) * (nodes[first] - nodes[first - 1])
    return nodes[first]


@compiled
def upper(nodes, left, right, count, level):
    """Return the largest x with F(x-) <= level; 1 for level 1."""
    if level >= 1.0 - LEVEL_SLACK:
        return 1.0
    level += LEVEL_SLACK
    first, last = 0, count - 1
    while first < last:
        middle = (first + last + 1) // 2
        if left[middle] <= level:
            first = middle
        else:
            last = middle - 1
    if first + 1 < count and right[first] <= level:
        rise = left[first + 1] - right[first]
        share = (level - right[first]) / rise
        return nodes[first] + min(max(share, 0.0), 1.0) * (nodes[first + 1] - nodes[first])
    return nodes[first]


@compiled
def truthful(nodes, left, right, count, finest):
    """Return the coarsest pair all of whose claims hold under a law.

    The law has F(x-) = left and F(x) = right at its nodes, the first being 0 and the last 1, and
    is linear between them. Each claim bounds b from one side by a quantile: b >= Q(p2),
    b + 2r >= Q(1 - p4) and the mirror images; a bin between the bounds will do, and lemma 4.2 says
    that some scale has one.
    """
    for scale in range(finest + 1):
        ratio = size_of(finest - scale)
        near, far = 0.5 - 0.5 * ratio, 0.5 - 0.25 * ratio
        size = size_of(scale)
        low = max(
            lower(nodes, left, right, count, near),
            lower(nodes, left, right, count, 1.0 - far) - 2.0 * size,
        )
        high = min(
            upper(nodes, left, right, count, 1.0 - near),
            upper(nodes, left, right, count, far) + 2.0 * size,
        )
        low, high = max(low, 0.0), min(high, 1.0)
        first, last = np.int64(math.ceil(low / size)), np.int64(math.floor(high / size))
        if first <= last:
            middle = np.int64(math.floor((low + high) / 2.0 / size + 0.5))
            return np.int64(scale), min(max(middle, first), last)
    return np.int64(finest), np.int64(1) << max(finest - 1, 0)


# --- the small game --------------------------------------------------------------------------


@compiled
def fill(i, size, finest, work, rows, n_rows, table):
    """Write B, the scaled gains plus 2, into `table`, and the size of each column into scratch."""
    for n in range(size):
        scale, place = i[AT_NEXT + 2 * n], i[AT_NEXT + 2 * n + 1]
        largest = 0.0
        for k in range(n_rows):
            value = work[AT_COLUMNS + 4 * n + piece_at(rows[k], scale, place, finest)]
            table[k, n] = value
            largest = max(largest, abs(value))
        largest = largest if largest > 0.0 else 1.0
        work[AT_SCALES + n] = largest
        for k in range(n_rows):
            table[k, n] = table[k, n] / largest + 2.0


@compiled
def solve_game(table, m, n, basis, free):
    """Maximise sum(x), B x <= 1, by the simplex method on a condensed tableau.

    `table` holds B in its first m rows and n columns on entry; everything is modified in place.
    Returns the number of pivots. The column of the most negative cost enters, ties by number; of
    the rows that bind first the one with the largest entry leaves, since many bind at once here
    and a tiny pivot destroys the table. After 60 pivots the lowest number enters and leaves
    (Bland), which cannot cycle; after 400 the point reached stands: a mixture like any other,
    judged by its certificate.
    """
    start_game(table, m, n, basis, free)
    return go_on(table, m, n, basis, free)


@compiled
def start_game(table, m, n, basis, free):
    """Write the first tableau: all slacks in the basis."""
    for k in range(m):
        table[k, n] = 1.0
        basis[k] = n + k
    for j in range(n + 1):
        table[m, j] = -1.0 if j < n else 0.0
        free[j] = j


@compiled
def go_on(table, m, n, basis, free):
    """Go on from a feasible tableau to an optimal one; return the number of pivots."""
    for pivots in range(MOST_PIVOTS):
        enter, cost = -1, -COST_SLACK
        for j in range(n):
            better = table[m, j] < cost
            if pivots >= CAREFUL:
                better = table[m, j] < -COST_SLACK and (enter < 0 or free[j] < free[enter])
            if better:
                enter, cost = j, table[m, j]
        if enter < 0:
            return pivots
        leave, least = -1, math.inf
        for k in range(m):
            entry = table[k, enter]
            if entry > PIVOT_SLACK:
                ratio = max(table[k, n], 0.0) / entry
                better = ratio < least - RATIO_SLACK
                if not better and ratio <= least + RATIO_SLACK:
                    better = entry > table[leave, enter]
                    if pivots >= CAREFUL:
                        better = basis[k] < basis[leave]
                if better:
                    leave, least = k, min(ratio, least)
        if leave < 0:
            return pivots
        pivot(table, m, n, leave, enter)
        basis[leave], free[enter] = free[enter], basis[leave]
    return MOST_PIVOTS


@compiled
def pivot(table, m, n, leave, enter):
    """Exchange a row's variable for a column's. `table` is modified in place."""
    value = table[leave, enter]
    for j in range(n + 1):
        table[leave, j] /= value
    table[leave, enter] = 1.0 / value
    for k in range(m + 1):
        factor = table[k, enter]
        if k != leave and factor != 0.0:
            for j in range(n + 1):
                table[k, j] -= factor * table[leave, j]
            table[k, enter] = -factor / value


@compiled
def refresh(i, size, finest, work, rows, m, table, basis, free, marks):
    """Compute the tableau of a basis anew, largest pivots first; return its least cost and rhs."""
    inside, outside = marks[:MOST_COLUMNS], marks[MOST_COLUMNS:]
    inside[:], outside[:] = 0, 0
    for k in range(m):
        if basis[k] < size:
            inside[basis[k]] = 1
    for j in range(size):
        if free[j] >= size:
            outside[free[j] - size] = 1
    fill(i, size, finest, work, rows, m, table)
    start_game(table, m, size, basis, free)
    while True:
        most, row, column = 1e-14, -1, -1
        for k in range(m):
            if basis[k] >= size and outside[basis[k] - size] == 1:
                for j in range(size):
                    if free[j] < size and inside[free[j]] == 1 and abs(table[k, j]) > most:
                        most, row, column = abs(table[k, j]), k, j
        if row < 0:
            break
        pivot(table, m, size, row, column)
        basis[row], free[column] = free[column], basis[row]
    cost, rhs = 0.0, 0.0
    for j in range(size):
        cost = min(cost, table[m, j])
    for k in range(m):
        rhs = min(rhs, table[k, size])
    return cost, rhs


@compiled
def make_feasible(table, m, n, basis, free):
    """Dual simplex: from an optimal but infeasible tableau to a feasible one."""
    for _ in range(MOST_PIVOTS):
        leave, least = -1, -1e-13
        for k in range(m):
            if table[k, n] < least:
                leave, least = k, table[k, n]
        if leave < 0:
            return
        enter, ratio = -1, math.inf
        for j in range(n):
            entry = table[leave, j]
            if entry < -PIVOT_SLACK:
                value = max(table[m, j], 0.0) / -entry
                if value < ratio - RATIO_SLACK or (
                    value <= ratio + RATIO_SLACK and entry < table[leave, enter]
                ):
                    enter, ratio = j, min(value, ratio)
        if enter < 0:
            return
        pivot(table, m, n, leave, enter)
        basis[leave], free[enter] = free[enter], basis[leave]


@compiled
def repair(i, size, finest, work, rows, m, table, basis, free, marks):
    """Solve the small game again where rounding has spoiled the tableau."""
    for attempt in range(6):
        cost, rhs = refresh(i, size, finest, work, rows, m, table, basis, free, marks)
        if cost >= -1e-10 and rhs >= -1e-12:
            return
        if cost >= -1e-9:
            make_feasible(table, m, size, basis, free)
        elif rhs >= -1e-9:
            go_on(table, m, size, basis, free)
        else:
            fill(i, size, finest, work, rows, m, table)
            start_game(table, m, size, basis, free)
            for k in range(m):  # ties broken: no tiny pivots among rows that bind at once
                table[k, size] = 1.0 + 1e-3 * coin(attempt, k)
            go_on(table, m, size, basis, free)


@compiled
def unscale(f, table, m, n, basis, work):
    """Write the mixture of a solved game, columns unscaled, into the shares of the next pool.

    Returns False if the table is ruined and there is none.
    """
    for j in range(n):
        f[AT_NEXT_SHARES + j] = 0.0
    largest = 0.0
    for k in range(m):
        if basis[k] < n:
            share = max(table[k, n], 0.0) / work[AT_SCALES + basis[k]]
            f[AT_NEXT_SHARES + basis[k]] = share
            largest = max(largest, share)
    if not 0.0 < largest < math.inf:
        return False
    total = 0.0
    for j in range(n):
        share = f[AT_NEXT_SHARES + j] / largest
        share = share if share >= 1e-15 else 0.0
        f[AT_NEXT_SHARES + j] = share
        total += share
    for j in range(n):
        f[AT_NEXT_SHARES + j] /= total
    return True


@compiled
def add_column(i, f, size, finest, table, free, work, rows, n_rows):
    """Append the truthful bin of the dual law to the pool; return False if it is there already.

    The dual gives a mass to each stretch of cells. Spread evenly over its stretch it is as good a
    dual, and a wide one, so that one coarse bin answers a whole stretch.
    """
    ends = work[AT_ENDS : AT_ENDS + n_rows + 1]
    climb = work[AT_CLIMB : AT_CLIMB + n_rows + 1]
    for k in range(n_rows):
        ends[k] = rows[k] * size_of(finest)
        climb[k + 1] = 0.0
    ends[n_rows], climb[0] = 1.0, 0.0
    for j in range(size):
        if free[j] >= size:
            climb[free[j] - size + 1] = max(table[n_rows, j], 0.0)
    for k in range(n_rows):
        climb[k + 1] += climb[k]
    total = climb[n_rows]
    if not total > 0.0:
        return False
    for k in range(n_rows):
        climb[k + 1] /= total
    climb[n_rows] = 1.0
    scale, place = truthful(ends, climb, climb, n_rows + 1, finest)
    return append(i, f, size, scale, place) == size


@compiled
def append(i, f, size, scale, place):
    """Append a pair to the next pool; return where it stands, which is `size` if it is new."""
    for n in range(size):
        if i[AT_NEXT + 2 * n] == scale and i[AT_NEXT + 2 * n + 1] == place:
            return n
    i[AT_NEXT + 2 * size], i[AT_NEXT + 2 * size + 1] = scale, place
    f[AT_NEXT_SHARES + size] = 0.0
    if i[EXPECTED] == 1:  # all of the support learns, so each needs money of its own
        for k in range(i[N_GROUPS]):
            new_row(i, f, i[AT_NOW + k], scale, place)
    return size


@compiled
def drop(i, f, size, most):
    """Forget unlikely pairs of the next pool, the oldest first, down to `most`; return the size."""
    excess, kept = size - most, 0
    for n in range(size):
        if f[AT_NEXT_SHARES + n] <= 0.0 and excess > 0:
            excess -= 1
            continue
        i[AT_NEXT + 2 * kept], i[AT_NEXT + 2 * kept + 1] = (
            i[AT_NEXT + 2 * n],
            i[AT_NEXT + 2 * n + 1],
        )
        f[AT_NEXT_SHARES + kept] = f[AT_NEXT_SHARES + n]
        kept += 1
    return kept


@compiled
def recall(i, f, finest):
    """Copy the pool into the next one, without pairs that are too fine for this round."""
    size = 0
    for n in range(i[SIZE]):
        if i[AT_POOL + 2 * n] <= finest:
            i[AT_NEXT + 2 * size] = i[AT_POOL + 2 * n]
            i[AT_NEXT + 2 * size + 1] = i[AT_POOL + 2 * n + 1]
            f[AT_NEXT_SHARES + size] = f[AT_SHARES + n]
            size += 1
    return size


@compiled
def guard(i, f, size, work, whole):
    """Find a mixture that no outcome exploits, from the working set of the last one.

    The last mixture is kept while it is still good; else the game of the working set is solved to
    its optimum, and while its value is positive the truthful bin of its dual joins. The best
    mixture met is kept, and its gain is recorded. Where a tiny pivot may have spoiled the tableau
    (an outcome still gains) the game is solved again with care.
    """
    finest, limit = i[FINEST], TOLERANCE * f[WEALTH]
    most = KEPT if i[N_GROUPS] == 1 else KEPT_IN_GROUPS
    rows, basis = whole[:MOST_ROWS], whole[MOST_ROWS : 2 * MOST_ROWS]
    free, marks = whole[2 * MOST_ROWS : AT_MARKS], whole[AT_MARKS:]
    table = work[AT_TABLE:SCRATCH].reshape(MOST_ROWS + 1, MOST_COLUMNS + 1)
    if size == 0:
        size = append(i, f, np.int64(0), np.int64(0), np.int64(0)) + 1
    likely = 0.0
    for n in range(size):
        if f[AT_NEXT_SHARES + n] > 0.0:
            likely += f[AT_NEXT_SHARES + n]
            column = AT_COLUMNS + 4 * n
            pieces(i, f, i[AT_NEXT + 2 * n], i[AT_NEXT + 2 * n + 1], finest, work, column)
    best, known = math.inf, likely > 0.999999999
    if known:
        n_rows = lay_out(i, f, size, finest, rows, True)
        best = largest_gain(i, f, size, finest, work, rows, n_rows)
        if best <= 0.0:
            i[DID_REUSE] = 1
            f[GAIN] = 0.0
            return drop(i, f, size, most)
    for n in range(size):
        work[AT_BEST + n] = f[AT_NEXT_SHARES + n]
        if f[AT_NEXT_SHARES + n] <= 0.0:
            column = AT_COLUMNS + 4 * n
            pieces(i, f, i[AT_NEXT + 2 * n], i[AT_NEXT + 2 * n + 1], finest, work, column)
    for _ in range(MOST_SOLVES):
        n_rows = lay_out(i, f, size, finest, rows, False)
        fill(i, size, finest, work, rows, n_rows, table)
        i[DID_PIVOT] += solve_game(table, n_rows, size, basis, free)
        i[DID_SOLVE] += 1
        gain = gain_of(i, f, size, finest, work, rows, n_rows, table, basis)
        if gain > limit:
            repair(i, size, finest, work, rows, n_rows, table, basis, free, marks)
            gain = gain_of(i, f, size, finest, work, rows, n_rows, table, basis)
        if gain < best or (gain == best and known):
            fell, best, known = gain < best, gain, True
            for n in range(size):
                work[AT_BEST + n] = f[AT_NEXT_SHARES + n]
        else:
            fell = False
        if best <= limit:
            break
        if size == MOST_COLUMNS and fell:  # only then may pairs be dropped within a round
            kept = drop(i, f, size, MOST_COLUMNS // 2)
            if kept < size:
                size = kept
                for n in range(size):
                    work[AT_BEST + n] = f[AT_NEXT_SHARES + n]
                    column = AT_COLUMNS + 4 * n
                    pieces(i, f, i[AT_NEXT + 2 * n], i[AT_NEXT + 2 * n + 1], finest, work, column)
                continue
        if size == MOST_COLUMNS or not add_column(
            i, f, size, finest, table, free, work, rows, n_rows
        ):
            i[DID_STALL] = 1
            break
        column = AT_COLUMNS + 4 * size
        pieces(i, f, i[AT_NEXT + 2 * size], i[AT_NEXT + 2 * size + 1], finest, work, column)
        work[AT_BEST + size] = 0.0
        size += 1
        i[DID_ADD] += 1
    if not known:
        best = least_bad(i, size, work)
    for n in range(size):
        f[AT_NEXT_SHARES + n] = work[AT_BEST + n]
    f[GAIN] = max(best, 0.0) / f[WEALTH]
    return drop(i, f, size, most)


@compiled
def gain_of(i, f, size, finest, work, rows, n_rows, table, basis):
    """Write the mixture of a solved game into the next pool; return its largest gain."""
    if not unscale(f, table, n_rows, size, basis, work):
        return math.inf
    return largest_gain(i, f, size, finest, work, rows, n_rows)


@compiled
def least_bad(i, size, work):
    """Write the pair with the least gain as the best mixture, where no game was solved at all."""
    best, least = 0, math.inf
    for n in range(size):
        work[AT_BEST + n] = 0.0
        worst = worst_piece(i[AT_NEXT + 2 * n], i[AT_NEXT + 2 * n + 1], work, AT_COLUMNS + 4 * n)
        if worst < least:
            best, least = n, worst
    work[AT_BEST + best] = 1.0
    return least


# --- a round ---------------------------------------------------------------------------------


@compiled
def finest_of(i, f):
    """Return K of the coming round: gamma = 2^-K is the largest power of 1/2 that is allowed."""
    rounds = i[ROUNDS] + 1.0
    if i[HORIZON] > 0:
        rounds = float(i[HORIZON])
    elif i[RULE] == 1 and i[N_GROUPS] > 0:
        for k in range(i[N_GROUPS]):
            own = f[i[AT_FGROUPS] + GROUP * i[AT_NOW + k] + GROUP_PLAYED] + 1.0
            rounds = min(rounds, own)
    finest = np.int64(0)
    while size_of(finest) * math.sqrt(rounds) > f[C] and finest < MOST_SCALE:
        finest += 1
    return finest


@compiled
def drawn(i, f):
    """Return which pair of the next mixture the coin of this round picks.

    Pairs are taken in the order of their bins, so that engines with one coin and ordered mixtures
    draw ordered bins.
    """
    toss, total, last, low = coin(i[SEED], i[ROUNDS]), 0.0, np.int64(-1), -1.0
    while True:
        best, least = np.int64(-1), 2.0
        for n in range(i[NEXT_SIZE]):
            label = i[AT_NEXT + 2 * n + 1] * size_of(i[AT_NEXT + 2 * n])
            after = label > low or (label == low and n > last)
            if f[AT_NEXT_SHARES + n] > 0.0 and after and label < least:
                best, least = np.int64(n), label
        if best < 0:
            return last
        last, low = best, least
        total += f[AT_NEXT_SHARES + best]
        if toss < total:
            return last


@compiled
def prepare(i, f, nodes, left, right, count, point, work, whole):
    """Find the mixture of the coming round and draw from it.

    The groups of the round stand in the header. A belief is a law of v (see `truthful`) with
    `count` nodes, 0 for none; -1 where its truthful bin is known: scale `left[0]`, place
    `right[0]`. `point` is the number it would say by itself, NaN for none.
    """
    unmake(i)
    i[READY], i[MODE], i[AIMED], i[LASTING] = 1, GUARD, 0, i[ROWS]
    i[DID_REUSE], i[DID_SOLVE], i[DID_PIVOT], i[DID_ADD], i[DID_STALL] = 0, 0, 0, 0, 0
    f[GAIN], f[RESERVE] = 0.0, 0.0
    i[FINEST] = finest_of(i, f)
    if count != 0:
        i[AIMED] = 1
        if count > 0:
            i[AIM_SCALE], i[AIM_PLACE] = truthful(nodes, left, right, count, i[FINEST])
        else:
            i[AIM_SCALE], i[AIM_PLACE] = np.int64(left[0]), np.int64(right[0])
        pieces(i, f, i[AIM_SCALE], i[AIM_PLACE], i[FINEST], work, AT_COLUMNS)
        reserve = max(worst_piece(i[AIM_SCALE], i[AIM_PLACE], work, AT_COLUMNS), 0.0)
        if i[FOLLOWS] == 1 and 1.0 + f[MODEL] + f[RESERVED] + reserve <= f[CAP]:
            i[MODE], f[RESERVE] = FOLLOW, reserve
            append(i, f, np.int64(0), i[AIM_SCALE], i[AIM_PLACE])
            f[AT_NEXT_SHARES], i[NEXT_SIZE] = 1.0, 1
    if i[MODE] == GUARD:
        size = recall(i, f, i[FINEST])
        if i[EXPECTED] == 1:  # all of the support learns: it needs money in every group
            for n in range(size):
                for k in range(i[N_GROUPS]):
                    new_row(i, f, i[AT_NOW + k], i[AT_NEXT + 2 * n], i[AT_NEXT + 2 * n + 1])
        i[NEXT_SIZE] = guard(i, f, size, work, whole)
    i[CHOSEN] = drawn(i, f)
    refine(i, f, point, work)


@compiled
def look(i, f, nodes, left, right, count, point, out, work, whole):
    """Prepare a round and describe it in `out`.

    Which holds what is said, label, scale, round, spacing, whether the belief was followed, whether
    it was overruled, the size of the support, then for each pair of it bin, scale and probability.
    """
    prepare(i, f, nodes, left, right, count, point, work, whole)
    at = AT_NEXT + 2 * i[CHOSEN]
    hit = i[at] == i[AIM_SCALE] and i[at + 1] == i[AIM_PLACE]
    out[0], out[1], out[2] = f[SAID], i[at + 1] * size_of(i[at]), size_of(i[at])
    out[3], out[4], out[5] = i[ROUNDS], size_of(i[FINEST]), i[MODE]
    out[6] = 1.0 if i[AIMED] == 1 and not hit else 0.0
    size = 0
    for n in range(i[NEXT_SIZE]):
        if f[AT_NEXT_SHARES + n] > 0.0:
            scale = size_of(i[AT_NEXT + 2 * n])
            out[8 + 3 * size] = i[AT_NEXT + 2 * n + 1] * scale
            out[9 + 3 * size] = scale
            out[10 + 3 * size] = f[AT_NEXT_SHARES + n]
            size += 1
    out[7] = size


@compiled
def look_alone(i, f, out, work, whole):
    """Do `look` for a round of group 0 without a belief; return how many numbers `out` has.

    0 if there is no room for the round.
    """
    i[N_GROUPS], i[AT_NOW] = 1, 0
    if not has_room(i):
        return 0
    look(i, f, out, out, out, 0, math.nan, out, work, whole)
    return 8 + 3 * int(out[7])


@compiled
def refine(i, f, point, work):
    """Choose what is said under the drawn label: b, the belief's own number, or between them.

    A = sum of the free stakes against refining, B = for it, over the groups of the round. The
    number is said as it is while what that won the bettors against it stays under a cap; else
    lambda = B / (A + B), under which their wealth does not change at all.
    """
    scale, place = i[AT_NEXT + 2 * i[CHOSEN]], i[AT_NEXT + 2 * i[CHOSEN] + 1]
    label, reach = place * size_of(scale), 2.0 * size_of(scale)
    i[REFINE_MODE], f[LAMBDA], f[POINT], f[REFINE_RESERVE] = 0, 0.0, label, 0.0
    if i[REFINES] == 1 and not math.isnan(point):
        p = min(max(point, label - reach, 0.0), label + reach, 1.0)
        against, favour = 0.0, 0.0
        for k in range(i[N_GROUPS]):
            refine_escrow(i, f, i[AT_NOW + k], work)
            at, rate = i[AT_FGROUPS] + GROUP * i[AT_NOW + k], 0.5
            for j in range(N_RATES):
                against += rate * max(f[at + GROUP_AGAINST + j] - work[AT_ESCROW + j], 0.0)
                favour += rate * max(f[at + GROUP_FOR + j] - work[AT_ESCROW + N_RATES + j], 0.0)
                rate *= RATE_STEP
        f[POINT] = p
        f[REFINE_RESERVE] = against * abs(p - label)
        total = 1.0 + f[REFINE_MODEL] + f[REFINE_RESERVED] + f[REFINE_RESERVE]
        if total <= f[REFINE_CAP]:
            i[REFINE_MODE], f[LAMBDA] = 1, 1.0
        else:
            f[REFINE_RESERVE] = 0.0
            f[LAMBDA] = favour / (against + favour) if against + favour > 0.0 else 0.5
    said = label + f[LAMBDA] * (f[POINT] - label)
    f[SAID] = f[POINT] if f[LAMBDA] == 1.0 else said


@compiled
def refine_escrow(i, f, group, work):
    """Write the most that the open stakes on refining can lose into scratch, for one group."""
    for j in range(2 * N_RATES):
        work[AT_ESCROW + j] = 0.0
    slip = i[i[AT_GROUPS] + WHOLE_GROUP * group]
    while slip >= 0:
        at = i[AT_FSLIPS] + SLIP * slip
        far = abs(f[at + SLIP_POINT] - bin_of_slip(i, slip))
        share = f[at + SLIP_LAMBDA]
        for j in range(N_RATES):
            work[AT_ESCROW + j] += share * far * f[at + SLIP_AGAINST + j]
            work[AT_ESCROW + N_RATES + j] += (1.0 - share) * far * f[at + SLIP_FOR + j]
        slip = i[i[AT_SLIPS] + WHOLE_SLIP * slip + SLIP_OF_GROUP]


@compiled
def bin_of_slip(i, slip):
    """Return b of the pair of a slip."""
    at = i[AT_SLIPS] + WHOLE_SLIP * slip
    return i[at + SLIP_PLACE] * size_of(i[at + SLIP_SCALE])


@compiled
def has_room(i):
    """Return whether the coming round can be opened without growing anything."""
    slips = i[N_GROUPS] * (MOST_COLUMNS if i[EXPECTED] == 1 else 1)
    rows = i[ROWS] + i[N_GROUPS] * (MOST_NEW_ROWS if i[EXPECTED] == 1 else 1)
    for k in range(i[N_GROUPS]):
        if i[AT_NOW + k] >= i[GROUP_ROOM]:
            return False
    return rows <= i[ROW_ROOM] and 2 * rows <= i[INDEX_SIZE] and i[OPEN] + slips <= i[SLIP_ROOM]


@compiled
def open_round(i, f, work):
    """Open the round that was prepared: stake; return its first slip (or NO_ROOM)."""
    if i[EXPECTED] == 0 and not has_room(i):
        return np.int64(NO_ROOM)  # else room was made for all rows before they were made
    first = np.int64(-1)
    for n in range(i[NEXT_SIZE] - 1, -1, -1):
        share = f[AT_NEXT_SHARES + n]
        if n == i[CHOSEN] or (i[EXPECTED] == 1 and share > 0.0):
            share = share if i[EXPECTED] == 1 else 1.0
            for k in range(i[N_GROUPS] - 1, -1, -1):
                first = stake(i, f, i[AT_NOW + k], n, share, first, work)
    f[RESERVED] += f[RESERVE]
    f[REFINE_RESERVED] += f[REFINE_RESERVE]
    go_ahead(i, f)
    return first


@compiled
def go_ahead(i, f):
    """Make the round that was prepared a played one: what is counted, and the working set."""
    if i[MODE] == GUARD:  # which goes on from its own working set
        for n in range(i[NEXT_SIZE]):
            i[AT_POOL + 2 * n] = i[AT_NEXT + 2 * n]
            i[AT_POOL + 2 * n + 1] = i[AT_NEXT + 2 * n + 1]
            f[AT_SHARES + n] = f[AT_NEXT_SHARES + n]
        i[SIZE] = i[NEXT_SIZE]
    for k in range(i[N_GROUPS]):
        f[i[AT_FGROUPS] + GROUP * i[AT_NOW + k] + GROUP_PLAYED] += 1.0
    i[REUSED] += i[DID_REUSE]
    i[SOLVED] += i[DID_SOLVE]
    i[PIVOTS] += i[DID_PIVOT]
    i[ADDED] += i[DID_ADD]
    i[STALLED] += i[DID_STALL]
    f[GAINS] += f[GAIN]
    if i[MODE] == FOLLOW:
        i[FOLLOWED] += 1
    elif i[AIMED] == 1:
        at = AT_NEXT + 2 * i[CHOSEN]
        i[OVERRULED] += int(i[at] != i[AIM_SCALE] or i[at + 1] != i[AIM_PLACE])
    if i[REFINES] == 1 and i[REFINE_MODE] == 0 and f[POINT] != f[SAID]:
        i[UNREFINED] += 1
    i[ROUNDS] += 1
    i[READY] = 0


@compiled
def stake(i, f, group, n, share, following, work):
    """Open a slip for pair number n of the next pool in a group; return its number."""
    scale, place, finest = i[AT_NEXT + 2 * n], i[AT_NEXT + 2 * n + 1], i[FINEST]
    number = new_row(i, f, group, scale, place)
    slip = i[FREE_SLIP]
    at, stakes = i[AT_SLIPS] + WHOLE_SLIP * slip, i[AT_FSLIPS] + SLIP * slip
    i[FREE_SLIP] = i[at + SLIP_NEXT]
    i[OPEN] += 1
    i[at + SLIP_ROW], i[at + SLIP_OF_ROUND], i[at + SLIP_ROUND] = number, following, i[ROUNDS]
    i[at + SLIP_FINEST], i[at + SLIP_SCALE], i[at + SLIP_PLACE] = finest, scale, place
    i[at + SLIP_MODE], i[at + SLIP_GROUP], i[at + SLIP_EPOCH] = i[MODE], group, i[EPOCH]
    i[at + SLIP_CHOSEN] = 1 if n == i[CHOSEN] else 0
    f[stakes + SLIP_SHARE] = share
    f[stakes + SLIP_LAMBDA], f[stakes + SLIP_POINT] = f[LAMBDA], f[POINT]
    f[stakes + SLIP_SAID], f[stakes + SLIP_RESERVE] = f[SAID], f[RESERVE]
    f[stakes + SLIP_REFINE_RESERVE] = f[REFINE_RESERVE]
    row = i[AT_ROWS] + WHOLE_ROW * number
    is_open = i[row + FIRST_SLIP] >= 0
    if is_open:
        escrow(i, f, number, work)
    wealth = i[AT_FROWS] + ROW * number + PRODUCTS
    for claim in range(4):
        awake, rate = alive(claim, scale, place, finest), 0.5 * share
        for k in range(N_RATES * claim, N_RATES * (claim + 1)):
            free = f[wealth + k]
            if is_open:
                free = max(free - work[AT_ESCROW + k], 0.0)
            f[stakes + SLIP_STAKES + k] = rate * free if awake else 0.0
            rate *= RATE_STEP
    i[at + SLIP_NEXT] = i[row + FIRST_SLIP]
    i[row + FIRST_SLIP] = slip
    i[at + SLIP_REFINES] = 0
    if i[at + SLIP_CHOSEN] == 1 and i[REFINES] == 1 and f[POINT] != bin_of_slip(i, slip):
        stake_refining(i, f, group, slip, work)
    return slip


@compiled
def stake_refining(i, f, group, slip, work):
    """Stake on and against refining, for one group."""
    at, stakes = i[AT_SLIPS] + WHOLE_SLIP * slip, i[AT_FSLIPS] + SLIP * slip
    refine_escrow(i, f, group, work)
    wealth, rate = i[AT_FGROUPS] + GROUP * group, 0.5
    for j in range(N_RATES):
        free = max(f[wealth + GROUP_AGAINST + j] - work[AT_ESCROW + j], 0.0)
        f[stakes + SLIP_AGAINST + j] = rate * free
        free = max(f[wealth + GROUP_FOR + j] - work[AT_ESCROW + N_RATES + j], 0.0)
        f[stakes + SLIP_FOR + j] = rate * free
        rate *= RATE_STEP
    i[at + SLIP_REFINES] = 1
    i[at + SLIP_OF_GROUP] = i[i[AT_GROUPS] + WHOLE_GROUP * group]
    i[i[AT_GROUPS] + WHOLE_GROUP * group] = slip


@compiled
def release(i, slip):
    """Take a slip out of the lists of its row and its group, and free it."""
    at = i[AT_SLIPS] + WHOLE_SLIP * slip
    valid = i[at + SLIP_EPOCH] == i[EPOCH]
    if valid:
        link = i[AT_ROWS] + WHOLE_ROW * i[at + SLIP_ROW] + FIRST_SLIP
        while i[link] != slip:
            link = i[AT_SLIPS] + WHOLE_SLIP * i[link] + SLIP_NEXT
        i[link] = i[at + SLIP_NEXT]
    if valid and i[at + SLIP_REFINES] == 1:
        link = i[AT_GROUPS] + WHOLE_GROUP * i[at + SLIP_GROUP]
        while i[link] != slip:
            link = i[AT_SLIPS] + WHOLE_SLIP * i[link] + SLIP_OF_GROUP
        i[link] = i[at + SLIP_OF_GROUP]
    i[at + SLIP_NEXT] = i[FREE_SLIP]
    i[FREE_SLIP] = slip
    i[OPEN] -= 1


@compiled
def settle(i, f, first, seen, said_more, point_more, work):
    """Pay out the stakes of a round, from its first slip on.

    `seen[n]` are Pr[v > b+2r], Pr[v < b-2r], Pr[v >= b], Pr[v <= b] for the round's n-th slip under
    the loss of the round. `said_more` is the loss of what was said less that of the label,
    `point_more` the same for the belief's own number, both divided by the Lipschitz constant.
    """
    if not is_valid(i, first):
        abandon(i, f, first, work)
        return
    slip, n, change, refined = first, 0, 0.0, 0.0
    at, stakes = i[AT_SLIPS] + WHOLE_SLIP * first, i[AT_FSLIPS] + SLIP * first
    followed = i[at + SLIP_MODE] == FOLLOW
    f[RESERVED] = max(f[RESERVED] - f[stakes + SLIP_RESERVE], 0.0)
    f[REFINE_RESERVED] = max(f[REFINE_RESERVED] - f[stakes + SLIP_REFINE_RESERVE], 0.0)
    while slip >= 0:
        at = i[AT_SLIPS] + WHOLE_SLIP * slip
        following, number = i[at + SLIP_OF_ROUND], i[at + SLIP_ROW]
        change += pay(i, f, slip, seen[n])
        if i[at + SLIP_CHOSEN] == 1:
            refined += pay_refining(i, f, slip, said_more, point_more)
        release(i, slip)
        weigh(i, f, number, work)
        slip, n = following, n + 1
    f[REFINED] += said_more
    f[REFINE_MODEL] += refined
    if i[OPEN] == 0:  # no rounding is left behind
        f[RESERVED], f[REFINE_RESERVED] = 0.0, 0.0
    enrich(f, change, followed)


@compiled
def enrich(f, change, followed):
    """Count what all bettors gained in a round."""
    f[WEALTH] += change
    f[PEAK] = max(f[PEAK], f[WEALTH])
    if followed:
        f[MODEL] += change


@compiled
def exceeded(claim, scale, finest, seen):
    """Return u: by how much a claim turned out to be exceeded."""
    level = threshold(claim, scale, finest)
    return seen[claim] - level if claim < 2 else level - seen[claim]


@compiled
def pay(i, f, slip, seen):
    """Pay out the stakes of one slip and count the round; return what all its bettors gained."""
    at, stakes = i[AT_SLIPS] + WHOLE_SLIP * slip, i[AT_FSLIPS] + SLIP * slip
    row = i[AT_FROWS] + ROW * i[at + SLIP_ROW]
    scale, finest, share = i[at + SLIP_SCALE], i[at + SLIP_FINEST], f[stakes + SLIP_SHARE]
    change = 0.0
    f[row + PLAYED] += share
    for claim in range(4):
        f[row + SUMS + claim] += share * seen[claim]
        if not alive(claim, scale, i[at + SLIP_PLACE], finest):
            continue
        off, won = exceeded(claim, scale, finest, seen), 0.0
        for k in range(N_RATES * claim, N_RATES * (claim + 1)):
            gain = f[stakes + SLIP_STAKES + k] * off
            won += gain
            f[row + PRODUCTS + k] = min(max(f[row + PRODUCTS + k] + gain, POOREST), RICHEST)
        change += won
    return change


@compiled
def pay_at_once(i, f, number, scale, place, seen):
    """Do what `stake`, `pay` and `weigh` do where nothing is open, without writing a slip."""
    row, finest, change = i[AT_FROWS] + ROW * number, i[FINEST], 0.0
    f[row + PLAYED] += 1.0
    for claim in range(4):
        f[row + SUMS + claim] += seen[claim]
        awake = alive(claim, scale, place, finest)
        off = exceeded(claim, scale, finest, seen) if awake else 0.0
        won, total, rate = 0.0, 0.0, 0.5
        for k in range(N_RATES * claim, N_RATES * (claim + 1)):
            gain = rate * f[row + PRODUCTS + k] * off
            won += gain
            value = min(max(f[row + PRODUCTS + k] + gain, POOREST), RICHEST)
            f[row + PRODUCTS + k] = value
            total += rate * value
            rate *= RATE_STEP
        f[row + WEIGHTS + claim] = total
        change += won
    return change


@compiled
def pay_refining(i, f, slip, said_more, point_more):
    """Pay out the stakes on refining of one slip; return what its bettors gained."""
    at, stakes = i[AT_SLIPS] + WHOLE_SLIP * slip, i[AT_FSLIPS] + SLIP * slip
    group = i[AT_FGROUPS] + GROUP * i[at + SLIP_GROUP]
    f[group + GROUP_REFINED] += said_more
    f[i[AT_FROWS] + ROW * i[at + SLIP_ROW] + REFINED_HERE] += said_more
    if i[at + SLIP_REFINES] == 0:
        return 0.0
    share, change = f[stakes + SLIP_LAMBDA], 0.0
    for j in range(N_RATES):
        gain = share * point_more * f[stakes + SLIP_AGAINST + j]
        change += gain
        value = f[group + GROUP_AGAINST + j] + gain
        f[group + GROUP_AGAINST + j] = min(max(value, POOREST), RICHEST)
        gain = -(1.0 - share) * point_more * f[stakes + SLIP_FOR + j]
        change += gain
        value = f[group + GROUP_FOR + j] + gain
        f[group + GROUP_FOR + j] = min(max(value, POOREST), RICHEST)
    return change


@compiled
def abandon(i, f, first, work):
    """Close a round without an outcome: all stakes are returned."""
    stakes, valid = i[AT_FSLIPS] + SLIP * first, is_valid(i, first)
    if valid:
        f[RESERVED] = max(f[RESERVED] - f[stakes + SLIP_RESERVE], 0.0)
        f[REFINE_RESERVED] = max(f[REFINE_RESERVED] - f[stakes + SLIP_REFINE_RESERVE], 0.0)
    slip = first
    while slip >= 0:
        at = i[AT_SLIPS] + WHOLE_SLIP * slip
        following, number = i[at + SLIP_OF_ROUND], i[at + SLIP_ROW]
        release(i, slip)
        if valid:
            weigh(i, f, number, work)
        slip = following


@compiled
def is_valid(i, slip):
    """Return whether the evidence that a slip staked on has not been forgotten since."""
    return i[i[AT_SLIPS] + WHOLE_SLIP * slip + SLIP_EPOCH] == i[EPOCH]


@compiled
def forget(i, f):
    """Forget all evidence, as at a known break; open rounds will teach nothing."""
    for slot in range(i[INDEX_SIZE]):
        i[i[AT_INDEX] + slot] = 0
    i[ROWS], i[SIZE], i[READY] = 0, 0, 0
    f[WEALTH], f[MODEL], f[RESERVED], f[REFINE_MODEL], f[REFINE_RESERVED] = 1.0, 0.0, 0.0, 0.0, 0.0
    f[REFINED] = 0.0
    i[EPOCH] += 1
    i[SINCE] = i[ROUNDS]
    for group in range(i[GROUP_ROOM]):
        i[i[AT_GROUPS] + WHOLE_GROUP * group] = -1
        at = i[AT_FGROUPS] + GROUP * group
        f[at + GROUP_REFINED] = 0.0
        for k in range(2 * N_RATES):
            f[at + GROUP_AGAINST + k] = 0.5 / ((group + 1.0) * (group + 2.0) * N_RATES)


@compiled
def shifted(scale, place, upper):
    """Return the place of a bin in twice the interval, one scale finer; `upper` if it grew down."""
    return place + (np.int64(1) << scale) if upper else place


@compiled
def double(i, f, upper):
    """Let the unit interval be half of a new one, its upper half if `upper`.

    All pairs keep their place in the user's units and so become one scale finer. What is too fine
    for a name sleeps for good, under a negative key.
    """
    unmake(i)
    for slot in range(i[INDEX_SIZE]):
        i[i[AT_INDEX] + slot] = 0
    for number in range(i[ROWS]):
        f[i[AT_FROWS] + ROW * number + REFINED_HERE] *= 0.5
        at = i[AT_ROWS] + WHOLE_ROW * number + KEY
        key = abs(i[at])
        group, rest = key >> 42, key & ((np.int64(1) << 42) - 1)
        scale = np.int64(0)
        while (np.int64(2) << scale) + scale + 1 <= rest:
            scale += 1
        place = shifted(scale, rest - scale - (np.int64(1) << scale), upper)
        if scale >= MOST_SCALE:
            i[at] = -key_of(group, scale, place >> 1)
            continue
        i[at] = key_of(group, scale + 1, place)
        i[slot_of(i, i[at])] = number + 1
    kept = 0
    for n in range(i[SIZE]):
        scale, place = i[AT_POOL + 2 * n], i[AT_POOL + 2 * n + 1]
        if scale < MOST_SCALE:
            i[AT_POOL + 2 * kept], i[AT_POOL + 2 * kept + 1] = (
                scale + 1,
                shifted(scale, place, upper),
            )
            f[AT_SHARES + kept] = f[AT_SHARES + n]
            kept += 1
    i[SIZE], i[READY] = kept, 0
    f[REFINED] *= 0.5
    for group in range(i[GROUP_ROOM]):
        f[i[AT_FGROUPS] + GROUP * group + GROUP_REFINED] *= 0.5
    for number in range(i[ROWS]):
        slip = i[i[AT_ROWS] + WHOLE_ROW * number + FIRST_SLIP]
        while slip >= 0:
            at, stakes = i[AT_SLIPS] + WHOLE_SLIP * slip, i[AT_FSLIPS] + SLIP * slip
            i[at + SLIP_PLACE] = shifted(i[at + SLIP_SCALE], i[at + SLIP_PLACE], upper)
            i[at + SLIP_SCALE] += 1
            i[at + SLIP_FINEST] += 1
            base = 0.5 if upper else 0.0
            f[stakes + SLIP_POINT] = base + 0.5 * f[stakes + SLIP_POINT]
            f[stakes + SLIP_SAID] = base + 0.5 * f[stakes + SLIP_SAID]
            for j in range(N_RATES):
                f[stakes + SLIP_AGAINST + j] *= 2.0  # what refining can lose is half as much now
                f[stakes + SLIP_FOR + j] *= 2.0
            slip = i[at + SLIP_NEXT]


@compiled
def weigh_open(i, f, first, work):
    """Put the weights of the rows of an open round right: its stakes are in escrow."""
    slip = first
    while slip >= 0:
        at = i[AT_SLIPS] + WHOLE_SLIP * slip
        weigh(i, f, i[at + SLIP_ROW], work)
        slip = i[at + SLIP_OF_ROUND]


# --- losses ----------------------------------------------------------------------------------
#
# A loss is a row of 16 numbers: kind, Lipschitz constant, v, two parameters, then up to 5 knots and
# 6 slopes of a piecewise-linear one.

POINTED, SQUARED, HUBER, KINKED = 0.0, 1.0, 2.0, 3.0
KIND, STEEPEST, OUTCOME, FIRST, SECOND, KNOTS, SLOPES = 0, 1, 2, 3, 4, 5, 10
LOSS = 16


@compiled
def slope(loss, x, from_right):
    """Return the one-sided slope of a loss at x, inside (0, 1)."""
    v = loss[OUTCOME]
    if loss[KIND] == POINTED:  # slopes FIRST before v and SECOND after it
        after = x >= v if from_right else x > v
        return loss[SECOND] if after else loss[FIRST]
    if loss[KIND] == SQUARED:  # FIRST (v - x)^2 below v, SECOND (x - v)^2 above
        return 2.0 * (loss[FIRST] if x < v else loss[SECOND]) * (x - v)
    if loss[KIND] == HUBER:  # (x - v)^2 / 2 within FIRST of v
        return min(max(x - v, -loss[FIRST]), loss[FIRST])
    value = loss[SLOPES]
    for k in range(5):  # as many knots as FIRST says
        if k < loss[FIRST]:
            after = x >= loss[KNOTS + k] if from_right else x > loss[KNOTS + k]
            value = loss[SLOPES + k + 1] if after else value
    return value


@compiled
def more(loss, x, base):
    """Return the loss at x less the loss at `base`, divided by the Lipschitz constant."""
    if x == base:
        return 0.0
    v = loss[OUTCOME]
    total = 0.0
    if loss[KIND] == POINTED:
        total = (loss[FIRST] if x < v else loss[SECOND]) * (x - v)
        total -= (loss[FIRST] if base < v else loss[SECOND]) * (base - v)
    elif loss[KIND] == SQUARED:
        total = (loss[FIRST] if x < v else loss[SECOND]) * (x - v) ** 2
        total -= (loss[FIRST] if base < v else loss[SECOND]) * (base - v) ** 2
    elif loss[KIND] == HUBER:
        for sign, at in ((1.0, abs(x - v)), (-1.0, abs(base - v))):
            near = at <= loss[FIRST]
            value = at * at / 2.0 if near else loss[FIRST] * (at - loss[FIRST] / 2.0)
            total += sign * value
    else:
        low, high = min(x, base), max(x, base)
        start, value = low, loss[SLOPES]
        for k in range(5):
            if k < loss[FIRST]:
                knot = loss[KNOTS + k]
                if knot > start:
                    total += value * (min(knot, high) - start)
                    start = min(knot, high)
                value = loss[SLOPES + k + 1]
        total += value * (high - start)
        total = total if x > base else -total
    return total / loss[STEEPEST]


@compiled
def observe(loss, scale, place, out):
    """Write the four probabilities of a loss for a pair; beyond the ends nothing lies."""
    size, steepest = size_of(scale), loss[STEEPEST]
    label, up, down = place * size, (place + 2) * size, (place - 2) * size
    ends = loss[KIND] != POINTED  # whose range may grow: the slopes beyond it count then
    out[0] = 0.0 if ends and up >= 1.0 else (1.0 - slope(loss, up, True) / steepest) / 2.0
    out[1] = 0.0 if ends and down <= 0.0 else (1.0 + slope(loss, down, False) / steepest) / 2.0
    out[2] = 1.0 if ends and label <= 0.0 else (1.0 - slope(loss, label, False) / steepest) / 2.0
    out[3] = 1.0 if ends and label >= 1.0 else (1.0 + slope(loss, label, True) / steepest) / 2.0


@compiled
def learn(i, f, first, loss, seen, work):
    """Settle a round with a loss of a known kind."""
    slip, n, chosen = first, 0, first
    while slip >= 0:
        at = i[AT_SLIPS] + WHOLE_SLIP * slip
        observe(loss, i[at + SLIP_SCALE], i[at + SLIP_PLACE], seen[n])
        if i[at + SLIP_CHOSEN] == 1:
            chosen = slip
        slip, n = i[at + SLIP_OF_ROUND], n + 1
    at, label = i[AT_FSLIPS] + SLIP * chosen, bin_of_slip(i, chosen)
    said_more = more(loss, f[at + SLIP_SAID], label)
    point_more = more(loss, f[at + SLIP_POINT], label)
    settle(i, f, first, seen, said_more, point_more, work)


@compiled
def step(i, f, loss, seen, work):
    """Open the prepared round and settle it at once, with a loss of a known kind.

    Where nothing is open, nothing refined and only the drawn bin learns, slips are not needed.
    """
    scale, place = i[AT_NEXT + 2 * i[CHOSEN]], i[AT_NEXT + 2 * i[CHOSEN] + 1]
    if i[OPEN] > 0 or i[EXPECTED] == 1 or f[POINT] != place * size_of(scale):
        learn(i, f, open_round(i, f, work), loss, seen, work)
        return
    observe(loss, scale, place, seen[0])
    for k in range(i[N_GROUPS] - 1, -1, -1):  # visited in the order of `open_round`
        new_row(i, f, i[AT_NOW + k], scale, place)
    change = 0.0
    for k in range(i[N_GROUPS]):
        number = row_of(i, i[AT_NOW + k], scale, place)
        change += pay_at_once(i, f, number, scale, place, seen[0])
    enrich(f, change, i[MODE] == FOLLOW)
    go_ahead(i, f)


@compiled
def step_with(i, f, loss, kind, steepest, outcome, first, second, seen, work):
    """Do `step` with the loss of these numbers, which are written into `loss`."""
    loss[KIND], loss[STEEPEST], loss[OUTCOME] = kind, steepest, outcome
    loss[FIRST], loss[SECOND] = first, second
    step(i, f, loss, seen, work)


# --- whole runs ------------------------------------------------------------------------------


@compiled
def play(
    i, f, losses, outcomes, first, starts, order, groups, nodes, left, right, points, slips, said,
    labels, notes, seen, work, whole,
):  # fmt: skip
    """Play rounds with given losses from number `first` on.

    `losses` has a row each round, or one for all, into which `outcomes` (T,) are written; NaN says
    that the outcome is never known. Before round t is forecast, the rounds
    `order[starts[t] : starts[t + 1]]` are settled. Shapes: `starts` (T + 2,), `order` (at most T,),
    `groups` (T or 1, n), belief arrays (T, 1 or 0, n), `points` (T or 0,);
    written to: `slips`, `said` (T,), `labels` (T, 2), `notes` (T, 2) with mode and lambda.
    Returns the number of the first round that was not opened: there was no room for it.
    """
    rounds = outcomes.size
    for number in range(first, rounds):
        for k in range(starts[number], starts[number + 1]):
            answer(i, f, order[k], losses, outcomes, slips, seen, work)
        at = number if groups.shape[0] > 1 else 0
        i[N_GROUPS] = groups.shape[1]
        for k in range(groups.shape[1]):
            i[AT_NOW + k] = groups[at, k]
        if not has_room(i):
            return number
        at = number if nodes.shape[0] > 1 else 0
        count = nodes.shape[1] if nodes.shape[0] > 0 else 0
        law = number if left.shape[0] > 1 else 0
        point = points[number] if points.size > 0 else math.nan
        prepare(i, f, nodes[at], left[law], right[law], count, point, work, whole)
        said[number] = f[SAID]
        labels[number, 0] = i[AT_NEXT + 2 * i[CHOSEN]]
        labels[number, 1] = i[AT_NEXT + 2 * i[CHOSEN] + 1]
        notes[number, 0], notes[number, 1] = i[MODE], f[LAMBDA]
        soon = starts[number + 1]
        next_known = soon < starts[number + 2] and order[soon] == number
        if next_known and not math.isnan(outcomes[number]):
            step(i, f, losses[put(losses, outcomes, number)], seen, work)
        else:
            slips[number] = open_round(i, f, work)
            weigh_open(i, f, slips[number], work)
    for k in range(starts[rounds], starts[rounds + 1]):
        answer(i, f, order[k], losses, outcomes, slips, seen, work)
    return rounds


@compiled
def put(losses, outcomes, number):
    """Write the outcome of a round into the row of its loss; return which row that is."""
    at = number if losses.shape[0] > 1 else 0
    losses[at, OUTCOME] = outcomes[number]
    return at


@compiled
def answer(i, f, number, losses, outcomes, slips, seen, work):
    """Settle round `number` of a run, or abandon it where its outcome is missing."""
    if slips[number] < 0:
        return  # before the state was given more room
    if math.isnan(outcomes[number]):
        abandon(i, f, slips[number], work)
    else:
        learn(i, f, slips[number], losses[put(losses, outcomes, number)], seen, work)
    slips[number] = -1


# --- streams in the user's units ---------------------------------------------------------------
#
# A stream is an engine with a range and a memory of errors, in one more array `z`: a header, then
# the last errors in order of arrival, then the same sorted. What is forecast is a template loss.

LOW, WIDTH, BOUNDED, RANGED, CLIPPED, DOUBLED, ERRORS, HEAD, WINDOW, STEERS, OTHER = range(11)
SAID_COST, RAW_COST, LABEL_COST, N_SCORED, N_RAW, N_BELOW, N_EQUAL, N_MISSING, UNGUARDED = range(
    11, 20
)
# the steering: how many experts of each kind, then where their numbers stand
RAW, SCALED, MOVED, FITTED, RELATIVE, STANDARD, OUTRIGHT, PLATT = 4, 6, 3, 2, 4, 2, 2, 1
EXPERTS = RAW + SCALED + MOVED + FITTED + RELATIVE + STANDARD + OUTRIGHT + PLATT + 3
SCALES = 6  # by which errors are made alike
FEATURES = 7
AT_SPREAD, AT_VOLATILITY, AT_RELATIVE, AT_LAST, AT_TYPICAL = 20, 21, 24, 26, 28
AT_THETAS = 29  # of raw, scaled, moved and relative experts
AT_PLACES = AT_THETAS + RAW + SCALED + MOVED + RELATIVE + STANDARD
AT_SPREADS = AT_PLACES + MOVED
AT_FITS = AT_SPREADS + MOVED
AT_SQUARES = AT_FITS + FITTED * FEATURES
AT_LEADS = AT_SQUARES + FITTED * FEATURES
AT_LEAD_SQUARES = AT_LEADS + EXPERTS
AT_BATCH = AT_LEAD_SQUARES + EXPERTS  # leads in outcomes that came together, then their round
# the licence to play what the steering aims at: a slow constant, what was saved against constants
AT_LICENCE = AT_BATCH + EXPERTS + 1
CONSTANTS, CELLS = 6, 18
REFERENCE, REFERENCE_SPREAD, JUDGED, FOLLOWED_JUDGED, WAITS, ALARMS, QUIET = range(
    AT_LICENCE, AT_LICENCE + 7
)
AT_SAVED = QUIET + 1
AT_SAVED_SQUARES = AT_SAVED + CONSTANTS
AT_FOLLOWED = AT_SAVED_SQUARES + CONSTANTS
AT_FOLLOWED_SQUARES = AT_FOLLOWED + CONSTANTS
AT_MISSES = AT_FOLLOWED_SQUARES + CONSTANTS  # of each cell and side
# sizes of errors mixed by their costs; the outcome alone; Platt's slope, shift and matrix; parts
AT_SCALE_COSTS = AT_MISSES + 2 * CELLS
OUTRIGHT_PLACE, ANCHOR_MEAN, ANCHOR_SPREAD, PLATT_SLOPE, PLATT_SHIFT, AT_PLATT = range(
    AT_SCALE_COSTS + SCALES, AT_SCALE_COSTS + SCALES + 6
)
LEFT_OUT = AT_PLATT + 3  # the sum of 2^k over the kinds of experts that are left out: see KINDS
JUDGED_AT = LEFT_OUT + 1  # the round of the savings that came last, together, and these
AT_PENDING = JUDGED_AT + 1
AT_FOLLOWED_PENDING = AT_PENDING + CONSTANTS
FRACTIONS = AT_FOLLOWED_PENDING + CONSTANTS  # how many outcomes were neither 0 nor 1
TOGETHER, TOGETHER_AT = FRACTIONS + 1, FRACTIONS + 2  # outcomes since the last forecast; its round
STREAM = TOGETHER_AT + 1
# what an open forecast must remember: the experts' numbers and what they were made from
MEMO_MIX = EXPERTS
MEMO_FEATURES = EXPERTS + 1
MEMO_VOLATILITY = MEMO_FEATURES + FEATURES
MEMO_PLACES = MEMO_VOLATILITY + 3
MEMO_SPREADS = MEMO_PLACES + MOVED
MEMO_RELATIVE = MEMO_SPREADS + MOVED
MEMO_POINT, MEMO_CONSTANT, MEMO_REFINED, MEMO_FOLLOWED, MEMO_WATCHED, MEMO_OPEN = range(
    MEMO_RELATIVE + 2, MEMO_RELATIVE + 8
)
MEMO_SCALE, MEMO_SPREAD = MEMO_OPEN + 1, MEMO_OPEN + 2
MEMO = MEMO_SPREAD + 1
MOST_DOUBLINGS = 2000
PRIOR_ERRORS = 2.0  # as many errors as the uniform law on the range counts for
FEWEST_ERRORS = 8  # before there is a belief at all


@compiled
def to_unit(z, y):
    """Return a number of the user as one of [0, 1]."""
    return min(max((y - z[LOW]) / z[WIDTH], 0.0), 1.0)


@compiled
def to_user(z, x):
    """Return a number of [0, 1] in the user's units."""
    return z[LOW] + z[WIDTH] * x


@compiled
def start_range(z, y, anchor):
    """Choose the first range from the first outcome, and the forecast if there is one."""
    error = abs(y - anchor) if not math.isnan(anchor) else 0.0
    wanted = max(4.0 * error, abs(y) / 1024.0)
    reach = 1.0 / 1024.0
    if wanted > 0.0:
        while reach < wanted:
            reach *= 2.0
        while 0.5 * reach >= wanted and reach > 1e-290:
            reach *= 0.5
    z[LOW], z[WIDTH], z[RANGED] = y - reach, 2.0 * reach, 1.0


@compiled
def widen(i, f, z, y, restart):
    """Double the range until an outcome is inside; forget the evidence if its unit has changed."""
    grew = False
    for _ in range(MOST_DOUBLINGS):
        above, below = y > z[LOW] + z[WIDTH], y < z[LOW]
        if not above and not below:
            break
        grew = True
        z[DOUBLED] += 1.0
        if not restart:
            double(i, f, below)
        if below:
            z[LOW] -= z[WIDTH]
        z[WIDTH] *= 2.0
    if grew and restart:
        forget(i, f)


@compiled
def keep_error(z, error):
    """Add an error to the window, dropping the oldest when it is full."""
    count, window = int(z[ERRORS]), int(z[WINDOW])
    head, ordered = STREAM + int(z[HEAD]), STREAM + window
    at = ordered + count
    if count == window:
        at = ordered
        while z[at] != z[head]:
            at += 1
        last = ordered + window - 1
        while at < last and z[at + 1] < error:
            z[at] = z[at + 1]
            at += 1
    else:
        z[ERRORS] += 1.0
    while at > ordered and z[at - 1] > error:
        z[at] = z[at - 1]
        at -= 1
    z[at], z[head] = error, error
    z[HEAD] = (int(z[HEAD]) + 1) % window


@compiled
def believe(z, base, stretch, nodes, heights):
    """Write the law of the outcome after past errors, on [0, 1]; return how many nodes it has.

    It is `base` plus `stretch` times the errors. F goes in lines between the nodes, a jump being a
    line between equal nodes: (k - 1/2) of n at the k-th error, mixed with a uniform law that counts
    as two errors.
    """
    count, ordered = int(z[ERRORS]), STREAM + int(z[WINDOW])
    total = count + PRIOR_ERRORS
    nodes[0], heights[0] = 0.0, 0.0
    for k in range(count):
        x = to_unit(z, base + stretch * z[ordered + k])
        nodes[k + 1], heights[k + 1] = x, (k + 0.5 + PRIOR_ERRORS * x) / total
    nodes[count + 1], heights[count + 1] = 1.0, 1.0
    return count + 2


@compiled
def believe_binary(p, nodes, heights):
    """Write the law of an outcome that is 1 with probability p, else 0; return its nodes."""
    nodes[0], nodes[1], nodes[2], nodes[3] = 0.0, 0.0, 1.0, 1.0
    heights[0], heights[1], heights[2], heights[3] = 0.0, 1.0 - p, 1.0 - p, 1.0
    return 4


@compiled
def law_of_kink(loss, count, nodes, heights, kinks, climb):
    """Turn a law of the outcome into that of v, where the mean loss has its kinks.

    F_v(x) = (1 + E slope(x) / L) / 2 inside (0, 1), 0 before and 1 after; written to `kinks` and
    `climb`. Returns how many nodes it has. Its median is the best forecast under the law.
    """
    mean, over = 1.0, 0.0
    for k in range(1, count):
        mean -= (nodes[k] - nodes[k - 1]) * (heights[k] + heights[k - 1]) / 2.0
    kinks[0], climb[0], last = 0.0, 0.0, 0.0
    for k in range(count):
        if loss[KIND] == POINTED:
            gradient = loss[FIRST] + (loss[SECOND] - loss[FIRST]) * heights[k]
        else:  # E (x - y)+ and E (y - x)+, both doubled
            if k > 0:
                over += (nodes[k] - nodes[k - 1]) * (heights[k] + heights[k - 1]) / 2.0
            under = over + mean - nodes[k]
            gradient = 2.0 * (loss[SECOND] * over - loss[FIRST] * under)
        last = min(max((1.0 + gradient / loss[STEEPEST]) / 2.0, last), 1.0)
        kinks[k + 1], climb[k + 1] = nodes[k], last
    kinks[count + 1], climb[count + 1] = 1.0, 1.0
    return count + 2


@compiled
def median_of(nodes, heights, count):
    """Return the lowest median of a law that goes in lines between its nodes."""
    k = 0
    while k < count - 1 and heights[k] < 0.5:
        k += 1
    if k == 0 or heights[k] == 0.5:
        return nodes[k]
    share = (0.5 - heights[k - 1]) / (heights[k] - heights[k - 1])
    return nodes[k - 1] + min(share, 1.0) * (nodes[k] - nodes[k - 1])


@compiled
def ask(i, f, z, loss, anchor, own, law, memo, work, whole):
    """Prepare the forecast of a stream; what is said stands in f[SAID], on [0, 1].

    `law` has four rows of scratch: the law of the outcome, then that of the kink. `own` is the
    number of nodes of the user's own law of the outcome in the first two rows, in the user's units;
    0 for none. `memo` is written: `tell` wants it back.
    """
    count, point = 0, math.nan
    for k in range(MEMO):
        memo[k] = 0.0
    steers = z[STEERS] == 1.0 and own == 0
    if steers:
        steer(z, loss, anchor, memo)
    if own > 0:
        for k in range(own):
            law[0, k] = to_unit(z, law[0, k])
        count = law_of_kink(loss, own, law[0], law[1], law[2], law[3])
        point = median_of(law[2], law[3], count)
    elif (z[ERRORS] >= FEWEST_ERRORS and (steers or not math.isnan(anchor))) or (
        steers and is_chance(z, loss, anchor)
    ):
        base = 0.0 if math.isnan(anchor) else anchor
        stretch = 1.0
        if steers:  # errors as wide as they are now, around what the experts say
            stretch = memo[MEMO_SCALE]
            base += memo[MEMO_MIX]
        elif z[OTHER] == 1.0:
            base += middle_error(z, loss)
        point = to_unit(z, base)
        if steers:
            memo[MEMO_POINT], memo[MEMO_CONSTANT] = base, z[REFERENCE]
            memo[MEMO_OPEN] = 1.0 + i[OPEN]
        if steers and is_binary(z, loss):
            count = believe_binary(point, law[0], law[1])
        else:
            base -= stretch * middle_error(z, loss)
            count = believe(z, base, stretch, law[0], law[1])
        count = law_of_kink(loss, count, law[0], law[1], law[2], law[3])
    elif not math.isnan(anchor):
        point = to_unit(z, anchor)
    follows, wanted = i[FOLLOWS], point
    if steers:
        alone = math.isnan(anchor)
        licensed = is_licensed(z, alone)
        memo[MEMO_WATCHED] = 1.0 if alone or not licensed else 0.0
        if not licensed or (alone and z[WAITS] > 0.0):
            i[FOLLOWS] = 0
        if memo[MEMO_WATCHED] == 1.0 and z[WAITS] > 0.0:
            point = math.nan
    prepare(i, f, law[2], law[3], law[3], count, point, work, whole)
    i[FOLLOWS] = follows
    if memo[MEMO_OPEN] > 0.0:
        at = AT_NEXT + 2 * i[CHOSEN]
        label, reach = i[at + 1] * size_of(i[at]), 2.0 * size_of(i[at])
        refined = min(max(wanted, label - reach, 0.0), label + reach, 1.0)
        memo[MEMO_REFINED] = to_user(z, refined)
        memo[MEMO_FOLLOWED] = 1.0 if i[MODE] == FOLLOW else 0.0


@compiled
def middle_error(z, loss):
    """Return the best constant for the errors in the window: their quantile or their mean."""
    count, ordered = int(z[ERRORS]), STREAM + int(z[WINDOW])
    if count == 0:
        return 0.0
    if loss[KIND] != POINTED:
        total = 0.0
        for k in range(count):
            total += z[ordered + k]
        return total / count
    level = -loss[FIRST] / (loss[SECOND] - loss[FIRST])
    place = level * count - 0.5
    first = min(max(math.floor(place), 0), count - 1)
    second = min(first + 1, count - 1)
    share = min(max(place - first, 0.0), 1.0)
    return z[ordered + first] * (1.0 - share) + z[ordered + second] * share


# --- the licence -------------------------------------------------------------------------------
#
# What the steering aims at is played as it is only while it has earned that. A belief of the user's
# own making is under the account of wealth alone; one made from past errors must also save
# something against constants, in all rounds and in those in which it was followed, and must not be
# seen to miss one side again and again. None of this can hurt the guarantee: the guard may always
# mix instead.

EVIDENCE, GRACE, FOLLOWED_SLACK, LICENCE_MEMORY = 2.0, 10.0, 1.0, 0.9999
ALARM, SHORTEST_WAIT, WAIT_GROWTH, FORGIVENESS = 6.0, 256.0, 16.0, 16.0
FIRST_TRIAL = 256  # then at 16 times as many rounds, and so on


@compiled
def is_licensed(z, alone):
    """Return whether the steering has earned that its bin is played as it is.

    Its savings against every constant are at least 2 standard deviations, less a grace of ten
    rounds of usual size; where it was followed, and where it stands on the user's own forecast
    (else it is `alone`), at least -1.
    """
    least = EVIDENCE if alone else -FOLLOWED_SLACK
    least -= GRACE / math.sqrt(max(z[JUDGED], 1.0))
    lowest = -FOLLOWED_SLACK - GRACE / math.sqrt(max(z[FOLLOWED_JUDGED], 1.0))
    for k in range(CONSTANTS):
        new = z[AT_PENDING + k]
        square = z[AT_SAVED_SQUARES + k] + new * new
        if z[AT_SAVED + k] + new < least * math.sqrt(square):
            return False
        new = z[AT_FOLLOWED_PENDING + k]
        square = z[AT_FOLLOWED_SQUARES + k] + new * new
        if z[AT_FOLLOWED + k] + new < lowest * math.sqrt(square):
            return False
    return True


@compiled
def judge(z, loss, y, occasion, memo):
    """Count what the steering has saved in a round, and how it missed.

    Outcomes of one occasion may all be one: what they saved counts as one in the squares.
    """
    if memo[MEMO_OPEN] > 0.0:
        if z[JUDGED_AT] != occasion:
            settle_savings(z)
            z[JUDGED_AT] = occasion
        cost = cost_of(loss, memo[MEMO_POINT] - y)
        for k in range(CONSTANTS):
            other = memo[MEMO_CONSTANT]
            if k > 0:
                other = z[LOW] + z[WIDTH] * (k - 1.0) / (CONSTANTS - 2.0)
            saved = cost_of(loss, other - y) - cost
            z[AT_PENDING + k] += saved
            if memo[MEMO_FOLLOWED] == 1.0:
                z[AT_FOLLOWED_PENDING + k] += saved
        if loss[KIND] == POINTED and memo[MEMO_WATCHED] == 1.0:
            watch(z, loss, y, memo)
    trial = np.int64(FIRST_TRIAL)
    while trial < z[N_SCORED]:
        trial *= 16
    if trial == z[N_SCORED]:  # what happened when it was followed long ago is forgiven
        z[FOLLOWED_JUDGED] = 0.0
        for k in range(CONSTANTS):
            z[AT_FOLLOWED + k], z[AT_FOLLOWED_SQUARES + k] = 0.0, 0.0
            z[AT_FOLLOWED_PENDING + k] = 0.0
    move_reference(z, loss, y)


@compiled
def settle_savings(z):
    """Add the savings that came together to the sums, which forget slowly."""
    both = 0.0
    for k in range(CONSTANTS):
        new, own = z[AT_PENDING + k], z[AT_FOLLOWED_PENDING + k]
        z[AT_SAVED + k] = LICENCE_MEMORY * z[AT_SAVED + k] + new
        z[AT_SAVED_SQUARES + k] = LICENCE_MEMORY * z[AT_SAVED_SQUARES + k] + new * new
        if own != 0.0:
            both = 1.0
            z[AT_FOLLOWED + k] = LICENCE_MEMORY * z[AT_FOLLOWED + k] + own
            z[AT_FOLLOWED_SQUARES + k] = LICENCE_MEMORY * z[AT_FOLLOWED_SQUARES + k] + own * own
        z[AT_PENDING + k], z[AT_FOLLOWED_PENDING + k] = 0.0, 0.0
    z[JUDGED] = LICENCE_MEMORY * z[JUDGED] + 1.0
    if both == 1.0:
        z[FOLLOWED_JUDGED] = LICENCE_MEMORY * z[FOLLOWED_JUDGED] + 1.0


@compiled
def move_reference(z, loss, y):
    """Move the slow constant: a quantile with steps that fall, or the mean."""
    seen = z[N_SCORED] + 1.0
    if seen == 1.0:
        z[REFERENCE] = y
    z[REFERENCE_SPREAD] += (abs(y - z[REFERENCE]) - z[REFERENCE_SPREAD]) / seen
    rate = 2.0 / seen
    if loss[KIND] == POINTED:
        rate = 2.0 * z[REFERENCE_SPREAD] / math.sqrt(seen)
    z[REFERENCE] += rate * pull(loss, z[REFERENCE], y)


@compiled
def watch(z, loss, y, memo):
    """Sound an alarm where the rarer side is missed several times too often.

    A cumulative sum for each of 16 cells and 2 halves of the range, where the number is, and each
    side with probability q of at most 1/2: the odds of misses at 4q / (1 + 3q) against
    2q / (1 + q), divided by how many forecasts were open. After an alarm neither aim nor number of
    the steering is used for 256, 4096, ... rounds.
    """
    if z[WAITS] > 0.0:
        z[WAITS] -= 1.0
        return
    said, level = memo[MEMO_REFINED], -loss[FIRST] / (loss[SECOND] - loss[FIRST])
    z[QUIET] += 1.0
    if z[ALARMS] > 0.0 and z[QUIET] > FORGIVENESS * SHORTEST_WAIT * WAIT_GROWTH ** z[ALARMS]:
        z[ALARMS] -= 1.0
        z[QUIET] = 0.0
    place = to_unit(z, said)
    for side in range(2):
        rare = level if side == 0 else 1.0 - level
        if rare > 0.5:
            continue
        missed = y < said if side == 0 else y > said
        odds = (
            2.0 * (1.0 + rare) / (1.0 + 3.0 * rare) if missed else (1.0 + rare) / (1.0 + 3.0 * rare)
        )
        for cell in (min(int(16.0 * place), 15), 16 + min(int(2.0 * place), 1)):
            at = AT_MISSES + 2 * cell + side
            z[at] = max(z[at] + math.log(odds) / memo[MEMO_OPEN], 0.0)
            if z[at] > ALARM:
                z[WAITS], z[QUIET] = SHORTEST_WAIT * WAIT_GROWTH ** z[ALARMS], 0.0
                z[ALARMS] += 1.0
                for k in range(2 * CELLS):
                    z[AT_MISSES + k] = 0.0
                return


# --- steering --------------------------------------------------------------------------------
#
# Experts for the next error (outcome less anchor), all of them scale-free: each moves against the
# slope of the loss at what it said. Their numbers are mixed by what they have lost less than the
# mixture, with a memory of some 2000 times that outcomes came. With steering the window holds
# errors divided by how large they were expected to be.

FORGETTING = 0.9995
TRUST = 200.0  # how many times as likely as another expert the user's own number is at first
TYPICAL_RATE, VOLATILITY_RATE = 0.002, 0.05


@compiled
def rate_of(kind, k):
    """Return the rate of an expert: raw, scaled, moved (its place), fitted or standard."""
    if kind == 0:
        return 0.02 if k == 0 else (0.08 if k == 1 else (0.24 if k == 2 else 0.8))
    if kind == 1:
        return 0.04 if k % 2 == 0 else 0.16
    if kind == 2:
        return 0.15 if k == 0 else (0.5 if k == 1 else 0.9)
    if kind == 3:
        return 0.003 if k == 0 else 0.015
    return 0.004 if k == 0 else 0.02


@compiled
def volatility_rate(k):
    """Return how fast a measure of the size of errors forgets."""
    return 0.02 if k == 0 else (0.1 if k == 1 else 0.3)


@compiled
def pull(loss, said, error):
    """Return minus the slope of the loss of an error, its size about 1 for errors of size 1."""
    if loss[KIND] == POINTED:
        steep = loss[SECOND] - loss[FIRST]
        return (-loss[FIRST] if error > said else -loss[SECOND]) / steep
    side = loss[FIRST] if error > said else loss[SECOND]
    return 0.5 * side / max(loss[FIRST], loss[SECOND]) * (error - said)


@compiled
def steer(z, loss, anchor, memo):
    """Write what each expert says about the next error, and their mixture, into `memo`."""
    k, theta = 0, AT_THETAS
    for j in range(RAW):
        memo[k] = z[theta + j]
        k += 1
    theta += RAW
    for j in range(SCALED):
        memo[k] = z[theta + j] * z[AT_VOLATILITY + j // 2]
        k += 1
    theta += SCALED
    for j in range(MOVED):
        memo[k] = z[AT_PLACES + j] + z[theta + j] * z[AT_SPREADS + j]
        memo[MEMO_PLACES + j], memo[MEMO_SPREADS + j] = z[AT_PLACES + j], z[AT_SPREADS + j]
        k += 1
    theta += MOVED
    for j in range(3):
        memo[MEMO_VOLATILITY + j] = z[AT_VOLATILITY + j]
    write_features(z, anchor, memo)
    for j in range(FITTED):
        total = 0.0
        for n in range(FEATURES):
            total += z[AT_FITS + FEATURES * j + n] * memo[MEMO_FEATURES + n]
        memo[k] = total * z[AT_VOLATILITY + 1]
        k += 1
    size = typical_size(z, anchor)
    memo[MEMO_RELATIVE] = z[AT_RELATIVE] * size
    memo[MEMO_RELATIVE + 1] = z[AT_RELATIVE + 1] * math.sqrt(size)
    for j in range(RELATIVE):
        memo[k] = z[theta + j] * memo[MEMO_RELATIVE + j // 2]
        k += 1
    theta += RELATIVE
    memo[MEMO_SPREAD] = z[AT_SPREAD]
    memo[MEMO_SCALE] = mixed_scale(z, memo)
    for j in range(STANDARD):
        memo[k] = z[theta + j] * memo[MEMO_SCALE]
        k += 1
    base = 0.0 if math.isnan(anchor) else anchor
    memo[k], memo[k + 1] = z[REFERENCE] - base, z[OUTRIGHT_PLACE] - base
    memo[k + 2] = platt(z, base) - base if is_chance(z, loss, anchor) else 0.0
    memo[k + 3] = memo[MEMO_SCALE] * middle_error(z, loss)
    memo[k + 4] = memo[MEMO_SCALE] * recent_error(z)
    memo[k + 5] = 0.0
    if z[RANGED] == 1.0:  # nobody says what has never been in range
        for j in range(EXPERTS - 1):
            memo[j] = min(max(memo[j], z[LOW] - base), z[LOW] + z[WIDTH] - base)
    trusts = z[OTHER] == 0.0 and is_chance(z, loss, anchor)
    memo[MEMO_MIX] = mixture_of(z, trusts, memo)


@compiled
def size_expected(memo, k):
    """Return how large the error was expected to be, by one of six measures."""
    if k == 0:
        return memo[MEMO_SPREAD]
    return memo[MEMO_VOLATILITY + k - 1] if k < 4 else memo[MEMO_RELATIVE + k - 4]


@compiled
def mixed_scale(z, memo):
    """Return how large the next error is expected to be: the six measures, by their odds so far."""
    least = math.inf
    for k in range(SCALES):
        least = min(least, z[AT_SCALE_COSTS + k])
    total, mixed = 0.0, 0.0
    for k in range(SCALES):
        weight = math.exp(least - z[AT_SCALE_COSTS + k])
        total += weight
        mixed += weight * size_expected(memo, k)
    return mixed / total


@compiled
def weigh_scales(z, size, memo):
    """Count what each measure of size costs: minus the log of a two-sided exponential law."""
    floor = 1e-3 * max(memo[MEMO_SPREAD], size)
    if floor <= 0.0 or memo[MEMO_SPREAD] <= 0.0:
        return
    for k in range(SCALES):
        unit = max(size_expected(memo, k), floor)
        z[AT_SCALE_COSTS + k] *= FORGETTING
        z[AT_SCALE_COSTS + k] += math.log(unit / memo[MEMO_SPREAD]) + size / unit


@compiled
def is_chance(z, loss, anchor):
    """Return whether the user's forecast is the probability of an outcome that is 0 or 1."""
    return is_binary(z, loss) and 0.0 <= anchor <= 1.0


@compiled
def is_binary(z, loss):
    """Return whether all outcomes so far were 0 or 1 and their mean is forecast."""
    inside = z[BOUNDED] == 1.0 and z[LOW] == 0.0 and z[WIDTH] == 1.0
    return loss[KIND] == SQUARED and inside and z[FRACTIONS] == 0.0


@compiled
def platt(z, anchor):
    """Return a probability, its log odds moved along a line."""
    odds = log_odds(anchor)
    return 1.0 / (1.0 + math.exp(-((1.0 + z[PLATT_SLOPE]) * odds + z[PLATT_SHIFT])))


@compiled
def log_odds(p):
    """Return the log odds of a probability, kept away from 0 and 1."""
    p = min(max(p, 1e-5), 1.0 - 1e-5)
    return math.log(p / (1.0 - p))


@compiled
def learn_platt(z, anchor, y):
    """Take an online Newton step on the log loss: online Platt scaling, started at no change."""
    odds = log_odds(anchor)
    slope = platt(z, anchor) - y
    g0, g1 = slope * odds, slope
    if z[AT_PLATT] == 0.0:  # the inverse matrix at the start: (beta D)^2 = 0.01
        z[AT_PLATT], z[AT_PLATT + 1], z[AT_PLATT + 2] = 0.01, 0.0, 0.01
    a, b, c = z[AT_PLATT], z[AT_PLATT + 1], z[AT_PLATT + 2]
    u0, u1 = a * g0 + b * g1, b * g0 + c * g1
    down = 1.0 + g0 * u0 + g1 * u1
    a, b, c = a - u0 * u0 / down, b - u0 * u1 / down, c - u1 * u1 / down
    z[AT_PLATT], z[AT_PLATT + 1], z[AT_PLATT + 2] = a, b, c
    z[PLATT_SLOPE] = min(max(z[PLATT_SLOPE] - (a * g0 + b * g1) / 0.1, -2.0), 9.0)
    z[PLATT_SHIFT] = min(max(z[PLATT_SHIFT] - (b * g0 + c * g1) / 0.1, -20.0), 20.0)


@compiled
def recent_error(z):
    """Return the mean of the last errors of the window, at most 8."""
    count, window, head = int(z[ERRORS]), int(z[WINDOW]), int(z[HEAD])
    used, total = min(count, 8), 0.0
    for k in range(used):
        total += z[STREAM + (head - 1 - k) % window]
    return total / max(used, 1)


@compiled
def typical_size(z, anchor):
    """Return the size of an anchor, not much below what is usual."""
    size = 0.0 if math.isnan(anchor) else anchor
    return math.sqrt(size * size + 1e-4 * z[AT_TYPICAL] * z[AT_TYPICAL])


@compiled
def write_features(z, anchor, memo):
    """Write what the fitted experts look at: a constant, recent errors, volatility, the anchor."""
    size, at = z[AT_VOLATILITY + 1], MEMO_FEATURES
    for n in range(FEATURES):
        memo[at + n] = 0.0
    if size > 0.0:
        memo[at], memo[at + 1], memo[at + 2] = 1.0, z[AT_LAST] / size, z[AT_LAST + 1] / size
        memo[at + 3] = z[AT_PLACES] / size
        memo[at + 4] = z[AT_VOLATILITY + 2] / size - 1.0
        memo[at + 5] = z[AT_VOLATILITY] / size - 1.0
        if z[ANCHOR_SPREAD] > 0.0 and not math.isnan(anchor):
            memo[at + 6] = (anchor - z[ANCHOR_MEAN]) / z[ANCHOR_SPREAD]
        for n in range(FEATURES):
            memo[at + n] = min(max(memo[at + n], -4.0), 4.0)


# kinds of experts, by which they can be left out
KINDS = (
    "raw", "scaled", "moved", "fitted", "relative", "standard", "outright", "platt", "window",
    "none",
)  # fmt: skip


@compiled
def kind_of(k):
    """Return the number of an expert's kind."""
    sizes = (RAW, SCALED, MOVED, FITTED, RELATIVE, STANDARD, OUTRIGHT, PLATT, 2, 1)
    kind, end = 0, sizes[0]
    while k >= end:
        kind += 1
        end += sizes[kind]
    return np.int64(kind)


@compiled
def mixture_of(z, trusts, memo):
    """Return the mean of the experts' numbers, weighted by their leads."""
    total, mixed = 0.0, 0.0
    left_out = np.int64(z[LEFT_OUT])
    for k in range(EXPERTS):
        if left_out & (np.int64(1) << kind_of(k)):
            continue
        batch = z[AT_BATCH + k]
        rate = 1.0 / (1.0 + math.sqrt(z[AT_LEAD_SQUARES + k] + batch * batch))
        weight = math.exp(min(2.0 * rate * (z[AT_LEADS + k] + batch), 40.0)) * rate
        if k == EXPERTS - 1 and z[OTHER] == 0.0:
            weight *= TRUST
        elif trusts:  # what has not been better yet does not count at all
            weight = max(weight - rate, 0.0)
        total += weight
        mixed += weight * memo[k]
    return mixed / total if total > 0.0 else 0.0


@compiled
def learn_steering(z, loss, anchor, error, occasion, memo):
    """Move the experts and their leads after an error; `memo` is that of its forecast.

    Outcomes that came together, with no forecast in between (`occasion` says so), may all be one:
    their leads count as one in the sum of squares.
    """
    size, seen = abs(error), z[AT_SPREAD] > 0.0 or z[ERRORS] > 0.0
    spread = z[AT_SPREAD] if z[AT_SPREAD] > 0.0 else size
    if z[ERRORS] >= 2.0 and spread > 0.0:
        unit = spread if loss[KIND] == POINTED else spread * spread
        mixed = cost_of(loss, memo[MEMO_MIX] - error)
        other = z[AT_BATCH + EXPERTS] != occasion
        for k in range(EXPERTS):
            lead = min(max((mixed - cost_of(loss, memo[k] - error)) / unit, -50.0), 50.0)
            if other:
                batch = z[AT_BATCH + k]
                z[AT_LEADS + k] = FORGETTING * (z[AT_LEADS + k] + batch)
                z[AT_LEAD_SQUARES + k] = FORGETTING * (z[AT_LEAD_SQUARES + k] + batch * batch)
                z[AT_BATCH + k] = 0.0
            z[AT_BATCH + k] += lead
        z[AT_BATCH + EXPERTS] = occasion
    pace = 1.0 / math.sqrt(z[TOGETHER]) if is_binary(z, loss) else 1.0
    pointed, theta = loss[KIND] == POINTED, AT_THETAS
    for j in range(RAW):
        unit = spread if pointed else 1.0
        z[theta + j] += pace * rate_of(0, j) * unit * pull(loss, z[theta + j], error)
    theta += RAW
    for j in range(SCALED):
        unit = memo[MEMO_VOLATILITY + j // 2]
        if unit > 0.0:
            z[theta + j] += pace * rate_of(1, j) * pull(loss, z[theta + j], error / unit)
    theta += SCALED
    for j in range(MOVED):
        rest, unit = error - memo[MEMO_PLACES + j], memo[MEMO_SPREADS + j]
        if unit > 0.0:
            z[theta + j] += pace * 0.12 * pull(loss, z[theta + j], rest / unit)
        old = z[AT_SPREADS + j]
        z[AT_SPREADS + j] = abs(rest) if not seen else old + VOLATILITY_RATE * (abs(rest) - old)
        z[AT_PLACES + j] += (rate_of(2, j) if seen else 1.0) * (error - z[AT_PLACES + j])
    theta += MOVED
    for j in range(RELATIVE):
        unit = memo[MEMO_RELATIVE + j // 2]
        if unit > 0.0:
            z[theta + j] += pace * rate_of(1, j) * pull(loss, z[theta + j], error / unit)
    theta += RELATIVE
    unit = memo[MEMO_SCALE]
    for j in range(STANDARD):
        if unit > 0.0:
            z[theta + j] += pace * rate_of(4, j) * pull(loss, z[theta + j], error / unit)
    fit(z, loss, error, pace, memo)
    learn_outright(z, loss, anchor, error)
    weigh_scales(z, size, memo)
    follow_sizes(z, anchor, error, seen)


@compiled
def learn_outright(z, loss, anchor, error):
    """Move what looks at the outcome, or at the user's forecast, alone."""
    base = 0.0 if math.isnan(anchor) else anchor
    y, unit = base + error, 1.0
    if loss[KIND] == POINTED:
        unit = z[REFERENCE_SPREAD]
    z[OUTRIGHT_PLACE] += 0.05 * unit * pull(loss, z[OUTRIGHT_PLACE], y)
    rate = max(0.005, 1.0 / (z[N_SCORED] + 1.0))
    z[ANCHOR_SPREAD] += rate * (abs(base - z[ANCHOR_MEAN]) - z[ANCHOR_SPREAD])
    z[ANCHOR_MEAN] += rate * (base - z[ANCHOR_MEAN])
    if is_chance(z, loss, anchor):
        learn_platt(z, anchor, y)


@compiled
def fit(z, loss, error, pace, memo):
    """Move the fitted experts: linear in the features, each coordinate at a pace of its own."""
    unit = memo[MEMO_VOLATILITY + 1]
    if unit <= 0.0:
        return
    rounds = min(z[N_SCORED] + 1.0, 1000.0)
    for j in range(FITTED):
        said = 0.0
        for n in range(FEATURES):
            said += z[AT_FITS + FEATURES * j + n] * memo[MEMO_FEATURES + n]
        force = pull(loss, said, error / unit)
        for n in range(FEATURES):
            slope_n, at = force * memo[MEMO_FEATURES + n], FEATURES * j + n
            square = 0.999 * z[AT_SQUARES + at] + slope_n * slope_n
            z[AT_SQUARES + at] = square
            z[AT_FITS + at] += pace * rate_of(3, j) * slope_n / math.sqrt(square / rounds + 1e-12)


@compiled
def follow_sizes(z, anchor, error, seen):
    """Follow how large errors are: slowly, at three speeds, and in relation to the anchor."""
    size, first = abs(error), 1.0 / (z[N_SCORED] + 1.0)
    z[AT_SPREAD] += max(TYPICAL_RATE, first) * (size - z[AT_SPREAD]) if seen else size
    for k in range(3):
        old = z[AT_VOLATILITY + k]
        z[AT_VOLATILITY + k] = old + max(volatility_rate(k), first) * (size - old) if seen else size
    usual = 0.0 if math.isnan(anchor) else abs(anchor)
    z[AT_TYPICAL] += max(0.01, first) * (usual - z[AT_TYPICAL])
    reach = typical_size(z, anchor)
    if reach > 0.0:
        for k in range(2):
            ratio = size / (reach if k == 0 else math.sqrt(reach))
            z[AT_RELATIVE + k] += max(0.02, first) * (ratio - z[AT_RELATIVE + k])
    z[AT_LAST + 1], z[AT_LAST] = z[AT_LAST], error


@compiled
def count_together(z, rounds):
    """Count outcomes that came with no forecast in between: they may all be one."""
    z[TOGETHER] = z[TOGETHER] + 1.0 if z[TOGETHER_AT] == rounds else 1.0
    z[TOGETHER_AT] = rounds


@compiled
def standardised(z, error, memo):
    """Return an error over the size that it was expected to have."""
    unit = memo[MEMO_SCALE] if memo[MEMO_SCALE] > 0.0 else z[AT_SPREAD]
    if unit <= 0.0:
        return 0.0
    return min(max(error / unit, -1e4), 1e4)


@compiled
def spoken(i, f, z, anchor):
    """Return what is said in the user's units: the user's own number as it is, if it is that."""
    inside = z[LOW] <= anchor <= z[LOW] + z[WIDTH]  # false for NaN
    if i[REFINES] == 1 and f[LAMBDA] == 1.0 and inside and f[SAID] == to_unit(z, anchor):
        return anchor
    return to_user(z, f[SAID])


@compiled
def tell(i, f, z, loss, first, anchor, said, y, memo, seen, work):
    """Teach a stream the outcome of an open forecast. `said` is in the user's units."""
    loss[OUTCOME] = to_unit(z, y)
    if z[BOUNDED] == 0.0 and z[RANGED] == 1.0 and loss[KIND] == POINTED:
        x = (y - z[LOW]) / z[WIDTH]  # beyond the range too: no claim can tell, nor how far
        loss[OUTCOME] = min(max(x, -8.0), 9.0)
    if first >= 0:
        learn(i, f, first, loss, seen, work)
    if (y < z[LOW] or y > z[LOW] + z[WIDTH]) and z[BOUNDED] == 1.0:
        z[CLIPPED] += 1.0
    error = y - (0.0 if math.isnan(anchor) else anchor)
    z[FRACTIONS] += 0.0 if y in (0.0, 1.0) else 1.0
    if z[STEERS] == 1.0:
        count_together(z, float(i[ROUNDS]))
        judge(z, loss, y, float(i[ROUNDS]), memo)
        learn_steering(z, loss, anchor, error, float(i[ROUNDS]), memo)
    score(z, loss, anchor, said, y)
    keep_error(z, standardised(z, error, memo) if z[STEERS] == 1.0 else error)
    if z[BOUNDED] == 0.0:
        if z[RANGED] == 0.0:
            start_range(z, y, anchor)
        widen(i, f, z, y, loss[KIND] != POINTED)


@compiled
def score(z, loss, anchor, said, y):
    """Add to the scores of a stream: what was said, and what the user's own number would cost."""
    z[N_SCORED] += 1.0
    z[N_BELOW] += 1.0 if y < said else 0.0
    z[N_EQUAL] += 1.0 if y == said else 0.0
    z[SAID_COST] += cost_of(loss, said - y)
    if not math.isnan(anchor) and z[OTHER] == 0.0:
        z[N_RAW] += 1.0
        z[RAW_COST] += cost_of(loss, anchor - y)
        z[LABEL_COST] += cost_of(loss, said - y)


@compiled
def cost_of(loss, error):
    """Return the loss of an error, in the user's units."""
    side = loss[FIRST] if error < 0.0 else loss[SECOND]
    return side * error if loss[KIND] == POINTED else side * error * error


@compiled
def stream(
    i, f, z, loss, outcomes, anchors, shares, first, starts, order, groups, slips, said, labels,
    notes, memos, places, law, seen, work, whole,
):  # fmt: skip
    """Forecast a whole array in the user's units, from number `first` on.

    As `play`, with outcomes (T,), NaN for those that never come, the user's own forecasts `anchors`
    (T,), NaN for none, and `shares` (T or 0,), how much each round weighs, at most 1. `labels`
    (T, 2) are the drawn bin and its scale, `notes` (T, 2) whether the aim was overruled, and
    lambda. A forecast before the range is known is the user's own (0 without one): its slip is -2
    and its first note -1. `memos` has a row for each forecast that can be open at once, `places`
    (T + rows + 1,) says which is whose, then how many are free and which. Returns the number of the
    first round that was not opened for want of room.
    """
    rounds = outcomes.size
    for number in range(first, rounds):
        for k in range(starts[number], starts[number + 1]):
            reply(
                i, f, z, loss, outcomes, anchors, shares, order[k], slips, said, memos, places,
                seen, work,
            )  # fmt: skip
        at = number if groups.shape[0] > 1 else 0
        i[N_GROUPS] = 0
        for k in range(groups.shape[1]):
            if groups[at, k] >= 0:  # else the row is shorter
                i[AT_NOW + i[N_GROUPS]] = groups[at, k]
                i[N_GROUPS] += 1
        if z[RANGED] == 0.0:
            memo = memos[borrow(places, rounds, number)]
            memo[:] = 0.0
            said[number] = 0.0 if math.isnan(anchors[number]) else anchors[number]
            labels[number, 0], labels[number, 1], notes[number, 0] = said[number], 0.0, -1.0
            slips[number] = -2
            z[UNGUARDED] += 1.0
            continue
        if not has_room(i):
            return number
        memo = memos[borrow(places, rounds, number)]
        ask(i, f, z, loss, anchors[number], 0, law, memo, work, whole)
        at = AT_NEXT + 2 * i[CHOSEN]
        said[number] = spoken(i, f, z, anchors[number])
        labels[number, 0] = to_user(z, i[at + 1] * size_of(i[at]))
        labels[number, 1] = z[WIDTH] * size_of(i[at])
        hit = i[at] == i[AIM_SCALE] and i[at + 1] == i[AIM_PLACE]
        notes[number, 0] = 1.0 if i[AIMED] == 1 and not hit else 0.0
        notes[number, 1] = f[LAMBDA]
        slips[number] = open_round(i, f, work)
        soon = starts[number + 1]
        if soon == starts[number + 2] or order[soon] != number:
            weigh_open(i, f, slips[number], work)
    for k in range(starts[rounds], starts[rounds + 1]):
        reply(
            i, f, z, loss, outcomes, anchors, shares, order[k], slips, said, memos, places, seen,
            work,
        )  # fmt: skip
    return rounds


@compiled
def borrow(places, rounds, number):
    """Give a round a free row of the memos, and return it."""
    free = places[rounds] - 1
    places[rounds] = free
    places[number] = places[rounds + 1 + free]
    return places[number]


@compiled
def reply(
    i, f, z, loss, outcomes, anchors, shares, number, slips, said, memos, places, seen, work
):  # fmt: skip
    """Teach a stream the outcome of a round of its array, or that it will never come."""
    slip = slips[number]
    if slip == -1:
        return  # before the state was given more room
    if math.isnan(outcomes[number]):
        z[N_MISSING] += 1.0
        if slip >= 0:
            abandon(i, f, slip, work)
    else:
        memo = memos[places[number]]
        steepest = loss[STEEPEST]
        if shares.size > 0:
            loss[STEEPEST] = steepest / shares[number]
        tell(i, f, z, loss, slip, anchors[number], said[number], outcomes[number], memo, seen, work)
        loss[STEEPEST] = steepest
    rounds = outcomes.size
    places[rounds + 1 + places[rounds]] = places[number]
    places[rounds] += 1
    slips[number] = -1


# --- streams at rest ---------------------------------------------------------------------------
#
# What lasts of a stream, without spare room: its counts, its pool, its rows without their weights
# (which follow from the products), its groups, its slips if any are open, its memory of errors in
# order of arrival. `out` and `whole` are the same memory as numbers and as whole numbers.


@compiled
def packed_size(i, z):
    """Return how many numbers `pack` writes at most."""
    size = AT_NOW + AT_SHARES + 3 * i[SIZE] + i[ROWS] * (WHOLE_ROW + ROW)
    size += i[GROUP_ROOM] * (WHOLE_GROUP + GROUP) + i[SLIP_ROOM] * (WHOLE_SLIP + SLIP)
    return size + STREAM + int(z[ERRORS])


@compiled
def pack(i, f, z, out, whole):
    """Write a stream into `out`; return how many numbers that took."""
    n = 0
    for k in range(AT_NOW):
        lasts = k < READY or k >= EPOCH
        whole[n] = i[k] if lasts else 0
        n += 1
    for k in range(AT_SHARES):
        lasts = not (GAIN <= k <= SAID or k == REFINE_RESERVE)
        out[n] = f[k] if lasts else 0.0
        n += 1
    for k in range(i[SIZE]):
        whole[n], whole[n + 1], out[n + 2] = (
            i[AT_POOL + 2 * k],
            i[AT_POOL + 2 * k + 1],
            f[AT_SHARES + k],
        )
        n += 3
    for row in range(i[ROWS]):
        at, f_at = i[AT_ROWS] + WHOLE_ROW * row, i[AT_FROWS] + ROW * row
        whole[n], whole[n + 1] = i[at + KEY], i[at + FIRST_SLIP]
        n += 2
        for k in range(ROW):
            if k < WEIGHTS or k >= PRODUCTS:
                out[n] = f[f_at + k]
                n += 1
    for group in range(i[GROUP_ROOM]):
        whole[n] = i[i[AT_GROUPS] + WHOLE_GROUP * group]
        n += 1
        for k in range(GROUP):
            out[n] = f[i[AT_FGROUPS] + GROUP * group + k]
            n += 1
    if i[OPEN] > 0:
        for k in range(WHOLE_SLIP * i[SLIP_ROOM]):
            whole[n] = i[i[AT_SLIPS] + k]
            n += 1
        for k in range(SLIP * i[SLIP_ROOM]):
            out[n] = f[i[AT_FSLIPS] + k]
            n += 1
    for k in range(STREAM):
        out[n] = z[k]
        n += 1
    count, window, head = int(z[ERRORS]), int(z[WINDOW]), int(z[HEAD])
    out[n - STREAM + HEAD] = count % window  # as `unpack` will have it
    for k in range(count):
        out[n] = z[STREAM + (head - count + k) % window]
        n += 1
    return n


@compiled
def unpack(out, whole, i, f, z, work):
    """Read what `pack` wrote into a stream that has the room for it; its own rooms stay."""
    rows, index, groups, slips = i[ROW_ROOM], i[INDEX_SIZE], i[GROUP_ROOM], i[SLIP_ROOM]
    for k in range(AT_NOW):
        i[k] = whole[k]
    n, old_groups, old_slips = AT_NOW, i[GROUP_ROOM], i[SLIP_ROOM]
    i[ROW_ROOM], i[INDEX_SIZE], i[GROUP_ROOM], i[SLIP_ROOM] = rows, index, groups, slips
    place_blocks(i)
    i[READY] = 0
    for k in range(AT_SHARES):
        f[k] = out[n]
        n += 1
    for k in range(i[SIZE]):
        i[AT_POOL + 2 * k], i[AT_POOL + 2 * k + 1], f[AT_SHARES + k] = (
            whole[n],
            whole[n + 1],
            out[n + 2],
        )
        n += 3
    for slot in range(index):
        i[i[AT_INDEX] + slot] = 0
    for row in range(i[ROWS]):
        at, f_at = i[AT_ROWS] + WHOLE_ROW * row, i[AT_FROWS] + ROW * row
        i[at + KEY], i[at + FIRST_SLIP] = whole[n], whole[n + 1]
        n += 2
        for k in range(ROW):
            if k < WEIGHTS or k >= PRODUCTS:
                f[f_at + k] = out[n]
                n += 1
        if i[at + KEY] > 0:
            i[slot_of(i, i[at + KEY])] = row + 1
    for group in range(old_groups):
        i[i[AT_GROUPS] + WHOLE_GROUP * group] = whole[n]
        n += 1
        for k in range(GROUP):
            f[i[AT_FGROUPS] + GROUP * group + k] = out[n]
            n += 1
    if i[OPEN] > 0:
        for k in range(WHOLE_SLIP * old_slips):
            i[i[AT_SLIPS] + k] = whole[n]
            n += 1
        for k in range(SLIP * old_slips):
            f[i[AT_FSLIPS] + k] = out[n]
            n += 1
    else:
        i[FREE_SLIP], old_slips = -1, 0
    furnish(i, f, old_groups, old_slips)
    for row in range(i[ROWS]):
        weigh(i, f, row, work)
    for k in range(STREAM):
        z[k] = out[n]
        n += 1
    count, window = int(z[ERRORS]), int(z[WINDOW])
    for k in range(count):
        z[STREAM + k] = out[n]
        n += 1
    z[HEAD] = count % window
    ordered = z[STREAM + window : STREAM + window + count]
    for k in range(count):
        ordered[k] = z[STREAM + k]
    arrange(ordered)


@compiled
def arrange(numbers):
    """Sort numbers in place: by insertion, with smaller and smaller steps (Shell)."""
    step = numbers.size
    while step > 1:
        step = max(5 * step // 11, 1)
        for k in range(step, numbers.size):
            number, at = numbers[k], k
            while at >= step and numbers[at - step] > number:
                numbers[at] = numbers[at - step]
                at -= step
            numbers[at] = number


# --- adversaries -----------------------------------------------------------------------------
#
# What they see is the next pool (never the draw) and what they remember in `memory`.

SIDE_PUSH, BIN_MAJORITY, JUST_ABOVE, NEAR_UNIFORM, ROTATING_BINS, MIDPOINT, BAD_BIN, GREEDY = range(
    8
)
SIGN_PRESERVATION, GIVEN = 8, 9
IMBALANCE_SCALE = 20  # a place in `memory` for each multiple of 2^-20, after 8 numbers
AT_IMBALANCE = 8
MEMORY = AT_IMBALANCE + 2**20 + 1


@compiled
def likeliest(i, f):
    """Return the forecast with the largest probability, the first of equals."""
    best = 0
    for n in range(i[NEXT_SIZE]):
        if f[AT_NEXT_SHARES + n] > f[AT_NEXT_SHARES + best]:
            best = n
    return i[AT_NEXT + 2 * best + 1] * size_of(i[AT_NEXT + 2 * best])


@compiled
def mean_of(i, f):
    """Return the mean of the mixture."""
    total = 0.0
    for n in range(i[NEXT_SIZE]):
        total += f[AT_NEXT_SHARES + n] * i[AT_NEXT + 2 * n + 1] * size_of(i[AT_NEXT + 2 * n])
    return min(max(total, 0.0), 1.0)


@compiled
def median_and_largest(i, f):
    """Return the smallest median of the mixture and its largest forecast."""
    median, largest = 2.0, 0.0
    for n in range(i[NEXT_SIZE]):
        if f[AT_NEXT_SHARES + n] > 0.0:
            label, below = i[AT_NEXT + 2 * n + 1] * size_of(i[AT_NEXT + 2 * n]), 0.0
            largest = max(largest, label)
            for k in range(i[NEXT_SIZE]):
                if i[AT_NEXT + 2 * k + 1] * size_of(i[AT_NEXT + 2 * k]) <= label:
                    below += f[AT_NEXT_SHARES + k]
            if below >= 0.5 - 1e-12:
                median = min(median, label)
    return median, largest


@compiled
def greediest(i, f, toss, work, whole):
    """Return the outcome with the largest expected gain, ties by a toss."""
    n_rows = lay_out(i, f, i[NEXT_SIZE], i[FINEST], whole[:MOST_ROWS], True)
    for n in range(i[NEXT_SIZE]):
        scale, place = i[AT_NEXT + 2 * n], i[AT_NEXT + 2 * n + 1]
        pieces(i, f, scale, place, i[FINEST], work, AT_COLUMNS + 4 * n)
    slack = 1e-12 * max(
        abs(largest_gain(i, f, i[NEXT_SIZE], i[FINEST], work, whole, n_rows)), 1e-300
    )
    worst = largest_gain(i, f, i[NEXT_SIZE], i[FINEST], work, whole, n_rows) - slack
    ties = 0
    for k in range(n_rows):
        ties += int(largest_gain(i, f, i[NEXT_SIZE], i[FINEST], work, whole[k : k + 1], 1) >= worst)
    wanted = min(int(toss * ties), ties - 1)
    for k in range(n_rows):
        if largest_gain(i, f, i[NEXT_SIZE], i[FINEST], work, whole[k : k + 1], 1) >= worst:
            if wanted == 0:
                return (whole[k] + 0.5) * size_of(i[FINEST])
            wanted -= 1
    return 0.5


@compiled
def gap(i, moved):
    """Return where some gap of the grid starts: moved on from 0.37."""
    gaps = np.int64(1) << i[FINEST]
    return ((int(0.37 * gaps) + moved) % gaps) * size_of(i[FINEST])


@compiled
def outcome_of(i, f, kind, setting, number, rounds, toss, memory, work, whole):
    """Return the outcome that an adversary of some kind answers with."""
    if kind == SIDE_PUSH:
        return 0.0 if likeliest(i, f) > 0.5 else 1.0
    if kind == BIN_MAJORITY:
        vote = 0.0
        for n in range(i[NEXT_SIZE]):
            at = i[AT_NEXT + 2 * n + 1] << (IMBALANCE_SCALE - i[AT_NEXT + 2 * n])
            vote += f[AT_NEXT_SHARES + n] * np.sign(memory[AT_IMBALANCE + at])
        vote = vote if vote != 0.0 else 0.5 - mean_of(i, f)
        return 1.0 if vote > 0.0 else 0.0
    if kind == JUST_ABOVE:
        median, largest = median_and_largest(i, f)
        return min(largest + 1e-9, 1.0) if median < 0.5 else 0.0
    if kind in (NEAR_UNIFORM, ROTATING_BINS):
        place = mean_of(i, f)
        if kind == ROTATING_BINS:
            place = (number % int(setting[1])) / (2.0 * setting[1])
        other = place + 0.5 if place <= 0.5 else place - 0.5
        return place if toss < 0.5 + setting[0] else other
    if kind == MIDPOINT:
        start = gap(i, number * (int(setting[0]) + 1) // rounds)
        return start + 0.5 * size_of(i[FINEST])
    if kind == BAD_BIN:
        start, margin = gap(i, 0), 1e-6 * size_of(i[FINEST])
        low, high = start + margin, start + size_of(i[FINEST]) - margin
        return low + toss * (high - low)
    if kind == GREEDY:
        return greediest(i, f, toss, work, whole)
    return 0.0 if toss < 1.0 - (memory[0] + memory[1]) / 2.0 else 1.0  # SIGN_PRESERVATION


@compiled
def remember(kind, said, scale, place, outcome, rounds, memory):
    """Let an adversary see the draw of the round, once its outcome is fixed."""
    if kind == BIN_MAJORITY:
        at = AT_IMBALANCE + (place << (IMBALANCE_SCALE - scale))
        memory[at] += np.sign(outcome - said)
    elif kind == SIGN_PRESERVATION:  # low, high, bias, age
        length = max(math.ceil(rounds ** (2.0 / 3.0)), 1.0)
        memory[2] += outcome - said
        memory[3] += 1.0
        if abs(memory[2]) > math.sqrt(length) or memory[3] >= length:
            mean = (memory[0] + memory[1]) / 2.0
            if memory[2] > 0.0:
                memory[0] = mean
            else:
                memory[1] = mean
            if memory[1] - memory[0] < 1.0 / length:
                memory[0], memory[1] = 0.0, 1.0
            memory[2], memory[3] = 0.0, 0.0


@compiled
def duel(
    i, f, kind, setting, loss, losses, base, rounds, first, delay, tosses, memory, slips,
    outcomes, said, labels, seen, work, whole,
):  # fmt: skip
    """Play against an adversary: rounds base + first, ... of `rounds`, outcomes `delay` late.

    `loss` is the loss of a round but for its outcome; with GIVEN, `losses` has a row each round
    instead. `slips` and `outcomes` remember the last rounds. Returns as `play` does.
    """
    for number in range(first, said.size):
        settle_late(i, f, kind, loss, losses, number - delay - 1, slips, outcomes, seen, work)
        i[N_GROUPS], i[AT_NOW] = 1, 0
        if not has_room(i):
            return number
        prepare(i, f, memory[:1], memory[:1], memory[:1], 0, math.nan, work, whole)
        scale, place = i[AT_NEXT + 2 * i[CHOSEN]], i[AT_NEXT + 2 * i[CHOSEN] + 1]
        said[number], labels[number, 0], labels[number, 1] = f[SAID], scale, place
        outcomes[number] = 0.0
        if kind != GIVEN:
            toss = tosses[number]
            outcomes[number] = outcome_of(
                i, f, kind, setting, base + number, rounds, toss, memory, work, whole
            )
        if delay == 0:
            loss[OUTCOME] = outcomes[number]
            step(i, f, losses[number] if kind == GIVEN else loss, seen, work)
        else:
            slips[number] = open_round(i, f, work)
            weigh_open(i, f, slips[number], work)
        remember(kind, said[number], scale, place, outcomes[number], rounds, memory)
    for number in range(max(said.size - delay - 1, 0), said.size):
        settle_late(i, f, kind, loss, losses, number, slips, outcomes, seen, work)
    return said.size


@compiled
def settle_late(i, f, kind, loss, losses, number, slips, outcomes, seen, work):
    """Settle a round of a duel, if there is such a one and it is open."""
    if number < 0 or slips[number] < 0:
        return
    if kind == GIVEN:
        learn(i, f, slips[number], losses[number], seen, work)
    else:
        loss[OUTCOME] = outcomes[number]
        learn(i, f, slips[number], loss, seen, work)
    slips[number] = -1
