"""Slow, obvious twins of trueup.paper.minimax: recursion, and a linear program in every state."""

from statistics import median_low

import numpy as np
from scipy.optimize import linprog


def swap_regret_reference(counts, forecasts, outcomes):
    """Return the swap regret of a matrix of counts, moving each forecast to a median it met."""
    regret = 0.0
    for x, row in zip(forecasts, counts, strict=True):
        met = [y for y, count in zip(outcomes, row, strict=True) for _ in range(count)]
        if met:
            regret += sum(abs(x - y) - abs(median_low(met) - y) for y in met)
    return regret


def game_value_reference(payoffs):
    """Return the value of one matrix game whose rows minimise, by a linear program."""
    n, m = payoffs.shape
    solution = linprog(
        np.append(np.zeros(n), 1.0),
        A_ub=np.column_stack([payoffs.T, -np.ones(m)]),
        b_ub=np.zeros(m),
        A_eq=[np.append(np.ones(n), 0.0)],
        b_eq=[1.0],
        bounds=[(0, None)] * n + [(None, None)],
    )
    return float(solution.fun)


def plus_one(counts, i, j):
    """Return the counts, a tuple of tuples, after one more round of forecast i and outcome j."""
    changed = [list(row) for row in counts]
    changed[i][j] += 1
    return tuple(map(tuple, changed))


def minimax_reference(rounds, forecasts, outcomes):
    """Return the value of every state, as a dictionary from a tuple of tuples of counts."""
    n, m = len(forecasts), len(outcomes)
    values = {}

    def visit(counts, left):
        if counts not in values and left == 0:
            values[counts] = swap_regret_reference(counts, forecasts, outcomes)
        elif counts not in values:
            after = [[visit(plus_one(counts, i, j), left - 1) for j in range(m)] for i in range(n)]
            values[counts] = game_value_reference(np.array(after))
        return values[counts]

    visit(((0,) * m,) * n, rounds)
    return values
