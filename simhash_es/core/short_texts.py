"""Exact search among short texts, which does not rest on their fingerprints.

A short text has few features, so one changed word moves many bits, and nothing is lost by comparing features instead:
that is cheap for them. Two texts with a cosine of at least S share a feature among the *prefixes* of both, where a
prefix is the smallest set of the text's features, in one fixed order for all texts, whose complement has less than S of
the text's norm. (If they shared none, all common features would lie in the complement of one of the two, and the dot
product would be below S times the norms.) The rarest features come first, so few texts share one.

Source: R. Bayardo, Y. Ma, R. Srikant, "Scaling Up All Pairs Similarity Search", WWW 2007, section 4; prefix filtering
in S. Chaudhuri, V. Ganti, R. Kaushik, "A Primitive Operator for Similarity Joins in Data Cleaning", ICDE 2006.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from simhash_es.core.kernels import short_texts as kernels
from simhash_es.core.verify import IntArray, Verifier

VISITS_PER_TEXT = 20
MIN_VISITS = 2_000_000
"""Pairs of texts that may meet at one feature: so many a text, but at least so many in all (a few seconds). Where more
would, as among a million texts of one template, the most frequent features are left out, and such pairs are found by
their fingerprints or not at all."""

MARGIN = 1e-9  # S is lowered by this, so that rounding cannot hide a pair at exactly S
Int32Array = npt.NDArray[np.int32]


class ShortTexts:
    """The short texts of a run, and which of them may be searched for now.

    Attributes:
        n_left_out: Features left out of the search for being too frequent; with 0 no pair of at least S is missed.

    Args:
        verifier: Knows the texts and how their features are made.
        docs: Numbers of the short texts.
        similarity: S: no pair of at least this cosine is missed.
    """

    def __init__(self, verifier: Verifier, docs: IntArray, similarity: float) -> None:
        self.docs = docs
        self._number = np.full(int(docs.max(initial=-1)) + 1, -1, np.int64)
        self._number[docs] = np.arange(len(docs))
        self.indptr, self.tokens, n_tokens, self.n_left_out = prefix_tokens(verifier, docs, similarity)
        self._owners = np.repeat(np.arange(len(docs), dtype=np.int32), np.diff(self.indptr))
        self._heads = np.zeros(n_tokens + 1, np.int32)
        self._links = np.zeros(len(self.tokens) + 1, np.int32)
        self._local_heads = np.zeros(n_tokens + 1, np.int32)
        self._stamps = np.zeros(len(docs) + 1, np.int32)

    def numbers(self, rows: IntArray) -> IntArray:
        """Numbers of rows among the short texts, -1 for those that are none."""
        inside = rows < len(self._number)
        return np.where(inside, self._number[np.where(inside, rows, 0)] if len(self._number) else -1, -1)

    def add(self, rows: IntArray) -> None:
        """Let rows be found from now on."""
        numbers = self.numbers(rows)
        self._walk(numbers[numbers >= 0], self._heads, insert=True)

    def partners(self, rows: IntArray) -> tuple[IntArray, IntArray]:
        """Rows added before that may be as similar as S: pointer ``(n + 1,)`` and row numbers."""
        pointer, found = self._walk(self.numbers(rows), self._heads, insert=False)
        return pointer, self.docs[found]

    def partners_within(self, rows: IntArray) -> tuple[IntArray, Int32Array]:
        """The same among the rows themselves, those before each one; positions in ``rows``."""
        numbers = self.numbers(rows)
        pointer, found = self._walk(numbers, self._local_heads, insert=True)
        for number in numbers[numbers >= 0]:
            self._local_heads[self.tokens[self.indptr[number] : self.indptr[number + 1]]] = 0
        position = np.zeros(len(self.docs), np.int32)
        position[numbers[numbers >= 0]] = np.flatnonzero(numbers >= 0)
        return pointer, position[found]

    def pairs(self, rows: IntArray) -> Iterator[tuple[IntArray, IntArray]]:
        """All pairs of rows that may be as similar as S, once each, a block of rows after the other."""
        step = 1 << 14
        for first in range(0, len(rows), step):
            block = rows[first : first + step]
            pointer, partners = self.partners(block)
            yield partners, np.repeat(block, np.diff(pointer))
            pointer, positions = self.partners_within(block)
            yield block[positions], np.repeat(block, np.diff(pointer))
            self.add(block)

    def _walk(self, numbers: IntArray, heads: Int32Array, *, insert: bool) -> tuple[IntArray, Int32Array]:
        pieces = []
        pointer = np.zeros(len(numbers) + 1, np.int64)
        start, total, room = 0, 0, 1 << 16
        self._stamps[:] = 0
        while start < len(numbers):
            found = np.empty(room, np.int32)
            ends = np.empty(len(numbers), np.int64)
            done = kernels.walk_postings(
                numbers, start, self.indptr, self.tokens, heads, self._links, self._owners, self._stamps, insert, ends,
                found,
            )  # fmt: skip
            if done > start:
                pointer[start + 1 : done + 1] = ends[start:done] + total
                size = int(ends[done - 1])
                pieces.append(found[:size].copy())
                total += size
                start = done
            room *= 2
        return pointer, np.concatenate(pieces) if pieces else np.zeros(0, np.int32)


def prefix_tokens(verifier: Verifier, docs: IntArray, similarity: float) -> tuple[IntArray, Int32Array, int, int]:
    """Prefix features of each text as small numbers; those that only one text has can join nothing and are left out.

    Returns:
        Pointer ``(n + 1,)``, feature numbers, how many different ones there are, and how many were left out.
    """
    texts = verifier.texts
    data, bounds = texts.data, texts.bounds
    arguments = (data, bounds, docs, *verifier.feature_arguments(docs))
    frequency, stat = np.zeros(kernels.FREQUENCY_SLOTS, np.uint32), np.zeros(2, np.int64)
    kernels.count_features(*(*arguments, frequency, stat))
    n_bytes = int((bounds[2 * docs + 1] - bounds[2 * docs]).sum())
    prefixes = np.empty(n_bytes + 1, np.uint64)
    ends = np.zeros(len(docs), np.int64)
    used = kernels.take_prefixes(*(*arguments, frequency, stat, similarity - MARGIN, ends, prefixes))
    _, tokens, counts = np.unique(prefixes[:used], return_inverse=True, return_counts=True)
    useful = (counts > 1) & ~too_frequent(counts, max(MIN_VISITS, VISITS_PER_TEXT * len(docs)))
    shared = useful[tokens]
    renumbered = np.cumsum(useful) - 1
    pointer = np.zeros(len(docs) + 1, np.int64)
    np.cumsum(shared, out=(running := np.empty(used, np.int64)))
    pointer[1:] = np.where(ends > 0, running[np.maximum(ends, 1) - 1], 0) if used else 0
    n_left_out = int((counts > 1).sum() - useful.sum())
    return pointer, renumbered[tokens[shared]].astype(np.int32), int(useful.sum()), n_left_out


def too_frequent(counts: IntArray, visits: int) -> npt.NDArray[np.bool_]:
    """Which features are too many to visit all pairs of texts that have them, rarest first, within ``visits``."""
    order = np.argsort(counts, kind="stable")
    pairs = np.cumsum(counts[order].astype(np.float64) ** 2 / 2)
    hot = np.zeros(len(counts), np.bool_)
    hot[order[pairs > visits]] = True
    return hot
