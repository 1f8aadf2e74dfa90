"""Selected rows, written in the format of the inputs, byte for byte."""

from __future__ import annotations

import codecs
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import compress
from pathlib import PurePosixPath
from typing import Any

import numpy as np
import numpy.typing as npt

from simhash_es._optional import require
from simhash_es.backends.files.csv_rows import CsvReader
from simhash_es.backends.files.encodings import UTF_8
from simhash_es.backends.files.inputs import Inputs
from simhash_es.backends.files.json_array import JsonArrayReader
from simhash_es.backends.files.options import DataFormat
from simhash_es.backends.files.outputs import (
    STANDARD_OUTPUT,
    AtomicOutput,
    FolderOutput,
    OutputClosed,
    finalise,
    translated_errors,
)
from simhash_es.backends.files.parquet import PURPOSE, ParquetReader, opened_parquet, record_batches
from simhash_es.backends.files.readers import output_encoding
from simhash_es.backends.files.sources import StoredFile
from simhash_es.errors import InvalidOption

__all__ = ["AtomicOutput", "FolderOutput", "OutputClosed", "check_writable", "finalise", "open_output", "write_rows"]

Keep = npt.NDArray[np.bool_]
_CELLS = (DataFormat.CSV, DataFormat.TSV)


def check_writable(inputs: Inputs) -> None:
    """Make sure, before long work, that rows of these inputs can be written together.

    Raises:
        InvalidOption: The formats differ, or the headers or schemas of several files do.
    """
    kind = inputs.output_format()
    if kind in (*_CELLS, DataFormat.PARQUET):
        readers = [inputs.reader(number) for number in range(len(inputs.sources))]
        shapes = [reader.schema if isinstance(reader, ParquetReader) else reader.known_fields for reader in readers]
        for source, shape in zip(inputs.sources, shapes, strict=True):
            if shape != shapes[0]:
                raise InvalidOption(
                    f"{inputs.sources[0].name} and {source.name} have different columns, so their rows cannot be "
                    "written into one file",
                    "run once for each, or write pairs or groups instead",
                )
    if kind is DataFormat.TEXT:
        _document_places(inputs)


def open_output(path: str, inputs: Inputs) -> AtomicOutput | FolderOutput:
    """The output for selected rows: a folder for documents (unless ``-``), a file for everything else.

    Raises:
        InvalidOption: See ``AtomicOutput`` and ``FolderOutput``, and the formats differ.
    """
    if inputs.output_format() is DataFormat.TEXT and path != STANDARD_OUTPUT:
        return FolderOutput(path)
    return AtomicOutput(path, inputs=inputs.paths)


def write_rows(inputs: Inputs, keep: Keep, output: AtomicOutput | FolderOutput) -> None:
    """Write the selected rows in the format of the inputs; the caller completes the output.

    Rows are exactly as they were, with a line end added where the last line of a file lacks one. JSON arrays are joined
    anew, CSV has one header (with a byte order mark if the first file had one), Parquet keeps its schema and
    compression. Files of different encodings, and UTF-16 and UTF-32, are written as UTF-8. Documents are copied into
    a folder under their relative paths; on standard output their paths are listed, one a line.

    Args:
        inputs: Read once by ``batches``.
        keep: One truth value for each row.
        output: From ``open_output``.

    Raises:
        ValueError: ``keep`` has another length than there are rows.
        InvalidOption: See ``check_writable``.
    """
    check_writable(inputs)
    if len(keep) != inputs.n_rows:
        raise ValueError(f"{len(keep)} decisions for {inputs.n_rows} rows")
    kind = inputs.output_format()
    if isinstance(output, FolderOutput):
        _copy_documents(inputs, keep, output)
    elif kind is DataFormat.TEXT:
        for _, file in _kept_documents(inputs, keep):
            output.write(file.name.encode() + b"\n")
    elif kind is DataFormat.PARQUET:
        _write_parquet(inputs, keep, output)
    elif kind is DataFormat.JSON:
        _write_json(inputs, keep, output)
    else:
        _write_lines(inputs, keep, output)


def _kept_raws(inputs: Inputs, keep: Keep) -> Iterator[list[bytes]]:
    """Raw records that are kept, block by block, in the encoding of the output."""
    encodings = [inputs.encoding(number) for number in range(len(inputs.sources))]
    target = output_encoding(encodings)
    for block in inputs.raw_blocks():
        chosen = keep[block.first_row : block.first_row + len(block.raws)].tolist()
        raws = list(compress(block.raws, chosen))
        own = encodings[block.source].of_rows
        yield raws if own == target else [raw.decode(own).encode(target) for raw in raws]


def _write_lines(inputs: Inputs, keep: Keep, output: AtomicOutput) -> None:
    header = _header(inputs)
    end = b"\r\n" if header.endswith(b"\r\n") else b"\n"
    output.write(header if not header or header.endswith(b"\n") else header + end)
    for raws in _kept_raws(inputs, keep):
        if not raws:
            continue
        output.write(b"".join(raws))
        end = b"\r\n" if raws[0].endswith(b"\r\n") else end
        if not raws[-1].endswith(b"\n"):  # only the last row of a file can lack its line end
            output.write(end)


def _header(inputs: Inputs) -> bytes:
    """The header of CSV in the encoding of the output, with the mark that spreadsheets need if there was one."""
    reader = inputs.reader(0)
    if not isinstance(reader, CsvReader):
        return b""
    own = inputs.encoding(0)
    target = output_encoding([inputs.encoding(number) for number in range(len(inputs.sources))])
    header = reader.header if own.of_rows == target else reader.header.decode(own.of_rows).encode(target)
    return codecs.BOM_UTF8 + header if own.mark and target == UTF_8 else header


def _write_json(inputs: Inputs, keep: Keep, output: AtomicOutput) -> None:
    reader = inputs.reader(0)
    is_array = not isinstance(reader, JsonArrayReader) or reader.is_array()
    before, between, after = (b"[\n", b",\n", b"\n]\n") if is_array else (b"", b"\n", b"\n")
    is_first = True
    for raws in _kept_raws(inputs, keep):
        if raws:
            output.write(before if is_first else between)
            output.write(between.join(raws))
            is_first = False
    if not is_first:
        output.write(after)
    elif is_array:
        output.write(b"[]\n")


def _write_parquet(inputs: Inputs, keep: Keep, output: AtomicOutput) -> None:
    arrow = require("pyarrow", "parquet", PURPOSE)
    parquet = require("pyarrow.parquet", "parquet", PURPOSE)
    with opened_parquet(inputs.sources[0].file) as first:
        schema, codec = first.schema_arrow, _parquet_codec(first.metadata)
    with translated_errors(output.path), parquet.ParquetWriter(output.stream, schema, compression=codec) as writer:
        for number, source in enumerate(inputs.sources):
            rows = inputs.rows_of(number)
            lines = np.asarray(inputs.lines_of(rows), dtype=np.int64)
            with opened_parquet(source.file) as opened:
                mask = np.zeros(opened.metadata.num_rows, dtype=np.bool_)
                mask[lines[keep[rows.start : rows.stop]] - 1] = True
                _filter_groups(opened, mask, writer, arrow)


def _filter_groups(opened: Any, mask: Keep, writer: Any, arrow: Any) -> None:
    """Write the selected rows, one row group for each of the file."""
    first = 0
    for number in range(opened.metadata.num_row_groups):
        n_rows = opened.metadata.row_group(number).num_rows
        chosen = mask[first : first + n_rows]
        first += n_rows
        if chosen.any():
            batches = record_batches(opened, None, "Parquet input", group=number)
            kept = _filtered_batches(batches, chosen, arrow)
            writer.write_table(arrow.Table.from_batches(kept, schema=opened.schema_arrow))


def _filtered_batches(batches: Iterable[Any], chosen: Keep, arrow: Any) -> Iterator[Any]:
    first = 0
    for batch in batches:
        yield batch.filter(arrow.array(chosen[first : first + batch.num_rows]))
        first += batch.num_rows


def _parquet_codec(metadata: Any) -> str:
    if metadata.num_row_groups == 0 or metadata.num_columns == 0:
        return "snappy"
    codec = str(metadata.row_group(0).column(0).compression).lower()
    return "none" if codec == "uncompressed" else codec


def _kept_documents(inputs: Inputs, keep: Keep) -> Iterator[tuple[str, StoredFile]]:
    """Place in the output and file of each document that is kept."""
    places = _document_places(inputs)
    for number, source in enumerate(inputs.sources):
        rows = inputs.rows_of(number)
        lines = compress(inputs.lines_of(rows), keep[rows.start : rows.stop].tolist())
        yield from ((places[number][line - 1], source.files[line - 1]) for line in lines)


def _document_places(inputs: Inputs) -> list[list[str]]:
    """A distinct relative path for every document, by source.

    Documents of several folders that would fall on each other go under the names of their folders.

    Raises:
        InvalidOption: They still would.
    """
    places = [[_inner_path(name) for name in source.relative] for source in inputs.sources]
    if _has_clash(places):
        places = [[_inner_path(file.name) for file in source.files] for source in inputs.sources]
    if _has_clash(places):
        raise InvalidOption(
            "two documents of the inputs have the same path, so they cannot be written into one folder",
            "name each folder once",
        )
    return places


def _has_clash(places: list[list[str]]) -> bool:
    counts = Counter(place for names in places for place in names)
    return any(count > 1 for count in counts.values())


def _inner_path(name: str) -> str:
    """A path that stays inside a folder: no root, no ``..``; standard input is called ``stdin``."""
    parts = [part for part in PurePosixPath(name).parts if part not in ("/", "//", "..", ".")]
    return "/".join(parts) if parts and name != STANDARD_OUTPUT else "stdin"


def _copy_documents(inputs: Inputs, keep: Keep, output: FolderOutput) -> None:
    for place, file in _kept_documents(inputs, keep):
        output.add(place, file.stored_chunks())
