"""Features: grams of characters or of tokens.

The gram that starts at item i has ``n_chinese`` items if the first character of item i is Chinese, else ``n``. It
exists if the text has so many items left. A text without any whole gram is one gram: the whole text.
Character grams are joined by nothing, token grams by one space (U+0020). The UTF-8 bytes of a gram are hashed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from simhash_es.core.normal_form import is_chinese
from simhash_es.core.profile import Half

TOKEN_SEPARATOR = " "  # a token holds none; the raw segmenter's blanks are single tokens, and its grams have n = 1


def grams(items: Sequence[str], half: Half, separator: str) -> list[str]:
    """All grams in text order, repeated ones included; empty for no items.

    Args:
        items: Characters or tokens, none of them empty.
        half: Gram sizes.
        separator: What joins the items of a gram.
    """
    found = []
    for start, item in enumerate(items):
        end = start + (half.n_chinese if is_chinese(ord(item[0])) else half.n)
        if end <= len(items):
            found.append(separator.join(items[start:end]))
    if not found and items:
        found.append(separator.join(items))
    return found


def character_grams(text: str, half: Half) -> list[str]:
    """Grams of characters (code points) in text order."""
    return grams(text, half, "")


def token_grams(tokens: Sequence[str], half: Half) -> list[str]:
    """Grams of tokens in text order."""
    return grams(tokens, half, TOKEN_SEPARATOR)


def count_features(grams_in_order: Sequence[str]) -> Counter[str]:
    """Occurrences by feature, in order of first occurrence."""
    return Counter(grams_in_order)
