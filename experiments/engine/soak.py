"""A long run: 10^9 rounds on a few engines, saved and loaded every million.

Every engine plays one game after the other and never starts anew. After each piece it is checked
that no round was lost or left open, that the mixture is one, that wealth and certificate are
finite, that gains are rounding, and that the engine read back from its bytes goes on as the one
that wrote them; an engine that fails stops there. At the end, memory and time a round must have
stayed level. Writes soak.md (a shorter run: work/soak.md). Finished pieces are
kept in work/ and not played again (--fresh forgets them); progress goes to standard error.
"""

import argparse
import json
import math
import resource
import shutil
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from games import NAMES, PIECE, Opponent, pieces
from keeping import fingerprint, write

import trueup
from trueup import Mean, Median
from trueup.adversaries import SUITE
from trueup.engine import Engine

HERE = Path(__file__).resolve().parent
ROUNDS = 10**9
MOST_GAINS = 1e-3  # in all: what they add to the logarithms of the bound
MOST_PEAK = 1e4  # of wealth, reached with probability 1/10000 (with beliefs 1/364)
MOST_GROWTH = 1.5  # of the time of a round, last third against first
MOST_MEMORY = 64.0  # MB of growth
FEWEST = 30  # pieces, before times are compared

HARD = tuple(NAMES.index(name) for name in ("side push", "fair coin", "just above", "drift"))
NODES = np.linspace(0.0, 1.0, 9)


def against(numbers: tuple[int, ...], late: tuple[int, ...] = (0,)) -> Callable[..., float]:
    """Return what plays a piece against these adversaries in turn, with these delays in turn."""

    def play(engine: Engine, number: int) -> float:
        adversary = SUITE[numbers[number % len(numbers)]]
        delay = late[number // len(numbers) % len(late)]
        opponent = Opponent(adversary, PIECE, seed=number)
        return sum(took for _, took in pieces(engine, opponent, late=delay))

    return play


def in_groups(engine: Engine, number: int) -> float:
    """Play a piece in which each round belongs to 3 of 20 groups, each with a level of its own."""
    rng = np.random.default_rng((1, number))
    groups = np.column_stack(
        [np.zeros(PIECE, dtype=np.int64), rng.integers(1, 8, PIECE), rng.integers(8, 20, PIECE)]
    )
    level = 0.2 + 0.3 * (groups[:, 1] % 3) / 2 + 0.3 * (groups[:, 2] % 2)
    outcomes = np.clip(level + rng.normal(0, 0.1, PIECE), 0.0, 1.0)
    start = time.process_time()
    engine.play(outcomes, Mean(), groups=groups)
    return time.process_time() - start


def with_beliefs(engine: Engine, number: int) -> float:
    """Play a piece with beliefs and numbers to say: right ones and wrong ones in turn.

    One outcome in a hundred never comes.
    """
    rng = np.random.default_rng((2, number))
    laws = np.cumsum(rng.dirichlet(np.ones(NODES.size - 1), 8), axis=1)
    laws = np.column_stack([np.zeros(8), laws[:, :-1], np.ones(8)])
    chosen = rng.integers(0, 8, PIECE)
    tosses = rng.random(PIECE)
    outcomes, medians = np.empty(PIECE), np.empty(8)
    for k, law in enumerate(laws):
        outcomes[chosen == k] = np.interp(tosses[chosen == k], law, NODES)
        medians[k] = np.interp(0.5, law, NODES)
    if number % 2:
        outcomes = 1.0 - outcomes
    outcomes[rng.random(PIECE) < 0.01] = np.nan
    start = time.process_time()
    engine.play(outcomes, Median(), points=medians[chosen], nodes=NODES, cdfs=laws[chosen])
    return time.process_time() - start


class Lane(NamedTuple):
    """One engine and the games that it plays."""

    share: float  # of all rounds
    settings: dict[str, Any]
    play: Callable[..., float]


LANES = {
    "all of SUITE in turn": Lane(0.36, {}, against(tuple(range(len(SUITE))))),
    "side push": Lane(0.15, {}, against((NAMES.index("side push"),))),
    "greedy": Lane(0.12, {}, against((NAMES.index("greedy"),))),
    "late by 1, 10, 100": Lane(0.12, {}, against(HARD, (1, 10, 100))),
    "beliefs, half of them wrong": Lane(0.14, {}, with_beliefs),
    "20 groups, 3 a round": Lane(0.01, {"schedule": "own"}, in_groups),
    "expected updates": Lane(0.05, {"expected": True}, against(HARD)),
    "c = 1": Lane(0.05, {"c": 1.0}, against(HARD)),
}


def memory() -> float:
    """Return the memory of this process in MB: now, or where that is unknown the most so far."""
    now = Path("/proc/self/statm")
    if now.exists():
        return int(now.read_text().split()[1]) * resource.getpagesize() / 1e6
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def said(engine: Engine) -> tuple[float, bytes, bytes]:
    """Return the next forecast and its mixture, to the bit."""
    forecast = engine.predict()
    return forecast.value, forecast.support.tobytes(), forecast.probabilities.tobytes()


def examined(engine: Engine, rounds: int) -> tuple[dict[str, Any], list[str]]:
    """Return the numbers of an engine after a piece, and what is wrong with them."""
    info, certificate = engine.info(), engine.certificate()
    total = float(engine.predict().probabilities.sum())
    again = Engine.from_bytes(engine.to_bytes())
    checks = {
        f"{info.played} rounds instead of {rounds}": info.played == rounds,
        f"{info.open} stakes left open": info.open == 0,
        f"probabilities with the sum {total}": abs(total - 1) < 1e-9,
        f"wealth {info.wealth}": math.isfinite(info.wealth) and info.wealth > 0,
        f"peak wealth {info.peak}": info.peak <= MOST_PEAK,
        f"gains {info.gains}": info.gains <= MOST_GAINS,
        f"certificate {certificate}": math.isfinite(certificate),
        "the wealth of a pair is not finite": bool(np.isfinite(engine.wealth()).all()),
        "read back it says something else": said(again) == said(engine),
    }
    numbers = {
        "played": info.played,
        "visited": info.visited,
        "wealth": info.wealth,
        "peak": info.peak,
        "gains": info.gains,
        "stalled": info.stalled,
        "followed": info.followed,
        "overruled": info.overruled,
        "bytes": info.nbytes,
        "certificate": certificate,
        "memory": memory(),
    }
    return numbers, [what for what, fine in checks.items() if not fine]


def run(name: str, rounds: int, work: Path) -> list[dict[str, Any]]:
    """Play a lane to its end, from where it was left, and return the numbers of each piece."""
    lane, path = LANES[name], work / f"soak-{name.replace(' ', '_').replace(',', '')}.json"
    rows: list[dict[str, Any]] = []
    engine = Engine(seed=1, **lane.settings)
    if path.exists():
        kept = json.loads(path.read_text())
        engine, rows = Engine.from_bytes(bytes.fromhex(kept["state"])), kept["rows"]
    count = max(math.ceil(lane.share * rounds / PIECE), 2)
    for number in range(len(rows), count):
        if rows and rows[-1]["wrong"]:
            break
        took = lane.play(engine, number)
        row, wrong = examined(engine, (number + 1) * PIECE)
        rows.append({**row, "us": took / PIECE * 1e6, "wrong": wrong})
        data = engine.to_bytes()
        write(path, json.dumps({"state": data.hex(), "rows": rows}))
        engine = Engine.from_bytes(data)
        told = f"{name}: {number + 1} of {count} pieces, {rows[-1]['us']:.2f} us a round"
        if sys.stderr.isatty() or (number + 1) % 10 == 0 or number + 1 == count or wrong:
            print(told, *wrong, sep="; ", file=sys.stderr, flush=True)
    return rows[:count]


def thirds(rows: list[dict[str, Any]], key: str) -> tuple[float, float]:
    """Return the means of a number over the first and the last third of the pieces."""
    length = max(len(rows) // 3, 1)
    values = [row[key] for row in rows]
    return float(np.mean(values[:length])), float(np.mean(values[-length:]))


def complaints(results: dict[str, list[dict[str, Any]]]) -> list[str]:
    """Return a sentence for everything that was not as it must be."""
    wrong = []
    for name, rows in results.items():
        for number, row in enumerate(rows):
            wrong += [f"{name}, piece {number}: {what}." for what in row["wrong"]]
        first, last = thirds(rows, "us")
        if len(rows) >= FEWEST and last > MOST_GROWTH * first:
            wrong.append(f"{name}: a round takes {last:.2f} us at the end, {first:.2f} before.")
        first, last = thirds(rows[1:], "memory")
        if last > first + MOST_MEMORY:
            wrong.append(f"{name}: the process grew from {first:.0f} to {last:.0f} MB.")
    return wrong


def table(results: dict[str, list[dict[str, Any]]]) -> str:
    """Return the results as Markdown."""
    total = sum(rows[-1]["played"] for rows in results.values())
    text = [
        f"{total:,} rounds, {sum(len(rows) for rows in results.values())} times saved and loaded."
        " Processor time of a round, and memory of the process, are means over the first and the"
        f" last third of an engine's pieces. Written by soak.py of version {trueup.__version__}.",
        "",
        "| one engine against | rounds | us a round, first, last | gains | stalled | peak wealth"
        " | pairs | state, bytes | process, MB, first, last | certificate / sqrt(T) |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, rows in results.items():
        end, us, mb = rows[-1], thirds(rows, "us"), thirds(rows[1:], "memory")
        text.append(
            f"| {name} | {end['played']:,} | {us[0]:.2f}, {us[1]:.2f} | {end['gains']:.1e}"
            f" | {end['stalled']} | {end['peak']:.3g} | {end['visited']:,} | {end['bytes']:,}"
            f" | {mb[0]:.0f}, {mb[1]:.0f} | {end['certificate'] / math.sqrt(end['played']):.2f} |"
        )
    beliefs = results["beliefs, half of them wrong"][-1]
    text += [
        "",
        f"Of the rounds with beliefs {beliefs['followed']:,} were played as the belief's bin, in"
        f" {beliefs['overruled']:,} another bin was drawn.",
    ]
    return "\n".join(text) + "\n"


def main() -> None:
    """Play all lanes, write, complain."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=float, default=ROUNDS, help="in all, about")
    parser.add_argument("--workers", type=int, default=2, help="processes")
    parser.add_argument("--fresh", action="store_true", help="forget finished pieces")
    options = parser.parse_args()
    work = HERE / "work" / fingerprint("soak")
    if options.fresh:
        shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(options.workers) as pool:
        running = {name: pool.submit(run, name, int(options.rounds), work) for name in LANES}
        results = {name: future.result() for name, future in running.items()}
    full = options.rounds >= ROUNDS
    path = (HERE if full else HERE / "work") / "soak.md"
    write(path, table(results))
    print(table(results))
    print(f"Written to {path}.", file=sys.stderr)
    wrong = complaints(results)
    if wrong:
        sys.exit("Not as it must be:\n" + "\n".join(wrong))


if __name__ == "__main__":
    main()
