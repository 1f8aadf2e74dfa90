"""Hashes of character grams in kernels equal the readable reference."""

from __future__ import annotations

import mmh3
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from simhash_es.core.batch import pack_texts
from simhash_es.core.features import character_grams
from simhash_es.core.kernels.char_grams import (
    HASHES,
    N_WORK,
    WINDOW,
    find_chinese,
    hash_characters,
    locate_characters,
)
from simhash_es.core.normal_form import is_chinese
from simhash_es.core.profile import Half

CHARACTERS = st.one_of(
    st.sampled_from("ab z"),
    st.sampled_from("éßж\u07ff"),
    st.sampled_from("中文\u3400\u33ff\u9fff\ua000\uf8ff\uf900\ufaff\ufb00の"),
    st.sampled_from("\U00010000\U0001ffff\U00020000\U0003ffff\U00040000\U0010ffff"),
    st.characters(codec="utf-8"),
)
TEXTS = st.text(CHARACTERS, max_size=40) | st.text(st.sampled_from("ab"), max_size=40)
SIZES = st.integers(1, 12)


def hashes_by_kernel(text: str, half: Half, *, before: str = "") -> list[int]:
    """Hashes of one text that stands behind another one in the buffer."""
    data, offsets = (block := pack_texts([before.encode(), text.encode(), b"\xe5\xa7\x8b"])).data, block.offsets
    room = int(offsets[2] - offsets[1]) + 2
    starts, work = np.empty(room, np.int32), np.full((N_WORK, room), 77, np.uint64)
    m = locate_characters(data, offsets[1], offsets[2], starts, work[WINDOW])
    assert m == len(text)
    lane = np.array([half.n, half.n_chinese, half.hash_word, half.seed], np.int64)
    n = hash_characters(data, offsets[1], offsets[2], starts, work, m, lane)
    return [int(value) for value in work[HASHES, :n]]


def hash_of(gram: str, half: Half) -> int:
    return int(mmh3.hash64(gram.encode(), half.seed, x64arch=True, signed=False)[half.hash_word])


@given(TEXTS, SIZES, SIZES, st.integers(0, 1), st.sampled_from([0, 1, 12345, (1 << 32) - 1]), TEXTS)
@example("abcdefgh", 8, 8, 1, 0, "")
@example("abcdefghi", 9, 9, 0, 0, "")
@example("中文字符很多", 5, 5, 0, 0, "x")
@example("中文a中文b", 4, 3, 1, 7, "")
@example("\U00020000" * 5, 4, 4, 0, 0, "")
@example("ab", 3, 1, 0, 0, "")
def test_hashes_are_those_of_the_grams(text: str, n: int, n_chinese: int, word: int, seed: int, before: str) -> None:
    """Every gram once an occurrence, in order, of all byte lengths; a text without a whole gram is one gram."""
    half = Half(n=n, n_chinese=n_chinese, hash_word=word, seed=seed)
    expected = [hash_of(gram, half) for gram in character_grams(text, half)]
    assert hashes_by_kernel(text, half, before=before) == expected


@pytest.mark.parametrize("n", range(1, 33))
def test_every_gram_size(n: int) -> None:
    """Gram sizes 1 to 32, in ASCII and in mixed text: up to 8, up to 15, and more bytes take different ways."""
    half = Half(n=n, n_chinese=max(1, n - 1))
    for text in ("the quick brown fox jumps over the lazy dog", "a中é\U00020000b文ж" * 6):
        assert hashes_by_kernel(text, half) == [hash_of(gram, half) for gram in character_grams(text, half)]


@given(st.lists(TEXTS, max_size=6))
def test_finds_chinese(texts: list[str]) -> None:
    """A text has Chinese if one of its characters is Chinese."""
    block = pack_texts([text.encode() for text in texts])
    found = np.ones(len(texts), np.bool_)
    find_chinese(block.data, block.offsets, found)
    assert found.tolist() == [any(is_chinese(ord(c)) for c in text) for text in texts]
