"""Exact copies of fingerprints: folded before pairs are searched, expanded afterwards in blocks of bounded size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simhash_es.core.bits import UInt64Array
from simhash_es.core.layout import UInt8Array

RowArray = npt.NDArray[np.int32]
IndexArray = npt.NDArray[np.int64]

SMALL_ROWS = 2048  # up to here NumPy is done before compiled kernels could be loaded


@dataclass(frozen=True, slots=True)
class PairBlock:
    """Some of the pairs of a join.

    Attributes:
        i: (m,) int32 row numbers; of the first set in a cross-join, the smaller of the two in a self-join.
        j: (m,) int32 row numbers of the partners.
        distances: (m, H) uint8 distance in bits of every half.
    """

    i: RowArray
    j: RowArray
    distances: UInt8Array

    def __len__(self) -> int:
        return len(self.i)


@dataclass(frozen=True, slots=True)
class Copies:
    """Rows grouped by value; groups are numbered in order of first appearance.

    Attributes:
        first: (g,) first row of each group.
        group_of: (n,) group of each row.
        members: (n,) rows, group after group, ascending within each.
        start: (g + 1,) where each group begins in ``members``.
    """

    first: RowArray
    group_of: RowArray
    members: RowArray
    start: IndexArray

    @property
    def sizes(self) -> IndexArray:
        """(g,) rows of each group, at least 1."""
        return np.diff(self.start)

    @property
    def has_copies(self) -> bool:
        """True if some value occurs twice."""
        return len(self.first) < len(self.group_of)


def fold_copies(rows: UInt64Array) -> Copies:
    """Group equal rows in one pass; (n, L) contiguous uint64, n below 2**31."""
    first, group_of = _fold_small(rows) if len(rows) <= SMALL_ROWS else _fold_large(rows)
    start = np.zeros(len(first) + 1, np.int64)
    np.cumsum(np.bincount(group_of, minlength=len(first)), out=start[1:])
    unique = len(first) == len(rows)
    members = np.arange(len(rows)) if unique else np.argsort(group_of, kind="stable")
    return Copies(first, group_of, members.astype(np.int32), start)


def _fold_small(rows: UInt64Array) -> tuple[RowArray, RowArray]:
    numbers: dict[bytes, int] = {}
    group_of = np.array([numbers.setdefault(row.tobytes(), len(numbers)) for row in rows], np.int32)
    first = np.zeros(len(numbers), np.int32)
    first[group_of[::-1]] = np.arange(len(rows), dtype=np.int32)[::-1]  # the last write, of the first row, stays
    return first, group_of


def _fold_large(rows: UInt64Array) -> tuple[RowArray, RowArray]:
    from simhash_es.core.kernels.join import fold_rows

    table = np.full(1 << (2 * len(rows)).bit_length(), -1, np.int32)
    group_of, first = np.empty(len(rows), np.int32), np.empty(len(rows), np.int32)
    found = fold_rows(rows, table, group_of, first)
    return first[:found].copy(), group_of


def pairs_of_copies(copies: Copies, n_halves: int, block_pairs: int) -> Iterator[PairBlock]:
    """All pairs i < j of equal rows, in order of group, i, j; at most ``block_pairs`` at a time."""
    partners = np.repeat(copies.start[1:], copies.sizes) - np.arange(len(copies.members)) - 1
    for place, step in _spread(partners, block_pairs):
        i, j = copies.members[place], copies.members[place + 1 + step]
        yield PairBlock(i, j, np.zeros((len(i), n_halves), np.uint8))


def expand(pairs: PairBlock, left: Copies, right: Copies, block_pairs: int, *, is_self: bool) -> Iterator[PairBlock]:
    """Pairs of groups into pairs of rows, at most ``block_pairs`` at a time.

    Args:
        pairs: ``i`` and ``j`` are group numbers.
        left: Groups of the first set.
        right: Groups of the second set; the same as ``left`` in a self-join.
        block_pairs: Largest number of pairs at once.
        is_self: Put the smaller row first.
    """
    widths = right.sizes[pairs.j]
    for pair, step in _spread(left.sizes[pairs.i] * widths, block_pairs):
        i = left.members[left.start[pairs.i[pair]] + step // widths[pair]]
        j = right.members[right.start[pairs.j[pair]] + step % widths[pair]]
        if is_self:
            i, j = np.minimum(i, j), np.maximum(i, j)
        yield PairBlock(i, j, pairs.distances[pair])


def _spread(sizes: IndexArray, block: int) -> Iterator[tuple[IndexArray, IndexArray]]:
    """Count through ``sizes[p]`` steps of each place p, ``block`` at a time: (place, step) arrays."""
    ends = np.cumsum(sizes)
    total = int(ends[-1]) if len(ends) else 0
    for low in range(0, total, block):
        flat = np.arange(low, min(low + block, total))
        place = np.searchsorted(ends, flat, side="right")
        yield place, flat - (ends[place] - sizes[place])
