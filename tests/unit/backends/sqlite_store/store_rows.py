"""Rows for stores under test."""

from __future__ import annotations

import numpy as np

from simhash_es.backends.sqlite_store import NewRows
from simhash_es.core.bits import UInt64Array


def rows_of(lanes: UInt64Array, *, first: int = 0, texts: bool = True, source: str = "a.jsonl") -> NewRows:
    """Rows with these fingerprints; everything else follows from the number of the row, counted from ``first``."""
    n = len(lanes)
    numbers = np.arange(first, first + n, dtype=np.uint64)
    return NewRows(
        lanes=lanes,
        digests=np.stack([numbers * np.uint64(7), ~numbers], axis=1),
        n_features=np.arange(first, first + n) + 10,
        n_chars=np.arange(first, first + n) + 20,
        ids=[b'"%d"' % number if number % 2 else b"%d" % number for number in range(first, first + n)],
        sources=[source] * n,
        lines=list(range(first + 1, first + n + 1)),
        texts=[f"text {number} ".encode() * (number % 40 + 1) for number in range(first, first + n)] if texts else None,
    )
