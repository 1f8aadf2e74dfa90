"""What a profile is made of: names of tokenizers, weights and hashes, cleaning options, halves."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from simhash_es.errors import InvalidOption

MAX_GRAM = 32  # longer grams are nearly as rare as whole texts and separate nothing
MAX_HALVES = 16
MAX_SEED = (1 << 32) - 1  # what MurmurHash3 takes
CUSTOM = "custom:"
ENGINE = "engine:"


def check_range(what: str, value: object, lowest: int, highest: int) -> None:
    """Raise ``InvalidOption`` unless ``value`` is a whole number from ``lowest`` to ``highest``."""
    if isinstance(value, bool) or not isinstance(value, int) or not lowest <= value <= highest:
        raise InvalidOption(f"{what} is {value!r}", f"expected a whole number from {lowest} to {highest}")


def jsonable(value: object) -> object:
    """Tuples as lists, everything else as it is."""
    return list(value) if isinstance(value, tuple) else value


def parse_tokenizer(name: str) -> str:
    """The canonical name of a tokenizer."""
    if name.startswith((ENGINE, CUSTOM)) and name.partition(":")[2]:
        return str(name)
    return str(parse_choice(Tokenizer, name, "tokenizer", ", or engine:ANALYZER"))


def parse_weighting(name: str) -> Weighting:
    """The weighting of that name."""
    return Weighting(parse_choice(Weighting, name, "weights", ""))


def parse_hash(name: str) -> str:
    """The canonical name of a hash."""
    if name.startswith(CUSTOM) and name.partition(":")[2]:
        return str(name)
    return str(parse_choice(HashName, name, "hash", ""))


def parse_choice(choices: type[StrEnum], name: str, what: str, more: str) -> StrEnum:
    """The member of ``choices`` with that value, or ``InvalidOption`` naming all of them."""
    try:
        return choices(name)
    except ValueError:
        raise InvalidOption(f"unknown {what} {name!r}", f"choose one of: {', '.join(choices)}{more}") from None


class Tokenizer(StrEnum):
    """Built-in tokenizers; ``engine:ANALYZER`` and ``custom:NAME`` are the other two forms."""

    CHARS = "chars"  # each character
    WORDS = "words"  # runs without space; Chinese runs cut into words
    JIEBA = "jieba"  # everything by jieba, blanks dropped
    RJIEBA = "rjieba"  # everything by rjieba, blanks dropped
    JIEBA_RAW = "jieba-raw"  # everything jieba gives, blanks and punctuation included


class Weighting(StrEnum):
    """How often a feature counts; ``tf`` is its number of occurrences in the text."""

    UNIFORM = "uniform"  # 1
    TF = "tf"  # tf
    LOG_TF = "log-tf"  # 1 + floor(log2 tf)
    TF_IDF = "tf-idf"  # tf times the table's weight
    MANUAL = "manual"  # tf times the listed weight


class HashName(StrEnum):
    """Built-in hashes of a gram; ``custom:NAME`` is the other form."""

    MURMUR3 = "murmur3"
    MD5 = "md5"
    SHA1 = "sha1"
    CITYHASH = "cityhash"
    CITYHASH64 = "cityhash64"
    XXHASH = "xxhash"
    XXHASH64 = "xxhash64"


HASH_BITS = {name: 64 if name.endswith("64") else 128 for name in HashName}
SEGMENTING = (Tokenizer.WORDS, Tokenizer.JIEBA, Tokenizer.RJIEBA, Tokenizer.JIEBA_RAW)


@dataclass(frozen=True)
class Cleaning:
    """What is taken out of a text before its normal form.

    Attributes:
        html: Reduce HTML to its text.
        urls: Remove web addresses.
        digits: Remove decimal digits of every script.
        stop_words: Words to remove; see :mod:`simhash_es.core.cleaning` for what that means per tokenizer.
        patterns: Regular expressions whose matches become one space, applied in this order.
        simplify: Traditional to simplified Chinese by OpenCC (extra ``opencc``).
        word_characters: Lower-case, and keep only letters, numbers and ``_``, as PyPI ``simhash`` does.
    """

    html: bool = False
    urls: bool = False
    digits: bool = False
    stop_words: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    simplify: bool = False
    word_characters: bool = False

    def __post_init__(self) -> None:
        for name in ("stop_words", "patterns"):
            value = getattr(self, name)
            if isinstance(value, str) or not all(isinstance(item, str) for item in value):
                raise InvalidOption(f"{name} must be a sequence of strings, not {value!r}")
            object.__setattr__(self, name, tuple(value))
        if self.stop_words and self.word_characters:
            raise InvalidOption(
                "stop words together with word_characters", "word_characters joins all words: leave one of the two out"
            )

    @property
    def is_empty(self) -> bool:
        """Whether texts pass unchanged."""
        return self == Cleaning()


@dataclass(frozen=True)
class Half:
    """The grams and the hash of one half.

    Attributes:
        n: Characters (tokens) of a gram, 1 to 32.
        n_chinese: The same for grams that start with a Chinese character (a token that starts with one).
        hash_word: 0 or 1: first or second 64 bits of the hash. Must be 0 above 64 bits, where both are used.
        seed: Seed of the hash, 0 to 2^32 - 1.
    """

    n: int
    n_chinese: int
    hash_word: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        for name, lowest, highest in (
            ("n", 1, MAX_GRAM),
            ("n_chinese", 1, MAX_GRAM),
            ("hash_word", 0, 1),
            ("seed", 0, MAX_SEED),
        ):
            check_range(f"half: {name}", getattr(self, name), lowest, highest)


DEFAULT_HALVES = (Half(n=4, n_chinese=3, hash_word=0), Half(n=5, n_chinese=5, hash_word=1))
