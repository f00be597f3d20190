"""How fast the engine is, each number as a ratio to its target, all measured in one run.

Seconds are processor time, best of a few, so that other work on the machine disturbs little; all
on one core. With --long the growth of a round is followed to 10^8 rounds.
"""

import argparse
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

import trueup as tu
from trueup._kernels import _engine as kernels
from trueup.adversaries import SUITE, Adversary, GeneralConvex, JustAbove, SidePush
from trueup.engine import Engine
from trueup.grid import MultiScaleBins
from trueup.losses import Absolute
from trueup.paper import solve_mixture
from trueup.protocols import FloatArray
from trueup.replay import duel
from trueup.replay._duel import KINDS

ROUNDS = 10**6
ARRAYS, ADVERSARIES, PROGRAM, GROWTH, STATE = 2e6, 4e5, 2_000.0, 1.5, 64_000
RIVER = 'river is not installed; ".venv/bin/pip install river" and run again for this line'


def seconds(work: Callable[[], object], times: int = 3) -> float:
    """Return the shortest processor time of a few runs."""
    took = []
    for _ in range(times):
        start = time.process_time()
        work()
        took.append(time.process_time() - start)
    return min(took)


def show(what: str, value: str, target: str = "", *, met: bool | None = None) -> None:
    """Print a line."""
    verdict = "" if met is None else "met" if met else "MISSED"
    print(f"{what:58} {value:>26}  {target:>22}  {verdict}".rstrip(), flush=True)


def streams() -> dict[str, FloatArray]:
    """Return outcomes that nobody made difficult, and a fair coin."""
    rng = np.random.default_rng(0)
    series, noise = np.empty(ROUNDS), rng.normal(0.0, 0.05, ROUNDS)
    last = 0.0
    for t, step in enumerate(noise.tolist()):
        last = 0.9 * last + step
        series[t] = last
    return {
        "uniform": rng.uniform(size=ROUNDS),
        "beta(2, 5)": rng.beta(2, 5, ROUNDS),
        "AR(1) of coefficient 0.9": np.clip(0.5 + series, 0.0, 1.0),
        "constant": np.full(ROUNDS, 0.3),
        "fair coin": rng.integers(0, 2, ROUNDS).astype(np.float64),
    }


def whole_arrays() -> None:
    """Time `Engine.play` on arrays, with the default settings and with a belief."""
    for name, outcomes in streams().items():
        for wanted in (tu.Median(), tu.Quantile(0.9)):
            took = seconds(lambda y=outcomes, p=wanted: Engine(seed=1).play(y, p))  # type: ignore[misc]
            line(f"play, {name}, {wanted!r}", took)
    nodes, heights = np.array([0.0, 1.0]), np.broadcast_to([0.0, 1.0], (ROUNDS, 2))
    belief = {"nodes": nodes, "cdfs": heights}
    outcomes = streams()["uniform"]
    took = seconds(lambda: Engine(seed=1).play(outcomes, tu.Median(), **belief))
    line("play, uniform, Median(), and its law as belief", took)


def line(what: str, took: float) -> None:
    """Print rounds per second of a whole array."""
    rate = ROUNDS / took
    show(what, f"{rate:,.0f} rounds/s", f"{ARRAYS:,.0f}", met=rate >= ARRAYS)


def against(adversary: Adversary) -> float:
    """Return us a round against an adversary, without the making of what does not look."""
    first = duel(Engine(seed=1), adversary, ROUNDS)
    if type(adversary) in KINDS:
        took = seconds(lambda: duel(Engine(seed=1), adversary, ROUNDS), 2)
    elif isinstance(adversary, GeneralConvex):
        tosses = np.zeros(ROUNDS)
        took = seconds(
            lambda: Engine(seed=1).play_against(
                kernels.GIVEN, (0.0, 0.0), first.losses[0], first.losses, ROUNDS, 0, tosses, 1.0
            ),
            2,
        )
    else:
        wanted: Any = adversary.wanted  # type: ignore[attr-defined]
        took = seconds(lambda: Engine(seed=1).play(first.outcomes, wanted), 2)
    return took / ROUNDS * 1e6


def suite() -> float:
    """Time every adversary of SUITE; return the mean of us a round."""
    times = [against(adversary) for adversary in SUITE]
    for adversary, us in zip(SUITE, times, strict=True):
        show(f"  {adversary!r:.54}", f"{us:.2f} us a round")
    rate = 1e6 / float(np.mean(times))
    show("SUITE, rounds/s at the mean time", f"{rate:,.0f} rounds/s", f"{ADVERSARIES:,.0f}",
         met=rate >= ADVERSARIES)  # fmt: skip
    show("SUITE, mean of rounds/s", f"{np.mean(1e6 / np.array(times)):,.0f} rounds/s")
    return float(np.mean(times))


def weights_of(engine: Engine, bins: MultiScaleBins) -> FloatArray:
    """Return what the engine weighs each claim of each pair with, in the order of `bins`."""
    i, f = engine.state
    finest = round(-np.log2(bins.gamma))
    table = np.empty((bins.n_pairs, 4))
    fresh = 0.25 * kernels.handed_out(int(i[kernels.ROWS])) * kernels.FRESH
    for number, (step, position) in enumerate(zip(bins.step, bins.position, strict=True)):
        scale = finest - int(step).bit_length() + 1
        row = kernels.row_of(i, 0, scale, int(position // step))
        at = int(i[kernels.AT_FROWS]) + kernels.ROW * row + kernels.WEIGHTS
        table[number] = f[at : at + 4] if row >= 0 else fresh
    return table


def program() -> None:
    """Time the linear program of the whole grid against a round of the engine, in one game.

    T = 10^6 with gamma = 2^-10 throughout, near 1 / sqrt(T); the weights are those of the engine
    after half of the game.
    """
    for adversary in (SidePush(), JustAbove()):
        engine = Engine(seed=1, c=1.0, horizon=ROUNDS)
        duel(engine, adversary, ROUNDS // 2)
        bins = MultiScaleBins(engine.spacing)
        weights = weights_of(engine, bins)
        solve_mixture(np.ones((bins.n_pairs, 4)), bins)
        took = seconds(partial(solve_mixture, weights, bins))
        own = seconds(partial(duel, engine, adversary, ROUNDS // 10)) / (ROUNDS // 10)
        name = f"linear program / round, {type(adversary).__name__}"
        value = f"{took * 1e3:.0f} ms / {own * 1e6:.2f} us = {took / own:,.0f}"
        show(name, value, f"{PROGRAM:,.0f}", met=took / own >= PROGRAM)


def growth(*, long: bool) -> None:
    """Time a round as the game goes on: one engine, the last rounds before each power of ten."""
    for adversary in (SidePush(), JustAbove(tu.Quantile(0.9))):
        few = [seconds(lambda a=adversary: duel(Engine(seed=1), a, 10_000)) for _ in range(3)]  # type: ignore[misc]
        times, engine, played = {10_000: min(few) / 10_000 * 1e6}, Engine(seed=1), 0
        for end in (10**5, 10**6, 10**7, 10**8) if long else (10**5, 10**6, 10**7):
            while played < end:
                count = min(end - played, ROUNDS)
                took = seconds(partial(duel, engine, adversary, count), 1) / count * 1e6
                played += count
            times[end] = took
        shown = ", ".join(f"{us:.2f}" for us in times.values())
        value = times[end] / times[10_000]
        show(f"us a round, T = 10^4 .. {end:.0e}, {type(adversary).__name__}", shown)
        show("  last / first", f"{value:.2f}", f"at most {GROWTH}", met=value <= GROWTH)


def python_rounds() -> None:
    """Time predict and update from Python beside a conformal wrapper of river."""
    outcomes = np.random.default_rng(0).uniform(size=20_000).tolist()

    def engine() -> None:
        own = Engine(seed=1)
        for y in outcomes:
            own.predict()
            own.update(Absolute(y))

    def calibrator() -> None:
        own = tu.Calibrator(tu.Median(), bounds=(0.0, 1.0))
        for y in outcomes:
            own.predict()
            own.update(y)

    ours = {"Engine": engine, "Calibrator": calibrator}
    times = {name: seconds(work) / len(outcomes) * 1e6 for name, work in ours.items()}
    for name, us in times.items():
        show(f"{name}.predict and update from Python", f"{us:.2f} us")
    if find_spec("river") is None:
        show("a step of river's jackknife around a mean", RIVER)
        return
    conf, dummy, stats = (import_module(f"river.{part}") for part in ("conf", "dummy", "stats"))

    def wrapper() -> None:
        own = conf.RegressionJackknife(dummy.StatisticRegressor(stats.Mean()), confidence_level=0.9)
        for y in outcomes:
            own.predict_one({}, with_interval=True)
            own.learn_one({}, y)

    us = seconds(wrapper) / len(outcomes) * 1e6
    show("a step of river's jackknife around a mean", f"{us:.2f} us")
    for name, own_us in times.items():
        show(f"  {name} / river", f"{own_us / us:.1f}")


def state() -> None:
    """Count the bytes of the state after a million rounds."""
    for name, outcomes in streams().items():
        engine = Engine(seed=1)
        engine.play(outcomes, tu.Median())
        info = engine.info()
        value = f"{info.nbytes:,} bytes, {info.visited} pairs"
        show(f"state after 10^6 rounds, {name}", value, f"{STATE:,}", met=info.nbytes <= STATE)


def main() -> None:
    """Print one line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--long", action="store_true", help="follow the growth to 10^8 rounds")
    options = parser.parse_args()
    duel(Engine(), SidePush(), 100)  # compile
    Engine().play(np.zeros(10), tu.Median())
    whole_arrays()
    suite()
    program()
    growth(long=options.long)
    python_rounds()
    state()


if __name__ == "__main__":
    main()
