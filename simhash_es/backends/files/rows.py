"""From raw records to ``RowBatch``, the one shape the pipeline reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import orjson

from simhash_es.backends.files.blocks import Block, RepairedRow, Row, RowFault
from simhash_es.backends.files.fields import id_token, list_fields, text_value, value_at
from simhash_es.backends.files.options import DEFAULT_ID_FIELDS, DEFAULT_TEXT_FIELDS, DataFormat, ReadOptions
from simhash_es.errors import InputError, InvalidOption

_PATIENCE_ROWS = 1000
"""So many rows without the wanted field, from the start of a source, mean a wrong name rather than empty rows."""


@dataclass(slots=True)
class RowBatch:
    """Consecutive good rows of one source; all lists have one entry a row, about 1 MB of records together.

    Args:
        first_row: Ordinal (0-based, over all sources, bad rows not counted) of the first row.
        source: The source as the user named it.
        lines: 1-based line on which the row starts; record number for JSON arrays and Parquet; file number in a folder.
        ids: Ready JSON tokens with exactly the characters of the input: ``b'"a7"'``, ``b'1e5'``.
        texts: ``None`` where the field is absent or null, or texts are not asked for.
        fields: Values of ``ReadOptions.extra_fields``, ``None`` where absent; empty list when none is asked for.
        fingerprints: Values of ``ReadOptions.fingerprint_field``; empty list when it is not asked for.
        raws: Exact bytes of the row as in the file, line end included (UTF-16 and UTF-32: recoded to UTF-8).
            Parquet: JSON objects with ``ReadOptions.whole_rows``, else ``b""``.
    """

    first_row: int
    source: str
    lines: list[int] = field(default_factory=list)
    ids: list[bytes] = field(default_factory=list)
    texts: list[str | None] = field(default_factory=list)
    fields: list[tuple[object, ...]] = field(default_factory=list)
    fingerprints: list[str | None] = field(default_factory=list)
    raws: list[bytes] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.lines)

    def select(self, places: list[int]) -> RowBatch:
        """Some of the rows, by position; their ordinals close up."""
        return RowBatch(
            self.first_row,
            self.source,
            [self.lines[i] for i in places],
            [self.ids[i] for i in places],
            [self.texts[i] for i in places],
            [self.fields[i] for i in places] if self.fields else [],
            [self.fingerprints[i] for i in places] if self.fingerprints else [],
            [self.raws[i] for i in places],
        )


def string_token(text: str) -> bytes:
    """A JSON string. A copy, for what orjson returns keeps the kilobytes that it was written into."""
    return bytes(memoryview(orjson.dumps(text)))


class Reader(Protocol):
    """What each format provides."""

    @property
    def known_fields(self) -> tuple[str, ...] | None:
        """Field names, where the format states them before the rows."""
        ...

    def blocks(self, *, whole: bool) -> Iterator[Block]:
        """Raw records from the start, the same ones each time; ``whole`` asks for raws where they cost extra."""
        ...

    def rows(self, block: Block) -> Iterable[Row | RowFault]:
        """Parsed rows of a block, a fault in the place of each record that is none."""
        ...

    def literal(self, raw: bytes) -> Row:
        """A row with its numbers as written (``Literal``)."""
        ...


OnFault = Callable[[int, int, RowFault], None]
"""Called with position in the block, line and fault; raises, or counts."""


class RowBuilder:
    """Turns blocks of one source into batches and watches that the named fields exist.

    Args:
        name: The source.
        format: Its format.
        reader: Its reader.
        options: The user's wishes.

    Raises:
        InputError: A header or schema lacks a named field, or has no text field.
        InvalidOption: Fields are named for plain text.
    """

    def __init__(self, name: str, format: DataFormat, reader: Reader, options: ReadOptions) -> None:
        is_plain = format in (DataFormat.LINES, DataFormat.TEXT)
        if is_plain and options.names_fields():
            raise InvalidOption(
                f"{name}: fields are named, but plain text ({format}) has none",
                "say which format it is with --input-format, or leave the field options out",
            )
        self._name = name
        self._place = format.place
        self._reader = reader
        self._options = options
        self._id_fields = DEFAULT_ID_FIELDS if options.id_field is None else (options.id_field,)
        self._has_ids = format is not DataFormat.LINES
        self._is_typed = format is DataFormat.PARQUET
        self._unseen_rows: int | None = 0
        self._first: tuple[int, Row] | None = None
        if reader.known_fields is not None and not is_plain:
            self._check_header(reader.known_fields)

    def build(self, block: Block, first_row: int, on_fault: OnFault) -> tuple[RowBatch, int]:
        """One batch, and how many of its rows were repaired."""
        batch = RowBatch(first_row, self._name)
        n_repaired = 0
        for index, row in enumerate(self._reader.rows(block)):
            line = block.lines[index]
            try:
                if isinstance(row, RowFault):
                    raise row
                raw = block.raws[index]
                token = self._token(row, raw, line)
                text = self._text(row, line)
                fingerprint = self._fingerprint(row, line)
            except RowFault as fault:
                on_fault(index, line, fault)
                continue
            n_repaired += type(row) is RepairedRow
            batch.lines.append(line)
            batch.ids.append(token)
            batch.texts.append(text)
            batch.raws.append(raw)
            if self._options.fingerprint_field is not None:
                batch.fingerprints.append(fingerprint)
            if self._options.extra_fields:
                batch.fields.append(tuple(value_at(row, path)[1] for path in self._options.extra_fields))
        return batch, n_repaired

    def finish(self) -> None:
        """At the end of the source.

        Raises:
            InputError: No row had the wanted field.
        """
        if self._unseen_rows:
            self._refuse_fields()

    def text_of(self, row: Row | RowFault) -> str | None:
        """Text of a row that was read before."""
        return None if isinstance(row, RowFault) else self._text(row, 0)

    def _token(self, row: Row, raw: bytes, line: int) -> bytes:
        if self._has_ids:
            for path in self._id_fields:
                value = row[path] if path in row else value_at(row, path)[1]
                if type(value) is str and value:
                    return string_token(value)
                token = None if value is None or value == "" else self._rare_token(value, path, raw)
                if token is not None:
                    return token
            if self._options.id_field is not None:
                raise RowFault(f"no id: field {self._options.id_field!r} is absent, null or empty")
        return string_token(f"{self._name}:{line}")

    def _rare_token(self, value: object, path: str, raw: bytes) -> bytes | None:
        def literal() -> object:
            return value if self._is_typed else value_at(self._reader.literal(raw), path)[1]

        return id_token(value, path, literal)

    def _text(self, row: Row, line: int) -> str | None:
        options = self._options
        if not options.need_text:
            return None
        if not options.text_fields:
            for path in DEFAULT_TEXT_FIELDS:
                if path in row:
                    self._unseen_rows = None
                    value = row[path]
                    return value if type(value) is str else text_value(value, path)
            self._count_unseen(row, line)
            return None
        parts: list[str] = []
        is_seen = False
        for path in options.text_fields:
            has, value = value_at(row, path)
            is_seen |= has
            part = text_value(value, path)
            if part is not None:
                parts.append(part)
        if is_seen:
            self._unseen_rows = None
        else:
            self._count_unseen(row, line)
        return "\n".join(parts) if parts else None

    def _fingerprint(self, row: Row, line: int) -> str | None:
        path = self._options.fingerprint_field
        if path is None:
            return None
        has, value = value_at(row, path)
        if has and not self._options.need_text:
            self._unseen_rows = None
        elif not self._options.need_text:
            self._count_unseen(row, line)
        if value is None or value == "":
            return None
        if not isinstance(value, str):
            raise RowFault(f"the fingerprint in field {path!r} is not a string of hexadecimal digits")
        return value

    def _count_unseen(self, row: Row, line: int) -> None:
        if self._unseen_rows is None:
            return
        if self._first is None:
            self._first = (line, row)
        self._unseen_rows += 1
        if self._unseen_rows >= _PATIENCE_ROWS:
            self._refuse_fields()

    def _refuse_fields(self) -> None:
        assert self._first is not None
        line, row = self._first
        self._refuse(list_fields(row), line)

    def _check_header(self, known: Sequence[str]) -> None:
        named = [*self._options.text_fields, *self._options.extra_fields]
        named += [name for name in (self._options.id_field, self._options.fingerprint_field) if name is not None]
        for name in named:
            if name not in known and not (self._is_typed and name.split(".")[0] in known):
                raise InputError(
                    f"{self._name}: there is no column {name!r}; its columns are: {', '.join(known)}",
                    "check the spelling; capital letters count",
                    source=self._name,
                )
        if known and self._options.need_text and not self._options.text_fields:
            if not set(DEFAULT_TEXT_FIELDS) & set(known):
                self._refuse(", ".join(known), 1)
            self._unseen_rows = None

    def _refuse(self, fields: str, line: int) -> None:
        options = self._options
        if not options.need_text:
            wanted, option = repr(options.fingerprint_field), "--fingerprint-field"
        elif options.text_fields:
            wanted, option = " or ".join(map(repr, options.text_fields)), "--text-field"
        else:
            wanted, option = " or ".join(map(repr, DEFAULT_TEXT_FIELDS)), "--text-field"
        raise InputError(
            f"{self._name}: {self._place} {line}: no field {wanted} here or in the rows after it; "
            f"the fields are: {fields}",
            f"name the right one with {option}",
            source=self._name,
            line=line,
        )
