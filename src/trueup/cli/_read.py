"""Tables from files and pipes, block by block: CSV, TSV and JSON lines, plain or gzip.

`open_table` finds the format by the name of the file; `Table.blocks` yields so many rows at a time
that a block stays small however wide they are. The cells of a row are text as it stood there (in
JSON lines and Parquet: values); `Block.numbers` and `Block.times` read columns of them.

A row is counted from 1, without the header; the line of a text file is said beside it.
"""

import contextlib
import csv
import gzip
import json
import zlib
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from trueup.cli._cells import numbers_of, times_of
from trueup.cli._errors import CommandError, nearest
from trueup.cli._lines import Decoded, SlowLines

CELLS, MOST_ROWS = 100_000, 8_192  # of a block
DELIMITERS = {"csv": ",", "tsv": "\t"}
SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
}
FORMATS = ("csv", "tsv", "jsonl", "parquet")


class Form(NamedTuple):
    """How a file is written."""

    format: str  # one of FORMATS
    packing: str  # "", "gz" or "zst"


class Block:
    """Some rows of a table, one after the other."""

    def __init__(self, table: "Table", first: int, rows: list[Any], lines: list[int]) -> None:
        self.table, self.first, self.rows = table, first, rows
        self._lines = lines  # of each row, or [the first] where each row is one line, or none

    def __len__(self) -> int:
        return len(self.rows)

    def column(self, name: str) -> list[Any]:
        """Return the cells of a column, None where a row has none."""
        at = self.table.find(name)
        return [row[at] for row in self.rows]

    def numbers(self, name: str) -> Any:
        """Return a column as floats, NaN where a cell is empty, NA, NaN or null."""
        return numbers_of(self.column(name), lambda k: self.where(k, name))

    def times(self, name: str) -> list[Any]:
        """Return a column of time stamps or numbers as what can be compared, None where empty."""
        return times_of(self.column(name), lambda k: self.where(k, name))

    def text(self, name: str) -> list[str]:
        """Return a column as text, empty where there is nothing."""
        return ["" if cell is None else str(cell) for cell in self.column(name)]

    def where(self, k: int, column: str | None = None) -> str:
        """Return words for the place of the k-th row of this block."""
        return self.table.where(self.first + k, self._line(k), column)

    def part(self, start: int, stop: int) -> "Block":
        """Return some of the rows as a block."""
        lines = self._lines[start:stop] if len(self._lines) > 1 else self._lines
        if len(lines) == 1 and len(self._lines) == 1:
            lines = [lines[0] + start]
        return Block(self.table, self.first + start, self.rows[start:stop], lines)

    def _line(self, k: int) -> int | None:
        if len(self._lines) == 1:
            return self._lines[0] + k
        return self._lines[k] if self._lines else None


class Table:
    """A table that is read once, from its beginning.

    `read` yields rows and the line in which each ends; `columns` are known before.
    """

    def __init__(self, name: str, form: Form, columns: tuple[str, ...], lines: Any) -> None:
        self.name, self.form, self.columns = name, form, columns
        self.lines = lines  # where text comes from: says how far it is, closes it
        self.rows = 0  # read so far

    def find(self, column: str) -> int:
        """Return where a column stands; an unknown one suggests the nearest name."""
        count = self.columns.count(column)
        if count == 1:
            return self.columns.index(column)
        if count:
            raise CommandError(f"{self.name} has {count} columns that are called {column!r}.")
        guess = nearest(column, self.columns)
        known = "" if guess else f"; it has {', '.join(map(repr, self.columns[:20]))}"
        if len(self.columns) == 1 and self.form.format in DELIMITERS:
            other = next((d for d in ";\t|," if d in self.columns[0]), None)
            if other is not None:
                known += f". Its cells seem to be apart by {other!r}: give --delimiter"
        end = guess or f"{known}."
        raise CommandError(f"{self.name} has no column {column!r}{end}")

    def where(self, row: int, line: int | None, column: str | None = None) -> str:
        """Return words for a place in the table."""
        place = f"{self.name}, row {row}"
        if line is not None and not (self.form.format == "jsonl" and line == row):
            place += f" (line {line})"
        return place if column is None else f"{place}, column {column!r}"

    def blocks(self, most: int | None = None, *, times: int = 1) -> Iterator[Block]:
        """Yield all rows; `most` says how many a block has, `times` how much more than usual."""
        usual = max(1, min(MOST_ROWS, CELLS // max(len(self.columns), 1)))
        size = most or usual * times
        while True:
            rows, lines = self._some(size)
            if not rows:
                return
            yield Block(self, self.rows + 1, rows, lines)
            self.rows += len(rows)

    def _some(self, size: int) -> tuple[list[Any], list[int]]:
        """Return the next rows, at most `size`, and their lines."""
        raise NotImplementedError

    def done(self) -> tuple[int, int]:
        """Return how many bytes of how many have been read; of 0 where that is not known."""
        return self.lines.done() if self.lines is not None else (0, 0)

    def close(self) -> None:
        """Close what is open."""
        if self.lines is not None:
            self.lines.close()

    def __enter__(self) -> "Table":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Delimited(Table):
    """CSV or TSV: the first row is the header."""

    def __init__(self, name: str, form: Form, lines: Any, delimiter: str) -> None:
        self._reader = csv.reader(lines, delimiter=delimiter, strict=True)
        self._broken: CommandError | None = None  # said once the rows before are through
        super().__init__(name, form, (), lines)
        with self._readable():
            header = next((row for row in self._reader if row), None)
        if header is None:
            raise CommandError(f"{name} is empty.")
        self.columns = tuple(cell.strip() for cell in header)

    def _some(self, size: int) -> tuple[list[Any], list[int]]:
        while True:
            if self._broken is not None:
                raise self._broken
            before = self._reader.line_num
            with self._readable():
                rows = next_rows(self.lines, self._reader, size)
            if not rows:
                return [], []
            lines = [before + 1]
            if self._reader.line_num - before != len(rows) or [] in rows:
                rows, lines = _numbered(rows, before)
            self._cut_ragged(rows, lines)
            if rows:
                return rows, lines[: len(rows)] if len(lines) > 1 else lines

    def _cut_ragged(self, rows: list[list[str]], lines: list[int]) -> None:
        width = len(self.columns)
        if all(len(row) == width for row in rows):
            return
        k = next(k for k, row in enumerate(rows) if len(row) != width)
        place = Block(self, self.rows + 1, rows, lines).where(k)
        self._broken = CommandError(f"{place}: {len(rows[k])} cells where the header has {width}.")
        del rows[k:]  # those before it are good

    @contextlib.contextmanager
    def _readable(self) -> Iterator[None]:
        """Turn what the reader of CSV says into one sentence."""
        with readable(self.name, lambda: self._reader.line_num):
            try:
                yield
            except csv.Error as error:
                line = self._reader.line_num
                raise CommandError(f"{self.name}, line {line}: {error}.") from None


class JsonLines(Table):
    """A JSON object a line; the first one says which columns there are."""

    def __init__(self, name: str, form: Form, lines: Any) -> None:
        super().__init__(name, form, (), lines)
        self._count = 0
        self._source = self._read()
        with readable(name, lambda: self._count):
            first = next((row for row in self._source if row is not None), None)
        if first is None:
            raise CommandError(f"{name} is empty.")
        self.columns = tuple(first.object)
        first.extend(first.object.values())
        self._ahead = [(first, self._count)]

    def _read(self) -> Iterator["Parsed | None"]:
        """Yield all objects, None for a blank line."""
        for text in self.lines:
            self._count += 1
            line = text.strip()
            place = f"{self.name}, line {self._count}"
            yield Parsed.of(line, self.columns, place) if line else None

    def _some(self, size: int) -> tuple[list[Any], list[int]]:
        pairs, self._ahead = self._ahead, []
        while not pairs:
            before = self._count
            with readable(self.name, lambda: self._count):
                rows = next_rows(self.lines, self._source, size)
            if not rows:
                break
            pairs = [(row, before + 1 + k) for k, row in enumerate(rows) if row is not None]
        return [row for row, _ in pairs], [line for _, line in pairs]


class Parsed(list[Any]):
    """The values of one JSON object in the order of the columns, with its text."""

    line: str
    object: dict[str, Any]

    @classmethod
    def of(cls, line: str, columns: tuple[str, ...], place: str) -> "Parsed":
        """Return the values of a line."""
        try:
            found = json.loads(line)
        except ValueError as error:
            raise CommandError(f"{place}: no JSON object: {error}.") from None
        if not isinstance(found, dict):
            raise CommandError(f"{place}: a JSON object must stand there, got {line[:40]}.")
        row = cls(found.get(name) for name in columns)
        row.line, row.object = line, found
        return row


def _numbered(rows: list[list[str]], before: int) -> tuple[list[list[str]], list[int]]:
    """Return rows without blank ones, and the line in which each begins."""
    kept: list[list[str]] = []
    lines: list[int] = []
    line = before + 1
    for row in rows:
        if row:
            kept.append(row)
            lines.append(line)
        line += 1 + sum(cell.count("\n") for cell in row)
    return kept, lines


def next_rows(lines: Any, rows: Iterator[Any], size: int) -> list[Any]:
    """Return the next rows, from a pipe those that have arrived."""
    if isinstance(lines, SlowLines):
        return lines.ready(rows, size)
    return list(islice(rows, size))


@contextlib.contextmanager
def readable(name: str, line: Callable[[], int]) -> Iterator[None]:
    """Turn damage of a file into one sentence."""
    try:
        yield
    except UnicodeDecodeError as error:
        at = line() + 1 + error.object[: error.start].count(b"\n")
        byte = error.object[error.start]
        raise CommandError(
            f"{name}, line {at}: the byte 0x{byte:02x} is not UTF-8; save the file as UTF-8."
        ) from None
    except (EOFError, zlib.error):
        raise CommandError(f"{name} is cut off or damaged after line {line()}.") from None
    except gzip.BadGzipFile as error:
        raise CommandError(f"{name} is no gzip file: {error}.") from None


def form_of(path: str, given: str | None = None) -> Form:
    """Return how a file is written, by its name unless it is said.

    >>> form_of("data.csv.gz"), form_of("table", "tsv")
    (Form(format='csv', packing='gz'), Form(format='tsv', packing=''))
    """
    suffixes = [suffix.casefold() for suffix in Path(path).suffixes]
    packing = suffixes.pop()[1:] if suffixes and suffixes[-1] in (".gz", ".zst") else ""
    if given is not None:
        return Form(given, packing)
    if path == "-":
        return Form("csv", "")
    last = suffixes[-1] if suffixes else ""
    if last not in SUFFIXES:
        known = ", ".join(SUFFIXES)
        raise CommandError(
            f"{path}: its name does not say what it is ({known}, .gz); give --format csv."
        )
    return Form(SUFFIXES[last], packing)


def open_table(path: str, given: str | None = None, delimiter: str | None = None) -> Table:
    """Open a file, or standard input where the path is "-".

    Parameters
    ----------
    path : str
    given : str, optional
        One of FORMATS where the name does not say it.
    delimiter : str, optional
        What is between the cells, one character.
    """
    form = form_of(path, given)
    if form.format == "parquet" or form.packing == "zst":
        from trueup.cli._duckdb import compressed_lines, open_parquet  # an extra

        if form.format == "parquet":
            return open_parquet(path, form)
        return _table(path, form, compressed_lines(path), delimiter)
    if path == "-":
        lines: Any = SlowLines.of_standard_input()
        if given is None and lines.begins_with("{"):
            form = Form("jsonl", "")
        return _table("standard input", form, lines, delimiter)
    return _table(path, form, _opened(path, form.packing), delimiter)


def _opened(path: str, packing: str) -> Decoded:
    try:
        raw: BinaryIO = Path(path).open("rb")  # noqa: SIM115 - the table closes it
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror}.") from None
    return Decoded(raw, gzip.GzipFile(fileobj=raw) if packing == "gz" else raw)


def _table(name: str, form: Form, lines: Iterable[str], delimiter: str | None) -> Table:
    try:
        if form.format == "jsonl":
            return JsonLines(name, form, lines)
        return Delimited(name, form, lines, delimiter or DELIMITERS[form.format])
    except BaseException:
        lines.close()  # type: ignore[attr-defined]
        raise
