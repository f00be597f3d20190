"""Whole arrays as the kernels want them."""

from typing import Any

import numpy as np

from trueup import _validation as check
from trueup._kernels import _engine as kernels
from trueup.errors import InvalidArgument
from trueup.protocols import ArrayLike, FloatArray, IntArray


def sizes_of(levels: IntArray) -> FloatArray:
    """Return 2^-level."""
    return np.asarray(np.ldexp(1.0, -levels), dtype=np.float64)


def replay_order(rounds: int, known_at: ArrayLike | None) -> tuple[IntArray, IntArray]:
    """Return when the outcomes of a run are learned, as two arrays.

    Those of `order[starts[t] : starts[t + 1]]` come before round t is forecast; of equals, the
    earlier round first.

    >>> starts, order = replay_order(3, [3, 2, 3])
    >>> starts.tolist(), order.tolist()
    ([0, 0, 0, 1, 3], [1, 0, 2])
    """
    if known_at is None:
        return np.maximum(np.arange(-1, rounds + 1), 0), np.arange(rounds)
    raw = np.asarray(known_at)
    if raw.dtype.kind not in "iu" or raw.shape != (rounds,):
        raise InvalidArgument(f"known_at must be {rounds} whole numbers, got {raw!r:.60}.")
    times = raw.astype(np.int64)
    early = np.flatnonzero(times <= np.arange(rounds))
    if early.size:
        raise InvalidArgument(
            f"known_at must be after its own round, got {times[early[0]]} at index {early[0]}."
        )
    order = np.argsort(times, kind="stable")
    return np.searchsorted(times[order], np.arange(-1, rounds + 1), side="right"), order


def all_options(options: dict[str, Any]) -> dict[str, Any]:
    known = ("known_at", "points", "groups", "nodes", "cdfs")
    for name in options:
        if name not in known:
            raise InvalidArgument(f"There is no option {name!r}; there are {', '.join(known)}.")
    return {name: options.get(name) for name in known}


def checked_outcomes(outcomes: ArrayLike) -> FloatArray:
    """Return outcomes of [0, 1], with NaN for those that never come."""
    values = check.numbers("outcomes", outcomes)
    if values.ndim != 1:
        raise check.refuse("outcomes", "one-dimensional", values.shape)
    wrong = np.flatnonzero(~np.isnan(values) & ~((values >= 0) & (values <= 1)))
    if wrong.size:
        raise InvalidArgument(
            "outcomes must be inside the interval [0, 1],"
            f" got {float(values[wrong[0]])} at index {wrong[0]}."
        )
    return values


def members_of(rounds: int, groups: ArrayLike | None) -> IntArray:
    """Return the groups of each round, shape (T, n) or (1, 1)."""
    if groups is None:
        return np.zeros((1, 1), dtype=np.int64)
    raw = np.asarray(groups)
    if raw.dtype.kind not in "iu" or raw.ndim not in (1, 2) or raw.shape[0] != rounds:
        raise InvalidArgument(f"groups must be whole numbers, {rounds} rows, got {raw!r:.60}.")
    table = np.sort(raw.reshape(rounds, -1).astype(np.int64), axis=1)
    if table.size and table.min() < 0:
        raise check.refuse("groups", "0 or more", int(table.min()))
    if not 1 <= table.shape[1] <= kernels.MOST_GROUPS:
        raise check.refuse("groups", f"1 to {kernels.MOST_GROUPS} a round", table.shape[1])
    if np.any(table[:, 1:] == table[:, :-1]):
        raise InvalidArgument("groups of a round must be different.")
    return np.ascontiguousarray(table) if rounds > 1 else table


def laws_of(rounds: int, nodes: Any, cdfs: Any) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return beliefs as the kernels want them: nodes (1 or 0, n), left and right (T or 0, n)."""
    if nodes is None and cdfs is None:
        none = np.zeros((1, 1))
        return np.zeros((0, 1)), none, none
    places, heights = check.unit_vector("nodes", nodes), check.numbers("cdfs", cdfs)
    if heights.shape != (rounds, places.size):
        raise check.refuse("cdfs", f"of shape {(rounds, places.size)}", heights.shape)
    if places.size < 2 or places[0] != 0 or places[-1] != 1 or np.any(np.diff(places) <= 0):
        raise check.refuse("nodes", "strictly increasing from 0 to 1", places.tolist())
    if not np.all(np.diff(heights, axis=1) >= 0) or not np.all(heights[:, -1] == 1):
        raise InvalidArgument("cdfs must never fall and end at 1.")
    left = heights.copy()
    left[:, 0] = 0.0
    return places[None, :], left, heights
