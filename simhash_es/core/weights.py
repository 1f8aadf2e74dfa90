"""Weights of features, as whole numbers, so that a sum is exact and does not depend on the order.

``uniform``, ``tf`` and ``log-tf`` count in ones; ``tf-idf`` and ``manual`` in units of 1/1024. The unit of a profile is
the same for all features, so it cancels out: only signs of sums matter, and cosines are ratios.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from simhash_es.core.features import TOKEN_SEPARATOR
from simhash_es.core.idf import IdfTable
from simhash_es.core.profile import Profile, Tokenizer, Weighting
from simhash_es.core.word_weights import WordWeights

WeightFunction = Callable[[str, int], int]


def uniform(feature: str, tf: int) -> int:
    """1, however often the feature occurs."""
    return 1


def term_frequency(feature: str, tf: int) -> int:
    """The number of occurrences."""
    return tf


def log_term_frequency(feature: str, tf: int) -> int:
    """``1 + floor(log2 tf)``: 1, 2, 2, 3, 3, 3, 3, 4 … for 1, 2, 3, 4, 5, 6, 7, 8 …; exact for any size."""
    return tf.bit_length()


def by_table(table: IdfTable) -> WeightFunction:
    """Occurrences times inverse document frequency, in units of 1/1024."""
    return lambda feature, tf: tf * table.units(feature)


def by_list(listed: WordWeights, *, of_tokens: bool) -> WeightFunction:
    """Occurrences times the listed weight, in units of 1/1024.

    A gram of several tokens that is not listed itself takes the largest weight listed for one of its tokens, and the
    default only when none is. A gram of characters (``of_tokens`` false) is listed itself or not at all.
    """
    table = listed.table

    def weight(feature: str, tf: int) -> int:
        units = table.get(feature)
        if units is None and of_tokens:
            units = max((table[token] for token in feature.split(TOKEN_SEPARATOR) if token in table), default=None)
        return tf * (listed.default if units is None else units)

    return weight


def weight_function(profile: Profile) -> WeightFunction:
    """The function (feature, occurrences) → weight of a profile."""
    if profile.idf is not None:
        return by_table(profile.idf)
    if profile.word_weights is not None:
        return by_list(profile.word_weights, of_tokens=profile.tokenizer != Tokenizer.CHARS)
    simple = {
        Weighting.UNIFORM: uniform,
        Weighting.TF: term_frequency,
        Weighting.LOG_TF: log_term_frequency,
    }
    return simple[profile.weights]


def weigh(counts: Mapping[str, int], profile: Profile) -> dict[str, int]:
    """Weights by feature; features of weight 0 are left out.

    Args:
        counts: Occurrences by feature, each at least 1.
        profile: Names the weights.

    Returns:
        Positive whole numbers, in units of 1/1024 for ``tf-idf`` and ``manual``.
    """
    weight = weight_function(profile)
    weighed = {feature: weight(feature, tf) for feature, tf in counts.items()}
    return {feature: value for feature, value in weighed.items() if value}
