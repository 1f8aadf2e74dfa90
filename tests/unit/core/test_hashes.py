"""Hashes: published values, words, seeds, byte order."""

from __future__ import annotations

import hashlib
import importlib
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simhash_es.core.hashes import WORDS_OF, hash_function, words_function
from simhash_es.core.presets import preset
from simhash_es.core.profile import Half, HashName, Profile
from simhash_es.errors import MissingExtra

WIDE = [name for name in HashName if not name.endswith("64")]
EMPTY_MD5 = 0xD41D8CD98F00B204E9800998ECF8427E
EMPTY_SHA1 = 0xDA39A3EE5E6B4B0D3255BFEF95601890AFD80709


def value(name: str, width: int, data: bytes, hash_word: int = 0, seed: int = 0) -> int:
    profile = Profile(hash=name, width=width, halves=(Half(1, 1, hash_word, seed),), vote=1)
    return hash_function(profile, profile.halves[0])(data)


def test_published_values() -> None:
    """MD5 and SHA-1 of nothing are those of RFC 1321 and RFC 3174, read big-endian."""
    assert value("md5", 128, b"") == EMPTY_MD5
    assert value("sha1", 128, b"") == EMPTY_SHA1 >> 32


def test_known_values_of_libraries() -> None:
    """Pinned values, so that another release of a library cannot change fingerprints unseen."""
    data = "竹笋".encode()
    assert {name: [f"{word:016x}" for word in WORDS_OF[name](data, 0)] for name in HashName} == PINNED
    assert {name: [f"{word:016x}" for word in WORDS_OF[name](data, 9)] for name in HashName} == PINNED_SEED_9


PINNED = {
    "murmur3": ["dafe6d16a98494d9", "287849b9b820200e"],
    "md5": ["1321ba7c36703886", "4291a5a29d920e50"],
    "sha1": ["ef708be955d92a0c", "609e6ddac37024ef"],
    "cityhash": ["fdd4f1131e6092dc", "3339e04adea35970"],
    "cityhash64": ["f4de1497b5e4ada0", "0000000000000000"],
    "xxhash": ["1d8cee2548aca91e", "cef9549930e3cb07"],
    "xxhash64": ["118f1961afec276e", "0000000000000000"],
}
PINNED_SEED_9 = {
    "murmur3": ["d42f1dbc9a2d75da", "495bbc7e287b1e67"],
    "md5": ["73d6865a8b227c1c", "15e6e67f175d448f"],
    "sha1": ["42f31552fc1ce2f4", "49944dcfe04124b5"],
    "cityhash": ["7eff3223977e4fb8", "9d9577cf8fd323ee"],
    "cityhash64": ["b149bf6f6e537185", "0000000000000000"],
    "xxhash": ["0a775fa8713072e8", "94553cc992f795fb"],
    "xxhash64": ["e63778a5b91037d8", "0000000000000000"],
}


@given(st.sampled_from(WIDE), st.binary(max_size=40), st.integers(1, 128), st.integers(0, 2**32 - 1))
def test_narrow_values_are_the_top_of_wide_ones(name: str, data: bytes, width: int, seed: int) -> None:
    """A value of fewer bits is the most significant part of the 128-bit value, unsigned."""
    whole = value(name, 128, data, seed=seed)
    assert value(name, width, data, seed=seed) == whole >> (128 - width)
    assert 0 <= whole < 2**128


@given(st.sampled_from(WIDE), st.binary(max_size=40))
def test_second_word(name: str, data: bytes) -> None:
    """Word 1 is the low half of the 128-bit value."""
    assert value(name, 64, data, hash_word=1) == value(name, 128, data) & (2**64 - 1)


@pytest.mark.parametrize("name", HashName)
def test_seed_gives_another_hash(name: str) -> None:
    """With another seed no word stays."""
    first, other = WORDS_OF[HashName(name)](b"ferry", 0), WORDS_OF[HashName(name)](b"ferry", 1)
    assert first[0] != other[0]
    assert name.endswith("64") or first[1] != other[1]


def test_seed_of_digests_is_a_prefix() -> None:
    """Hashes without a seed of their own get its four bytes in front."""
    assert value("md5", 128, b"ferry", seed=258) == int(hashlib.md5(b"\0\0\1\2ferry").hexdigest(), 16)


def test_32_bits_fill_the_top() -> None:
    """A custom hash is taken as it is, from its most significant bit."""
    profile = Profile.custom(name="four-bits", hash=lambda data: 0b1001, hash_bits=4, bits=3, halves=1)
    assert hash_function(profile, profile.halves[0])(b"x") == 0b100


def test_missing_library_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the package the error says how to install it."""
    monkeypatch.setitem(sys.modules, "cityhash", None)
    profile = preset("default").with_options(hash="cityhash")
    with pytest.raises(MissingExtra) as caught:
        words_function(profile)(b"x", 0)
    assert caught.value.extra == "hashes"
    assert "pip install" in caught.value.hint


def test_128_bit_hashes_agree_with_their_libraries() -> None:
    """The 128-bit value is the library's integer."""
    cityhash, xxhash = importlib.import_module("cityhash"), importlib.import_module("xxhash")
    assert value("cityhash", 128, b"ferry") == cityhash.CityHash128(b"ferry")
    assert value("cityhash64", 64, b"ferry") == cityhash.CityHash64(b"ferry")
    assert value("xxhash", 128, b"ferry") == xxhash.xxh3_128_intdigest(b"ferry")
    assert value("xxhash64", 64, b"ferry") == xxhash.xxh3_64_intdigest(b"ferry")
