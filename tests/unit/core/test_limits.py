"""Distance limits: they reach the recall that was asked for, follow S, R and N, and say what they are worth."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simhash_es.core.limits import (
    ANGLE_STEPS,
    MAX_UNRELATED,
    SHARE_OF_FIRST,
    DerivedLimits,
    angle_factor,
    derive_limits,
    expected_recall,
    given_limits,
    limits_for_recall,
    lower_for_documents,
    recall_at,
    unrelated_share,
)
from simhash_es.core.presets import PRESETS, preset
from simhash_es.core.profile import Half, Profile
from simhash_es.errors import InvalidOption

DEFAULT = preset("default")
PROFILES = {
    **PRESETS,
    "128 bits": DEFAULT.with_options(bits=128),
    "two of 128 bits": DEFAULT.with_options(bits=128, halves=2),
    "48 bits": DEFAULT.with_options(bits=48),
    "8 bits": DEFAULT.with_options(bits=8),
    "three halves": DEFAULT.with_options(halves=3),
    "two of three": DEFAULT.with_options(halves=3, vote=2),
    "one of two": DEFAULT.with_options(vote=1),
    "three of four": DEFAULT.with_options(halves=4, vote=3),
}
SOME = st.sampled_from(list(PROFILES.values()))
SIMILARITIES = st.floats(0.5, 1.0)
RECALLS = st.floats(0.05, 0.995)


def binomial(p: float, width: int, limit: int) -> float:
    return math.fsum(math.comb(width, k) * p**k * (1 - p) ** (width - k) for k in range(limit + 1))


def found(profile: Profile, cosine: float, distances: Sequence[int], *, share: float = 1.0) -> float:
    """Chance that at least ``vote`` halves are within their limits, by adding up all outcomes."""
    p = math.acos(cosine) / math.pi * share
    first = profile.halves[0]
    chances = []
    for half, limit in zip(profile.halves, distances, strict=True):
        factor = math.sqrt(max(1.0, half.n / first.n, half.n_chinese / first.n_chinese))
        chances.append(binomial(min(0.5, p * factor), profile.width, limit))
    outcomes = itertools.product((True, False), repeat=len(chances))
    return math.fsum(
        math.prod(c if agrees else 1 - c for c, agrees in zip(chances, outcome, strict=True))
        for outcome in outcomes
        if sum(outcome) >= profile.vote
    )


@pytest.mark.parametrize("name", PROFILES)
@pytest.mark.parametrize("similarity", [0.6, 0.85, 0.95, 1.0])
def test_figures_are_those_of_the_model(name: str, similarity: float) -> None:
    """Recall at the threshold is the binomial model; expected recall its mean over angles spread evenly from 0."""
    profile = PROFILES[name]
    for distances in (limits_for_recall(profile, similarity, 0.9), tuple(range(5, 5 + len(profile.halves)))):
        assert recall_at(profile, similarity, distances) == pytest.approx(found(profile, similarity, distances))
        steps = [(step + 0.5) / ANGLE_STEPS for step in range(ANGLE_STEPS)]
        mean = math.fsum(found(profile, similarity, distances, share=s) for s in steps) / ANGLE_STEPS
        assert expected_recall(profile, similarity, distances) == pytest.approx(mean)


@given(SOME, SIMILARITIES, RECALLS)
def test_recall_is_reached(profile: Profile, similarity: float, recall: float) -> None:
    """Before N lowers them, the limits reach the recall; one bit less in the first half would lose too much."""
    limits = limits_for_recall(profile, similarity, recall)
    assert len(limits) == len(profile.halves)
    assert all(0 <= limit <= profile.width for limit in limits)
    assert expected_recall(profile, similarity, limits) >= recall
    if profile.vote == len(limits) and limits[0] > 0:
        less = (limits[0] - 1, *(profile.width for _ in limits[1:]))
        share = SHARE_OF_FIRST if len(limits) > 1 else 1.0
        assert expected_recall(profile, similarity, less) < 1 - (1 - recall) * share


@given(SOME, SIMILARITIES, SIMILARITIES, RECALLS)
def test_more_similar_pairs_are_nearer(profile: Profile, s: float, t: float, recall: float) -> None:
    """A larger S never needs a larger first limit, and the same limits find no less of its pairs."""
    low, high = sorted((s, t))
    wide, narrow = limits_for_recall(profile, low, recall), limits_for_recall(profile, high, recall)
    assert narrow[0] <= wide[0]
    assert expected_recall(profile, high, wide) >= expected_recall(profile, low, wide) - 1e-12
    assert recall_at(profile, high, wide) >= recall_at(profile, low, wide) - 1e-12


@given(SOME, SIMILARITIES, RECALLS, RECALLS)
def test_more_recall_needs_no_smaller_limit(profile: Profile, similarity: float, r: float, q: float) -> None:
    """A larger R never gives a smaller first limit."""
    low, high = sorted((r, q))
    narrow, wide = limits_for_recall(profile, similarity, low), limits_for_recall(profile, similarity, high)
    assert narrow[0] <= wide[0]


@given(SOME, SIMILARITIES, st.integers(1, 10**10), st.integers(1, 10**10))
def test_more_documents_never_widen(profile: Profile, similarity: float, n: int, m: int) -> None:
    """A larger N lowers all limits or none; unrelated candidates stay in bounds as long as a limit can be lowered."""
    few, many = (derive_limits(profile, similarity, 0.97, size) for size in sorted((n, m)))
    assert all(a >= b for a, b in zip(few.distances, many.distances, strict=True))
    assert few.expected_recall >= many.expected_recall
    within = many.unrelated_share * max(n, m) <= MAX_UNRELATED
    assert within or min(many.distances) == 0


@given(SOME, st.data())
def test_unrelated_share_grows_with_the_limits(profile: Profile, data: st.DataObject) -> None:
    """One bit more nowhere makes the share of unrelated pairs smaller; it is a share."""
    limits = [data.draw(st.integers(0, profile.width - 1)) for _ in profile.halves]
    at = data.draw(st.integers(0, len(limits) - 1))
    more = [limit + (i == at) for i, limit in enumerate(limits)]
    before, after = unrelated_share(profile, tuple(limits)), unrelated_share(profile, tuple(more))
    assert 0 <= before <= after * (1 + 1e-9) <= 1 + 1e-9


def test_default_limits() -> None:
    """What the default command works with: S = 0.85, R = 0.97, among a thousand and among ten million documents."""
    few = derive_limits(DEFAULT, 0.85, 0.97, 1000)
    assert few.distances == (14, 19)
    assert few.expected_recall >= 0.97
    assert few.recall_at_threshold == pytest.approx(found(DEFAULT, 0.85, (14, 19)))
    assert "0.85" in few.reasons[0]
    assert "14 and 19" in few.reasons[0]
    many = derive_limits(DEFAULT, 0.85, 0.97, 10_000_000)
    assert many.distances < few.distances
    assert "10,000,000 documents" in many.reasons[1]


def test_identical_texts_need_no_distance() -> None:
    """At S = 1 every pair has equal fingerprints."""
    for profile in PROFILES.values():
        limits = derive_limits(profile, 1.0, 0.97, 1000)
        assert limits.distances == (0,) * len(profile.halves)
        assert limits.expected_recall == limits.recall_at_threshold == 1.0


@pytest.mark.parametrize("name", ["two of three", "one of two", "three of four"])
def test_no_half_is_given_up_where_some_may_disagree(name: str) -> None:
    """Where not all halves must agree, equal halves get equal limits: any may be the odd one."""
    profile = PROFILES[name]
    limits = limits_for_recall(profile, 0.85, 0.97)
    assert min(limits) > 0
    by_size: dict[tuple[int, int], set[int]] = {}
    for half, limit in zip(profile.halves, limits, strict=True):
        by_size.setdefault((half.n, half.n_chinese), set()).add(limit)
    assert all(len(found_limits) == 1 for found_limits in by_size.values())


def test_angle_factor() -> None:
    """By the root of the gram sizes' ratio, the worse of both kinds, never below 1."""
    first = Half(n=4, n_chinese=3)
    assert angle_factor(first, first) == 1.0
    assert angle_factor(Half(n=5, n_chinese=5), first) == pytest.approx(math.sqrt(5 / 3))
    assert angle_factor(Half(n=2, n_chinese=1), first) == 1.0


def test_given_limits_have_the_same_figures() -> None:
    """Limits that a user gives come with the figures that derived ones have."""
    derived = derive_limits(DEFAULT, 0.85, 0.97, 1000)
    given_ones = given_limits(DEFAULT, 0.85, derived.distances)
    figures = [name for name in DerivedLimits.__dataclass_fields__ if name != "reasons"]
    assert [getattr(given_ones, name) for name in figures] == [getattr(derived, name) for name in figures]
    assert given_ones.reasons == ("distance limits 14 and 19 were given",)


def test_lowered_together() -> None:
    """Where N asks for it, every limit is lowered by as many bits."""
    lowered = lower_for_documents(DEFAULT, (14, 19), 10**9)
    assert len({before - after for before, after in zip((14, 19), lowered, strict=True)}) == 1
    assert lowered != (14, 19)


@pytest.mark.parametrize(("similarity", "recall"), [(0.0, 0.9), (-0.5, 0.9), (1.1, 0.9), (0.9, 0.0), (0.9, 1.0)])
def test_out_of_range(similarity: float, recall: float) -> None:
    """S is above 0 and at most 1, R above 0 and below 1."""
    with pytest.raises(InvalidOption, match=r"out of range|similarity"):
        derive_limits(DEFAULT, similarity, recall, 10)
