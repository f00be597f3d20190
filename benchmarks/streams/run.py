"""The calibrator and every rival on a folder of real streams.

    ./run streams FOLDER                 all of it
    ./run streams FOLDER --rows 2000 --streams taxi_nyc,mlb_games

FOLDER has a Parquet or CSV file a stream (`streams.py` says which columns). Progress goes to
standard error; finished pieces are kept in work/ and not computed again as long as the file and the
code that matters for them are the same. The page, its tables and figures are written to work/page,
or with --publish into the repository: results.json and figures here, docs/benchmarks.md.
"""

import argparse
import json
import os
import platform
import shutil
import sys
from pathlib import Path
from typing import Any

import hostile
import ours
import packages
import rivals
from keeping import HERE, HOSTILE, OURS, PACKAGES, RIVALS, Piece, all_done, fingerprint, write
from report import pages
from results import reduced
from scores import FIRST
from streams import BadStream, files_of, read

import trueup

ROOT = HERE.parents[1]


def rivals_piece(path: Path, rows: int | None, name: str, plain: bool) -> Any:  # noqa: FBT001
    """Return the measures of one family of rivals on a stream."""
    return rivals.PIECES[name](read(path, rows), plain=plain)


def pieces_of(files: list[Path], options: argparse.Namespace) -> list[Piece]:
    """Return all that has to be computed."""
    rows, found = options.rows, []
    more = (*ours.WITHOUT, *ours.SETTINGS)
    for path in files:
        size = path.stat().st_size
        for name in rivals.PIECES:
            key = f"rivals {path.stem} {name}"
            found.append(Piece(key, rivals_piece, (path, rows, name, options.plain), RIVALS, size))
        for name in packages.installed():
            key = f"rivals {path.stem} {name}"
            found.append(Piece(key, packages.measured, (path, rows, name), PACKAGES, size))
        for name in (*ours.VARIANTS, *(more if options.settings else ())):
            key = f"ours {path.stem} {name}"
            urgent = size * (100 if name == ours.ALL_ON else 1)
            found.append(Piece(key, ours.variant, (path, rows, name), OURS, urgent))
    first = max(files, key=lambda path: path.stat().st_size)
    found.append(Piece("time ours", ours.timing, (first, rows), OURS))
    found.append(Piece("time rivals", rivals.timing, (first, rows), RIVALS))
    if not options.no_hostile:
        found += hostile_pieces(options.rows)
    return found


def hostile_pieces(rows: int | None) -> list[Piece]:
    """Return the games against outcome makers; short ones where the streams are cut."""
    found = []
    sizes = hostile.SIZES if rows is None else (min(rows, hostile.SIZES[0]),)
    for maker in hostile.SHOWN:
        for rounds in sizes:
            for name in hostile.PLAYERS:
                code = HOSTILE if "trueup" in name else tuple(x for x in HOSTILE if x not in OURS)
                arguments = (name, maker, rounds)
                found.append(
                    Piece(f"game {name} {maker} {rounds}", hostile.game, arguments, code, rounds)
                )
    if rows is None:
        for maker in hostile.MAKERS:
            for seed in range(hostile.SEEDS):
                key = f"stress {maker} {seed}"
                found.append(Piece(key, hostile.stressed, (maker, seed), HOSTILE, 20_000))
    return found


def refuse_short(files: list[Path], rows: int | None) -> None:
    """Read every stream before anything is computed, and refuse what cannot be measured."""
    for path in files:
        stream = read(path, rows)
        if len(stream) <= FIRST:
            raise BadStream(f"{path.name} must have more than {FIRST} rows, got {len(stream)}.")
        if not any(True for _ in stream.tasks()):
            raise BadStream(
                f"{path.name} must have a forecast prob, as all its outcomes are 0 or 1."
            )


def machine() -> str:
    """Return the class of machine, in words."""
    system = f"{platform.system()} on {platform.machine()}"
    return f"{system}, {os.cpu_count()} processors, Python {platform.python_version()}"


def main(arguments: list[str] | None = None) -> None:
    """Compute what is missing and write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, nargs="?", help="of Parquet or CSV files")
    parser.add_argument("--rows", type=int, help="only the first rows of each stream")
    parser.add_argument("--streams", help="only these, by name, with commas")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--plain", action="store_true", help="rivals without compiled twins")
    parser.add_argument("--no-hostile", action="store_true", help="without the outcome makers")
    parser.add_argument(
        "--settings",
        action="store_true",
        help="more of ours: kinds of experts left out, other values",
    )
    parser.add_argument("--fresh", action="store_true", help="forget finished pieces")
    parser.add_argument("--publish", action="store_true", help="write into the repository")
    parser.add_argument("--to", type=Path, default=HERE / "work" / "page", help="for the page")
    parser.add_argument("--work", type=Path, default=HERE / "work" / "pieces", help="kept here")
    options = parser.parse_args(arguments)
    if options.folder is None:
        if not options.publish:
            parser.error("FOLDER is needed, or --publish alone to write the page of results.json")
        results = json.loads((HERE / "results.json").read_text())
        pages(results, HERE, ROOT / "docs" / "benchmarks.md")
        return
    if options.fresh:
        shutil.rmtree(options.work, ignore_errors=True)
    try:
        files = files_of(options.folder)
        if options.streams:
            names = options.streams.split(",")
            files = [path for path in files if path.stem in names]
            missing = set(names) - {path.stem for path in files}
            if missing:
                raise BadStream(f"There is no stream {sorted(missing)[0]} in the folder.")
        refuse_short(files, options.rows)
        found = pieces_of(files, options)
        results = reduced(all_done(found, options.work, options.processes))
    except BadStream as error:
        sys.exit(str(error))
    results["machine"], results["version"] = machine(), trueup.__version__
    results["rows"], results["packages"] = options.rows, packages.installed()
    results["code"] = fingerprint(Piece("", ours.variant, (None,), OURS))
    target = HERE if options.publish else options.to
    write(target / "results.json", json.dumps(results, separators=(",", ":")))
    page = ROOT / "docs" / "benchmarks.md" if options.publish else options.to / "benchmarks.md"
    pages(results, target, page)
    print(f"Written: {page}")


if __name__ == "__main__":
    main()
