"""Parquet."""

from __future__ import annotations

import datetime as dt
import gzip
import io
import json
import math
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from simhash_es.backends.files import Inputs, ReadOptions
from simhash_es.errors import BadRow, InputError, MissingExtra

Read = Callable[..., Any]
Put = Callable[..., Path]


@pytest.fixture
def table_file(tmp_path: Path) -> Path:
    """Two rows with a column of every common type."""
    moment = dt.datetime(2024, 5, 6, 7, 8, 9, 123456, tzinfo=dt.UTC)
    columns = {
        "id": pa.array([900719925474099305, -1], pa.int64()),
        "text": pa.array(["一段文本", None], pa.string()),
        "price": pa.array([1.5, math.nan], pa.float32()),
        "flag": pa.array([True, None], pa.bool_()),
        "seen": pa.array([moment, None], pa.timestamp("us", tz="UTC")),
        "exact": pa.array([1_700_000_000_000_000_001, 5], pa.timestamp("ns")),
        "tags": pa.array([["a", "b"], []], pa.list_(pa.string())),
        "big": pa.array([2**64 - 1, 0], pa.uint64()),
        "cost": pa.array([Decimal("1.10"), None], pa.decimal128(5, 2)),
        "blob": pa.array([b"\xff\x00", b"ok"], pa.binary()),
        "meta": pa.array([{"title": "t", "n": 1}, None], pa.struct([("title", pa.string()), ("n", pa.int32())])),
        "kind": pa.array(["x", "y"]).dictionary_encode(),
        "day": pa.array([dt.date(2024, 5, 6), None], pa.date32()),
        "took": pa.array([dt.timedelta(seconds=90), None], pa.duration("ms")),
    }
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table(columns), path)
    return path


def test_rows(read: Read, table_file: Path) -> None:
    """64-bit ids are exact, null texts are absent texts."""
    assert read(table_file)[1] == [("900719925474099305", "一段文本"), ("-1", None)]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"text_fields": ("tags",)}, ["a\nb", None]),
        ({"text_fields": ("meta.title", "kind")}, ["t\nx", "y"]),
        ({"text_fields": ("kind",), "id_field": "big"}, ["x", "y"]),
    ],
)
def test_text_columns(read: Read, table_file: Path, options: dict[str, Any], expected: list[str]) -> None:
    """Lists of strings, fields of structs and dictionary columns are texts."""
    assert [text for _, text in read(table_file, **options)[1]] == expected


@pytest.mark.parametrize(
    ("column", "tokens"),
    [
        ("big", ["18446744073709551615", "0"]),
        ("kind", ['"x"', '"y"']),
        ("exact", ['"2023-11-14T22:13:20.000000001"', '"1970-01-01T00:00:00.000000005"']),
        ("blob", ['"ff00"', '"ok"']),
    ],
)
def test_ids_of_any_type(read: Read, table_file: Path, column: str, tokens: list[str]) -> None:
    """Ids keep their exact value whatever the column's type."""
    assert [token for token, _ in read(table_file, id_field=column)[1]] == tokens


@pytest.mark.parametrize("column", ["cost", "day", "flag", "price"])
def test_missing_id_is_a_bad_row(read: Read, table_file: Path, column: str) -> None:
    """Null and NaN are no ids."""
    with pytest.raises(BadRow, match="row 2: no id"):
        read(table_file, id_field=column)


@pytest.mark.parametrize("column", ["price", "flag", "meta", "blob"])
def test_columns_that_are_no_text(read: Read, table_file: Path, column: str) -> None:
    """Numbers, truth values, structs and bytes that are not UTF-8 are bad rows."""
    with pytest.raises(BadRow, match="row 1: .*" + column):
        read(table_file, text_fields=(column,))


def test_rows_as_plain_json(table_file: Path) -> None:
    """Raw rows are JSON of plain types: NaN is null, times keep their nanoseconds, big numbers all their digits."""
    expected = {
        "id": 900719925474099305,
        "text": "一段文本",
        "price": 1.5,
        "flag": True,
        "seen": "2024-05-06T07:08:09.123456+00:00",
        "exact": "2023-11-14T22:13:20.000000001",
        "tags": ["a", "b"],
        "big": 2**64 - 1,
        "cost": "1.10",
        "blob": "ff00",
        "meta": {"title": "t", "n": 1},
        "kind": "x",
        "day": "2024-05-06",
        "took": 90.0,
    }
    inputs = Inputs([str(table_file)])
    rows = [json.loads(raw) for _, raw in inputs.raw_rows()]
    assert rows[0] == expected
    assert (rows[1]["price"], rows[1]["flag"], rows[1]["seen"]) == (None, None, None)
    whole = Inputs([str(table_file)], ReadOptions(whole_rows=True))
    assert [json.loads(raw) for batch in whole.batches() for raw in batch.raws] == rows
    assert [raw for batch in inputs.batches() for raw in batch.raws] == [b"", b""]


def test_missing_column_is_named(read: Read, table_file: Path) -> None:
    """A column that is not in the schema stops at once and lists the columns."""
    with pytest.raises(InputError, match="no column 'body'; its columns are: id, text"):
        read(table_file, text_fields=("body",))


def test_row_groups_and_batches(tmp_path: Path) -> None:
    """Many row groups and texts of megabytes come in order and in several batches."""
    n_rows = 300
    path = tmp_path / "a.parquet"
    pq.write_table(
        pa.table({"id": range(n_rows), "text": ["字" * 5000] * n_rows}),
        path,
        row_group_size=90,
        compression="none",
        use_dictionary=False,
    )
    inputs = Inputs([str(path)], ReadOptions(extra_fields=("id",)))
    batches = list(inputs.batches())
    assert len(batches) > 3
    assert [token for batch in batches for token in batch.ids] == [b"%d" % n for n in range(n_rows)]
    assert batches[0].fields[0] == (0,)
    assert inputs.source_of(299) == (str(path), 300)
    assert inputs.texts([299])[299] == "字" * 5000


def test_no_rows_and_no_wanted_columns(read: Read, tmp_path: Path) -> None:
    """An empty table has no rows; a table without ids gets places as ids."""
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": pa.array([], pa.string())}), path)
    assert read(path)[1] == []
    pq.write_table(pa.table({"other": [1, 2], "fp": ["0f", None]}), path)
    assert read(path, need_text=False, fingerprint_field="fp")[1] == [(f'"{path}:1"', None), (f'"{path}:2"', None)]


def test_not_parquet(read: Read, put: Put) -> None:
    """A file that is not Parquet stops with its name."""
    with pytest.raises(InputError, match=r"a\.parquet: not a Parquet file"):
        read(put("a.parquet", "id,text\n"))


def test_damaged_page(read: Read, tmp_path: Path) -> None:
    """A damaged page stops with the name, not with a crash."""
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": [f"text {n}" for n in range(5000)]}), path, compression="zstd")
    data = bytearray(path.read_bytes())
    data[200:1200] = b"\x55" * 1000
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"a\.parquet: the Parquet data is damaged"):
        read(path)


def test_compressed_and_standard_input(read: Read, table_file: Path, put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parquet inside gzip and on standard input is unpacked first."""
    assert len(read(put("b.parquet.gz", gzip.compress(table_file.read_bytes())))[1]) == 2
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(table_file.read_bytes())))
    inputs, table = read("-")
    assert len(table) == len(list(inputs.raw_rows())) == 2


def test_without_the_library(read: Read, table_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without pyarrow the error names the extra."""
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match="pyarrow") as caught:
        read(table_file)
    assert "simhash-es[parquet]" in caught.value.hint
