"""MurmurHash3 x64 128 of the kernels is that of mmh3, bit for bit."""

from __future__ import annotations

import mmh3
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simhash_es.core.batch import pack_texts
from simhash_es.core.kernels.murmur import digest_batch, murmur_bytes, murmur_tail
from simhash_es.core.kernels.runtime import kernel

MASK = (1 << 64) - 1


@kernel("uint64(uint64, uint64, uint64, uint64, int64)")
def tail(t1, t2, length, seed, word):  # type: ignore[no-untyped-def] # the signature is in the decorator
    return murmur_tail(t1, t2, length, seed, word)


def words(data: bytes, seed: int) -> tuple[int, int]:
    first, second = mmh3.hash64(data, seed, x64arch=True, signed=False)
    return first, second


def by_kernel(data: bytes, seed: int, before: bytes = b"") -> tuple[int, int]:
    whole = np.frombuffer(bytearray(before + data + b"\xff"), np.uint8)
    start, end = len(before), len(before) + len(data)
    return int(murmur_bytes(whole, start, end, seed, 0)), int(murmur_bytes(whole, start, end, seed, 1))


def by_tail(data: bytes, seed: int) -> tuple[int, int]:
    t1, t2 = int.from_bytes(data[:8], "little"), int.from_bytes(data[8:], "little")
    return int(tail(t1, t2, len(data), seed, 0)), int(tail(t1, t2, len(data), seed, 1))


@pytest.mark.parametrize("seed", [0, 1, 0x9747B28C, 0xFFFFFFFF])
@pytest.mark.parametrize("length", range(41))
def test_every_length(length: int, seed: int) -> None:
    """Both words, for every length up to two and a half blocks, with bytes on both sides of the sign."""
    for data in (bytes(range(200, 200 + length)), b"\0" * length, b"\xff" * length, bytes(range(length))):
        assert by_kernel(data, seed, before=b"xyz") == words(data, seed)
        if length <= 15:
            assert by_tail(data, seed) == words(data, seed)


@given(st.binary(max_size=200), st.integers(0, (1 << 32) - 1), st.binary(max_size=5))
def test_any_bytes(data: bytes, seed: int, before: bytes) -> None:
    """Any bytes, any seed, anywhere in a buffer."""
    assert by_kernel(data, seed, before) == words(data, seed)


@given(st.lists(st.binary(max_size=60), max_size=8))
def test_digests_of_several_texts(texts: list[bytes]) -> None:
    """A content digest is the 128-bit hash of the text, whatever stands before and behind it."""
    block = pack_texts(texts)
    found = np.empty((len(texts), 2), np.uint64)
    digest_batch(block.data, block.offsets, found)
    assert [tuple(row) for row in found.tolist()] == [words(text, 0) for text in texts]
