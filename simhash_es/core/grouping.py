"""Groups around keepers: rows are visited in the order of the keep policy, and each joins the first keeper that it is
near enough to and verifies against, or becomes a keeper itself.

There are no chains: a member is compared with the keeper, never with another member. Rows are compared with keepers
only, so that many variants of one text cost no more than as many unrelated texts.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from simhash_es.core.bits import UInt64Array
from simhash_es.core.bucket_search import half_table
from simhash_es.core.copies import RowArray
from simhash_es.core.layout import Layout, Limits, UInt8Array, distances
from simhash_es.core.neighbour_index import Candidates, NeighbourIndex
from simhash_es.core.short_texts import ShortTexts
from simhash_es.core.verify import FloatArray, IntArray, Verifier

BLOCK_ROWS = 4096
CAPACITY = 1 << 20  # candidates held at once


@dataclass(frozen=True, slots=True)
class Assignment:
    """Keeper of every row.

    Attributes:
        keeper: ``(n,)`` number of the row's keeper, its own for a keeper, -1 for a row that was never visited.
        similarity: ``(n,)`` to the keeper by the primary measure; NaN where no text was compared.
    """

    keeper: IntArray
    similarity: FloatArray

    def distances(self, lanes: UInt64Array, layout: Layout) -> UInt8Array:
        """``(n, H)`` distance in bits of each row to its keeper."""
        return distances(lanes, lanes[np.maximum(self.keeper, 0)], layout)


class KeeperGrouping:
    """Groups rows around keepers, block by block.

    Args:
        lanes: ``(n, L)`` fingerprints of all rows.
        layout: Widths of the halves.
        limits: Which pairs are candidates.
        verifier: Decides on candidates; ``None`` accepts all of them.
        workers: Threads.
        before_verifying: Called with the numbers of the rows whose texts are about to be read.
        short: Finds further candidates of short texts; ``None`` goes by fingerprints alone.
    """

    def __init__(
        self,
        lanes: UInt64Array,
        layout: Layout,
        limits: Limits,
        verifier: Verifier | None,
        *,
        workers: int = 1,
        before_verifying: Callable[[IntArray], None] | None = None,
        short: ShortTexts | None = None,
    ) -> None:
        self._lanes = lanes
        self._layout = layout
        self._limits = limits
        self._verifier = verifier
        self._workers = workers
        self._before_verifying = before_verifying
        self._short = short
        self._index = NeighbourIndex(layout, limits)
        self._searched = 0
        self._keepers = np.empty(1024, np.int64)
        self._place = np.full(len(lanes), -1, np.int64)
        self._keeper = np.full(len(lanes), -1, np.int64)
        self._similarity = np.full(len(lanes), np.nan)

    @property
    def assignment(self) -> Assignment:
        """What has been decided so far."""
        return Assignment(self._keeper, self._similarity)

    def add_keepers(self, rows: IntArray) -> None:
        """Make rows keepers without comparing them: an older corpus, or the keepers of a block."""
        n = len(self._index)
        if n + len(rows) > len(self._keepers):
            grown = np.empty(max(n + len(rows), 2 * len(self._keepers)), np.int64)
            grown[:n] = self._keepers[:n]
            self._keepers = grown
        self._keepers[n : n + len(rows)] = rows
        self._place[rows] = np.arange(n, n + len(rows))
        self._keeper[rows] = rows
        self._index.add(self._lanes[rows])
        if self._short is not None:
            self._short.add(rows)

    def visit(self, rows: IntArray, *, progress: Callable[[int], None] | None = None) -> None:
        """Visit rows in the order given.

        While a block is grouped within itself, which one thread does, the candidates of the next one are searched.
        """
        ahead: Candidates | None = None
        with ThreadPoolExecutor(1) as pool:
            for first in range(0, len(rows), BLOCK_ROWS):
                block = rows[first : first + BLOCK_ROWS]
                if len(self._index):
                    self._join_earlier(block, ahead)
                following = rows[first + BLOCK_ROWS : first + 2 * BLOCK_ROWS]
                search = pool.submit(self._search, following) if len(following) and len(self._index) else None
                keepers = self._join_within(block[self._keeper[block] < 0])
                ahead = None if search is None else search.result()
                self._searched = len(self._index)
                self.add_keepers(keepers)
                if progress is not None:
                    progress(len(block))

    def _search(self, block: IntArray, start: int = 0) -> Candidates:
        return self._index.candidates(self._lanes[block], start=start, capacity=CAPACITY, workers=self._workers)

    def _join_earlier(self, block: IntArray, ahead: Candidates | None) -> None:
        """Let rows join keepers of earlier blocks; those come first in the order, so they are tried first.

        Args:
            block: The rows.
            ahead: Their candidates among the first ``_searched`` keepers, if they were searched already.
        """
        if ahead is not None and ahead.stop == len(block):
            since = NeighbourIndex(self._layout, self._limits)
            since.add(self._lanes[self._keepers[self._searched : len(self._index)]])
            newer = since.candidates(self._lanes[block], capacity=CAPACITY, workers=self._workers)
            if newer.stop == len(block):
                self._join_found(block, *side_by_side(ahead, newer, self._searched))
                return
        start = 0
        while start < len(block):
            found = self._search(block, start)
            self._join_found(block[found.start : found.stop], found.indptr, found.positions)
            start = found.stop

    def _join_found(self, rows: IntArray, indptr: IntArray, positions: RowArray) -> None:
        """Try the candidates of some rows, given by their places among the keepers."""
        partners = self._keepers[positions]
        if self._short is not None:
            indptr, partners = self._with_short(rows, indptr, positions)
        self._join(rows, indptr, partners)

    def _with_short(self, rows: IntArray, indptr: IntArray, positions: RowArray) -> tuple[IntArray, IntArray]:
        """The candidates together with those of short texts, each once, in the order of the keepers."""
        assert self._short is not None
        pointer, more = self._short.partners(rows)
        if not len(more):
            return indptr, self._keepers[positions]
        row = np.concatenate([np.repeat(np.arange(len(rows)), np.diff(p)) for p in (indptr, pointer)])
        place = np.concatenate([positions, self._place[more]])
        both = np.unique(row << np.int64(32) | place)
        merged = np.searchsorted(both, np.arange(len(rows) + 1) << np.int64(32))
        return merged, self._keepers[both & np.int64(0xFFFFFFFF)]

    def _join(self, rows: IntArray, indptr: IntArray, partners: IntArray) -> None:
        ends = indptr[1:]
        if self._verifier is None:
            at, similarity = indptr[:-1], np.full(len(rows), np.nan)
        else:
            if self._before_verifying is not None:
                self._before_verifying(partners)
            at, similarity = self._verifier.first_matches(rows, indptr, partners)
        joined = at < ends
        self._keeper[rows[joined]] = partners[at[joined]]
        self._similarity[rows[joined]] = similarity[joined]

    def _join_within(self, pending: IntArray) -> IntArray:
        """Decide on the rows that matched no earlier keeper; returns the new keepers."""
        if not len(pending):
            return pending
        if self._verifier is not None and self._verifier.verification.edit_threshold is not None:
            return self._join_one_by_one(pending)
        lanes = np.ascontiguousarray(self._lanes[pending])
        halves = half_table(self._layout, self._limits)
        if self._verifier is None:
            joined, similarity = group_unverified(lanes, halves, self._limits.vote)
        else:
            extra = None if self._short is None else self._short.partners_within(pending)
            joined, similarity = self._verifier.group_block(pending, lanes, halves, self._limits.vote, extra)
        is_keeper = joined == np.arange(len(pending))
        members = pending[~is_keeper]
        self._keeper[members] = pending[joined[~is_keeper]]
        self._similarity[members] = similarity[~is_keeper]
        new: IntArray = pending[is_keeper]
        return new

    def _join_one_by_one(self, pending: IntArray) -> IntArray:
        """As the kernel does, where a criterion is computed by a library."""
        local = NeighbourIndex(self._layout, self._limits)
        keepers: list[int] = []
        rank: dict[int, int] = {}
        extra = None if self._short is None else self._short.partners_within(pending)
        for t, row in enumerate(pending):
            places = set(local.near(self._lanes[row]).positions.tolist())
            if extra is not None:
                earlier = pending[extra[1][extra[0][t] : extra[0][t + 1]]]
                places |= {rank[int(e)] for e in earlier if int(e) in rank}
            partners = np.array([keepers[place] for place in sorted(places)], np.int64)
            self._join(np.array([row]), np.array([0, len(partners)]), partners)
            if self._keeper[row] < 0:
                rank[int(row)] = len(keepers)
                keepers.append(int(row))
                self._keeper[row] = row
                local.add(self._lanes[row : row + 1])
        return np.array(keepers, np.int64)


def side_by_side(first: Candidates, second: Candidates, shift: int) -> tuple[IntArray, RowArray]:
    """Two answers to the same queries as one: the first one's rows, then the second one's raised by ``shift``."""
    sizes, more = np.diff(first.indptr), np.diff(second.indptr)
    indptr = np.concatenate([[0], np.cumsum(sizes + more)])
    positions = np.empty(int(indptr[-1]), np.int32)
    query = np.repeat(np.arange(len(sizes)), sizes)
    positions[np.arange(len(first.positions)) + (indptr[:-1] - first.indptr[:-1])[query]] = first.positions
    query = np.repeat(np.arange(len(more)), more)
    places = np.arange(len(second.positions)) + (indptr[:-1] + sizes - second.indptr[:-1])[query]
    positions[places] = second.positions + shift
    return indptr, positions


def group_unverified(lanes: UInt64Array, halves: IntArray, vote: int) -> tuple[IntArray, FloatArray]:
    """As :meth:`simhash_es.core.verify.Verifier.group_block`, fingerprints alone deciding."""
    from simhash_es.core.verify import Verification

    n = len(lanes)
    verifier = Verifier(Verification(()), _NoTexts(n))
    joined, _ = verifier.group_block(np.arange(n), lanes, halves, vote)
    return joined, np.full(n, np.nan)


class _NoTexts:
    """Texts that are never read."""

    def __init__(self, n: int) -> None:
        self.data = np.zeros(1, np.uint8)
        self.bounds = np.zeros(2 * n, np.int64)
