"""What a block of rows has to say, as numbers, and the order of time that it must keep."""

import hashlib
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from trueup.cli._errors import CommandError
from trueup.cli._options import Roles, used_columns
from trueup.cli._read import Block, Table

if TYPE_CHECKING:
    from trueup.protocols import FloatArray


class Feed(NamedTuple):
    """Some rows as numbers; a clock is a time, or the number of a row where there are no times."""

    block: Block
    outcomes: "FloatArray"  # NaN where none came
    own: "FloatArray"  # NaN where the model said nothing
    groups: list[tuple[str, ...]] | None
    keys: list[str] | None
    clocks: Sequence[Any]  # of each row
    known: list[Any] | None  # from when on each outcome may be used

    def moments(self) -> Any:
        """Return the times of the rows as an array of dates or numbers; None without."""
        import numpy as np

        if isinstance(self.clocks, range):
            return None
        dated = isinstance(self.clocks[0], int)  # microseconds since 1970
        return np.array(self.clocks, dtype="datetime64[us]" if dated else float)


class Feeder:
    """Makes feeds of blocks, one after the other; remembers how far time has come."""

    def __init__(self, table: Table, roles: Roles, refuse: Callable[[Feed], None]) -> None:
        for column in used_columns(roles):
            table.find(column)
        self.roles, self._refuse = roles, refuse
        self.before = 0  # rows of earlier runs
        self.last: dict[str, Any] = {}  # the latest time of each series
        self._seen = hashlib.blake2b(digest_size=16)

    def feed(self, block: Block) -> Feed:
        """Return a block as numbers; where it is wrong, nothing is remembered of it."""
        import numpy as np

        roles = self.roles
        outcomes = block.numbers(roles.outcome)
        own = np.full(len(block), math.nan)
        if roles.forecast is not None:
            own = block.numbers(roles.forecast)
        groups = None
        if roles.groups:
            named = [[f"{g}={cell}" for cell in block.text(g)] for g in roles.groups]
            groups = list(zip(*named, strict=True))
        keys = None if roles.key is None else block.text(roles.key)
        clocks, last = self._clocks(block, keys)
        known = None
        if roles.known_at is not None:
            known = self._known(block, roles.known_at, clocks, np.isnan(outcomes).tolist())
        feed = Feed(block, outcomes, own, groups, keys, clocks, known)
        self._refuse(feed)
        self.last = last
        self._seen.update(outcomes.tobytes() + own.tobytes())
        return feed

    @property
    def digest(self) -> str:
        """What has been read, in a few letters: two tables that differ have different ones."""
        return self._seen.hexdigest()

    def _clocks(self, block: Block, keys: list[str] | None) -> tuple[Sequence[Any], dict[str, Any]]:
        """Return the clock of each row, and the last of each series after them."""
        if self.roles.time is None:
            first = self.before + block.first
            return range(first, first + len(block)), self.last
        times = block.times(self.roles.time)
        last = dict(self.last)
        for k, now in enumerate(times):
            place = "" if keys is None else keys[k]
            then = last.get(place)
            if now is None:
                raise CommandError(f"{block.where(k, self.roles.time)}: there is no time.")
            if then is not None and type(then) is not type(now):
                raise CommandError(
                    f"{block.where(k, self.roles.time)}: times and plain numbers are mixed."
                )
            if then is not None and now < then:
                cell = block.text(self.roles.time)[k]
                raise CommandError(
                    f"{block.where(k, self.roles.time)}: {cell} is before the row above;"
                    " sort the rows by time."
                )
            last[place] = now
        return times, last

    def _known(
        self, block: Block, column: str, clocks: Sequence[Any], missing: list[bool]
    ) -> list[Any]:
        """Return from when on each outcome may be used."""
        known = block.times(column)
        for k, (when, now) in enumerate(zip(known, clocks, strict=True)):
            if when is None and missing[k]:
                known[k] = now
            elif when is None:
                raise CommandError(
                    f"{block.where(k, column)}: the outcome is there, but not when it was known."
                )
            elif self.roles.time is None:
                known[k] = self._known_row(block, k, column, when, now)
            elif type(when) is not type(now):
                raise CommandError(
                    f"{block.where(k, column)}: must be what --time is, a time or a number."
                )
        return known

    def _known_row(self, block: Block, k: int, column: str, when: Any, now: int) -> int:
        """Return the row of all runs from which on an outcome is known."""
        number = self.before + when
        if not isinstance(when, float) or number != math.floor(number):
            raise CommandError(
                f"{block.where(k, column)}: must be the number of a row; for times give --time too."
            )
        if number <= now:
            raise CommandError(
                f"{block.where(k, column)}: must be a row after this one, got {when:g}."
            )
        return int(number)
