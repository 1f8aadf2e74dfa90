"""Similarity of two texts, from 0 (nothing in common) to 1: readable reference.

===========  ================================================================================================
cosine       of the weighted features: ``sum(a_f * b_f) / sqrt(sum(a_f^2) * sum(b_f^2))``
jaccard      of the sets of features: common ones by all
containment  of the sets of features: common ones by those of the smaller set (overlap coefficient)
edit         ``1 - d / max(len)`` with d the Levenshtein distance of the normal forms in characters
===========  ================================================================================================

A text without features has similarity 0 to every text, itself included: it is never a duplicate.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache

from rapidfuzz.distance import Levenshtein

from simhash_es.core.profile import Half, Profile, Tokenizer
from simhash_es.core.profile_options import parse_ngrams
from simhash_es.core.profile_parts import parse_choice
from simhash_es.core.reference import features_of, prepared_text
from simhash_es.core.weights import weigh
from simhash_es.errors import InvalidOption

REMEMBERED_TEXTS = 1024  # a batch compares one text with several others


class Measure(StrEnum):
    """The similarities."""

    COSINE = "cosine"
    JACCARD = "jaccard"
    CONTAINMENT = "containment"
    EDIT = "edit"


@dataclass(frozen=True)
class Criterion:
    """A pair passes if its similarity by ``measure`` is at least ``threshold`` (above 0, at most 1)."""

    measure: Measure
    threshold: float

    def __post_init__(self) -> None:
        if not 0 < self.threshold <= 1:
            raise InvalidOption(f"the threshold of {self.measure} is {self.threshold}", "expected above 0, at most 1")

    def __str__(self) -> str:
        return f"{self.measure}:{self.threshold:g}"


@dataclass(frozen=True)
class FeatureSpec:
    """Features to verify by: a tokenizer, and the items of a gram (of one that starts with a Chinese character)."""

    tokenizer: str
    n: int
    n_chinese: int

    def __str__(self) -> str:
        size = f"{self.n}" if self.n == self.n_chinese else f"{self.n}/{self.n_chinese}"
        return f"{self.tokenizer}:{size}"

    def profile(self, base: Profile) -> Profile:
        """``base`` with one half of these features: same cleaning, normal form and weights."""
        changed = base.with_options(tokenizer=self.tokenizer, ngram=f"{self.n}/{self.n_chinese}", halves=1)
        return replace(changed, name=str(self))


DEFAULT_FEATURES = FeatureSpec(Tokenizer.CHARS, 4, 3)
"""What texts are compared by when nothing else is said."""


def parse_criterion(text: str) -> Criterion:
    """Read ``measure:threshold``, such as ``cosine:0.85``.

    Raises:
        InvalidOption: Not of this form.
    """
    name, colon, number = text.partition(":")
    hint = "write measure:threshold, such as cosine:0.85, jaccard:0.8, containment:0.9 or edit:0.9"
    try:
        threshold = float(number) if colon else math.nan
    except ValueError:
        threshold = math.nan
    if math.isnan(threshold):
        raise InvalidOption(f"the criterion {text!r} is not understood", hint)
    return Criterion(Measure(parse_choice(Measure, name.strip(), "similarity", "")), threshold)


def parse_feature_spec(text: str) -> FeatureSpec:
    """Read ``tokenizer:n`` or ``tokenizer:n/n_chinese``, such as ``words:3`` or ``chars:4/3``.

    Raises:
        InvalidOption: Not of this form, or a size out of range.
    """
    name, colon, sizes = text.rpartition(":")
    if not colon or "," in sizes:
        raise InvalidOption(
            f"the features {text!r} are not understood", "write tokenizer:n, such as words:3 or chars:5"
        )
    ((n, n_chinese),) = parse_ngrams(sizes)
    profile = Profile(halves=(Half(n, n_chinese),), vote=1).with_options(tokenizer=name.strip(), ngram=sizes)
    return FeatureSpec(profile.tokenizer, n, n_chinese)


def cosine(a: Mapping[str, int], b: Mapping[str, int]) -> float:
    """Cosine of two texts by their weighted features.

    The three sums are exact whole numbers; one division and one square root are rounded. Equal weights give 1.0.

    Args:
        a: Positive weights by feature.
        b: The same.

    Returns:
        0.0 to 1.0; 0.0 if one of them is empty.
    """
    if not a or not b:
        return 0.0
    small, large = (a, b) if len(a) <= len(b) else (b, a)
    dot = sum(weight * large.get(feature, 0) for feature, weight in small.items())
    norms = sum(weight * weight for weight in a.values()) * sum(weight * weight for weight in b.values())
    return 1.0 if dot * dot == norms else dot / math.sqrt(norms)


def jaccard(a: AbstractSet[str], b: AbstractSet[str]) -> float:
    """Common features by all features; 0.0 if both are empty."""
    either = len(a | b)
    return len(a & b) / either if either else 0.0


def containment(a: AbstractSet[str], b: AbstractSet[str]) -> float:
    """Share of the smaller set that is in the larger; 0.0 if one of them is empty."""
    smaller = min(len(a), len(b))
    return len(a & b) / smaller if smaller else 0.0


def edit_similarity(a: str, b: str) -> float:
    """``1 - d / max(len(a), len(b))`` with the Levenshtein distance d in characters; 0.0 if one of them is empty."""
    return Levenshtein.normalized_similarity(a, b) if a and b else 0.0


def similarity(a: str, b: str, measure: Measure, profile: Profile, *, half: int = 0) -> float:
    """Similarity of two texts.

    Args:
        a: Any text.
        b: Any text.
        measure: Which one.
        profile: Cleaning, normal form, features and weights.
        half: Which half's features.

    Returns:
        0.0 to 1.0.
    """
    return similarities([(a, b)], measure, profile, half=half)[0]


def similarities(pairs: Iterable[tuple[str, str]], measure: Measure, profile: Profile, *, half: int = 0) -> list[float]:
    """Similarities of many pairs, in their order; features of a text that comes again are kept for a while."""
    if measure is Measure.EDIT:
        prepared = lru_cache(REMEMBERED_TEXTS)(lambda text: prepared_text(text, profile))
        return [edit_similarity(prepared(a), prepared(b)) for a, b in pairs]
    weights = lru_cache(REMEMBERED_TEXTS)(lambda text: weigh(features_of(text, profile, half), profile))
    return [similarity_of_weights(weights(a), weights(b), measure) for a, b in pairs]


def similarity_of_weights(a: Mapping[str, int], b: Mapping[str, int], measure: Measure) -> float:
    """Similarity from ready features.

    Raises:
        InvalidOption: ``measure`` is ``edit``, which is made from text.
    """
    if measure is Measure.COSINE:
        return cosine(a, b)
    if measure is Measure.JACCARD:
        return jaccard(a.keys(), b.keys())
    if measure is Measure.CONTAINMENT:
        return containment(a.keys(), b.keys())
    raise InvalidOption("edit similarity is made from text, not from features", "call similarity()")
