"""Lines of text from a file, or from a pipe as they arrive."""

import io
import os
import stat
import sys
from collections.abc import Iterator
from itertools import islice
from typing import Any, TypeVar

CHUNK = 1 << 16  # bytes read from a pipe at once
Item = TypeVar("Item")


class Decoded:
    """The lines of a file, decoded as they are read."""

    def __init__(self, raw: Any, unpacked: Any) -> None:
        self._raw = raw
        self._text = io.TextIOWrapper(unpacked, encoding="utf-8-sig", newline="")
        status = os.fstat(raw.fileno())
        self._size = status.st_size if stat.S_ISREG(status.st_mode) else 0

    def __iter__(self) -> Iterator[str]:
        return iter(self._text)

    def done(self) -> tuple[int, int]:
        """Return how many bytes of how many have been read."""
        return (self._raw.tell(), self._size) if self._size else (0, 0)

    def close(self) -> None:
        """Close the file."""
        self._text.close()
        self._raw.close()


class SlowLines:
    """The lines of a pipe: what has arrived can be answered before more is waited for."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lines: list[bytes] = []  # complete, the next one last
        self._rest = b""
        self._ended = False
        self._bytes = 0
        self._wrong: Exception | None = None
        self._quoted = False  # some line in the buffer has a quote: a row may go on in the next

    @classmethod
    def of_standard_input(cls) -> "SlowLines":
        """Return the lines of standard input."""
        return cls(sys.stdin.fileno())

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        while not self._lines:
            if self._ended:
                raise StopIteration
            self._fill()
        return self._lines.pop().decode()

    def begins_with(self, letter: str) -> bool:
        """Look at the first letter that is not blank; waits for the first line."""
        while not self._lines and not self._ended:
            self._fill()
        return bool(self._lines) and self._lines[-1].lstrip().startswith(letter.encode())

    def ready(self, rows: Iterator[Item], most: int) -> list[Item]:
        """Return one row, waiting for it, and those after it that have arrived as well.

        What is wrong with a later one is said when it is asked for.
        """
        if self._wrong is not None:
            raise self._wrong
        found = list(islice(rows, 1))
        while found and self._lines and not self._quoted and len(found) < most:
            try:
                found += islice(rows, 1)
            except Exception as error:  # raised next time
                self._wrong = error
                break
        return found

    def done(self) -> tuple[int, int]:
        """Return how many bytes have been read, of 0: nobody knows how many will come."""
        return self._bytes, 0

    def close(self) -> None:
        """Leave standard input as it is."""

    def _fill(self) -> None:
        """Wait until a line is complete, or the end."""
        chunk = os.read(self._descriptor, CHUNK)
        begins = not self._bytes
        self._bytes += len(chunk)
        if begins and chunk.startswith(b"\xef\xbb\xbf"):
            chunk = chunk[3:]
        whole = self._rest + chunk
        if not chunk:
            self._ended = True
            self._lines = [whole] if whole else []
            self._rest = b""
            return
        cut = whole.rfind(b"\n") + 1
        self._rest = whole[cut:]
        self._quoted = b'"' in whole[:cut]
        self._lines = whole[:cut].splitlines(keepends=True)[::-1]
