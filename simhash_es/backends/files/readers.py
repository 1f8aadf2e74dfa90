"""The reader for each format."""

from __future__ import annotations

from collections.abc import Iterator

from simhash_es.backends.files.csv_rows import CsvReader
from simhash_es.backends.files.encodings import UTF_8, TextEncoding
from simhash_es.backends.files.json_array import JsonArrayReader
from simhash_es.backends.files.jsonl import JsonLinesReader
from simhash_es.backends.files.options import DEFAULT_ID_FIELDS, DEFAULT_TEXT_FIELDS, DataFormat, ReadOptions
from simhash_es.backends.files.parquet import ParquetReader
from simhash_es.backends.files.plain import DocumentsReader, LinesReader
from simhash_es.backends.files.recoding import text_chunks
from simhash_es.backends.files.rows import Reader
from simhash_es.backends.files.sources import Source

SELF_ENCODED = frozenset({DataFormat.PARQUET, DataFormat.TEXT})
"""Formats without one encoding for the whole source: Parquet states its own, documents have one each."""


def open_reader(source: Source, encoding: TextEncoding, options: ReadOptions) -> Reader:
    """Make the reader of one source.

    Args:
        source: What to read.
        encoding: Its encoding; not used for the formats in ``SELF_ENCODED``.
        options: The user's wishes.

    Raises:
        InputError: A header cannot be read, or the file is not of the format.
        MissingExtra: The format needs a library that is not installed.
    """
    if source.format is DataFormat.PARQUET:
        return ParquetReader(source.file, _wanted_fields(options))
    if source.format is DataFormat.TEXT:
        return DocumentsReader(source.files, source.relative, options.encoding)

    def chunks() -> Iterator[bytes]:
        return text_chunks(source.file.chunks(), encoding, source.name)

    if source.format is DataFormat.JSONL:
        return JsonLinesReader(chunks, encoding.of_rows)
    if source.format is DataFormat.JSON:
        return JsonArrayReader(chunks, encoding.of_rows, source.name)
    if source.format is DataFormat.LINES:
        return LinesReader(chunks, encoding.of_rows)
    delimiter = "\t" if source.format is DataFormat.TSV else ","
    return CsvReader(chunks, encoding.of_rows, delimiter, source.name)


def output_encoding(encodings: list[TextEncoding]) -> str:
    """Codec of rows written from several sources: theirs if it is one, else UTF-8."""
    names = {encoding.of_rows for encoding in encodings}
    return names.pop() if len(names) == 1 else UTF_8


def _wanted_fields(options: ReadOptions) -> list[str]:
    wanted = list(options.extra_fields)
    wanted += DEFAULT_ID_FIELDS if options.id_field is None else (options.id_field,)
    if options.need_text:
        wanted += options.text_fields or DEFAULT_TEXT_FIELDS
    if options.fingerprint_field is not None:
        wanted.append(options.fingerprint_field)
    return wanted
