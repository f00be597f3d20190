"""The engine's state: one buffer, made, grown, written to bytes and read back.

The format: 8 letters, the version, the two lengths, a checksum, then the buffer, all numbers
little-endian and 8 bytes wide. What a slot means stands in the kernels.
"""

import zlib
from typing import Any, NamedTuple

import numpy as np

from trueup._kernels import _engine as kernels
from trueup.errors import StateFormatError
from trueup.protocols import FloatArray, IntArray

MAGIC, VERSION = b"trueupEN", 1
HEAD = 8 * 5
FIRST_ROWS, FIRST_SLIPS = 16, 2


class State(NamedTuple):
    """Whole numbers and numbers, two parts of one buffer."""

    i: IntArray
    f: FloatArray

    def copy(self) -> "State":
        """Return the same state in memory of its own."""
        return split(self.i.size, np.concatenate([self.i.view(np.float64), self.f]))

    @property
    def nbytes(self) -> int:
        """How much memory it takes."""
        return int(self.i.nbytes + self.f.nbytes)


def split(n_whole: int, buffer: FloatArray) -> State:
    """Return the two parts of a buffer, without copying."""
    return State(buffer[:n_whole].view(np.int64), buffer[n_whole:])


def empty(rows: int, groups: int, slips: int) -> State:
    """Return a state with this much room and nothing in it."""
    head = np.zeros(kernels.WHOLE_HEADER, dtype=np.int64)
    head[kernels.ROW_ROOM], head[kernels.GROUP_ROOM] = rows, groups
    head[kernels.SLIP_ROOM], head[kernels.FREE_SLIP] = slips, -1
    head[kernels.INDEX_SIZE] = 1 << (2 * rows - 1).bit_length()
    whole, numbers = kernels.place_blocks(head)
    state = split(int(whole), np.zeros(int(whole + numbers)))
    state.i[: head.size] = head
    return state


def new(settings: dict[int, int], numbers: dict[int, float]) -> State:
    """Return the state before the first round."""
    state = empty(FIRST_ROWS, 1, FIRST_SLIPS)
    for place, whole in settings.items():
        state.i[place] = whole
    state.f[kernels.WEALTH] = state.f[kernels.PEAK] = 1.0
    for place, number in numbers.items():
        state.f[place] = number
    kernels.furnish(state.i, state.f, 0, 0)
    return state


def grown(state: State, highest_group: int) -> State:
    """Return the state in a buffer with room for one more round of the groups in its header."""
    i = state.i
    expected, n_groups = bool(i[kernels.EXPECTED]), max(int(i[kernels.N_GROUPS]), 1)
    rows = int(i[kernels.ROWS]) + n_groups * (kernels.MOST_NEW_ROWS if expected else 1)
    slips = int(i[kernels.OPEN]) + n_groups * (kernels.MOST_COLUMNS if expected else 1)
    larger = empty(
        _enough(int(i[kernels.ROW_ROOM]), rows),
        _enough(int(i[kernels.GROUP_ROOM]), highest_group + 1),
        _enough(int(i[kernels.SLIP_ROOM]), slips),
    )
    kernels.transfer(i, state.f, larger.i, larger.f)
    return larger


def roomier(state: State, header: IntArray) -> State:
    """Return a state with at least as much room as another one has used, by its header."""
    i = state.i
    wanted = [
        (kernels.ROW_ROOM, int(header[kernels.ROWS]) + 1),
        (kernels.GROUP_ROOM, int(header[kernels.GROUP_ROOM])),
        (kernels.SLIP_ROOM, int(header[kernels.SLIP_ROOM])),
    ]
    if all(int(i[place]) >= room for place, room in wanted):
        return state
    larger = empty(*(_enough(int(i[place]), room) for place, room in wanted))
    kernels.transfer(i, state.f, larger.i, larger.f)
    return larger


def trimmed(state: State) -> State:
    """Return what lasts of the state, in a buffer with no room for more rows."""
    i, f = state.copy()
    kernels.unmake(i)
    slips = int(i[kernels.SLIP_ROOM]) if i[kernels.OPEN] else FIRST_SLIPS
    smaller = empty(max(int(i[kernels.ROWS]), 1), _used_groups(i, f), slips)
    kernels.transfer(i, f, smaller.i, smaller.f)
    clear_next(smaller)
    return smaller


def _used_groups(i: IntArray, f: FloatArray) -> int:
    """Return how many groups there are up to the last that was ever played."""
    count, at = int(i[kernels.GROUP_ROOM]), int(i[kernels.AT_FGROUPS]) + kernels.GROUP_PLAYED
    played = f[at : at + kernels.GROUP * count : kernels.GROUP]
    return int(np.flatnonzero(played)[-1]) + 1 if played.any() else 1


def clear_next(state: State) -> None:
    """Forget what was prepared for the coming round: it will be prepared again."""
    i, f = state
    i[kernels.READY : kernels.EPOCH] = i[kernels.LASTING] = 0
    i[kernels.AT_NOW : kernels.AT_POOL] = 0
    i[kernels.AT_NEXT : kernels.WHOLE_HEADER] = 0
    f[kernels.GAIN : kernels.SAID + 1] = 0.0
    f[kernels.REFINE_RESERVE] = 0.0
    f[kernels.AT_NEXT_SHARES : kernels.HEADER] = 0.0


def _enough(room: int, wanted: int) -> int:
    """Return the room there is, doubled as often as needed."""
    while room < wanted:
        room *= 2
    return room


def to_bytes(state: State) -> bytes:
    """Return the state in the format of the module docstring."""
    body = state.i.astype("<i8").tobytes() + state.f.astype("<f8").tobytes()
    lengths = (VERSION, state.i.size, state.f.size, zlib.crc32(body))
    return MAGIC + np.array(lengths, dtype="<i8").tobytes() + body


def from_bytes(data: bytes) -> State:
    """Return the state written by `to_bytes`; nothing is read from damaged data."""
    if len(data) < HEAD or data[:8] != MAGIC:
        raise StateFormatError("This is no engine state of trueup.")
    version, n_whole, n_numbers, checksum = np.frombuffer(data[8:HEAD], dtype="<i8").tolist()
    if version != VERSION:
        raise StateFormatError(f"The state has version {version}; this trueup reads {VERSION}.")
    body = data[HEAD:]
    if len(body) != 8 * (n_whole + n_numbers) or zlib.crc32(body) != checksum:
        raise StateFormatError("The state is damaged or cut off.")
    buffer = np.empty(n_whole + n_numbers)
    state = split(n_whole, buffer)
    state.i[:] = np.frombuffer(body[: 8 * n_whole], dtype="<i8")
    state.f[:] = np.frombuffer(body[8 * n_whole :], dtype="<f8")
    return state


def open_rounds(state: State) -> dict[int, int]:
    """Return the first slip of each open round, by round."""
    i = state.i
    if not i[kernels.OPEN]:
        return {}
    free, slip = set(), int(i[kernels.FREE_SLIP])
    rows = i[i[kernels.AT_SLIPS] :].reshape(-1, kernels.WHOLE_SLIP)
    while slip >= 0:
        free.add(slip)
        slip = int(rows[slip, kernels.SLIP_NEXT])
    used = [slip for slip in range(int(i[kernels.SLIP_ROOM])) if slip not in free]
    later = {int(rows[slip, kernels.SLIP_OF_ROUND]) for slip in used}
    return {int(rows[slip, kernels.SLIP_ROUND]): slip for slip in used if slip not in later}


def pairs_of(keys: Any) -> tuple[IntArray, IntArray, IntArray]:
    """Return groups, scale numbers and places of the keys of rows."""
    groups, rest = keys >> 42, keys & ((1 << 42) - 1)
    starts = (1 << np.arange(42)) + np.arange(42)
    levels = np.searchsorted(starts, rest, side="right") - 1
    return groups, levels, rest - starts[levels]
