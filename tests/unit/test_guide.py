"""The guide's two functions."""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simhash_es.core.presets import preset
from simhash_es.core.reference import reference_fingerprint
from simhash_es.errors import InvalidOption
from simhash_es.guide import hamming_distance, simhash

TEXTS = st.text(st.sampled_from("ab1 中文今天竹笋，。\n!"), max_size=15)


def as_in_the_guide(text: str, hash_bits: int) -> str:
    """jieba.cut, the MD5 of each word as a binary string, +1 and -1, 1 where the sum is above 0."""
    sums = [0] * hash_bits
    for word in importlib.import_module("jieba").cut(text):
        digits = bin(int(hashlib.md5(word.encode("utf-8"), usedforsecurity=False).hexdigest(), 16))[2:].zfill(128)
        for i in range(hash_bits):
            sums[i] += 1 if digits[i] == "1" else -1
    return "".join("1" if total > 0 else "0" for total in sums)


@pytest.mark.parametrize("hash_bits", [1, 32, 63, 64, 65, 128])
@pytest.mark.parametrize(
    "text", ["今天的菜市场卖新鲜竹笋，比昨天便宜。", "a b  c\n", "The ferry leaves at 6:30!", "", "，"]
)
def test_as_in_the_guide(text: str, hash_bits: int) -> None:
    """Bit for bit, at any width; an empty text gives zeros."""
    assert simhash(text, hash_bits) == as_in_the_guide(text, hash_bits)
    assert len(simhash(text, hash_bits)) == hash_bits


@given(TEXTS, st.integers(1, 128))
def test_preset_gives_the_same_bits(text: str, hash_bits: int) -> None:
    """The profile guide is the same fingerprint as an integer; an empty text has none there."""
    values = reference_fingerprint(text, preset("guide").with_options(bits=hash_bits))
    assert (values is None) == (text == "")
    if values is not None:
        assert f"{values[0]:0{hash_bits}b}" == simhash(text, hash_bits) == as_in_the_guide(text, hash_bits)


@pytest.fixture
def added_word() -> Iterator[str]:
    jieba = importlib.import_module("jieba")
    word = "卖新鲜竹笋"
    simhash("load")
    jieba.add_word(word)
    yield word
    jieba.del_word(word)
    importlib.import_module("jieba.finalseg").Force_Split_Words.discard(word)


def test_words_added_to_jieba_count(added_word: str) -> None:
    """A user's own words change the value, as they do in the guide."""
    text = f"今天的菜市场{added_word}"
    assert simhash(text) == as_in_the_guide(text, 64)
    values = reference_fingerprint(text, preset("guide"))
    assert values is not None
    assert simhash(text) != f"{values[0]:064b}"


def test_loading_is_silent(capfd: pytest.CaptureFixture[str]) -> None:
    """jieba's messages do not reach the caller's streams."""
    jieba = importlib.import_module("jieba")
    before, jieba.dt.initialized = jieba.dt.initialized, False
    simhash("今天")
    assert before is True or jieba.dt.initialized
    assert capfd.readouterr() == ("", "")


def test_lone_surrogate() -> None:
    """It counts as U+FFFD instead of raising."""
    assert simhash("a\ud800b") == simhash("a\ufffdb")


def test_hamming_distance() -> None:
    """Positions that differ."""
    assert hamming_distance("0101", "0110") == 2
    assert hamming_distance("", "") == 0
    assert hamming_distance(simhash("今天"), simhash("今天")) == 0


@given(st.integers(1, 128), st.data())
def test_hamming_distance_is_a_metric(width: int, data: st.DataObject) -> None:
    """Symmetric, 0 for equals only, triangle inequality."""
    a, b, c = (f"{data.draw(st.integers(0, 2**width - 1)):0{width}b}" for _ in range(3))
    assert hamming_distance(a, b) == hamming_distance(b, a) <= width
    assert (hamming_distance(a, b) == 0) == (a == b)
    assert hamming_distance(a, c) <= hamming_distance(a, b) + hamming_distance(b, c)


def test_different_lengths() -> None:
    """They have no distance."""
    with pytest.raises(InvalidOption, match="3 and 2 bits"):
        hamming_distance("010", "01")


@pytest.mark.parametrize("hash_bits", [0, -1, 129, 64.0])
def test_width_has_limits(hash_bits: int) -> None:
    """1 to 128 bits: MD5 has no more."""
    with pytest.raises(InvalidOption, match="hash_bits"):
        simhash("a", hash_bits)
