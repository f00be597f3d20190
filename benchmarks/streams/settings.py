"""The rivals, each with its documented default and its grid.

What has to be known in advance is given to them: SF-OGD, SAOCP, the gain of P + I and the sizes of
the decaying tracker get their scale from the first 100 residuals, which nobody is measured on; MVP
and the internal-regret grid even get the range of all residuals, an oracle's help.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import twins
from scores import FIRST

from trueup.baselines import (
    ACI,
    FACI,
    MVP,
    SAOCP,
    SFOGD,
    Calibeating,
    DecayingTracker,
    DtACI,
    FixedSplit,
    HedgedBins,
    IntegralTracker,
    InternalRegretGrid,
    OnlinePlatt,
    PSquare,
    QuantileTracker,
    Recalibrator,
    TrailingWindow,
    WeightedQuantile,
    gradient_scale,
)
from trueup.baselines._dtaci import tuned_rate
from trueup.baselines._rival import coin, miss_rate
from trueup.protocols import FloatArray

SEED = 0


class Known(NamedTuple):
    """What is known of the residuals in advance."""

    scale: float  # D, of the first 100
    low: float  # the range of all of them
    high: float
    floor: float  # 0 where residuals are distances
    total: int

    @staticmethod
    def of(residuals: FloatArray) -> "Known":
        """Return what an oracle would tell."""
        low, high = float(residuals.min()), float(residuals.max())
        room = 1e-9 * max(abs(low), abs(high), 1e-9)
        floor = 0.0 if low >= 0 else -math.inf
        scale = gradient_scale(residuals[:FIRST])
        return Known(scale, low - room, high + room, floor, residuals.size)


class Entry(NamedTuple):
    """One setting of one rival: the object, and its compiled twin."""

    rival: str
    setting: str
    default: bool
    make: Any  # of (level, Known): a ThresholdRival
    twin: Any  # of (residuals, level, Known): the thresholds; None where sorting is shared
    row: Any = None  # the window and, of (level), the row of `sorted_thresholds`
    decay: float | None = None  # of `aged`


def _sorted(
    rival: str, setting: str, make: Any, window: int, row: Any, *, default: bool = False
) -> Entry:
    return Entry(rival, setting, default, make, None, (window, row))


def _quantiles() -> Iterator[Entry]:
    """Return the rivals that issue sample quantiles."""
    for window in (100, 250, 500, 1000, 2000):
        yield _sorted(
            "trailing window",
            f"window={window}",
            lambda level, _, w=window: TrailingWindow(level, window=w),
            window,
            lambda level: [twins.QUANTILE, miss_rate(level), level],
            default=window == 100,
        )
    steps = (0.1, 0.05, 0.02, 0.01, 0.005, 0.001, 0.0001)
    for window in (0, 500):
        for step in steps:
            yield _sorted(
                "ACI",
                f"step={step:g}" + (f" window={window}" if window else ""),
                lambda level, _, s=step, w=window: ACI(level, step=s, window=w or None),
                window,
                lambda level, s=step: [twins.ADAPTIVE, miss_rate(level), s],
                default=step == 0.005 and not window,
            )
    yield _sorted(
        "DtACI",
        "rate=2.72",
        lambda level, _: DtACI(level),
        0,
        lambda level: [twins.WEIGHED, miss_rate(level), 2.72, 0.001, 0, 0],
        default=True,
    )
    for interval in (100, 500):
        yield _sorted(
            "DtACI",
            f"tuned for {interval}",
            lambda level, _, i=interval: DtACI.tuned(level, interval=i),
            0,
            lambda level, i=interval: [
                twins.WEIGHED,
                miss_rate(level),
                tuned_rate(miss_rate(level), interval=i),
                1 / (2 * i),
                0,
                0,
            ],
        )
    yield _sorted(
        "FACI",
        "",
        lambda level, _: FACI(level),
        0,
        lambda level: [
            twins.WEIGHED,
            miss_rate(level),
            tuned_rate(miss_rate(level), share=1 / 3),
            1 / 200,
            1,
            math.floor(1 / miss_rate(level)),
        ],
        default=True,
    )


def _trackers() -> Iterator[Entry]:
    rates = (1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002)
    for rate in rates:
        yield Entry(
            "quantile tracker",
            f"rate={rate:g}",
            rate == 0.1,
            lambda level, _, r=rate: QuantileTracker(level, rate=r),
            lambda r, level, _, rate=rate: twins.tracked(
                r, twins.widths(r, 100), miss_rate(level), rate, 1.0, 0.0
            ),
        )
    gains = ((5.0, 10.0), (1.0, 200.0), (0.1, 100.0), (2.0, 1000.0), None)
    for rate in (0.1, 0.05, 0.02, 0.01):
        for pair in gains:
            yield Entry(
                "P + I",
                f"rate={rate:g} "
                + ("automatic" if pair is None else f"C={pair[0]:g} K={pair[1]:g}"),
                rate == 0.1 and pair == gains[0],
                lambda level, known, r=rate, p=pair: IntegralTracker(
                    level,
                    rate=r,
                    saturation=(p or automatic(known))[0],
                    gain=(p or automatic(known))[1],
                ),
                lambda r, level, known, rate=rate, p=pair: twins.tracked(
                    r, twins.widths(r, 100), miss_rate(level), rate, *(p or automatic(known))
                ),
            )
    for share in (None, 0.03, 0.1, 0.3, 1.0):
        yield Entry(
            "decaying tracker",
            "size=1" if share is None else f"size={share:g} of the largest",
            share is None,
            lambda level, known, s=share: DecayingTracker(level, size=sized(s, known)),
            lambda r, level, known, s=share: twins.decaying(
                r, miss_rate(level), 0.6, sized(s, known)
            ),
        )


def automatic(known: Known) -> tuple[float, float]:
    """Return C and K by the rule of R's conformalForecast."""
    logs = math.log(max(known.total, 3))
    return 2 / math.pi * (math.ceil(0.01 * logs) - 1 / logs), known.scale / math.sqrt(3)


def sized(share: float | None, known: Known) -> float:
    """Return the first step of the decaying tracker."""
    return 1.0 if share is None else share * known.scale / math.sqrt(3)


def _gradients() -> Iterator[Entry]:
    for share in (0.1, 0.3, 1.0, 3.0):
        setting = "scale=D" if share == 1 else f"scale={share:g} D"
        yield Entry(
            "SF-OGD",
            setting,
            share == 1,
            lambda level, k, s=share: SFOGD(level, scale=s * k.scale, floor=k.floor),
            lambda r, level, k, s=share: twins.descended(r, miss_rate(level), s * k.scale, k.floor),
        )
        yield Entry(
            "SAOCP",
            setting,
            share == 1,
            lambda level, k, s=share: SAOCP(level, scale=s * k.scale, floor=k.floor),
            lambda r, level, k, s=share: twins.adapted(
                r, level, miss_rate(level), s * k.scale, 8, k.floor
            ),
        )


COINS: dict[int, FloatArray] = {}


def coins(total: int) -> FloatArray:
    """Return the coins that rivals of the seed toss."""
    if total not in COINS:
        COINS[total] = np.array([coin(SEED, k) for k in range(total)])
    return COINS[total]


def _grids() -> Iterator[Entry]:
    for buckets, resolution, rate in ((50, 1000, 0.5), (40, 800_000, 0.118), (100, 1000, 0.5)):
        yield Entry(
            "MVP",
            f"buckets={buckets} rate={rate:g}",
            buckets == 50,
            lambda level, k, b=buckets, r=resolution, e=rate: MVP(
                level, SEED, buckets=b, resolution=r, rate=e, low=k.low, high=k.high
            ),
            lambda x, level, k, b=buckets, r=resolution, e=rate: twins.multivalid(
                x, miss_rate(level), coins(x.size + 1), b, r, e, k.low, k.high
            ),
        )
    for points in (10, 20):
        yield Entry(
            "internal regret",
            f"points={points}",
            points == 10,
            lambda level, k, n=points: InternalRegretGrid(
                level, SEED, points=n, low=k.low, high=k.high
            ),
            lambda x, level, k, n=points: twins.regretless(
                x, level, coins(x.size + 1), n, k.low, k.high
            ),
        )


def _controls() -> Iterator[Entry]:
    for first in (100, 1000):
        yield Entry(
            "fixed split",
            f"first={first}",
            first == 100,
            lambda level, _, n=first: FixedSplit(level, first=n),
            lambda r, level, _, n=first: fixed(r, level, n),
        )
    for decay in (0.97, 0.99, 0.995, 0.998):
        yield Entry(
            "weighted quantile",
            f"decay={decay:g}",
            decay == 0.99,
            lambda level, _, d=decay: WeightedQuantile(level, decay=d),
            None,
            None,
            decay,
        )
    yield Entry(
        "P-square",
        "",
        default=True,
        make=lambda level, _: PSquare(level),
        twin=lambda r, level, _: twins.marked(r, level),
    )


def fixed(residuals: FloatArray, level: float, first: int) -> FloatArray:
    """Return the quantile of the first residuals."""
    early = twins.sorted_thresholds(residuals[:first], 0, np.array([[0.0, 0.0, level]]))[0]
    rest = np.full(max(residuals.size - first, 0), early[-1])
    return np.concatenate([early, rest])


FAMILIES: dict[str, Callable[[], Iterator[Entry]]] = {
    "sample quantiles": _quantiles,
    "trackers": _trackers,
    "gradients": _gradients,
    "grids": _grids,
    "controls": _controls,
}


def ages(decay: float) -> FloatArray:
    """Return the weights of residuals by age, as far as they count."""
    kept = math.ceil(math.log(1e-17) / math.log(decay))
    return np.array([decay**age for age in range(kept + 1)])


RECALIBRATORS: list[tuple[str, str, bool, Callable[[], Recalibrator]]] = [
    *(
        (
            "online Platt",
            f"rate={rate:g}",
            rate == 0.1,
            lambda r=rate: OnlinePlatt(rate=r),
        )
        for rate in (0.01, 0.03, 0.1, 0.3, 1.0)
    ),
    *(
        (
            name,
            f"bins={bins}" + (" on Platt" if platt else ""),
            bins == 10 and platt,
            lambda k=kind, b=bins, p=platt: k(OnlinePlatt() if p else None, bins=b),
        )
        for name, kind in (("calibeating", Calibeating), ("hedged bins", HedgedBins))
        for bins in (5, 10, 20)
        for platt in (True, False)
    ),
]
