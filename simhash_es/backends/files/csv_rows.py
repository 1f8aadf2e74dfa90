"""CSV and TSV with a header, every cell a string.

Nothing is guessed: ``NA``, ``null`` and ``00042`` are texts; only an empty cell is empty. A quoted cell may hold line
breaks, and the raw record then has several lines. A record with more or fewer cells than the header is a bad row. A
quote that is opened and never closed spoils the record on its own line only: reading goes on with the next line.
"""

from __future__ import annotations

import csv
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
        lines, raws, starts, faults, rows = _new_lists()
        size = 0
        for record in islice(self._records(), 1, None):
            row = self._row(record.cells)
            if isinstance(row, RowFault):
                faults[len(raws)] = row
                row = {}
            lines.append(record.line)
            starts.append(record.position)
            raws.append(record.raw)
            rows.append(row)
            size += len(record.raw)
            if size >= BLOCK_BYTES:
                yield Block(lines, raws, starts, faults, rows)
                lines, raws, starts, faults, rows = _new_lists()
                size = 0
        if raws:
            yield Block(lines, raws, starts, faults, rows)

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
        while feed.has_lines():
            reader = csv.reader(feed.texts(), delimiter=self._delimiter)
            n_lines = 0
            while True:
                try:
                    cells: list[str] | RowFault | None = next(reader, None)
                except csv.Error as error:
                    cells = RowFault(f"not readable as a record: {error}")
                n_taken, n_lines = reader.line_num - n_lines, reader.line_num
                if n_taken == 0 or cells is None:
                    break
                if feed.has_ended:  # csv.reader asks for another line only inside a quoted cell
                    cells = RowFault("a quote is opened and never closed")
                    n_taken = 1
                record = feed.take(n_taken, cells)
                if record.cells and record.raw.strip(b" \r\n"):
                    yield record
                if feed.has_ended:
                    break


class _Record(NamedTuple):
    """One record: line and byte position of its start, exact bytes, cells."""

    line: int
    position: int
    raw: bytes
    cells: list[str] | RowFault


_Lists = tuple[list[int], list[bytes], list[int], dict[int, RowFault], list[Row]]


def _new_lists() -> _Lists:
    return [], [], [], {}, []


class _LineFeed:
    """Lines as texts for ``csv.reader``, and the same lines as bytes for the records it makes of them."""

    def __init__(self, chunks: Iterable[bytes], encoding: str) -> None:
        self._pieces = line_pieces(chunks)
        self._encoding = encoding
        self._raws: list[bytes] = []
        self._at = 0
        self._line = 1
        self._position = 0
        self._faults: dict[int, RowFault] = {}
        self.has_ended = False
        """Whether ``texts`` was asked for a line when there was none, or the record had become too long."""

    def has_lines(self) -> bool:
        """Whether anything is left; ``texts`` may then be called anew."""
        return self._at < len(self._raws) or self._load()

    def texts(self) -> Iterator[str]:
        """The lines not taken yet."""
        self.has_ended = False
        start = self._at
        while True:
            yield from self._decoded(start)
            if sum(map(len, self._raws[self._at :])) > _MAX_RECORD_BYTES:
                break
            n_held = len(self._raws) - self._at
            if not self._load():
                break
            start = n_held
        self.has_ended = True

    def take(self, n_lines: int, cells: list[str] | RowFault) -> _Record:
        """The next lines as one record; a fault in their bytes takes the place of the cells."""
        end = self._at + n_lines
        raw = self._raws[self._at] if n_lines == 1 else b"".join(self._raws[self._at : end])
        if self._faults:
            found = [self._faults.pop(line) for line in range(self._line, self._line + n_lines) if line in self._faults]
            cells = found[0] if found else cells
        if isinstance(cells, RowFault) and cells.byte is not None:
            cells = RowFault(cells.reason, byte=cells.byte - self._position, value=cells.value)
        record = _Record(self._line, self._position, raw, cells)
        self._at = end
        self._line += n_lines
        self._position += len(raw)
        return record

    def _load(self) -> bool:
        piece = next(self._pieces, None)
        if piece is None:
            return False
        self._raws = self._raws[self._at :] + split_lines(piece)
        self._at = 0
        return True

    def _decoded(self, start: int) -> list[str]:
        """Texts of the held lines from ``start`` on."""
        try:
            return [raw.decode(self._encoding) for raw in self._raws[start:]]
        except UnicodeDecodeError:
            return [self._decoded_with_faults(index) for index in range(start, len(self._raws))]

    def _decoded_with_faults(self, index: int) -> str:
        """One line; where a byte does not fit, a replacement, so that the end of the record is still found."""
        raw = self._raws[index]
        try:
            return decode_record(raw, self._encoding)
        except RowFault as fault:
            before = self._position + sum(map(len, self._raws[self._at : index]))
            position = None if fault.byte is None else before + fault.byte
            line = self._line + index - self._at
            self._faults[line] = RowFault(fault.reason, byte=position, value=fault.value)
            return raw.decode(self._encoding, "replace")
