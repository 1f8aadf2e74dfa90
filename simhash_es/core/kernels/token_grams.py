"""Hashes and fingerprints of token grams, compiled: tokens joined by single spaces in, one 64-bit lane a gram size out.

Equal bit for bit to :mod:`simhash_es.core.reference`; made like :mod:`simhash_es.core.kernels.char_grams`.
"""

from __future__ import annotations

from typing import Any

from numba import int32, int64, uint64

from simhash_es.core.kernels.accumulate import accumulate
from simhash_es.core.kernels.char_grams import (
    GRAM,
    GRAM_CHINESE,
    HASH_WORD,
    HASHES,
    HIGH,
    LOW,
    SEED,
    SIZES,
    WINDOW,
    hash_gathered,
    starts_chinese,
    take_bytes,
)
from simhash_es.core.kernels.murmur import murmur_bytes
from simhash_es.core.kernels.runtime import NO_COUNTING, kernel


@kernel("int64(uint8[::1], int64, int64, int32[::1], uint64[::1])", **NO_COUNTING)
def locate_tokens(text: Any, start: Any, end: Any, starts: Any, window: Any) -> Any:
    """Where each token begins, relative to ``start``, and the eight bytes before each position.

    The last entry of ``starts`` is one behind the end, so that a gram of tokens i to j ends at ``starts[j + 1] - 1``.
    Returns the number of tokens.
    """
    if end == start:
        return 0
    m = uint64(1)
    last = uint64(0)
    window[0] = last
    starts[0] = int32(0)
    for p in range(uint64(end - start)):
        c = text[uint64(start) + p]
        starts[m] = int32(p + uint64(1))
        m += uint64(c == 32)
        last = last >> uint64(8) | uint64(c) << uint64(56)
        window[p + uint64(1)] = last
    starts[m] = int32(end - start + 1)
    return int64(m)


@kernel(
    "int64(uint8[::1], int64, int32[::1], uint64[::1], int64, int64, int64, uint64[::1], uint64[::1], uint64[::1])",
    **NO_COUNTING,
)
def gather_tokens(
    text: Any, start: Any, starts: Any, window: Any, m: Any, n: Any, n_chinese: Any, low: Any, high: Any, sizes: Any
) -> Any:
    """Bytes of all grams of ``m`` tokens, as :func:`simhash_es.core.kernels.char_grams.gather_grams` gives them."""
    count = uint64(0)
    last = uint64(m)
    for i in range(last):
        first = uint64(starts[i])
        g = uint64(n)
        if n != n_chinese and starts_chinese(text, uint64(start) + first):
            g = uint64(n_chinese)
        if i + g > last:
            continue
        end = uint64(starts[i + g]) - uint64(1)
        take_bytes(window, first, end, count, low, high, sizes)
        count += uint64(1)
    return int64(count)


@kernel("int64(uint8[::1], int64, int64, int32[::1], uint64[:, ::1], int64, int64[::1])", **NO_COUNTING)
def hash_tokens(text: Any, start: Any, end: Any, starts: Any, work: Any, m: Any, lane: Any) -> Any:
    """Hashes of the grams that a lane asks for; a text of no whole gram is one gram. Returns their number."""
    seed = uint64(lane[SEED])
    low, high, sizes = work[LOW], work[HIGH], work[SIZES]
    count = gather_tokens(text, start, starts, work[WINDOW], m, lane[GRAM], lane[GRAM_CHINESE], low, high, sizes)
    hash_gathered(text, start, low, high, sizes, count, seed, lane[HASH_WORD], work[HASHES])
    if count == 0 and m > 0:
        work[HASHES, 0] = murmur_bytes(text, start, end, seed, lane[HASH_WORD])
        count = 1
    return count


@kernel(
    "void(uint8[::1], int64[::1], int64[:, ::1], int64, int32[::1], uint64[:, ::1], uint64[::1], int32[::1],"
    " int64[::1], uint64[:, ::1], int64[::1])",
    **NO_COUNTING,
)
def fingerprint_tokens(
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
    """Fingerprints of several texts; as :func:`simhash_es.core.kernels.char_grams.fingerprint_characters`."""
    for d in range(len(offsets) - 1):
        start = offsets[d]
        end = offsets[d + 1]
        m = locate_tokens(text, start, end, starts, work[WINDOW])
        for j in range(lanes.shape[0]):
            count = hash_tokens(text, start, end, starts, work, m, lanes[j])
            out[d, j] = accumulate(work[HASHES], count, weighting, keys, counts, sums)
            if j == 0:
                n_features[d] = count
