"""Tokenizers: a text in normal form to its tokens. Blank tokens never come out, except of ``jieba-raw``.

=========== =================================================================================================
chars       each character (code point), spaces included
words       runs without space; Chinese runs cut into words by rjieba, which equals jieba there
jieba       everything cut by jieba; 30 times slower than rjieba
rjieba      everything cut by rjieba; differs from jieba in runs of ASCII (digits and letters) and rare characters
jieba-raw   what ``jieba.cut`` gives, blanks and punctuation included; one token a feature
engine:NAME an analyzer of a cluster, which is needed to use it
custom:NAME a function of the caller
=========== =================================================================================================

With a user dictionary rjieba may choose another of two about equally likely cuts; ``jieba`` cuts as jieba does.
rjieba's dictionary and regular expressions cover more characters than jieba's (U+4E00–9FD5). Other Chinese characters
are tokens of their own in ``words``, as they are in jieba.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from simhash_es.core.cleaning import CHINESE_CLASS, stop_words_of
from simhash_es.core.profile import CUSTOM, ENGINE, Profile, Tokenizer
from simhash_es.core.segmenters import Cutter, jieba_cut, rjieba_cut
from simhash_es.errors import InvalidOption, UnsupportedFeature

JIEBA_CLASS = "\u4e00-\u9fd5"  # Source: jieba 0.42.1, re_han_default

# A run for the segmenter, one other Chinese character, or a run of anything else but white space.
RUNS = re.compile(rf"([{JIEBA_CLASS}]+)|[{CHINESE_CLASS}]|[^\s{CHINESE_CLASS}]+")


def tokenize(text: str, profile: Profile) -> list[str]:
    """The tokens of a text, stop words left out.

    Args:
        text: In the profile's normal form.
        profile: Any profile; with ``chars`` the stop words are expected to be out of the text already.

    Raises:
        UnsupportedFeature: The tokenizer is an analyzer of a cluster.
        InvalidOption: A custom profile was read from JSON and its function not handed in; or it gave no strings.
    """
    if profile.tokenizer == Tokenizer.CHARS:
        return list(text)
    stop_words = stop_words_of(profile)
    tokens = all_tokens(text, profile)
    return [token for token in tokens if token not in stop_words] if stop_words else list(tokens)


def all_tokens(text: str, profile: Profile) -> Iterator[str]:
    """Tokens in text order, stop words included."""
    if profile.tokenizer == Tokenizer.JIEBA_RAW:
        yield from jieba_cut(profile.user_dictionary, profile.normal_form)(text)
        return
    for token in raw_tokens(text, profile):
        if not token.isspace() and token:
            yield token


def raw_tokens(text: str, profile: Profile) -> Iterator[str]:
    """Tokens as the segmenter or function gives them."""
    name = profile.tokenizer
    if name == Tokenizer.WORDS:
        yield from words(text, rjieba_cut(profile.user_dictionary, profile.normal_form))
    elif name == Tokenizer.JIEBA:
        yield from jieba_cut(profile.user_dictionary, profile.normal_form)(text)
    elif name == Tokenizer.RJIEBA:
        yield from rjieba_cut(profile.user_dictionary, profile.normal_form)(text)
    elif name.startswith(ENGINE):
        raise UnsupportedFeature(
            f"the tokenizer {name!r} is an analyzer of a cluster, and there is no cluster here",
            "take the tokenizer words, jieba or rjieba for files, or run against a cluster that has the analyzer",
        )
    else:
        yield from custom_tokens(text, profile)


def words(text: str, cut: Cutter) -> Iterator[str]:
    """Runs without space; runs of common Chinese characters cut by ``cut``, rarer ones taken one by one."""
    for run in RUNS.finditer(text):
        if run[1] is None:
            yield run[0]
        else:
            yield from cut(run[1])


def custom_tokens(text: str, profile: Profile) -> Iterator[str]:
    """Tokens of the caller's function."""
    if profile.tokenize_with is None:
        raise InvalidOption(
            f"the profile uses the tokenizer {profile.tokenizer.removeprefix(CUSTOM)!r}, which is not at hand",
            "hand it in: Profile.from_dict(data, tokenizer=function)",
        )
    for token in profile.tokenize_with(text):
        if not isinstance(token, str):
            raise InvalidOption(f"the custom tokenizer gave {token!r}, which is no string", "return strings")
        yield token
