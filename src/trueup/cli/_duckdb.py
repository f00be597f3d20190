"""What needs DuckDB, the extra `data`: Parquet, and text packed by zstandard. Nowhere else."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from trueup.cli._errors import CommandError, extra
from trueup.cli._read import Form, Table

LINES = (  # a file as its lines: nothing is a separator or a quote
    "read_csv({}, columns={{'line': 'VARCHAR'}}, delim='\x01', quote='', escape='', header=false,"
    " auto_detect=false, max_line_size=16777216)"
)
AT_ONCE = 4_096  # lines


def connect(what: str) -> Any:
    """Return a connection to a database in memory that keeps the order of rows."""
    duckdb = extra("duckdb", "data", what)
    connection = duckdb.connect()
    connection.execute("SET enable_progress_bar = false; SET preserve_insertion_order = true")
    return connection


def quoted(path: str) -> str:
    """Return a path as a text of SQL; no letter of it means anything else.

    >>> quoted("it's")
    "'it''s'"
    """
    return "'" + path.replace("'", "''") + "'"


class Answer:
    """What a query of one file answers, some rows at a time."""

    def __init__(self, path: str, what: str, query: str) -> None:
        self._path = path
        if not Path(path).is_file():
            raise CommandError(f"{path} cannot be read: no such file.")
        self._connection = connect(what)
        self._duckdb = extra("duckdb", "data", what)
        self.rows = 0
        try:
            self._result = self._connection.execute(query)
            self.names = tuple(column[0] for column in self._result.description)
        except self._duckdb.Error as error:
            self.close()
            raise self._damaged(error) from None

    def some(self, most: int) -> list[Any]:
        """Return the next rows."""
        try:
            rows = self._result.fetchmany(most)
        except self._duckdb.Error as error:
            raise self._damaged(error) from None
        self.rows += len(rows)
        return list(rows)

    def __iter__(self) -> Iterator[str]:
        """Yield the lines of a file of text."""
        while rows := self.some(AT_ONCE):
            for (line,) in rows:
                yield f"{line or ''}\n"

    def done(self) -> tuple[int, int]:
        """Return nothing: how many bytes have been read is not known."""
        return 0, 0

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _damaged(self, error: Exception) -> CommandError:
        reason = str(error).splitlines()[0]
        return CommandError(f"{self._path} cannot be read: {reason.rstrip('.')}.")


class Parquet(Table):
    """The rows of a Parquet file as Python's values."""

    def __init__(self, name: str, form: Form, answer: Answer) -> None:
        super().__init__(name, form, answer.names, answer)

    def _some(self, size: int) -> tuple[list[Any], list[int]]:
        return self.lines.some(size), []


def open_parquet(path: str, form: Form) -> Parquet:
    """Open a Parquet file."""
    answer = Answer(path, "A Parquet file", f"SELECT * FROM read_parquet({quoted(path)})")  # noqa: S608
    return Parquet(path, form, answer)


def compressed_lines(path: str) -> Answer:
    """Return the lines of a file that zstandard packed."""
    return Answer(path, "A .zst file", f"SELECT line FROM {LINES.format(quoted(path))}")  # noqa: S608


def pack(source: str, target: str) -> None:
    """Write the lines of a file again, packed by zstandard."""
    with connect("A .zst file") as connection:
        connection.execute(
            f"COPY (SELECT line FROM {LINES.format(quoted(source))}) TO {quoted(target)} (FORMAT"  # noqa: S608
            " csv, HEADER false, QUOTE '', ESCAPE '', DELIMITER '\x01', COMPRESSION zstd)"
        )


def to_parquet(
    source: str, columns: list[str], numbers: list[str], beside: str | None, target: str
) -> None:
    """Write a CSV file as Parquet, beside the columns of another Parquet file if one is given.

    Columns of `numbers` become floats, but for the last two, which are true or false; others text.
    """
    types = dict.fromkeys(columns, "VARCHAR") | dict.fromkeys(numbers, "DOUBLE")
    types |= dict.fromkeys(numbers[-2:], "BOOLEAN")
    listed = ", ".join(f"{quoted(name)}: {quoted(kind)}" for name, kind in types.items())
    query = (
        f"read_csv({quoted(source)}, columns={{{listed}}}, header=true, auto_detect=false,"
        " delim=',', quote='\"', escape='\"')"
    )
    if beside is not None:
        query = f"read_parquet({quoted(beside)}) POSITIONAL JOIN {query}"
    with connect("A Parquet file") as connection:
        connection.execute(f"COPY (SELECT * FROM {query}) TO {quoted(target)} (FORMAT parquet)")  # noqa: S608
