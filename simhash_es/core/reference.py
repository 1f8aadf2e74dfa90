"""The fingerprint of one text, written to be read: plain Python, unbounded integers, no compiled code.

Every faster form must give the same values. Stages: repair of lone surrogates, cleaning, normal form, tokenizer, grams,
weights, hash, sum. Bit k of a half (value ``1 << k``) is 1 if and only if the sum over all features of
``weight * (+1 if bit k of the hash is 1 else -1)`` is above 0; a tie gives 0.

Source: Charikar 2002, section 3; Manku, Jain and Das Sarma 2007, section 2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from simhash_es.core.cleaning import clean, remove_stop_words
from simhash_es.core.features import character_grams, count_features, token_grams
from simhash_es.core.hashes import hash_function
from simhash_es.core.normal_form import normal_form, repair_surrogates
from simhash_es.core.profile import Half, Profile, Tokenizer
from simhash_es.core.tokenizers import tokenize
from simhash_es.core.weights import weigh


def prepared_text(text: str, profile: Profile) -> str:
    """The text as the tokenizer gets it: cleaned and in normal form. Empty when nothing is left."""
    prepared = normal_form(clean(repair_surrogates(text), profile.cleaning), profile.normal_form)
    if profile.tokenizer == Tokenizer.CHARS:
        prepared = remove_stop_words(prepared, profile)
    return prepared


def tokens_of(text: str, profile: Profile) -> list[str]:
    """The tokens of a text, in order; characters for a profile of characters."""
    return tokenize(prepared_text(text, profile), profile)


def grams_of_tokens(tokens: list[str], profile: Profile, half: Half) -> list[str]:
    """The grams of one half, in order."""
    if profile.tokenizer == Tokenizer.CHARS:
        return character_grams("".join(tokens), half)
    return token_grams(tokens, half)


def features_of(text: str, profile: Profile, half: int = 0) -> Counter[str]:
    """Features of one half with their number of occurrences; empty when the text has none.

    Args:
        text: Any string.
        profile: How to get from text to features.
        half: Index of the half, 0 to ``len(profile.halves) - 1``.
    """
    return count_features(grams_of_tokens(tokens_of(text, profile), profile, profile.halves[half]))


def reference_fingerprint(text: str, profile: Profile) -> tuple[int, ...] | None:
    """The fingerprint of a text.

    Args:
        text: Any string.
        profile: How to make it.

    Returns:
        One unsigned integer of ``profile.width`` bits for each half, or ``None`` when no feature (or none with a weight
        above 0) is left in some half: such a text has no fingerprint, and equals no other.
    """
    return fingerprint_of_tokens(tokens_of(text, profile), profile)


def fingerprint_of_tokens(tokens: list[str], profile: Profile) -> tuple[int, ...] | None:
    """The fingerprint of ready tokens; see :func:`reference_fingerprint`."""
    values = []
    for half in profile.halves:
        weights = weigh(count_features(grams_of_tokens(tokens, profile, half)), profile)
        if not weights:
            return None
        values.append(sum_of_hashes(weights, hash_function(profile, half), profile.width))
    return tuple(values)


def sum_of_hashes(weights: Mapping[str, int], hash_of: Callable[[bytes], int], width: int) -> int:
    """SimHash proper: the sign of each bit's sum, most significant bit first.

    Args:
        weights: Positive whole numbers by feature, in any order.
        hash_of: UTF-8 bytes of a feature to an unsigned integer of ``width`` bits.
        width: Bits, 1 to 128.
    """
    sums = [0] * width
    for feature, weight in weights.items():
        hashed = hash_of(feature.encode("utf-8"))
        for k in range(width):
            sums[k] += weight if hashed >> k & 1 else -weight
    return sum(1 << k for k in range(width) if sums[k] > 0)
