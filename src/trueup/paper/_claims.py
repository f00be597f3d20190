"""The four claims of a pair (r, b), as functions h <= 0 in expectation (section 4 of the paper).

    h_{+2} = 1[v > b + 2r] - (1/2 - gamma/(4r))        h_{+1} = (1/2 - gamma/(2r)) - 1[v >= b]
    h_{-2} = 1[v < b - 2r] - (1/2 - gamma/(4r))        h_{-1} = (1/2 - gamma/(2r)) - 1[v <= b]

A threshold b +- 2r outside [0, 1] is not clipped: no outcome lies beyond it, so the claim is
always met. At a grid point each h is at most its value in either neighbouring cell (an open
indicator is 0 there, a closed one 1), so the worst outcome against any mixture is in an open cell.
"""

import numpy as np

from trueup.grid import MultiScaleBins
from trueup.protocols import Distribution, FloatArray, IntArray


def expected_claims(
    bins: MultiScaleBins, law: Distribution, pairs: IntArray | None = None
) -> FloatArray:
    """Return E h for v drawn from `law`, shape (n_pairs, 4), columns ordered as `grid.CLAIMS`.

    `pairs` asks for these rows only.
    """
    chosen = np.arange(bins.n_pairs) if pairs is None else pairs
    step, position = bins.step[chosen], bins.position[chosen]
    above, below = bins.place(position + 2 * step), bins.place(position - 2 * step)
    at = bins.bin[chosen]
    return np.column_stack(
        [
            1 - law.cdf(above) - bins.slack_far[chosen],
            law.cdf_left(below) - bins.slack_far[chosen],
            bins.slack_near[chosen] - (1 - law.cdf_left(at)),
            bins.slack_near[chosen] - law.cdf(at),
        ]
    )


def gains(bins: MultiScaleBins, weights: FloatArray) -> FloatArray:
    """Return f_c(v) = sum of weights times h, for every cell and pair, shape (n_cells, n_pairs).

    `weights` has shape (n_pairs, 4). The mixture kappa is exploited by no outcome when
    gains @ kappa is nowhere positive.
    """
    cell = np.arange(bins.n_cells)[:, None]
    far_up = cell >= bins.position + 2 * bins.step
    far_down = cell < bins.position - 2 * bins.step
    up = cell >= bins.position
    return np.asarray(
        weights[:, 0] * (far_up - bins.slack_far)
        + weights[:, 1] * (far_down - bins.slack_far)
        + weights[:, 2] * (bins.slack_near - up)
        + weights[:, 3] * (bins.slack_near - ~up)
    )
