"""``dedup``: every option is taken and does something."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer.main
from cli_running import CHINESE, OTHER, ROWS, SENTENCE, Cli, Run, command, write_rows

from simhash_es.cli.main import make_app
from simhash_es.core.presets import DEFAULT


def kept_ids(run: Run) -> list[str]:
    assert run.code == 0, run.stderr
    return [row["id"] for row in run.records]


def test_summary_alone(cli: Cli, rows: Path) -> None:
    """Without any output a summary for people is the result."""
    run = cli("dedup", rows)
    assert run.code == 0
    counts = {words[0]: words[1] for line in run.lines if len(words := line.split()) > 1}
    assert {name: counts[name] for name in ("read", "kept", "removed", "groups", "empty")} == {
        "read": "6", "kept": "4", "removed": "2", "groups": "1", "empty": "1",
    }  # fmt: skip
    assert "1 identical in normal form, 1 near-duplicates" in run.text
    assert "cosine:0.85" in run.text
    assert re.search(r"at most \d+ and \d+ of 64 bits", run.text)
    assert DEFAULT.digest in run.text


def test_summary_with_files(cli: Cli, rows: Path, tmp_path: Path) -> None:
    """With results in files the summary is still shown, with the paths."""
    output, report = tmp_path / "out.jsonl", tmp_path / "report.html"
    run = cli("dedup", rows, "-o", output, "--report", report)
    assert str(output) in run.text
    assert str(report) in run.text
    assert report.read_bytes().startswith(b"<!")
    assert b"simhash-es" in report.read_bytes()


def test_json_adds_up(cli: Cli, rows: Path) -> None:
    """--json prints one object whose numbers add up, and nothing else."""
    found = cli("dedup", rows, "--json").json
    assert found["read"] == found["kept"] + found["removed"] + found["skipped"] == 6
    assert found["removed"] == found["exact_copies"] + found["near_copies"] == 2
    assert found["profile"]["digest"] == DEFAULT.digest
    assert found["limits"]["reasons"]
    assert set(found["seconds"]) >= {"read and fingerprint", "group"}


@pytest.mark.parametrize("extra", [[], ["--json"]])
def test_rows_on_stdout_are_alone_there(process: Cli, rows: Path, extra: Sequence[str]) -> None:
    """With -o - standard output holds the rows byte for byte; the summary goes to standard error."""
    run = process("dedup", rows, "-o", "-", *extra)
    lines = rows.read_bytes().splitlines(keepends=True)
    assert run.stdout == b"".join(lines[i] for i in (0, 2, 4, 5))
    assert ('"read":6' if extra else "removed") in run.stderr


def test_standard_input(cli: Cli, rows: Path) -> None:
    """- reads standard input."""
    assert kept_ids(cli("dedup", "-", "-o", "-", stdin=rows.read_bytes())) == ["a", "c", "e", "f"]


def test_two_results_on_stdout_are_refused(cli: Cli, rows: Path) -> None:
    """Only one kind of rows can go to standard output."""
    run = cli("dedup", rows, "-o", "-", "--pairs", "-")
    assert (run.code, run.stdout) == (2, b"")


@pytest.mark.parametrize("option", ["--removed", "--pairs", "--groups"])
@pytest.mark.parametrize("format", ["jsonl", "csv"])
def test_tables(cli: Cli, rows: Path, option: str, format: str) -> None:
    """Removed rows, pairs and groups come as JSON lines or as CSV with a heading, with the same entries."""
    run = cli("dedup", rows, option, "-", "--format", format)
    if format == "csv":
        found = list(csv.DictReader(io.StringIO(run.text)))
        assert found
        assert all(len(row) > 2 for row in found)
        text = " ".join(" ".join(map(str, row.values())) for row in found)
        assert {"a", "b", "d"} <= set(text.split())
    elif option == "--pairs":
        assert {frozenset((pair["a"], pair["b"])) for pair in run.records} >= {frozenset("ab"), frozenset("ad")}
        assert all(pair["similarity"] >= 0.85 for pair in run.records)
    elif option == "--groups":
        [group] = run.records
        assert (group["kept"], [member["id"] for member in group["members"]]) == ("a", ["b", "d"])
    else:
        assert len(run.records) == 2


@dataclass(frozen=True)
class Case:
    """An option with what it needs, and what must differ from the run without it."""

    flag: str
    arguments: Callable[[Path], Sequence[object]]
    check: Callable[[Run, Path], object]
    rows: Sequence[dict[str, Any]] = tuple(ROWS)
    name: str = "rows.jsonl"


def ids(*expected: str) -> Callable[[Run, Path], object]:
    """The rows that stay."""

    def check(run: Run, folder: Path) -> None:
        assert kept_ids(run) == list(expected)

    return check


def profile(**settings: object) -> Callable[[Run, Path], object]:
    """The digest of the default profile with these settings."""

    def check(run: Run, folder: Path) -> None:
        assert run.json["profile"]["digest"] == DEFAULT.with_options(**settings).digest

    return check


def different_profile(run: Run, folder: Path) -> None:
    assert run.json["profile"]["digest"] != DEFAULT.digest


def put(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def old_rows(folder: Path) -> Path:
    return write_rows(folder / "old.jsonl", [{"id": "old", "text": OTHER}])


def limits_are(*expected: int) -> Callable[[Run, Path], object]:
    def check(run: Run, folder: Path) -> None:
        assert run.json["limits"]["distances"] == list(expected)

    return check


def fails(code: int, word: str) -> Callable[[Run, Path], object]:
    def check(run: Run, folder: Path) -> None:
        assert run.code == code
        assert word in run.stderr

    return check


def similarity_is(*expected: str) -> Callable[[Run, Path], object]:
    def check(run: Run, folder: Path) -> None:
        assert run.json["similarity"] == list(expected)

    return check


def written(name: str) -> Callable[[Run, Path], object]:
    def check(run: Run, folder: Path) -> None:
        assert run.code == 0
        assert (folder / name).stat().st_size > 0

    return check


O = ("-o", "-")  # noqa: E741 - the rows that stay
FIELDS = [{"key": row["id"], "meta": {"body": row["text"]}} for row in ROWS]
WORDS = [hashlib.md5(bytes([i])).hexdigest()[:9] for i in range(80)]
CHAIN = [{"id": str(i), "text": " ".join(WORDS[60 : 60 + 3 * i] + WORDS[3 * i : 60])} for i in range(6)]
"""Each text is near the one before, the last one far from the first."""
CASES = [
    Case("--output", lambda f: ["--output", f / "out"], written("out")),
    Case("--removed", lambda f: ["--removed", f / "out"], written("out")),
    Case("--groups", lambda f: ["--groups", f / "out"], written("out")),
    Case("--pairs", lambda f: ["--pairs", f / "out"], written("out")),
    Case("--report", lambda f: ["--report", f / "out"], written("out")),
    Case(
        "--format", lambda f: ["--groups", "-", "--format", "csv"], lambda r, f: "{" not in r.text and "," in r.lines[0]
    ),
    Case("--json", lambda f: ["--json"], lambda r, f: r.json["read"] == 6),
    Case("--similarity", lambda f: [*O, "--similarity", "0.999"], ids("a", "b", "c", "e", "f")),
    Case("--recall", lambda f: ["--json", "--recall", "0.5"], lambda r, f: r.json["limits"]["expected_recall"] < 0.7),
    Case("--distance", lambda f: ["--json", "--distance", "5"], limits_are(5, 64)),
    Case("--check-distance", lambda f: ["--json", "--distance", "5", "--check-distance", "7"], limits_are(5, 7)),
    Case(
        "--verify",
        lambda f: ["--json", "--verify", "jaccard:0.5", "--verify", "edit:0.9"],
        similarity_is("jaccard:0.5", "edit:0.9"),
    ),
    Case(
        "--verify-features",
        lambda f: [*O, "--verify", "jaccard:0.95", "--verify-features", "chars:1"],
        ids("a", "c", "e", "f"),
    ),
    Case("--keep", lambda f: [*O, "--keep", "max:score"], ids("b", "c", "e", "f")),
    Case("--linkage", lambda f: [*O, "--linkage", "connected"], ids("0"), rows=CHAIN),
    Case("--against", lambda f: [*O, "--against", old_rows(f)], ids("a", "e", "f")),
    Case("--store", lambda f: ["--store", f / "seen.sqlite"], written("seen.sqlite")),
    Case("--unique-ids", lambda f: ["--unique-ids"], fails(3, "was used before"), rows=(ROWS[0], ROWS[0])),
    Case(
        "--fingerprint-field",
        lambda f: ["--json", "--fingerprint-field", "print", "--distance", "3"],
        lambda r, f: r.json["removed"] == 1,
        rows=[{"id": i, "print": digits} for i, digits in enumerate(("0123456789abcdef", "0123456689aacdee"))],
    ),
    Case("--input-format", lambda f: ["--json", "--input-format", "jsonl"], lambda r, f: r.json["read"] == 6, name="x"),
    Case("--encoding", lambda f: ["--encoding", "no-such"], fails(2, "no-such")),
    Case("--id-field", lambda f: ["--groups", "-", "--id-field", "score"], lambda r, f: r.records[0]["kept"] == 1),
    Case(
        "--text-field", lambda f: ["--json", "--text-field", "meta.body"], lambda r, f: r.json["removed"] == 2, FIELDS
    ),
    Case("--on-error", lambda f: ["--json", "--on-error", "skip"], lambda r, f: r.json["skipped"] == 1, name="bad"),
    Case("--budget", lambda f: ["--budget", "1KB"], fails(6, "budget")),
    Case("--max-pairs", lambda f: ["--pairs", f / "out", "--max-pairs", "1"], fails(6, "more than 1 pairs")),
    Case("--workers", lambda f: ["--workers", "0"], fails(2, "--workers")),
    Case("--profile", lambda f: ["--json", "--profile", "words"], different_profile),
    Case("--tokenizer", lambda f: ["--json", "--tokenizer", "words"], profile(tokenizer="words")),
    Case("--ngram", lambda f: ["--json", "--ngram", "6/2"], profile(ngram="6/2")),
    Case("--weights", lambda f: ["--json", "--weights", "tf"], profile(weights="tf")),
    Case("--hash", lambda f: ["--json", "--hash", "md5"], profile(hash="md5")),
    Case("--bits", lambda f: ["--json", "--bits", "128"], profile(bits=128)),
    Case("--halves", lambda f: ["--json", "--halves", "3"], profile(halves=3)),
    Case(
        "--vote",
        lambda f: [*O, "--halves", "3", "--distance", "0", "--verify", "none", "--vote", "1"],
        ids("a", "f"),
    ),
    Case("--idf", lambda f: ["--idf", f / "none"], fails(2, "tf-idf table")),
    Case(
        "--word-weights",
        lambda f: ["--json", "--tokenizer", "words", "--word-weights", put(f, "w", "ferry\t5\n")],
        different_profile,
    ),
    Case(
        "--user-dictionary",
        lambda f: ["--json", "--tokenizer", "words", "--user-dictionary", put(f, "d", "渡船早上 9\n")],
        different_profile,
    ),
    Case("--keep-punctuation", lambda f: ["--json", "--keep-punctuation"], different_profile),
    Case("--html", lambda f: [*O, "--html"], ids("a"), rows=[ROWS[0], {"id": "x", "text": f"<i>{SENTENCE}</i>"}]),
    Case(
        "--urls", lambda f: [*O, "--urls"], ids("a"), rows=[ROWS[0], {"id": "x", "text": SENTENCE + " www.x.example"}]
    ),
    Case("--digits", lambda f: ["--json", "--digits"], different_profile),
    Case("--stop-words", lambda f: ["--json", "--stop-words", put(f, "s", "the\nand\n")], different_profile),
    Case("--pattern", lambda f: ["--json", "--pattern", "ferry", "--pattern", "crew"], different_profile),
    Case("--simplify", lambda f: ["--json", "--simplify"], different_profile),
    Case("--debug", lambda f: ["--debug", "--workers", "0"], fails(2, "Traceback")),
]


@pytest.mark.parametrize("case", CASES, ids=[case.flag for case in CASES])
def test_option_has_effect(cli: Cli, tmp_path: Path, case: Case) -> None:
    """The option is accepted and does what its help says."""
    path = write_rows(tmp_path / case.name, case.rows)
    if case.name == "bad":
        path.write_text(path.read_text(encoding="utf-8") + "{no json\n", encoding="utf-8")
    outcome = case.check(cli("dedup", path, *case.arguments(tmp_path)), tmp_path)
    assert outcome is None or outcome


def test_every_option_has_a_case() -> None:
    """No option of dedup is left out above."""
    found = typer.main.get_command(make_app(with_completion=False)).commands["dedup"]  # type: ignore[attr-defined]
    flags = {max(parameter.opts, key=len) for parameter in found.params if parameter.param_type_name == "option"}
    assert flags == {case.flag for case in CASES}


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--similarity", "0"], "--similarity 0"),
        (["--similarity", "1.5"], "--similarity 1.5"),
        (["--recall", "1.01"], "--recall 1.01"),
        (["--distance", "-1"], "negative"),
        (["--distance", "65"], "65"),
        (["--profile", "characters", "--check-distance", "3"], "second half"),
        (["--verify", "cosine"], "cosine"),
        (["--verify", "none", "--verify", "edit:0.9"], "none"),
        (["--verify", "none", "--verify-features", "words:2"], "none"),
        (["--keep", "best"], "best"),
        (["--keep", "max"], "max"),
        (["--linkage", "loose"], "loose"),
        (["--format", "csv"], "--format csv"),
        (["--pairs", "-", "--format", "xml"], "xml"),
        (["--input-format", "xls"], "xls"),
        (["--on-error", "ignore"], "ignore"),
        (["--budget", "much"], "much"),
        (["--max-pairs", "0"], "--max-pairs 0"),
        (["--report", "-"], "report"),
        (["--profile", "no-such"], "no-such"),
        (["--hash", "crc"], "crc"),
        (["--bits", "129"], "129"),
        (["--vote", "3"], "vote"),
        (["--pattern", "("], "("),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, list) else "",
)
def test_wrong_values_are_refused(cli: Cli, rows: Path, arguments: Sequence[str], word: str) -> None:
    """A value out of range, or one that contradicts another, ends with code 2 and a message that names it."""
    run = cli("dedup", rows, *arguments)
    assert (run.code, run.stdout) == (2, b"")
    message = run.stderr.splitlines()[-2:] if "hint: " in run.stderr else run.stderr.splitlines()[-1:]
    assert message[0].startswith("error: ")
    assert word in message[0]


def test_second_run_on_a_store(cli: Cli, rows: Path, tmp_path: Path) -> None:
    """What an earlier run left in the store wins over later rows."""
    store = tmp_path / "seen.sqlite"
    assert kept_ids(cli("dedup", rows, "--store", store, "-o", "-")) == ["a", "c", "e", "f"]
    assert kept_ids(cli("dedup", rows, "--store", store, "-o", "-")) == ["f"]


def test_same_result_whatever_the_hash_seed(rows: Path) -> None:
    """Groups do not depend on Python's hash seed or on the number of threads."""
    outputs = {
        subprocess.run(
            [*command(["dedup", rows, "--groups", "-", "--workers", workers])],
            capture_output=True,
            check=True,
            env={
                "PYTHONHASHSEED": seed,
                **{k: v for k, v in __import__("os").environ.items() if k != "PYTHONHASHSEED"},
            },
        ).stdout
        for seed, workers in (("0", "1"), ("1", "4"))
    }
    assert len(outputs) == 1


def test_command_is_in_the_report(process: Cli, rows: Path, tmp_path: Path) -> None:
    """The report names the command that made it."""
    report = tmp_path / "report.html"
    process("dedup", rows, "--report", report)
    assert "simhash-es dedup" in report.read_text(encoding="utf-8")


def test_hostile_names_do_not_steer_the_terminal(cli: Cli, tmp_path: Path) -> None:
    """Control characters of names and data are spelt out in messages."""
    run = cli("dedup", tmp_path / "no\x1b[2J\u202efile.jsonl")
    assert run.code == 3
    assert "\x1b" not in run.stderr
    assert "⟨U+001B⟩[2J⟨U+202E⟩" in run.stderr


def test_chinese_rows_stay_as_they_are(cli: Cli, tmp_path: Path) -> None:
    """Rows in GB18030 come out in GB18030."""
    line = json.dumps({"id": 1, "text": CHINESE}, ensure_ascii=False) + "\n"
    path = tmp_path / "rows.jsonl"
    path.write_bytes((line * 2).encode("gb18030"))
    assert cli("dedup", path, "-o", "-").stdout == line.encode("gb18030")


def test_a_chain_is_no_group_by_default(cli: Cli, tmp_path: Path) -> None:
    """Members are near the row that stays, so the far end of a chain stays as well."""
    kept = kept_ids(cli("dedup", write_rows(tmp_path / "rows.jsonl", CHAIN), "-o", "-"))
    assert 1 < len(kept) < len(CHAIN)


def test_all_halves_vote_by_default(cli: Cli, rows: Path) -> None:
    """Without --vote every half must be near enough."""
    run = cli("dedup", rows, "-o", "-", "--halves", "3", "--distance", "0", "--verify", "none")
    assert kept_ids(run) == ["a", "b", "c", "e", "f"]


def test_named_encoding(cli: Cli, tmp_path: Path) -> None:
    """Bytes that fit no encoding that can be told are read by the one that is named."""
    path = tmp_path / "rows.jsonl"
    path.write_bytes('{"id": 1, "text": "caf\u00e9 na\u00efve"}\n'.encode("cp1252"))
    assert cli("dedup", path).code == 3
    run = cli("dedup", path, "--encoding", "cp1252", "-o", "-")
    assert (run.code, run.stdout) == (0, path.read_bytes())
