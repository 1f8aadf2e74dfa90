"""Columns of many rows in blocks of ``BLOCK_ROWS``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from simhash_es.backends.sqlite_store.database import Database, damaged
from simhash_es.backends.sqlite_store.rows import StoredRows
from simhash_es.backends.sqlite_store.schema import BLOCK_ROWS
from simhash_es.core.bits import UInt64Array
from simhash_es.core.layout import Layout

SCAN_BLOCKS = 2000  # read at once: a million rows, 8 MB of a 64-bit half
MAX_FEATURES = (1 << 32) - 1

IntArray = npt.NDArray[np.int64]


def append_rows(database: Database, layout: Layout, n_before: int, rows: StoredRows) -> None:
    """Add rows after the first ``n_before``; a last block that is not full is filled first.

    Args:
        database: Within a transaction.
        layout: Widths of the halves.
        n_before: Rows in the blocks so far.
        rows: What to add.
    """
    tail = n_before % BLOCK_ROWS
    first = n_before // BLOCK_ROWS
    if tail:
        last = load_rows(database, layout, tail, first_block=first)
        rows = StoredRows(
            np.concatenate([last.lanes, rows.lanes]),
            np.concatenate([last.digests, rows.digests]),
            np.concatenate([last.n_features, rows.n_features]),
        )
    cuts = range(0, len(rows), BLOCK_ROWS)
    for half in range(layout.n_halves):
        lanes = np.ascontiguousarray(rows.lanes[:, layout.lanes(half)], "<u8")
        database.run_many(
            f"INSERT OR REPLACE INTO half_{half} VALUES (?, ?)",
            ((first + cut // BLOCK_ROWS, lanes[cut : cut + BLOCK_ROWS].tobytes()) for cut in cuts),
        )
    digests = np.ascontiguousarray(rows.digests, "<u8")
    n_features = np.minimum(rows.n_features, MAX_FEATURES).astype("<u4")
    database.run_many(
        "INSERT OR REPLACE INTO contents VALUES (?, ?, ?)",
        (
            (
                first + cut // BLOCK_ROWS,
                digests[cut : cut + BLOCK_ROWS].tobytes(),
                n_features[cut : cut + BLOCK_ROWS].tobytes(),
            )
            for cut in cuts
        ),
    )


def load_rows(database: Database, layout: Layout, n_rows: int, *, first_block: int = 0) -> StoredRows:
    """All rows from a block on.

    Args:
        database: A store.
        layout: Widths of the halves.
        n_rows: How many rows must be there.
        first_block: Where to begin.

    Raises:
        StoreError: Another number of rows is there.
    """
    lanes = np.empty((n_rows, layout.n_lanes), np.uint64)
    for half in range(layout.n_halves):
        columns = layout.lanes(half)
        blobs = database.run(f"SELECT lanes FROM half_{half} WHERE number >= ? ORDER BY number", (first_block,))
        lanes[:, columns.start : columns.stop] = joined(database, f"half_{half}", blobs, "<u8", n_rows, len(columns))
    parts = database.run("SELECT digests, n_features FROM contents WHERE number >= ? ORDER BY number", (first_block,))
    digests = joined(database, "contents", ((part[0],) for part in parts), "<u8", n_rows, 2)
    n_features = joined(database, "contents", ((part[1],) for part in parts), "<u4", n_rows, 1)
    return StoredRows(lanes, digests.astype(np.uint64), n_features[:, 0].astype(np.int64))


def joined(
    database: Database, table: str, blobs: Iterable[tuple[bytes]], kind: str, n_rows: int, n_columns: int
) -> npt.NDArray[np.unsignedinteger]:
    """The records of a column as one array ``(n_rows, n_columns)``.

    Raises:
        StoreError: Their bytes are not as many as so many rows take.
    """
    data = b"".join(blob for (blob,) in blobs)
    expected = n_rows * n_columns * np.dtype(kind).itemsize
    if len(data) != expected:
        raise damaged(database.path, f"{table} holds {len(data):,} bytes where {n_rows:,} rows take {expected:,}")
    return np.frombuffer(data, np.dtype(kind)).reshape(n_rows, n_columns)


def scan_half(database: Database, layout: Layout, half: int, n_rows: int) -> Iterator[tuple[int, UInt64Array]]:
    """One half of all rows in pieces: position of the first row, lanes ``(m, lanes of the half)``."""
    n_lanes = len(layout.lanes(half))
    n_blocks = -(-n_rows // BLOCK_ROWS)
    for first in range(0, n_blocks, SCAN_BLOCKS):
        last = min(first + SCAN_BLOCKS, n_blocks)
        blobs = database.run(
            f"SELECT lanes FROM half_{half} WHERE number >= ? AND number < ? ORDER BY number", (first, last)
        )
        rows = min(last * BLOCK_ROWS, n_rows) - first * BLOCK_ROWS
        lanes = joined(database, f"half_{half}", blobs, "<u8", rows, n_lanes)
        yield first * BLOCK_ROWS, np.asarray(lanes, np.uint64)


def gather_half(database: Database, layout: Layout, half: int, positions: IntArray, n_rows: int) -> UInt64Array:
    """One half of some rows, ``(m, lanes of the half)``.

    Args:
        database: A store.
        layout: Widths of the halves.
        half: Which half.
        positions: ``(m,)`` ascending.
        n_rows: Rows of the store.
    """
    n_lanes = len(layout.lanes(half))
    if not len(positions):
        return np.zeros((0, n_lanes), np.uint64)
    numbers, of_block = np.unique(positions // BLOCK_ROWS, return_inverse=True)
    blobs = fetch_blocks(database, half, numbers.tolist())
    # All blocks are full except for the last of the store, which also comes last here.
    rows = len(numbers) * BLOCK_ROWS - max(0, (int(numbers[-1]) + 1) * BLOCK_ROWS - n_rows)
    lanes = joined(database, f"half_{half}", blobs, "<u8", rows, n_lanes)
    return np.asarray(lanes[of_block * BLOCK_ROWS + positions % BLOCK_ROWS], np.uint64)


def fetch_blocks(database: Database, half: int, numbers: Sequence[int]) -> list[tuple[bytes]]:
    """Records of some blocks, in ascending order as SQLite visits an ``IN`` list on the key."""
    found: dict[int, bytes] = dict(database.run_in(f"SELECT number, lanes FROM half_{half} WHERE number IN", numbers))
    if len(found) != len(numbers):
        raise damaged(database.path, f"half_{half} lacks {len(numbers) - len(found)} blocks")
    return [(found[number],) for number in numbers]
