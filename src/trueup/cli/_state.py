"""The file that lets a run continue tomorrow: calibrators, outcomes that wait, and the options.

Layout: 8 letters, then the version, the checksum of all that follows, and the length of the text,
as little-endian 8-byte numbers; then a JSON text; then the calibrator or the panel in its own
format.
A second writer is kept out by a lock on a file beside it, which is gone when the run ends.
"""

import contextlib
import json
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from trueup.calibrator import Calibrator, Panel
from trueup.calibrator._storage import write
from trueup.cli._errors import CommandError
from trueup.cli._feed import Feeder
from trueup.cli._session import Session
from trueup.errors import StateFormatError

MAGIC, VERSION = b"trueupST", 1
HEAD = 8 * 3


def save(path: str, session: Session, feeder: Feeder, options: dict[str, Any]) -> None:
    """Write the state: a crash leaves the old file or the new one, whole."""
    text = {
        "options": options,
        "rows": session.rows,
        "last": list(feeder.last.items()),
        "waiting": [
            [key, clock, number, said, outcome.hex()]
            for key, heap in session.waiting.items()
            for clock, number, said, outcome in heap
        ],
        "learned": feeder.digest,
    }
    described = json.dumps(text).encode()
    whole = len(described).to_bytes(8, "little") + described + session.model.to_bytes()
    head = np.array([VERSION, zlib.crc32(whole)], dtype="<i8").tobytes()
    try:
        write(path, MAGIC + head + whole)
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from None


def load(path: str, session: Session, feeder: Feeder, options: dict[str, Any]) -> str:
    """Continue from a file; return what says which table was learned last."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror}.") from None
    text, rest = _opened(path, data)
    _refuse_changes(path, text["options"], options)
    kind = Panel if isinstance(session.model, Panel) else Calibrator
    try:
        session.model = kind.from_bytes(rest)
    except StateFormatError as error:
        raise CommandError(f"{path}: {error}") from None
    session.rows = feeder.before = text["rows"]
    feeder.last = dict(text["last"])
    for key, clock, number, said, outcome in text["waiting"]:  # heaps, in the order they were in
        heap = session.waiting.setdefault(key, [])
        heap.append((clock, number, said, float.fromhex(outcome)))
    return str(text["learned"])


@contextlib.contextmanager
def locked(path: str) -> Iterator[None]:
    """Keep every other run away from a state file."""
    name = f"{path}.lock"
    try:
        import fcntl
    except ImportError:  # Windows: whoever makes the file has the lock
        yield from _made(path, name)
        return
    while True:
        try:
            handle = os.open(name, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise CommandError(f"{path} cannot be written: {error.strerror}.") from None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _same(handle, name):
                break
            os.close(handle)  # its owner has just removed it: try the next
        except OSError:
            os.close(handle)
            raise _taken(path) from None
    try:
        yield
    finally:
        Path(name).unlink(missing_ok=True)
        os.close(handle)


def _made(path: str, name: str) -> Iterator[None]:
    try:
        handle = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL)
    except FileExistsError:
        raise _taken(path) from None
    try:
        yield
    finally:
        os.close(handle)
        Path(name).unlink(missing_ok=True)


def _same(handle: int, name: str) -> bool:
    """Say whether an open file is still the one of that name."""
    try:
        there = Path(name).stat()
    except FileNotFoundError:
        return False
    here = os.fstat(handle)
    return (here.st_ino, here.st_dev) == (there.st_ino, there.st_dev)


def _taken(path: str) -> CommandError:
    return CommandError(f"{path} is in use by another run; wait for its end.")


def _opened(path: str, data: bytes) -> tuple[dict[str, Any], bytes]:
    """Return the text and the rest; nothing is read from damaged data."""
    if len(data) < HEAD or data[:8] != MAGIC:
        raise CommandError(f"{path} is no state of `trueup calibrate`.")
    version, checksum = np.frombuffer(data[8:24], dtype="<i8").tolist()
    if version != VERSION:
        raise CommandError(f"{path} has version {version}; this trueup reads {VERSION}.")
    whole = data[24:]
    if zlib.crc32(whole) != checksum:
        raise CommandError(f"{path} is damaged or cut off.")
    end = 8 + int.from_bytes(whole[:8], "little")
    return json.loads(whole[8:end]), whole[end:]


def _refuse_changes(path: str, before: dict[str, Any], now: dict[str, Any]) -> None:
    changed = [name for name in now if before.get(name) != now[name]]
    if changed:
        listed = "; ".join(
            f"{name} was {_said(before.get(name))}, now {_said(now[name])}" for name in changed
        )
        raise CommandError(f"{path} was made with other options: {listed}.")


def _said(value: Any) -> str:
    return "not given" if value is None or value is False or value == [] else str(value)
