"""How much time and memory a run may take, as the user writes it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from simhash_es.errors import InvalidOption

SECONDS = {"s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
BYTES = {
    **{f"{letter}b": 1000**power for power, letter in enumerate("kmgt", 1)},
    **{f"{letter}ib": 1024**power for power, letter in enumerate("kmgt", 1)},
}
PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]+)\s*")
HINT = "write a time (90s, 10m, 1h30m), an amount of memory (800MB, 4GB, 4GiB), or both: 10m,4GB"


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of a run; ``None`` is no limit.

    Attributes:
        seconds: Wall time, above 0.
        memory_bytes: Memory, above 0.
    """

    seconds: float | None = None
    memory_bytes: int | None = None


def parse_budget(text: str) -> Budget:
    """Read a time, an amount of memory, or both with a comma between them; the case of the units does not matter.

    Raises:
        InvalidOption: Not of this form, a thing named twice, or nothing at all.
    """
    seconds: float | None = None
    memory: int | None = None
    for part in text.split(","):
        kind, amount = parse_part(part, text)
        if (seconds if kind == "time" else memory) is not None:
            raise InvalidOption(f"--budget {text!r} names its {kind} twice", HINT)
        if kind == "time":
            seconds = amount
        else:
            memory = int(amount)
    return Budget(seconds, memory)


def parse_part(part: str, whole: str) -> tuple[str, float]:
    """``("time", seconds)`` or ``("memory", bytes)``."""
    pieces = PART.findall(part.strip())
    if not pieces or PART.sub("", part.strip()):
        raise InvalidOption(f"--budget {whole!r} is not understood", HINT)
    units = {unit.lower() for _, unit in pieces}
    table, kind = (SECONDS, "time") if units <= SECONDS.keys() else (BYTES, "memory")
    if not units <= table.keys() or (kind == "memory" and len(pieces) > 1) or len(units) < len(pieces):
        raise InvalidOption(f"--budget {whole!r} is not understood", HINT)
    amount = sum(float(number) * table[unit.lower()] for number, unit in pieces)
    if amount <= 0:
        raise InvalidOption(f"--budget {whole!r} allows nothing", HINT)
    return kind, amount
