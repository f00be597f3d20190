"""How much errors of rounds that were open together move together.

If every forecast is right given the outcomes known before it, and the last `late` outcomes may not
be known, then the identifications v_t have mean 0 and are uncorrelated with those more than `late`
rounds away. So the variance of a sum over many rounds in a row is their number times

    gamma_0 + 2 (gamma_1 + ... + gamma_late),

and bands for independent rounds are right for 1 / factor as many of them, `factor` being this over
gamma_0 (at least 1). Covariances are about the mean of v, so that a constant error does not widen
the bands.

How many were open is known only at the end, so sums are kept for windows of 1, 2, 4, ... rounds;
the smallest that is large enough is used (at most 4,096).
"""

import numpy as np

from trueup.protocols import FloatArray

WINDOWS = [2**k for k in range(13)]
LONGEST = WINDOWS[-1]


class Lags:
    """Sums of values, of their squares, and of the values before each in windows."""

    def __init__(self) -> None:
        self.tail = np.zeros(LONGEST)  # the last values, oldest first
        self.sums = np.zeros(3)  # rounds, v, v^2
        self.before = np.zeros((len(WINDOWS), 2))  # w, v w; w being the sum of a window before v

    def take(self, values: FloatArray) -> None:
        """Add the next values; 0 where there is none."""
        n = values.size
        whole = np.concatenate([self.tail, values])
        upto = np.concatenate([[0.0], np.cumsum(whole)])
        self.sums += np.array([n, values.sum(), (values**2).sum()])  # no BLAS: the same bits always
        for k, window in enumerate(WINDOWS):
            start = LONGEST - window
            before = upto[LONGEST : LONGEST + n] - upto[start : start + n]
            self.before[k] += np.array([before.sum(), (values * before).sum()])
        self.tail = whole[whole.size - LONGEST :]

    def factor(self, late: int) -> float:
        """Over how many rounds at least an independent one is spread.

        >>> lags = Lags()
        >>> lags.take(np.array([1.0, 1.0, -1.0, -1.0] * 50))
        >>> lags.factor(0), round(lags.factor(1), 1)
        (1.0, 1.0)
        """
        n, v, square = self.sums.tolist()
        if not late or not n:
            return 1.0
        place = next((k for k, window in enumerate(WINDOWS) if window >= late), len(WINDOWS) - 1)
        (w, product), window = self.before[place].tolist(), WINDOWS[place]
        mean = v / n
        spread = square - n * mean**2
        together = product - mean * w - window * mean * v + n * window * mean**2
        return max(1.0, 1.0 + 2.0 * together / spread) if spread > 0 else 1.0
