"""Verification on text in batches: which candidates are as similar as the user asked, exactly."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from simhash_es.core.bits import UInt64Array
from simhash_es.core.kernels import verify as kernels
from simhash_es.core.kernels.accumulate import LOG_TF, table_size
from simhash_es.core.kernels.char_grams import N_WORK
from simhash_es.core.kernels.popcount import BLOCK
from simhash_es.core.profile import Tokenizer
from simhash_es.core.similarity import DEFAULT_FEATURES, Criterion, FeatureSpec, Measure, edit_similarity

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

NO_THRESHOLD = -1.0
COLUMNS = {
    Measure.COSINE: kernels.COSINE,
    Measure.JACCARD: kernels.JACCARD,
    Measure.CONTAINMENT: kernels.CONTAINMENT,
}
MIN_SHARE = 64  # rows below which another thread is not worth its start


class Texts(Protocol):
    """Texts by number, in one buffer that may have grown since the last look."""

    @property
    def data(self) -> npt.NDArray[np.uint8]:
        """UTF-8 of all texts; writable, since kernels are compiled for writable arrays only."""

    @property
    def bounds(self) -> IntArray:
        """Text ``d`` is ``data[bounds[2 * d] : bounds[2 * d + 1]]``."""


@dataclass(frozen=True, slots=True)
class Verification:
    """What a pair must meet.

    Attributes:
        criteria: All of them must hold; none means that fingerprints alone decide.
        features: What cosine, Jaccard and containment are made from, weighted 1 + floor(log2 tf).
    """

    criteria: tuple[Criterion, ...]
    features: FeatureSpec = DEFAULT_FEATURES

    @property
    def thresholds(self) -> FloatArray:
        """By column of the kernels' scores; the strictest where a measure is named twice."""
        values = np.full(3, NO_THRESHOLD)
        for criterion in self.criteria:
            if criterion.measure in COLUMNS:
                column = COLUMNS[criterion.measure]
                values[column] = max(values[column], criterion.threshold)
        return values

    @property
    def edit_threshold(self) -> float | None:
        """Least edit similarity, ``None`` when it is not asked for."""
        edits = [c.threshold for c in self.criteria if c.measure is Measure.EDIT]
        return max(edits) if edits else None

    @property
    def uses_tokens(self) -> bool:
        """Whether features are made of tokens rather than characters."""
        return self.features.tokenizer != Tokenizer.CHARS


class _Space(threading.local):
    """Work space of one thread."""

    def __init__(self) -> None:
        self.arrays: tuple[Any, ...] = ()
        self.room = 0

    def fit(self, longest: int) -> tuple[Any, ...]:
        if not self.arrays or longest + 2 > self.room:
            self.room = longest * 5 // 4 + 64
            slots = table_size(self.room)
            self.arrays = (
                np.empty(self.room, np.int32),
                np.empty((N_WORK, self.room), np.uint64),
                np.empty(slots, np.uint64),
                np.empty((kernels.N_TABLES, slots), np.int32),
            )
        return self.arrays


class Verifier:
    """Measures and decides on pairs of numbered texts; the answer is the same for any number of workers.

    Args:
        verification: What a pair must meet.
        texts: Texts that features are made of: normal forms, or tokens joined by spaces when ``uses_tokens``.
        normal: Normal forms, for the edit similarity; ``texts`` when they are the same.
        workers: Threads.
    """

    def __init__(
        self, verification: Verification, texts: Texts, *, normal: Texts | None = None, workers: int = 1
    ) -> None:
        self.verification = verification
        self.thresholds = verification.thresholds
        self._texts = texts
        self._normal = texts if normal is None else normal
        self._workers = workers
        self._pool = ThreadPoolExecutor(workers) if workers > 1 else None
        self._space = _Space()
        self._stats = np.full((0, 2), -1, np.int64)
        self._kind = kernels.TOKENS if verification.uses_tokens else kernels.CHARACTERS
        self._lane = np.array([verification.features.n, verification.features.n_chinese, 0, 0], np.int64)
        self._longest = 0
        self.n_compared = 0

    @property
    def primary(self) -> Measure:
        """The measure that is reported as the similarity of a pair."""
        return self.verification.criteria[0].measure if self.verification.criteria else Measure.COSINE

    def _fit(self, docs: IntArray) -> None:
        """Make room for the figures of all texts and the features of ``docs``; a text may come after its number."""
        bounds = self._texts.bounds
        n = len(bounds) // 2
        if n > len(self._stats):
            grown = np.full((max(n, len(self._stats) * 3 // 2), 2), -1, np.int64)
            grown[: len(self._stats)] = self._stats
            self._stats = grown
        self._longest = max(self._longest, int((bounds[2 * docs + 1] - bounds[2 * docs]).max(initial=0)))

    def feature_arguments(self, docs: IntArray) -> tuple[Any, ...]:
        """What the kernels need to make the features of ``docs``: kind, weighting, gram sizes, work space."""
        self._fit(docs)
        return self._feature_arguments()

    def _feature_arguments(self) -> tuple[Any, ...]:
        """The same with this thread's work space, after :meth:`_fit`."""
        return (self._kind, LOG_TF, self._lane, *self._space.fit(self._longest))

    @property
    def texts(self) -> Texts:
        """Texts that features are made of."""
        return self._texts

    def describe(self, docs: IntArray) -> None:
        """Make the norms of some texts known."""
        self._fit(docs)
        unknown = np.unique(docs[self._stats[docs, 0] < 0])
        nothing = np.zeros(0, np.int64)

        def work(first: int, last: int) -> None:
            n = last - first
            pointer, cursor = np.zeros(n + 1, np.int64), np.zeros(n, np.int64)
            self._compare(unknown[first:last], pointer, nothing, cursor, np.zeros((n, 3)))

        self._share(len(unknown), work)

    def scores(self, left: IntArray, right: IntArray) -> FloatArray:
        """Cosine, Jaccard and containment of pairs, ``(n, 3)``; fastest when equal left texts stand together."""
        self._fit(left)
        self.describe(right)
        scores = np.zeros((len(left), 3))

        def work(first: int, last: int) -> None:
            part = left[first:last]
            starts = np.flatnonzero(np.concatenate([[True], part[1:] != part[:-1]]))
            pointer = np.append(starts, len(part))
            self._compare(part[starts], pointer, right[first:last], starts.copy(), scores[first:last], every=True)

        self._share(len(left), work)
        self.n_compared += len(left)
        return scores

    def _compare(
        self,
        rows: IntArray,
        indptr: IntArray,
        partners: IntArray,
        cursor: IntArray,
        scores: FloatArray,
        *,
        every: bool = False,
    ) -> None:
        """Run the kernel on this thread's work space."""
        texts = (self._texts.data, self._texts.bounds, rows, indptr, partners)
        arguments = (*texts, self.thresholds, every, self._stats, *self._feature_arguments(), cursor, scores)
        kernels.compare_rows(*arguments)

    def verdicts(self, left: IntArray, right: IntArray) -> tuple[npt.NDArray[np.bool_], FloatArray]:
        """Which pairs meet all criteria, and the similarity of each by the primary measure."""
        scores = self.scores(left, right)
        passed: npt.NDArray[np.bool_] = np.asarray((scores >= self.thresholds).all(axis=1), np.bool_)
        similarity = np.zeros(len(left))
        edit = self.verification.edit_threshold
        if self.primary is Measure.EDIT or edit is not None:
            wanted = passed if self.primary is not Measure.EDIT else np.ones(len(left), np.bool_)
            edits = np.zeros(len(left))
            for i in np.flatnonzero(wanted):
                edits[i] = self.edit(int(left[i]), int(right[i]))
            if edit is not None:
                passed &= edits >= edit
            similarity = edits
        if self.primary is not Measure.EDIT:
            similarity = scores[:, COLUMNS[self.primary]].copy()
        return passed, similarity

    def edit(self, a: int, b: int) -> float:
        """Edit similarity of the normal forms of two texts."""
        return edit_similarity(self._normal_text(a), self._normal_text(b))

    def _normal_text(self, d: int) -> str:
        start, end = self._normal.bounds[2 * d : 2 * d + 2]
        return self._normal.data[start:end].tobytes().decode()

    def first_matches(self, rows: IntArray, indptr: IntArray, partners: IntArray) -> tuple[IntArray, FloatArray]:
        """For each row the first of its partners that meets all criteria.

        Args:
            rows: Text numbers, ``(n,)``.
            indptr: The partners of row ``t`` are ``partners[indptr[t]:indptr[t + 1]]``.
            partners: Text numbers.

        Returns:
            Position of the match in ``partners`` (``indptr[t + 1]`` where there is none) and its similarity, ``(n,)``.
        """
        self._fit(rows)
        self.describe(partners)
        cursor = indptr[:-1].copy()
        scores = np.zeros((len(rows), 3))
        similarity = np.zeros(len(rows))
        todo = np.flatnonzero(cursor < indptr[1:])
        while len(todo):
            self._advance(rows, indptr, partners, cursor, scores, todo)
            todo = todo[cursor[todo] < indptr[1:][todo]]
            accepted = self._accept_by_edit(rows, partners, cursor, todo, scores, similarity)
            todo = todo[~accepted]
            cursor[todo] += 1
        self.n_compared += int((np.minimum(cursor + 1, indptr[1:]) - indptr[:-1]).sum())
        return cursor, similarity

    def _advance(
        self, rows: IntArray, indptr: IntArray, partners: IntArray, cursor: IntArray, scores: FloatArray, todo: IntArray
    ) -> None:
        """Move the cursors of rows ``todo`` to the first partner that meets all criteria but the edit similarity."""
        ends = indptr[1:]

        def work(first: int, last: int) -> None:
            part = todo[first:last]
            # The kernel walks consecutive pieces; here each row has a piece of its own.
            begin, end = cursor[part], ends[part]
            sizes = end - begin
            pointer = np.zeros(len(part) + 1, np.int64)
            np.cumsum(sizes, out=pointer[1:])
            flat = np.repeat(begin - pointer[:-1], sizes) + np.arange(int(pointer[-1]))
            position = pointer[:-1].copy()
            found = np.zeros((len(part), 3))
            self._compare(rows[part], pointer, partners[flat], position, found)
            cursor[part] = begin + position - pointer[:-1]
            scores[part] = found

        self._share(len(todo), work)

    def _accept_by_edit(
        self,
        rows: IntArray,
        partners: IntArray,
        cursor: IntArray,
        todo: IntArray,
        scores: FloatArray,
        similarity: FloatArray,
    ) -> npt.NDArray[np.bool_]:
        edit = self.verification.edit_threshold
        if self.primary is not Measure.EDIT:
            similarity[todo] = scores[todo, COLUMNS[self.primary]]
        accepted = np.ones(len(todo), np.bool_)
        if edit is not None:
            for i, t in enumerate(todo):
                value = self.edit(int(rows[t]), int(partners[cursor[t]]))
                accepted[i] = value >= edit
                if self.primary is Measure.EDIT:
                    similarity[t] = value
        return accepted

    def group_block(
        self,
        rows: IntArray,
        lanes: UInt64Array,
        halves: IntArray,
        vote: int,
        extra: tuple[IntArray, npt.NDArray[np.int32]] | None = None,
    ) -> tuple[IntArray, FloatArray]:
        """Visit rows in order; each joins the first keeper among those before it, or becomes one.

        Args:
            rows: Text numbers in visiting order.
            lanes: ``(n, L)`` their fingerprints.
            halves: ``(H, 3)`` first lane, lanes and limit of each half.
            vote: Halves that must be within their limit.
            extra: Further candidates (pointer and positions in ``rows``), see the kernel.

        Returns:
            Position in ``rows`` of the keeper of each row, its own for keepers, and the similarity to it.
        """
        self._fit(rows)
        pointer, positions = extra or (np.zeros(len(rows) + 1, np.int64), np.zeros(1, np.int32))
        joined, n_compared = np.arange(len(rows)), np.zeros(1, np.int64)
        scores = np.zeros((len(rows), 3))
        texts = (self._texts.data, self._texts.bounds, lanes, rows, halves, vote, self.thresholds, self._stats)
        column, marks = np.zeros(len(rows) + BLOCK, np.uint64), np.zeros(len(rows) + BLOCK, np.int32)
        results = (np.empty(len(rows), np.int64), joined, scores, n_compared)
        kernels.group_block(*(*texts, *self._feature_arguments(), pointer, positions, column, marks, *results))
        self.n_compared += int(n_compared[0])
        return joined, scores[:, COLUMNS[self.primary]].copy()

    def _share(self, n: int, work: Callable[[int, int], None]) -> None:
        """Let the threads do ``work(first, last)`` on ranges that cover 0 to ``n``."""
        if n == 0:
            return
        if self._pool is None or n < 2 * MIN_SHARE:
            work(0, n)
            return
        size = max(MIN_SHARE, -(-n // (4 * self._workers)))
        for done in [self._pool.submit(work, first, min(n, first + size)) for first in range(0, n, size)]:
            done.result()


def parse_verification(criteria: Sequence[Criterion], features: FeatureSpec | None, similarity: float) -> Verification:
    """The verification for a command: the named criteria, or the cosine at ``similarity``."""
    chosen = tuple(criteria) or (Criterion(Measure.COSINE, similarity),)
    return Verification(chosen, DEFAULT_FEATURES if features is None else features)
