"""Swap regret against T: the paper's predictors beside what was known before.

Writes results.json, table.md and figure.svg beside this file. Finished runs are kept in work/ and
not run again (--fresh forgets them); progress goes to standard error.
"""

import argparse
import hashlib
import itertools
import json
import shutil
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

import numpy as np

import trueup
from trueup.adversaries import Adversary, ChangeOfWidth, JustAbove, Midpoint, SidePush, bernoulli
from trueup.baselines import BlumMansour, SingleScale
from trueup.metrics import pseudo_swap_regret, swap_regret
from trueup.paper import EfficientPredictor, TruthfulPredictor
from trueup.record import Record
from trueup.replay import play, play_reversed

HERE = Path(__file__).resolve().parent
DELTA = 0.05
ROUNDS = (250, 500, 1_000, 2_000, 4_000, 8_000, 16_000)
SEEDS = range(5)
LEAST_SHOWN = 1.0  # in the figure, whose axis is one of logarithms
ADVERSARIES: dict[str, Adversary] = {
    "fair coin": bernoulli(0.5),
    "midpoint": Midpoint(),
    "change of width": ChangeOfWidth(),
    "side push": SidePush(),
    "just above": JustAbove(),
}
FORECASTERS = ("faithful", "faithful, master", "truthful", "Blum-Mansour", "single scale")


def run_of(forecaster: str, adversary: Adversary, rounds: int, seed: int) -> Record:
    """Play one run and return its record."""
    if forecaster == "truthful":
        return play_reversed(TruthfulPredictor(rounds, DELTA), adversary, seed=seed)
    kinds = {
        "faithful": lambda: EfficientPredictor(rounds, DELTA, seed),
        "faithful, master": lambda: EfficientPredictor(rounds, DELTA, seed, experts="master"),
        "Blum-Mansour": lambda: BlumMansour(rounds, seed),
        "single scale": lambda: SingleScale(rounds, seed),
    }
    return play(kinds[forecaster](), adversary, seed=seed)


def job(forecaster: str, name: str, rounds: int, seed: int) -> dict[str, object]:
    """Return the numbers of one run."""
    start = time.perf_counter()
    record = run_of(forecaster, ADVERSARIES[name], rounds, seed)
    took = time.perf_counter() - start
    return {
        "forecaster": forecaster,
        "adversary": name,
        "rounds": rounds,
        "seed": seed,
        "swap_regret": swap_regret(record.forecasts, record.losses),
        "pseudo_swap_regret": pseudo_swap_regret(record),
        "us_per_round": took / rounds * 1e6,
    }


def fingerprint() -> str:
    """Return a hash of the library and of this script, so that old runs do not pass for new."""
    source = Path(trueup.__file__).parent
    content = b"".join(path.read_bytes() for path in sorted(source.rglob("*.py")))
    return hashlib.sha256(content + Path(__file__).read_bytes()).hexdigest()[:16]


def write(path: Path, text: str) -> None:
    """Write a file at once, so that a stop in between leaves none or all of it."""
    part = path.with_suffix(".part")
    part.write_text(text)
    part.replace(path)


def all_runs(largest: int, workers: int) -> list[dict[str, object]]:
    """Run what has not been run yet, longest first, and return everything in order."""
    work = HERE / "work" / fingerprint()
    work.mkdir(parents=True, exist_ok=True)
    sizes = [rounds for rounds in ROUNDS if rounds <= largest]
    jobs = list(itertools.product(FORECASTERS, ADVERSARIES, sizes, SEEDS))
    files = {
        j: work / ("-".join(str(part).replace(" ", "_") for part in j) + ".json") for j in jobs
    }
    missing = sorted((j for j in jobs if not files[j].exists()), key=lambda j: -j[2])
    start = time.perf_counter()
    with ProcessPoolExecutor(workers) as pool:
        running = {pool.submit(job, *j): j for j in missing}
        for done, future in enumerate(as_completed(running), start=1):
            write(files[running[future]], json.dumps(future.result()))
            passed = time.perf_counter() - start
            if sys.stderr.isatty() or done % 50 == 0 or done == len(missing):
                print(f"{done} of {len(missing)} runs, {passed:.0f} s", file=sys.stderr)
    return [json.loads(files[j].read_text()) for j in jobs]


def summary(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    """Return mean and standard deviation over seeds, and the slope of log regret in log T."""
    result = []
    for name, forecaster in itertools.product(ADVERSARIES, FORECASTERS):
        own = [r for r in rows if (r["adversary"], r["forecaster"]) == (name, forecaster)]
        sizes = sorted({int(str(r["rounds"])) for r in own})
        groups = [np.array([r["swap_regret"] for r in own if r["rounds"] == n]) for n in sizes]
        means = np.array([group.mean() for group in groups])
        late = slice(max(len(sizes) // 2 - 1, 0), None)  # the first points are all ramp
        flat = len(sizes) < 3 or means[late].min() < 1  # no rate to speak of
        slope = None if flat else np.polyfit(np.log(sizes[late]), np.log(means[late]), 1)[0]
        result.append(
            {
                "adversary": name,
                "forecaster": forecaster,
                "rounds": sizes,
                "mean": means.round(3).tolist(),
                "sd": [round(float(group.std(ddof=1)), 3) for group in groups],
                "slope": None if slope is None else round(float(slope), 3),
            }
        )
    return result


def table(lines: list[dict[str, object]]) -> str:
    """Return the summary as Markdown: swap regret / sqrt(T), mean over seeds."""
    sizes = np.array(lines[0]["rounds"])
    head = " | ".join(f"T = {n}" for n in sizes)
    text = [
        f"Swap regret / sqrt(T), mean (standard deviation) over {len(SEEDS)} seeds; slope of log"
        f" swap regret in log T over the last {len(sizes) - len(sizes) // 2 + 1} sizes."
        f" Written by run.py of version {trueup.__version__}.",
        "",
        f"| adversary | forecaster | {head} | slope |",
        "|---|---|" + "---|" * (len(sizes) + 1),
    ]
    for line in lines:
        means, sds = (np.array(line[key]) / np.sqrt(sizes) for key in ("mean", "sd"))
        cells = " | ".join(f"{m:.2f} ({s:.2f})" for m, s in zip(means, sds, strict=True))
        slope = "-" if line["slope"] is None else f"{line['slope']:.2f}"
        text.append(f"| {line['adversary']} | {line['forecaster']} | {cells} | {slope} |")
    return "\n".join(text) + "\n"


def figure(lines: list[dict[str, object]], path: Path) -> None:
    """Write the figure: one panel an adversary, swap regret against T, both on log axes."""
    import altair as alt  # noqa: PLC0415 - of the [report] extra
    import vl_convert as vlc  # noqa: PLC0415

    data: list[dict[str, object]] = [
        {
            "adversary": line["adversary"],
            "forecaster": line["forecaster"],
            "T": n,
            "regret": m if m >= LEAST_SHOWN else None,  # a gap in the line
        }
        for line in lines
        for n, m in zip(line["rounds"], line["mean"], strict=True)  # type: ignore[call-overload]
    ]
    for name, n in itertools.product(ADVERSARIES, lines[0]["rounds"]):  # type: ignore[call-overload]
        data.append({"adversary": name, "forecaster": "sqrt(T)", "T": n, "regret": n**0.5})
    order = [*FORECASTERS, "sqrt(T)"]
    colours = ["#d1495b", "#edae49", "#2e8b57", "#30638e", "#7d5ba6", "#999999"]
    log = alt.Scale(type="log", nice=False)
    chart = (
        alt.Chart(alt.Data(values=data), width=260, height=220)
        .mark_line(
            point=alt.OverlayMarkDef(size=22), strokeWidth=1.8, invalid="break-paths-filter-domains"
        )
        .encode(
            x=alt.X("T:Q", scale=log, axis=alt.Axis(values=[250, 1000, 4000, 16000], grid=False)),
            y=alt.Y(
                "regret:Q",
                scale=alt.Scale(type="log", domain=[LEAST_SHOWN, 2_000]),
                axis=alt.Axis(values=[1, 3, 10, 30, 100, 300, 1_000], gridColor="#eeeeee"),
                title="swap regret",
            ),
            color=alt.Color(
                "forecaster:N", sort=order, scale=alt.Scale(domain=order, range=colours), title=None
            ),
            strokeDash=alt.condition(
                "datum.forecaster == 'sqrt(T)'", alt.value([4, 3]), alt.value([1, 0])
            ),
            facet=alt.Facet("adversary:N", columns=3, sort=list(ADVERSARIES), title=None),
        )
        .resolve_axis(x="independent", y="independent")
        .configure_view(stroke="#cccccc")
        .configure(background="white", font="sans-serif")
    )
    svg = vlc.vegalite_to_svg(chart.to_dict())
    write(path, svg)


def unexpected(lines: list[dict[str, object]]) -> list[str]:
    """Return a sentence for each number outside what expected.json allows."""
    expected = json.loads((HERE / "expected.json").read_text())
    missed = []
    for line in lines:
        allowed = expected.get(line["forecaster"], {})
        name = f"{line['forecaster']}, {line['adversary']}"
        ratio = float(np.max(np.array(line["mean"]) / np.sqrt(line["rounds"])))  # type: ignore[arg-type]
        if ratio > allowed.get("largest_ratio", np.inf):
            missed.append(f"{name}: swap regret / sqrt(T) {ratio:.2f}")
        slope = np.nan if line["slope"] is None else float(str(line["slope"]))
        below = allowed.get("slope_below", {}).get(line["adversary"])
        above = allowed.get("slope_above", {}).get(line["adversary"])
        if below is not None and not slope < below:  # NaN fails both
            missed.append(f"{name}: slope {slope:.2f}, not below {below}")
        if above is not None and not slope > above:
            missed.append(f"{name}: slope {slope:.2f}, not above {above}")
    return missed


def main() -> None:
    """Run, summarise, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--largest", type=int, default=ROUNDS[-1], help="largest T to run")
    parser.add_argument("--workers", type=int, default=2, help="processes")
    parser.add_argument("--fresh", action="store_true", help="forget finished runs")
    options = parser.parse_args()
    if options.fresh:
        shutil.rmtree(HERE / "work", ignore_errors=True)
    if options.largest < ROUNDS[0]:
        parser.error(f"--largest must be at least {ROUNDS[0]}")
    lines = summary(all_runs(options.largest, options.workers))
    full = options.largest >= ROUNDS[-1]
    folder = HERE if full else HERE / "work"  # a short run does not replace the published numbers
    write(folder / "results.json", json.dumps(lines, indent=1) + "\n")
    write(folder / "table.md", table(lines))
    figure(lines, folder / "figure.svg")
    print(table(lines))
    print(f"Written to {folder}.", file=sys.stderr)
    missed = unexpected(lines) if full else []
    if missed:
        sys.exit("Not as expected.json says:\n" + "\n".join(missed))


if __name__ == "__main__":
    main()
