"""Every public call as a type checker sees it; checked by mypy, never run."""

from __future__ import annotations

from typing import assert_type

import numpy as np
import numpy.typing as npt

import simhash_es
from simhash_es import (
    Deduplicator,
    Fingerprint,
    Fingerprints,
    Group,
    Match,
    Member,
    Profile,
    SimhashEsError,
    fingerprint,
    fingerprints,
    hamming_distance,
)
from simhash_es.core.limits import DerivedLimits
from simhash_es.guide import hamming_distance as guide_distance
from simhash_es.guide import simhash


def use_fingerprints() -> None:
    profile = Profile().with_options(tokenizer="words", bits=64)
    assert_type(profile, Profile)
    assert_type(profile.digest, str)
    one = fingerprint("text", profile)
    assert_type(one, Fingerprint | None)
    many = fingerprints(["a", "b"])
    assert_type(many, Fingerprints)
    assert_type(many[0], Fingerprint | None)
    assert_type(many.lanes, npt.NDArray[np.uint64])
    assert_type(many.found, npt.NDArray[np.bool_])
    again = Fingerprint.from_hex("00" * 16)
    assert_type(again.hex, str)
    assert_type(again.values, tuple[int, ...])
    assert_type(hamming_distance(again, again), tuple[int, ...])
    assert_type(hamming_distance(1, 2), int)
    assert_type(hamming_distance(many, many), npt.NDArray[np.uint8])


def use_deduplicator() -> None:
    seen = Deduplicator(
        similarity=0.9,
        recall=0.95,
        profile=Profile(),
        distance=10,
        check_distance=12,
        verify=["jaccard:0.8"],
        verify_features="words:3",
        expected_texts=1_000,
    )
    groups = seen.groups(("a", "b"))
    assert_type(groups, list[Group])
    assert_type(groups[0].kept, int)
    assert_type(groups[0].members, tuple[Member, ...])
    assert_type(groups[0].members[0].similarity, float | None)
    assert_type(seen.add("text", 7), Match | None)
    assert_type(seen.near("text"), list[Match])
    assert_type(seen.near("text")[0].id, str | int)
    assert_type(seen.limits, DerivedLimits)
    assert_type(len(seen), int)


def use_guide() -> None:
    assert_type(simhash("text", 128), str)
    assert_type(guide_distance("01", "10"), int)


def use_errors() -> None:
    try:
        Profile.load("none")
    except SimhashEsError as error:
        assert_type(error.message, str)
        assert_type(error.hint, str)
    assert_type(simhash_es.__version__, str)
