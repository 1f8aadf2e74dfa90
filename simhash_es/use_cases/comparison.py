"""What a comparison of two texts comes to."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from simhash_es.core.bits import to_hex
from simhash_es.core.limits import DerivedLimits
from simhash_es.core.profile import Profile
from simhash_es.core.similarity import Criterion, FeatureSpec


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


def is_within(halves: tuple[HalfFigures, ...], vote: int) -> bool:
    """Whether at least ``vote`` halves are within their limit."""
    return bool(halves) and sum(half.distance <= half.limit for half in halves) >= vote
