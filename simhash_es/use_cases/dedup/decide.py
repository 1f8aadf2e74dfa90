"""From fingerprints to a decision on every row: fold identical texts, find candidates, verify, group."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simhash_es.core.bits import UInt64Array
from simhash_es.core.grouping import KeeperGrouping
from simhash_es.core.join import cross_join, self_join
from simhash_es.core.layout import Layout, Limits, UInt8Array, distances, matches
from simhash_es.core.limits import SHORT_FEATURES
from simhash_es.core.short_texts import ShortTexts
from simhash_es.core.verify import FloatArray, IntArray, Verifier
from simhash_es.use_cases.corpus import Corpus, group_identical
from simhash_es.use_cases.dedup.results import Decisions
from simhash_es.use_cases.talk import Advance


@dataclass(frozen=True, slots=True)
class VerifiedPairs:
    """Pairs of rows that meet all criteria; ``a`` comes before ``b`` in reading order.

    Attributes:
        a: ``(n,)`` row numbers.
        b: ``(n,)`` row numbers.
        distances: ``(n, H)`` bits.
        similarity: ``(n,)``; NaN where no text was compared.
    """

    a: IntArray
    b: IntArray
    distances: npt.NDArray[np.uint8]
    similarity: FloatArray


class Decider:
    """Decides on the rows of one corpus.

    Args:
        corpus: All rows, older ones first.
        order: Numbers of the new rows in visiting order.
        n_older: Number of older rows.
        layout: Widths of the halves.
        limits: Distance limits.
        verifier: ``None`` when fingerprints alone decide.
        workers: Threads.
        before_verifying: Called with rows whose texts are about to be read.
        short_similarity: S for the search among short texts; ``None`` goes by fingerprints alone.
    """

    def __init__(
        self,
        corpus: Corpus,
        order: IntArray,
        n_older: int,
        layout: Layout,
        limits: Limits,
        verifier: Verifier | None,
        *,
        workers: int,
        before_verifying: Callable[[IntArray], None] | None = None,
        short_similarity: float | None = None,
    ) -> None:
        self._layout = layout
        self._limits = limits
        self._verifier = verifier
        self._workers = workers
        self._before_verifying = before_verifying
        self._n_older = n_older
        self.lanes: UInt64Array = corpus.lanes.values
        found = corpus.found.values
        everything = np.concatenate([np.arange(n_older), order])
        visited = everything[found[everything]]
        self.representative = np.arange(len(corpus))
        self.representative[visited] = group_identical(corpus.digests.values, visited)
        distinct = visited[self.representative[visited] == visited]
        self.older = distinct[distinct < n_older]
        self.new = distinct[distinct >= n_older]
        self._short_similarity = short_similarity
        self.n_frequent_features = 0
        self._n_features = corpus.n_features.values

    def around_keepers(self, advance: Advance) -> Decisions:
        """Each row joins the first keeper that it verifies against."""
        grouping = KeeperGrouping(
            self.lanes,
            self._layout,
            self._limits,
            self._verifier,
            workers=self._workers,
            before_verifying=self._before_verifying,
            short=self._short_texts(),
        )
        grouping.add_keepers(self.older)
        grouping.visit(self.new, progress=advance)
        found = grouping.assignment
        return self._with_copies(found.keeper, found.similarity)

    def connected(self, pairs: Iterator[VerifiedPairs]) -> Decisions:
        """Rows joined by any chain of verified pairs; the first visited row of each chain is kept."""
        n = len(self.representative)
        place = np.full(n, n, np.int64)
        visited = np.concatenate([self.older, self.new])
        place[visited] = np.arange(len(visited))
        parent = np.arange(n)
        for block in pairs:
            for a, b in zip(block.a.tolist(), block.b.tolist(), strict=True):
                join_sets(parent, place, a, b)
        keeper = np.array([find_set(parent, row) for row in range(n)], np.int64)
        similarity = np.full(n, np.nan)
        members = np.flatnonzero((keeper != np.arange(n)) & (place < n))
        members = members[members >= self._n_older]
        if self._verifier is not None and len(members):
            self._load(np.concatenate([members, keeper[members]]))
            _, similarity[members] = self._verifier.verdicts(members, keeper[members])
        keeper[: self._n_older] = np.arange(self._n_older)
        return self._with_copies(keeper, similarity)

    def _short_texts(self) -> ShortTexts | None:
        if self._verifier is None or self._short_similarity is None:
            return None
        distinct = np.concatenate([self.older, self.new])
        short = np.sort(distinct[self._n_features[distinct] < SHORT_FEATURES])
        if len(short) < 2:
            return None
        self._load(short)
        found = ShortTexts(self._verifier, short, self._short_similarity)
        self.n_frequent_features = found.n_left_out
        return found

    def pairs(self) -> Iterator[VerifiedPairs]:
        """Every pair of rows with different normal forms that meets the limits and all criteria, once each."""
        new = np.sort(self.new)
        lanes = self.lanes
        options = {"layout": self._layout, "limits": self._limits, "workers": self._workers}
        if len(self.older) and len(new):
            for block in cross_join(lanes[self.older], lanes[new], **options):  # type: ignore[arg-type]
                yield self._verified(self.older[block.i], new[block.j], block.distances)
        if len(new):
            for block in self_join(lanes[new], **options):  # type: ignore[arg-type]
                yield self._verified(new[block.i], new[block.j], block.distances)
        short = self._short_texts()
        if short is not None:
            short.add(short.docs[short.docs < self._n_older])
            for a, b in short.pairs(short.docs[short.docs >= self._n_older]):
                bits = distances(lanes[a], lanes[b], self._layout)
                new_here = ~matches(bits, self._limits)  # the others are found by their fingerprints
                yield self._verified(a[new_here], b[new_here], bits[new_here])

    def _verified(self, a: IntArray, b: IntArray, bits: UInt8Array) -> VerifiedPairs:
        order = np.lexsort((b, a))
        a, b, bits = a[order], b[order], bits[order]
        if self._verifier is None:
            return VerifiedPairs(a, b, bits, np.full(len(a), np.nan))
        self._load(np.concatenate([a, b]))
        passed, similarity = self._verifier.verdicts(a, b)
        return VerifiedPairs(a[passed], b[passed], bits[passed], similarity[passed])

    def _load(self, rows: IntArray) -> None:
        if self._before_verifying is not None:
            self._before_verifying(rows)

    def _with_copies(self, keeper: IntArray, similarity: FloatArray) -> Decisions:
        """Extend the decision on distinct texts to their copies."""
        n = len(self.representative)
        numbers = np.arange(n)
        whole = np.where(keeper < 0, numbers, keeper)
        whole = whole[self.representative]
        whole[: self._n_older] = numbers[: self._n_older]
        similar = similarity[self.representative]
        similar[self.representative == whole] = 1.0 if self._verifier is not None else np.nan
        return Decisions(
            n_older=self._n_older,
            keeper=whole,
            representative=self.representative,
            distances=distances(self.lanes, self.lanes[whole], self._layout),
            similarity=similar,
        )


def find_set(parent: IntArray, row: int) -> int:
    """Root of a row's set; the path to it is halved on the way."""
    while parent[row] != row:
        parent[row] = parent[parent[row]]
        row = int(parent[row])
    return row


def join_sets(parent: IntArray, place: IntArray, a: int, b: int) -> None:
    """Join two sets; the row visited first becomes the root."""
    first, second = find_set(parent, a), find_set(parent, b)
    if place[second] < place[first]:
        first, second = second, first
    parent[second] = first
