"""The law that a matrix of rows leaves as it is: what Blum and Mansour's reduction plays.

Blum and Mansour, "From External to Internal Regret" (JMLR 2007): keep one learner per forecast i,
let Q_i be the law it recommends, play p with p Q = p, and give learner i the loss p_i l. Then

    sum_t <p_t, l_t> = sum_i sum_t p_{t,i} <Q_{t,i}, l_t>,

so the pseudo swap regret is at most the sum of the learners' own regrets.
"""

import numpy as np

from trueup.protocols import FloatArray

MIXING = 1e-10  # makes the law unique; far above rounding, and costs at most MIXING per round


def stationary_law(rows: FloatArray) -> FloatArray:
    """Return the p of the simplex with p Q = p, where Q = (1 - MIXING) rows + MIXING uniform.

    The balance equations sum to zero, so the last one gives way to "the sum is 1".

    >>> stationary_law(np.array([[0.5, 0.5], [0.25, 0.75]])).round(3)
    array([0.333, 0.667])
    """
    count = len(rows)
    system = ((1 - MIXING) * rows + MIXING / count).T - np.eye(count)
    system[-1] = 1.0
    right = np.zeros(count)
    right[-1] = 1.0
    law = np.maximum(np.linalg.solve(system, right), 0.0)
    return np.asarray(law / law.sum())
