"""Cleaning before the normal form, stop words after it."""

from __future__ import annotations

import sys
import unicodedata

import pytest

from simhash_es.core.cleaning import DIGITS, clean
from simhash_es.core.presets import preset
from simhash_es.core.profile import Cleaning, Profile
from simhash_es.core.reference import features_of, prepared_text, reference_fingerprint, tokens_of
from simhash_es.errors import InvalidOption, MissingExtra

DEFAULT, WORDS = preset("default"), preset("words")


def prepared(text: str, profile: Profile = DEFAULT, **options: object) -> str:
    return prepared_text(text, profile.with_options(cleaning=Cleaning(**options)))  # type: ignore[arg-type]


def test_html_goes_before_the_normal_form() -> None:
    """The text of a page equals the page in normal form."""
    page = "<h1>Mail&nbsp;boat</h1><script>track()</script><p>leaves at <b>six</b></p>"
    assert prepared(page, html=True) == "mail boat leaves at six"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("see https://example.org/a?b=1&c=%20#d for more", "see for more"),
        ("见http://example.cn/路径说明", "见路径说明"),
        ("见www.example.cn。下午", "见下午"),
        ("FTP://example.org/x.", ""),
        ("httpsomething and awww.x stay", "httpsomething and awww x stay"),
    ],
)
def test_urls(text: str, left: str) -> None:
    """An address ends where its ASCII characters end."""
    assert prepared(text, urls=True) == left


def test_digits() -> None:
    """Digits of every script go; the words around them stay apart."""
    assert prepared("第01集 room 12b ٣٤ １２ x9y", digits=True) == "第集room b x y"


def test_digits_are_the_decimal_digits_of_unicode() -> None:
    """Exactly category Nd, as far as this Python knows the characters."""
    known = {chr(c) for c in range(sys.maxunicode + 1) if unicodedata.category(chr(c)) == "Nd"}
    matched = {chr(c) for c in range(sys.maxunicode + 1) if DIGITS.fullmatch(chr(c))}
    assert {c for c in matched if unicodedata.category(c) != "Cn"} <= known
    if tuple(map(int, unicodedata.unidata_version.split("."))) <= (15, 1, 0):
        assert known <= matched


def test_patterns_in_order() -> None:
    """The user's expressions are applied one after the other; what matches becomes a space."""
    assert clean("a1b2", Cleaning(patterns=("b", r"\d a|1 "))) == "a 2"
    assert prepared("Copyright 2024 by me. Text", patterns=(r"(?i)copyright \d+ by \w+",)) == "text"


@pytest.mark.parametrize("pattern", ["(", "*", "[a", "(?P<x>a)(?P<x>b)"])
def test_bad_pattern(pattern: str) -> None:
    """A pattern that does not compile is named."""
    with pytest.raises(InvalidOption, match="no regular expression") as caught:
        clean("text", Cleaning(patterns=(pattern,)))
    assert repr(pattern) in str(caught.value)


def test_simplify() -> None:
    """Traditional Chinese equals simplified Chinese, stop words included."""
    profile = DEFAULT.with_options(cleaning=Cleaning(simplify=True))
    assert reference_fingerprint("圖書館週一閉館", profile) == reference_fingerprint("图书馆周一闭馆", profile)
    assert prepared("圖書館週一閉館", simplify=True, stop_words=("圖書館",)) == "周一闭馆"


def test_simplify_without_opencc(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the extra."""
    from simhash_es.core import cleaning

    cleaning.converter.cache_clear()
    monkeypatch.setitem(sys.modules, "opencc", None)
    with pytest.raises(MissingExtra) as caught:
        clean("圖", Cleaning(simplify=True))
    assert caught.value.extra == "opencc"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("The ferry and the boat", "ferry and boat"),
        ("other theory bathe", "other theory bathe"),
        ("THE", ""),
        ("今天的菜市场", "菜市场"),
        ("中the文", "中文"),
        ("a the 中", "a中"),
        ("as well as", "as"),
        ("Ｔｈｅ ferry", "ferry"),
    ],
)
def test_stop_words_in_characters(text: str, left: str) -> None:
    """Whole words, in normal form; Chinese ones wherever they stand, the longest first."""
    assert prepared(text, stop_words=("the", "as well", "今天的", "今天", "的")) == left


def test_stop_words_in_tokens() -> None:
    """A token equal to a stop word goes, others stay."""
    profile = WORDS.with_options(cleaning=Cleaning(stop_words=("The", "的")))
    assert tokens_of("The ferry of today, 今天的菜市场", profile) == ["ferry", "of", "today", "今天", "菜市场"]


def test_nothing_but_stop_words_has_no_fingerprint() -> None:
    """It is empty like a text of spaces."""
    for profile in (DEFAULT, WORDS):
        assert (
            reference_fingerprint("the THE, the", profile.with_options(cleaning=Cleaning(stop_words=("the",)))) is None
        )


def test_stop_words_that_vanish_are_no_stop_words() -> None:
    """A stop word of punctuation only takes nothing away."""
    assert prepared("a, b", stop_words=("!", "")) == "a b"


def test_stop_words_without_normal_form() -> None:
    """They are taken as written then."""
    guide = preset("guide").with_options(cleaning=Cleaning(stop_words=("，",)))
    assert set(features_of("你好，世界", guide)) == {"你好", "世界"}


def test_stop_words_and_word_characters_exclude_each_other() -> None:
    """Without spaces there are no words left to remove."""
    with pytest.raises(InvalidOption, match="word_characters"):
        Cleaning(stop_words=("the",), word_characters=True)


def test_no_cleaning_is_the_text_itself() -> None:
    """Nothing is touched."""
    assert clean("<p>1 http://x", Cleaning()) == "<p>1 http://x"
