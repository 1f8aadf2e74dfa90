"""Results that depend on the hash seed of the process, on threads, or on the order of the rows."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from fault_running import Cli, vocabulary, write_rows

OUTPUTS = ("output", "removed", "groups", "pairs")


def planted_rows(n_groups: int) -> list[dict[str, object]]:
    """Groups of four near rows, one of them in other type, and as many rows alone."""
    chance = random.Random(41)
    words = vocabulary(chance, 4000)
    rows: list[dict[str, object]] = []
    for group in range(n_groups):
        base = chance.choices(words, k=80)
        for member in range(3):
            edited = list(base)
            if member:
                edited[chance.randrange(80)] = chance.choice(words)
            rows.append({"id": f"g{group}-{member}", "text": " ".join(edited)})
        rows.append({"id": f"g{group}-3", "text": ", ".join(base).upper()})
        rows += [{"id": f"alone{group}-{i}", "text": " ".join(chance.choices(words, k=80))} for i in range(4)]
    chance.shuffle(rows)
    return rows


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """2,000 rows."""
    return write_rows(tmp_path_factory.mktemp("planted") / "in.jsonl", planted_rows(250))


def test_seed_and_threads_change_no_byte(process: Cli, source: Path, tmp_path: Path) -> None:
    """With any hash seed and one or four threads all outputs are the same, byte for byte."""
    found = set()
    for i, (seed, workers) in enumerate([("0", 1), ("0", 4), ("1", 1), ("1", 4), (None, 1), (None, 4)]):
        paths = [tmp_path / f"{i}-{name}.jsonl" for name in OUTPUTS]
        flags = [flag for name, path in zip(OUTPUTS, paths, strict=True) for flag in (f"--{name}", path)]
        run = process("dedup", source, *flags, "--json", "--workers", workers, env={"PYTHONHASHSEED": seed})
        assert run.summary["removed"] == 750
        found.add(tuple(path.read_bytes() for path in paths))
    assert len(found) == 1


@pytest.mark.parametrize("tokenizer", ["words", "jieba"])
def test_seed_changes_no_value(process: Cli, tokenizer: str) -> None:
    """Values of words, segmented ones too, do not depend on the hash seed."""
    text = "Lime trees in flower, 头班渡船六点半开，自行车请早到 — bees and 竹笋".encode()
    runs = {
        process("fingerprint", "--tokenizer", tokenizer, stdin=text, env={"PYTHONHASHSEED": s}).out for s in ("0", "7")
    }
    assert len(runs) == 1
    assert len(runs.pop()) == 33


@pytest.mark.parametrize("keep", ["first", "last", "min:id"])
def test_order_of_the_rows_changes_no_group(cli: Cli, source: Path, tmp_path: Path, keep: str) -> None:
    """Shuffled rows make the same groups, and the row that stays is the one of the rule."""
    rows = [json.loads(line) for line in source.read_text("utf-8").splitlines()]
    random.Random(42).shuffle(rows)
    shuffled = write_rows(tmp_path / "shuffled.jsonl", rows)
    before = cli("dedup", source, "--groups", "-", "--keep", keep)
    after = cli("dedup", shuffled, "--groups", "-", "--keep", keep)
    assert before.groups == after.groups
    assert len(after.groups) == 250
    order = [row["id"] for row in rows]
    place = {name: i for i, name in enumerate(order)}
    for record in after.records:
        members = [record["kept"], *(member["id"] for member in record["members"])]
        if keep == "first":
            assert record["kept"] == min(members, key=place.__getitem__)
        if keep == "last":
            assert record["kept"] == max(members, key=place.__getitem__)
        if keep == "min:id":
            assert record["kept"] == min(members)
    if keep == "min:id":
        assert {record["kept"] for record in before.records} == {record["kept"] for record in after.records}
