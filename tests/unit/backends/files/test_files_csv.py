"""CSV and TSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simhash_es.backends.files.csv_rows import CsvReader
from simhash_es.errors import BadRow, InputError

Read = Callable[..., Any]
Put = Callable[..., Path]


def test_words_for_missing_values_are_texts(read: Read, put: Put) -> None:
    """``NA``, ``null`` and their kin are texts; only the empty cell is empty."""
    cells = ["NA", "null", "None", "nan", "N/A", "", '"NA is the symbol of sodium"']
    path = put("a.csv", "id,text\n" + "".join(f"{n},{cell}\n" for n, cell in enumerate(cells)))
    inputs, table = read(path)
    assert [text for _, text in table] == ["NA", "null", "None", "nan", "N/A", "", "NA is the symbol of sodium"]
    assert b"".join(raw for _, raw in inputs.raw_rows()) == path.read_bytes().removeprefix(b"id,text\n")


def test_ids_are_strings(read: Read, put: Put) -> None:
    """Ids keep every digit and every zero."""
    ids = ["900719925474099301", "900719925474099303", "00042", "1e5", "True"]
    path = put("a.csv", "id,text\n" + "".join(f"{i},x\n" for i in ids))
    assert [token for token, _ in read(path)[1]] == [f'"{i}"' for i in ids]


@pytest.mark.parametrize(("name", "mark"), [("a.csv", ","), ("a.tsv", "\t"), ("a.CSV", ",")])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_quoted_cells_over_several_lines(read: Read, put: Put, name: str, mark: str, end: str) -> None:
    """A quoted cell may hold line breaks, delimiters and quotes; all its lines are the record, the first its place."""
    records = [f'1{mark}"one{end}two ""quoted""{mark} three"{end}', f"2{mark}plain{end}", f'3{mark}""']
    path = put(name, f"id{mark}text{end}" + "".join(records))
    inputs, table = read(path)
    assert table == [('"1"', f'one{end}two "quoted"{mark} three'), ('"2"', "plain"), ('"3"', "")]
    assert [raw.decode() for _, raw in inputs.raw_rows()] == records
    assert [inputs.source_of(row)[1] for row in range(3)] == [2, 4, 5]


def test_wrong_number_of_cells(read: Read, put: Put) -> None:
    """Records with too few or too many cells are bad rows with both numbers; blank lines are nothing."""
    path = put("a.csv", "id,text\n1,a\n2\n\n  \n3,b,c\n4,d\n")
    inputs, table = read(path, on_error="skip")
    assert [token for token, _ in table] == ['"1"', '"4"']
    assert [(row.line, row.reason) for row in inputs.skipped_rows] == [
        (3, "1 cells where the header has 2"),
        (6, "3 cells where the header has 2"),
    ]
    with pytest.raises(BadRow, match="line 3: 1 cells"):
        read(path)


def test_quote_never_closed_spoils_its_own_row_only(read: Read, put: Put) -> None:
    """An open quote is a bad row on its line, and the rows after it are read."""
    path = put("a.csv", 'id,text\n1,a\n2,"open\n3,b\n4,c\n')
    inputs, table = read(path, on_error="skip")
    assert [token for token, _ in table] == ['"1"', '"3"', '"4"']
    assert [(row.line, row.reason) for row in inputs.skipped_rows] == [(3, "a quote is opened and never closed")]
    with pytest.raises(BadRow, match="line 3: a quote"):
        read(path)
    assert [line for line, _ in enumerate(path.read_bytes().splitlines())][inputs.source_of(1)[1] - 1] == 3


def test_runaway_quote_does_not_fill_the_memory(read: Read, put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the longest record allowed a quote counts as never closed."""
    monkeypatch.setattr("simhash_es.backends.files.csv_rows._MAX_RECORD_BYTES", 1000)
    path = put("a.csv", 'id,text\n1,"open\n' + "".join(f"{n},row\n" for n in range(2, 1000)))
    inputs, table = read(path, on_error="skip")
    assert len(table) == 998
    assert [row.line for row in inputs.skipped_rows] == [2]


def test_very_long_cell(read: Read, put: Put) -> None:
    """A cell of megabytes is one text."""
    text = "长文本 " * 1_000_000
    assert read(put("a.csv", f'id,text\n1,"{text}"\n'))[1] == [('"1"', text)]


def test_no_text_column(read: Read, put: Put) -> None:
    """A header without a text column stops at once and names the columns."""
    with pytest.raises(InputError, match="sku, title, price") as caught:
        read(put("a.csv", "sku,title,price\n1,x,2\n"))
    assert "--text-field" in caught.value.hint


@pytest.mark.parametrize("option", ["id_field", "fingerprint_field", "text_fields", "extra_fields"])
def test_named_column_must_exist(read: Read, put: Put, option: str) -> None:
    """Any named column that is missing stops at once and names the columns."""
    value = ("Text",) if option.endswith("s") else "Text"
    with pytest.raises(InputError, match="no column 'Text'; its columns are: id, text"):
        read(put("a.csv", "id,text\n1,x\n"), **{option: value})


def test_several_columns_joined(read: Read, put: Put) -> None:
    """Several text columns are joined by a line break."""
    assert read(put("a.csv", "t.x,body\nhead,rest\n"), text_fields=("t.x", "body"))[1][0][1] == "head\nrest"


@pytest.mark.parametrize("content", ["", "\n\n", "id,text\n", "id,text"])
def test_nothing_but_a_header(read: Read, put: Put, content: str) -> None:
    """An empty file and a bare header have no rows."""
    assert read(put("a.csv", content))[1] == []


def test_gb18030_cells(read: Read, put: Put) -> None:
    """Quotes and line breaks are found in GB18030 as they are, and raw records stay GB18030."""
    text = "这是一个很长的中文单元格，\n有引号“和”换行。"
    data = f'id,text\n1,"{text}"\n2,我们的国家\n'.encode("gb18030")
    inputs, table = read(put("a.csv", data))
    assert table == [('"1"', text), ('"2"', "我们的国家")]
    assert b"".join(raw for _, raw in inputs.raw_rows()) == data.removeprefix(b"id,text\n")


def test_undecodable_cell_has_its_byte(read: Read, put: Put) -> None:
    """A byte that does not fit is named with its position in the file, and the next record starts where it should."""
    data = "id,text\n1,好\n".encode() + b'2,"a\n\xff\nb"\n3,c\n'
    with pytest.raises(InputError) as caught:
        read(put("a.csv", data))
    assert caught.value.byte == data.index(b"\xff")
    inputs, table = read(put("a.csv", data), on_error="skip")
    assert [token for token, _ in table] == ['"1"', '"3"']
    assert [row.line for row in inputs.skipped_rows] == [3]


cells = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\0"), max_size=12)


@given(
    st.lists(st.tuples(cells, cells.filter(str.strip)), max_size=12),
    st.sampled_from([",", "\t"]),
    st.booleans(),
    st.integers(1, 40),
)
def test_any_cells_written_by_python(
    rows: list[tuple[str, str]], mark: str, all_quoted: bool, chunk_bytes: int
) -> None:
    """Whatever ``csv`` writes is read back, and header and raw records joined are the file."""
    target = io.StringIO(newline="")
    writer = csv.writer(
        target, delimiter=mark, lineterminator="\n", quoting=csv.QUOTE_ALL if all_quoted else csv.QUOTE_MINIMAL
    )
    writer.writerows([("id", "text"), *rows])
    data = target.getvalue().encode()
    reader = CsvReader(
        lambda: (data[i : i + chunk_bytes] for i in range(0, len(data), chunk_bytes)), "utf-8", mark, "x"
    )
    blocks = list(reader.blocks(whole=False))
    found = [row for block in blocks for row in reader.rows(block)]
    assert found == [{"id": key, "text": text} for key, text in rows]
    assert reader.header + b"".join(raw for block in blocks for raw in block.raws) == data
