"""CSV and TSV with a header, every cell a string.

Nothing is guessed: ``NA``, ``null`` and ``00042`` are texts; only an empty cell is empty. A quoted cell may hold line
breaks, and the raw record then has several lines. A record with more or fewer cells than the header is a bad row. A
quote that is opened and never closed spoils the record on its own line only: reading goes on with the next line.
"""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from simhash_es.backends.files.blocks import BLOCK_BYTES, Block, Row, RowFault, line_pieces, split_lines
from simhash_es.backends.files.json_rows import decode_record
from simhash_es.errors import InputError

_MAX_RECORD_BYTES = 1 << 26
"""A longer record means a quote that was never closed; it also bounds what one record can take of memory."""


class CsvReader:
    """Reads CSV or TSV; the first record that is not blank is the header.

    Args:
        chunks: Gives the bytes from the start, without a byte order mark.
        encoding: Codec of the bytes; line breaks, quotes and delimiters must be single ASCII bytes in it.
        delimiter: ``","`` or a tab.
        name: The file, for messages.

    Raises:
        InputError: The header cannot be read.
    """

    def __init__(self, chunks: Callable[[], Iterable[bytes]], encoding: str, delimiter: str, name: str) -> None:
        # the limit is one for the whole process and exists against memory use, which _MAX_RECORD_BYTES bounds here
        csv.field_size_limit(max(csv.field_size_limit(), _MAX_RECORD_BYTES))
        self._chunks = chunks
        self._encoding = encoding
        self._delimiter = delimiter
        self.header = b""
        self.known_fields: tuple[str, ...] = ()
        for record in islice(self._records(), 1):
            if isinstance(record.cells, RowFault):
                reason = record.cells.reason
                raise InputError(f"{name}: the header cannot be read: {reason}", source=name, line=record.line)
            self.header, self.known_fields = record.raw, tuple(record.cells)

    def blocks(self, *, whole: bool) -> Iterator[Block]:
        """Raw records with parsed cells; ``whole`` makes no difference, records always are."""
        block = _empty_block()
        size = 0
        for record in islice(self._records(), 1, None):
            _append(block, record, self._row(record.cells))
            size += len(record.raw)
            if size >= BLOCK_BYTES:
                yield block
                block, size = _empty_block(), 0
        if block.raws:
            yield block

    def rows(self, block: Block) -> Iterator[Row | RowFault]:
        """Rows of a block: the header's names with the cells."""
        assert block.rows is not None
        for index, row in enumerate(block.rows):
            yield block.faults.get(index, row)

    def literal(self, raw: bytes) -> Row:
        """Never called: cells are strings."""
        raise AssertionError("cells of CSV are strings")

    def _row(self, cells: list[str] | RowFault) -> Row | RowFault:
        if isinstance(cells, RowFault):
            return cells
        if len(cells) != len(self.known_fields):
            return RowFault(f"{len(cells)} cells where the header has {len(self.known_fields)}")
        return dict(zip(self.known_fields, cells, strict=True))

    def _records(self) -> Iterator[_Record]:
        """Each record, header included; blank lines are left out."""
        feed = _LineFeed(self._chunks(), self._encoding)
        reader = csv.reader(feed, delimiter=self._delimiter)
        while True:
            feed.begin()
            try:
                cells: list[str] | RowFault | None = next(reader, None)
            except csv.Error as error:
                cells = RowFault(f"not readable as a record: {error}")
            if not feed.taken:
                return
            if feed.hit_end:  # csv.reader asks for another line only inside a quoted cell
                cells = RowFault("a quote is opened and never closed")
                feed.give_back()
            raw = b"".join(feed.taken)
            if feed.fault is not None:
                cells = feed.fault
            if raw.strip(b" \r\n") and cells is not None:
                yield _Record(feed.line, feed.position, raw, cells)


class _Record(NamedTuple):
    """One record: line and byte position of its start, exact bytes, cells."""

    line: int
    position: int
    raw: bytes
    cells: list[str] | RowFault


def _empty_block() -> Block:
    return Block([], [], [], {}, [])


def _append(block: Block, record: _Record, row: Row | RowFault) -> None:
    assert isinstance(block.lines, list)
    assert isinstance(block.starts, list)
    assert isinstance(block.faults, dict)
    assert block.rows is not None
    if isinstance(row, RowFault):
        block.faults[len(block.raws)] = row
        row = {}
    block.lines.append(record.line)
    block.starts.append(record.position)
    block.raws.append(record.raw)
    block.rows.append(row)


class _LineFeed:
    """Hands lines to ``csv.reader`` and remembers which ones a record has taken."""

    def __init__(self, chunks: Iterable[bytes], encoding: str) -> None:
        self._lines = (line for piece in line_pieces(chunks) for line in split_lines(piece))
        self._returned: deque[bytes] = deque()
        self._encoding = encoding
        self.line = 1
        self.position = 0
        self.taken: list[bytes] = []
        self.begin()

    def begin(self) -> None:
        """Start a record."""
        self.line += len(self.taken)
        self.position += sum(map(len, self.taken))
        self.taken = []
        self.fault: RowFault | None = None
        self.hit_end = False
        self._size = 0

    def give_back(self) -> None:
        """Keep only the first line of the record; the others will be read again."""
        self._returned.extendleft(reversed(self.taken[1:]))
        self.taken = self.taken[:1]

    def __iter__(self) -> _LineFeed:
        return self

    def __next__(self) -> str:
        line = self._returned.popleft() if self._returned else next(self._lines, None)
        if line is None or self._size > _MAX_RECORD_BYTES:
            if line is not None:
                self._returned.appendleft(line)
            self.hit_end = True
            raise StopIteration
        before = self._size
        self.taken.append(line)
        self._size += len(line)
        try:
            return decode_record(line, self._encoding)
        except RowFault as fault:
            # the record's other cells and lines are still wanted, to find where the next one begins
            byte = None if fault.byte is None else before + fault.byte
            self.fault = RowFault(fault.reason, byte=byte, value=fault.value)
            return line.decode(self._encoding, "replace")
