"""A profile: everything that decides which fingerprint a text gets, as one frozen value with a stable digest.

A text passes these stages: repair of lone surrogates, cleaning, normal form, tokenizer, grams, weights, hash, sum.
Two fingerprints may be compared only if their profiles have the same :attr:`Profile.digest`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from simhash_es.core.bits import MAX_WIDTH, n_lanes
from simhash_es.core.idf import IdfTable
from simhash_es.core.normal_form import NormalForm
from simhash_es.core.profile_parts import (
    CUSTOM,
    DEFAULT_HALVES,
    ENGINE,
    HASH_BITS,
    MAX_HALVES,
    SEGMENTING,
    Cleaning,
    Half,
    HashName,
    Tokenizer,
    Weighting,
    check_range,
    jsonable,
    parse_hash,
    parse_tokenizer,
    parse_weighting,
)
from simhash_es.core.unicode_tables import UNICODE_VERSION
from simhash_es.core.user_dictionary import UserDictionary
from simhash_es.core.word_weights import WordWeights
from simhash_es.errors import InvalidOption

__all__ = [
    "CUSTOM",
    "DEFAULT_HALVES",
    "ENGINE",
    "FORMAT_VERSION",
    "HASH_BITS",
    "MAX_HALVES",
    "SEGMENTING",
    "Cleaning",
    "Half",
    "HashFunction",
    "HashName",
    "Profile",
    "Tokenizer",
    "TokenizerFunction",
    "Weighting",
]

FORMAT_VERSION = 1  # of the digest and of the JSON form; raised when a setting changes its meaning
FULL_NORMAL_FORM = NormalForm()
NO_CLEANING = Cleaning()

TokenizerFunction = Callable[[str], Iterable[str]]
HashFunction = Callable[[bytes], int]


@dataclass(frozen=True)
class Profile:
    """All settings of a fingerprint. The values not given are those of the preset ``default``.

    Equality and hash ignore names and paths, as the digest does.

    Attributes:
        name: For people only.
        cleaning: What is removed first.
        normal_form: Steps of the normal form.
        tokenizer: A :class:`Tokenizer`, ``engine:ANALYZER`` or ``custom:NAME``.
        halves: One entry for each value of the fingerprint, 1 to 16.
        width: Bits of each half, 1 to 128.
        weights: Weight of a feature.
        hash: A :class:`HashName` or ``custom:NAME``.
        vote: How many halves must be within their distance limit; not part of the digest, since values are the same.
        user_dictionary: Extra words for the segmenters.
        idf: The table, with weights ``tf-idf`` only.
        word_weights: The list, with weights ``manual`` only.
        tokenize_with: The function behind ``custom:NAME``; text to tokens.
        hash_with: The function behind ``custom:NAME``; UTF-8 bytes to an unsigned integer of ``custom_hash_bits``.
        custom_hash_bits: Bits that ``hash_with`` really gives.
    """

    name: str = field(default="default", compare=False)
    cleaning: Cleaning = NO_CLEANING
    normal_form: NormalForm = FULL_NORMAL_FORM
    tokenizer: str = Tokenizer.CHARS
    halves: tuple[Half, ...] = DEFAULT_HALVES
    width: int = 64
    weights: Weighting = Weighting.LOG_TF
    hash: str = HashName.MURMUR3
    vote: int = 2
    user_dictionary: UserDictionary | None = None
    idf: IdfTable | None = None
    word_weights: WordWeights | None = None
    tokenize_with: TokenizerFunction | None = field(default=None, compare=False)
    hash_with: HashFunction | None = field(default=None, compare=False)
    custom_hash_bits: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "tokenizer", parse_tokenizer(self.tokenizer))
        object.__setattr__(self, "weights", parse_weighting(self.weights))
        object.__setattr__(self, "hash", parse_hash(self.hash))
        object.__setattr__(self, "halves", tuple(self.halves))
        check_shape(self)
        check_tables(self)

    @property
    def layout_widths(self) -> tuple[int, ...]:
        """Bits of each half."""
        return (self.width,) * len(self.halves)

    @property
    def n_lanes(self) -> int:
        """64-bit lanes of a whole fingerprint."""
        return n_lanes(self.width) * len(self.halves)

    @property
    def hash_bits(self) -> int:
        """Bits the hash gives: the most a half may have."""
        return self.custom_hash_bits if self.hash.startswith(CUSTOM) else HASH_BITS[HashName(self.hash)]

    @cached_property
    def digest(self) -> str:
        """32 hexadecimal digits that stand for all settings that change a value.

        BLAKE2b-128 over the canonical JSON of :meth:`settings`. Names, paths and ``vote`` are no part of it.
        """
        text = json.dumps(self.settings(), sort_keys=True, ensure_ascii=True, separators=(",", ":"))
        return hashlib.blake2b(text.encode("ascii"), digest_size=16).hexdigest()

    def settings(self) -> dict[str, Any]:
        """What the digest is made from; tables stand there by their own digests."""
        return {
            "format": FORMAT_VERSION,
            "unicode": UNICODE_VERSION,
            "cleaning": {name: jsonable(getattr(self.cleaning, name)) for name in Cleaning.__dataclass_fields__},
            "normal_form": {name: getattr(self.normal_form, name) for name in NormalForm.__dataclass_fields__},
            "tokenizer": str(self.tokenizer),
            "halves": [[half.n, half.n_chinese, half.hash_word, half.seed] for half in self.halves],
            "width": self.width,
            "weights": str(self.weights),
            "hash": str(self.hash),
            "custom_hash_bits": self.custom_hash_bits,
            "user_dictionary": self.user_dictionary.digest if self.user_dictionary is not None else "",
            "idf": self.idf.digest if self.idf is not None else "",
            "word_weights": self.word_weights.digest if self.word_weights is not None else "",
        }

    @classmethod
    def custom(
        cls,
        *,
        name: str,
        tokenizer: TokenizerFunction | None = None,
        hash: HashFunction | None = None,
        hash_bits: int = 64,
        base: Profile | None = None,
        **options: Any,
    ) -> Profile:
        """A profile with the caller's own functions.

        Args:
            name: Stands for the functions in the digest: give it a new version whenever they give other results.
            tokenizer: Text (in normal form) to tokens. Blank tokens are dropped.
            hash: UTF-8 bytes to an unsigned integer.
            hash_bits: Bits that ``hash`` really gives, 1 to 128; a 32-bit hash is not stretched.
            base: Profile to start from; ``default`` when ``None``.
            options: As in :meth:`with_options`.

        Raises:
            InvalidOption: No name, or no function, or an option out of range.
        """
        from simhash_es.core.profile_options import custom_profile

        return custom_profile(
            base or cls(), name=name, tokenize_with=tokenizer, hash_with=hash, hash_bits=hash_bits, **options
        )

    def with_options(self, **options: Any) -> Profile:
        """This profile with some settings changed; see :func:`simhash_es.core.profile_options.with_options`."""
        from simhash_es.core.profile_options import with_options

        return with_options(self, **options)

    def to_dict(self) -> dict[str, Any]:
        """JSON form; functions are left out, see :func:`simhash_es.core.profile_json.profile_to_dict`."""
        from simhash_es.core.profile_json import profile_to_dict

        return profile_to_dict(self)

    @classmethod
    def from_dict(
        cls,
        data: dict[str, Any],
        *,
        tokenizer: TokenizerFunction | None = None,
        hash: HashFunction | None = None,
    ) -> Profile:
        """Inverse of :meth:`to_dict`; the functions of a custom profile are handed in again.

        Raises:
            InvalidOption: Another format version, an unknown key, a value out of range, or a changed table file.
        """
        from simhash_es.core.profile_json import profile_from_dict

        return profile_from_dict(data, tokenize_with=tokenizer, hash_with=hash)

    def save(self, path: str | Path) -> None:
        """Write the JSON form to a file."""
        text = json.dumps(self.to_dict(), ensure_ascii=False, indent=2)
        Path(path).write_text(text + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path) -> Profile:
        """Read what :meth:`save` wrote.

        Raises:
            InvalidOption: No such file, no JSON, or as :meth:`from_dict`.
        """
        try:
            data = json.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise InvalidOption(
                f"cannot read the profile {path}: {error}",
                "give a file that 'simhash-es profile show --save' or Profile.save wrote",
            ) from error
        return cls.from_dict(data)


def check_shape(profile: Profile) -> None:
    """Numbers that must fit each other: width, halves, vote, hash."""
    check_range("width in bits", profile.width, 1, MAX_WIDTH)
    check_range("number of halves", len(profile.halves), 1, MAX_HALVES)
    check_range("vote", profile.vote, 1, len(profile.halves))
    if profile.hash.startswith(CUSTOM):
        check_range("bits of the custom hash", profile.custom_hash_bits, 1, MAX_WIDTH)
    elif profile.custom_hash_bits or profile.hash_with is not None:
        raise InvalidOption(f"a hash function is given, but the hash is {profile.hash!r}", "use Profile.custom")
    if profile.tokenize_with is not None and not profile.tokenizer.startswith(CUSTOM):
        raise InvalidOption(f"a function is given, but the tokenizer is {profile.tokenizer!r}", "use Profile.custom")
    if profile.width > profile.hash_bits:
        raise InvalidOption(
            f"{profile.width} bits asked of the hash {profile.hash!r}, which has {profile.hash_bits}",
            f"ask for at most {profile.hash_bits} bits, or take a hash of 128 bits, such as murmur3",
        )
    for half in profile.halves:
        if half.hash_word and (profile.width > 64 or profile.hash_bits <= 64):
            raise InvalidOption(
                f"hash word 1 asked of {profile.hash!r} at {profile.width} bits",
                "it exists only where the hash has 128 bits and a half at most 64: use word 0 and another seed",
            )


def check_tables(profile: Profile) -> None:
    """Tables stand where they are used, and nowhere else."""
    if (profile.idf is not None) != (profile.weights is Weighting.TF_IDF):
        raise InvalidOption(
            f"weights are {profile.weights.value!r}, a tf-idf table is {'given' if profile.idf else 'not given'}",
            "build a table with 'simhash-es profile build-idf' and give both, or neither",
        )
    if (profile.word_weights is not None) != (profile.weights is Weighting.MANUAL):
        raise InvalidOption(
            f"weights are {profile.weights.value!r}, a word list is {'given' if profile.word_weights else 'not given'}",
            "give weights 'manual' and a file of lines word<TAB>weight, or neither",
        )
    if profile.user_dictionary is not None and profile.tokenizer not in SEGMENTING:
        raise InvalidOption(
            f"a user dictionary is given, but the tokenizer {profile.tokenizer!r} does not use one",
            f"take one of: {', '.join(SEGMENTING)}",
        )
