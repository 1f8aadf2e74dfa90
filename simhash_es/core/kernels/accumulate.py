"""From the hashes of a text's features to one 64-bit lane of its fingerprint.

Repeated hashes are counted in an open-addressing table. The weight 1 + floor(log2 tf) is added one by one, whenever the
running count becomes a power of two, so the table is never walked a second time. The 64 sums are kept as bit planes
that take a whole hash in a few operations and are added up every 31 features.
"""

from __future__ import annotations

from typing import Any

from numba import int32, int64, uint64

from simhash_es.core.kernels.runtime import NO_COUNTING, kernel

UNIFORM, TF, LOG_TF = range(3)
"""Weightings: each distinct feature once; each occurrence once; 1 + floor(log2 tf)."""

N_PLANES = 5
PLANES_FULL = (1 << N_PLANES) - 1


@kernel("int64(int64)", **NO_COUNTING)
def table_size(n_features: Any) -> Any:
    """Slots of a work table for so many features: the power of two from twice their number, at least 16."""
    capacity = 16
    while capacity < 2 * n_features:
        capacity <<= 1
    return capacity


@kernel("void(uint64, uint64, uint64, uint64, uint64, int64[::1])", **NO_COUNTING)
def add_planes(p0: Any, p1: Any, p2: Any, p3: Any, p4: Any, sums: Any) -> None:
    """Add the five bit planes to the 64 sums."""
    one = uint64(1)
    for k in range(64):
        s = uint64(k)
        sums[k] += int64(
            (p0 >> s & one) | ((p1 >> s & one) << one) | ((p2 >> s & one) << uint64(2))
            | ((p3 >> s & one) << uint64(3)) | ((p4 >> s & one) << uint64(4))
        )  # fmt: skip


@kernel("uint64(int64[::1], int64)", **NO_COUNTING)
def sign_bits(sums: Any, total: Any) -> Any:
    """Bit ``k`` is 1 where the weight of the features that have it exceeds half of the total; a tie gives 0."""
    value = uint64(0)
    for k in range(64):
        if 2 * sums[k] > total:
            value |= uint64(1) << uint64(k)
    return value


@kernel("uint64(uint64[::1], int64, int64, uint64[::1], int32[::1], int64[::1])", **NO_COUNTING)
def accumulate(hashes: Any, n: Any, weighting: Any, keys: Any, counts: Any, sums: Any) -> Any:
    """The lane of a text whose features, in any order and with repetitions, have ``hashes[:n]``.

    ``keys`` and ``counts`` are work tables of at least ``table_size(n)``, ``sums`` of 64.
    """
    mask = uint64(table_size(n) - 1)
    if weighting != TF:
        counts[: int64(mask) + 1] = 0
    sums[:] = 0
    total = 0
    pending = uint64(0)
    p0 = uint64(0)
    p1 = uint64(0)
    p2 = uint64(0)
    p3 = uint64(0)
    p4 = uint64(0)
    for i in range(uint64(n)):
        h = hashes[i]
        adds = uint64(1)
        if weighting != TF:
            slot = h & mask
            while counts[slot] != 0 and keys[slot] != h:
                slot = (slot + uint64(1)) & mask
            c = counts[slot]
            keys[slot] = h
            counts[slot] = c + int32(1)
            if weighting == LOG_TF:
                adds = uint64((c & (c + int32(1))) == 0)  # c + 1 is a power of two
            else:
                adds = uint64(c == 0)
        x = h & (uint64(0) - adds)  # without a branch: whether a gram is new cannot be predicted
        total += int64(adds)
        pending += adds
        carry = p0 & x
        p0 ^= x
        x = p1 & carry
        p1 ^= carry
        carry = p2 & x
        p2 ^= x
        x = p3 & carry
        p3 ^= carry
        p4 ^= x
        if pending == PLANES_FULL:
            add_planes(p0, p1, p2, p3, p4, sums)
            p0 = uint64(0)
            p1 = uint64(0)
            p2 = uint64(0)
            p3 = uint64(0)
            p4 = uint64(0)
            pending = uint64(0)
    add_planes(p0, p1, p2, p3, p4, sums)
    return sign_bits(sums, total)
