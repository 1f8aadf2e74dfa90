"""Kernels of the exact search among short texts: prefix filtering on weighted features.

See :mod:`simhash_es.core.short_texts` for what it does and why it misses nothing.
"""

from __future__ import annotations

from typing import Any

from numba import int32, int64, uint32, uint64

from simhash_es.core.kernels.char_grams import HASHES
from simhash_es.core.kernels.runtime import NO_COUNTING, kernel
from simhash_es.core.kernels.verify import COUNT, hash_features, load_left, weight_of

FREQUENCY_SLOTS = 1 << 20  # hashed counters: a collision only makes the order of features a little worse


@kernel(
    "void(uint8[::1], int64[::1], int64[::1], int64, int64, int64[::1], int32[::1], uint64[:, ::1], uint64[::1],"
    " int32[:, ::1], uint32[::1], int64[::1])",
    **NO_COUNTING,
)
def count_features(
    text: Any,
    bounds: Any,
    docs: Any,
    kind: Any,
    weighting: Any,
    lane: Any,
    starts: Any,
    work: Any,
    keys: Any,
    tables: Any,
    frequency: Any,
    stat: Any,
) -> None:
    """Add to each feature's counter the number of texts that have it; ``stat`` is work space of two."""
    for i in range(len(docs)):
        d = docs[i]
        n = hash_features(text, bounds[2 * d], bounds[2 * d + 1], kind, lane, starts, work)
        mask = load_left(work[HASHES], n, weighting, keys, tables, stat)
        for slot in range(mask + uint64(1)):
            if tables[COUNT, slot] != 0:
                frequency[keys[slot] & uint64(FREQUENCY_SLOTS - 1)] += uint32(1)


@kernel(
    "int64(uint8[::1], int64[::1], int64[::1], int64, int64, int64[::1], int32[::1], uint64[:, ::1], uint64[::1],"
    " int32[:, ::1], uint32[::1], int64[::1], float64, int64[::1], uint64[::1])",
    **NO_COUNTING,
)
def take_prefixes(
    text: Any,
    bounds: Any,
    docs: Any,
    kind: Any,
    weighting: Any,
    lane: Any,
    starts: Any,
    work: Any,
    keys: Any,
    tables: Any,
    frequency: Any,
    stat: Any,
    similarity: Any,
    ends: Any,
    prefixes: Any,
) -> Any:
    """The rarest features of each text, until the rest has less than ``similarity`` of its norm.

    Features are ordered by their counter, then by hash. ``ends[i]`` is where those of ``docs[i]`` end in ``prefixes``,
    which must have room for all features. Returns their number.
    """
    used = 0
    for i in range(len(docs)):
        d = docs[i]
        n = hash_features(text, bounds[2 * d], bounds[2 * d + 1], kind, lane, starts, work)
        mask = load_left(work[HASHES], n, weighting, keys, tables, stat)
        rest = stat[1]
        least = similarity * similarity * stat[1]
        while rest >= least and rest > 0:  # selection: a short text has few features, and a prefix is a part of them
            best = int64(-1)
            for slot in range(mask + uint64(1)):
                if tables[COUNT, slot] > 0 and (
                    best < 0
                    or frequency[keys[slot] & uint64(FREQUENCY_SLOTS - 1)]
                    < frequency[keys[best] & uint64(FREQUENCY_SLOTS - 1)]
                    or (
                        frequency[keys[slot] & uint64(FREQUENCY_SLOTS - 1)]
                        == frequency[keys[best] & uint64(FREQUENCY_SLOTS - 1)]
                        and keys[slot] < keys[best]
                    )
                ):
                    best = int64(slot)
            prefixes[used] = keys[best]
            used += 1
            weight = weight_of(int64(tables[COUNT, best]), weighting)
            rest -= weight * weight
            tables[COUNT, best] = int32(-1)  # taken
        ends[i] = used
    return used


@kernel(
    "int64(int64[::1], int64, int64[::1], int32[::1], int32[::1], int32[::1], int32[::1], int32[::1], boolean,"
    " int64[::1], int32[::1])",
    **NO_COUNTING,
)
def walk_postings(
    numbers: Any,
    start: Any,
    indptr: Any,
    tokens: Any,
    heads: Any,
    links: Any,
    owners: Any,
    stamps: Any,
    insert: Any,
    ends: Any,
    found: Any,
) -> Any:
    """For each short text the earlier ones with a common prefix feature, each once.

    Args:
        numbers: Short texts to ask for, by number; -1 has none.
        start: Position of the first one to ask for.
        indptr, tokens: Prefix features of short text ``s`` are ``tokens[indptr[s]:indptr[s + 1]]``.
        heads, links, owners: For each feature a chain of entries, newest first; an entry is a position in ``tokens``,
            0 ends a chain (entries are stored plus one), and its owner is the short text.
        stamps: Work space, one a short text, 0 at first.
        insert: Whether each text joins the chains after it was asked for.
        ends: Filled: where the answers of ``numbers[t]`` end in ``found``.
        found: Filled with numbers of short texts, in no particular order.

    Returns:
        How many of ``numbers`` are done; fewer than all when ``found`` is full.
    """
    used = 0
    for t in range(start, len(numbers)):
        s = numbers[t]
        begin = used
        if s >= 0:
            stamp = int32(s + 1)
            for e in range(indptr[s], indptr[s + 1]):
                entry = heads[tokens[e]]
                while entry != 0:
                    owner = owners[entry - 1]
                    if stamps[owner] != stamp:
                        if used == len(found):
                            for u in range(begin, used):
                                stamps[found[u]] = 0
                            return t
                        stamps[owner] = stamp
                        found[used] = owner
                        used += 1
                    entry = links[entry - 1]
            if insert:
                for e in range(indptr[s], indptr[s + 1]):
                    links[e] = heads[tokens[e]]
                    heads[tokens[e]] = int32(e + 1)
        ends[t] = used
    return len(numbers)
