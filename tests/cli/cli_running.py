"""What the tests of the command line share: how a run is started, what it gives, and rows to work on."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SENTENCE = (
    "The harbour ferry leaves at half past six in the morning, and the crew ask everyone who travels with a bicycle "
    "to be at the pier ten minutes before, because the ramp is narrow and the tide does not wait for anyone."
)
CHINESE = (
    "港口的渡船早上六点半开出，船员请带自行车的乘客提前十分钟到码头，因为坡道很窄，潮水也不等人。"
    "下雨天甲板湿滑，请扶好栏杆，老人和孩子先上船，行李放在船尾的架子上，不要堵住通道。"
)
OTHER = (
    "A library card costs nothing for children, and whoever loses one pays two coins for the next; books about "
    "mushrooms, glaciers and old machines stand on the upper floor beside the window that looks at the market."
)
ROWS = [
    {"id": "a", "text": SENTENCE, "score": 1},
    {"id": "b", "text": SENTENCE.replace("anyone", "anybody"), "score": 5},
    {"id": "c", "text": OTHER, "score": 2},
    {"id": "d", "text": SENTENCE.upper() + "!!!", "score": 3},
    {"id": "e", "text": CHINESE, "score": 4},
    {"id": "f", "text": "", "score": 6},
]


@dataclass(frozen=True)
class Run:
    """What a command gave back."""

    code: int
    stdout: bytes
    stderr: str

    @property
    def text(self) -> str:
        return self.stdout.decode()

    @property
    def lines(self) -> list[str]:
        return self.text.splitlines()

    @property
    def json(self) -> Any:
        return json.loads(self.stdout)

    @property
    def records(self) -> list[Any]:
        """JSON lines."""
        return [json.loads(line) for line in self.lines]


Cli = Callable[..., Run]


def command(arguments: Sequence[object]) -> list[str]:
    """The command line of the process."""
    return [sys.executable, "-m", "simhash_es.cli.main", *map(str, arguments)]


def write_rows(path: Path, rows: Sequence[Mapping[str, object]]) -> Path:
    """JSON lines."""
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path
