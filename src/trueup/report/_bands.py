"""What a perfectly calibrated forecaster would show by chance.

Rounds are taken in the order of forecasts, each with the right property given what was known: then
sums of the identification are sums of martingale differences, whatever the outcomes depend on, and
for a quantile whose outcomes have no ties their law is a binomial exactly. With outcomes that come
late the bands are too narrow.
"""

import math
from statistics import NormalDist

import numpy as np

from trueup.protocols import FloatArray

ALPHA = 0.05  # all bins of one figure together stay in their bands with probability 1 - ALPHA


def binomial_band(count: int, probability: float, alpha: float) -> tuple[float, float]:
    """Return shares of a binomial count, each end passed with probability alpha / 2 at most.

    >>> binomial_band(10, 0.5, 0.05)
    (0.2, 0.8)
    """
    if count == 0:
        return 0.0, 1.0
    if probability <= 0 or probability >= 1:
        return probability, probability
    spread = math.sqrt(count * probability * (1 - probability))
    middle, reach = int(count * probability), int(10 * spread) + 30
    k = np.arange(max(middle - reach, 0), min(middle + reach, count) + 1)
    steps = np.log((count - k[:-1]) / (k[:-1] + 1.0)) + math.log(probability / (1 - probability))
    logs = np.concatenate([[0.0], np.cumsum(steps)])
    shares = np.exp(logs - logs.max())
    shares /= shares.sum()
    upto, least = np.cumsum(shares), alpha / 2
    low = int(k[np.argmax(upto > least)])  # Pr[below low] <= alpha / 2
    high = int(k[np.argmax(upto >= 1 - least)])  # Pr[above high] <= alpha / 2
    return low / count, high / count


def binomial_bands(
    counts: FloatArray, probabilities: FloatArray, alpha: float
) -> tuple[FloatArray, FloatArray]:
    """Return the bands of many counts."""
    pairs = zip(counts.tolist(), np.clip(probabilities, 0.0, 1.0).tolist(), strict=True)
    ends = np.array([binomial_band(int(n), p, alpha) for n, p in pairs]).reshape(-1, 2)
    return ends[:, 0], ends[:, 1]


def normal_reach(alpha: float) -> float:
    """Return how many standard deviations leave alpha outside.

    >>> round(normal_reach(0.05), 2)
    1.96
    """
    return NormalDist().inv_cdf(1 - alpha / 2)


def share_of_each(bins: int) -> float:
    """Return what each of so many bins may miss by, so that all together miss by ALPHA."""
    return ALPHA / max(bins, 1)


def mean_band(
    middle: FloatArray, counts: FloatArray, variances: FloatArray, alpha: float
) -> tuple[FloatArray, FloatArray]:
    """Return the band of means by the normal law."""
    reach = normal_reach(alpha) * np.sqrt(variances / np.maximum(counts, 1))
    return middle - reach, middle + reach
