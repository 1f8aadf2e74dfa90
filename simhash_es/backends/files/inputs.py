"""All inputs of one run: read as batches, as raw rows, or a few rows by number."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from simhash_es.backends.files.blocks import Block, RowFault
from simhash_es.backends.files.compression import Compression
from simhash_es.backends.files.encodings import UTF_8, TextEncoding, canonical_encoding, detect_encoding, undecodable
from simhash_es.backends.files.options import DataFormat, OnError, ReadOptions
from simhash_es.backends.files.places import RowPlaces
from simhash_es.backends.files.readers import SELF_ENCODED, open_reader
from simhash_es.backends.files.rows import Reader, RowBatch, RowBuilder
from simhash_es.backends.files.sources import ByteMeter, Source, resolve_sources
from simhash_es.errors import BadRow, InvalidOption

_MAX_STORED_REASONS = 1000
_ASCII_REACH_BYTES = 1 << 23  # how much of a compressed file is unpacked in search of a byte beyond ASCII
_DIGEST_BYTES = 16


@dataclass(frozen=True, slots=True)
class SkippedRow:
    """A row that could not be read.

    Args:
        source: The file, as the user named it.
        line: 1-based line, or record number.
        reason: What is wrong.
    """

    source: str
    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class RawBlock:
    """Consecutive good rows as they stand in their source.

    Args:
        source: Number of the source, 0-based.
        first_row: Ordinal of the first row.
        lines: Line or record number of each row.
        raws: Exact bytes of each row; Parquet: JSON objects.
    """

    source: int
    first_row: int
    lines: Sequence[int]
    raws: list[bytes]


@dataclass(slots=True)
class _Tally:
    """What one full pass finds out."""

    places: RowPlaces = field(default_factory=RowPlaces)
    bad_lines: dict[int, set[int]] = field(default_factory=dict)
    skipped_rows: list[SkippedRow] = field(default_factory=list)
    n_skipped: int = 0
    n_repaired: int = 0
    rows_by_id: dict[bytes, int] = field(default_factory=dict)
    is_complete: bool = False


class Inputs:
    """Sources read in the order given; rows get ordinals 0, 1, 2 … over all of them, bad rows get none.

    Args:
        sources: Files, folders, and ``-`` for standard input.
        options: What to read; ``None`` takes the defaults.

    Raises:
        InputError: A source is missing, an empty folder, or cannot be read.
        InvalidOption: No source, ``-`` twice, or an unknown encoding.
    """

    def __init__(self, sources: Sequence[str], options: ReadOptions | None = None) -> None:
        self.options = ReadOptions() if options is None else options
        if self.options.encoding is not None:
            canonical_encoding(self.options.encoding)
        self._meter = ByteMeter()
        found, left_out = resolve_sources(sources, self.options.format, self._meter)
        self.sources: tuple[Source, ...] = tuple(found)
        self.left_out: tuple[str, ...] = tuple(left_out)
        """Files of folders that are not read (see ``folders.py``); worth a line to the user."""
        self._encodings: dict[int, TextEncoding] = {}
        self._tally = _Tally()

    @property
    def skipped(self) -> int:
        """Number of bad rows, so far or in all once a pass is complete."""
        return self._tally.n_skipped

    @property
    def skipped_rows(self) -> list[SkippedRow]:
        """The first 1,000 bad rows with their reasons."""
        return self._tally.skipped_rows

    @property
    def repaired(self) -> int:
        """Number of rows in which a lone surrogate was replaced by U+FFFD."""
        return self._tally.n_repaired

    @property
    def n_rows(self) -> int:
        """Number of good rows, so far or in all once a pass is complete."""
        return len(self._tally.places)

    @property
    def bytes_total(self) -> int | None:
        """Stored (compressed) bytes of all sources; ``None`` with standard input."""
        sizes = [file.stored_bytes() for source in self.sources for file in source.files]
        return None if None in sizes else sum(size for size in sizes if size is not None)

    @property
    def bytes_read(self) -> int:
        """Stored bytes read in the current pass."""
        return self._meter.n_bytes

    @property
    def paths(self) -> list[Path]:
        """Every file that is read, to keep outputs from overwriting one."""
        return [file.path for source in self.sources for file in source.files if file.path is not None]

    def batches(self) -> Iterator[RowBatch]:
        """All good rows from the start, each time it is called.

        Raises:
            BadRow: A bad row with ``OnError.STOP``; names source, line and reason.
            UndecodableInput: Bytes that fit no encoding that can be told.
            InputError: A field that no row has, a damaged or changed file.
        """
        tally = _Tally()
        if not self._tally.is_complete:
            self._tally = tally
        self._meter.n_bytes = 0
        for number, source in enumerate(self.sources):
            tally.places.begin_source()
            reader = self.reader(number)
            builder = RowBuilder(source.name, source.format, reader, self.options)
            for block in reader.blocks(whole=self.options.whole_rows):
                on_fault = partial(self._fault, tally, number, block)
                batch, n_repaired = builder.build(block, len(tally.places), on_fault)
                tally.n_repaired += n_repaired
                if self.options.unique_ids:
                    batch = self._without_repeated(batch, tally, number, block)
                tally.places.extend(batch.lines)
                if batch.lines:
                    yield batch
            builder.finish()
        tally.is_complete = True

    def raw_blocks(self) -> Iterator[RawBlock]:
        """All good rows as bytes, some thousand at a time, without parsing them: the same rows as ``batches``.

        A full pass of ``batches`` is made first if there was none, since it decides which rows are good.
        """
        self._complete()
        self._meter.n_bytes = 0
        first_row = 0
        for number in range(len(self.sources)):
            for block in self._good_blocks(number, whole=True):
                yield RawBlock(number, first_row, block.lines, block.raws)
                first_row += len(block.raws)

    def raw_rows(self) -> Iterator[tuple[int, bytes]]:
        """Ordinal and exact bytes of every good row, in order."""
        for block in self.raw_blocks():
            yield from enumerate(block.raws, block.first_row)

    def texts(self, rows: Collection[int]) -> dict[int, str]:
        """Texts of a few rows, read again; an absent text is the empty string.

        Args:
            rows: Ordinals. The sources they lie in are read up to the last one of them.

        Raises:
            IndexError: No such row.
        """
        self._complete()
        texts = dict.fromkeys(rows, "")
        by_source: dict[int, set[int]] = {}
        for row in texts:
            by_source.setdefault(self._tally.places.place(row)[0], set()).add(row)
        if self.options.need_text:
            for number, wanted in sorted(by_source.items()):
                texts.update(self._texts_of(number, wanted))
        return texts

    def source_of(self, row: int) -> tuple[str, int]:
        """File and line (or record number) of a row; a document in a folder is on line 1 of its file.

        Raises:
            IndexError: No such row in the part that was read.
        """
        return self._shown_place(*self._tally.places.place(row))

    def rows_of(self, source: int) -> range:
        """Ordinals of the rows of one source, by its number."""
        return self._tally.places.rows_of(source)

    def lines_of(self, rows: range) -> Sequence[int]:
        """Lines or record numbers of consecutive rows."""
        return self._tally.places.lines_of(rows)

    def output_format(self) -> DataFormat:
        """The one format of all sources.

        Raises:
            InvalidOption: They have several.
        """
        by_format = {source.format: source.name for source in reversed(self.sources)}
        if len(by_format) > 1:
            found = ", ".join(f"{name} is {kind}" for kind, name in by_format.items())
            raise InvalidOption(
                f"rows cannot be written in the format of the inputs, because they have several: {found}",
                "run once for each format, or write pairs or groups instead",
            )
        return self.sources[0].format

    def encoding(self, source: int) -> TextEncoding:
        """Encoding of one source, by its number; UTF-8 for Parquet and for documents, which have one each.

        Raises:
            UndecodableInput: It cannot be told.
        """
        if source not in self._encodings:
            self._encodings[source] = self._detect(self.sources[source])
        return self._encodings[source]

    def reader(self, source: int) -> Reader:
        """A reader of one source, by its number."""
        return open_reader(self.sources[source], self.encoding(source), self.options)

    def _detect(self, source: Source) -> TextEncoding:
        if source.format in SELF_ENCODED:
            return TextEncoding(UTF_8)
        n_bytes = self._meter.n_bytes
        reach = None if source.file.compression is Compression.NONE else _ASCII_REACH_BYTES
        found = detect_encoding(
            source.file.chunks,
            source.name,
            encoding=self.options.encoding,
            on_error=self.options.on_error,
            reach_bytes=reach,
        )
        self._meter.n_bytes = n_bytes  # looking ahead is no progress
        return found

    def _complete(self) -> None:
        if not self._tally.is_complete:
            for _ in self.batches():
                pass

    def _good_blocks(self, number: int, *, whole: bool) -> Iterator[Block]:
        bad = self._tally.bad_lines.get(number)
        for block in self.reader(number).blocks(whole=whole):
            good = (
                block if bad is None else _select(block, [i for i, line in enumerate(block.lines) if line not in bad])
            )
            if good.raws:
                yield good

    def _texts_of(self, number: int, wanted: set[int]) -> Iterator[tuple[int, str]]:
        source = self.sources[number]
        reader = self.reader(number)
        builder = RowBuilder(source.name, source.format, reader, self.options)
        row = self.rows_of(number).start
        last = max(wanted)
        for block in self._good_blocks(number, whole=False):
            places = [i for i in range(len(block.raws)) if row + i in wanted]
            for place, parsed in zip(places, reader.rows(_select(block, places)), strict=True):
                text = builder.text_of(parsed)
                yield row + place, "" if text is None else text
            row += len(block.raws)
            if row > last:
                return

    def _shown_place(self, number: int, line: int) -> tuple[str, int]:
        source = self.sources[number]
        return (source.files[line - 1].name, 1) if source.format is DataFormat.TEXT else (source.name, line)

    def _fault(self, tally: _Tally, number: int, block: Block, index: int, line: int, fault: RowFault) -> None:
        name, shown_line = self._shown_place(number, line)
        if self.options.on_error is OnError.STOP:
            raise self._error(number, block, index, name, shown_line, fault)
        tally.n_skipped += 1
        tally.bad_lines.setdefault(number, set()).add(line)
        if len(tally.skipped_rows) < _MAX_STORED_REASONS:
            tally.skipped_rows.append(SkippedRow(name, shown_line, fault.reason))

    def _error(self, number: int, block: Block, index: int, name: str, line: int, fault: RowFault) -> Exception:
        encoding = self.encoding(number)
        byte = fault.byte
        if byte is not None and block.starts:
            byte += block.starts[index] + len(encoding.mark)
        if byte is not None and self.options.encoding is None:
            return undecodable(name, byte, fault.value, line=line)
        return BadRow(
            f"{name}: {self.sources[number].format.place} {line}: {fault.reason}",
            "mend the row, or skip and count bad rows: --on-error skip",
            source=name,
            line=line,
            byte=byte,
        )

    def _without_repeated(self, batch: RowBatch, tally: _Tally, number: int, block: Block) -> RowBatch:
        """The batch without rows whose id came before."""
        kept: list[int] = []
        for index, token in enumerate(batch.ids):
            digest = hashlib.blake2b(token, digest_size=_DIGEST_BYTES).digest()
            row = batch.first_row + len(kept)
            first = tally.rows_by_id.setdefault(digest, row)
            if first == row:
                kept.append(index)
                continue
            line = batch.lines[index] if first < batch.first_row else batch.lines[kept[first - batch.first_row]]
            place = tally.places.place(first) if first < batch.first_row else (number, line)
            where = "{}:{}".format(*self._shown_place(*place))
            fault = RowFault(f"the id {token.decode()} was used before, at {where}")
            self._fault(tally, number, block, index, batch.lines[index], fault)
        return batch if len(kept) == len(batch.ids) else batch.select(kept)


def _select(block: Block, places: list[int]) -> Block:
    """Some records of a block, by position."""
    faults = {new: block.faults[old] for new, old in enumerate(places) if old in block.faults}
    rows = None if block.rows is None else [block.rows[place] for place in places]
    return Block([block.lines[i] for i in places], [block.raws[i] for i in places], (), faults, rows)
