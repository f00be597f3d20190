"""What a state knows of the bins that were drawn: sums, wealth, certificates, gains."""

from typing import Any

import numpy as np

from trueup._kernels import _engine as kernels
from trueup.engine._arrays import sizes_of
from trueup.engine._state import State, pairs_of
from trueup.protocols import FloatArray


def rows_of(state: State, group: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the bins of a group's rows, their scales, and all numbers of the rows."""
    i, f = state
    count, at, f_at = (int(i[k]) for k in (kernels.ROWS, kernels.AT_ROWS, kernels.AT_FROWS))
    whole = i[at : at + kernels.WHOLE_ROW * count].reshape(count, kernels.WHOLE_ROW)
    numbers = f[f_at : f_at + kernels.ROW * count].reshape(count, kernels.ROW)
    owners, levels, places = pairs_of(np.abs(whole[:, kernels.KEY]))
    own = owners == group
    scales = sizes_of(levels[own])
    return places[own] * scales, scales, numbers[own]


def certificates_of(state: State, group: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return bins, scales, and what the swap regret of each is at most (see `Engine`)."""
    bins, scales, numbers = rows_of(state, group)
    n, s_up, s_down, s_from, s_to, refined = numbers[:, : kernels.REFINED_HERE + 1].T
    right = np.minimum(2 * scales, 1 - bins) * np.maximum(n - 2 * s_to, 0)
    right += np.maximum(1 - bins - 2 * scales, 0) * np.maximum(2 * s_up - n, 0)
    left = np.minimum(2 * scales, bins) * np.maximum(n - 2 * s_from, 0)
    left += np.maximum(bins - 2 * scales, 0) * np.maximum(2 * s_down - n, 0)
    return bins, scales, np.maximum(np.maximum(left, right) + refined, 0.0)


def wealth_of(state: State, group: int) -> FloatArray:
    """Return the wealth of each claim of each row of a group."""
    numbers = rows_of(state, group)[2]
    shape = (numbers.shape[0], 4, kernels.N_RATES)
    return np.asarray(numbers[:, kernels.PRODUCTS :].reshape(shape).sum(axis=2))


def gains_of(state: State) -> tuple[FloatArray, FloatArray]:
    """Return an outcome in each stretch of the prepared round's cells, and the gain there."""
    i, f = state
    size, finest = int(i[kernels.NEXT_SIZE]), int(i[kernels.FINEST])
    rows = np.zeros(kernels.MOST_ROWS, dtype=np.int64)
    n_rows = kernels.lay_out(i, f, size, finest, rows, likely=True)
    gains, out = np.zeros(n_rows), np.zeros(4)
    for n in range(size):
        level, place = i[kernels.AT_NEXT + 2 * n : kernels.AT_NEXT + 2 * n + 2]
        kernels.pieces(i, f, level, place, finest, out, 0)
        at: Any = [kernels.piece_at(cell, level, place, finest) for cell in rows[:n_rows]]
        gains += f[kernels.AT_NEXT_SHARES + n] * out[at]
    return np.asarray((rows[:n_rows] + 0.5) * 0.5**finest), gains
