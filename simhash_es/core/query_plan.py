"""How one fingerprint is searched among many: the planner of the joins, for a single query and stated costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simhash_es.core.bits import UInt64Array
from simhash_es.core.layout import Layout, UInt8Array, popcount
from simhash_es.core.radii import LEFT_OUT, N_MASKS, Counts, HalfPlan, cheapest_radii, neighbour_masks

CACHED_ROWS = 1 << 16  # half a megabyte: half the time of an array of millions at once


@dataclass(frozen=True, slots=True)
class Costs:
    """What steps of a search cost on one store, in nanoseconds.

    Attributes:
        word: Looking up one word value.
        candidate: Fetching one row that has a word and counting its bits, beside ``block``.
        block: Reading the block that a candidate stands in; 0 where there are none.
        block_rows: Rows of a block.
        scanned: Reading and counting one row of a scan.
        start: What a scan costs however small the store is.
    """

    word: float
    candidate: float
    block: float
    block_rows: int
    scanned: float
    start: float = 0.0

    def scan(self, n_rows: int) -> float:
        """A scan of everything."""
        return self.start + n_rows * self.scanned

    def lookups(self, n_words: int, candidates: float, n_rows: int) -> float:
        """A search by neighbour words; candidates of one block share the reading of it."""
        n_blocks = max(1.0, n_rows / self.block_rows)
        touched: float = n_blocks * (1.0 - (1.0 - min(1.0, 1.0 / n_blocks)) ** candidates)
        return n_words * self.word + candidates * self.candidate + touched * self.block


@dataclass(frozen=True, slots=True)
class Found:
    """Rows within the limits of a query.

    Attributes:
        positions: ``(m,)`` ascending.
        distances: ``(m, H)`` bits of every half.
        plan: How they were searched.
    """

    positions: npt.NDArray[np.int64]
    distances: UInt8Array
    plan: HalfPlan


def joined(pieces: Sequence[Found], n_halves: int, plan: HalfPlan) -> Found:
    """The answers for consecutive ranges of rows as one."""
    positions = [np.zeros(0, np.int64), *(piece.positions for piece in pieces)]
    bits = [np.zeros((0, n_halves), np.uint8), *(piece.distances for piece in pieces)]
    return Found(np.concatenate(positions), np.concatenate(bits), plan)


def words_of(query: Sequence[int], layout: Layout) -> list[int]:
    """The words of the first half of a fingerprint given by its lanes, most significant first."""
    return [int(query[place.lane]) >> place.shift & place.mask for place in layout.words(0)]


def plan_query(words: Sequence[int], counts: Counts, limit: int, n_rows: int, costs: Costs) -> HalfPlan:
    """Choose between neighbour words and a scan, by how many rows really have these words.

    Args:
        words: Of the query, one a place.
        counts: ``(words, 65536)`` rows of each word value.
        limit: Largest accepted distance in bits of the first half.
        n_rows: Rows in all.
        costs: What the steps cost.

    Returns:
        A complete plan: no row within the limit can be missed.
    """
    scan = HalfPlan(0, limit, None, float(n_rows), costs.scan(n_rows))
    expected = [[float(total) for total in rows_near(word, count)] for word, count in zip(words, counts, strict=True)]
    # One by one, since a sum is what the planner can minimise; blocks that words share are counted below.
    single = [[costs.lookups(n, rows, n_rows) for n, rows in zip(N_MASKS, word, strict=True)] for word in expected]
    radii = cheapest_radii(single, limit)
    if radii is None:
        return scan
    used = [(place, radius) for place, radius in enumerate(radii) if radius > LEFT_OUT]
    candidates = sum(expected[place][radius] for place, radius in used)
    cost = costs.lookups(sum(N_MASKS[radius] for _, radius in used), candidates, n_rows)
    return HalfPlan(0, limit, radii, candidates, cost) if cost < scan.nanoseconds else scan


def rows_near(word: int, counts: Counts) -> Counts:
    """How many rows have a word within radius 0, 1, 2, 3 of ``word``, ``(4,)``."""
    by_mask = np.cumsum(counts[neighbours(word, len(N_MASKS) - 1)])
    near: Counts = by_mask[np.array(N_MASKS) - 1]
    return near


def neighbours(word: int, radius: int) -> npt.NDArray[np.uint16]:
    """All 16-bit values within ``radius`` bits of ``word``, nearest first."""
    return neighbour_masks(radius) ^ np.uint16(word)


def rows_within(lanes: UInt64Array, query: UInt64Array, limit: int) -> npt.NDArray[np.int64]:
    """Numbers of the rows of one half within a limit, counted in pieces that stay in the processor's cache."""
    found = [
        start + np.flatnonzero(within(lanes[start : start + CACHED_ROWS], query, limit))
        for start in range(0, len(lanes), CACHED_ROWS)
    ]
    return np.concatenate([np.zeros(0, np.int64), *found])


def within(lanes: UInt64Array, query: UInt64Array, limit: int) -> npt.NDArray[np.bool_]:
    """Which rows of one half are within a limit; ``(m, lanes of the half)`` against ``(lanes of the half,)``."""
    counts = popcount(lanes ^ query)
    total = counts[:, 0] if counts.shape[1] == 1 else counts.sum(axis=1, dtype=np.uint8)
    return np.asarray(total <= limit)
