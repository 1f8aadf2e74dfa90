"""Runs of dedup on files in a folder, their outputs read back, and what must hold for all of them."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simhash_es.backends.files.options import ReadOptions
from simhash_es.use_cases.dedup.options import DedupOptions, Outputs, parse_keep
from simhash_es.use_cases.dedup.results import DedupSummary
from simhash_es.use_cases.dedup.run import run_dedup

ENGLISH = (
    "the harbour office opens at six and first ferry leaves soon after while night crew counts empty crates near old",
    "crane where two apprentices repair a winch that broke during last winter storm because nobody had oiled its",
    "bearings since spring so captain asked for written plan with dates names costs before any further voyage could be",
    "approved by council of island which meets on second monday each month",
)
CHINESE = "今天的菜市场卖新鲜竹笋图书馆周一闭馆明早六点有班车去码头店家回复很快包装也用心河边日记记录了去年冬天的风暴"
TABLES = ("removed", "pairs", "groups")


@dataclass(frozen=True)
class Result:
    """A run with its outputs: survivors as bytes, tables as parsed JSON lines, ``None`` where not asked for."""

    summary: DedupSummary
    folder: Path
    survivors: bytes | None
    removed: list[dict[str, Any]] | None
    pairs: list[dict[str, Any]] | None
    groups: list[dict[str, Any]] | None

    @property
    def kept_ids(self) -> list[Any]:
        """Ids of the survivors, in order."""
        assert self.survivors is not None
        return [json.loads(line)["id"] for line in self.survivors.splitlines() if line.strip()]

    @property
    def keepers(self) -> dict[Any, Any]:
        """Removed id → kept id."""
        assert self.removed is not None
        return {row["id"]: row["kept"] for row in self.removed}

    @property
    def members(self) -> dict[Any, set[Any]]:
        """Kept id → ids of its members."""
        assert self.groups is not None
        return {group["kept"]: {member["id"] for member in group["members"]} for group in self.groups}

    def bytes_of(self) -> dict[str, bytes]:
        """Every output file as it stands on disk."""
        return {path.name: path.read_bytes() for path in sorted(self.folder.iterdir())}


def write_rows(path: Path, rows: Iterable[dict[str, Any]]) -> str:
    """JSON lines; returns the path as a source."""
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def rows_of(texts: Sequence[str | None], *, prefix: str = "d") -> list[dict[str, Any]]:
    """Rows with the ids d0, d1 …"""
    return [{"id": f"{prefix}{i}", "text": text} for i, text in enumerate(texts)]


def run(
    folder: Path, *sources: str, keep: str = "first", outputs: Sequence[str] = ("survivors", *TABLES), **options: Any
) -> Result:
    """Run dedup with the outputs in ``folder``, which is made."""
    folder.mkdir(parents=True)
    options.setdefault("workers", 1)
    read = options.pop("read", ReadOptions())
    targets = {name: str(folder / f"{name}.jsonl") for name in outputs}
    summary = run_dedup(
        DedupOptions(sources=sources, outputs=Outputs(**targets), keep=parse_keep(keep), read=read, **options)
    )
    tables = {name: read_table(folder / f"{name}.jsonl") if name in outputs else None for name in TABLES}
    survivors = (folder / "survivors.jsonl").read_bytes() if "survivors" in outputs else None
    return Result(summary, folder, survivors, **tables)


def read_table(path: Path) -> list[dict[str, Any]]:
    """JSON lines."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def check_consistency(result: Result, n_rows: int) -> None:
    """Survivors, removed rows, pairs, groups and summary tell the same story."""
    summary, removed, groups, pairs = result.summary, result.removed, result.groups, result.pairs
    assert removed is not None
    assert groups is not None
    assert pairs is not None
    assert summary.read == n_rows == summary.kept + summary.removed + summary.skipped
    assert summary.removed == summary.exact_copies + summary.near_copies == len(removed)
    assert summary.exact_copies == sum(row["reason"] == "exact copy" for row in removed)
    assert summary.groups == len(groups)
    assert summary.pairs == len(pairs)
    members = [(group["kept"], member) for group in groups for member in group["members"]]
    figures = ("distance", "check_distance", "similarity")
    assert sorted((kept, m["id"], *(m[f] for f in figures)) for kept, m in members) == sorted(
        (row["kept"], row["id"], *(row[f] for f in figures)) for row in removed
    )
    assert all(group["members"] for group in groups)
    assert not {row["id"] for row in removed} & {row["kept"] for row in removed}
    if removed:
        largest = tuple(max(row[name] or 0 for row in removed) for name in ("distance", "check_distance"))
        assert summary.largest_distances[:2] == largest[: len(summary.largest_distances)]
    unordered = [frozenset((pair["a"], pair["b"])) for pair in pairs]
    assert len(set(unordered)) == len(unordered)
    assert all(len(pair) == 2 for pair in unordered)


def article(chance: random.Random, n_words: int = 120) -> list[str]:
    """Words of an English or a Chinese text."""
    vocabulary = (
        " ".join(ENGLISH).split()
        if chance.random() < 0.6
        else [CHINESE[i : i + 2] for i in range(0, len(CHINESE) - 1, 2)]
    )
    return [chance.choice(vocabulary) + (str(chance.randrange(30)) if i % 3 == 0 else "") for i in range(n_words)]


def edited(words: Sequence[str], chance: random.Random, n_changes: int) -> list[str]:
    """A copy with some words replaced by new ones."""
    changed = list(words)
    for _ in range(n_changes):
        changed[chance.randrange(len(changed))] = f"new{chance.randrange(10_000)}"
    return changed


def planted_texts(n_groups: int, seed: int) -> list[str]:
    """Texts in random order: of each base the base, two near copies, an exact one in another dress, one unrelated."""
    chance = random.Random(seed)
    texts: list[str] = []
    for _ in range(n_groups):
        words = article(chance)
        texts.append(" ".join(words))
        texts += [" ".join(edited(words, chance, 2)) for _ in range(2)]
        texts.append("  " + ", ".join(words).upper() + " !")
        texts.append(" ".join(article(chance)))
    chance.shuffle(texts)
    return texts
