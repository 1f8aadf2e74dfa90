"""Outputs: whole or not at all, and byte for byte."""

from __future__ import annotations

import codecs
import gzip
import io
import itertools
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simhash_es.backends.files import Inputs, ReadOptions
from simhash_es.backends.files.writers import (
    AtomicOutput,
    FolderOutput,
    OutputClosed,
    check_writable,
    finalise,
    open_output,
    write_rows,
)
from simhash_es.errors import InvalidOption, SimhashEsError

Put = Callable[..., Path]


def survivors(output: Path, *sources: Path, keep: str, **options: Any) -> bytes:
    """Write the rows marked with 1 and give the file's content."""
    inputs = Inputs([str(source) for source in sources], ReadOptions(**options))
    assert sum(len(batch) for batch in inputs.batches()) == len(keep)
    with open_output(str(output), inputs) as target:
        write_rows(inputs, np.array([mark == "1" for mark in keep], dtype=np.bool_), target)
    return output.read_bytes() if output.is_file() else b""


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_output_appears_whole(tmp_path: Path) -> None:
    """Until it is complete an output is a hidden file beside its place; then it has its name and nothing is left."""
    path = tmp_path / "out.jsonl"
    with AtomicOutput(str(path)) as output:
        output.write(b"one\n")
        assert not path.exists()
        (hidden,) = names_in(tmp_path)
        assert hidden.startswith(".out.jsonl.")
        output.write(b"two\n")
    assert path.read_bytes() == b"one\ntwo\n"
    assert names_in(tmp_path) == ["out.jsonl"]


@pytest.mark.parametrize("fault", [ValueError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("name", ["out.jsonl", "out.jsonl.gz", "out.jsonl.zst"])
def test_failure_leaves_nothing(tmp_path: Path, fault: type[BaseException], name: str) -> None:
    """After an error or Ctrl-C there is no new file, and an old one is as it was."""
    path = tmp_path / name
    path.write_bytes(b"old")

    def fail_halfway() -> None:
        with AtomicOutput(str(path)) as output:
            output.write(b"half")
            raise fault

    with pytest.raises(fault):
        fail_halfway()
    assert (names_in(tmp_path), path.read_bytes()) == ([name], b"old")


def test_permissions(tmp_path: Path) -> None:
    """A new file has the usual permissions, a replaced one keeps its own."""
    usual = tmp_path / "usual"
    usual.touch()
    old = tmp_path / "old"
    old.touch(0o600)
    for name in ("new", "old"):
        with AtomicOutput(str(tmp_path / name)) as output:
            output.write(b"x")
    assert (tmp_path / "new").stat().st_mode == usual.stat().st_mode
    assert old.stat().st_mode & 0o777 == 0o600


def test_link_stays_a_link(tmp_path: Path) -> None:
    """Writing through a link replaces the file it points to."""
    target = tmp_path / "target"
    target.write_bytes(b"old")
    link = tmp_path / "link"
    link.symlink_to(target)
    with AtomicOutput(str(link)) as output:
        output.write(b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_device(tmp_path: Path) -> None:
    """A device is written directly and stays a device."""
    with AtomicOutput(os.devnull) as output:
        output.write(b"x")
    assert not Path(os.devnull).is_file()


def test_several_outputs_appear_together(tmp_path: Path) -> None:
    """No output has its name before all are written out; a failing one leaves none."""
    paths = [tmp_path / name for name in ("a", "b.gz")]
    with AtomicOutput(str(paths[0])) as one, AtomicOutput(str(paths[1])) as two:
        one.write(b"1")
        two.write(b"2")
        finalise([one, two])
        assert paths[0].read_bytes() == b"1"
        assert gzip.decompress(paths[1].read_bytes()) == b"2"
    assert names_in(tmp_path) == ["a", "b.gz"]

    class Full:
        def prepare(self) -> None:
            raise SimhashEsError("disk full")

        def publish(self) -> None:
            raise AssertionError("never reached")

    fresh = tmp_path / "c"
    with pytest.raises(SimhashEsError, match="full"), AtomicOutput(str(fresh)) as output:
        finalise([output, Full()])
    assert names_in(tmp_path) == ["a", "b.gz"]


def test_bad_places(tmp_path: Path, put: Put) -> None:
    """An input, a link to one, a folder and a place in no folder are refused before anything is written."""
    source = put("in.jsonl", '{"text": "x"}\n')
    (tmp_path / "link").symlink_to(source)
    inputs = Inputs([str(source)])
    for place, reason in (
        ("in.jsonl", "one of the inputs"),
        ("link", "one of the inputs"),
        (".", "is a folder"),
        ("no/x", "does not exist"),
    ):
        with pytest.raises(InvalidOption, match=reason):
            open_output(str(tmp_path / place), inputs)
    with pytest.raises(InvalidOption, match="empty name"):
        open_output("", inputs)
    assert source.read_bytes() == b'{"text": "x"}\n'
    assert names_in(tmp_path) == ["in.jsonl", "link"]


def test_full_disk_is_our_error() -> None:
    """What the operating system refuses to write is an error with the name."""
    with (
        pytest.raises(SimhashEsError, match="/dev/full: cannot be written: No space"),
        AtomicOutput("/dev/full") as output,
    ):
        output.write(b"x" * (1 << 20))


def test_standard_output_closed_by_its_reader() -> None:
    """When the reader of the pipe goes away, writing raises the quiet signal and nothing is printed at exit."""
    script = (
        "import sys\n"
        "from simhash_es.backends.files.writers import AtomicOutput, OutputClosed\n"
        "try:\n"
        "    with AtomicOutput('-') as output:\n"
        "        while True: output.write(b'x' * 100000)\n"
        "except OutputClosed:\n"
        "    sys.exit(7)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        assert run.stdout is not None
        assert run.stderr is not None
        run.stdout.read(10)
        run.stdout.close()
        assert run.wait(60) == 7
        assert run.stderr.read() == b""


def test_output_closed_is_no_ordinary_error() -> None:
    """The signal is not taken for a fault of the user's data."""
    assert not issubclass(OutputClosed, SimhashEsError)


def test_json_lines(tmp_path: Path, put: Put) -> None:
    """Kept lines are byte for byte the same, blank and bad lines are gone, a missing last line end is added."""
    one = put("1.jsonl", '{"id": 1 , "text": "a"}\n\nbad\n{"id": 2, "text": "b"}\n{"id":3,"text":"c\\u4e00"}')
    two = put("2.jsonl.gz", gzip.compress(b'{"id": 4, "text": "d"}\r\n{"id": 5, "text": "e"}'))
    assert survivors(tmp_path / "o.jsonl", one, two, keep="10111", on_error="skip") == (
        b'{"id": 1 , "text": "a"}\n{"id":3,"text":"c\\u4e00"}\n{"id": 4, "text": "d"}\r\n{"id": 5, "text": "e"}\r\n'
    )


def test_byte_order_mark_of_json_lines_is_dropped(tmp_path: Path, put: Put) -> None:
    """JSON has no mark, so none is written."""
    path = put("1.jsonl", codecs.BOM_UTF8 + b'{"text": "a"}\n')
    assert survivors(tmp_path / "o.jsonl", path, keep="1") == b'{"text": "a"}\n'


def test_csv(tmp_path: Path, put: Put) -> None:
    """One header, records of several lines as they were, texts such as NA untouched."""
    one = put("1.csv", 'id,text\r\n1,NA\r\n2,"a\r\n""b"""\r\n3,c')
    two = put("2.csv", "id,text\n4,null\n")
    assert (
        survivors(tmp_path / "o.csv", one, two, keep="1111") == b'id,text\r\n1,NA\r\n2,"a\r\n""b"""\r\n3,c\r\n4,null\n'
    )
    assert survivors(tmp_path / "o.csv", one, two, keep="0000") == b"id,text\r\n"
    assert survivors(tmp_path / "o.csv", put("3.csv", "id,text"), keep="") == b"id,text\n"


def test_csv_keeps_its_byte_order_mark(tmp_path: Path, put: Put) -> None:
    """A mark, by which spreadsheets know UTF-8, is kept in CSV, also when UTF-16 becomes UTF-8."""
    rows = "id,text\n1,好\n"
    path = put("1.csv", codecs.BOM_UTF8 + rows.encode())
    assert survivors(tmp_path / "o.csv", path, keep="1") == path.read_bytes()
    assert survivors(tmp_path / "o.csv", put("2.csv", rows.encode("utf-16")), keep="1") == path.read_bytes()


def test_headers_must_agree(put: Put) -> None:
    """CSV files with different columns are not joined."""
    inputs = Inputs([str(put("1.csv", "id,text\n")), str(put("2.csv", "text,id\n"))])
    with pytest.raises(InvalidOption, match=r"1\.csv and .*2\.csv have different columns"):
        check_writable(inputs)


@pytest.mark.parametrize("codec", ["gb18030", "big5", "utf-8"])
def test_one_encoding_stays(tmp_path: Path, put: Put, codec: str) -> None:
    """Rows of files in one encoding are written in it."""
    text = "春天的社的人在有大家一起看的" * 3
    data = (f"{text}\n" * 3).encode(codec)
    path = put("a.txt", data)
    encoding = "big5" if codec == "big5" else None
    assert survivors(tmp_path / "o.txt", path, keep="111", encoding=encoding) == data


def test_several_encodings_become_utf8(tmp_path: Path, put: Put) -> None:
    """Rows of files in different encodings are written as UTF-8, header included."""
    head, row = "id,text,标题\n", "1,我们在这里生活的人都有一个国家,的\n"
    files = [
        put("1.csv", (head + row).encode("gb18030")),
        put("2.csv", head + row),
        put("3.csv", (head + row).encode("utf-16")),
    ]
    assert survivors(tmp_path / "o.csv", *files, keep="111").decode() == head + row * 3
    assert survivors(tmp_path / "o.csv", files[0], keep="1") == files[0].read_bytes()


@pytest.mark.parametrize("keep", ["".join(marks) for marks in itertools.product("01", repeat=3)])
def test_json_array(tmp_path: Path, put: Put, keep: str) -> None:
    """An array is joined anew from the exact bytes of its elements; several files become one array."""
    raws = ['{"id" : 1,\n "text":"a"}', '{"text": "b\\u00e9", "n": 1.10}', '{"text":"c"}']
    one, two = put("1.json", f"[ {raws[0]} ,{raws[1]}]"), put("2.json", f"[\n{raws[2]}\n]")
    written = survivors(tmp_path / "o.json", one, two, keep=keep).decode()
    wanted = [raw for raw, mark in zip(raws, keep, strict=True) if mark == "1"]
    assert json.loads(written) == [json.loads(raw) for raw in wanted]
    assert all(raw in written for raw in wanted)


def test_objects_one_after_another(tmp_path: Path, put: Put) -> None:
    """A file of objects that is no array gives such a file."""
    path = put("1.json", '{\n"text": "a"}\n{\n"text": "b"}{\n"text": "c"}')
    assert survivors(tmp_path / "o.json", path, keep="101") == b'{\n"text": "a"}\n{\n"text": "c"}\n'


def test_parquet(tmp_path: Path) -> None:
    """Parquet keeps schema, values and compression; bad rows do not shift the others."""
    schema = pa.schema(
        [pa.field("id", pa.int64()), pa.field("text", pa.string()), pa.field("x", pa.list_(pa.float32()))],
        metadata={"k": "v"},
    )
    rows = {
        "id": [2**60 + n if n != 3 else None for n in range(10)],
        "text": [f"t{n}" for n in range(10)],
        "x": [[n / 3] for n in range(10)],
    }
    table = pa.table(rows, schema=schema)
    paths = [tmp_path / "1.parquet", tmp_path / "2.parquet"]
    pq.write_table(table, paths[0], row_group_size=4, compression="gzip")
    pq.write_table(table.slice(5), paths[1], compression="gzip")
    out = tmp_path / "o.parquet"
    survivors(out, *paths, keep="100100001" + "00101", id_field="id", on_error="skip")
    written = pq.read_table(out)
    assert pq.read_schema(out).equals(pq.read_schema(paths[0]), check_metadata=True)
    assert written.column("text").to_pylist() == ["t0", "t4", "t9", "t7", "t9"]
    assert pq.ParquetFile(out).metadata.row_group(0).column(0).compression == "GZIP"
    survivors(out, *paths, keep="0" * 15)
    assert pq.read_table(out).num_rows == 0
    other = tmp_path / "3.parquet"
    pq.write_table(pa.table({"text": ["x"]}), other)
    with pytest.raises(InvalidOption, match="different columns"):
        check_writable(Inputs([str(paths[0]), str(other)]))


def test_documents_go_to_a_folder(tmp_path: Path, put: Put) -> None:
    """Kept documents are copied byte for byte under their relative paths; others and skipped ones are not there."""
    contents = {
        "a/1.txt": b"\xef\xbb\xbfone\r\n",
        "a/2.txt": b"two",
        "b.md": gzip.compress(b"x"),
        "bad.txt": b"caf\xe9",
        "z.txt": b"",
    }
    for name, content in contents.items():
        put(f"d/{name}", content)
    (tmp_path / "d" / "b.md").rename(tmp_path / "d" / "b.md.gz")
    out = tmp_path / "o"
    out.mkdir()
    survivors(out, tmp_path / "d", keep="1011", on_error="skip")
    found = {path.relative_to(out).as_posix(): path.read_bytes() for path in out.rglob("*") if path.is_file()}
    assert found == {"a/1.txt": contents["a/1.txt"], "b.md.gz": contents["b.md"], "z.txt": b""}
    assert names_in(tmp_path) == ["d", "o"]


def test_documents_of_the_same_name(tmp_path: Path, put: Put) -> None:
    """Documents of two folders that share a path are kept apart; the same folder twice is refused."""
    put("v1/a.txt", "one")
    put("v2/a.txt", "two")
    out = tmp_path / "o"
    survivors(out, tmp_path / "v1", tmp_path / "v2", keep="11")
    assert sorted(path.read_text(encoding="utf-8") for path in out.rglob("a.txt")) == ["one", "two"]
    with pytest.raises(InvalidOption, match="same path"):
        check_writable(Inputs([str(tmp_path / "v1")] * 2))


def test_no_document_leaves_the_folder(tmp_path: Path, put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    """Documents named by an absolute path or through ``..`` are written inside the output folder."""
    one, _ = put("x/one.md", "1"), put("two.md", "2")
    monkeypatch.chdir(tmp_path / "x")
    out = tmp_path / "o"
    survivors(out, one, Path("../two.md"), keep="11")
    inside = [path.relative_to(out).as_posix() for path in out.rglob("*.md")]
    assert sorted(inside) == sorted(["two.md", str(one).lstrip("/")])


def test_documents_listed_on_standard_output(tmp_path: Path, put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    """On standard output documents are their paths, one a line."""
    put("d/1.txt", "one")
    put("d/二.txt", "two")
    buffer = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(buffer))
    inputs = Inputs([str(tmp_path / "d")])
    list(inputs.batches())
    with open_output("-", inputs) as output:
        write_rows(inputs, np.array([False, True]), output)
    assert buffer.getvalue().decode() == f"{tmp_path}/d/二.txt\n"


def test_folder_output_is_all_or_nothing(tmp_path: Path, put: Put) -> None:
    """A folder with something in it is refused, and a failed run leaves no folder."""
    put("full/x", "x")
    for place in ("full", "full/x"):
        with pytest.raises(InvalidOption, match="no empty folder"):
            FolderOutput(str(tmp_path / place))
    with pytest.raises(InvalidOption, match="does not exist"):
        FolderOutput(str(tmp_path / "no" / "o"))

    def fail_halfway() -> None:
        with FolderOutput(str(tmp_path / "o")) as output:
            output.add("a/b", [b"x"])
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail_halfway()
    assert names_in(tmp_path) == ["full"]


def test_decisions_must_match_the_rows(tmp_path: Path, put: Put) -> None:
    """A wrong number of decisions is a mistake of the caller and writes nothing."""
    inputs = Inputs([str(put("1.jsonl", '{"text": "a"}\n'))])
    list(inputs.batches())
    with pytest.raises(ValueError, match="2 decisions for 1 rows"), open_output(str(tmp_path / "o"), inputs) as output:
        write_rows(inputs, np.array([True, True]), output)
    assert names_in(tmp_path) == ["1.jsonl"]


@given(
    st.lists(st.tuples(st.text(st.characters(exclude_categories=["Cs"]), max_size=9), st.booleans()), max_size=30),
    st.sampled_from(["jsonl", "csv", "txt"]),
)
def test_kept_and_removed_rows_make_the_whole(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, bool]], kind: str
) -> None:
    """Writing the kept and the removed rows apart writes every row once, exactly as it was."""
    folder = tmp_path_factory.mktemp("x")
    lines = [json.dumps({"text": text}) if kind == "jsonl" else json.dumps(text).replace(",", ";") for text, _ in rows]
    path = folder / f"in.{kind}"
    path.write_bytes(("text\n" if kind == "csv" else "").encode() + b"".join(line.encode() + b"\n" for line in lines))
    keep = "".join("1" if kept else "0" for _, kept in rows)
    if kind == "csv":
        inputs = Inputs([str(path)], ReadOptions(on_error="skip"))  # type: ignore[arg-type]
        if sum(len(batch) for batch in inputs.batches()) != len(rows):
            return
    kept = survivors(folder / "kept", path, keep=keep).splitlines(keepends=True)
    removed = survivors(folder / "removed", path, keep=keep.translate({48: 49, 49: 48})).splitlines(keepends=True)
    head = 1 if kind == "csv" else 0
    merged = kept[:head]
    sides = {"1": iter(kept[head:]), "0": iter(removed[head:])}
    merged += [next(sides[mark]) for mark in keep]
    assert b"".join(merged) == path.read_bytes()
    assert all(next(side, None) is None for side in sides.values())
