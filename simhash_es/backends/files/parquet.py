"""Parquet, read a part of a row group at a time. Needs the extra ``parquet``.

Only the columns asked for are read. Where a raw record is wanted it is the row as a JSON object of plain types:
NaN and missing values are null, times are ISO 8601 (nanoseconds kept), decimals, and bytes that are not UTF-8 (as
hexadecimal), are strings.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import orjson

from simhash_es._optional import require
from simhash_es.backends.files.blocks import BLOCK_BYTES, Block, Row, RowFault
from simhash_es.backends.files.sources import StoredFile
from simhash_es.errors import InputError

_MAX_BATCH_ROWS = 1 << 16
PURPOSE = "Reading and writing Parquet"


class ParquetReader:
    """Reads one Parquet file; ``line`` of a row is its number, from 1.

    Args:
        file: The file; a compressed one or standard input is unpacked into a temporary file.
        wanted: Names of the fields that rows must have, dotted paths included; columns not under them stay unread.

    Raises:
        InputError: The file is not Parquet or is damaged.
        MissingExtra: pyarrow is not installed.
    """

    def __init__(self, file: StoredFile, wanted: Iterable[str]) -> None:
        self._file = file
        self._arrow = require("pyarrow", "parquet", PURPOSE)
        with opened_parquet(file) as parquet:
            self.schema: Any = parquet.schema_arrow
        self.known_fields: tuple[str, ...] = tuple(self.schema.names)
        names = set(self.known_fields)
        self._columns = sorted({name if name in names else name.split(".")[0] for name in wanted} & names)

    def blocks(self, *, whole: bool) -> Iterator[Block]:
        """Rows of the wanted columns; ``whole`` reads all columns and gives the raw records as JSON."""
        columns = None if whole else self._columns
        number = 1
        with opened_parquet(self._file) as parquet:
            for batch in record_batches(parquet, columns, self._file.name):
                rows = self._plain_rows(batch)
                raws = [orjson.dumps(row, default=_plain) for row in rows] if whole else [b""] * batch.num_rows
                yield Block(range(number, number + batch.num_rows), raws, (), {}, rows)
                number += batch.num_rows

    def rows(self, block: Block) -> Iterable[Row | RowFault]:
        """Rows of a block."""
        assert block.rows is not None
        return block.rows

    def literal(self, raw: bytes) -> Row:
        """Never called: numbers keep the type of their column."""
        raise AssertionError("numbers of Parquet have a type")

    def _plain_rows(self, batch: Any) -> list[Row]:
        columns: dict[str, Sequence[object]] = {}
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            columns[name] = self._plain_column(column)
        if not columns:
            return [{} for _ in range(batch.num_rows)]
        names = tuple(columns)
        return [dict(zip(names, values, strict=True)) for values in zip(*columns.values(), strict=True)]

    def _plain_column(self, column: Any) -> Sequence[object]:
        types = self._arrow.types
        kind = column.type
        if types.is_timestamp(kind) and kind.unit == "ns":
            return [None if value is None else value.replace(" ", "T") for value in _texts(column, self._arrow)]
        try:
            return column.to_pylist()  # type: ignore[no-any-return]  # pyarrow is untyped
        except (ValueError, OverflowError):  # nested nanoseconds, years out of range, strings that are not UTF-8
            return _texts(column.cast(self._arrow.binary()) if types.is_string(kind) else column, self._arrow)


def _texts(column: Any, arrow: Any) -> list[Any]:
    """A column as texts; bytes stay bytes."""
    if arrow.types.is_binary(column.type):
        return list(column.to_pylist())
    try:
        return list(column.cast(arrow.string()).to_pylist())
    except arrow.ArrowException:
        return [None if not value.is_valid else str(value) for value in column]


@contextmanager
def opened_parquet(file: StoredFile) -> Iterator[Any]:
    """A ``pyarrow.parquet.ParquetFile``.

    Raises:
        InputError: The file is not Parquet or is damaged.
    """
    parquet = require("pyarrow.parquet", "parquet", PURPOSE)
    with file.seekable() as stream:
        try:
            opened = parquet.ParquetFile(stream)
        except (OSError, ValueError) as error:
            raise InputError(
                f"{file.name}: not a Parquet file, or damaged: {error}",
                "if it is another format, say --input-format",
                source=file.name,
            ) from error
        with opened:
            yield opened


def record_batches(parquet: Any, columns: list[str] | None, name: str, *, group: int | None = None) -> Iterator[Any]:
    """Record batches of about ``BLOCK_BYTES`` each.

    Args:
        parquet: An open ``ParquetFile``.
        columns: The columns to read; ``None`` reads all.
        name: The file, for messages.
        group: Number of one row group; ``None`` reads all.

    Raises:
        InputError: A page is damaged.
    """
    groups = [parquet.metadata.row_group(index) for index in range(parquet.metadata.num_row_groups)]
    n_bytes = sum(group.total_byte_size for group in groups)
    n_rows = parquet.metadata.num_rows
    share = math.ceil(n_rows * BLOCK_BYTES / n_bytes) if n_bytes else _MAX_BATCH_ROWS
    size = max(1, min(_MAX_BATCH_ROWS, share))
    try:
        wanted = range(len(groups)) if group is None else (group,)
        yield from parquet.iter_batches(size, row_groups=list(wanted), columns=columns, use_threads=False)
    except OSError as error:
        raise InputError(f"{name}: the Parquet data is damaged: {error}", source=name) from error


def _plain(value: object) -> object:
    """What orjson does not know, as a string."""
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return value.hex()
    if isinstance(value, dt.timedelta):
        return value.total_seconds()
    return str(value)
