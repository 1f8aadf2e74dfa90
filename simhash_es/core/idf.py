"""Inverse document frequencies: how much a rare feature counts, from a corpus of the user's own.

The weight is ``ln((N + 1) / (df + 1)) + 1`` with N documents, df of which hold the feature; it lies above 1 for all but
the features of every document. It is kept as a whole number of units of 1/1024, so that sums are exact in any order
and the same on every machine. The logarithm is rounded once, here; the table is what is shared.

Source: Salton and Buckley 1988 (tf-idf); smoothing as in scikit-learn, ``TfidfTransformer(smooth_idf=True)``.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import ROUND_HALF_EVEN, Context, Decimal
from functools import cached_property
from pathlib import Path
from typing import Any

from simhash_es.errors import InvalidOption

UNIT = 1024  # units of a weight of 1
TABLE_VERSION = 1
KIND = "simhash-es idf table"


@dataclass(frozen=True, eq=False)
class IdfTable:
    """Weights of features by their document frequency; equal when the digests are equal.

    Attributes:
        n_documents: Size of the corpus, at least 1.
        frequencies: Number of documents by feature, each 1 to ``n_documents``. Features left out count as unseen.
        path: File the table was read from or written to; empty when it lives in memory only.
    """

    n_documents: int
    frequencies: Mapping[str, int]
    path: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        if self.n_documents < 1:
            raise InvalidOption("a tf-idf table of no documents", "give at least one document")
        for feature, count in self.frequencies.items():
            if not 1 <= count <= self.n_documents:
                raise InvalidOption(
                    f"tf-idf table: {feature!r} is in {count} documents of {self.n_documents}", "build the table anew"
                )

    def __repr__(self) -> str:
        return f"IdfTable(n_documents={self.n_documents}, features={len(self.frequencies)}, digest={self.digest!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, IdfTable) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    @property
    def default(self) -> int:
        """Units of a feature no document of the corpus held: the largest weight there is."""
        return self.units_by_frequency(0)

    def units(self, feature: str) -> int:
        """Weight of a feature in units of 1/1024."""
        return self.units_by_frequency(self.frequencies.get(feature, 0))

    def units_by_frequency(self, frequency: int) -> int:
        """Weight in units of a feature that ``frequency`` documents hold."""
        known = self._units.get(frequency)
        if known is None:
            known = self._units[frequency] = idf_units(self.n_documents, frequency)
        return known

    @cached_property
    def _units(self) -> dict[int, int]:
        return {}

    @cached_property
    def digest(self) -> str:
        """32 hexadecimal digits for the content; the order of features and the path are no part of it."""
        state = hashlib.blake2b(f"{KIND} {TABLE_VERSION} {self.n_documents}\n".encode(), digest_size=16)
        for feature in sorted(self.frequencies):
            state.update(json.dumps([feature, self.frequencies[feature]]).encode("ascii"))
        return state.hexdigest()

    def to_dict(self) -> dict[str, Any]:
        """JSON form with all features, sorted."""
        return {
            "kind": KIND,
            "version": TABLE_VERSION,
            "documents": self.n_documents,
            "frequencies": {feature: self.frequencies[feature] for feature in sorted(self.frequencies)},
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, path: str = "") -> IdfTable:
        """Inverse of :meth:`to_dict`.

        Raises:
            InvalidOption: Not such a table, or of another version.
        """
        if not isinstance(data, Mapping) or data.get("kind") != KIND or data.get("version") != TABLE_VERSION:
            raise InvalidOption(
                f"{path or 'the data'} is not a tf-idf table of version {TABLE_VERSION}",
                "build one with 'simhash-es profile build-idf'",
            )
        return cls(int(data["documents"]), {str(f): int(n) for f, n in data["frequencies"].items()}, path)

    def save(self, path: str | Path) -> IdfTable:
        """Write the table (JSON) under a temporary name, then rename; returns the table with its path."""
        target = Path(path).absolute()
        temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
        try:
            temporary.write_text(json.dumps(self.to_dict(), ensure_ascii=False, separators=(",", ":")), "utf-8")
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)
        return IdfTable(self.n_documents, self.frequencies, str(target))

    @classmethod
    def load(cls, path: str | Path) -> IdfTable:
        """Read what :meth:`save` wrote.

        Raises:
            InvalidOption: Not readable, or no such table.
        """
        try:
            data = json.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise InvalidOption(
                f"cannot read the tf-idf table {path}: {error}", "build one with 'simhash-es profile build-idf'"
            ) from error
        return cls.from_dict(data, path=str(Path(path).absolute()))


def idf_units(n_documents: int, frequency: int) -> int:
    """``round(1024 * (ln((N + 1) / (df + 1)) + 1))``, by decimal arithmetic, so equal on every machine."""
    context = Context(prec=40, rounding=ROUND_HALF_EVEN)
    ratio = context.divide(Decimal(n_documents + 1), Decimal(frequency + 1))
    value = context.multiply(context.add(context.ln(ratio), Decimal(1)), Decimal(UNIT))
    return int(value.to_integral_value(rounding=ROUND_HALF_EVEN))


def build_idf(documents: Iterable[Iterable[str]], *, min_documents: int = 1) -> IdfTable:
    """Count in how many documents each feature occurs.

    Args:
        documents: For each document its features, repeated ones counted once. They must be made with the profile
            that will use the table: :func:`simhash_es.core.reference.features_of` for each half.
        min_documents: Leave out features of fewer documents. They then weigh as unseen ones do.

    Raises:
        InvalidOption: No document at all.
    """
    counts: Counter[str] = Counter()
    n_documents = 0
    for features in documents:
        n_documents += 1
        counts.update(set(features))
    kept = {feature: count for feature, count in counts.items() if count >= min_documents}
    return IdfTable(n_documents, kept)
