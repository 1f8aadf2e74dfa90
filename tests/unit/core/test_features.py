"""Grams of characters and tokens."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simhash_es.core.features import character_grams, count_features, token_grams
from simhash_es.core.normal_form import is_chinese
from simhash_es.core.profile import Half

A = Half(4, 3)
TEXTS = st.text(st.sampled_from("ab 中文"), max_size=12)


@pytest.mark.parametrize(
    ("text", "grams"),
    [
        ("", []),
        ("a", ["a"]),
        ("abc", ["abc"]),
        ("abcd", ["abcd"]),
        ("abcde", ["abcd", "bcde"]),
        ("书", ["书"]),
        ("竹笋书", ["竹笋书"]),
        ("竹笋新鲜", ["竹笋新", "笋新鲜"]),
        ("ab竹笋新", ["ab竹笋", "b竹笋新", "竹笋新"]),
        ("竹笋ab", ["竹笋a", "笋ab"]),
        ("a b c", ["a b ", " b c"]),
        ("𠀀𠀁𠀂", ["𠀀𠀁𠀂"]),
    ],
)
def test_character_grams(text: str, grams: list[str]) -> None:
    """The first character decides the length; a text without a whole gram is one gram."""
    assert character_grams(text, A) == grams


@pytest.mark.parametrize(
    ("tokens", "grams"),
    [
        ([], []),
        (["ferry"], ["ferry"]),
        (["the", "ferry"], ["the ferry"]),
        (["a", "b", "c", "d"], ["a b c", "b c d"]),
        (["新鲜", "竹笋", "a"], ["新鲜 竹笋", "竹笋 a"]),
        (["a", "竹笋"], ["a 竹笋"]),
    ],
)
def test_token_grams(tokens: list[str], grams: list[str]) -> None:
    """Tokens are joined by one space; a token that starts with a Chinese character begins a Chinese gram."""
    assert token_grams(tokens, Half(3, 2)) == grams


@given(TEXTS, st.integers(1, 5), st.integers(1, 5))
def test_every_gram_is_a_piece_of_the_text(text: str, n: int, n_chinese: int) -> None:
    """Each position gives at most one gram, of the stated length, in text order."""
    grams = character_grams(text, Half(n, n_chinese))
    whole = [
        text[i : i + size]
        for i in range(len(text))
        for size in [n_chinese if is_chinese(ord(text[i])) else n]
        if i + size <= len(text)
    ]
    assert grams == (whole or ([text] if text else []))


@given(TEXTS)
def test_tokens_of_one_character_equal_characters_for_single_grams(text: str) -> None:
    """With n = 1 both forms give the items themselves."""
    single = Half(1, 1)
    assert character_grams(text, single) == token_grams(list(text), single) == list(text)


def test_count_keeps_the_order_of_first_occurrence() -> None:
    """Counts do not reorder features."""
    assert list(count_features(["b", "a", "b"]).items()) == [("b", 2), ("a", 1)]
