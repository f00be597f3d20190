"""The engine against every adversary of SUITE, up to 10^8 rounds, and late outcomes.

Writes results.json, table.md and figure.svg beside this file. Finished games are kept in work/ and
not played again (--fresh forgets them); progress goes to standard error.
"""

import argparse
import json
import shutil
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any, NamedTuple

from games import ADVERSARY, NAMES, disagreements, game
from keeping import fingerprint, write
from report import LATE, PANELS, figure, late, others, reach, slopes, table, unexpected

from trueup.baselines import BlumMansour, SingleScale, TreeSwap
from trueup.engine import Engine
from trueup.metrics import swap_regret
from trueup.paper import EfficientPredictor
from trueup.protocols import Forecaster
from trueup.replay import play

HERE = Path(__file__).resolve().parent
SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 10_000_000)
LONGEST = 100_000_000  # for the figure alone
REACH, LATE_ROUNDS = (100_000, 1_000_000), 100_000
DELTA = 0.05
OTHERS: dict[str, Callable[[int, int], Forecaster]] = {
    "Blum-Mansour": BlumMansour,
    "single scale": SingleScale,
    "TreeSwap": TreeSwap,
    "faithful": lambda rounds, seed: EfficientPredictor(rounds, DELTA, seed),
}
COST = {"engine": 1.5, "faithful": 1_000.0}  # us a round, to begin with the long games; else 75


class Job(NamedTuple):
    """One game."""

    forecaster: str
    adversary: str
    rounds: int
    seed: int
    late: int = 0


def seeds(forecaster: str, rounds: int) -> range:
    """Return the seeds of a size: fewer for longer games."""
    if forecaster == "engine":
        return range(10 if rounds <= 1_000_000 else 3 if rounds < LONGEST else 1)
    return range(3 if rounds <= 10_000 else 1)


def all_jobs(largest: int) -> list[Job]:
    """Return all games of up to so many rounds."""
    jobs = [Job("engine", n, t, s) for n in NAMES for t in SIZES for s in seeds("engine", t)]
    jobs += [Job("engine", n, LONGEST, s) for n in PANELS for s in seeds("engine", LONGEST)]
    jobs += [Job("engine", "side push", LATE_ROUNDS, s, d) for d in LATE for s in range(10)]
    for forecaster in OTHERS:
        sizes = [t for t in SIZES if t <= (3_000 if forecaster == "faithful" else 300_000)]
        jobs += [
            Job(forecaster, n, t, s) for n in PANELS for t in sizes for s in seeds(forecaster, t)
        ]
    return [job for job in jobs if job.rounds <= largest]


def result(job: Job) -> dict[str, Any]:
    """Play one game and return its numbers."""
    numbers = job._asdict()
    if job.forecaster == "engine":
        engine = Engine(seed=job.seed)
        played = game(engine, job.adversary, job.rounds, job.seed + 100, late=job.late)
        info = engine.info()
        numbers |= {"swap_regret": played.swap_regret, "us": played.seconds / job.rounds * 1e6}
        return numbers | {"visited": info.visited, "peak": info.peak, "gains": info.gains}
    adversary = ADVERSARY[job.adversary]
    start = time.process_time()
    made = OTHERS[job.forecaster](job.rounds, job.seed)
    record = play(made, adversary, job.rounds, seed=job.seed + 100)
    took = time.process_time() - start
    regret = swap_regret(record) / adversary.lipschitz
    return numbers | {"swap_regret": regret, "us": took / job.rounds * 1e6}


def all_results(largest: int, workers: int, work: Path) -> list[dict[str, Any]]:
    """Play what has not been played yet, longest first, and return everything in order."""
    work.mkdir(parents=True, exist_ok=True)
    jobs = all_jobs(largest)
    files = {job: work / ("-".join(map(str, job)).replace(" ", "_") + ".json") for job in jobs}
    missing = [job for job in jobs if not files[job].exists()]
    missing.sort(key=lambda job: -job.rounds * COST.get(job.forecaster, 75.0))
    start = told = time.perf_counter()
    with ProcessPoolExecutor(workers) as pool:
        running = {pool.submit(result, job): job for job in missing}
        for done, future in enumerate(as_completed(running), start=1):
            write(files[running[future]], json.dumps(future.result()))
            now = time.perf_counter()
            if now - told > 20 or done == len(missing):
                told = now
                print(f"{done} of {len(missing)} games, {now - start:.0f} s", file=sys.stderr)
    return [json.loads(files[job].read_text()) for job in jobs]


def main() -> None:
    """Check the measure, play, summarise, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--largest", type=float, default=LONGEST, help="largest T to play")
    parser.add_argument("--workers", type=int, default=2, help="processes")
    parser.add_argument("--fresh", action="store_true", help="forget finished games")
    options = parser.parse_args()
    if options.largest < REACH[0]:
        parser.error(f"--largest must be at least {REACH[0]}")
    work = HERE / "work" / fingerprint("run")
    if options.fresh:
        shutil.rmtree(work, ignore_errors=True)
    wrong = disagreements()
    if wrong:
        sys.exit("Swap regret is not what the library says:\n" + "\n".join(wrong))
    rows = all_results(int(options.largest), options.workers, work)
    results = {
        "reach": reach(rows, [t for t in REACH if t <= options.largest]),
        "slopes": slopes(rows, [t for t in SIZES if t <= options.largest]),
        "late": late(rows, LATE_ROUNDS),
        "others": others(rows),
    }
    full = options.largest >= LONGEST
    folder = HERE if full else HERE / "work"  # a short run does not replace the published numbers
    write(folder / "results.json", json.dumps(results, indent=1) + "\n")
    write(folder / "table.md", table(results))
    write(folder / "figure.svg", figure(results["others"]))
    print(table(results))
    print(f"Written to {folder}.", file=sys.stderr)
    missed = unexpected(results, json.loads((HERE / "expected.json").read_text())) if full else []
    if missed:
        sys.exit("Not as expected.json says:\n" + "\n".join(missed))


if __name__ == "__main__":
    main()
