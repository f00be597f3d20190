"""The calibrator: one by one, whole arrays, many series, saved and loaded.

Targets: a million rounds a second on whole arrays with refining and steering off; 100,000 series of
100 points in under 30 s on two cores and under 4 kB each (`--long`; 5,000 series otherwise).
"""

import argparse
import time
from collections.abc import Callable

import numpy as np

import trueup as tu

ROUNDS, STEPS, POINTS = 10**6, 20_000, 100
RNG = np.random.default_rng(0)
OUTCOMES = 20.0 + 5.0 * RNG.gamma(3.0, 2.0, ROUNDS)
OWN = OUTCOMES + RNG.normal(0.0, 5.0, ROUNDS)


def seconds(work: Callable[[], object], times: int = 3) -> float:
    """Return the shortest of some runs."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return min(taken)


def steps(wanted: tu.Quantile | tu.calibrator.Interval) -> None:
    """Predict and update, one by one."""
    calibrator = tu.Calibrator(wanted)
    for own, outcome in zip(OWN[:STEPS].tolist(), OUTCOMES[:STEPS].tolist(), strict=True):
        calibrator.predict(own)
        calibrator.update(outcome)


def main() -> None:
    """Print one line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--long", action="store_true", help="100,000 series")
    series = 100_000 if parser.parse_args().long else 5_000
    ninety = tu.Quantile(0.9)
    tu.calibrate(OUTCOMES[:100], ninety)  # compiled now
    for name, settings in (
        ("plain", {"steer": False, "exact": True}),
        ("refined", {"steer": False}),
        ("all on", {}),
    ):
        took = seconds(lambda settings=settings: tu.calibrate(OUTCOMES, ninety, **settings))  # type: ignore[misc]
        print(f"calibrate, 10^6 outcomes, {name:30} {ROUNDS / took:12,.0f} rounds/s")
    took = seconds(lambda: tu.calibrate(OUTCOMES, ninety, forecasts=OWN))
    print(f"calibrate, 10^6 outcomes, all on, own forecasts        {ROUNDS / took:12,.0f} rounds/s")
    for wanted in (ninety, tu.Interval(0.9)):
        took = seconds(lambda wanted=wanted: steps(wanted)) / STEPS  # type: ignore[misc]
        print(f"predict and update, {wanted!r:30}      {took * 1e6:12.1f} us")
    calibrator = tu.calibrate(OUTCOMES, ninety).calibrator
    data = calibrator.to_bytes()
    took, size = seconds(calibrator.to_bytes), len(data) / 1e3
    print(f"to_bytes after 10^6 rounds, {size:6.1f} kB              {took * 1e6:12.1f} us")
    took = seconds(lambda: tu.Calibrator.from_bytes(data))
    print(f"from_bytes                                             {took * 1e6:12.1f} us")
    slow = 10 * np.sin(np.arange(ROUNDS) / 500) + RNG.normal(size=ROUNDS)
    for name, stream in (
        ("a slow wave", slow),
        ("a random walk", RNG.normal(size=ROUNDS).cumsum()),
    ):
        calibrator = tu.calibrate(stream, ninety).calibrator
        size, bins = len(calibrator.to_bytes()) / 1e3, len(calibrator.evidence(10**6))
        print(f"state after 10^6 rounds of {name:20} {size:10.1f} kB, {bins:5} bins")
    keys = np.tile(np.arange(series), POINTS)
    outcomes = RNG.gamma(3.0, 2.0, keys.size)
    panel = tu.Panel(ninety)
    took = seconds(lambda: panel.run(keys, outcomes), 1)
    size = panel.nbytes / series
    print(f"Panel, {series:7,} series of {POINTS}, {size:5.0f} bytes each         {took:12.1f} s")


if __name__ == "__main__":
    main()
