"""What the tests of known faults share: runs of the command, rows written and read back, generated words."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Run:
    """What a command gave back."""

    code: int
    out: bytes
    err: str

    @property
    def records(self) -> list[Any]:
        """Standard output as JSON lines."""
        return [json.loads(line) for line in self.out.decode().splitlines()]

    @property
    def groups(self) -> set[frozenset[Any]]:
        """Standard output of ``--groups -`` as sets of ids."""
        return {frozenset({row["kept"], *(member["id"] for member in row["members"])}) for row in self.records}

    @property
    def summary(self) -> dict[str, Any]:
        """Standard output of ``--json``, which must add up."""
        value: dict[str, Any] = json.loads(self.out)
        assert value["read"] == value["kept"] + value["removed"] + value["skipped"]
        return value


Cli = Callable[..., Run]


def write_rows(path: Path, rows: Iterable[Mapping[str, object]]) -> Path:
    """JSON lines."""
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def write_texts(path: Path, texts: Sequence[object]) -> Path:
    """JSON lines with the position as id."""
    return write_rows(path, [{"id": i, "text": text} for i, text in enumerate(texts)])


def write_values(path: Path, values: Mapping[str, str]) -> Path:
    """JSON lines with ready-made fingerprints in the field ``fp``."""
    return write_rows(path, [{"id": name, "fp": value} for name, value in values.items()])


def vocabulary(chance: random.Random, n_words: int) -> list[str]:
    """Different words of two to four syllables."""
    words: dict[str, None] = {}
    while len(words) < n_words:
        n_syllables = chance.randrange(2, 5)
        words["".join(chance.choice("bcdfghklmnprstvz") + chance.choice("aeiou") for _ in range(n_syllables))] = None
    return list(words)
