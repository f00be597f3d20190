"""The mixture that no outcome can exploit, as a linear program (lemma 4.1), solved by HiGHS.

Given weights on the claims, find a distribution kappa over pairs with

    sum over c of kappa_c f_c(v) <= 0      for every outcome v,

where f_c is the weighted sum of the claims of pair c. Only open cells need a row: at a grid point
no f_c is larger than in the neighbouring cells. (With rows for the grid points alone the program
is too weak; the worst outcome lies strictly between them.)

Weights may differ by many powers of ten. So each column is divided by its largest entry before
solving and the solution is divided back, and the answer is certified on the numbers as given:
its gain is at most 1e-9 of what the columns it uses could gain at most. (Weights that differ by
more than floats can hold are certified relative to the largest weight alone.)
"""

from typing import NamedTuple

import numpy as np

from trueup import _validation as check
from trueup.errors import InvalidArgument, SolverFailed
from trueup.grid import CLAIMS, MultiScaleBins
from trueup.paper._claims import gains
from trueup.protocols import ArrayLike, FloatArray, IntArray

__all__ = ["Solution", "solve_mixture"]

DUAL, PRIMAL = 1, 4  # simplex strategies of HiGHS
ATTEMPTS = ((DUAL, 1e-10), (PRIMAL, 1e-10), (DUAL, 1e-9), (DUAL, 1e-7), (PRIMAL, 1e-7))
ACCEPTED = 1e-9  # gain, relative to the largest entries of the columns that are used
LARGEST_PROGRAM = 20_000_000  # entries, about 1 GB while it is built


class Solution(NamedTuple):
    """A mixture over pairs with its certificate.

    `gain` is the largest expected weighted claim over all outcomes, recomputed from the weights
    as given; `relative_gain` is the same divided by the largest weight. At most 0 up to rounding.
    """

    pairs: IntArray  # numbers of the pairs with positive probability
    support: FloatArray  # b of each
    scales: FloatArray  # r of each
    probabilities: FloatArray
    gain: float
    relative_gain: float


def solve_mixture(weights: ArrayLike, bins: MultiScaleBins) -> Solution:
    """Return a mixture under which no outcome makes the weighted claims grow.

    Parameters
    ----------
    weights : array, shape (n_pairs, 4)
        One non-negative weight for each claim, columns ordered as `trueup.grid.CLAIMS`.
    bins : MultiScaleBins

    Examples
    --------
    >>> import numpy as np
    >>> bins = MultiScaleBins(0.25)
    >>> solution = solve_mixture(np.ones((bins.n_pairs, 4)), bins)
    >>> bool(solution.relative_gain < 1e-9), float(solution.probabilities.sum())
    (True, 1.0)
    """
    checked = _checked_weights(weights, bins)
    heaviest = float(checked.max()) or 1.0
    matrix = gains(bins, checked / heaviest)  # the program is homogeneous
    largest = np.abs(matrix).max(axis=0)
    largest[largest == 0] = 1.0
    mixture = _unexploited(matrix, largest)
    pairs = np.flatnonzero(mixture)
    gain = float((matrix @ mixture).max())
    return Solution(
        pairs, bins.bin[pairs], bins.scale[pairs], mixture[pairs], gain * heaviest, gain
    )


def _unexploited(matrix: FloatArray, largest: FloatArray) -> FloatArray:
    """Return a mixture whose gain is at most rounding, relative to the columns it uses.

    A column that is -1 in every cell is the optimum. Otherwise HiGHS is asked in several ways,
    because on widely spread columns one way may stop short of its tolerance; what counts is the
    gain. Where all stop short, a column that gains nowhere will do if there is one.
    """
    scaled = matrix / largest
    worst = scaled.max(axis=0)
    alone = np.asarray(np.arange(worst.size) == worst.argmin(), dtype=np.float64)
    if worst.min() <= -1:
        return alone
    tried = []
    for strategy, tolerance in ATTEMPTS:
        solution, status = _solve(scaled, strategy, tolerance)
        tried.append(status)
        if solution is None:
            continue
        mixture = np.clip(solution, 0.0, None) / largest
        mixture /= mixture.max()  # before summing, as the parts may be far apart
        mixture /= mixture.sum()
        if (matrix @ mixture).max() <= ACCEPTED * (mixture @ largest):
            return np.asarray(mixture)
    if worst.min() <= 0:
        return alone
    rows, columns = matrix.shape
    raise SolverFailed(f"HiGHS did not solve a {rows} x {columns} game: {', '.join(tried)}.")


def _checked_weights(weights: ArrayLike, bins: MultiScaleBins) -> FloatArray:
    check.instance("bins", bins, MultiScaleBins, "a MultiScaleBins")
    if bins.n_cells * bins.n_pairs > LARGEST_PROGRAM:
        raise InvalidArgument(
            f"gamma must leave at most {LARGEST_PROGRAM:.0e} entries in the linear program,"
            f" got {bins.gamma} with {bins.n_cells} x {bins.n_pairs}."
        )
    array = check.numbers("weights", weights)
    shape = (bins.n_pairs, len(CLAIMS))
    if array.shape != shape:
        raise InvalidArgument(f"weights must have shape {shape}, got {array.shape}.")
    if not np.isfinite(array).all() or array.min() < 0:
        raise InvalidArgument("weights must be finite and 0 or more.")
    return array


def _solve(matrix: FloatArray, strategy: int, tolerance: float) -> tuple[FloatArray | None, str]:
    """Return x in the simplex that minimises the largest entry of matrix @ x, and the status."""
    import highspy  # noqa: PLC0415 - loaded with the first linear program

    rows, columns = matrix.shape
    program = highspy.HighsLp()
    program.num_col_, program.num_row_ = columns + 1, rows + 1
    program.col_cost_ = np.append(np.zeros(columns), 1.0)
    program.col_lower_ = np.append(np.zeros(columns), -highspy.kHighsInf)
    program.col_upper_ = np.full(columns + 1, highspy.kHighsInf)
    program.row_lower_ = np.append(np.full(rows, -highspy.kHighsInf), 1.0)
    program.row_upper_ = np.append(np.zeros(rows), 1.0)
    full = np.zeros((columns + 1, rows + 1))  # by columns; the last one is the value t
    full[:columns, :rows], full[:columns, rows], full[columns, :rows] = matrix.T, 1.0, -1.0
    column, row = np.nonzero(full)
    program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    program.a_matrix_.start_ = np.searchsorted(column, np.arange(columns + 2))
    program.a_matrix_.index_ = row
    program.a_matrix_.value_ = full[column, row]
    solver = highspy.Highs()  # type: ignore[no-untyped-call]
    for name, value in (
        ("output_flag", False),
        ("threads", 1),
        ("presolve", "off"),
        ("simplex_strategy", strategy),
        ("primal_feasibility_tolerance", tolerance),
        ("dual_feasibility_tolerance", tolerance),
        ("simplex_iteration_limit", 100_000),
    ):
        solver.setOptionValue(name, value)
    solver.passModel(program)
    solver.run()
    status = solver.getModelStatus()
    solution = np.array(solver.getSolution().col_value)[:columns]
    usable = solution.size == columns and np.isfinite(solution).all() and solution.max() > 0
    return (solution if usable else None), status.name
