"""JSON lines."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simhash_es.backends.files import Inputs, ReadOptions
from simhash_es.backends.files.blocks import line_blocks, line_pieces
from simhash_es.errors import BadRow, InputError, UndecodableInput

Read = Callable[..., Any]
Put = Callable[..., Path]


def test_rows_have_their_own_ids_and_texts(read: Read, put: Put) -> None:
    """Ids are JSON tokens and texts are the field ``text``."""
    path = put("a.jsonl", '{"id": "a", "text": "one"}\n{"id": 2, "text": "二"}\n')
    inputs, table = read(path)
    assert table == [('"a"', "one"), ("2", "二")]
    assert inputs.n_rows == 2
    assert inputs.source_of(1) == (str(path), 2)


@pytest.mark.parametrize(
    "token",
    [
        '"900719925474099301"',
        '"00042"',
        '"1e5"',
        '"True"',
        '"a b\\\\c\\"d"',
        '"編號"',
        "900719925474099305",
        "18446744073709551616",
        "-9223372036854775809",
        "123456789012345678901234567890",
        "1e5",
        "1E+05",
        "1.10",
        "0",
        "-0",
        "0.0",
        "1e999",
        "7" * 5000,
        "true",
        "false",
    ],
    ids=lambda token: token[:24],
)
def test_ids_come_out_character_for_character(read: Read, put: Put, token: str) -> None:
    """No id is changed by passing through a double or by being guessed as a number."""
    _, table = read(put("a.jsonl", f'{{"text": "x", "id": {token}}}\n'))
    assert table == [(token, "x")]


def test_escaped_id_is_the_same_characters(read: Read, put: Put) -> None:
    """An id written with escapes comes out as the characters they stand for."""
    _, table = read(put("a.jsonl", '{"id": "\\u7de8\\/1", "text": "x"}\n'))
    assert json.loads(table[0][0]) == "編/1"


@pytest.mark.parametrize("row", ['{"text": "x"}', '{"id": null, "text": "x"}', '{"id": "", "text": "x"}'])
def test_row_without_id_is_called_by_its_place(read: Read, put: Put, row: str) -> None:
    """Without an id a row is called ``source:line``."""
    path = put("a.jsonl", "\n" + row + "\n")
    assert read(path)[1] == [(f'"{path}:2"', "x")]


def test_second_default_id_field(read: Read, put: Put) -> None:
    """``_id`` is used where ``id`` is missing."""
    assert read(put("a.jsonl", '{"_id": "k", "text": "x"}\n{"_id": 1, "id": 2, "text": "y"}\n'))[1] == [
        ('"k"', "x"),
        ("2", "y"),
    ]


@pytest.mark.parametrize("row", ['{"text": "x"}', '{"key": null, "text": "x"}', '{"key": [1], "text": "x"}'])
def test_named_id_field_must_be_there(read: Read, put: Put, row: str) -> None:
    """When the id field is named, a row without a usable id is a bad row that names line and field."""
    path = put("a.jsonl", '{"key": 1, "text": "x"}\n' + row + "\n")
    with pytest.raises(BadRow, match=r"line 2: .*'key'") as caught:
        read(path, id_field="key")
    assert (caught.value.source, caught.value.line) == (str(path), 2)


def test_dotted_paths_reach_into_objects_and_lists(read: Read, put: Put) -> None:
    """Dots go into objects and through lists; a key that holds the dots itself comes first."""
    row = {
        "a": {"b": "one", "n": {"id": 7}},
        "l": [{"t": "two"}, {"x": 0}, {"t": "three"}],
        "k.l": "four",
        "k": {"l": "no"},
    }
    path = put("a.jsonl", json.dumps(row))
    _, table = read(path, text_fields=("a.b", "l.t", "k.l"), id_field="a.n.id")
    assert table == [("7", "one\ntwo\nthree\nfour")]


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"text": "t", "content": "c"}, "t"),
        ({"content": "c", "body": "b"}, "c"),
        ({"body": "b"}, "b"),
        ({"text": ["a", "b", None]}, "a\nb"),
        ({"text": []}, None),
        ({"text": None, "content": "c"}, None),
        ({"text": ""}, ""),
    ],
)
def test_default_text_field(read: Read, put: Put, fields: dict[str, object], text: str | None) -> None:
    """The first of ``text``, ``content`` and ``body`` that a row has is its text; null is an absent text."""
    assert read(put("a.jsonl", json.dumps({"id": 1, **fields})))[1] == [("1", text)]


@pytest.mark.parametrize("value", ["5", "true", '{"a": 1}', "[1]"])
def test_text_that_is_no_text_is_a_bad_row(read: Read, put: Put, value: str) -> None:
    """Numbers, truth values and objects are not turned into text."""
    path = put("a.jsonl", f'{{"id": 1, "text": "x"}}\n{{"id": 2, "text": {value}}}\n')
    with pytest.raises(BadRow, match="line 2: field 'text' is"):
        read(path)


def test_row_without_text_among_others_is_empty(read: Read, put: Put) -> None:
    """A row that lacks the text field is kept with no text when other rows have it."""
    path = put("a.jsonl", '{"id": 1}\n{"id": 2, "text": "x"}\n')
    assert read(path)[1] == [("1", None), ("2", "x")]


@pytest.mark.parametrize("n_rows", [1, 3, 1500])
@pytest.mark.parametrize("options", [{}, {"text_fields": ("txet", "m.t")}])
def test_text_field_that_no_row_has(read: Read, put: Put, n_rows: int, options: dict[str, Any]) -> None:
    """A text field that no row has stops the run, names the fields there are, and the option."""
    path = put("a.jsonl", '{"id": 1, "title": "x", "m": {"note": "y"}}\n' * n_rows)
    with pytest.raises(InputError, match=r"line 1: .*id, title, m\.note") as caught:
        read(path, on_error="skip", **options)
    assert "--text-field" in caught.value.hint


def test_blank_and_bad_lines(read: Read, put: Put) -> None:
    """Blank lines are ignored, bad rows are skipped with place and reason, every good row is read, the last one too."""
    lines = [
        '{"id": 1, "text": "good"}',
        "",
        "   \t",
        '{"id": 2, "text": "good"}',
        '{"id": 3, "text": "cut of',
        '{"id": 4, "text": "good"}',
        "[1, 2]",
        '"text"',
        "null",
        '{"id": 5, "text": "a\tb"}',
        '{"id": 6, "text": "last"}',
    ]
    for end in ("\n", "\r\n"):
        path = put("a.jsonl", end.join(lines))
        inputs, table = read(path, on_error="skip")
        assert table == [("1", "good"), ("2", "good"), ("4", "good"), ("6", "last")]
        assert inputs.skipped == 5
        assert [row.line for row in inputs.skipped_rows] == [5, 7, 8, 9, 10]
        assert "not a JSON object but an array" in inputs.skipped_rows[1].reason
        with pytest.raises(BadRow, match="line 5: not valid JSON") as caught:
            read(path)
        assert (caught.value.source, caught.value.line) == (str(path), 5)
        assert "--on-error skip" in caught.value.hint


def test_deeply_nested_row_is_a_bad_row(read: Read, put: Put) -> None:
    """A row nested beyond all measure is a bad row, not a crash."""
    path = put("a.jsonl", '{"id": 1, "text": ' + "[" * 200_000 + "]" * 200_000 + '}\n{"id": 2, "text": "x"}\n')
    inputs, table = read(path, on_error="skip")
    assert (table, inputs.skipped) == ([("2", "x")], 1)


def test_lone_surrogate_is_replaced_and_counted(read: Read, put: Put) -> None:
    """Half a surrogate pair becomes U+FFFD in text and id; the row is counted, its raw bytes stay as they are."""
    raw = b'{"id": "s\\udc00", "text": "\xe9\x99\x8d\xe4\xbb\xb7 \\ud83d \xe6\x9c\x80\xe5\x90\x8e"}\n'
    path = put("a.jsonl", b'{"id": 1, "text": "x"}\n' + raw + b'{"id": 3, "text": "\\ud83d\\ude00"}\n')
    inputs, table = read(path)
    assert table == [("1", "x"), ('"s\ufffd"', "降价 \ufffd 最后"), ("3", "😀")]
    assert inputs.repaired == 1
    assert [row for _, row in inputs.raw_rows()][1] == raw


def test_nan_in_another_field_is_no_fault(read: Read, put: Put) -> None:
    """``NaN``, which Python programs write, does not cost the row."""
    assert read(put("a.jsonl", '{"id": 1e5, "text": "x", "price": NaN}'))[1] == [("1e5", "x")]


@pytest.mark.parametrize("on_error", ["stop", "skip"])
def test_invalid_utf8_in_one_line(read: Read, put: Put, on_error: str) -> None:
    """A line that is not UTF-8 stops with the byte position in the file, or is one skipped row."""
    good = '{"id": 1, "text": "好"}\n'.encode()
    path = put("a.jsonl", good * 3 + b'{"id": 2, "text": "\xff"}\n' + good)
    if on_error == "stop":
        with pytest.raises(UndecodableInput, match="line 4, byte") as caught:
            read(path)
        assert (caught.value.byte, caught.value.line) == (len(good) * 3 + 19, 4)
        assert path.read_bytes()[caught.value.byte] == 0xFF
    else:
        inputs, table = read(path, on_error="skip")
        assert (len(table), inputs.skipped) == (4, 1)


def test_invalid_byte_beyond_the_sample(read: Read, put: Put) -> None:
    """An invalid byte far into a UTF-8 file is found when its row is read, with its exact position."""
    good = '{"id": 1, "text": "好好好好好好好好好好好好好好好好好好好好好好好好"}\n'.encode()
    path = put("a.jsonl", b"\n" + good * 20_000 + b'{"id": 2, "text": "\xe5\xa5"}\n')
    with pytest.raises(UndecodableInput) as caught:
        read(path)
    assert caught.value.byte == 1 + len(good) * 20_000 + 19
    assert caught.value.line == 20_002


def test_fingerprints_without_text(read: Read, put: Put) -> None:
    """A ready-made fingerprint is read as a string and needs no text field; null and absent give none."""
    path = put("a.jsonl", '{"id": 1, "fp": "00ff"}\n{"id": 2}\n{"id": 3, "fp": null}\n')
    inputs = Inputs([str(path)], ReadOptions(fingerprint_field="fp", need_text=False))
    (batch,) = inputs.batches()
    assert batch.fingerprints == ["00ff", None, None]
    assert batch.texts == [None] * 3
    with pytest.raises(InputError, match="no field 'nope'"):
        read(path, fingerprint_field="nope", need_text=False)
    with pytest.raises(BadRow, match="hexadecimal"):
        read(put("b.jsonl", '{"id": 1, "fp": 255}\n'), fingerprint_field="fp", need_text=False)


def test_extra_fields(put: Put) -> None:
    """Values for keep policies come with each row, absent ones as ``None``."""
    path = put("a.jsonl", '{"id": 1, "text": "x", "m": {"v": 2.5}}\n{"id": 2, "text": "y", "day": "2024-01-01"}\n')
    (batch,) = Inputs([str(path)], ReadOptions(extra_fields=("m.v", "day"))).batches()
    assert batch.fields == [(2.5, None), (None, "2024-01-01")]


def test_unique_ids(read: Read, put: Put) -> None:
    """A second row with the same id is a bad row that names both places; a number and a string are two ids."""
    one = put("1.jsonl", '{"id": 7, "text": "a"}\n{"id": "7", "text": "b"}\n{"id": 7, "text": "c"}\n')
    two = put("2.jsonl", '{"id": "z", "text": "d"}\n{"id": "7", "text": "e"}\n')
    inputs, table = read(one, two, unique_ids=True, on_error="skip")
    assert [text for _, text in table] == ["a", "b", "d"]
    assert [(row.source, row.line) for row in inputs.skipped_rows] == [(str(one), 3), (str(two), 2)]
    assert f"{one}:1" in inputs.skipped_rows[0].reason
    assert f"{one}:2" in inputs.skipped_rows[1].reason
    assert [inputs.source_of(row) for row in range(3)] == [(str(one), 1), (str(one), 2), (str(two), 1)]
    with pytest.raises(BadRow, match="line 3: the id 7 was used before"):
        read(one, unique_ids=True)
    assert len(read(one, two)[1]) == 5


@given(
    st.lists(st.sampled_from([b"a", b"bb\r", b"", b" ", b"\xe5\xa5\xbd", b"c" * 50]), max_size=40),
    st.integers(1, 60),
    st.integers(1, 80),
    st.booleans(),
)
def test_pieces_are_the_file(lines: list[bytes], chunk_bytes: int, block_bytes: int, ends: bool) -> None:
    """However a file is chunked, the pieces joined are the file and each but the last ends at a line break."""
    data = b"\n".join(lines) + (b"\n" if ends else b"")
    chunks = [data[i : i + chunk_bytes] for i in range(0, len(data), chunk_bytes)]
    pieces = list(line_pieces(chunks, block_bytes))
    assert b"".join(pieces) == data
    assert all(piece.endswith(b"\n") for piece in pieces[:-1])
    blocks = list(line_blocks(chunks, block_bytes))
    found = [
        (line, start, raw)
        for block in blocks
        for line, start, raw in zip(block.lines, block.starts, block.raws, strict=True)
    ]
    physical = data.split(b"\n")
    assert [raw.rstrip(b"\n") for _, _, raw in found] == [line for line in physical if line.strip()]
    for line, start, raw in found:
        assert data[start : start + len(raw)] == raw
        assert data.count(b"\n", 0, start) == line - 1


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@given(
    st.lists(
        st.fixed_dictionaries({"id": st.text(max_size=5), "text": st.text(max_size=20), "x": json_values}), min_size=1
    )
)
def test_raw_rows_joined_are_the_file(rows: list[dict[str, object]]) -> None:
    """For any rows, texts are read as written and the raw rows joined are the file byte for byte."""
    data = b"".join(
        json.dumps(row, ensure_ascii=index % 2 == 0).encode("utf-8", "surrogatepass") + b"\n"
        for index, row in enumerate(rows)
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.jsonl")
        path.write_bytes(data)
        inputs = Inputs([str(path)])
        texts = [text for batch in inputs.batches() for text in batch.texts]
        assert texts == [row["text"] for row in rows]
        assert list(inputs.raw_rows()) == list(enumerate(data.splitlines(keepends=True)))
        assert inputs.texts(range(len(rows))) == dict(enumerate(texts))
