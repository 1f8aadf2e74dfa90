"""Tokenizers."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simhash_es.core.normal_form import normal_form
from simhash_es.core.presets import preset
from simhash_es.core.profile import Profile
from simhash_es.core.reference import prepared_text, tokens_of
from simhash_es.core.segmenters import jieba_cut, rjieba_cut
from simhash_es.core.tokenizers import tokenize, words
from simhash_es.core.user_dictionary import UserDictionary
from simhash_es.errors import InvalidOption, UnsupportedFeature

WORDS = preset("words")
JIEBA = WORDS.with_options(tokenizer="jieba")
RJIEBA = WORDS.with_options(tokenizer="rjieba")
RAW = preset("guide")

ARTICLE = (
    "清晨的码头还没有人，渔船一只接一只靠岸。卖鱼的老人把竹筐摆成一排，先挑出最新鲜的几条留给常客。"
    "太阳升起以后，来买菜的人渐渐多了，讲价的声音盖过了海浪。"
)


def test_characters() -> None:
    """Each code point, spaces included."""
    assert tokenize("ab 竹𠀀", preset("default")) == ["a", "b", " ", "竹", "𠀀"]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", []),
        ("the ferry leaves", ["the", "ferry", "leaves"]),
        ("今天的菜市场卖新鲜竹笋", ["今天", "的", "菜市场", "卖", "新鲜", "竹笋"]),
        ("用python3写的脚本", ["用", "python3", "写", "的", "脚本"]),
        ("㐀㐁中国鿖鿿人民𠀀𠀁", ["㐀", "㐁", "中国", "鿖", "鿿", "人民", "𠀀", "𠀁"]),
        ("내일 아침", ["내일", "아침"]),
        ("のバスで港へ", ["のバスで", "港", "へ"]),
    ],
)
def test_words(text: str, tokens: list[str]) -> None:
    """Runs without space are words; Chinese runs are cut; rare Chinese characters stand alone."""
    assert tokenize(text, WORDS) == tokens


@pytest.mark.parametrize("profile", [WORDS, JIEBA, RJIEBA], ids=lambda profile: profile.tokenizer)
@given(text=st.text(st.sampled_from("ab1 中文\n\t\u3000\r\u200b，.\xa0"), max_size=20))
def test_blank_tokens_never_enter(profile: Profile, text: str) -> None:
    """White space separates, and is no token, in whatever form it comes."""
    assert all(token.strip() for token in tokens_of(text, profile))
    without = Profile(name="raw text", tokenizer=profile.tokenizer, normal_form=RAW.normal_form)
    assert all(token.strip() for token in tokenize(text, without))


def test_raw_tokens_are_those_of_jieba() -> None:
    """Blanks and punctuation stay, for the guide's values."""
    assert tokens_of("a b，好", RAW) == ["a", " ", "b", "，", "好"]


def test_wrapping_between_sentences_changes_nothing() -> None:
    """Line breaks, wide spaces and tabs between sentences leave the tokens as they are."""
    wrapped = ARTICLE.replace("。", "。\r\n\u3000\u3000\t")
    for profile in (WORDS, JIEBA, RJIEBA):
        assert tokens_of(wrapped, profile) == tokens_of(ARTICLE, profile)


def test_wrapping_inside_words_changes_nothing_either() -> None:
    """The normal form joins Chinese lines wherever they were broken."""
    lines = [ARTICLE[i : i + 12] for i in range(0, len(ARTICLE), 12)]
    for profile in (WORDS, JIEBA, RJIEBA):
        assert tokens_of("\r\n\u3000\u3000".join(lines), profile) == tokens_of(ARTICLE, profile)


def test_jieba_and_rjieba_agree_on_chinese_runs() -> None:
    """The words of a text are the same with either."""
    steps = WORDS.normal_form
    text = normal_form(ARTICLE + "用 Python 写的，1.5GB 内存。", steps)
    assert list(words(text, rjieba_cut(None, steps))) == list(words(text, jieba_cut(None, steps)))


@pytest.mark.corpora
def test_jieba_and_rjieba_agree_on_laws(corpora: Path) -> None:
    """The same over forty Chinese laws, about 100,000 words."""
    steps = WORDS.normal_form
    with gzip.open(corpora / "zh-laws.jsonl.gz", "rt", encoding="utf-8") as stream:
        texts = [prepared_text(json.loads(line)["text"], WORDS) for line, _ in zip(stream, range(40), strict=False)]
    for text in texts:
        assert list(words(text, rjieba_cut(None, steps))) == list(words(text, jieba_cut(None, steps)))


def test_user_dictionary(tmp_path: Path) -> None:
    """Extra words are cut whole, also where they come in another normal form; frequency 0 forbids a word."""
    path = tmp_path / "words.txt"
    path.write_text("卖新鲜竹笋\nＶＩＰ\n今天 0\n", encoding="utf-8")
    dictionary = UserDictionary.read(path)
    for profile in (WORDS, JIEBA, RJIEBA):
        tokens = tokens_of("今天的菜市场卖新鲜竹笋", profile.with_options(user_dictionary=dictionary))
        assert tokens == ["今", "天", "的", "菜市场", "卖新鲜竹笋"]
        assert tokens_of("今天", profile) == ["今天"]


def test_engine_tokenizer_needs_a_cluster() -> None:
    """The error names the analyzer and what to use instead."""
    with pytest.raises(UnsupportedFeature, match="engine:ik_smart") as caught:
        tokens_of("文", WORDS.with_options(tokenizer="engine:ik_smart"))
    assert "words" in caught.value.hint


def test_custom_tokens_must_be_strings() -> None:
    """A function that gives bytes is an error, not a guess."""
    profile = Profile.custom(name="bytes", tokenizer=lambda text: [text.encode()])  # type: ignore[list-item]
    with pytest.raises(InvalidOption, match="no string"):
        tokens_of("abc", profile)


def test_custom_blanks_are_dropped() -> None:
    """Empty and blank tokens of a function never enter."""
    profile = Profile.custom(name="comma", tokenizer=lambda text: ["a", "", " ", "b"])
    assert tokens_of("x", profile) == ["a", "b"]
