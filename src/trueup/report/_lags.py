"""How much errors of rounds that were open together move together.

If every forecast is right given the outcomes known before it, and the last `late` outcomes may not
be known, then the identifications v_t have mean 0 and are uncorrelated with those more than `late`
rounds away. So the variance of a sum over many rounds in a row is their number times

    gamma_0 + 2 (gamma_1 + ... + gamma_late),

and bands for independent rounds are right for 1 / factor as many of them, `factor` being this over
gamma_0 (at least 1). Covariances are about the mean of v, so that a constant error does not widen
the bands.
"""

import numpy as np

from trueup.protocols import FloatArray


class Lags:
    """Sums of v, v^2, and of the `late` values before each."""

    def __init__(self, late: int) -> None:
        self.late = late
        self.tail = np.zeros(late)  # the last values, oldest first
        self.sums = np.zeros(5)  # rounds, v, v^2, w, v w; w being the sum of those before v

    def take(self, values: FloatArray) -> None:
        """Add the next values; 0 where there is none."""
        if not self.late:
            return
        n = values.size
        whole = np.concatenate([self.tail, values])
        upto = np.concatenate([[0.0], np.cumsum(whole)])
        before = upto[self.late : self.late + n] - upto[:n]
        parts = (np.ones(n), values, values**2, before, values * before)
        self.sums += [part.sum() for part in parts]
        self.tail = whole[whole.size - self.late :]

    @property
    def factor(self) -> float:
        """Over how many rounds at least an independent one is spread.

        >>> lags = Lags(1)
        >>> lags.take(np.array([1.0, 1.0, -1.0, -1.0] * 50))
        >>> round(lags.factor, 1), Lags(0).factor
        (1.0, 1.0)
        """
        n, v, square, w, product = self.sums.tolist()
        if not n:
            return 1.0
        mean = v / n
        spread = square - n * mean**2
        together = product - mean * w - self.late * mean * v + n * self.late * mean**2
        return max(1.0, 1.0 + 2.0 * together / spread) if spread > 0 else 1.0
