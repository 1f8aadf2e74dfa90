"""The 16-bit words of the first half as an index, and how many rows have each of their values."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from simhash_es.backends.sqlite_store.blocks import IntArray, gather_half
from simhash_es.backends.sqlite_store.database import Database, damaged
from simhash_es.core.bucket_search import word_values
from simhash_es.core.layout import Layout
from simhash_es.core.radii import N_VALUES, Counts

INSERT_ROWS = 1 << 16
COUNTS_KEY = "word_counts"


def index_words(database: Database, layout: Layout, n_before: int, n_rows: int) -> None:
    """Enter the rows after the first ``n_before`` into the word tables and the counts.

    Sorted entries fill pages one after another. Where at least as many rows come as are there, the tables are made
    anew, which leaves no half-empty pages.
    """
    is_anew = n_rows - n_before >= n_before
    first = 0 if is_anew else n_before
    lanes = gather_half(database, layout, 0, np.arange(first, n_rows), n_rows)
    counts = np.zeros((len(layout.words(0)), N_VALUES), np.int64) if is_anew else read_counts(database, layout)
    for place, word in enumerate(layout.words(0)):
        if is_anew:
            database.run(f"DELETE FROM word_{place}")
        values = word_values(lanes, word).astype(np.int64)
        counts[place] += np.bincount(values, minlength=N_VALUES)
        database.run_many(f"INSERT INTO word_{place} VALUES (?, ?)", sorted_entries(values, first))
    packed = zlib.compress(counts.astype("<u4").tobytes(), 1)
    database.run("INSERT OR REPLACE INTO meta VALUES (?, ?)", (COUNTS_KEY, packed))


def sorted_entries(values: IntArray, first: int) -> Iterator[tuple[int, int]]:
    """Pairs (word, position) in ascending order."""
    order = np.argsort(values, kind="stable")
    for start in range(0, len(order), INSERT_ROWS):
        rows = order[start : start + INSERT_ROWS]
        yield from zip(values[rows].tolist(), (rows + first).tolist(), strict=True)


def read_counts(database: Database, layout: Layout) -> Counts:
    """``(words, 65536)`` rows of each word value of the first half.

    Raises:
        StoreError: The entry is damaged.
    """
    n_words = len(layout.words(0))
    packed = database.value("SELECT value FROM meta WHERE key = ?", (COUNTS_KEY,))
    if packed is None:
        return np.zeros((n_words, N_VALUES), np.int64)
    try:
        counts = np.frombuffer(zlib.decompress(packed), "<u4").reshape(n_words, N_VALUES)
    except (zlib.error, ValueError, TypeError) as error:
        raise damaged(database.path, f"the counts of words: {error}") from error
    return counts.astype(np.int64)


def find_positions(database: Database, place: int, words: npt.NDArray[np.uint16]) -> IntArray:
    """Positions of all rows that have one of these words at a place, in no stated order."""
    rows = database.run_in(f"SELECT position FROM word_{place} WHERE word IN", words.tolist())
    return np.fromiter((position for (position,) in rows), np.int64)
