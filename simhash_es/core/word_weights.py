"""Manual weights: a list of features with the weight of each."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cached_property
from pathlib import Path

from simhash_es.core.idf import UNIT
from simhash_es.errors import InvalidOption

MAX_WEIGHT = 1_000_000  # with texts of 2^31 features the sum stays far below 2^63 units


@dataclass(frozen=True)
class WordWeights:
    """Weights by feature, in units of 1/1024 so that sums are exact.

    Attributes:
        entries: Pairs (feature, weight in units), sorted, each feature once.
        default: Units of a feature that is not listed.
    """

    entries: tuple[tuple[str, int], ...]
    default: int = UNIT

    def __post_init__(self) -> None:
        object.__setattr__(self, "entries", tuple(sorted((word, int(units)) for word, units in self.entries)))
        words = [word for word, _ in self.entries]
        if len(set(words)) != len(words):
            twice = next(word for i, word in enumerate(words) if i and words[i - 1] == word)
            raise InvalidOption(f"the word {twice!r} has two weights", "list each word once")
        for word, units in (*self.entries, ("(default)", self.default)):
            if not 0 <= units <= MAX_WEIGHT * UNIT:
                raise InvalidOption(f"the weight of {word!r} is {units / UNIT}", f"expected 0 to {MAX_WEIGHT}")

    @cached_property
    def table(self) -> dict[str, int]:
        """Units by feature."""
        return dict(self.entries)

    @cached_property
    def digest(self) -> str:
        """32 hexadecimal digits for list and default."""
        text = json.dumps([self.default, self.entries], ensure_ascii=True, separators=(",", ":"))
        return hashlib.blake2b(text.encode("ascii"), digest_size=16).hexdigest()

    @classmethod
    def read(cls, path: str | Path, *, default: float = 1.0) -> WordWeights:
        """Read lines ``word<TAB>weight`` (UTF-8); blank lines and lines that start with ``#`` are passed over.

        Args:
            path: The file.
            default: Weight of words that are not listed.

        Raises:
            InvalidOption: Not readable, a line without tab, or a weight that is no number from 0 to 1,000,000.
        """
        try:
            text = Path(path).read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidOption(f"cannot read the word list {path}: {error}", "give a UTF-8 file") from error
        entries = [
            parse_line(line, f"{path}:{number}")
            for number, line in enumerate(text.splitlines(), 1)
            if line.strip() and not line.startswith("#")
        ]
        return cls(tuple(entries), to_units(str(default), "default weight"))


def parse_line(line: str, where: str) -> tuple[str, int]:
    """One line ``word<TAB>weight``."""
    word, tab, weight = line.partition("\t")
    if not tab or not word:
        raise InvalidOption(f"{where}: no tab between word and weight in {line!r}", "write word<TAB>weight")
    return word, to_units(weight.strip(), where)


def to_units(weight: str, where: str) -> int:
    """A decimal number in units of 1/1024, rounded to the nearest, halves to even."""
    try:
        value = Decimal(weight)
    except InvalidOperation:
        raise InvalidOption(f"{where}: the weight {weight!r} is no number", "write a decimal such as 2.5") from None
    if not value.is_finite() or not 0 <= value <= MAX_WEIGHT:
        raise InvalidOption(f"{where}: the weight is {weight}", f"expected 0 to {MAX_WEIGHT}")
    return int((value * UNIT).to_integral_value())
