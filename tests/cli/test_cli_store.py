"""``near`` and ``export``: what a store holds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from cli_running import CHINESE, OTHER, SENTENCE, Cli

from simhash_es.core.bits import to_hex
from simhash_es.core.presets import DEFAULT
from simhash_es.core.reference import reference_fingerprint


@pytest.fixture
def store(cli: Cli, rows: Path, tmp_path: Path) -> Path:
    """The survivors a, c and e; the empty text is none."""
    path = tmp_path / "seen.sqlite"
    assert cli("dedup", rows, "--store", path).code == 0
    return path


def test_near(cli: Cli, store: Path, rows: Path) -> None:
    """The row that is near, with distances, similarity and place; a remark on standard error."""
    run = cli("near", SENTENCE.replace("bicycle", "tricycle"), "--store", store, "--json")
    [match] = run.records
    assert (match["id"], match["source"], match["line"]) == ("a", str(rows), 1)
    assert 0 < match["distance"] < 16
    assert 0.85 <= match["similarity"] < 1
    assert "1 of " in run.stderr


def test_near_for_people(cli: Cli, store: Path) -> None:
    """A heading and a line for each match; nothing when there is none."""
    heading, line = cli("near", CHINESE, "--store", store).lines
    assert heading.split() == ["bits", "A", "bits", "B", "similarity", "id", "where"]
    assert line.split()[:4] == ["0", "0", "1.000", '"e"']
    assert cli("near", "nothing like it at all, whatever one does", "--store", store).stdout == b""


def test_near_by_fingerprint(cli: Cli, store: Path) -> None:
    """Instead of a text, both halves joined or half A alone."""
    values = reference_fingerprint(OTHER, DEFAULT)
    assert values is not None
    both = "".join(to_hex(value) for value in values)
    for digits in (both, both[:16]):
        [match] = cli("near", "--fingerprint", digits, "--store", store, "--json").records
        assert (match["id"], match["distance"], match["similarity"]) == ("c", 0, None)


def test_near_reads_files_and_standard_input(cli: Cli, store: Path, tmp_path: Path) -> None:
    """@FILE and - are read whole, in their encoding."""
    path = tmp_path / "query.txt"
    path.write_text(CHINESE, encoding="gb18030")
    assert cli("near", f"@{path}", "--store", store, "--json").records[0]["id"] == "e"
    assert cli("near", "-", "--store", store, "--json", stdin=CHINESE.encode()).records[0]["id"] == "e"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--limit", "0"], 0),
        (["--limit", "1"], 1),
        (["--similarity", "0.9999"], 0),
        (["--verify", "edit:0.9"], 1),
        (["--verify", "edit:0.9999"], 0),
        (["--distance", "64", "--verify", "none"], 3),
        (["--distance", "0"], 0),
        (["--verify", "jaccard:0.99", "--verify-features", "chars:1"], 1),
    ],
    ids=lambda value: "".join(value) if isinstance(value, list) else None,
)
def test_near_options(cli: Cli, store: Path, options: Sequence[str], expected: int) -> None:
    """Limits and criteria are those of dedup."""
    run = cli("near", SENTENCE.replace("bicycle", "bicicle"), "--store", store, "--json", *options)
    assert run.code == 0, run.stderr
    assert len(run.records) == expected


def test_near_nothing(cli: Cli, store: Path) -> None:
    """A text without letters is near to nothing, and that is said."""
    run = cli("near", "…!", "--store", store)
    assert (run.code, run.stdout) == (0, b"")
    assert "no fingerprint" in run.stderr


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--store", "{store}"], 2),
        (["x", "--fingerprint", "0123456789abcdef", "--store", "{store}"], 2),
        (["--fingerprint", "0123", "--store", "{store}"], 2),
        (["x", "--limit", "-1", "--store", "{store}"], 2),
        (["x", "--store", "{store}.none"], 5),
        (["@no-such-file", "--store", "{store}"], 3),
    ],
    ids=["nothing", "both", "digits", "limit", "store", "file"],
)
def test_near_refuses(cli: Cli, store: Path, arguments: Sequence[str], code: int) -> None:
    """Neither or both of text and fingerprint, wrong digits, no store, no file."""
    run = cli("near", *(argument.format(store=store) for argument in arguments))
    assert (run.code, run.stdout) == (code, b"")


def test_export_npy(cli: Cli, store: Path, tmp_path: Path) -> None:
    """Values that NumPy maps into memory, and the bytes a document takes."""
    found = cli("export", store, tmp_path / "values", "--json").json
    values = np.load(tmp_path / "values.npy", mmap_mode="r")
    assert len(values) == found["rows"] > 2
    assert found["bytes_per_document"] > 0
    assert (tmp_path / "values.ids.jsonl").read_text(encoding="utf-8").count("\n") == found["rows"]


def test_export_roaring(cli: Cli, store: Path, tmp_path: Path) -> None:
    """The other form; for people the sizes are named."""
    run = cli("export", store, tmp_path / "values.roaring", "--format", "roaring")
    assert run.code == 0, run.stderr
    size = (tmp_path / "values.roaring").stat().st_size
    assert f"{size:,} bytes, fingerprints" in run.text
    assert "bytes each" in run.text


def test_export_refuses(cli: Cli, store: Path, tmp_path: Path) -> None:
    """An unknown form, no store, no folder; nothing is left behind."""
    before = sorted(tmp_path.iterdir())
    assert cli("export", store, tmp_path / "x", "--format", "xml").code == 2
    assert cli("export", tmp_path / "none", tmp_path / "x").code == 5
    assert cli("export", store, tmp_path / "none" / "x").code == 2
    assert sorted(tmp_path.iterdir()) == before
