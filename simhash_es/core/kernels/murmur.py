"""MurmurHash3 x64 128 over byte arrays.

Source: Austin Appleby, MurmurHash3.cpp (public domain), function ``MurmurHash3_x64_128``; equal to ``mmh3.hash64``.
The two 64-bit words of the result are word 0 and word 1. All arithmetic wraps at 64 bits.
"""

from __future__ import annotations

from typing import Any

from numba import uint64

from simhash_es.core.kernels.runtime import NO_COUNTING, kernel

C1 = uint64(0x87C37B91114253D5)
C2 = uint64(0x4CF5AD432745937F)


@kernel("uint64(uint64, int64)", inline="always")
def rotate(x: Any, r: Any) -> Any:
    """``x`` rotated to the left by ``r`` bits, 1 to 63."""
    return (x << uint64(r)) | (x >> uint64(64 - r))


@kernel("uint64(uint64)", inline="always")
def mix(k: Any) -> Any:
    """The final mix of one 64-bit sum."""
    k ^= k >> uint64(33)
    k *= uint64(0xFF51AFD7ED558CCD)
    k ^= k >> uint64(33)
    k *= uint64(0xC4CEB9FE1A85EC53)
    return k ^ (k >> uint64(33))


@kernel("uint64(uint64, uint64, int64)", inline="always")
def finish(h1: Any, h2: Any, word: Any) -> Any:
    """Last step: word 0 or word 1 of the two running sums, the length already mixed in."""
    h1 += h2
    h2 += h1
    h1 = mix(h1)
    h2 = mix(h2)
    return h1 + h2 + h2 * uint64(word)


@kernel("UniTuple(uint64, 2)(uint8[::1], int64, int64, uint64)", **NO_COUNTING)
def murmur_sums(data: Any, start: Any, end: Any, seed: Any) -> Any:
    """The two running sums over ``data[start:end]``, the length mixed in, before the last step."""
    h1 = seed
    h2 = seed
    i = start
    while end - i >= 16:
        k1 = uint64(0)
        k2 = uint64(0)
        for j in range(8):
            k1 |= uint64(data[i + j]) << uint64(8 * j)
            k2 |= uint64(data[i + 8 + j]) << uint64(8 * j)
        h1 ^= rotate(k1 * C1, 31) * C2
        h1 = (rotate(h1, 27) + h2) * uint64(5) + uint64(0x52DCE729)
        h2 ^= rotate(k2 * C2, 33) * C1
        h2 = (rotate(h2, 31) + h1) * uint64(5) + uint64(0x38495AB5)
        i += 16
    left = end - i
    t1 = uint64(0)
    t2 = uint64(0)
    for j in range(min(left, 8)):
        t1 |= uint64(data[i + j]) << uint64(8 * j)
    for j in range(8, left):
        t2 |= uint64(data[i + j]) << uint64(8 * (j - 8))
    h2 ^= rotate(t2 * C2, 33) * C1
    h1 ^= rotate(t1 * C1, 31) * C2
    length = uint64(end - start)
    return h1 ^ length, h2 ^ length


@kernel("uint64(uint8[::1], int64, int64, uint64, int64)", **NO_COUNTING)
def murmur_bytes(data: Any, start: Any, end: Any, seed: Any, word: Any) -> Any:
    """Hash of ``data[start:end]``."""
    h1, h2 = murmur_sums(data, start, end, seed)
    return finish(h1, h2, word)


@kernel("uint64(uint64, uint64, uint64, uint64, int64)", inline="always")
def murmur_tail(t1: Any, t2: Any, length: Any, seed: Any, word: Any) -> Any:
    """Hash of at most 15 bytes, already gathered little-endian: the first 8 in ``t1``, the rest in ``t2``."""
    h2 = seed ^ (rotate(t2 * C2, 33) * C1) ^ length
    h1 = seed ^ (rotate(t1 * C1, 31) * C2) ^ length
    return finish(h1, h2, word)


@kernel("void(uint8[::1], int64[::1], uint64[:, ::1])", **NO_COUNTING)
def digest_batch(text: Any, offsets: Any, out: Any) -> None:
    """Both words of the hash of each text, for telling identical texts: ``out`` is ``(n, 2)``."""
    for d in range(len(offsets) - 1):
        h1, h2 = murmur_sums(text, offsets[d], offsets[d + 1], uint64(0))
        out[d, 0] = finish(h1, h2, 0)
        out[d, 1] = finish(h1, h2, 1)
