"""A table with columns added, written so that what was there before is lost only to the whole.

A file is written under another name beside its place and renamed at the end. Cells stay the text
that they were, JSON lines stay the lines that they were, Parquet columns keep their types.
"""

import contextlib
import csv
import gzip
import io
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from trueup.cli._errors import CommandError
from trueup.cli._read import DELIMITERS, Block, Form, Table, form_of


class Output:
    """Where answers go: a file, or standard output."""

    def __init__(
        self, path: str, table: Table, names: list[str], delimiter: str | None, *, force: bool
    ) -> None:
        self.path, self._names = path, names
        self._text: Any = None
        self._raw: Any = None
        for name in names:
            if name in table.columns:
                raise CommandError(
                    f"{table.name} has a column {name!r} already; give another --name."
                )
        self.form = table.form if path == "-" else form_of(path)
        if path == "-" and self.form.format == "parquet":
            self.form = Form("csv", "")
        if path != "-" and Path(path).exists() and not force:
            raise CommandError(f"{path} exists already; give --force to overwrite it.")
        self._alone = table.form.format == self.form.format == "parquet"  # joined at the end
        self._source = table.name
        self._temporary = "" if path == "-" else self._beside()
        try:
            self._open()
            self._writer: Any = self._writer_of(table, delimiter)
        except BaseException:
            self.abort()
            raise

    def _writer_of(self, table: Table, delimiter: str | None) -> Any:
        """Return what writes rows, with the header written."""
        text = "csv" if self.form.format == "parquet" else self.form.format
        columns = () if self._alone else table.columns
        if text == "jsonl":
            return JsonWriter(self._text, columns, self._names)
        between = DELIMITERS[text]
        if delimiter is not None and text == table.form.format:
            between = delimiter
        return CellWriter(self._text, columns, self._names, between, alone=self._alone)

    def write(self, block: Block, added: list[tuple[Any, ...]]) -> None:
        """Write rows with what is added to each."""
        try:
            self._writer.write(block.rows, added)
        except OSError as error:
            raise self._told(error) from None

    def flush(self) -> None:
        """Let everything through that has been written."""
        try:
            self._text.flush()
        except OSError as error:
            raise self._told(error) from None

    def commit(self) -> None:
        """Finish; a file gets its name."""
        try:
            if not self._temporary:
                self._text.flush()
                self._text.detach()
                return
            self._close()
            self._convert()
            _sync(self._temporary)
            Path(self._temporary).replace(self.path)
        except OSError as error:
            raise self._told(error) from None
        self._temporary = ""

    def abort(self) -> None:
        """Leave no trace; what was there before stays."""
        if self.path == "-" and self._text is not None:
            with contextlib.suppress(OSError, ValueError):  # nobody listens, or it is done
                self._text.detach()
        if self._temporary:
            with contextlib.suppress(OSError):  # the disk is full: it goes anyway
                self._close()
            Path(self._temporary).unlink(missing_ok=True)

    def _beside(self) -> str:
        """Return the name of an empty file in the folder of the output, with its rights."""
        target = Path(self.path)
        try:
            handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        except OSError as error:
            raise CommandError(f"{self.path} cannot be written: {error.strerror}.") from None
        os.close(handle)
        mask = os.umask(0)
        os.umask(mask)
        Path(name).chmod(target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~mask)
        return name

    def _open(self) -> None:
        self._raw = sys.stdout.buffer
        if self._temporary:
            self._raw = Path(self._temporary).open("wb")  # noqa: SIM115 - closed by commit, abort
        packed = self._raw
        if self.form.packing == "gz" and self._temporary:
            packed = gzip.GzipFile(filename="", mode="wb", fileobj=self._raw, mtime=0)
        self._text = io.TextIOWrapper(packed, encoding="utf-8", newline="")

    def _close(self) -> None:
        try:
            if self._text is not None:
                self._text.close()
        finally:
            if self._raw is not None:
                self._raw.close()

    def _convert(self) -> None:
        """Turn the text into what only DuckDB can write."""
        if self.form.format == "parquet" or self.form.packing == "zst":
            from trueup.cli import _duckdb

            other = self._beside()
            try:
                if self.form.packing == "zst":
                    _duckdb.pack(self._temporary, other)
                else:
                    columns = self._writer.header
                    source = self._source if self._alone else None
                    _duckdb.to_parquet(self._temporary, columns, self._names, source, other)
            except BaseException:
                Path(other).unlink(missing_ok=True)
                raise
            Path(other).replace(self._temporary)

    def _told(self, error: OSError) -> OSError:
        name = "standard output" if self.path == "-" else self.path
        return OSError(error.errno, error.strerror, name)


class CellWriter:
    """Rows as cells with something between them."""

    def __init__(
        self, text: Any, columns: tuple[str, ...], names: list[str], between: str, *, alone: bool
    ) -> None:
        self._writer = csv.writer(text, delimiter=between, lineterminator="\n")
        self._alone = alone
        self.header = [*columns, *names]
        self._writer.writerow(self.header)

    def write(self, rows: list[Any], added: list[tuple[Any, ...]]) -> None:
        """Write rows, each with what is added to it."""
        if self._alone:
            self._writer.writerows(added)
        elif rows and type(rows[0]) is list:  # of text
            self._writer.writerows([(*row, *more) for row, more in zip(rows, added, strict=True)])
        else:
            self._writer.writerows(
                [[*map(as_text, row), *more] for row, more in zip(rows, added, strict=True)]
            )


class JsonWriter:
    """Rows as JSON objects; one that was one keeps its text."""

    def __init__(self, text: Any, columns: tuple[str, ...], names: list[str]) -> None:
        self._text, self._columns, self._names = text, columns, names
        self.header = [*columns, *names]

    def write(self, rows: list[Any], added: list[tuple[Any, ...]]) -> None:
        """Write rows, each with what is added to it."""
        for row, more in zip(rows, added, strict=True):
            new = json.dumps(dict(zip(self._names, more, strict=True)))[1:]
            old = getattr(row, "line", None)
            if old is None:
                cells = dict(zip(self._columns, row, strict=True))
                old = json.dumps(cells, default=str, ensure_ascii=False)
            stem = old[:-1].rstrip()
            self._text.write(f"{stem}{'' if stem == '{' else ', '}{new}\n")


def as_text(cell: Any) -> str:
    """Return a value as the text of a cell.

    >>> as_text(True), as_text(None), as_text([1]), as_text(0.1)
    ('true', '', '[1]', '0.1')
    """
    if cell is None:
        return ""
    if isinstance(cell, bool | list | dict):
        return json.dumps(cell)
    return str(cell)


def _sync(path: str) -> None:
    """Wait until a file is on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
