"""Changing single settings of a profile."""

from __future__ import annotations

import pytest

from simhash_es.core.idf import IdfTable
from simhash_es.core.presets import PRESETS, preset
from simhash_es.core.profile import Cleaning, Half, Profile
from simhash_es.core.profile_options import TOKEN_HALVES, parse_ngrams
from simhash_es.core.reference import reference_fingerprint
from simhash_es.core.user_dictionary import UserDictionary
from simhash_es.core.word_weights import WordWeights
from simhash_es.errors import InvalidOption

DEFAULT = preset("default")
TEXT = "The ferry leaves at half past six, 今天的菜市场卖新鲜竹笋。"


@pytest.mark.parametrize("name", PRESETS)
def test_nothing_changed_is_the_same_profile(name: str) -> None:
    """Options that say what is there already change nothing, the name included."""
    profile = preset(name)
    same = profile.with_options(bits=profile.width, hash=profile.hash, weights=profile.weights.value)
    assert same == profile
    assert same.name == name
    assert profile.with_options() is profile


def test_changed_profile_says_so() -> None:
    """The name tells that settings differ from the preset, once."""
    changed = DEFAULT.with_options(weights="tf").with_options(hash="md5")
    assert changed.name == "default (changed)"
    assert DEFAULT.with_options(weights="tf", name="mine").name == "mine"


def test_three_halves() -> None:
    """Half 2 has the grams of half 0, and a hash independent of both others."""
    three = DEFAULT.with_options(halves=3, vote=2)
    assert three.halves == (Half(4, 3, 0, 0), Half(5, 5, 1, 0), Half(4, 3, 0, 1))
    assert three.vote == 2
    assert DEFAULT.with_options(halves=5).vote == 5
    values = reference_fingerprint(TEXT, three)
    assert values is not None
    assert values[:2] == reference_fingerprint(TEXT, DEFAULT)
    assert len(set(values)) == 3


def test_one_half_is_half_a() -> None:
    """A single half is the first one."""
    assert DEFAULT.with_options(halves=1).halves == (Half(4, 3),)


def test_more_than_64_bits() -> None:
    """128 bits mean one value, unless halves are asked for; then seeds keep them independent."""
    assert DEFAULT.with_options(bits=128).layout_widths == (128,)
    two = DEFAULT.with_options(bits=128, halves=2)
    assert two.halves == (Half(4, 3, 0, 0), Half(5, 5, 0, 1))


def test_hash_of_one_word() -> None:
    """With a 64-bit hash the halves differ by seed."""
    assert DEFAULT.with_options(hash="xxhash64").halves == (Half(4, 3, 0, 0), Half(5, 5, 0, 1))


def test_64_bits_are_the_first_of_128() -> None:
    """A narrower value is the most significant part of a wider one."""
    wide = reference_fingerprint(TEXT, DEFAULT.with_options(bits=128))
    narrow = reference_fingerprint(TEXT, DEFAULT.with_options(bits=48))
    one = reference_fingerprint(TEXT, DEFAULT)
    assert wide is not None
    assert narrow is not None
    assert one is not None
    assert (wide[0] >> 64, wide[0] >> 80) == (one[0], narrow[0])


def test_tokenizer_brings_its_grams() -> None:
    """Between characters and words the gram sizes change, unless they are given."""
    assert DEFAULT.with_options(tokenizer="words") == preset("words")
    assert DEFAULT.with_options(tokenizer="words").halves == TOKEN_HALVES
    assert preset("words").with_options(tokenizer="chars") == DEFAULT
    assert preset("words").with_options(tokenizer="jieba").halves == TOKEN_HALVES
    assert DEFAULT.with_options(tokenizer="words", ngram=3).halves == (Half(3, 3), Half(3, 3, 1))


def test_seed_makes_another_fingerprint() -> None:
    """Other seeds give unrelated values of the same features."""
    assert DEFAULT.with_options(seed=3).halves == (Half(4, 3, 0, 3), Half(5, 5, 1, 3))
    assert reference_fingerprint(TEXT, DEFAULT.with_options(seed=3)) != reference_fingerprint(TEXT, DEFAULT)


@pytest.mark.parametrize(
    ("text", "sizes"), [(5, ((5, 5),)), ("5", ((5, 5),)), ("4/3", ((4, 3),)), ("4/3, 5", ((4, 3), (5, 5)))]
)
def test_parse_ngrams(text: int | str, sizes: tuple[tuple[int, int], ...]) -> None:
    """One size, a size for Chinese, and a size for each half."""
    assert parse_ngrams(text) == sizes


@pytest.mark.parametrize("text", ["", "x", "4/", "/3", "0", "33", "4,", "-1", "4/3/2", "٤", "²"])
def test_parse_ngrams_refuses(text: str) -> None:
    """Anything else is an error with an example."""
    with pytest.raises(InvalidOption) as caught:
        parse_ngrams(text)
    assert caught.value.hint


def test_ngram_sizes_go_round() -> None:
    """With fewer sizes than halves, the sizes are used in turn."""
    assert [half.n for half in DEFAULT.with_options(halves=4, ngram="3,6").halves] == [3, 6, 3, 6]
    assert [half.n for half in DEFAULT.with_options(halves=3, ngram="3,6,7").halves] == [3, 6, 7]


def test_unused_tables_are_dropped() -> None:
    """Other weights or another tokenizer leave no table without a use."""
    table, listed = IdfTable(3, {"a": 1}), WordWeights((("a", 1),))
    weighted = DEFAULT.with_options(weights="tf-idf", idf=table)
    assert weighted.with_options(weights="tf").idf is None
    manual = weighted.with_options(weights="manual", word_weights=listed)
    assert (manual.idf, manual.word_weights) == (None, listed)
    assert manual.with_options(weights="log-tf").word_weights is None
    with_words = preset("words").with_options(user_dictionary=UserDictionary("x", "ab"))
    assert with_words.with_options(tokenizer="chars").user_dictionary is None
    assert with_words.with_options(tokenizer="jieba").user_dictionary is not None


def test_contradictions_are_refused() -> None:
    """An option that would have no effect is an error."""
    with pytest.raises(InvalidOption, match="tf-idf table is given"):
        DEFAULT.with_options(idf=IdfTable(3, {"a": 1}))
    with pytest.raises(InvalidOption, match="user dictionary"):
        DEFAULT.with_options(user_dictionary=UserDictionary("x", "ab"))
    with pytest.raises(InvalidOption, match="vote"):
        DEFAULT.with_options(vote=3)
    with pytest.raises(InvalidOption, match="number of halves"):
        DEFAULT.with_options(halves=0)
    with pytest.raises(InvalidOption, match="has 64"):
        DEFAULT.with_options(bits=128, hash="xxhash64")


def test_cleaning_is_replaced() -> None:
    """Cleaning options are one value."""
    assert DEFAULT.with_options(cleaning=Cleaning(digits=True)).cleaning == Cleaning(digits=True)


def split_on_commas(text: str) -> list[str]:
    return text.split(",")


def sum_of_bytes(data: bytes) -> int:
    return sum(data) % 256


def test_custom_tokenizer() -> None:
    """A callable splits the normal form; blanks never get in; its name is in the digest."""
    profile = Profile.custom(name="spaces-1", tokenizer=str.split)
    assert profile.tokenizer == "custom:spaces-1"
    assert reference_fingerprint("b  a c", profile) == reference_fingerprint("b a c", profile)
    assert profile.digest != Profile.custom(name="spaces-2", tokenizer=str.split).digest
    again = Profile.from_dict(profile.to_dict(), tokenizer=str.split)
    assert reference_fingerprint("b a c", again) == reference_fingerprint("b a c", profile)


def test_custom_functions_must_be_handed_in_again() -> None:
    """A custom profile from JSON does not guess its functions."""
    profile = Profile.custom(name="mine", tokenizer=split_on_commas, hash=sum_of_bytes, hash_bits=8, bits=8, halves=1)
    data = profile.to_dict()
    with pytest.raises(InvalidOption, match="tokenizer 'mine'"):
        reference_fingerprint("a", Profile.from_dict(data))
    with pytest.raises(InvalidOption, match="hash function 'mine'"):
        reference_fingerprint("a", Profile.from_dict(data, tokenizer=split_on_commas))
    again = Profile.from_dict(data, tokenizer=split_on_commas, hash=sum_of_bytes)
    assert reference_fingerprint("a", again) == (97,)


def test_custom_hash_is_not_stretched() -> None:
    """More bits than the function gives are refused."""
    with pytest.raises(InvalidOption, match="64 bits asked"):
        Profile.custom(name="sum", hash=sum_of_bytes, hash_bits=8)


def test_custom_hash_that_lies_is_refused() -> None:
    """A value outside the stated bits, or a negative one, is an error."""
    for function in (lambda data: 256, lambda data: -1):
        profile = Profile.custom(name="wrong", hash=function, hash_bits=8, bits=8)
        with pytest.raises(InvalidOption, match="8 bits"):
            reference_fingerprint("a", profile)


def test_custom_needs_a_name_and_a_function() -> None:
    """Neither has a default."""
    with pytest.raises(InvalidOption, match="name"):
        Profile.custom(name=" ", tokenizer=str.split)
    with pytest.raises(InvalidOption, match="function"):
        Profile.custom(name="mine")


def test_leaving_a_custom_function_drops_it() -> None:
    """A built-in tokenizer and hash come without functions."""
    profile = Profile.custom(name="mine", tokenizer=str.split, hash=sum_of_bytes, hash_bits=8, bits=8)
    plain = profile.with_options(tokenizer="words", hash="murmur3", bits=64)
    assert (plain.tokenize_with, plain.hash_with, plain.custom_hash_bits) == (None, None, 0)
