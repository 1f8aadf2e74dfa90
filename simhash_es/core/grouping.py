"""Groups around keepers: rows are visited in the order of the keep policy, and each joins the first keeper that it is
near enough to and verifies against, or becomes a keeper itself.

There are no chains: a member is compared with the keeper, never with another member. Rows are compared with keepers
only, so that many variants of one text cost no more than as many unrelated texts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simhash_es.core.bits import UInt64Array
from simhash_es.core.bucket_search import half_table
from simhash_es.core.layout import Layout, Limits, UInt8Array, distances
from simhash_es.core.neighbour_index import NeighbourIndex
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
        """Visit rows in the order given."""
        for first in range(0, len(rows), BLOCK_ROWS):
            block = rows[first : first + BLOCK_ROWS]
            if len(self._index):
                self._join_earlier(block)
            pending = block[self._keeper[block] < 0]
            self._join_within(pending)
            if progress is not None:
                progress(len(block))

    def _join_earlier(self, block: IntArray) -> None:
        """Let rows join keepers of earlier blocks; those come first in the order, so they are tried first."""
        lanes = self._lanes[block]
        start = 0
        while start < len(block):
            found = self._index.candidates(lanes, start=start, capacity=CAPACITY, workers=self._workers)
            rows = block[found.start : found.stop]
            indptr, partners = found.indptr, self._keepers[found.positions]
            if self._short is not None:
                indptr, partners = self._with_short(rows, indptr, found.positions)
            self._join(rows, indptr, partners)
            start = found.stop

    def _with_short(
        self, rows: IntArray, indptr: IntArray, positions: npt.NDArray[np.int32]
    ) -> tuple[IntArray, IntArray]:
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

    def _join_within(self, pending: IntArray) -> None:
        """Decide on the rows that matched no earlier keeper."""
        if not len(pending):
            return
        if self._verifier is not None and self._verifier.verification.edit_threshold is not None:
            self._join_one_by_one(pending)
            return
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
        self.add_keepers(pending[is_keeper])

    def _join_one_by_one(self, pending: IntArray) -> None:
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
        self.add_keepers(np.array(keepers, np.int64))


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
