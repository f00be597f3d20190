"""Seconds of the parts that have a target, best of three.

Metrics on a million rounds, the exact small games, a round of the faithful predictor. Quality is
measured in experiments/, not here.
"""

import time
from collections.abc import Callable
from functools import partial

import numpy as np

import trueup as tu
from trueup.adversaries import SidePush
from trueup.metrics import swap_regret
from trueup.paper import EfficientPredictor, minimax
from trueup.replay import play

ROUNDS = 10**6
RNG = np.random.default_rng(0)
OUTCOMES = RNG.beta(2, 5, ROUNDS)
FORECASTS = {
    "100 values": RNG.integers(0, 100, ROUNDS) / 99,
    "all distinct": RNG.uniform(size=ROUNDS),
}
THREE = [0.0, 0.5, 1.0]


def seconds(work: Callable[[], object]) -> float:
    """Return the shortest of three runs."""
    times = []
    for _ in range(3):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def faithful(rounds: int) -> None:
    """Play one run of the faithful predictor."""
    play(EfficientPredictor(rounds, seed=1), SidePush())


def main() -> None:
    """Print one line for each."""
    for wanted in (tu.Quantile(0.9), tu.Mean(), tu.Expectile(0.8)):
        for name, forecasts in FORECASTS.items():
            took = seconds(partial(swap_regret, forecasts, OUTCOMES, wanted))
            print(f"swap_regret, 10^6 outcomes, {name:12}  {wanted!r:22} {took:8.3f} s")
    took = seconds(partial(minimax.value, 16, THREE, THREE))
    print(f"minimax.value, 3 x 3 points, T = 16                       {took:8.3f} s")
    for rounds in (1_000, 4_000):
        took = seconds(partial(faithful, rounds)) / rounds
        print(f"EfficientPredictor against SidePush, T = {rounds:5} {took * 1e6:16.0f} us")


if __name__ == "__main__":
    main()
