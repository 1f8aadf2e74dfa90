"""The two functions of the well-known guide to SimHash, bit for bit: for people who have such values stored.

A text is cut with ``jieba.cut``, blanks and punctuation kept. The MD5 of each word is a binary string of 128 digits, of
which the first ``hash_bits`` count: +1 for a 1, -1 for a 0, once for each occurrence. A bit is 1 where the sum is above
0, most significant first. ``Profile`` ``guide`` gives the same bits as an integer.
"""

from __future__ import annotations

from collections import Counter

from simhash_es.core.bits import MAX_WIDTH
from simhash_es.core.hashes import hash_function
from simhash_es.core.normal_form import repair_surrogates
from simhash_es.core.presets import GUIDE
from simhash_es.core.profile_parts import check_range
from simhash_es.core.reference import sum_of_hashes
from simhash_es.core.segmenters import global_jieba_cut
from simhash_es.errors import InvalidOption

__all__ = ["hamming_distance", "simhash"]


def simhash(text: str, hash_bits: int = 64) -> str:
    """The fingerprint of a text as the guide makes it.

    Words added with ``jieba.add_word`` or ``jieba.load_userdict`` count. A lone surrogate, which has no UTF-8 form and
    hence no MD5, counts as U+FFFD.

    Args:
        text: Any string. One without a word, that is, an empty one, gives only zeros here (all sums are 0); profiles
            give such texts no fingerprint.
        hash_bits: Width, 1 to 128.

    Returns:
        ``hash_bits`` characters ``0`` and ``1``, most significant bit first.

    Raises:
        InvalidOption: ``hash_bits`` is out of range.
    """
    check_range("hash_bits", hash_bits, 1, MAX_WIDTH)
    profile = GUIDE.with_options(bits=hash_bits)
    words = Counter(global_jieba_cut()(repair_surrogates(text)))
    value = sum_of_hashes(words, hash_function(profile, profile.halves[0]), hash_bits)
    return f"{value:0{hash_bits}b}"


def hamming_distance(a: str, b: str) -> int:
    """Number of positions in which two strings of equal length differ.

    Args:
        a: As from :func:`simhash`.
        b: The same, of the same length.

    Raises:
        InvalidOption: The lengths differ.
    """
    if len(a) != len(b):
        raise InvalidOption(
            f"fingerprints of {len(a)} and {len(b)} bits have no distance", "make both with the same hash_bits"
        )
    return sum(left != right for left, right in zip(a, b, strict=True))
