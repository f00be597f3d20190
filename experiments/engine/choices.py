"""What was tried: the engine beside variants of it that differ in one choice each.

A variant is a setting of the engine, or its kernels with a few lines exchanged, each compiled as a
module of its own. Writes choices.md. Finished games are kept in work/ (--fresh forgets them);
progress goes to standard error.
"""

import argparse
import importlib.util
import json
import shutil
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

import trueup

HERE = Path(__file__).resolve().parent
KERNELS = Path(trueup.__file__).parent / "_kernels" / "_engine.py"
SOURCE = "kernels.txt"
ROUNDS = 100_000
HARD = ("fair coin", "side push", "just above", "sign preservation", "midpoint, 20 moves")

PRODUCT = """\
        won, total, rate = 0.0, 0.0, 0.5
        for k in range(N_RATES * claim, N_RATES * (claim + 1)):
            gain = rate * f[row + PRODUCTS + k] * off
            won += gain
            value = min(max(f[row + PRODUCTS + k] + gain, POOREST), RICHEST)
            f[row + PRODUCTS + k] = value
            total += rate * value
            rate *= RATE_STEP
"""
# of each claim X, V and its wealth, in the places of three products; psi(eta) = -ln(1 - eta) - eta
POTENTIAL = """\
        at = row + PRODUCTS + N_RATES * claim
        f[at] += off
        f[at + 1] += off * off
        money, wealth, total, rate = 0.25 * handed_out(number) / N_RATES, 0.0, 0.0, 0.5
        for k in range(N_RATES):
            value = money * math.exp(rate * f[at] - PSI[k] * f[at + 1])
            wealth += value
            total += rate * value
            rate *= RATE_STEP
        won = wealth - f[at + 2]
        f[at + 2] = wealth
"""
MONEY = "        f[at + k] = money / N_RATES\n"
SUMS = "        f[at + k] = money if (k - PRODUCTS) % N_RATES == 2 else 0.0\n"
RATE = "RATE_STEP = 0.25\n"
PSI = RATE + "PSI = tuple(-math.log1p(-0.5 * 0.25**k) - 0.5 * 0.25**k for k in range(6))\n"
OPTIMUM = "        if enter < 0:\n            return pivots\n"
FEASIBLE = "        if enter < 0 or table[m, n] > 0.5:\n            return pivots\n"
BY_SCALE = """\
@compiled
def by_scale(scale):
    return 1.0 / ((scale + 1.0) * (scale + 2.0) * (float(np.int64(1) << scale) + 1.0))


@compiled
def new_row("""
MEAN_RATE = "FRESH = 0.5 * (1.0 - 0.25**N_RATES) / (0.75 * N_RATES)"


@dataclass
class Variant:
    """One choice made otherwise."""

    what: str
    settings: dict[str, Any] = field(default_factory=dict)
    exchange: dict[str, str] = field(default_factory=dict)  # in the source of the kernels


def rates(count: int, step: float) -> dict[str, str]:
    """Return what makes the rates 1/2, step / 2, step^2 / 2, ..."""
    return {
        "N_RATES = 6 ": f"N_RATES = {count} ",
        "RATE_STEP = 0.25\n": f"RATE_STEP = {step}\n",
        MEAN_RATE: f"FRESH = 0.5 * (1.0 - {step}**N_RATES) / ({1 - step} * N_RATES)",
    }


BOTH_FORMS = (0, 1)  # played against all of SUITE
VARIANTS = (
    Variant("as it is: c = 0.25, 6 rates, 6 pairs remembered"),
    Variant(
        "(X, V): wealth exp(eta X - psi V)", exchange={PRODUCT: POTENTIAL, MONEY: SUMS, RATE: PSI}
    ),
    Variant("c = 0.125", {"c": 0.125}),
    Variant("c = 0.5", {"c": 0.5}),
    Variant("c = 1", {"c": 1.0}),
    Variant("1 rate: 2^-1", exchange=rates(1, 0.25)),
    Variant("3 rates: 2^-1, 2^-3, 2^-5", exchange=rates(3, 0.25)),
    Variant("11 rates: 2^-1, 2^-2, ..., 2^-11", exchange=rates(11, 0.5)),
    Variant("1 pair remembered", exchange={"KEPT = 6 ": "KEPT = 1 "}),
    Variant("2 pairs remembered", exchange={"KEPT = 6 ": "KEPT = 2 "}),
    Variant("12 pairs remembered", exchange={"KEPT = 6 ": "KEPT = 12 "}),
    Variant("the first mixture that will do", exchange={OPTIMUM: FEASIBLE}),
    Variant(
        "the first that will do, 2 pairs remembered",
        exchange={OPTIMUM: FEASIBLE, "KEPT = 6 ": "KEPT = 2 "},
    ),
    Variant(
        "money by scale, not by order",
        exchange={
            "@compiled\ndef new_row(": BY_SCALE,
            "money = 0.25 * handed_out(number)": "money = 0.25 * by_scale(scale)",
            "weight = 0.25 * handed_out(fresh) * FRESH": "weight = 0.25 * by_scale(scale) * FRESH",
        },
    ),
    Variant("expected updates", {"expected": True}),
)


def varied(variant: Variant, source: str) -> str:
    """Return the source of the kernels with its lines exchanged, each found exactly once."""
    for old, new in variant.exchange.items():
        if source.count(old) != 1:
            raise ValueError(f"{variant.what}: {old!r} is there {source.count(old)} times")
        source = source.replace(old, new)
    return source


def install(number: int, folder: Path) -> None:
    """Let this process use the kernels of a variant. Nothing of the engine may be loaded yet."""
    import trueup._kernels as package  # noqa: PLC0415

    name, path = "trueup._kernels._engine", folder / f"variant_{number}.py"
    source = varied(VARIANTS[number], (folder / SOURCE).read_text())
    if not path.exists() or path.read_text() != source:
        path.write_text(source)
    spec = importlib.util.spec_from_file_location(name, path)
    if name in sys.modules or spec is None or spec.loader is None:
        raise RuntimeError("The kernels are loaded already.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = package._engine = module  # type: ignore[attr-defined]  # noqa: SLF001
    spec.loader.exec_module(module)


def result(number: int, name: str, seed: int) -> dict[str, Any]:
    """Play one game of a variant, in a process where it is installed."""
    from games import game  # noqa: PLC0415 - after the variant

    from trueup.engine import Engine  # noqa: PLC0415

    engine = Engine(seed=seed, **VARIANTS[number].settings)
    game(Engine(), name, 10)  # compile
    played = game(engine, name, ROUNDS, seed + 100)
    info = engine.info()
    return {
        "regret": played.swap_regret / ROUNDS**0.5,
        "us": played.seconds / ROUNDS * 1e6,
        "visited": info.visited,
        "bytes": len(engine.to_bytes()),
        "peak": info.peak,
        "rounds": info.played,
    }


def results(number: int, work: Path, workers: int, seeds: range) -> dict[str, list[dict[str, Any]]]:
    """Play what has not been played yet of a variant; return everything."""
    from games import NAMES  # noqa: PLC0415
    from keeping import write  # noqa: PLC0415

    names = NAMES if number in BOTH_FORMS else HARD
    jobs = [(number, name, seed) for name in names for seed in seeds]
    files = {job: work / ("-".join(map(str, job)).replace(" ", "_") + ".json") for job in jobs}
    missing = [job for job in jobs if not files[job].exists()]
    start = time.perf_counter()
    if missing:
        context = get_context("spawn")  # a process without an engine in it
        with ProcessPoolExecutor(workers, context, install, (number, work)) as pool:
            running = {pool.submit(result, *job): job for job in missing}
            for future in as_completed(running):
                write(files[running[future]], json.dumps(future.result()))
        took = time.perf_counter() - start
        print(f"{VARIANTS[number].what}: {took:.0f} s", file=sys.stderr, flush=True)
    return {
        name: [json.loads(files[number, name, seed].read_text()) for seed in seeds]
        for name in names
    }


def beside(everything: list[dict[str, list[dict[str, Any]]]]) -> str:
    """Return both forms of wealth on every adversary, as Markdown."""
    text = [
        "",
        "Products beside sums (X, V), the same games on all of `SUITE`; us of processor time.",
        "",
        "| adversary | product: mean (worst) | (X, V): mean (worst) | product: us | (X, V): us |",
        "|---|---|---|---|---|",
    ]
    forms = [everything[number] for number in BOTH_FORMS]
    totals = []
    for name in forms[0]:
        games = [[game[key] for game in form[name]] for key in ("regret", "us") for form in forms]
        means = [float(np.mean(column)) for column in games]
        totals.append(means)
        regrets = (f"{np.mean(x):.2f} ({np.max(x):.2f})" for x in games[:2])
        text.append(f"| {name} | {' | '.join(regrets)} | {means[2]:.2f} | {means[3]:.2f} |")
    total = np.mean(totals, axis=0)
    text.append("| mean | " + " | ".join(f"{x:.2f}" for x in total) + " |")
    return "\n".join(text) + "\n"


def table(everything: list[dict[str, list[dict[str, Any]]]], seeds: int) -> str:
    """Return the results as Markdown."""
    text = [
        f"Swap regret / sqrt(T), T = {ROUNDS:,}, mean and (worst) of {seeds} seeds; us of"
        " processor time a round with the adversary, bytes of the saved state per visited pair,"
        f" means over these games. Written by choices.py of version {trueup.__version__}.",
        "",
        "| variant | " + " | ".join(HARD) + " | mean | us | pairs | bytes a pair | peak wealth |",
        "|---|" + "---|" * (len(HARD) + 5),
    ]
    for variant, played in zip(VARIANTS, everything, strict=True):
        regrets = {name: [game["regret"] for game in played[name]] for name in HARD}
        cells = " | ".join(f"{np.mean(x):.2f} ({np.max(x):.2f})" for x in regrets.values())
        games = [game for name in HARD for game in played[name]]
        mean = np.mean(list(regrets.values()))
        us, visited = (np.mean([game[key] for game in games]) for key in ("us", "visited"))
        per_pair = sum(game["bytes"] for game in games) / sum(game["visited"] for game in games)
        peak = max(game["peak"] for game in games)
        text.append(
            f"| {variant.what} | {cells} | {mean:.2f} | {us:.2f} | {visited:.0f}"
            f" | {per_pair:.0f} | {peak:.3g} |"
        )
    return "\n".join(text) + "\n"


def main() -> None:
    """Play all variants and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=2, help="processes")
    parser.add_argument("--fresh", action="store_true", help="forget finished games")
    parser.add_argument("--seeds", type=int, default=10, help="games of each kind")
    options = parser.parse_args()
    source = KERNELS.read_text()
    for variant in VARIANTS:
        varied(variant, source)  # all lines must be there before anything is played
    import games  # noqa: F401, PLC0415 - so that its sources are in the fingerprint
    from keeping import fingerprint, write  # noqa: PLC0415

    work = HERE / "work" / fingerprint("choices")
    if options.fresh:
        shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True, exist_ok=True)
    write(work / SOURCE, source)
    seeds = range(options.seeds)
    everything = [results(number, work, options.workers, seeds) for number in range(len(VARIANTS))]
    text = table(everything, options.seeds) + beside(everything)
    write(HERE / "choices.md", text)
    print(text)


if __name__ == "__main__":
    main()
