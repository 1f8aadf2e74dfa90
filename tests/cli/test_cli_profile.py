"""``profile``: list, show, build-idf."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest
from cli_running import ROWS, Cli, write_rows

from simhash_es.core.angle import detection, rule_of_thumb_figures
from simhash_es.core.idf import IdfTable
from simhash_es.core.limits import derive_limits
from simhash_es.core.presets import DEFAULT, PRESETS, preset
from simhash_es.core.profile import Profile


def test_list(cli: Cli) -> None:
    """Every profile with a name, and a line about it."""
    assert [line.split()[0] for line in cli("profile", "list").lines] == list(PRESETS)
    assert {name: entry["digest"] for name, entry in cli("profile", "list", "--json").json.items()} == {
        name: profile.digest for name, profile in PRESETS.items()
    }


@pytest.mark.parametrize("name", PRESETS)
def test_show(cli: Cli, name: str) -> None:
    """Settings, digest, and limits with their reason."""
    run = cli("profile", "show", name)
    limits = derive_limits(preset(name), 0.85, 0.97, 1_000_000)
    assert (run.code, run.stderr) == (0, "")
    assert preset(name).digest in run.text
    assert f"at most {' and '.join(map(str, limits.distances))} of 64 bits" in run.text
    for reason in limits.reasons:
        assert reason in run.text
    for line in run.lines:
        assert "nan" not in line.split()


def test_show_explains_the_rules_of_thumb(cli: Cli) -> None:
    """A third and a quarter of the width: what they catch and what they wrongly join, in figures."""
    found = cli("profile", "show", "--json", "--documents", "1000").json
    own, third, quarter = found["thresholds"]
    assert (third["limit"], quarter["limit"]) == (21, 16)
    assert own["limit"] == found["limits"]["distances"][0]
    assert third["found_by_cosine"]["0.9"] == detection(0.9, 64, 21)
    expected = rule_of_thumb_figures(64, unrelated_mean_bits=27.7)
    assert math.isclose(third["unrelated_joined_at_least"], expected[0].unrelated_real)
    assert math.isclose(quarter["unrelated_joined_at_least"], expected[1].unrelated_real)
    text = cli("profile", "show").text
    assert "width/3 = 21" in text
    assert "width/4 = 16" in text
    assert re.search(r"finds at cosine 0\.9 +\d", text)


def test_show_depends_on_the_dials(cli: Cli) -> None:
    """Limits follow from similarity, recall and the number of documents."""

    def limits(*options: object) -> list[int]:
        return list(cli("profile", "show", "--json", *options).json["limits"]["distances"])

    usual = limits()
    assert limits("--similarity", 0.95)[0] < usual[0]
    assert limits("--recall", 0.5)[0] < usual[0]
    assert limits("--documents", 10**9)[0] < usual[0]


def test_save_and_use(cli: Cli, tmp_path: Path) -> None:
    """A saved profile is what --profile FILE takes."""
    path = tmp_path / "mine.json"
    assert cli("profile", "show", "--tokenizer", "words", "--weights", "tf", "--save", path).code == 0
    mine = Profile.load(path)
    assert mine == DEFAULT.with_options(tokenizer="words", weights="tf")
    assert cli("profile", "show", path, "--json").json["profile"]["digest"] == mine.digest
    assert cli("profile", "show", "--profile", path, "--json").json["profile"]["digest"] == mine.digest


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["no-such"], "no-such"),
        (["no/such.json"], "no/such.json"),
        (["guide", "--profile", "words"], "two profiles"),
        (["--documents", "0"], "--documents 0"),
        (["--similarity", "2"], "2"),
    ],
)
def test_show_refuses(cli: Cli, arguments: list[str], word: str) -> None:
    """An unknown profile, two of them, a value out of range."""
    run = cli("profile", "show", *arguments)
    assert (run.code, run.stdout) == (2, b"")
    assert word in run.stderr.splitlines()[0]


def test_build_idf(cli: Cli, rows: Path, tmp_path: Path) -> None:
    """A table counts documents, and fingerprints can be made with it by the same options."""
    table = tmp_path / "table.json"
    run = cli("profile", "build-idf", rows, "-o", table, "--tokenizer", "words", "--min-documents", "1")
    assert run.code == 0, run.stderr
    built = IdfTable.load(table)
    assert built.digest in run.text
    assert built.n_documents == len(ROWS)
    assert built.frequencies["ferry"] == 3
    assert built.frequencies["harbour ferry"] == 3, "half A has pairs of words"
    shown = cli("profile", "show", "--tokenizer", "words", "--idf", table, "--json").json
    assert shown["profile"]["weights"] == "tf-idf"
    assert cli("dedup", rows, "--tokenizer", "words", "--idf", table, "--json").json["removed"] == 2


def test_build_idf_leaves_out_rare_features(cli: Cli, tmp_path: Path) -> None:
    """By default a feature of one document is left out: it weighs as an unseen one."""
    rows = write_rows(tmp_path / "rows.jsonl", [{"text": "red fish"}, {"text": "red boat"}])
    table = tmp_path / "table.json"
    cli("profile", "build-idf", rows, "-o", table, "--tokenizer", "words", "--ngram", "1")
    assert dict(IdfTable.load(table).frequencies) == {"red": 2}


def test_build_idf_refuses(cli: Cli, rows: Path, tmp_path: Path) -> None:
    """No document, and a number out of range."""
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    assert cli("profile", "build-idf", empty, "-o", tmp_path / "t").code == 2
    assert cli("profile", "build-idf", rows, "-o", tmp_path / "t", "--min-documents", "0").code == 2
    assert not (tmp_path / "t").exists()
