"""How far a command is: rows, rate and time left, on a terminal alone."""

import sys
import time
from types import TracebackType

from trueup.cli._read import Table

EVERY = 0.2  # seconds
WIDTH = 78


class Progress:
    """One line on standard error that is written again and again; nothing in a pipe."""

    def __init__(self, table: Table) -> None:
        self._table, self._rows = table, 0
        self._start = self._last = time.monotonic()
        self._shown = sys.stderr.isatty()

    def add(self, rows: int) -> None:
        """Count rows that are done."""
        self._rows += rows
        now = time.monotonic()
        if self._shown and now - self._last >= EVERY:
            self._last = now
            text = line_of(self._rows, now - self._start, *self._table.done())
            sys.stderr.write(f"\r{text:<{WIDTH}}")
            sys.stderr.flush()

    def __enter__(self) -> "Progress":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._shown and self._last > self._start:
            sys.stderr.write("\r" + " " * WIDTH + "\r")
            sys.stderr.flush()


def line_of(rows: int, seconds: float, done: int, total: int) -> str:
    """Return the line.

    >>> line_of(30_000, 2.0, 1, 4)
    '30,000 rows, 15,000 a second, 25 %, 0:00:06 left'
    """
    text = f"{rows:,} rows, {rows / max(seconds, 1e-9):,.0f} a second"
    if done and total:
        left = round(seconds * (total - done) / done)
        text += (
            f", {100 * done // total} %, {left // 3600}:{left // 60 % 60:02}:{left % 60:02} left"
        )
    return text
