"""Hashes and fingerprints of character grams, compiled: normal-form UTF-8 in, one 64-bit lane for each gram size out.

Equal bit for bit to :mod:`simhash_es.core.reference`. A gram's bytes come out of a rolling window of the last eight
bytes instead of a loop, and all hashes of a text are made before any is counted, which lets the compiler use vectors.
"""

from __future__ import annotations

from typing import Any

from numba import int32, int64, uint64

from simhash_es.core.kernels.accumulate import accumulate
from simhash_es.core.kernels.murmur import murmur_bytes, murmur_tail
from simhash_es.core.kernels.runtime import NO_COUNTING, kernel

# Columns of a lane's description.
GRAM, GRAM_CHINESE, HASH_WORD, SEED = range(4)
# Rows of the work space.
WINDOW, HASHES, LOW, HIGH, SIZES = range(5)
N_WORK = 5


@kernel("int64(uint8[::1], int64, int64, int32[::1], uint64[::1])", **NO_COUNTING)
def locate_characters(text: Any, start: Any, end: Any, starts: Any, window: Any) -> Any:
    """Where each character of ``text[start:end]`` begins, and the eight bytes before each position.

    ``starts[i]`` is relative to ``start``, with the end as last; ``window[p]`` holds the bytes before position ``p``,
    the latest in the highest eight bits. Returns the number of characters.
    """
    m = uint64(0)
    last = uint64(0)
    window[0] = last
    for p in range(uint64(end - start)):
        c = text[uint64(start) + p]
        starts[m] = int32(p)
        m += uint64((c & 0xC0) != 0x80)
        last = last >> uint64(8) | uint64(c) << uint64(56)
        window[p + uint64(1)] = last
    starts[m] = int32(end - start)
    return int64(m)


@kernel("boolean(uint8[::1], uint64)", inline="always")
def starts_chinese(text: Any, i: Any) -> Any:
    """Whether a Chinese character starts at ``i``: U+3400–9FFF, U+F900–FAFF, U+20000–3FFFF."""
    c = text[i]
    chinese = 0xE4 <= c <= 0xE9
    if c == 0xE3:
        chinese = text[i + uint64(1)] >= 0x90
    elif c == 0xEF:
        chinese = 0xA4 <= text[i + uint64(1)] <= 0xAB
    elif c == 0xF0:
        chinese = text[i + uint64(1)] >= 0xA0
    return chinese


@kernel("void(uint64[::1], int64, int64, uint64, int64, uint64[::1])", **NO_COUNTING)
def hash_ascii_grams(window: Any, n_grams: Any, size: Any, seed: Any, word: Any, hashes: Any) -> None:
    """Hashes of all grams of ``size`` bytes, at most 8, of a text in which each character is one byte."""
    shift = uint64(64 - 8 * size)
    for i in range(n_grams):
        hashes[i] = murmur_tail(window[i + size] >> shift, uint64(0), uint64(size), seed, word)


@kernel(
    "void(uint64[::1], uint64, uint64, uint64, uint64[::1], uint64[::1], uint64[::1])", inline="always", **NO_COUNTING
)
def take_bytes(window: Any, first: Any, end: Any, place: Any, low: Any, high: Any, sizes: Any) -> None:
    """Bytes ``first`` to ``end`` into ``low`` (the first eight) and ``high`` (the next, up to 15); without a branch.

    Of more than 15 bytes ``low`` holds the position of the first one.
    """
    size = end - first
    at_end = window[end] >> ((uint64(0) - uint64(8) * size) & uint64(63))
    is_low = size <= uint64(8)
    is_high = size < uint64(16)
    following = window[first + uint64(8)] if is_high else first
    sizes[place] = size
    low[place] = at_end if is_low else following
    high[place] = uint64(0) if is_low or not is_high else at_end


@kernel(
    "int64(uint8[::1], int64, int32[::1], uint64[::1], int64, int64, int64, uint64[::1], uint64[::1], uint64[::1])",
    **NO_COUNTING,
)
def gather_grams(
    text: Any, start: Any, starts: Any, window: Any, m: Any, n: Any, n_chinese: Any, low: Any, high: Any, sizes: Any
) -> Any:
    """Bytes of all grams of a text of ``m`` characters: ``low`` the first eight, ``high`` the next, up to 15.

    A longer gram has the position of its first byte in ``low``. Returns the number of grams.
    """
    count = uint64(0)
    last = uint64(m)
    for i in range(last):
        first = uint64(starts[i])
        g = uint64(n)
        if starts_chinese(text, uint64(start) + first):
            g = uint64(n_chinese)
        if i + g > last:
            continue
        end = uint64(starts[i + g])
        take_bytes(window, first, end, count, low, high, sizes)
        count += uint64(1)
    return int64(count)


@kernel(
    "void(uint8[::1], int64, uint64[::1], uint64[::1], uint64[::1], int64, uint64, int64, uint64[::1])", **NO_COUNTING
)
def hash_gathered(
    text: Any, start: Any, low: Any, high: Any, sizes: Any, count: Any, seed: Any, word: Any, hashes: Any
) -> None:
    """Hashes of gathered grams; the first loop has no branch, so that it runs on vectors."""
    longest = uint64(0)
    for i in range(uint64(count)):
        hashes[i] = murmur_tail(low[i], high[i], sizes[i], seed, word)
        longest = max(longest, sizes[i])
    if longest >= 16:
        for i in range(uint64(count)):
            if sizes[i] >= 16:
                first = start + int64(low[i])
                hashes[i] = murmur_bytes(text, first, first + int64(sizes[i]), seed, word)


@kernel("int64(uint8[::1], int64, int64, int32[::1], uint64[:, ::1], int64, int64[::1])", **NO_COUNTING)
def hash_characters(text: Any, start: Any, end: Any, starts: Any, work: Any, m: Any, lane: Any) -> Any:
    """Hashes of the grams that a lane asks for; a text of no whole gram is one gram. Returns their number."""
    n = lane[GRAM]
    seed = uint64(lane[SEED])
    window, hashes, low, high, sizes = work[WINDOW], work[HASHES], work[LOW], work[HIGH], work[SIZES]
    if m == end - start and m >= n and n <= 8:
        hash_ascii_grams(window, m - n + 1, n, seed, lane[HASH_WORD], hashes)
        return m - n + 1
    count = gather_grams(text, start, starts, window, m, n, lane[GRAM_CHINESE], low, high, sizes)
    hash_gathered(text, start, low, high, sizes, count, seed, lane[HASH_WORD], hashes)
    if count == 0 and m > 0:
        hashes[0] = murmur_bytes(text, start, end, seed, lane[HASH_WORD])
        count = 1
    return count


@kernel(
    "void(uint8[::1], int64[::1], int64[:, ::1], int64, int32[::1], uint64[:, ::1], uint64[::1], int32[::1],"
    " int64[::1], uint64[:, ::1], int64[::1])",
    **NO_COUNTING,
)
def fingerprint_characters(
    text: Any,
    offsets: Any,
    lanes: Any,
    weighting: Any,
    starts: Any,
    work: Any,
    keys: Any,
    counts: Any,
    sums: Any,
    out: Any,
    n_features: Any,
) -> None:
    """Fingerprints of several normal forms.

    Args:
        text: UTF-8, text ``d`` between ``offsets[d]`` and ``offsets[d + 1]``; an empty one gives lanes of 0.
        lanes: A row for each lane: gram size, gram size from a Chinese character, hash word, seed.
        weighting: As in :mod:`simhash_es.core.kernels.accumulate`.
        starts, work, keys, counts, sums: Work space for the longest text; ``work`` has N_WORK rows, ``sums`` 64 items.
        out: ``(n, n_lanes)``; filled.
        n_features: ``(n,)``; filled with the number of grams of the first lane, repetitions included.
    """
    for d in range(len(offsets) - 1):
        start = offsets[d]
        end = offsets[d + 1]
        m = locate_characters(text, start, end, starts, work[WINDOW])
        for j in range(lanes.shape[0]):
            count = hash_characters(text, start, end, starts, work, m, lanes[j])
            out[d, j] = accumulate(work[HASHES], count, weighting, keys, counts, sums)
            if j == 0:
                n_features[d] = count


@kernel("void(uint8[::1], int64[::1], boolean[::1])", **NO_COUNTING)
def find_chinese(text: Any, offsets: Any, out: Any) -> None:
    """Which texts hold a Chinese character."""
    for d in range(len(offsets) - 1):
        found = False
        for i in range(uint64(offsets[d]), uint64(offsets[d + 1])):
            if text[i] >= 0xE3 and starts_chinese(text, i):
                found = True
                break
        out[d] = found
