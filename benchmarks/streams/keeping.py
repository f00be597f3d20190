"""Finished pieces of work: under which name they are kept, and doing the rest in processes.

A piece is kept in a folder under a hash of all that its result depends on: the file, the rows,
and the code that matters for it. The rivals do not depend on the calibrator, nor it on them.
"""

import hashlib
import json
import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any, NamedTuple

import trueup

HERE = Path(__file__).resolve().parent
SOURCE = Path(trueup.__file__).parent
MEASURING = ("streams.py", "scores.py")
RIVALS = (
    "rivals.py",
    "settings.py",
    "twins.py",
    "baselines/*.py",
    "metrics/_calibration.py",
)
OURS = (
    "ours.py", "_kernels/*.py", "calibrator/*.py", "engine/*.py", "metrics/*.py", "steer/*.py",
    "losses/*.py", "properties.py", "beliefs.py", "steer.py", "_rounds.py", "distributions.py",
)  # fmt: skip
PACKAGES = ("packages.py", *RIVALS)
HOSTILE = ("hostile.py", "adversaries/*.py", *OURS, *RIVALS)


class Piece(NamedTuple):
    """Something to compute, once: a function of a module here and its arguments."""

    name: str  # of the file it is kept in
    work: Callable[..., Any]
    arguments: tuple[Any, ...]
    code: tuple[str, ...]  # files here and in the library
    size: int = 0  # the larger are done first


def fingerprint(piece: Piece) -> str:
    """Return a hash of what the result depends on."""
    files: list[Path] = []
    for pattern in (*MEASURING, *piece.code):
        files += [*sorted(HERE.glob(pattern)), *sorted(SOURCE.glob(pattern))]
    parts = [path.read_bytes() for path in files]
    parts.append(repr(piece.arguments[1:]).encode())
    first = piece.arguments[0] if piece.arguments else None
    parts.append(first.read_bytes() if isinstance(first, Path) else repr(first).encode())
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:12]


def place_of(piece: Piece, kept: Path) -> Path:
    """Return the file that a piece is kept in."""
    safe = piece.name.replace(" ", "_").replace("/", "_")
    return kept / f"{safe}--{fingerprint(piece)}.json"


def done(piece: Piece, path: Path) -> float:
    """Compute a piece and keep it; return how long it took."""
    start = time.process_time()
    result = piece.work(*piece.arguments)
    write(path, json.dumps(result))
    return time.process_time() - start


def all_done(pieces: list[Piece], kept: Path, processes: int) -> dict[str, Any]:
    """Return the results by name, computing what is not kept yet, largest first."""
    places = {piece.name: place_of(piece, kept) for piece in pieces}
    missing = [piece for piece in pieces if not places[piece.name].exists()]
    missing.sort(key=lambda piece: -piece.size)
    print(f"{len(places)} pieces, {len(missing)} to do", file=sys.stderr, flush=True)
    if processes == 1:
        for number, piece in enumerate(missing, 1):
            _say(number, len(missing), piece, done(piece, places[piece.name]))
    elif missing:
        with ProcessPoolExecutor(processes) as pool:
            jobs = {pool.submit(done, piece, places[piece.name]): piece for piece in missing}
            for number, job in enumerate(as_completed(jobs), 1):
                _say(number, len(missing), jobs[job], job.result())
    return {name: json.loads(path.read_text()) for name, path in places.items()}


def _say(number: int, total: int, piece: Piece, seconds: float) -> None:
    line = f"[{number}/{total}] {piece.name}: {seconds:.1f} s"
    print(line, file=sys.stderr, flush=True)


def write(path: Path, text: str) -> None:
    """Write a file at once, so that a stop in between leaves none or all of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    part.write_text(text)
    part.replace(path)
