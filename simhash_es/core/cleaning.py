"""What is taken out of a text before (and, for stop words, after) its normal form.

Order: HTML, addresses, user patterns, digits, word characters, simplification; then the normal form; then stop words,
which are put into the normal form themselves.

Stop words. With a tokenizer that gives words, tokens equal to a stop word go. With characters, a stop word that holds
a Chinese character goes wherever it stands, the longest first, since Chinese has no spaces between words; any other
goes where it is a whole word, that is, between spaces, Chinese characters and the ends of the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

from simhash_es._optional import require
from simhash_es.core.html_text import html_to_text
from simhash_es.core.normal_form import NormalForm, is_chinese, normal_form
from simhash_es.core.profile import Cleaning, Profile
from simhash_es.errors import InvalidOption

CHINESE_CLASS = "\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # as normal_form.is_chinese

# With a scheme, or beginning with www. Only ASCII belongs to an address, so Chinese text right behind one stays.
URL = re.compile(r"(?:\b(?:https?|ftp)://|\bwww\.)[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]+", re.ASCII | re.IGNORECASE)

# General category Nd of Unicode 15.1, pinned: each of these and the nine code points after it.
DIGIT_ZEROS = (
    *(0x30, 0x660, 0x6F0, 0x7C0, 0x966, 0x9E6, 0xA66, 0xAE6, 0xB66, 0xBE6, 0xC66, 0xCE6, 0xD66, 0xDE6, 0xE50, 0xED0),
    *(0xF20, 0x1040, 0x1090, 0x17E0, 0x1810, 0x1946, 0x19D0, 0x1A80, 0x1A90, 0x1B50, 0x1BB0, 0x1C40, 0x1C50, 0xA620),
    *(0xA8D0, 0xA900, 0xA9D0, 0xA9F0, 0xAA50, 0xABF0, 0xFF10, 0x104A0, 0x10D30, 0x11066, 0x110F0, 0x11136, 0x111D0),
    *(0x112F0, 0x11450, 0x114D0, 0x11650, 0x116C0, 0x11730, 0x118E0, 0x11950, 0x11C50, 0x11D50, 0x11DA0, 0x11F50),
    *(0x16A60, 0x16AC0, 0x16B50, 0x1D7CE, 0x1D7D8, 0x1D7E2, 0x1D7EC, 0x1D7F6, 0x1E140, 0x1E2F0, 0x1E4F0, 0x1E950),
    0x1FBF0,
)
DIGITS = re.compile("[" + "".join(f"{chr(zero)}-{chr(zero + 9)}" for zero in DIGIT_ZEROS) + "]+")

NO_WORD_CHARACTERS = re.compile(r"\W+")


def clean(text: str, options: Cleaning) -> str:
    """The text after all steps that come before the normal form.

    What is removed leaves one space, except with ``word_characters``, which leaves nothing.

    Args:
        text: Without lone surrogates.
        options: Which steps to take.

    Raises:
        InvalidOption: A pattern is no regular expression.
        MissingExtra: ``simplify`` without OpenCC.
    """
    if options.is_empty:
        return text
    if options.html:
        text = html_to_text(text)
    if options.urls:
        text = URL.sub(" ", text)
    for pattern in options.patterns:
        text = compiled(pattern).sub(" ", text)
    if options.digits:
        text = DIGITS.sub(" ", text)
    if options.word_characters:
        text = NO_WORD_CHARACTERS.sub("", text.lower())
    if options.simplify:
        text = simplified(text)
    return text


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """A user's regular expression."""
    try:
        return re.compile(pattern)
    except re.error as error:
        raise InvalidOption(
            f"the cleaning pattern {pattern!r} is no regular expression: {error}",
            "see https://docs.python.org/3/library/re.html; write a literal dot as \\.",
        ) from error


@cache
def converter() -> Any:
    """OpenCC's traditional-to-simplified converter, loaded once a process."""
    return require("opencc", "opencc", "Simplifying Chinese").OpenCC("t2s")


def simplified(text: str) -> str:
    """Traditional to simplified Chinese, by OpenCC's ``t2s``."""
    return str(converter().convert(text))


@cache
def normal_stop_words(words: tuple[str, ...], steps: NormalForm, simplify: bool) -> frozenset[str]:
    """Stop words in the form in which they stand in a text."""
    forms = (normal_form(simplified(word) if simplify else word, steps) for word in words)
    return frozenset(form for form in forms if form)


def stop_words_of(profile: Profile) -> frozenset[str]:
    """The stop words of a profile in its normal form."""
    cleaning = profile.cleaning
    if not cleaning.stop_words:
        return frozenset()
    return normal_stop_words(cleaning.stop_words, profile.normal_form, cleaning.simplify)


@cache
def stop_word_remover(words: frozenset[str], steps: NormalForm) -> Callable[[str], str]:
    """The function that takes stop words out of a text in normal form, see the module's docstring."""
    longest_first = sorted(words, key=lambda word: (-len(word), word))
    chinese = [re.escape(word) for word in longest_first if any(is_chinese(ord(c)) for c in word)]
    others = [re.escape(word) for word in longest_first if not any(is_chinese(ord(c)) for c in word)]
    inside = rf"[^\s{CHINESE_CLASS}]"
    alternatives = chinese + ([rf"(?<!{inside})(?:{'|'.join(others)})(?!{inside})"] if others else [])
    pattern = re.compile("|".join(alternatives))

    def remove(text: str) -> str:
        return normal_form(pattern.sub("", text), steps)

    return remove


def remove_stop_words(text: str, profile: Profile) -> str:
    """A text in normal form without the stop words of a profile of characters, in normal form again."""
    words = stop_words_of(profile)
    return stop_word_remover(words, profile.normal_form)(text) if words else text
