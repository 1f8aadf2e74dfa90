"""JSON arrays and objects one after another."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simhash_es.backends.files import DataFormat, Inputs
from simhash_es.backends.files.json_array import JsonArrayReader
from simhash_es.errors import BadRow, InputError

Read = Callable[..., Any]
Put = Callable[..., Path]


def elements(data: bytes, chunk_bytes: int = 1 << 16, encoding: str = "utf-8") -> list[bytes]:
    reader = JsonArrayReader(
        lambda: (data[i : i + chunk_bytes] for i in range(0, len(data), chunk_bytes)), encoding, "x"
    )
    return [raw for block in reader.blocks(whole=False) for raw in block.raws]


@pytest.mark.parametrize("space", ["", " ", "\n  ", "\r\n\t"])
def test_elements_keep_their_bytes(read: Read, put: Put, space: str) -> None:
    """Each element's raw bytes are exactly what stands between the commas, white space around it left out."""
    objects = [
        '{"id": "a", "text": "x ] } , [ {"}',
        '{ "text" : "say \\"hi\\\\\\" ,\\n", "id":2 }',
        '{\n "id": 1e5,\n "text": "二"\n}',
    ]
    path = put("a.json", space + "[" + space + f"{space},{space}".join(objects) + space + "]" + space)
    inputs, table = read(path)
    assert inputs.sources[0].format is DataFormat.JSON
    assert table == [('"a"', "x ] } , [ {"), ("2", 'say "hi\\" ,\n'), ("1e5", "二")]
    assert [raw.decode() for _, raw in inputs.raw_rows()] == objects
    assert inputs.source_of(2) == (str(path), 3)


@given(
    st.lists(
        st.dictionaries(st.text('a"\\{[,]} \n字', max_size=5), st.text('b"\\{[,]} \n字', max_size=9), max_size=3),
        max_size=6,
    ),
    st.integers(1, 30),
    st.sampled_from([None, 1, "\t"]),
    st.booleans(),
)
def test_any_array_in_any_chunks(rows: list[dict[str, str]], chunk_bytes: int, indent: Any, ascii_only: bool) -> None:
    """Strings full of brackets, quotes and backslashes never move the cut, wherever the chunks end."""
    data = json.dumps(rows, indent=indent, ensure_ascii=ascii_only).encode()
    raws = elements(data, chunk_bytes)
    assert [json.loads(raw) for raw in raws] == rows
    assert all(raw in data for raw in raws)


def test_large_array_is_cut_in_blocks() -> None:
    """Elements beyond one block and elements larger than a block come out whole."""
    rows = [{"id": n, "text": "字" * (700_000 if n % 7 == 0 else 1000)} for n in range(40)]
    data = json.dumps(rows, ensure_ascii=False).encode()
    assert [json.loads(raw)["id"] for raw in elements(data)] == list(range(40))


def test_brackets_inside_gb18030_characters(read: Read, put: Put) -> None:
    """Characters whose second byte looks like a bracket or backslash do not break the cut; raw bytes stay GB18030."""
    characters = "".join(
        chr(code)
        for code in range(0x4E00, 0x9FA5)
        if chr(code).encode("gb18030")[1:2] in (b"[", b"]", b"{", b"}", b"\\")
    )
    assert len(characters) > 300
    text = "我们的国家和人民在这里生活，" * 200 + characters
    data = json.dumps([{"id": 1, "text": text}, {"id": 2, "text": "好"}], ensure_ascii=False).encode("gb18030")
    inputs, table = read(put("a.json", data))
    assert table == [("1", text), ("2", "好")]
    assert all(raw in data for _, raw in inputs.raw_rows())


@pytest.mark.parametrize("content", ["", "  \n", "[]", " [ \n ] "])
def test_nothing_inside(read: Read, put: Put, content: str) -> None:
    """An empty file and an empty array have no rows."""
    assert read(put("a.json", content))[1] == []


def test_objects_one_after_another(read: Read, put: Put) -> None:
    """A ``.json`` file with one object over several lines, or several, is read object by object."""
    path = put("a.json", '{\n  "id": 1,\n  "text": "x"\n}\n{\n  "id": 2, "text": "y"}')
    assert read(path)[1] == [("1", "x"), ("2", "y")]


def test_json_lines_under_the_name_json(read: Read, put: Put) -> None:
    """A ``.json`` file of JSON lines is read as JSON lines, with line numbers."""
    path = put("a.json", '{"id": 1, "text": "x"}\n\n{"id": 2, "text": "y"}\n')
    inputs, table = read(path)
    assert inputs.sources[0].format is DataFormat.JSONL
    assert (table, inputs.source_of(1)[1]) == ([("1", "x"), ("2", "y")], 3)


def test_bad_elements_do_not_hide_the_others(read: Read, put: Put) -> None:
    """Elements that are no objects or no JSON are bad rows; those after them are read."""
    path = put(
        "a.json", '[{"id": 1, "text": "x"}, 5, "s]", [1, {"a": 2}], {"id": 2 "text": 3}, null, {"id": 3, "text": "y"}]'
    )
    inputs, table = read(path, on_error="skip")
    assert table == [("1", "x"), ("3", "y")]
    assert [row.line for row in inputs.skipped_rows] == [2, 3, 4, 5, 6]
    with pytest.raises(BadRow, match="row 2: not a JSON object but a number"):
        read(path)


@pytest.mark.parametrize(
    "cut",
    [
        '[{"id": 1, "text": "x"}, {"id": 2, "te',
        '[{"id": 1, "text": "x"}',
        '[{"id": 1, "text": "x"},',
        '[{"id": 1, "text": "x"}, 12',
    ],
)
def test_array_cut_off(read: Read, put: Put, cut: str) -> None:
    """A file that ends too early is one bad row; the whole rows before it are read."""
    inputs, table = read(put("a.json", cut), on_error="skip")
    assert (table, inputs.skipped) == ([("1", "x")], 1)
    with pytest.raises(BadRow, match="row 2: the file ends inside"):
        read(put("a.json", cut))


@pytest.mark.parametrize(
    "data", ['[{"text": "x"} {"text": "y"}]', '[{"text": "x"}] 5', '[{"text": "x"},, {"text": "y"}]']
)
def test_broken_structure_stops_with_the_byte(read: Read, put: Put, data: str) -> None:
    """Where rows cannot be told apart any more, reading stops with the byte, even when bad rows are skipped."""
    with pytest.raises(InputError, match=r"broken at byte 1[56]") as caught:
        read(put("a.json", data), on_error="skip")
    assert not isinstance(caught.value, BadRow)


def test_values_of_one_row_again(put: Put) -> None:
    """Single texts can be read again by row number."""
    path = put("a.json", json.dumps([{"text": f"t{n}"} for n in range(50)]))
    inputs = Inputs([str(path)])
    assert inputs.texts([3, 49, 3]) == {3: "t3", 49: "t49"}
    assert inputs.n_rows == 50
