"""Distance limits from what the user wants: similarity S, recall R, and the number of documents N.

*Recall* is the expected share of the pairs with a similarity of at least S that the search finds. Given the angle
between two texts, each half's distance is binomial (:mod:`simhash_es.core.angle`), and the halves are independent,
since their hashes are. The angles of the pairs at or above S are taken as evenly spread from 0 to ``arccos S``; on
English court rules and Chinese laws the density was flat within a factor of 1.5 (``benchmarks/recall.py``).

A half of longer grams sees a larger angle, since an edit touches more of them: ``arccos`` grows by the square root of
the gram sizes' ratio to those of the first half.

*N* enters by unrelated pairs, whose number grows with its square: limits are lowered until no more than
``MAX_UNRELATED`` unrelated candidates a document are expected.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

from simhash_es.core.angle import bit_probability, vote_probability, within
from simhash_es.core.profile import Half, Profile
from simhash_es.errors import InvalidOption

SHORT_FEATURES = 64
"""A text with fewer features than this (characters, mostly) is short: it is searched for by its features instead, see
:mod:`simhash_es.core.short_texts`."""

ANGLE_STEPS = 40
SHARE_OF_FIRST = 0.8
"""Part of the allowed loss that the retrieving half may take; the halves that only vote get the rest."""

SEARCH_FROM = 8  # bits below the first half's limit, scaled, at which the search for the others begins

MAX_UNRELATED = 10.0
"""Unrelated candidates a document: at about 2 µs each, checking them costs no more than making the fingerprint."""

# Share of unrelated pairs of real English sections within k = 11 and k2 = 18 of 64 bits, and what a bit more of either
# does to it (``benchmarks/recall.py``). Chinese laws and random values have fewer.
UNRELATED_LOG10 = -6.1
UNRELATED_PER_BIT = 0.40
UNRELATED_PER_CHECK_BIT = 0.25
UNRELATED_AT = (11, 18)
UNRELATED_WIDTH = 64
UNRELATED_SATURATES = 22  # a second half that allows more than this rules out next to nothing


@dataclass(frozen=True, slots=True)
class DerivedLimits:
    """Distance limits and why they are what they are.

    Attributes:
        distances: Largest accepted distance in bits for each half.
        expected_recall: Expected share of pairs of at least S that are found, 0 to 1.
        recall_at_threshold: The same for pairs at exactly S: the worst case.
        unrelated_share: Expected share of unrelated pairs that are candidates, 0 to 1.
        reasons: One sentence for each decision.
    """

    distances: tuple[int, ...]
    expected_recall: float
    recall_at_threshold: float
    unrelated_share: float
    reasons: tuple[str, ...]


def derive_limits(profile: Profile, similarity: float, recall: float, n_documents: int) -> DerivedLimits:
    """The smallest limits that reach the recall, lowered if N asks for it.

    Args:
        profile: Gives widths, gram sizes and vote.
        similarity: S, above 0, at most 1.
        recall: R, above 0, below 1.
        n_documents: N.

    Raises:
        InvalidOption: S or R out of range.
    """
    if not 0 < similarity <= 1:
        raise InvalidOption(f"similarity {similarity:g} is out of range", "give a number above 0, at most 1")
    if not 0 < recall < 1:
        raise InvalidOption(f"recall {recall:g} is out of range", "give a number between 0 and 1, such as 0.97")
    wanted = limits_for_recall(profile, similarity, recall)
    chosen = lower_for_documents(profile, wanted, n_documents)
    reached = expected_recall(profile, similarity, chosen)
    return DerivedLimits(
        distances=chosen,
        expected_recall=reached,
        recall_at_threshold=recall_at(profile, similarity, chosen),
        unrelated_share=unrelated_share(profile, chosen),
        reasons=tuple(explain(profile, similarity, recall, n_documents, wanted, chosen, reached)),
    )


def given_limits(profile: Profile, similarity: float, distances: tuple[int, ...]) -> DerivedLimits:
    """Limits that the user gave, with the same figures beside them."""
    return DerivedLimits(
        distances=distances,
        expected_recall=expected_recall(profile, similarity, distances),
        recall_at_threshold=recall_at(profile, similarity, distances),
        unrelated_share=unrelated_share(profile, distances),
        reasons=(f"distance limits {describe(distances)} were given",),
    )


def angle_factor(half: Half, first: Half) -> float:
    """How much larger the angle of a half is than that of the first: by the gram sizes, the worse of both kinds."""
    return math.sqrt(max(1.0, half.n / first.n, half.n_chinese / first.n_chinese))


@lru_cache(maxsize=4096)
def recall_at(profile: Profile, similarity: float, distances: tuple[int, ...]) -> float:
    """Probability that a pair at exactly that similarity is found."""
    return found_at(profile, bit_probability(similarity), distances)


def found_at(profile: Profile, probability: float, distances: tuple[int, ...]) -> float:
    """Probability that a pair is found whose bits differ with ``probability`` in the first half."""
    chances = []
    for half, limit in zip(profile.halves, distances, strict=True):
        differs = min(0.5, probability * angle_factor(half, profile.halves[0]))
        chances.append(within(differs, profile.width, min(limit, profile.width)))
    return vote_probability(chances, profile.vote)


@lru_cache(maxsize=4096)
def expected_recall(profile: Profile, similarity: float, distances: tuple[int, ...]) -> float:
    """Expected share of the pairs with at least that similarity that are found."""
    widest = bit_probability(similarity)
    steps = [(step + 0.5) / ANGLE_STEPS * widest for step in range(ANGLE_STEPS)]
    return math.fsum(found_at(profile, p, distances) for p in steps) / ANGLE_STEPS


def limits_for_recall(profile: Profile, similarity: float, recall: float) -> tuple[int, ...]:
    """The smallest limits that reach the recall: first those of the first half, then all others alike.

    Where not all halves must agree, any of them may be the one that does not: then all get the same limit, scaled.
    """
    width, n = profile.width, len(profile.halves)
    if profile.vote < n:
        alike = [(k, *scaled(profile, k, SEARCH_FROM)) for k in range(width + 1)]
        return next(limits for limits in alike if expected_recall(profile, similarity, limits) >= recall)
    open_rest = (width,) * (n - 1)
    enough = recall if n == 1 else 1 - (1 - recall) * SHARE_OF_FIRST
    first = next(k for k in range(width + 1) if expected_recall(profile, similarity, (k, *open_rest)) >= enough)
    if n == 1:
        return (first,)
    reach = ((first, *scaled(profile, first, extra)) for extra in range(width + SEARCH_FROM + 1))
    return next(limits for limits in reach if expected_recall(profile, similarity, limits) >= recall)


def scaled(profile: Profile, first: int, extra: int) -> tuple[int, ...]:
    """Limits of the other halves: that of the first by the angle factor, and ``extra`` bits."""
    factors = (angle_factor(half, profile.halves[0]) for half in profile.halves[1:])
    return tuple(min(profile.width, max(0, round(first * factor) - SEARCH_FROM + extra)) for factor in factors)


def unrelated_share(profile: Profile, distances: tuple[int, ...]) -> float:
    """Expected share of unrelated pairs within the limits, on real text; 0 to 1.

    Where not all halves must agree, the shares of all choices of as many halves add up at most.
    """
    return min(
        1.0, math.fsum(share_of_halves(profile.width, chosen) for chosen in combinations(distances, profile.vote))
    )


def share_of_halves(width: int, distances: tuple[int, ...]) -> float:
    """The same for halves that must all agree."""
    scale = UNRELATED_WIDTH / width
    first = distances[0] * scale
    rest = min((limit * scale for limit in distances[1:]), default=UNRELATED_SATURATES)
    log10 = (
        UNRELATED_LOG10
        + UNRELATED_PER_BIT * (first - UNRELATED_AT[0])
        + UNRELATED_PER_CHECK_BIT * (min(rest, UNRELATED_SATURATES) - UNRELATED_AT[1])
    )
    return float(min(1.0, 10.0 ** (log10 / scale)))


def lower_for_documents(profile: Profile, wanted: tuple[int, ...], n_documents: int) -> tuple[int, ...]:
    """The limits, one bit less everywhere as often as it takes to keep unrelated candidates in bounds."""
    chosen = wanted
    while unrelated_share(profile, chosen) * n_documents > MAX_UNRELATED and min(chosen) > 0:
        chosen = tuple(limit - 1 for limit in chosen)
    return chosen


def explain(
    profile: Profile,
    similarity: float,
    recall: float,
    n_documents: int,
    wanted: tuple[int, ...],
    chosen: tuple[int, ...],
    reached: float,
) -> list[str]:
    """One sentence for each decision."""
    mean = profile.width * bit_probability(similarity)
    sentences = [
        f"similarity {similarity:g} lies {mean:.1f} of {profile.width} bits apart on average, so limits of "
        f"{describe(wanted)} bits find {expected_recall(profile, similarity, wanted):.1%} of the pairs at or above it "
        f"(asked: {recall:.0%}), and {recall_at(profile, similarity, wanted):.0%} of those at exactly {similarity:g}"
    ]
    if chosen != wanted:
        sentences.append(
            f"lowered to {describe(chosen)} bits, since {n_documents:,} documents would have more than "
            f"{MAX_UNRELATED:.0f} unrelated candidates each; expected recall is {reached:.1%}"
        )
    return sentences


def describe(distances: tuple[int, ...]) -> str:
    """``11 and 14`` and the like."""
    return " and ".join(map(str, distances))
