"""The same rows give the same bytes: whatever the number of workers, the hash seed, and how often."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from dedup_running import planted_texts, rows_of, run, write_rows

from simhash_es.core import grouping
from simhash_es.use_cases.dedup.options import Linkage

SHORT = ["河边日记真好看", "河边日记真好看啊", "谢谢", "great product, thanks", "great product thanks!", "", "!!"]

SCRIPT = """
import sys
from simhash_es.use_cases.dedup.options import DedupOptions, Outputs
from simhash_es.use_cases.dedup.run import run_dedup
folder, workers, *sources = sys.argv[1:]
names = ("survivors", "removed", "pairs", "groups")
outputs = Outputs(**{name: f"{folder}/{name}.jsonl" for name in names})
run_dedup(DedupOptions(sources=tuple(sources), outputs=outputs, workers=int(workers)))
"""


@pytest.fixture
def sources(tmp_path: Path) -> list[str]:
    """Two files with planted groups, about 2,000 rows, several blocks and batches."""
    texts = [*planted_texts(200, seed=40), *SHORT * 20, *planted_texts(180, seed=41)]
    half = len(texts) // 3
    return [
        write_rows(tmp_path / "a.jsonl", rows_of(texts[:half], prefix="a")),
        write_rows(tmp_path / "b.jsonl", rows_of(texts[half:], prefix="b")),
    ]


def outputs_of(folder: Path, workers: int, sources: list[str], seed: str | None) -> dict[str, bytes]:
    folder.mkdir()
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONHASHSEED"}
    if seed is not None:
        environment["PYTHONHASHSEED"] = seed
    command = [sys.executable, "-c", SCRIPT, str(folder), str(workers), *sources]
    subprocess.run(command, env=environment, check=True)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_hash_seed_and_workers_are_irrelevant(tmp_path: Path, sources: list[str]) -> None:
    """Byte-identical outputs for hash seeds 0, 1 and none, with one worker and with four."""
    cases = [("0", 1), ("1", 1), (None, 1), ("0", 4), ("1", 4)]
    found = [outputs_of(tmp_path / f"out{i}", workers, sources, seed) for i, (seed, workers) in enumerate(cases)]
    assert len(found[0]["removed.jsonl"].splitlines()) > 1000
    assert all(outputs == found[0] for outputs in found)


@pytest.mark.parametrize("linkage", list(Linkage))
def test_workers_and_blocks_are_irrelevant(
    tmp_path: Path, sources: list[str], linkage: Linkage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same bytes with one and four workers, and when keepers are searched block by block."""
    first = run(tmp_path / "1", *sources, linkage=linkage).bytes_of()
    assert run(tmp_path / "4", *sources, linkage=linkage, workers=4).bytes_of() == first
    monkeypatch.setattr(grouping, "BLOCK_ROWS", 97)
    assert run(tmp_path / "blocks", *sources, linkage=linkage, workers=2).bytes_of() == first


def test_pairs_do_not_change_the_groups(tmp_path: Path, sources: list[str]) -> None:
    """Asking for pairs as well, or for a report, changes nothing else."""
    alone = run(tmp_path / "alone", *sources, outputs=("survivors", "removed", "groups")).bytes_of()
    more = run(tmp_path / "more", *sources, outputs=("survivors", "removed", "groups", "pairs", "report")).bytes_of()
    assert {name: more[name] for name in alone} == alone


def test_files_and_rows_are_cut_anyhow(tmp_path: Path, sources: list[str]) -> None:
    """The same rows in one file, or in many, give the same groups."""
    whole = tmp_path / "whole.jsonl"
    whole.write_bytes(b"".join(Path(source).read_bytes() for source in sources))
    lines = whole.read_bytes().splitlines(keepends=True)
    many = []
    for number, start in enumerate(range(0, len(lines), 150)):
        part = tmp_path / f"part{number:02}.jsonl"
        part.write_bytes(b"".join(lines[start : start + 150]))
        many.append(str(part))
    results = [
        run(tmp_path / name, *files) for name, files in (("two", sources), ("one", [str(whole)]), ("many", many))
    ]
    assert results[0].survivors == results[1].survivors == results[2].survivors
    assert results[0].groups == results[1].groups == results[2].groups
