"""Calibrators and panels as bytes: versioned, checksummed, no pickle, readable on every machine.

Layout: 8 letters, then the version, the checksum of all that follows, and the length of the text,
as little-endian 8-byte numbers; then a JSON text with settings, counts and open forecasts; then for
each stream a length and its lasting numbers, byte planes first, compressed by zlib. A panel has the
lengths in its text and its series as they rest. When the version must be raised is decision 9.
"""

import json
import os
import tempfile
import zlib
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from trueup.calibrator._calibrator import Calibrator
from trueup.calibrator._issued import Open
from trueup.calibrator._order import Moved
from trueup.calibrator._panel import Panel, Resting
from trueup.calibrator._targets import Decision, Interval, Probability, Quantiles, Target
from trueup.calibrator._transform import OWN
from trueup.errors import InvalidArgument, StateFormatError
from trueup.properties import Expectile, Mean, Median, Quantile
from trueup.protocols import FloatArray

MAGIC, PANEL, VERSION = b"trueupCA", b"trueupPA", 1
HEAD = 8 * 3
LEVEL = 6  # of compression
KINDS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (Mean, Median, Quantile, Expectile, Interval, Quantiles, Probability)
}
FIELDS = {
    "Quantile": ("level",),
    "Expectile": ("level",),
    "Interval": ("coverage", "side"),
    "Quantiles": ("levels",),
    "Decision": ("lipschitz",),
}


def to_bytes(calibrator: Calibrator) -> bytes:
    """Return everything that the continuation needs, open forecasts included.

    >>> from trueup import Median
    >>> calibrator = Calibrator(Median())
    >>> opened = calibrator.predict(3.0)
    >>> again = from_bytes(to_bytes(calibrator))
    >>> again.update(4.0)
    >>> again.predict(3.5).id
    1
    """
    with calibrator._lock:
        text = json.dumps(_described(calibrator), default=_plain).encode()
        packed = [
            zlib.compress(_planes(stream.pack(trim=True)), LEVEL) for stream in calibrator._streams
        ]
    body = [part for each in packed for part in (len(each).to_bytes(8, "little"), each)]
    return _sealed(MAGIC, text, body)


def from_bytes(data: bytes, wanted: Target | None = None, **settings: Any) -> Calibrator:
    """Return the calibrator that `to_bytes` wrote.

    What is given beside must be what was stored; an error names the first difference.
    """
    described, body = _opened(MAGIC, data, "calibrator")
    calibrator = _empty(described, *_restored(described, wanted, settings))
    at = 0
    for stream in calibrator._streams:
        start = at + 8
        at = start + int.from_bytes(body[at:start], "little")
        stream.unpack(_unplaned(zlib.decompress(body[start:at])))
    return calibrator


def _planes(data: bytes) -> bytes:
    """Return 8-byte numbers as all their first bytes, then all their second ones, and so on."""
    return np.frombuffer(data, dtype=np.uint8).reshape(-1, 8).T.tobytes()


def _unplaned(data: bytes) -> bytes:
    return np.frombuffer(data, dtype=np.uint8).reshape(8, -1).T.tobytes()


def panel_to_bytes(panel: Panel) -> bytes:
    """Return all series of a panel and what it was made with."""
    series: list[Any] = []
    body: list[bytes] = []
    for key, resting in panel._series.items():
        _refuse_name(key)
        if resting is None:
            series.append([key, None])
            continue
        sizes = [len(stream) for stream in resting.streams]
        body += resting.streams
        counts = [resting.issued, resting.given_up, list(resting.expired), resting.order.hex()]
        counts.append(_rounds_written(resting.overruled))
        series.append([key, sizes, *counts, _open_written(resting.open)])
    text = json.dumps(
        _described_settings(panel.model()) | {"series": series}, default=_plain
    ).encode()
    return _sealed(PANEL, text, body)


def panel_from_bytes(data: bytes, wanted: Target | None, settings: dict[str, Any]) -> Panel:
    """Return the panel that `panel_to_bytes` wrote."""
    described, body = _opened(PANEL, data, "panel")
    target, known = _restored(described, wanted, settings)
    panel, at = Panel(target, **known), 0
    for key, sizes, *rest in described["series"]:
        if sizes is None:
            panel._series[key] = None
            continue
        issued, given_up, expired, order, overruled, opened = rest
        ends = np.cumsum([at, *sizes]).tolist()
        streams = tuple(body[a:b] for a, b in pairwise(ends))
        at = ends[-1]
        panel._series[key] = Resting(
            streams, issued, _open_read(opened), bytes.fromhex(order), given_up, tuple(expired),
            tuple(_rounds_read(overruled)),
        )  # fmt: skip
    return panel


def save(calibrator: Calibrator, path: str | os.PathLike[str]) -> None:
    """Write a calibrator to a file: a crash leaves the old file or the new one, whole."""
    write(path, to_bytes(calibrator))


def write(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file that is whole or not there at all."""
    target = Path(path)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def load(path: str | os.PathLike[str], wanted: Target | None = None, **settings: Any) -> Calibrator:
    """Return the calibrator of a file; see `from_bytes`."""
    try:
        return from_bytes(Path(path).read_bytes(), wanted, **settings)
    except StateFormatError as error:
        raise StateFormatError(f"{path}: {error}") from None


def load_panel(
    path: str | os.PathLike[str], wanted: Target | None, settings: dict[str, Any]
) -> Panel:
    """Return the panel of a file."""
    try:
        return panel_from_bytes(Path(path).read_bytes(), wanted, settings)
    except StateFormatError as error:
        raise StateFormatError(f"{path}: {error}") from None


def _sealed(magic: bytes, text: bytes, body: list[bytes]) -> bytes:
    """Return a text and what belongs to it under a head with version, length and checksum."""
    whole = np.array([len(text)], dtype="<i8").tobytes() + b"".join([text, *body])
    return magic + np.array([VERSION, zlib.crc32(whole)], dtype="<i8").tobytes() + whole


def _opened(magic: bytes, data: bytes, what: str) -> tuple[dict[str, Any], bytes]:
    """Return the text and the rest of sealed data; nothing is read from damaged data."""
    if not isinstance(data, bytes) or len(data) < HEAD or data[:8] != magic:
        raise StateFormatError(f"This is no {what} of trueup.")
    version, checksum = np.frombuffer(data[8:HEAD], dtype="<i8").tolist()
    if version != VERSION:
        raise StateFormatError(f"The {what} has version {version}; this trueup reads {VERSION}.")
    whole = data[HEAD:]
    if len(whole) < 8 or zlib.crc32(whole) != checksum:
        raise StateFormatError(f"The {what} is damaged or cut off.")
    end = 8 + int(np.frombuffer(whole[:8], dtype="<i8")[0])
    return json.loads(whole[8:end]), whole[end:]


def _described(calibrator: Calibrator) -> dict[str, Any]:
    for group in calibrator._groups:
        _refuse_name(group)
    return _described_settings(calibrator) | {
        "issued": calibrator._issued,
        "given_up": calibrator._given_up,
        "expired": list(calibrator._expired),
        "order": _hex(calibrator._order.z),
        "overruled": _rounds_written(calibrator._overruled),
        "groups": [[name, number] for name, number in calibrator._groups.items()],
        "open": _open_written(calibrator._open),
    }


def _described_settings(calibrator: Calibrator) -> dict[str, Any]:
    settings = calibrator.settings()
    settings["of"] = None if calibrator.of is None else _written(calibrator.of)
    if calibrator.transform is not None and not isinstance(calibrator.transform, str):
        settings["transform"] = OWN
    return {"wanted": _written(calibrator.wanted), "settings": settings}


def _refuse_name(name: object) -> None:
    if not isinstance(name, str | int) or isinstance(name, bool):
        raise InvalidArgument(f"Only text and whole numbers can name what is saved: {name!r}.")


def _open_written(opened: dict[int, Open]) -> list[Any]:
    """Return open forecasts as JSON knows them, without losing a bit."""
    return [
        [
            number,
            list(entry.slips),
            [value.hex() for value in entry.said],
            float(entry.anchor).hex(),
            [_hex(memo) for memo in entry.memos],
            None
            if (moved := entry.moved) is None
            else [_hex(moved.issued), _hex(moved.stakes), moved.epoch, moved.reach.hex()],
        ]
        for number, entry in opened.items()
    ]


def _open_read(written: list[Any]) -> dict[int, Open]:
    """Return the open forecasts that `_open_written` wrote."""
    opened = {}
    for number, slips, said, anchor, memos, moves in written:
        values = tuple(float.fromhex(value) for value in said)
        kept, moved = tuple(_unhex(memo) for memo in memos), None
        if moves is not None:
            issued, stakes, epoch, reach = moves
            rows = _unhex(stakes).reshape(len(values), -1)
            moved = Moved(_unhex(issued), rows, epoch, float.fromhex(reach))
        opened[number] = Open(tuple(slips), values, float.fromhex(anchor), kept, moved)
    return opened


def _rounds_written(rounds: Iterable[tuple[int, float]]) -> list[Any]:
    return [[number, label.hex()] for number, label in rounds]


def _rounds_read(written: list[Any]) -> list[tuple[int, float]]:
    return [(number, float.fromhex(label)) for number, label in written]


def _hex(numbers: FloatArray) -> str:
    return numbers.astype("<f8").tobytes().hex()


def _unhex(text: str) -> FloatArray:
    return np.frombuffer(bytes.fromhex(text), dtype="<f8").copy()


def _plain(value: Any) -> Any:
    """Return a NumPy number or array as what JSON knows."""
    return value.tolist()


def _written(wanted: Any) -> list[Any]:
    """Return what is wanted as a name and its fields; functions are not written down."""
    name = type(wanted).__name__
    return [name, {k: getattr(wanted, k) for k in FIELDS.get(name, ())}]


def _read(written: list[Any]) -> Any:
    name, fields = written
    return KINDS[name](**{k: tuple(v) if isinstance(v, list) else v for k, v in fields.items()})


def _restored(
    described: dict[str, Any], wanted: Target | None, settings: dict[str, Any]
) -> tuple[Target, dict[str, Any]]:
    """Return what was stored; refuse what is given beside it if it differs, by name.

    The functions of a Decision or a transform are not stored and must be given.
    """
    known = dict(described["settings"])
    known["bounds"] = None if known["bounds"] is None else tuple(known["bounds"])
    known["of"] = None if known["of"] is None else _read(known["of"])
    stored = None if described["wanted"][0] == "Decision" else _read(described["wanted"])
    if stored is None and (
        not isinstance(wanted, Decision) or _written(wanted) != described["wanted"]
    ):
        fields = described["wanted"][1]
        raise InvalidArgument(f"wanted must be given again: a Decision with {fields}.")
    if stored is not None and wanted is not None and wanted != stored:
        raise InvalidArgument(f"wanted is {stored!r} in what was stored, got {wanted!r}.")
    if known["transform"] == OWN:
        if not isinstance(settings.get("transform"), tuple):
            raise InvalidArgument("transform must be given again: a pair of functions.")
        known["transform"] = settings["transform"]
    for name, value in settings.items():
        if name not in known:
            raise InvalidArgument(f"There is no setting {name!r}.")
        same = tuple(value) if name == "bounds" and value is not None else value
        if same != known[name]:
            raise InvalidArgument(f"{name} is {known[name]!r} in what was stored, got {value!r}.")
    return wanted if stored is None else stored, known  # type: ignore[return-value]


def _empty(described: dict[str, Any], wanted: Target, settings: dict[str, Any]) -> Calibrator:
    calibrator = Calibrator(wanted, **settings)
    calibrator._issued, calibrator._given_up = described["issued"], described["given_up"]
    calibrator._expired = dict.fromkeys(described["expired"])
    calibrator._order.z[:] = _unhex(described["order"])
    calibrator._overruled = _rounds_read(described["overruled"])
    calibrator._groups = dict(described["groups"])
    calibrator._open = _open_read(described["open"])
    return calibrator
