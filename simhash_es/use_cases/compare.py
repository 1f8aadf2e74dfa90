"""Two texts side by side: what they are made of, which bits differ, every distance and similarity, and what follows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from simhash_es.core.angle import cosine_of_bits, expected_bits
from simhash_es.core.bits import hamming_distance, to_hex
from simhash_es.core.limits import SHORT_FEATURES, DerivedLimits, derive_limits, given_limits
from simhash_es.core.normal_form import NormalForm
from simhash_es.core.profile import Half, Profile, Tokenizer, Weighting
from simhash_es.core.reference import features_of, prepared_text, reference_fingerprint, tokens_of
from simhash_es.core.similarity import (
    DEFAULT_FEATURES,
    Criterion,
    FeatureSpec,
    Measure,
    edit_similarity,
    similarities,
    similarity_of_weights,
)
from simhash_es.core.weights import weigh
from simhash_es.errors import InvalidOption
from simhash_es.use_cases.comparison import CheckedCriterion, Comparison, HalfFigures, TextFigures, Verdict, is_within

SET_MEASURES = (Measure.COSINE, Measure.JACCARD, Measure.CONTAINMENT)


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
    verify_features: FeatureSpec = DEFAULT_FEATURES


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
        halves=(Half(DEFAULT_FEATURES.n, DEFAULT_FEATURES.n_chinese),),
        weights=Weighting.LOG_TF,
        vote=1,
    )
    profile = options.verify_features.profile(base)
    if profile.tokenizer in (Tokenizer.WORDS, Tokenizer.JIEBA, Tokenizer.RJIEBA):
        profile = replace(profile, user_dictionary=options.profile.user_dictionary)
    return similarities([(a, b)], measure, profile)[0]


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
