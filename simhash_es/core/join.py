"""Exact joins: all pairs of fingerprints that match given limits, for any limit from 0 to the width.

Neighbour words where they pay, a blocked scan where they do not; the planner decides by the real counts of the word
values (:mod:`simhash_es.core.radii`). Pairs come in blocks and are never held all at once: memory is linear in the rows
plus one block for each worker. Exact copies are folded before any pair work.

Source: multi-index hashing, M. Norouzi et al., "Fast Search in Hamming Space with Multi-Index Hashing", CVPR 2012.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from simhash_es.core.bits import UInt64Array
from simhash_es.core.bucket_search import MAX_ROWS, search_buckets, word_counts
from simhash_es.core.copies import SMALL_ROWS, Copies, PairBlock, expand, fold_copies, pairs_of_copies
from simhash_es.core.layout import Layout, Limits, distances, matches
from simhash_es.core.radii import JoinPlan, plan_join
from simhash_es.errors import InvalidOption

SMALL_STEP = 128  # asking rows compared at once by NumPy


@dataclass(frozen=True, slots=True)
class HotWord:
    """A word value that many rows share.

    Attributes:
        half: Index of the half.
        word: Index of the word, most significant first.
        value: The word, 0 to 65535.
        count: Rows that have it.
    """

    half: int
    word: int
    value: int
    count: int


def self_join(
    lanes: UInt64Array,
    *,
    layout: Layout,
    limits: Limits,
    workers: int = 1,
    block_pairs: int = 1 << 20,
    with_copies: bool = True,
) -> Iterator[PairBlock]:
    """All matching pairs of one set, each unordered pair once, with i < j.

    Order: pairs of equal rows first, by value in order of first appearance; then by rule of the plan, word value and
    neighbour mask. It depends on the rows, the limits and ``block_pairs``, not on ``workers``.

    Args:
        lanes: (n, ``layout.n_lanes``) uint64, n below 2**31.
        layout: Widths of the halves.
        limits: Which pairs match.
        workers: Threads, at least 1.
        block_pairs: Largest number of pairs in a block, at least 8192 while searching.
        with_copies: False folds equal rows for good: each value is represented by its first row, and pairs of equal
            rows are left to :func:`simhash_es.core.copies.fold_copies`.

    Raises:
        InvalidOption: Limits or shapes do not fit ``layout``.
    """
    rows = _checked(lanes, layout, limits, workers)
    copies = fold_copies(rows)
    values = rows[copies.first] if copies.has_copies else rows
    if with_copies and copies.has_copies:
        yield from pairs_of_copies(copies, layout.n_halves, block_pairs)
    for block in _search(values, None, layout, limits, workers, block_pairs):
        yield from _to_rows(block, copies, copies, block_pairs, with_copies, is_self=True)


def cross_join(
    a: UInt64Array,
    b: UInt64Array,
    *,
    layout: Layout,
    limits: Limits,
    workers: int = 1,
    block_pairs: int = 1 << 20,
    with_copies: bool = True,
) -> Iterator[PairBlock]:
    """All matching pairs of a row of ``a`` (as ``i``) and a row of ``b`` (as ``j``), each once.

    Arguments, order and errors as in :func:`self_join`; equal rows of the two sets are ordinary pairs.
    """
    left, right = _checked(a, layout, limits, workers), _checked(b, layout, limits, workers)
    copies_a, copies_b = fold_copies(left), fold_copies(right)
    for block in _search(left[copies_a.first], right[copies_b.first], layout, limits, workers, block_pairs):
        yield from _to_rows(block, copies_a, copies_b, block_pairs, with_copies, is_self=False)


def plan_self_join(lanes: UInt64Array, *, layout: Layout, limits: Limits) -> JoinPlan:
    """How :func:`self_join` would search these rows (equal rows folded)."""
    rows = _checked(lanes, layout, limits, 1)
    return plan_join(layout, limits, word_counts(rows[fold_copies(rows).first], layout), None)


def hottest_words(lanes: UInt64Array, layout: Layout, *, top: int = 10) -> list[HotWord]:
    """The word values that most rows share, most frequent first; for messages about expensive joins."""
    found = []
    for half, counts in enumerate(word_counts(layout.rows(lanes), layout)):
        for word, row in enumerate(counts):
            hot = np.argsort(-row, kind="stable")[:top]
            found += [HotWord(half, word, int(value), int(row[value])) for value in hot if row[value]]
    return sorted(found, key=lambda hot: (-hot.count, hot.half, hot.word, hot.value))[:top]


def _checked(lanes: UInt64Array, layout: Layout, limits: Limits, workers: int) -> UInt64Array:
    limits.check(layout)
    if workers < 1:
        raise InvalidOption(f"{workers} workers", "use at least 1")
    if len(lanes) > MAX_ROWS:
        raise InvalidOption(f"{len(lanes):,} rows in one join", f"split the input: at most {MAX_ROWS:,} rows")
    rows = layout.rows(lanes)
    return rows if rows.flags.writeable else rows.copy()  # kernels are compiled for writeable arrays only


def _to_rows(
    block: PairBlock, left: Copies, right: Copies, block_pairs: int, with_copies: bool, *, is_self: bool
) -> Iterator[PairBlock]:
    """Group numbers into row numbers."""
    if with_copies and (left.has_copies or right.has_copies):
        yield from expand(block, left, right, block_pairs, is_self=is_self)
        return
    i, j = left.first[block.i], right.first[block.j]
    if is_self:
        i, j = np.minimum(i, j), np.maximum(i, j)
    yield PairBlock(i, j, block.distances)


def _search(
    x: UInt64Array, other: UInt64Array | None, layout: Layout, limits: Limits, workers: int, block_pairs: int
) -> Iterator[PairBlock]:
    """Pairs of distinct values; ``other`` is None for a self-join."""
    y = x if other is None else other
    if len(x) * len(y) <= SMALL_ROWS**2:
        yield from _search_small(x, y, other is None, layout, limits)
        return
    counts = word_counts(x, layout)
    plan = plan_join(layout, limits, counts, None if other is None else word_counts(y, layout))
    yield from search_buckets(
        x, y, plan, layout, limits, is_self=other is None, workers=workers, block_pairs=block_pairs
    )


def _search_small(x: UInt64Array, y: UInt64Array, is_self: bool, layout: Layout, limits: Limits) -> Iterator[PairBlock]:
    """Every pair counted by NumPy, without compiled kernels: some asking rows at a time."""
    for low in range(0, len(x), SMALL_STEP):
        found = distances(x[low : low + SMALL_STEP, None, :], y[None, :, :], layout)
        hits = matches(found, limits)
        if is_self:
            hits &= np.arange(len(y)) > np.arange(low, low + len(hits))[:, None]
        i, j = np.nonzero(hits)
        if len(i):
            yield PairBlock((i + low).astype(np.int32), j.astype(np.int32), found[i, j])
