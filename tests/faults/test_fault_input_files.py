"""Ids and cells that are altered, marks and encodings that garble, bad lines that take others with them."""

from __future__ import annotations

import csv
import datetime as dt
import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fault_running import Cli, write_rows

IDS = [
    "812345678901234567",
    "812345678901234569",
    "00017",
    "2e7",
    "False",
    "1.0",
    "0x1F",
    " 7",
    "NaN",
    "2024-05-06",
    "+1",
]
TEXTS = [
    "ferry timetable for monday",
    "library cards for children",
    "mushrooms near the lake",
    "the old winch was repaired",
    "council meets in the hall",
    "notes about glaciers",
    "choir practice moved to noon",
    "lost grey cat with a bell",
    "bread is sold out by eight",
    "lime trees are in flower",
    "the tram stops at the museum",
]
CELLS = ["NA", "null", "None", "nan", "N/A", "#N/A", "NULL", "<NA>", "True", "1e5", "-inf", "NA stands for sodium"]
MARK = b"\xef\xbb\xbf"
RARE = "喆喆記茶庄与堃叔书店在龘街开业，𠮷野家也来了"


def ids_of(run: Any) -> list[tuple[Any, Any]]:
    """Kept and removed id of each line of ``--removed -``."""
    return [(row["kept"], row["id"]) for row in run.records]


def test_ids_of_json_lines(cli: Cli, tmp_path: Path) -> None:
    """Strings that look like numbers, and numbers that no double holds, come out character for character."""
    tokens = [
        *map(json.dumps, IDS),
        "812345678901234568",
        "1e5",
        "1.50",
        "-0",
        "12345678901234567890123456789",
        "1E400",
    ]
    texts = [TEXTS[i % len(TEXTS)] + f" number {'abcdefghijklmnopq'[i]} of them" for i in range(len(tokens))]
    source = tmp_path / "in.jsonl"
    lines = [f'{{"id": {token}, "text": "{text}"}}\n' for token, text in zip(tokens, texts, strict=True)]
    source.write_text("".join(lines), encoding="utf-8")
    assert cli("dedup", source, "--similarity", "1", "--output", "-").out == source.read_bytes()
    made = cli("fingerprint", source, "--format", "jsonl").out.decode().splitlines()
    assert [line.removeprefix('{"id":').rsplit(',"fingerprint"', 1)[0] for line in made] == tokens


def test_ids_of_csv(cli: Cli, tmp_path: Path) -> None:
    """The same in CSV, in the rows and in each output."""
    source, copies = tmp_path / "in.csv", tmp_path / "copies.csv"
    rows = list(zip(IDS, TEXTS, strict=True))
    source.write_text("id,text\n" + "".join(f"{a},{b}\n" for a, b in rows), encoding="utf-8")
    copies.write_text("id,text\n" + "".join(f"{a}c,{b}\n" for a, b in rows), encoding="utf-8")
    assert cli("dedup", source, "--output", "-").out == source.read_bytes()
    expected = [(name, name + "c") for name in IDS]
    assert ids_of(cli("dedup", source, copies, "--removed", "-")) == expected
    table = cli("dedup", source, copies, "--pairs", "-", "--format", "csv").out.decode()
    assert sorted((row["a"], row["b"]) for row in csv.DictReader(io.StringIO(table))) == sorted(expected)
    store = tmp_path / "seen.sqlite"
    cli("dedup", source, "--store", store)
    found = [cli("near", "--store", store, text, "--json").records[0]["id"] for text in TEXTS]
    assert found == IDS


def test_ids_of_parquet(cli: Cli, tmp_path: Path) -> None:
    """The same in Parquet, with text ids and with whole numbers of 64 bits, signed or not."""
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    for ids, kind in (
        (IDS, pyarrow.string()),
        ([812345678901234567, 812345678901234569, 2**63 - 1, -(2**63), 0], pyarrow.int64()),
        ([2**64 - 1, 2**63, 2**53 + 1], pyarrow.uint64()),
    ):
        source = tmp_path / f"{kind}.parquet"
        texts = ["one and the same text"] * len(ids)
        parquet.write_table(pyarrow.table({"id": pyarrow.array(ids, kind), "text": texts}), source)
        assert ids_of(cli("dedup", source, "--removed", "-")) == [(ids[0], other) for other in ids[1:]]


def test_cells_that_look_like_missing_values(cli: Cli, tmp_path: Path) -> None:
    """Only an empty cell is empty; words such as NA are texts, each with a value of its own, and are written back."""
    source = tmp_path / "in.csv"
    lines = ["id,text", *(f"{i},{cell}" for i, cell in enumerate(CELLS)), "empty,", 'quoted,""']
    source.write_text("\n".join(lines) + "\n", encoding="utf-8")
    plain = cli("fingerprint", stdin="\n".join(CELLS).encode()).out.decode().split("\n")[:-1]
    made = cli("fingerprint", source, "--format", "jsonl").records
    assert [row["fingerprint"] for row in made] == [*plain, None, None]
    assert all(plain)
    assert cli("dedup", source, "--json").summary["empty"] == 2
    kept = {cell.casefold().strip("#<>").replace("/", " ") for cell in CELLS}
    survivors = cli("dedup", source, "--similarity", "1", "--output", "-").out.decode().splitlines()
    assert len(survivors) == len(kept) + 3
    assert set(survivors) <= set(lines)


def test_missing_and_empty_cells_of_parquet_and_json(cli: Cli, tmp_path: Path) -> None:
    """A null is empty, the word null is a text."""
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    texts = ["NA", None, "null", "nan", "None", ""]
    parquet.write_table(pyarrow.table({"id": list("abcdef"), "text": texts}), tmp_path / "in.parquet")
    write_rows(tmp_path / "in.jsonl", [{"id": i, "text": text} for i, text in enumerate(texts)])
    for name in ("in.parquet", "in.jsonl"):
        summary = cli("dedup", tmp_path / name, "--json").summary
        assert (summary["empty"], summary["kept"]) == (2, 6)


def test_values_of_a_data_frame(cli: Cli, tmp_path: Path) -> None:
    """Columns of every kind come out as plain JSON; NaN, infinities and missing values are null."""
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {
        "id": pyarrow.array([1, 2, 3, 4], pyarrow.int64()),
        "text": ["the ferry leaves at six"] * 4,
        "price": pyarrow.array([1.5, float("nan"), None, 2.25], pyarrow.float32()),
        "big": pyarrow.array([2**64 - 1, 2**63, 2**53 + 1, None], pyarrow.uint64()),
        "flag": [True, False, None, True],
        "when": pyarrow.array([None, dt.datetime(2024, 1, 2, 3, 4, 5), None, None], pyarrow.timestamp("us")),
        "tags": [["x"], ["a", "b"], [], None],
        "far": [0.5, float("inf"), float("-inf"), None],
        "nested": [{"a": 1, "b": float("nan")}] * 4,
    }
    parquet.write_table(pyarrow.table(columns), tmp_path / "in.parquet")
    run = cli("dedup", tmp_path / "in.parquet", "--removed", "-")
    assert b"NaN" not in run.out
    assert b"Infinity" not in run.out
    rows = [record["row"] for record in run.records]
    assert [row["price"] for row in rows] == [None, None, 2.25]
    assert [row["big"] for row in rows] == [2**63, 2**53 + 1, None]
    assert [row["flag"] for row in rows] == [False, None, True]
    assert [row["tags"] for row in rows] == [["a", "b"], [], None]
    assert [row["far"] for row in rows] == [None, None, None]
    assert rows[0]["nested"] == {"a": 1, "b": None}
    assert rows[0]["when"].startswith("2024-01-02")
    assert cli("dedup", tmp_path / "in.parquet", "--json", "--keep", "max:price").code == 0


FORMATS = {
    "a.jsonl": "".join(f'{{"id": "{i}", "text": "{text}"}}\n' for i, text in enumerate(TEXTS)),
    "a.json": json.dumps([{"id": str(i), "text": text} for i, text in enumerate(TEXTS)]),
    "a.csv": "id,text\n" + "".join(f"{i},{text}\n" for i, text in enumerate(TEXTS)),
    "a.tsv": "id\ttext\r\n" + "".join(f"{i}\t{text}\r\n" for i, text in enumerate(TEXTS)),
    "a.txt": "".join(text + "\n" for text in TEXTS),
}


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-be", "utf-32"])
def test_mark_at_the_start_is_no_part_of_the_data(cli: Cli, tmp_path: Path, name: str, encoding: str) -> None:
    """A file with a byte order mark reads as the same file without one: names of columns, first text, ids."""
    plain = tmp_path / name
    plain.write_bytes(FORMATS[name].encode())
    marked = tmp_path / f"marked-{name}"
    content = "\ufeff" + FORMATS[name] if encoding.endswith("be") else FORMATS[name]
    marked.write_bytes(content.encode(encoding))
    expected = cli("fingerprint", plain)
    assert cli("fingerprint", marked).out == expected.out
    options = () if name == "a.txt" else ("--id-field", "id", "--text-field", "text")
    summary = cli("dedup", marked, "--against", plain, "--json", *options).summary
    assert (summary["exact_copies"], summary["read"]) == (len(TEXTS), len(TEXTS))
    packed = tmp_path / f"packed-{name}.gz"
    packed.write_bytes(gzip.compress(marked.read_bytes()))
    assert cli("fingerprint", packed).out == expected.out
    assert (
        cli(
            "fingerprint", "--input-format", Path(name).suffix[1:].replace("txt", "lines"), stdin=marked.read_bytes()
        ).out
        == expected.out
    )


def test_quoted_first_column_after_a_mark(cli: Cli, tmp_path: Path) -> None:
    """A mark before a quoted header is no part of the name."""
    source = tmp_path / "in.csv"
    source.write_bytes(MARK + b'"id","text"\r\n"r,1","first words"\r\n"r2","first words!"\r\n')
    assert ids_of(cli("dedup", source, "--id-field", "id", "--removed", "-")) == [("r,1", "r2")]


@pytest.mark.parametrize("named", [(), ("--encoding", "gb18030")], ids=["unnamed", "named"])
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "packed"])
def test_mark_at_the_start_of_standard_input(
    cli: Cli, pack: Callable[[bytes], bytes], encoding: str, named: tuple[str, ...]
) -> None:
    """A mark decides the encoding of standard input, compressed or not, also against another one that was named."""
    text = "\n".join(["头班渡船六点半开", *TEXTS]) + "\n"
    expected = cli("fingerprint", stdin=text.encode())
    run = cli("fingerprint", *named, stdin=pack(text.encode(encoding)))
    assert (run.code, run.out) == (0, expected.out)
    assert run.out.count(b"\n") == len(TEXTS) + 1


@pytest.mark.parametrize("named", [None, "gb18030", "GBK", "gb2312", "GB2312", "cp936", "GB_2312-80", "windows-936"])
@pytest.mark.parametrize("name", ["a.txt", "a.csv", "a.jsonl"])
def test_rare_characters_of_gb18030(cli: Cli, tmp_path: Path, named: str | None, name: str) -> None:
    """Characters outside the small sets are read right, whatever member of the family is named, beside UTF-8."""
    content = {"a.txt": RARE + "\n", "a.csv": f'id,text\n1,"{RARE}"\n', "a.jsonl": f'{{"id": 1, "text": "{RARE}"}}\n'}
    (tmp_path / name).write_bytes(content[name].encode("gb18030"))
    (tmp_path / f"u-{name}").write_bytes(content[name].encode())
    options = () if named is None else ("--encoding", named)
    run = cli("dedup", tmp_path / name, tmp_path / f"u-{name}", "--groups", "-", *options)
    (group,) = run.records
    assert [(m["distance"], m["similarity"]) for m in group["members"]] == [(0, 1.0)]
    assert cli("fingerprint", tmp_path / name, *options).out == cli("fingerprint", stdin=RARE.encode()).out


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("big5", "港口的書店開業與茶莊"),
        ("shift_jis", "港の船は六時に出ます"),
        ("euc-kr", "항구의 배는 여섯 시에 떠납니다"),
        ("cp1252", "café très bon à Zürich"),
        ("koi8-r", "паром уходит в шесть часов утра"),
    ],
)
def test_no_encoding_is_guessed_wrongly(cli: Cli, tmp_path: Path, encoding: str, text: str) -> None:
    """A file in another encoding stops the run, naming file, byte and option; named, it is read right."""
    source = tmp_path / "foreign.txt"
    source.write_bytes((text + "\n").encode(encoding))
    run = cli("fingerprint", source)
    assert (run.code, run.out) == (3, b"")
    assert "foreign.txt: line 1, byte" in run.err
    assert "--encoding" in run.err
    assert cli("fingerprint", source, "--encoding", encoding).out == cli("fingerprint", stdin=text.encode()).out


GOOD = [f'{{"id": {i}, "text": "{text}"}}' for i, text in enumerate(TEXTS[:5])]
BAD = [
    '{"id": 3, "text": "cut of',
    "[1, 2]",
    "null",
    '"words"',
    "17",
    GOOD[0] + ",",
    GOOD[0] + GOOD[1],
    '{"id": 9, "text": 12}',
    '{"id": 9, "text": {"a": "b"}}',
    '{"id": [9], "text": "words"}',
    "\x00",
    "{'id': 9}",
    '{"a":' * 3000,
]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("bad", BAD, ids=range(len(BAD)))
def test_bad_line_takes_no_other_with_it(cli: Cli, tmp_path: Path, bad: str, end: str) -> None:
    """Blank lines are passed over; a bad row stops the run with its place, or is skipped and counted; the rows around
    it are all there, the last one without a line end included."""
    lines = [GOOD[0], "", "   ", "\t", GOOD[1], bad, GOOD[2], "", GOOD[3], GOOD[4]]
    source = tmp_path / "in.jsonl"
    source.write_bytes(end.join(lines).encode())
    stopped = cli("dedup", source, "--json")
    assert (stopped.code, stopped.out) == (3, b"")
    assert "in.jsonl: line 6" in stopped.err
    summary = cli("dedup", source, "--json", "--on-error", "skip").summary
    assert (summary["read"], summary["kept"], summary["skipped"], summary["empty"]) == (6, 5, 1, 0)
    kept = cli("dedup", source, "--output", "-", "--on-error", "skip")
    assert kept.out.decode().split() == "\n".join(GOOD).split()
    assert "in.jsonl:6" in kept.err


def test_bad_record_of_csv(cli: Cli, tmp_path: Path) -> None:
    """The same for a record with a cell too many, and for bytes that fit no encoding."""
    source = tmp_path / "in.csv"
    source.write_bytes(b"id,text\n1,first words\n\n2,some,more\n3,other \xff\xfe\x81 bytes\n4,last of all")
    assert "in.csv: line 4" in cli("dedup", source, "--encoding", "utf-8").err
    summary = cli("dedup", source, "--json", "--on-error", "skip", "--encoding", "utf-8").summary
    assert (summary["read"], summary["kept"], summary["skipped"]) == (4, 2, 2)


@pytest.mark.parametrize("half", [r"\ud83d", r"\ude00", r"\ude00\ud83d", r"\uD83D\u0041", r"\ud83d\ud83d"])
def test_half_a_surrogate_pair(cli: Cli, tmp_path: Path, half: str) -> None:
    """Half a pair in text, id or key is replaced by one rule in every command, is counted, and hurts no other row."""
    whole = "岛上通知 X 末班渡船改到九点半"
    escaped = half.replace(r"\u0041", "A")
    rows = [
        '{"id": "clean", "text": "nothing wrong in this row"}',
        f'{{"id": "half", "text": "{whole.replace("X", escaped)}"}}',
        f'{{"id": "same", "text": "{whole.replace("X", "A" if "0041" in half else "")}"}}',
        f'{{"id": "id{escaped}", "k{escaped}": 1, "text": "and a third one"}}',
        r'{"id": "pair", "text": "\ud83d\ude00 a whole pair is no fault"}',
    ]
    source = tmp_path / "in.jsonl"
    source.write_text("".join(row + "\n" for row in rows), encoding="utf-8")
    store = tmp_path / "seen.sqlite"
    outputs = ("--pairs", tmp_path / "p.csv", "--groups", tmp_path / "g.csv", "--removed", tmp_path / "r.csv")
    run = cli("dedup", source, "--json", "--store", store, *outputs, "--format", "csv", "--report", tmp_path / "r.html")
    summary = run.summary
    assert (summary["read"], summary["exact_copies"], summary["repaired"]) == (5, 1, 2)
    assert cli("dedup", source, "--groups", "-").groups == {frozenset({"half", "same"})}
    made = {row["id"]: row["fingerprint"] for row in cli("fingerprint", source, "--format", "jsonl").records}
    assert made["half"] == made["same"]
    (match,) = cli(
        "near", "--store", store, whole.replace("X", "\ufffdA" if "0041" in half else "\ufffd"), "--json"
    ).records
    assert (match["id"], match["distance"]) == ("half", 0)
    (tmp_path / "in.json").write_text("[" + ",".join(rows) + "]", encoding="utf-8")
    assert cli("dedup", tmp_path / "in.json", "--groups", "-").groups == {frozenset({"half", "same"})}
    assert "Traceback" not in run.err
