"""``near`` finds the stored near-duplicates of a text or a fingerprint, nearest first."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simhash_es.backends.sqlite_store import NewRows, SeenStore
from simhash_es.core.batch import Fingerprinter, pack_texts
from simhash_es.core.presets import CHARACTERS, DEFAULT, WORDS
from simhash_es.core.profile import Cleaning, Profile
from simhash_es.core.similarity import Criterion, Measure, parse_criterion, parse_feature_spec
from simhash_es.core.verify import Verification, Verifier
from simhash_es.errors import InvalidOption, StoreError
from simhash_es.use_cases.near import NearOptions, NearResult, near, near_in_store

ENGLISH = (
    "The court shall hear the parties and their witnesses in open session and shall enter its judgment upon "
    "the record within thirty days after the hearing is closed, unless the parties agree in writing to a longer time. "
)
CHINESE = (
    "法院应当在公开开庭时听取当事人及其证人的陈述,并在庭审结束后三十日内作出判决并记入笔录,但当事人书面同意延长的除外。"
)
UNRELATED = (
    "Mix the flour with butter and sugar, add two eggs, and bake the dough for half an hour until it is golden. "
)
TEXTS = [
    UNRELATED * 2,
    ENGLISH * 2,
    CHINESE * 2,
    ENGLISH * 2 + "So ordered by the chief judge.",
    CHINESE * 2 + "本条自公布之日起施行。",
    ENGLISH.upper() * 2,
    "!?",
]
ASKED = NearOptions(distance=24)


class Blocks:
    """Texts as the verifier reads them."""

    def __init__(self, *texts: str) -> None:
        block = pack_texts([text.encode() for text in texts])
        self.data = block.data
        self.bounds = np.stack([block.offsets[:-1], block.offsets[1:]], axis=1).reshape(-1)


def fill(path: str, texts: list[str], profile: Profile = DEFAULT, *, keep_texts: bool = True) -> str:
    """A store of those texts that have a fingerprint; ids are their numbers."""
    made = Fingerprinter(profile).batch(texts)
    kept = np.flatnonzero(made.found)
    with SeenStore.open(path, profile) as store:
        store.add(
            NewRows(
                lanes=made.lanes[kept],
                digests=made.digests[kept],
                n_features=made.n_features[kept],
                n_chars=np.array([len(texts[i]) for i in kept], np.int64),
                ids=[b"%d" % i for i in kept],
                sources=["news.jsonl"] * len(kept),
                lines=[int(i) + 1 for i in kept],
                texts=[made.normal.text(i).encode() for i in kept] if keep_texts else None,
            )
        )
        store.commit()
    return path


@pytest.fixture
def store(tmp_path: Path) -> str:
    """A store of the texts above."""
    return fill(str(tmp_path / "seen.sqlite"), TEXTS)


def ids(result: NearResult) -> list[int]:
    return [int(match.id) for match in result.matches]


def test_text_finds_its_near_duplicates(store: str) -> None:
    """English and Chinese alike: the copies and edits, nearest first, and nothing unrelated."""
    found = near_in_store(store, text=ENGLISH * 2)
    assert ids(found) == [1, 5, 3]
    assert found.matches[0].distance == found.matches[0].check_distance == 0
    assert found.matches[0].similarity == 1.0
    assert (found.matches[2].source, found.matches[2].line) == ("news.jsonl", 4)
    assert found.rows == 6
    assert ids(near_in_store(store, text=CHINESE * 2)) == [2, 4]
    assert ids(near_in_store(store, text=UNRELATED[:40])) == []


def test_every_match_meets_the_similarity(store: str) -> None:
    """A stricter similarity refuses what the distances let through, and the result says how many."""
    loose, strict = (
        near_in_store(store, text=ENGLISH * 2, options=o) for o in (ASKED, NearOptions(similarity=0.999, distance=24))
    )
    assert set(ids(strict)) == {1, 5}
    assert loose.candidates == strict.candidates
    assert strict.refused == strict.candidates - 2


def test_limit_keeps_the_nearest(store: str) -> None:
    """A limit cuts the end of the list, never its beginning; 0 is a limit."""
    for limit in (0, 1, 2, 99):
        options = NearOptions(limit=limit)
        assert ids(near_in_store(store, text=ENGLISH * 2, options=options)) == [1, 5, 3][:limit]


def test_fingerprint_query_by_all_halves_or_the_first(store: str) -> None:
    """All halves joined search as the text does, without reading texts; half A alone leaves half B free."""
    by_text = near_in_store(store, text=ENGLISH * 2)
    assert by_text.fingerprint is not None
    whole = near_in_store(store, fingerprint=by_text.fingerprint)
    assert ids(whole) == ids(by_text)
    assert {match.similarity for match in whole.matches} == {None}
    half = near_in_store(store, fingerprint=by_text.fingerprint[:16].upper())
    assert set(ids(half)) >= set(ids(by_text))
    assert {match.check_distance for match in half.matches} == {None}
    assert half.limits.distances[1] == 64
    with pytest.raises(InvalidOption, match="half A alone"):
        near_in_store(store, fingerprint=by_text.fingerprint[:16], options=NearOptions(check_distance=3))


def test_store_without_texts(tmp_path: Path) -> None:
    """Where no text was kept the distances decide, and no similarity is claimed."""
    store = fill(str(tmp_path / "seen.sqlite"), TEXTS, keep_texts=False)
    found = near_in_store(
        store, text=ENGLISH * 2, options=NearOptions(similarity=0.999, distance=24, check_distance=24)
    )
    assert ids(found) == [1, 5, 3]
    assert {match.similarity for match in found.matches} == {None}


@pytest.mark.parametrize(
    ("verify", "features"),
    [
        ("cosine:0.5", "chars:4/3"),
        ("jaccard:0.5", "words:2"),
        ("containment:0.9", "chars:5"),
        ("edit:0.5", "chars:4"),
        ("cosine:0.5", "jieba:1"),
    ],
)
def test_similarity_is_that_of_dedup(tmp_path: Path, verify: str, features: str) -> None:
    """The figures equal those of the compiled verification on the same normal forms."""
    profile = Profile(cleaning=Cleaning(urls=True, digits=True))
    texts = [f"{ENGLISH}See https://example.org/{n} on page {n}. {CHINESE[n:]}" for n in range(6)]
    store = fill(str(tmp_path / "seen.sqlite"), texts, profile)
    spec = parse_feature_spec(features)
    options = NearOptions(distance=64, verify=(parse_criterion(verify),), verify_features=spec)
    found = near_in_store(store, text=texts[0], options=options)
    assert len(found.matches) > 1
    made = Fingerprinter(profile).batch(texts)
    normal = Blocks(*(made.normal.text(i) for i in range(6)))
    verification = Verification(options.criteria, spec)
    blocks = normal
    if verification.uses_tokens:
        from simhash_es.core.batch import join_tokens

        tokens = join_tokens(made.normal, spec.profile(profile))
        blocks = Blocks(*(tokens.text(i) for i in range(6)))
    others = np.array([int(match.id) for match in found.matches])
    passed, similarity = Verifier(verification, blocks, normal=normal).verdicts(np.zeros(len(others), np.int64), others)
    assert passed.all()
    assert [match.similarity for match in found.matches] == pytest.approx(similarity.tolist(), abs=1e-12)


def test_several_criteria_must_all_hold(store: str) -> None:
    """The first criterion is reported, all of them decide, and none lets distances alone decide."""
    both = (Criterion(Measure.JACCARD, 0.5), Criterion(Measure.EDIT, 0.99))
    found = near_in_store(store, text=ENGLISH * 2, options=NearOptions(distance=24, verify=both))
    assert ids(found) == [1, 5]
    assert found.matches[0].similarity == 1.0
    unverified = near_in_store(store, text=ENGLISH * 2, options=NearOptions(distance=64, check_distance=64, verify=()))
    assert sorted(ids(unverified)) == [0, 1, 2, 3, 4, 5]
    assert {match.similarity for match in unverified.matches} == {None}


def test_text_without_fingerprint_is_near_to_nothing(store: str) -> None:
    """A text without any letter or number matches nothing, and that is no error."""
    found = near_in_store(store, text="?! …")
    assert (found.matches, found.fingerprint, found.plan) == ((), None, None)
    assert found.to_dict()["fingerprint"] is None


@pytest.mark.parametrize("profile", [CHARACTERS, WORDS, DEFAULT.with_options(width=128, halves=1)], ids=str)
def test_other_profiles(tmp_path: Path, profile: Profile) -> None:
    """The profile is taken from the store."""
    store = fill(str(tmp_path / "seen.sqlite"), TEXTS, profile)
    assert ids(near_in_store(store, text=ENGLISH * 2))[:2] == [1, 5]
    assert near_in_store(store, text=ENGLISH * 2).matches[0].check_distance == (0 if profile is WORDS else None)


def test_cleaning_of_the_profile_is_applied_to_the_query(tmp_path: Path) -> None:
    """The query passes the same stages as the stored text did."""
    store = fill(str(tmp_path / "seen.sqlite"), [f"<p>{ENGLISH}</p>"], Profile(cleaning=Cleaning(html=True)))
    found = near_in_store(store, text=f"<div class='body'><b>{ENGLISH}</b></div>")
    assert found.matches[0].similarity == 1.0


def test_json_keeps_the_id(store: str) -> None:
    """A match as JSON has the id as it was read, and rounded figures."""
    match = near_in_store(store, text=ENGLISH * 2).matches[2]
    written = json.loads(match.to_json())
    assert (written["id"], written["source"], written["line"]) == (3, "news.jsonl", 4)
    assert written["similarity"] == round(match.similarity or 0, 6)
    summary = near_in_store(store, text=ENGLISH * 2).to_dict()
    assert (summary["rows"], summary["matches"]) == (6, 3)
    assert json.dumps(summary)


def test_bad_queries(store: str, tmp_path: Path) -> None:
    """Both or neither, wrong digits, values out of range, and a missing store are refused with a hint."""
    for wrong in (
        {},
        {"text": "a", "fingerprint": "0" * 32},
        {"fingerprint": "0" * 15},
        {"fingerprint": "g" * 32},
        {"text": "a", "options": NearOptions(distance=65)},
        {"text": "a", "options": NearOptions(similarity=0)},
    ):
        with pytest.raises(InvalidOption) as caught:
            near_in_store(store, **wrong)  # type: ignore[arg-type] # that is the point
        assert caught.value.hint
    with pytest.raises(InvalidOption, match="negative"):
        NearOptions(limit=-1)
    with pytest.raises(StoreError, match="there is no store"):
        near_in_store(str(tmp_path / "none.sqlite"), text="a")


@settings(max_examples=20)
@given(st.integers(0, 1 << 20), st.integers(0, 30), st.integers(0, 64))
def test_fingerprint_query_equals_counting_all_bits(
    tmp_path_factory: pytest.TempPathFactory, seed: int, distance: int, check_distance: int
) -> None:
    """Exactly the rows within both limits, by distance and then in stored order."""
    random = np.random.default_rng(seed)
    n = 400
    lanes = random.integers(0, 1 << 64, (1, 2), np.uint64) ^ random.integers(0, 1 << 20, (n, 2)).astype(np.uint64)
    path = str(tmp_path_factory.mktemp("near") / "seen.sqlite")
    with SeenStore.open(path, DEFAULT) as store:
        store.add(
            NewRows(
                lanes=lanes, digests=lanes, n_features=np.ones(n, np.int64), n_chars=np.ones(n, np.int64),
                ids=[b"%d" % i for i in range(n)], sources=["a"] * n, lines=[*range(n)],
            )
        )  # fmt: skip
        store.commit()
        query = lanes[random.integers(n)]
        options = NearOptions(distance=distance, check_distance=check_distance)
        found = near(store, fingerprint="".join(f"{int(lane):016x}" for lane in query), options=options)
    bits = [[(int(a) ^ int(b)).bit_count() for a, b in zip(row, query, strict=True)] for row in lanes]
    expected = sorted((a, i) for i, (a, b) in enumerate(bits) if a <= distance and b <= check_distance)
    assert [(match.distance, int(match.id)) for match in found.matches] == expected


def test_no_compiler_is_loaded(store: str) -> None:
    """A single query is answered before a compiler could be loaded."""
    script = (
        "import sys; from simhash_es.use_cases.near import near_in_store; "
        f"print(len(near_in_store({store!r}, text={ENGLISH * 2!r}).matches), 'numba' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert run.stdout.split() == ["3", "False"], run.stderr
