"""Two texts side by side: what they are made of, which bits differ, every distance and similarity, and what follows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from simhash_es.core.angle import cosine_of_bits, expected_bits
from simhash_es.core.bits import hamming_distance, to_hex
from simhash_es.core.limits import DerivedLimits, derive_limits, given_limits
from simhash_es.core.normal_form import NormalForm
from simhash_es.core.profile import Half, Profile, Tokenizer, Weighting
from simhash_es.core.reference import features_of, prepared_text, reference_fingerprint, tokens_of
from simhash_es.core.similarity import (
    Criterion,
    FeatureSpec,
    Measure,
    edit_similarity,
    similarities,
    similarity_of_weights,
)
from simhash_es.core.weights import weigh
from simhash_es.errors import InvalidOption

VERIFY_FEATURES = FeatureSpec(Tokenizer.CHARS, 4, 3)
"""What ``dedup`` verifies by when nothing else is said."""

SHORT_FEATURES = 64
"""The same as :data:`simhash_es.core.short_texts.SHORT_FEATURES`, whose module loads a compiler."""

SET_MEASURES = (Measure.COSINE, Measure.JACCARD, Measure.CONTAINMENT)


class Verdict(StrEnum):
    """What a comparison comes to."""

    IDENTICAL = "identical"
    """The same text in normal form."""
    NEAR_DUPLICATE = "near-duplicate"
    """As similar as asked, and within the distance limits or both short: a search finds the pair."""
    MISSED = "missed"
    """As similar as asked, but outside the distance limits: a search would not look at the pair."""
    CANDIDATE = "candidate"
    """Within the distance limits, but not as similar as asked: a search looks at the pair and refuses it."""
    DIFFERENT = "different"
    """Neither."""
    NO_FINGERPRINT = "no fingerprint"
    """One of them has no letter or number that counts; such a text is no duplicate of anything."""


@dataclass(frozen=True, slots=True)
class TextFigures:
    """What one text is made of.

    Attributes:
        characters: As given.
        compared: Characters after cleaning and normal form.
        tokens: Pieces the tokenizer gives.
        features: Different features of each half.
        fingerprint: All halves in hexadecimal, joined; ``None`` where there is none.
    """

    characters: int
    compared: int
    tokens: int
    features: tuple[int, ...]
    fingerprint: str | None


@dataclass(frozen=True, slots=True)
class HalfFigures:
    """Both texts seen through one half of the fingerprint.

    Attributes:
        width: Bits.
        a: The value for the first text.
        b: The value for the second.
        distance: Bits that differ, 0 to ``width``.
        limit: Largest distance at which a search would look at the pair.
        cosine: Of the half's own weighted features.
        jaccard: Of the sets of them.
        containment: Of the sets of them.
        expected_distance: Mean distance in bits at that cosine, by the angle model.
        estimated_cosine: The cosine the distance stands for, by the same model.
    """

    width: int
    a: int
    b: int
    distance: int
    limit: int
    cosine: float
    jaccard: float
    containment: float
    expected_distance: float
    estimated_cosine: float


@dataclass(frozen=True, slots=True)
class CheckedCriterion:
    """A criterion of verification and whether the pair meets it."""

    criterion: Criterion
    similarity: float

    @property
    def is_met(self) -> bool:
        """At least the threshold."""
        return self.similarity >= self.criterion.threshold


@dataclass(frozen=True, slots=True)
class Comparison:
    """Everything about a pair of texts.

    Attributes:
        profile: How the fingerprints were made.
        a: The first text.
        b: The second text.
        halves: One entry for each half; empty when a text has no fingerprint.
        edit: ``1 - d / max(len)`` of the normal forms.
        checked: The criteria of verification.
        verify_features: What they are made from.
        limits: Distance limits with their reason.
        are_short: Whether both have so few features that a search compares them whatever the distance.
        verdict: What it comes to.
    """

    profile: Profile
    a: TextFigures
    b: TextFigures
    halves: tuple[HalfFigures, ...]
    edit: float
    checked: tuple[CheckedCriterion, ...]
    verify_features: FeatureSpec
    limits: DerivedLimits
    are_short: bool
    verdict: Verdict

    @property
    def is_within(self) -> bool:
        """Whether enough halves are within their limit."""
        return is_within(self.halves, self.profile.vote)

    def to_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "verdict": str(self.verdict),
            "within_limits": self.is_within,
            "are_short": self.are_short,
            "profile": {"name": self.profile.name, "digest": self.profile.digest},
            "a": _text_dict(self.a),
            "b": _text_dict(self.b),
            "halves": [_half_dict(half) for half in self.halves],
            "edit": self.edit,
            "verify": [
                {"criterion": str(each.criterion), "similarity": each.similarity, "met": each.is_met}
                for each in self.checked
            ],
            "verify_features": str(self.verify_features),
            "limits": {
                "distances": list(self.limits.distances),
                "vote": self.profile.vote,
                "reasons": list(self.limits.reasons),
            },
        }


def _text_dict(text: TextFigures) -> dict[str, Any]:
    return {
        "characters": text.characters,
        "compared": text.compared,
        "tokens": text.tokens,
        "features": list(text.features),
        "fingerprint": text.fingerprint,
    }


def _half_dict(half: HalfFigures) -> dict[str, Any]:
    return {
        "width": half.width,
        "a": to_hex(half.a, half.width),
        "b": to_hex(half.b, half.width),
        "distance": half.distance,
        "limit": half.limit,
        "cosine": half.cosine,
        "jaccard": half.jaccard,
        "containment": half.containment,
        "expected_distance": half.expected_distance,
        "estimated_cosine": half.estimated_cosine,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareOptions:
    """How two texts are compared.

    Attributes:
        profile: How fingerprints are made.
        similarity: S, above 0 and at most 1.
        recall: R, above 0 and below 1.
        n_documents: Size of the collection for which the distance limits are derived.
        distance: k, instead of the derived limit of half A.
        check_distance: k2, instead of that of half B.
        verify: Criteria; ``None`` takes the cosine at S.
        verify_features: What they are made from.
    """

    profile: Profile
    similarity: float = 0.85
    recall: float = 0.97
    n_documents: int = 1_000_000
    distance: int | None = None
    check_distance: int | None = None
    verify: tuple[Criterion, ...] | None = None
    verify_features: FeatureSpec = VERIFY_FEATURES


def compare_texts(a: str, b: str, options: CompareOptions) -> Comparison:
    """Compare two texts by everything there is.

    Raises:
        InvalidOption: A value is out of range.
        UnsupportedFeature: The profile needs a cluster.
        MissingExtra: The library of the profile's hash is not installed.
    """
    profile = options.profile
    limits = limits_of(options)
    values = [reference_fingerprint(text, profile) for text in (a, b)]
    features = [[features_of(text, profile, i) for i in range(len(profile.halves))] for text in (a, b)]
    normal = [prepared_text(text, profile) for text in (a, b)]
    halves = () if values[0] is None or values[1] is None else tuple(
        half_figures(profile, (x, y), (fa, fb), limit)
        for x, y, fa, fb, limit in zip(values[0], values[1], *features, limits.distances, strict=True)
    )  # fmt: skip
    criteria = (Criterion(Measure.COSINE, options.similarity),) if options.verify is None else options.verify
    checked = tuple(CheckedCriterion(each, verified(a, b, each.measure, options)) for each in criteria)
    are_short = bool(criteria) and derives(options) and all(each[0].total() < SHORT_FEATURES for each in features)
    return Comparison(
        profile=profile,
        a=text_figures(a, normal[0], features[0], values[0], profile),
        b=text_figures(b, normal[1], features[1], values[1], profile),
        halves=halves,
        edit=edit_similarity(*normal),
        checked=checked,
        verify_features=options.verify_features,
        limits=limits,
        are_short=are_short,
        verdict=judge(
            halves, checked, is_found=is_within(halves, profile.vote) or are_short, is_same=normal[0] == normal[1]
        ),
    )


def derives(options: CompareOptions) -> bool:
    """Whether the distance limits are derived rather than given; given ones alone decide what is looked at."""
    return options.distance is None and options.check_distance is None


def limits_of(options: CompareOptions) -> DerivedLimits:
    """Derived limits, or the given ones. A given first limit opens all others that are not given."""
    profile = options.profile
    derived = derive_limits(profile, options.similarity, options.recall, options.n_documents)
    if derives(options):
        return derived
    if options.check_distance is not None and len(profile.halves) < 2:
        raise InvalidOption("a check distance is given, but the profile has one half", "leave it out")
    first = derived.distances[0] if options.distance is None else options.distance
    rest = profile.width if options.check_distance is None else options.check_distance
    distances = (first, *(rest for _ in profile.halves[1:]))
    for limit in distances:
        if not 0 <= limit <= profile.width:
            raise InvalidOption(f"the distance limit is {limit}", f"expected 0 to {profile.width}")
    return given_limits(profile, options.similarity, distances)


def text_figures(
    text: str, normal: str, features: list[Counter[str]], values: tuple[int, ...] | None, profile: Profile
) -> TextFigures:
    """Counts of one text."""
    return TextFigures(
        characters=len(text),
        compared=len(normal),
        tokens=len(tokens_of(text, profile)),
        features=tuple(map(len, features)),
        fingerprint=None if values is None else "".join(to_hex(value, profile.width) for value in values),
    )


def half_figures(
    profile: Profile, values: tuple[int, int], features: tuple[Counter[str], Counter[str]], limit: int
) -> HalfFigures:
    """Distances and similarities by one half."""
    a, b = (weigh(each, profile) for each in features)
    cosine, jaccard, containment = (similarity_of_weights(a, b, measure) for measure in SET_MEASURES)
    distance = hamming_distance(*values)
    return HalfFigures(
        width=profile.width,
        a=values[0],
        b=values[1],
        distance=distance,
        limit=limit,
        cosine=cosine,
        jaccard=jaccard,
        containment=containment,
        expected_distance=expected_bits(min(cosine, 1.0), profile.width),
        estimated_cosine=cosine_of_bits(distance, profile.width),
    )


def verified(a: str, b: str, measure: Measure, options: CompareOptions) -> float:
    """Similarity as the verification sees it: features of its own, weights 1 + floor(log2 tf), a full normal form."""
    steps = options.profile.normal_form
    base = Profile(
        cleaning=options.profile.cleaning,
        normal_form=steps if steps.fold else NormalForm(),
        halves=(Half(VERIFY_FEATURES.n, VERIFY_FEATURES.n_chinese),),
        weights=Weighting.LOG_TF,
        vote=1,
    )
    profile = options.verify_features.profile(base)
    if profile.tokenizer in (Tokenizer.WORDS, Tokenizer.JIEBA, Tokenizer.RJIEBA):
        profile = replace(profile, user_dictionary=options.profile.user_dictionary)
    return similarities([(a, b)], measure, profile)[0]


def is_within(halves: tuple[HalfFigures, ...], vote: int) -> bool:
    """Whether at least ``vote`` halves are within their limit."""
    return bool(halves) and sum(half.distance <= half.limit for half in halves) >= vote


def judge(
    halves: tuple[HalfFigures, ...], checked: tuple[CheckedCriterion, ...], *, is_found: bool, is_same: bool
) -> Verdict:
    """The verdict; without criteria it rests on ``is_found`` alone, that is, on whether a search looks at the pair."""
    if not halves:
        return Verdict.NO_FINGERPRINT
    if is_same:
        return Verdict.IDENTICAL
    is_similar = all(each.is_met for each in checked)
    if is_found:
        return Verdict.NEAR_DUPLICATE if is_similar else Verdict.CANDIDATE
    return Verdict.MISSED if is_similar and checked else Verdict.DIFFERENT
