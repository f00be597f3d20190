"""Bins at all scales at once (section 3.2 of the paper).

With the finest spacing gamma, the scales are R = {gamma, 2 gamma, 4 gamma, ...} up to 1, the bins
of scale r are B_r = {0, r, 2r, ...} up to 1, and Theta is the set of all pairs (r, b).

Everything is held in whole units of gamma, so that b + 2r is the grid point number
`position + 2 * step` and no comparison depends on how a sum was rounded. Between neighbouring grid
points, and above the last one, lie the open cells.
"""

from functools import cached_property

import numpy as np

from trueup import _validation as check
from trueup.errors import InvalidArgument
from trueup.protocols import BoolArray, FloatArray, IntArray

__all__ = ["CLAIMS", "MultiScaleBins"]

SMALLEST_GAMMA = 1e-7  # 10^7 grid points
ROUNDING = 1e-12  # a multiple of gamma this near to 1 is 1
CLAIMS = (+2, -2, +1, -1)  # the xi of the paper, in the order of the columns of all weights


class MultiScaleBins:
    """All pairs (scale, bin) for a finest spacing gamma in (0, 1].

    Attributes
    ----------
    gamma : float
    scales : array, shape (n_scales,)
        R, rising.
    scale, bin : arrays, shape (n_pairs,)
        r and b of each pair, by scale and then by bin.
    step, position : integer arrays, shape (n_pairs,)
        r and b in units of gamma.
    points : array, shape (n_points,)
        The grid points gamma k of [0, 1].
    slack_far, slack_near : arrays, shape (n_pairs,)
        The thresholds 1/2 - gamma/(4r) and 1/2 - gamma/(2r) of the claims +-2 and +-1.

    Examples
    --------
    >>> bins = MultiScaleBins(0.25)
    >>> bins.scales.tolist(), bins.n_pairs, bins.n_cells
    ([0.25, 0.5, 1.0], 10, 4)
    >>> list(zip(bins.scale.tolist(), bins.bin.tolist()))[5:8]
    [(0.5, 0.0), (0.5, 0.5), (0.5, 1.0)]
    """

    def __init__(self, gamma: float) -> None:
        self.gamma = check.half_open_unit("gamma", gamma)
        if self.gamma < SMALLEST_GAMMA:
            raise check.refuse("gamma", f"at least {SMALLEST_GAMMA}", self.gamma)
        count = int(1 / self.gamma) + 2
        points = self.gamma * np.arange(count, dtype=np.float64)
        self.points: FloatArray = points[points <= 1 + ROUNDING]
        if self.points[-1] > 1 - ROUNDING:  # 49 * (1 / 49) is a little less than 1
            self.points[-1] = 1.0
        last = self.points.size - 1
        steps = [2**s for s in range(last.bit_length()) if 2**s <= last]
        self.scales: FloatArray = self.gamma * np.array(steps, dtype=np.float64)
        positions = [np.arange(0, last + 1, step) for step in steps]
        self.step: IntArray = np.repeat(steps, [p.size for p in positions])
        self.position: IntArray = np.concatenate(positions)
        self.scale: FloatArray = self.gamma * self.step.astype(np.float64)
        self.bin: FloatArray = self.points[self.position]
        self.slack_far: FloatArray = 0.5 - 1 / (4 * self.step)
        self.slack_near: FloatArray = 0.5 - 1 / (2 * self.step)

    def __repr__(self) -> str:
        return f"MultiScaleBins(gamma={self.gamma})"

    @property
    def n_pairs(self) -> int:
        """|Theta|."""
        return int(self.step.size)

    @property
    def n_cells(self) -> int:
        """The number of open cells that the grid points leave of [0, 1]."""
        return int(self.points.size - (self.points[-1] == 1))

    @cached_property
    def cells(self) -> FloatArray:
        """One outcome inside each open cell: its middle, shape (n_cells,)."""
        ends = np.append(self.points, 1.0)[: self.n_cells + 1]
        return np.asarray((ends[:-1] + ends[1:]) / 2)

    @cached_property
    def live(self) -> BoolArray:
        """Which claims can fail at all, shape (n_pairs, 4): the others hold for every outcome."""
        top = self.points.size - 1 if self.points[-1] == 1 else self.points.size  # 1 in units, up
        near = self.step > 1
        return np.column_stack(
            [
                self.position + 2 * self.step < top,
                self.position - 2 * self.step > 0,
                near & (self.position > 0),
                near & (self.bin < 1),
            ]
        )

    def place(self, number: IntArray) -> FloatArray:
        """Return the grid points of these numbers, outside [0, 1] for numbers beyond the ends."""
        inside = np.clip(number, 0, self.points.size - 1)
        beyond = np.where(number < 0, -1.0, 2.0)
        return np.asarray(np.where(number == inside, self.points[inside], beyond))

    def index(self, scale: float, bin: float) -> int:  # noqa: A002 - the paper's word
        """Return the number of the pair (scale, bin)."""
        found = np.flatnonzero((self.scale == scale) & (self.bin == bin))
        if found.size == 0:
            raise InvalidArgument(f"({scale}, {bin}) must be a pair of {self!r}.")
        return int(found[0])
