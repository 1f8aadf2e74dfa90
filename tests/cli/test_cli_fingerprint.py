"""``fingerprint``: lines in, lines out."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from cli_running import CHINESE, OTHER, SENTENCE, Cli, command, write_rows
from hypothesis import given, settings
from hypothesis import strategies as st

from simhash_es.core.bits import to_hex
from simhash_es.core.presets import DEFAULT, preset
from simhash_es.core.profile import Profile
from simhash_es.core.reference import reference_fingerprint
from simhash_es.use_cases import fingerprint_lines as module
from simhash_es.use_cases.fingerprint_lines import HexMaker
from simhash_es.use_cases.text_lines import completed_lines

TEXTS = [SENTENCE, CHINESE, "", "  ", "!?…", "a", OTHER, "last"]


def digits(text: str, profile: Profile = DEFAULT) -> str:
    """The expected line."""
    values = reference_fingerprint(text, profile)
    return "" if values is None else "".join(to_hex(value, profile.width) for value in values)


@pytest.mark.parametrize(
    ("options", "profile"),
    [
        ([], DEFAULT),
        (["--profile", "characters"], preset("characters")),
        (["--bits", "100"], DEFAULT.with_options(bits=100)),
        (["--profile", "guide"], preset("guide")),
        (["--halves", "3", "--bits", "20"], DEFAULT.with_options(halves=3, bits=20)),
    ],
    ids=["default", "characters", "100-bits", "guide", "three-halves"],
)
@pytest.mark.parametrize("end", ["\n", ""])
def test_line_for_line(cli: Cli, options: Sequence[str], profile: Profile, end: str) -> None:
    """Each line gets its fingerprint, all halves joined; a line without features gets an empty one."""
    run = cli("fingerprint", *options, stdin=("\n".join(TEXTS) + end).encode())
    assert (run.code, run.stderr) == (0, "")
    assert run.text == "".join(digits(text, profile) + "\n" for text in TEXTS)


def test_nothing_in_nothing_out(cli: Cli) -> None:
    """Empty input gives empty output."""
    assert cli("fingerprint").stdout == b""


@pytest.mark.parametrize("ending", ["\r\n", "\n"])
def test_line_ends_do_not_count(cli: Cli, ending: str) -> None:
    """A carriage return before the line end is no part of the text."""
    assert cli("fingerprint", stdin=f"one{ending}two{ending}".encode()).lines == [digits("one"), digits("two")]


@pytest.mark.parametrize(
    ("encoded", "options"),
    [
        (CHINESE.encode("gb18030"), ["--encoding", "gbk"]),
        (CHINESE.encode("big5", "ignore"), ["--encoding", "big5"]),
        (CHINESE.encode("utf-16"), []),
        (CHINESE.encode("utf-8-sig"), []),
        (gzip.compress(CHINESE.encode()), []),
    ],
    ids=["gb18030", "big5", "utf-16", "mark", "gzip"],
)
def test_encodings_of_standard_input(cli: Cli, encoded: bytes, options: Sequence[str]) -> None:
    """A named encoding, that of a byte order mark, or compressed UTF-8."""
    expected = CHINESE.encode("big5", "ignore").decode("big5") if "big5" in options else CHINESE
    assert cli("fingerprint", *options, stdin=encoded).lines == [digits(expected)]


def test_bad_bytes_stop(cli: Cli) -> None:
    """A line that does not fit the encoding ends the run; the message names line, byte and position."""
    run = cli("fingerprint", stdin=b"fine\nno\xff\n")
    assert run.code == 3
    assert "error: -: line 2: byte 0xff at position 2 of the line does not fit UTF-8" in run.stderr


def test_bad_bytes_skipped_keep_the_count_of_lines(cli: Cli) -> None:
    """With --on-error skip such a line is answered by an empty one, so that lines still correspond."""
    run = cli("fingerprint", "--on-error", "skip", stdin=b"fine\nno\xff\nend\n")
    assert run.lines == [digits("fine"), "", digits("end")]
    assert "1 of 3 lines could not be read" in run.stderr


def test_objects(cli: Cli) -> None:
    """--format jsonl names each line and gives null where there is no fingerprint."""
    run = cli("fingerprint", "--format", "jsonl", stdin=b"one\n\n")
    assert run.records == [{"id": "-:1", "fingerprint": digits("one")}, {"id": "-:2", "fingerprint": None}]


def test_files_of_every_kind(cli: Cli, tmp_path: Path) -> None:
    """Files are read as dedup reads them: rows have their text field and their id."""
    lines = tmp_path / "lines.txt"
    lines.write_text("one\n\ntwo\n", encoding="utf-8")
    rows = write_rows(tmp_path / "rows.jsonl", [{"id": 7, "body": CHINESE}])
    table = tmp_path / "table.csv"
    table.write_text("id,text\nx,one\n", encoding="utf-8")
    run = cli("fingerprint", lines, rows, table, "--format", "jsonl")
    assert [(record["id"], record["fingerprint"]) for record in run.records] == [
        (f"{lines}:1", digits("one")),
        (f"{lines}:2", None),
        (f"{lines}:3", digits("two")),
        (7, digits(CHINESE)),
        ("x", digits("one")),
    ]


def test_folder_of_lines_and_rows(cli: Cli, tmp_path: Path) -> None:
    """A folder with files of two kinds gives each row once."""
    write_rows(tmp_path / "a.jsonl", [{"id": 1, "text": "one"}])
    write_rows(tmp_path / "b.jsonl", [{"id": 2, "text": "two"}])
    assert cli("fingerprint", tmp_path).lines == [digits("one"), digits("two")]


def test_rows_on_standard_input(cli: Cli) -> None:
    """With a named format standard input holds rows."""
    data = json.dumps({"id": "x", "title": "one", "text": "two"}).encode()
    run = cli("fingerprint", "-", "--input-format", "jsonl", "--text-field", "title", "--format", "jsonl", stdin=data)
    assert run.records == [{"id": "x", "fingerprint": digits("one")}]


def test_answers_come_at_once() -> None:
    """A line is answered before the next one is written: the filter can stand in a dialogue."""
    with subprocess.Popen(
        command(["fingerprint"]), stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    ) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        for text in ("one", "two", "three"):
            running.stdin.write(f"{text}\n".encode())
            assert running.stdout.readline().decode() == digits(text) + "\n"
        running.stdin.close()
        assert running.wait() == 0


def test_large_input_by_kernels_is_the_same(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond some text the compiled kernels take over; the values stay the same."""
    monkeypatch.setattr(module, "SMALL_CHARS", 100)
    monkeypatch.setattr(module, "SMALL_CHARS_COLD", 100)
    texts = [f"{i} {text}" if text else "" for i in range(40) for text in TEXTS]
    run = cli("fingerprint", stdin="\n".join(texts).encode())
    assert run.lines == [digits(text) for text in texts]
    assert run.lines.count("") == 40


def test_small_input_needs_no_compiler(tmp_path: Path) -> None:
    """A few lines are done without numba, so nobody waits for a compiler."""
    script = (
        "import sys; from simhash_es.cli.main import main\n"
        "try: main()\n"
        "finally: print('numba' in sys.modules, file=sys.stderr)"
    )
    env = {**os.environ, "SIMHASH_ES_CACHE": str(tmp_path)}
    done = subprocess.run(
        [*command([])[:1], "-c", script, "fingerprint"], input=b"one\n", capture_output=True, check=True, env=env
    )
    assert done.stderr.decode() == "False\n"
    assert list(tmp_path.rglob("*.kernel")) == []


@settings(max_examples=60)
@given(st.lists(st.sampled_from([b"a", b"bc", b"\n", b"\n\n", b""]), max_size=12))
def test_lines_do_not_depend_on_chunks(chunks: list[bytes]) -> None:
    """However the bytes arrive, the lines are those of the whole."""
    whole = b"".join(chunks)
    expected = whole.removesuffix(b"\n").split(b"\n") if whole else []
    found = [line for block in completed_lines(chunks) for line in block.split(b"\n")]
    assert found == expected


@given(st.lists(st.text(max_size=20), max_size=5))
def test_maker_is_the_reference(texts: list[str]) -> None:
    """Small inputs are done by the reference, whatever the texts hold."""
    assert HexMaker(DEFAULT).make(texts) == [digits(text) for text in texts]
