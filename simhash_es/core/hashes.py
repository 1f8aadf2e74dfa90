"""Hashes of a gram: two words of 64 bits, the more significant first.

==========  ==================================================================================================
murmur3     MurmurHash3 x64 128, ``mmh3.hash64``: words (h1, h2)
md5, sha1   digest bytes 0–7 and 8–15, each read big-endian
cityhash    ``CityHash128``: high and low half of the integer that the package ``cityhash`` gives (extra ``hashes``)
cityhash64  ``CityHash64``: one word
xxhash      XXH3 128: high and low half of ``xxh3_128_intdigest`` (extra ``hashes``)
xxhash64    XXH3 64: one word
custom      the high and low half of the caller's integer, left-aligned: a 32-bit hash fills the top 32 bits
==========  ==================================================================================================

Seed 0 is the plain hash. Other seeds go to the hash's own seed; md5, sha1 and custom hashes, which have none, get the
seed's four bytes (big-endian) before the gram.

A half of up to 64 bits takes the most significant bits of its word; a wider one those of ``word0 << 64 | word1``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import partial

import mmh3

from simhash_es._optional import require
from simhash_es.core.bits import MASK64
from simhash_es.core.profile import CUSTOM, Half, HashFunction, HashName, Profile
from simhash_es.errors import InvalidOption

Words = tuple[int, int]
WordsFunction = Callable[[bytes, int], Words]


def murmur3(data: bytes, seed: int) -> Words:
    """The two words of MurmurHash3 x64 128, unsigned."""
    first, second = mmh3.hash64(data, seed, x64arch=True, signed=False)
    return first, second


def digest_words(algorithm: str, data: bytes, seed: int) -> Words:
    """The first 128 bits of a :mod:`hashlib` digest; no security is asked of it."""
    digest = hashlib.new(algorithm, seeded(data, seed), usedforsecurity=False).digest()
    return int.from_bytes(digest[:8], "big"), int.from_bytes(digest[8:16], "big")


def cityhash128(data: bytes, seed: int) -> Words:
    """CityHash128."""
    library = require("cityhash", "hashes", "The hash cityhash")
    return halves_of(library.CityHash128WithSeed(data, seed) if seed else library.CityHash128(data))


def cityhash64(data: bytes, seed: int) -> Words:
    """CityHash64 as the first word."""
    library = require("cityhash", "hashes", "The hash cityhash64")
    return int(library.CityHash64WithSeed(data, seed) if seed else library.CityHash64(data)), 0


def xxh3_128(data: bytes, seed: int) -> Words:
    """XXH3 128."""
    return halves_of(require("xxhash", "hashes", "The hash xxhash").xxh3_128_intdigest(data, seed))


def xxh3_64(data: bytes, seed: int) -> Words:
    """XXH3 64 as the first word."""
    return int(require("xxhash", "hashes", "The hash xxhash64").xxh3_64_intdigest(data, seed)), 0


def custom_words(function: HashFunction, bits: int, data: bytes, seed: int) -> Words:
    """The caller's integer, left-aligned in 128 bits.

    Raises:
        InvalidOption: The function gave no unsigned integer of at most ``bits`` bits.
    """
    value = function(seeded(data, seed))
    if not isinstance(value, int) or not 0 <= value < 1 << bits:
        raise InvalidOption(
            f"the custom hash gave {value!r}, which is no unsigned integer of {bits} bits",
            "return a non-negative int, and state its real number of bits as hash_bits",
        )
    return halves_of(value << (128 - bits))


def seeded(data: bytes, seed: int) -> bytes:
    """For hashes without a seed of their own."""
    return seed.to_bytes(4, "big") + data if seed else data


def halves_of(value: int) -> Words:
    """High and low 64 bits of a 128-bit integer."""
    return value >> 64, value & MASK64


WORDS_OF: dict[HashName, WordsFunction] = {
    HashName.MURMUR3: murmur3,
    HashName.MD5: partial(digest_words, "md5"),
    HashName.SHA1: partial(digest_words, "sha1"),
    HashName.CITYHASH: cityhash128,
    HashName.CITYHASH64: cityhash64,
    HashName.XXHASH: xxh3_128,
    HashName.XXHASH64: xxh3_64,
}


def words_function(profile: Profile) -> WordsFunction:
    """The function (UTF-8 bytes, seed) → two words of a profile.

    Raises:
        InvalidOption: A custom profile was read from JSON and its function not handed in.
        MissingExtra: When called: the library of that hash is not installed.
    """
    if not profile.hash.startswith(CUSTOM):
        return WORDS_OF[HashName(profile.hash)]
    if profile.hash_with is None:
        raise InvalidOption(
            f"the profile uses the hash function {profile.hash.removeprefix(CUSTOM)!r}, which is not at hand",
            "hand it in: Profile.from_dict(data, hash=function)",
        )
    return partial(custom_words, profile.hash_with, profile.custom_hash_bits)


def hash_function(profile: Profile, half: Half) -> Callable[[bytes], int]:
    """The function UTF-8 bytes → unsigned integer of ``profile.width`` bits of one half."""
    words = words_function(profile)
    width = profile.width
    if width > 64:

        def whole(data: bytes) -> int:
            first, second = words(data, half.seed)
            return (first << 64 | second) >> (128 - width)

        return whole

    def one_word(data: bytes) -> int:
        return words(data, half.seed)[half.hash_word] >> (64 - width)

    return one_word
