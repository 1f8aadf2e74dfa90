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

COUNTS_KEY = "word_counts"
MERGED_KEY = "merged_rows"


def index_words(database: Database, layout: Layout, n_before: int, n_rows: int) -> None:
    """Enter the rows after the first ``n_before`` into the word tables and the counts.

    Each run gets entries of its own. When the rows outside the first, merged entries have become as many as those
    inside, all are merged anew: entries stay few, and a store of n rows has been written about twice at most.
    """
    merged = int(database.value("SELECT value FROM meta WHERE key = ?", (MERGED_KEY,)) or 0)
    is_anew = n_rows >= 2 * merged
    first = 0 if is_anew else n_before
    lanes = gather_half(database, layout, 0, np.arange(first, n_rows), n_rows)
    counts = np.zeros((len(layout.words(0)), N_VALUES), np.int64) if is_anew else read_counts(database, layout)
    for place, word in enumerate(layout.words(0)):
        if is_anew:
            database.run(f"DELETE FROM word_{place}")
        values = word_values(lanes, word)
        counts[place] += np.bincount(values, minlength=N_VALUES)
        database.run_many(f"INSERT INTO word_{place} VALUES (?, ?, ?)", entries(values, first))
    packed = zlib.compress(counts.astype("<u4").tobytes(), 1)
    changed = [(COUNTS_KEY, packed), *([(MERGED_KEY, n_rows)] if is_anew else [])]
    database.run_many("INSERT OR REPLACE INTO meta VALUES (?, ?)", changed)


def entries(values: npt.NDArray[np.uint16], first: int) -> Iterator[tuple[int, int, bytes]]:
    """For each word its positions, in ascending order of words: pages are filled one after another.

    Args:
        values: ``(n,)`` word of each row.
        first: Position of the first of these rows.
    """
    order = np.argsort(values, kind="stable")
    in_order = values[order]
    starts = np.flatnonzero(np.concatenate(([True], in_order[1:] != in_order[:-1])))
    ends = np.append(starts[1:], len(order))
    positions = (order + first).astype("<u4").tobytes()
    for word, start, end in zip(in_order[starts].tolist(), starts.tolist(), ends.tolist(), strict=True):
        yield word, first, positions[4 * start : 4 * end]


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
    """Positions of all rows that have one of these words at a place, in no stated order.

    Raises:
        StoreError: An entry is damaged.
    """
    found = b"".join(
        entry for (entry,) in database.run_in(f"SELECT positions FROM word_{place} WHERE word IN", words.tolist())
    )
    if len(found) % 4:
        raise damaged(database.path, f"word_{place} holds positions of a broken length")
    return np.frombuffer(found, "<u4").astype(np.int64)
