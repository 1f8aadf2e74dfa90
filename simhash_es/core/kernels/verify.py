"""Verification on text, compiled: exact cosine, Jaccard and containment of the features of two normal forms.

The features of one text, the left one, go into an open-addressing table; those of any number of others are looked up
in it one after the other. Text ``d`` is ``text[bounds[2 * d] : bounds[2 * d + 1]]``. All sums are integers; the three
figures are made from them at the end. Equal to :mod:`simhash_es.core.similarity`, features being told apart by their
64-bit hash.
"""

from __future__ import annotations

import math
from typing import Any

from numba import float64, int32, int64, uint64

from simhash_es.core.kernels.accumulate import LOG_TF, TF, UNIFORM, table_size
from simhash_es.core.kernels.char_grams import HASHES, WINDOW, hash_characters, locate_characters
from simhash_es.core.kernels.popcount import BLOCK, bit_length, lowest, near_any_of_four, ones
from simhash_es.core.kernels.runtime import NO_COUNTING, kernel
from simhash_es.core.kernels.token_grams import hash_tokens, locate_tokens

CHARACTERS, TOKENS = range(2)
DISTINCT, SQUARES = range(2)  # columns of ``stats``; -1 = not known yet
COSINE, JACCARD, CONTAINMENT = range(3)  # columns of scores and thresholds
# Rows of the int32 work tables: occurrences of each slot's feature on the left and on the right.
COUNT, SEEN = range(2)
N_TABLES = 2


@kernel("int64(uint8[::1], int64, int64, int64, int64[::1], int32[::1], uint64[:, ::1])", **NO_COUNTING)
def hash_features(text: Any, start: Any, end: Any, kind: Any, lane: Any, starts: Any, work: Any) -> Any:
    """Hashes of all features of one text, repetitions included, into ``work[HASHES]``; returns their number."""
    if kind == CHARACTERS:
        m = locate_characters(text, start, end, starts, work[WINDOW])
        return hash_characters(text, start, end, starts, work, m, lane)
    m = locate_tokens(text, start, end, starts, work[WINDOW])
    return hash_tokens(text, start, end, starts, work, m, lane)


@kernel("int64(int64, int64)", **NO_COUNTING)
def weight_of(count: Any, weighting: Any) -> Any:
    """Weight of a feature that occurs ``count`` times, 0 for none: uniform, tf, or 1 + floor(log2 tf)."""
    if weighting == TF:
        return count
    if weighting == UNIFORM:
        return min(count, 1)
    weight = 0
    while count > 0:
        count >>= 1
        weight += 1
    return weight


@kernel("uint64(uint64[::1], int64, int64, uint64[::1], int32[:, ::1], int64[::1])", **NO_COUNTING)
def load_left(hashes: Any, n: Any, weighting: Any, keys: Any, tables: Any, stat: Any) -> Any:
    """Fill the table with the features of the left text and ``stat`` with its figures; returns the table's mask.

    Only the search for a slot branches: whether a feature is new cannot be predicted.
    """
    size = table_size(n)
    mask = uint64(size - 1)
    counts = tables[COUNT]
    keys[:size] = 0
    counts[:size] = 0
    distinct = 0
    squares = 0
    for i in range(uint64(n)):
        h = max(hashes[i], uint64(1))  # 0 marks a free slot
        slot = h & mask
        while keys[slot] != h and keys[slot] != uint64(0):
            slot = (slot + uint64(1)) & mask
        keys[slot] = h
        c = int32(counts[slot] + 1)
        counts[slot] = c
        distinct += int64(c == 1)
        if weighting == LOG_TF:  # the weight rises when the count becomes a power of two
            squares += int64(c & (c - 1) == 0) * (2 * bit_length(c) - 1)
        elif weighting == TF:
            squares += 2 * int64(c) - 1
    stat[DISTINCT] = distinct
    stat[SQUARES] = distinct if weighting == UNIFORM else squares
    return mask


@kernel("UniTuple(int64, 2)(uint64[::1], int64, int64, uint64[::1], int32[:, ::1], uint64)", **NO_COUNTING)
def match_right(hashes: Any, n: Any, weighting: Any, keys: Any, tables: Any, mask: Any) -> Any:
    """Dot product and number of common features of the right text with the one in the table."""
    counts = tables[COUNT]
    seen = tables[SEEN]
    seen[: int64(mask) + 1] = 0
    dot = 0
    common = 0
    for i in range(uint64(n)):
        h = max(hashes[i], uint64(1))
        slot = h & mask
        while keys[slot] != h and keys[slot] != uint64(0):
            slot = (slot + uint64(1)) & mask
        left = counts[slot]  # 0 in a free slot
        c = seen[slot]
        seen[slot] = int32(c + 1)
        common += int64(left != 0) & int64(c == 0)
        if weighting == LOG_TF:
            dot += int64(c & (c + 1) == 0) * bit_length(left)
        elif weighting == TF:
            dot += int64(left)
    return common if weighting == UNIFORM else dot, common


@kernel("void(int64, int64, int64[::1], int64[::1], float64[::1])", **NO_COUNTING)
def to_scores(dot: Any, common: Any, left: Any, right: Any, scores: Any) -> None:
    """Cosine, Jaccard and containment, 0 to 1, from the integer sums of two texts."""
    scores[:] = 0.0
    if left[DISTINCT] == 0 or right[DISTINCT] == 0:
        return
    product = float64(left[SQUARES]) * float64(right[SQUARES])
    scores[COSINE] = 1.0 if float64(dot) * float64(dot) == product else float64(dot) / math.sqrt(product)
    scores[JACCARD] = float64(common) / float64(left[DISTINCT] + right[DISTINCT] - common)
    scores[CONTAINMENT] = float64(common) / float64(min(left[DISTINCT], right[DISTINCT]))


@kernel("boolean(int64[::1], int64[::1], float64[::1])", **NO_COUNTING)
def may_pass(left, right, thresholds):
    """Whether two texts can reach the thresholds, by their figures alone; False is certain.

    If the larger has ``d`` more distinct features, its common ones have at most its squares less ``d``, since each
    weight is at least 1, so by Cauchy and Schwarz cosine**2 is at most ``1 - d / squares``. Jaccard is at most the
    quotient of the numbers of distinct features.
    """
    more = left[DISTINCT] - right[DISTINCT]
    squares = left[SQUARES]
    if more < 0:
        more = -more
        squares = right[SQUARES]
    if thresholds[COSINE] >= 0 and float64(more) > (1.0 - thresholds[COSINE] ** 2) * float64(squares) + 1e-6:
        return False
    largest = max(left[DISTINCT], right[DISTINCT])
    return float64(largest - more) + 1e-6 >= thresholds[JACCARD] * float64(largest)


@kernel("boolean(float64[::1], float64[::1])", **NO_COUNTING)
def passes(scores: Any, thresholds: Any) -> Any:
    """Whether all three scores reach their thresholds; a threshold below 0 always holds."""
    return scores[0] >= thresholds[0] and scores[1] >= thresholds[1] and scores[2] >= thresholds[2]


@kernel(
    "void(uint8[::1], int64[::1], int64[::1], int64[::1], int64[::1], float64[::1], boolean, int64[:, ::1], int64,"
    " int64, int64[::1], int32[::1], uint64[:, ::1], uint64[::1], int32[:, ::1], int64[::1], float64[:, ::1])",
    **NO_COUNTING,
)
def compare_rows(
    text: Any,
    bounds: Any,
    rows: Any,
    indptr: Any,
    partners: Any,
    thresholds: Any,
    every: Any,
    stats: Any,
    kind: Any,
    weighting: Any,
    lane: Any,
    starts: Any,
    work: Any,
    keys: Any,
    tables: Any,
    cursor: Any,
    scores: Any,
) -> None:
    """Compare rows with their partners; the figures of a row that is not in ``stats`` yet are filled in.

    Row ``rows[t]`` has the partners ``partners[indptr[t]:indptr[t + 1]]``, whose figures must be known. ``cursor[t]``
    is where to begin in ``partners``.

    Args:
        every: True compares with all of them and leaves the scores of ``partners[p]`` in ``scores[p]``; False stops at
            the first one that reaches the thresholds, leaves ``cursor[t]`` there (at ``indptr[t + 1]`` without one) and
            its scores in ``scores[t]``.
    """
    for t in range(len(rows)):
        a = rows[t]
        end = indptr[t + 1]
        if cursor[t] >= end and stats[a, DISTINCT] >= 0:
            continue
        n = hash_features(text, bounds[2 * a], bounds[2 * a + 1], kind, lane, starts, work)
        mask = load_left(work[HASHES], n, weighting, keys, tables, stats[a])
        while cursor[t] < end:
            p = cursor[t]
            b = partners[p]
            if not every and not may_pass(stats[a], stats[b], thresholds):
                cursor[t] += 1
                continue
            n = hash_features(text, bounds[2 * b], bounds[2 * b + 1], kind, lane, starts, work)
            dot, common = match_right(work[HASHES], n, weighting, keys, tables, mask)
            found = scores[p] if every else scores[t]
            to_scores(dot, common, stats[a], stats[b], found)
            if not every and passes(found, thresholds):
                break
            cursor[t] += 1


@kernel("boolean(uint64[::1], uint64[::1], int64[:, ::1], int64)", **NO_COUNTING)
def is_match(x: Any, y: Any, halves: Any, vote: Any) -> Any:
    """Whether at least ``vote`` halves are within their limit; ``halves`` is first lane, lanes, limit of each."""
    votes = 0
    for h in range(len(halves)):
        distance = uint64(0)
        for lane in range(halves[h, 0], halves[h, 0] + halves[h, 1]):
            distance += ones(x[lane] ^ y[lane])
        votes += int64(distance <= uint64(halves[h, 2]))
        if votes + len(halves) - 1 - h < vote:
            return False
    return votes >= vote


@kernel("int64(int64[::1], int64, int64)", **NO_COUNTING)
def rank_of(keepers: Any, n_keepers: Any, position: Any) -> Any:
    """Where ``position`` stands among the ascending keepers; it must be one of them."""
    low = 0
    high = n_keepers
    while low < high:
        middle = (low + high) >> 1
        if keepers[middle] < position:
            low = middle + 1
        else:
            high = middle
    return low


@kernel(
    "int64(uint8[::1], int64[::1], uint64[:, ::1], int64[::1], int64[:, ::1], int64, float64[::1], int64[:, ::1],"
    " int64, int64, int64[::1], int32[::1], uint64[:, ::1], uint64[::1], int32[:, ::1], int64[::1], int32[::1],"
    " uint64[::1], int32[::1], int64[::1], int64[::1], float64[:, ::1], int64[::1])",
    **NO_COUNTING,
)
def group_block(
    text: Any,
    bounds: Any,
    lanes: Any,
    rows: Any,
    halves: Any,
    vote: Any,
    thresholds: Any,
    stats: Any,
    kind: Any,
    weighting: Any,
    lane: Any,
    starts: Any,
    work: Any,
    keys: Any,
    tables: Any,
    extra_indptr: Any,
    extra: Any,
    column: Any,
    marks: Any,
    keepers: Any,
    joined: Any,
    scores: Any,
    n_compared: Any,
) -> Any:
    """Visit rows in order: each joins the first keeper of this block that it matches and verifies against, or is one.

    Args:
        lanes: ``(len(rows), L)`` fingerprints of the rows.
        extra_indptr, extra: Further candidates of row ``t`` besides those within the limits, whatever their distance:
            positions in ``rows``, before ``t``, at ``extra[extra_indptr[t]:extra_indptr[t + 1]]``.
        column, marks: Work space, ``len(rows) + 8``: first lane of each keeper, and the row that has it as an extra
            candidate plus one; ``marks`` is 0 at first.
        keepers: Filled with the positions in ``rows`` of the keepers.
        joined: Filled with the position of each row's keeper, its own for a keeper.
        scores: ``(len(rows), 3)``; filled for the rows that joined. With all thresholds below 0 no text is read.
        n_compared: Its one entry is raised by the number of comparisons.

    Returns:
        The number of keepers.
    """
    verify = thresholds[0] >= 0 or thresholds[1] >= 0 or thresholds[2] >= 0
    # With one lane in the first half and all halves required, eight keepers are ruled out at once.
    by_column = vote == len(halves) and halves[0, 1] == 1
    limit = uint64(halves[0, 2])
    n_keepers = 0
    for t in range(len(rows)):
        a = rows[t]
        loaded = False
        mask = uint64(0)
        joined[t] = t
        x = lanes[t, 0]
        has_extra = extra_indptr[t + 1] > extra_indptr[t]
        for e in range(extra_indptr[t], extra_indptr[t + 1]):
            position = int64(extra[e])
            if joined[position] == position:
                marks[rank_of(keepers, n_keepers, position)] = int32(t + 1)
        u = 0
        while u < n_keepers and joined[t] == t:
            near = near_any_of_four(column, u, x, x, x, x, limit) if by_column else uint64(255)
            if has_extra:
                for b in range(BLOCK):
                    near |= uint64(marks[u + b] == t + 1) << uint64(b)
            if n_keepers - u < BLOCK:
                near &= (uint64(1) << uint64(n_keepers - u)) - uint64(1)
            while near != uint64(0):
                at = u + lowest(near)
                k = keepers[at]
                near &= near - uint64(1)
                if marks[at] != t + 1 and not is_match(lanes[t], lanes[k], halves, vote):
                    continue
                if verify:
                    b = rows[k]
                    if stats[b, DISTINCT] < 0:
                        n = hash_features(text, bounds[2 * b], bounds[2 * b + 1], kind, lane, starts, work)
                        load_left(work[HASHES], n, weighting, keys, tables, stats[b])
                        loaded = False
                    if not loaded:
                        n = hash_features(text, bounds[2 * a], bounds[2 * a + 1], kind, lane, starts, work)
                        mask = load_left(work[HASHES], n, weighting, keys, tables, stats[a])
                        loaded = True
                    if not may_pass(stats[a], stats[b], thresholds):
                        continue
                    n = hash_features(text, bounds[2 * b], bounds[2 * b + 1], kind, lane, starts, work)
                    dot, common = match_right(work[HASHES], n, weighting, keys, tables, mask)
                    to_scores(dot, common, stats[a], stats[b], scores[t])
                    n_compared[0] += 1
                    if not passes(scores[t], thresholds):
                        continue
                joined[t] = k
                break
            u += BLOCK
        if joined[t] == t:
            keepers[n_keepers] = t
            column[n_keepers] = lanes[t, 0]
            n_keepers += 1
    return n_keepers
