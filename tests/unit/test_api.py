"""The Python interface: fingerprints, distances, groups, and a set that grows."""

from __future__ import annotations

import doctest
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import simhash_es
from simhash_es import (
    Deduplicator,
    Fingerprint,
    Group,
    Match,
    Profile,
    fingerprint,
    fingerprints,
    hamming_distance,
)
from simhash_es.core.reference import reference_fingerprint
from simhash_es.core.similarity import Measure, similarity
from simhash_es.errors import InvalidOption, ProfileMismatch
from simhash_es.use_cases.dedup.options import DedupOptions, Outputs
from simhash_es.use_cases.dedup.run import run_dedup

SAMPLE = Path(__file__).parents[2] / "examples" / "sample"
FERRY = (
    "The harbour ferry leaves at half past six in the morning, and the crew ask everyone who travels with a bicycle "
    "to be at the pier ten minutes before, because the ramp is narrow and the tide does not wait for anyone."
)
EDITED = FERRY.replace("anyone", "anybody")
CHINESE = "港口的渡船早上六点半开出，船员请带自行车的乘客提前十分钟到码头，因为坡道很窄，潮水也不等人。" * 2
TEXTS = st.lists(st.text(st.sampled_from("ab 中文。!"), max_size=12), max_size=6)


def test_example_of_the_package() -> None:
    """The example in the docstring of the package is what comes out."""
    assert doctest.testmod(simhash_es).failed == 0
    assert doctest.testmod(simhash_es).attempted > 0


@given(st.text(max_size=40))
def test_one_is_the_reference(text: str) -> None:
    """fingerprint() gives the values of the reference; its digits can be read back."""
    found = fingerprint(text)
    assert (None if found is None else found.values) == reference_fingerprint(text, Profile())
    if found is not None:
        assert len(found.hex) == 32
        assert Fingerprint.from_hex(found.hex) == found
        assert str(found) == found.hex


@given(TEXTS)
def test_many_are_as_one(texts: list[str]) -> None:
    """fingerprints() gives the same values as fingerprint(), and None at the same places."""
    assert list(fingerprints(texts)) == [fingerprint(text) for text in texts]


@pytest.mark.parametrize(
    "profile",
    [
        Profile().with_options(bits=100),
        Profile().with_options(halves=3, bits=128),
        Profile().with_options(weights="tf"),
    ],
    ids=["100-bits", "three-halves", "tf"],
)
def test_profiles(profile: Profile) -> None:
    """Any profile, any width."""
    found = fingerprints([FERRY, "", CHINESE], profile)
    assert found.lanes.shape == (3, profile.n_lanes)
    assert [each is not None for each in found] == found.found.tolist() == [True, False, True]
    for text, each in zip((FERRY, "", CHINESE), found, strict=True):
        assert each == fingerprint(text, profile)
        assert each is None or Fingerprint.from_hex(each.hex, profile) == each


def test_no_texts() -> None:
    """An empty list has no fingerprints and no groups."""
    assert len(fingerprints([])) == 0
    assert fingerprints([]).lanes.shape == (0, 2)
    assert Deduplicator().groups([]) == []


def test_hamming_distance() -> None:
    """Of numbers a number, of fingerprints one for each half, of many a table."""
    a, b = fingerprint(FERRY), fingerprint(EDITED)
    assert a is not None
    assert b is not None
    apart = hamming_distance(a, b)
    assert apart == tuple((x ^ y).bit_count() for x, y in zip(a.values, b.values, strict=True))
    assert hamming_distance(a, a) == (0, 0)
    assert hamming_distance(0, 2**127 + 1) == 2
    table = hamming_distance(fingerprints([FERRY, FERRY]), fingerprints([EDITED, FERRY]))
    assert table.tolist() == [list(apart), [0, 0]]
    assert table.dtype == np.uint8


def test_hamming_distance_refuses() -> None:
    """Other profiles, other numbers, other kinds, negative numbers."""
    words = Profile().with_options(tokenizer="words")
    a, b = fingerprint(FERRY), fingerprint(FERRY, words)
    assert a is not None
    assert b is not None
    with pytest.raises(ProfileMismatch, match="tokenizer"):
        hamming_distance(a, b)
    with pytest.raises(ProfileMismatch, match="tokenizer"):
        hamming_distance(fingerprints([FERRY]), fingerprints([FERRY], words))
    with pytest.raises(InvalidOption, match="1 fingerprints against 2"):
        hamming_distance(fingerprints([FERRY]), fingerprints([FERRY, FERRY]))
    with pytest.raises(InvalidOption, match="distance of -1 and 0"):
        hamming_distance(-1, 0)
    with pytest.raises(InvalidOption, match="int and Fingerprint"):
        hamming_distance(1, a)  # type: ignore[call-overload] # the mistake is the test
    with pytest.raises(InvalidOption, match="digits"):
        Fingerprint.from_hex("0123")


def test_groups() -> None:
    """Near-duplicates of the first text of their kind; empty texts are alone; similarities are those of the core."""
    [group] = Deduplicator().groups(["", FERRY, CHINESE, EDITED, "", FERRY.upper()])
    assert (group.kept, [member.row for member in group.members]) == (1, [3, 5])
    assert group.members[0].similarity == pytest.approx(similarity(FERRY, EDITED, Measure.COSINE, Profile()))
    assert group.members[1] == simhash_es.Member(5, (0, 0), 1.0)


def sample_texts(name: str) -> list[str]:
    lines = (SAMPLE / name).read_text(encoding="utf-8").splitlines()
    return [str(row["text"] or "") for row in map(json.loads, lines) if "text" in row]


@pytest.mark.parametrize("name", ["news.en.jsonl", "news.zh.jsonl"])
def test_groups_are_those_of_the_command(name: str, tmp_path: Path) -> None:
    """The sample in memory gives the groups of the sample as a file."""
    texts = sample_texts(name)
    rows, groups = tmp_path / "rows.jsonl", tmp_path / "groups.jsonl"
    rows.write_text("".join(json.dumps({"id": i, "text": text}) + "\n" for i, text in enumerate(texts)))
    run_dedup(DedupOptions(sources=(str(rows),), outputs=Outputs(groups=str(groups))))
    expected = {
        (record["kept"], tuple(member["id"] for member in record["members"]))
        for record in map(json.loads, groups.read_text().splitlines())
    }
    found = {(group.kept, tuple(member.row for member in group.members)) for group in Deduplicator().groups(texts)}
    assert found == expected
    assert len(found) > 10


@given(TEXTS)
def test_groups_are_disjoint(texts: list[str]) -> None:
    """No text is in two groups or kept and removed at once; the kept one comes first."""
    groups = Deduplicator(similarity=0.6).groups(texts)
    rows = [row for group in groups for row in (group.kept, *(member.row for member in group.members))]
    assert len(rows) == len(set(rows))
    assert all(group.kept < min(member.row for member in group.members) for group in groups)


def test_add_and_near() -> None:
    """A text is remembered once; near texts are told with their id; empty ones never."""
    seen = Deduplicator()
    assert seen.add(FERRY, "ferry") is None
    assert seen.add(CHINESE) is None
    assert seen.add("", "nothing") is None
    assert len(seen) == 2
    match = seen.add(EDITED, "again")
    assert match is not None
    assert (match.id, len(seen)) == ("ferry", 2)
    assert 0.85 <= (match.similarity or 0) < 1
    assert seen.near(CHINESE + "。") == [Match(1, (0, 0), 1.0)]
    assert seen.near("") == []
    assert seen.near("nothing of the kind, whatever one may say about it") == []


def test_many_remembered_texts() -> None:
    """Every remembered text is found again among many."""
    seen = Deduplicator()
    texts = [f"{i} {FERRY[i % 90 :]} {i * 7919}" for i in range(0, 3000, 100)]
    kept = [text for i, text in enumerate(texts) if seen.add(text, i) is None]
    assert len(seen) == len(kept) > 1
    for text in kept:
        assert texts.index(text) in [match.id for match in seen.near(text)]


@pytest.mark.parametrize(
    ("options", "n_members"),
    [
        ({"similarity": 0.999}, 0),
        ({"verify": ["jaccard:0.8", "edit:0.9"]}, 1),
        ({"verify": ["jaccard:0.8", "edit:0.9999"]}, 0),
        ({"verify": ["cosine:0.9"], "verify_features": "words:1"}, 1),
        ({"verify": [], "distance": 64}, 2),
        ({"distance": 0}, 0),
        ({"distance": 64, "check_distance": 0}, 0),
        ({"profile": Profile().with_options(tokenizer="words")}, 1),
    ],
    ids=["similarity", "criteria", "edit", "features", "unverified", "distance", "check", "profile"],
)
def test_options(options: dict[str, object], n_members: int) -> None:
    """Each option does the same for a list and for a growing set."""
    texts = [FERRY, EDITED, CHINESE]
    groups = Deduplicator(**options).groups(texts)  # type: ignore[arg-type] # parametrised
    assert sum(len(group.members) for group in groups) == n_members
    seen = Deduplicator(**options)  # type: ignore[arg-type] # parametrised
    assert sum(seen.add(text) is not None for text in texts) == n_members


def test_unverified_matches_have_no_similarity() -> None:
    """Where fingerprints alone decide there is nothing to report."""
    [group] = Deduplicator(verify=[], distance=20).groups([FERRY, EDITED])
    assert group == Group(0, (simhash_es.Member(1, group.members[0].distances, None),))


@pytest.mark.parametrize(
    "options",
    [
        {"similarity": 0},
        {"recall": 1.0},
        {"distance": 65},
        {"distance": -1},
        {"verify": "cosine:0.9"},
        {"verify": ["cosine"]},
        {"verify_features": "words"},
        {"profile": Profile().with_options(halves=1), "check_distance": 3},
    ],
)
def test_wrong_options(options: dict[str, object]) -> None:
    """A value out of range is refused at once."""
    with pytest.raises(InvalidOption):
        Deduplicator(**options)  # type: ignore[arg-type] # the mistake is the test


def test_limits_say_why() -> None:
    """The limits of the growing set are open to view, with their reason."""
    small, large = Deduplicator(expected_texts=100), Deduplicator(expected_texts=10**9)
    assert large.limits.distances < small.limits.distances
    assert "similarity 0.85" in small.limits.reasons[0]
