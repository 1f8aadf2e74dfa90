"""Names, folders, standard input and compression."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import random
import sys
import threading
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

from simhash_es.backends.files import DataFormat, Inputs, ReadOptions
from simhash_es.backends.files.compression import (
    Compression,
    compressing,
    decompressed,
    sniff_compression,
    split_suffix,
)
from simhash_es.backends.files.sources import sniff_format
from simhash_es.backends.files.spool import Spool
from simhash_es.errors import BadRow, InputError, InvalidOption

Read = Callable[..., Any]
Put = Callable[..., Path]
ROWS = '{"id": 1, "text": "x"}\n{"id": 2, "text": "二"}\n'
TABLE = [("1", "x"), ("2", "二")]


def compress(data: bytes, kind: str) -> bytes:
    if kind == "gz":
        return gzip.compress(data)
    return lzma.compress(data) if kind == "xz" else zstandard.ZstdCompressor(write_checksum=True).compress(data)


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("a.jsonl", DataFormat.JSONL),
        ("a.ndjson", DataFormat.JSONL),
        ("a.JSONL", DataFormat.JSONL),
        ("a.csv", DataFormat.CSV),
        ("a.tsv", DataFormat.TSV),
        ("a.txt", DataFormat.LINES),
        ("a.log", DataFormat.LINES),
        ("a.md", DataFormat.TEXT),
        ("a.html", DataFormat.TEXT),
        ("a", DataFormat.LINES),
        ("a.dat", DataFormat.LINES),
    ],
)
def test_format_by_suffix(put: Put, name: str, format: DataFormat) -> None:
    """The suffix gives the format, with or without a compression suffix after it."""
    assert Inputs([str(put(name, "id,text\n1,x\n"))]).sources[0].format is format
    assert Inputs([str(put(name + ".gz", gzip.compress(b"id,text\n1,x\n")))]).sources[0].format is format


@pytest.mark.parametrize(
    ("head", "format"),
    [
        (b'{"id": 1}\n{"id": 2}\n', DataFormat.JSONL),
        (b'\xef\xbb\xbf \n{"id": 1}', DataFormat.JSONL),
        (b'{"id": 3, "text": "cut of\n{"id": 1}\n', DataFormat.JSONL),
        (b"\xff\xfe" + '{"id": 1}\n'.encode("utf-16-le"), DataFormat.JSONL),
        (b'{\n "id": 1}\n', DataFormat.JSON),
        (b'{"id": 1,\n "text": 2}\n', DataFormat.JSON),
        (b" [1", DataFormat.JSON),
        (b"PAR1xxxx", DataFormat.PARQUET),
        (b"", DataFormat.LINES),
        (b"# text", DataFormat.LINES),
    ],
)
def test_format_by_first_bytes(head: bytes, format: DataFormat) -> None:
    """Without a known suffix the first bytes decide."""
    assert sniff_format(head) is format


@pytest.mark.parametrize("kind", ["gz", "xz", "zst"])
@pytest.mark.parametrize("named", [True, False])
def test_compressed_files(read: Read, put: Put, kind: str, named: bool) -> None:
    """Compressed files are read whether or not their name says so."""
    path = put(f"a.jsonl.{kind}" if named else "a.jsonl", compress(ROWS.encode(), kind))
    inputs, table = read(path)
    assert table == TABLE
    assert list(inputs.raw_rows()) == list(enumerate(ROWS.encode().splitlines(keepends=True)))
    assert inputs.bytes_read == inputs.bytes_total == path.stat().st_size


@pytest.mark.parametrize("kind", list(Compression)[1:])
@pytest.mark.parametrize("chunk_bytes", [1, 7, 1 << 16])
def test_members_one_after_another(kind: Compression, chunk_bytes: int) -> None:
    """Several members, padding and incompressible data come out as one stream, wherever the chunks end."""
    noise = random.Random(1).randbytes(3000)
    data = b"".join(compress(part, kind.value) + b"\0" * 4 for part in (b"one ", b"", noise, b"z" * 5_000))
    chunks = [data[i : i + chunk_bytes] for i in range(0, len(data), chunk_bytes)]
    assert b"".join(decompressed(chunks, kind, "x")) == b"one " + noise + b"z" * 5_000


@pytest.mark.parametrize("kind", list(Compression)[1:])
def test_large_expansion_comes_in_pieces(kind: Compression) -> None:
    """Data that expands a thousandfold is whole."""
    size = 5 << 20
    total = sum(map(len, decompressed([compress(b"\n" * size, kind.value)], kind, "x")))
    assert total == size


@pytest.mark.parametrize("kind", ["gz", "xz", "zst"])
def test_cut_off_and_damaged_compression(read: Read, put: Put, kind: str) -> None:
    """A cut-off or damaged file stops with its name, even when bad rows are skipped."""
    rows = "".join(f'{{"id": {n}, "text": "{random.Random(n).random()}"}}\n' for n in range(20_000))
    data = compress(rows.encode(), kind)
    path = put(f"a.jsonl.{kind}", data[:-20])
    with pytest.raises(InputError, match=f"a.jsonl.{kind}: the compressed data") as caught:
        read(path, on_error="skip")
    assert not isinstance(caught.value, BadRow)
    path.write_bytes(data[:5000] + b"\x55" * 3000 + data[8000:])
    with pytest.raises(InputError, match=f"a.jsonl.{kind}"):
        read(path, on_error="skip")
    path.write_bytes(b"not compressed at all")
    with pytest.raises(InputError, match=f"a.jsonl.{kind}: the compressed data is damaged"):
        Inputs([str(path)])


@pytest.mark.parametrize("kind", list(Compression))
def test_what_is_written_can_be_read(kind: Compression) -> None:
    """Compressing and decompressing give the data back, and equal data gives equal bytes."""
    targets = [io.BytesIO(), io.BytesIO()]
    for target in targets:
        stream = compressing(target, kind)
        stream.write(b"data " * 1000)
        if stream is not target:
            stream.close()
    assert targets[0].getvalue() == targets[1].getvalue()
    assert b"".join(decompressed([targets[0].getvalue()], kind, "x")) == b"data " * 1000
    assert sniff_compression(targets[0].getvalue()) is kind


def test_suffixes_below_suffixes() -> None:
    """Only known compression suffixes are split off."""
    assert split_suffix("a.b.jsonl.GZ") == ("a.b.jsonl", Compression.GZIP)
    assert split_suffix("a.bz2") == ("a.bz2", Compression.NONE)
    assert split_suffix("gz") == ("gz", Compression.NONE)


def test_unknown_compression_is_not_read_as_text(read: Read, put: Put) -> None:
    """A bzip2 file stops as undecodable instead of becoming text."""
    with pytest.raises(InputError):
        read(put("a.txt", bz2.compress(ROWS.encode() * 100)))


@pytest.mark.parametrize("name", ["missing.jsonl", "no/such/folder", "missing.csv.gz"])
def test_missing_file_stops_at_once(tmp_path: Path, put: Put, name: str) -> None:
    """A missing file is named before anything is read."""
    with pytest.raises(InputError, match="cannot be read") as caught:
        Inputs([str(put("a.jsonl", ROWS)), str(tmp_path / name)])
    assert caught.value.source == str(tmp_path / name)
    assert caught.value.hint


@pytest.mark.skipif(os.geteuid() == 0, reason="the administrator may read everything")
def test_forbidden_file_stops_at_once(put: Put) -> None:
    """A file that may not be read is named."""
    path = put("a.jsonl", ROWS)
    path.chmod(0)
    with pytest.raises(InputError, match="cannot be read"):
        Inputs([str(path)])


@pytest.mark.parametrize("names", [[], ["-", "-"], [""]])
def test_names_that_make_no_sense(names: list[str], tmp_path: Path, put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    """No input, standard input twice, and an empty name (not the current folder) are errors of the options."""
    put("a.jsonl", ROWS)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidOption):
        Inputs(names)


def test_standard_input_that_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that was started without standard input is told so."""
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(InputError, match="closed"):
        Inputs(["-"])


def test_folder_of_documents(read: Read, put: Put, tmp_path: Path) -> None:
    """A folder is a document a file, sorted by path, the relative path being the id; hidden files are left out."""
    for name in ("d/b.txt", "d/a/z.md", "d/c", "d/.hidden", "d/.git/x.txt", "d/甲.html"):
        put(name, name)
    put("d/labels.tsv", "file\tlabel\n")
    inputs, table = read(tmp_path / "d")
    assert table == [('"a/z.md"', "d/a/z.md"), ('"b.txt"', "d/b.txt"), ('"c"', "d/c"), ('"甲.html"', "d/甲.html")]
    assert inputs.left_out == (f"{tmp_path}/d/labels.tsv",)
    assert inputs.source_of(0) == (f"{tmp_path}/d/a/z.md", 1)
    assert inputs.texts([1]) == {1: "d/b.txt"}
    assert [raw for _, raw in inputs.raw_rows()][2] == b"d/c"
    assert len(read(tmp_path / "d", format="text")[1]) == 5


def test_folder_of_data_files(read: Read, put: Put, tmp_path: Path) -> None:
    """A folder that holds mostly data files is those files, each in its format; notes beside them are left out."""
    put("d/README.md", "about")
    put("d/LICENSE", "free")
    put("d/b.csv", "id,text\nc,y\n")
    put("d/a.jsonl.gz", gzip.compress(ROWS.encode()))
    inputs, table = read(tmp_path / "d")
    assert table == [*TABLE, ('"c"', "y")]
    assert len(inputs.left_out) == 2
    assert inputs.source_of(2) == (f"{tmp_path}/d/b.csv", 2)


def test_folder_with_nothing(tmp_path: Path, put: Put) -> None:
    """A folder without readable files is an error that names it."""
    put("d/.hidden", "x")
    with pytest.raises(InputError, match="holds no file"):
        Inputs([str(tmp_path / "d")])


def test_documents_in_several_encodings(read: Read, put: Put, tmp_path: Path) -> None:
    """Each document's encoding is found by itself; one that cannot be told is one bad row."""
    text = "春天来了，小区门口新开了一家面馆，老板是从山西来的。"
    for name, codec in (("1.txt", "utf-8"), ("2.txt", "gb18030"), ("3.txt", "utf-16"), ("5.txt", "utf-8-sig")):
        put(f"d/{name}", text.encode(codec))
    put("d/4.txt", b"caf\xe9 cr\xe8me")
    inputs, table = read(tmp_path / "d", on_error="skip")
    assert table == [(f'"{n}.txt"', text) for n in (1, 2, 3, 5)]
    (skipped,) = inputs.skipped_rows
    assert (skipped.source, skipped.line) == (f"{tmp_path}/d/4.txt", 1)
    with pytest.raises(InputError, match=r"4\.txt: line 1, byte 3 \(0xe9\)"):
        read(tmp_path / "d")


@pytest.mark.parametrize(
    "option", [{"id_field": "k"}, {"text_fields": ("t",)}, {"fingerprint_field": "f"}, {"extra_fields": ("e",)}]
)
@pytest.mark.parametrize("name", ["a.txt", "a.md"])
def test_plain_text_has_no_fields(read: Read, put: Put, name: str, option: dict[str, Any]) -> None:
    """A field option that plain text cannot serve is refused, not dropped."""
    with pytest.raises(InvalidOption, match="plain text"):
        read(put(name, "x"), **option)


@pytest.mark.parametrize(("name", "row"), [("a.txt", "x\n"), ("a.jsonl", '{"id": "a", "text": "x"}\n')])
def test_short_rows_take_little_memory(put: Put, name: str, row: str) -> None:
    """An id takes about as many bytes as it has, so that many short rows fit into memory."""
    inputs = Inputs([str(put(name, row * 5000))], ReadOptions())
    tracemalloc.start()
    try:
        batches = list(inputs.batches())
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert sum(map(len, batches)) == 5000
    assert taken < 5000 * 1000


def test_lines(read: Read, put: Put) -> None:
    """A document a line: blank lines are nothing, line ends are no text, a lone carriage return is."""
    path = put("a.txt", "one\r\n\n  \ntwo\rhalf\n last ")
    inputs, table = read(path)
    assert table == [(f'"{path}:1"', "one"), (f'"{path}:4"', "two\rhalf"), (f'"{path}:5"', " last ")]
    assert [raw for _, raw in inputs.raw_rows()] == [b"one\r\n", b"two\rhalf\n", b" last "]


class Trickle(io.RawIOBase):
    """A stream that gives few bytes at a time."""

    def __init__(self, data: bytes) -> None:
        self._data = io.BytesIO(data)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        piece = self._data.read(min(7, len(buffer)))
        buffer[: len(piece)] = piece
        return len(piece)


@pytest.fixture
def feed(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], None]:
    """Puts bytes on standard input."""

    def feed_bytes(data: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(Trickle(data))))

    return feed_bytes


@pytest.mark.parametrize(
    ("data", "table"),
    [
        (ROWS.encode(), TABLE),
        (gzip.compress(ROWS.encode()), TABLE),
        (b'[{"id": 1, "text": "x"}, {"id": 2, "text": "\xe4\xba\x8c"}]', TABLE),
        ("x\n二\n".encode(), [('"-:1"', "x"), ('"-:2"', "二")]),
        (b"", []),
    ],
)
def test_standard_input_is_read_twice(read: Read, feed: Callable[[bytes], None], data: bytes, table: Any) -> None:
    """Standard input is recognised by its first bytes and can be read again."""
    feed(data)
    inputs, found = read("-")
    assert found == table
    assert inputs.bytes_total is None
    assert [token.decode() for batch in inputs.batches() for token in batch.ids] == [token for token, _ in table]
    assert len(list(inputs.raw_rows())) == len(table)


def test_standard_input_in_a_stated_format(read: Read, feed: Callable[[bytes], None]) -> None:
    """A stated format is used for standard input."""
    feed(b"id,text\n1,x\n")
    assert read("-", format="csv")[1] == [('"1"', "x")]


def test_spool_continues_where_the_first_reader_stopped() -> None:
    """A reader that stops early costs nothing: the next one gets the kept bytes and then the rest."""
    data = random.Random(3).randbytes(1 << 20)
    spool = Spool(io.BytesIO(data))
    assert spool.head(10) == data[:10]
    first = spool.chunks()
    start = next(first)
    assert b"".join(spool.chunks()) == data
    assert start + b"".join(first) == data
    assert spool.whole().read() == data


def test_named_pipe(read: Read, tmp_path: Path) -> None:
    """A pipe, such as the shell makes for ``<(command)``, is kept like standard input."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_text, args=(ROWS,), kwargs={"encoding": "utf-8"})
    writer.start()
    inputs, table = read(path)
    writer.join()
    assert table == TABLE
    assert len(list(inputs.raw_rows())) == 2


def test_file_changed_between_passes(put: Put) -> None:
    """A file that grew, shrank or was rewritten between two passes stops the run with its name."""
    path = put("a.jsonl", ROWS)
    inputs = Inputs([str(path)])
    assert sum(len(batch) for batch in inputs.batches()) == 2
    path.write_text(ROWS * 2, encoding="utf-8")
    with pytest.raises(InputError, match="was changed"):
        list(inputs.raw_rows())


def test_file_growing_while_it_is_read(put: Put) -> None:
    """A file that is written to during a pass is noticed at its end."""
    path = put("a.jsonl", ROWS * 200_000)
    inputs = Inputs([str(path)])
    batches = inputs.batches()
    next(batches)
    with path.open("a", encoding="utf-8") as stream:
        stream.write(ROWS)
    with pytest.raises(InputError, match="was changed"):
        list(batches)


def test_reasons_are_capped_and_counts_are_not(read: Read, put: Put) -> None:
    """A thousand reasons are kept, every bad row is counted, and none comes back in the second pass."""
    path = put("a.jsonl", "bad\n" * 2500 + ROWS)
    inputs, table = read(path, on_error="skip")
    assert (inputs.skipped, len(inputs.skipped_rows), table) == (2500, 1000, TABLE)
    assert list(inputs.raw_rows()) == list(enumerate(ROWS.encode().splitlines(keepends=True)))
    assert sum(len(batch) for batch in inputs.batches()) == 2
    assert (inputs.skipped, inputs.n_rows) == (2500, 2)


def test_rows_over_several_sources(read: Read, put: Put) -> None:
    """Ordinals run on over all sources, sources without rows included, and every row knows its place."""
    paths = [
        put("1.jsonl", ROWS),
        put("2.csv", "id,text\n"),
        put("3.json", json.dumps([{"text": "a"}, {"text": "b"}])),
        put("4.txt", "\nz\n"),
    ]
    inputs, table = read(*paths)
    assert len(table) == inputs.n_rows == 5
    assert [inputs.source_of(row) for row in range(5)] == [
        (str(paths[0]), 1),
        (str(paths[0]), 2),
        (str(paths[2]), 1),
        (str(paths[2]), 2),
        (str(paths[3]), 2),
    ]
    assert [list(inputs.rows_of(number)) for number in range(4)] == [[0, 1], [], [2, 3], [4]]
    assert inputs.texts([4, 0, 3]) == {0: "x", 3: "b", 4: "z"}
    for row in (-1, 5):
        with pytest.raises(IndexError):
            inputs.source_of(row)
    with pytest.raises(InvalidOption, match="several"):
        inputs.output_format()


def test_raw_rows_without_a_pass_before(put: Put) -> None:
    """Raw rows and texts can be asked for first; the pass that finds bad rows is made by itself."""
    path = put("a.jsonl", "bad\n" + ROWS)
    assert len(list(Inputs([str(path)], ReadOptions(on_error="skip")).raw_rows())) == 2  # type: ignore[arg-type]
    assert Inputs([str(path)], ReadOptions(on_error="skip")).texts([1]) == {1: "二"}  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "options", [{"format": "xml"}, {"on_error": "ignore"}, {"id_field": ""}, {"text_fields": ("a", "")}]
)
def test_options_are_checked(options: dict[str, Any]) -> None:
    """Unknown choices and empty names are errors of the options that list the choices."""
    with pytest.raises(InvalidOption):
        ReadOptions(**options)


@pytest.mark.corpora
def test_large_corpus_in_bounded_memory(corpora: Path) -> None:
    """The large corpus is read whole, and its raw rows are its lines."""
    path = corpora / "en-civil-procedure-sections.jsonl.gz"
    inputs = Inputs([str(path)])
    assert sum(len(batch) for batch in inputs.batches()) == 171_470
    with gzip.open(path) as stream:
        assert all(raw == line for (_, raw), line in zip(inputs.raw_rows(), stream, strict=True))
