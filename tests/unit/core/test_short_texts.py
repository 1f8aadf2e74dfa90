"""The search among short texts misses no pair of the similarity it was asked for."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from simhash_es.core import short_texts
from simhash_es.core.batch import pack_texts
from simhash_es.core.limits import SHORT_FEATURES
from simhash_es.core.normal_form import normal_form
from simhash_es.core.short_texts import ShortTexts, too_frequent
from simhash_es.core.similarity import Criterion, FeatureSpec, Measure, parse_feature_spec
from simhash_es.core.verify import DEFAULT_FEATURES, IntArray, Verification, Verifier
from simhash_es.use_cases.in_memory import BlockTexts

COMMENTS = (
    "很好用",
    "下次还会再来买",
    "加油",
    "支持一下",
    "包装也用心",
    "店家回复很快",
    "thanks",
    "great product",
    "ok",
    "第01集",
)
PIECES = st.sampled_from([*COMMENTS, "a", "b", "aaaa", "中", "，", " "])
TEXTS = st.lists(
    st.lists(PIECES, max_size=8).map("".join).map(lambda text: text[:66])
    | st.text(st.sampled_from("ab中"), max_size=30),
    max_size=14,
)
SIMILARITIES = [0.6, 0.85, 0.95, 1.0]


def verifier_of(texts: Sequence[str], features: FeatureSpec = DEFAULT_FEATURES) -> Verifier:
    block = pack_texts([normal_form(text).encode() for text in texts])
    return Verifier(Verification((Criterion(Measure.COSINE, 0.5),), features), BlockTexts(block))


def similar_pairs(verifier: Verifier, docs: IntArray, similarity: float) -> set[tuple[int, int]]:
    """All pairs of at least that cosine, by brute force."""
    pairs = list(itertools.combinations(docs.tolist(), 2))
    if not pairs:
        return set()
    left, right = (np.array(side, np.int64) for side in zip(*pairs, strict=True))
    cosines = verifier.scores(left, right)[:, 0]
    return {pair for pair, cosine in zip(pairs, cosines, strict=True) if cosine >= similarity}


def found_pairs(short: ShortTexts, docs: IntArray) -> list[tuple[int, int]]:
    return [(int(a), int(b)) for left, right in short.pairs(docs) for a, b in zip(left, right, strict=True)]


def comments(n: int, seed: int) -> list[str]:
    """Comments of a shop: stock phrases in any order, sometimes with a word changed."""
    chance = random.Random(seed)
    made = []
    for _ in range(n):
        text = "，".join(chance.choices(COMMENTS, k=chance.randrange(1, 7)))
        for _ in range(chance.randrange(3)):
            at = chance.randrange(len(text))
            text = text[:at] + chance.choice("很加好abc") + text[at + 1 :]
        made.append(text[: SHORT_FEATURES + 1])
    return made


@pytest.mark.parametrize("similarity", SIMILARITIES)
def test_no_pair_is_missed(similarity: float) -> None:
    """Every pair of short texts at or above S is found, once, the earlier one first; nothing else is promised."""

    @given(TEXTS)
    @example(["aaaa" * 8, "aaaa" * 9, "aaaaaaab"])
    @example(["中", "中", "", "!!", "a", "ab"])
    @settings(max_examples=200)
    def check(texts: list[str]) -> None:
        verifier, docs = verifier_of(texts), np.arange(len(texts), dtype=np.int64)
        found = found_pairs(ShortTexts(verifier, docs, similarity), docs)
        assert len(set(found)) == len(found)
        assert all(a < b for a, b in found)
        assert similar_pairs(verifier, docs, similarity) <= set(found)

    check()


@pytest.mark.parametrize("similarity", SIMILARITIES)
@pytest.mark.parametrize("spec", ["chars:4/3", "chars:2", "words:1"])
def test_no_pair_of_comments_is_missed(similarity: float, spec: str) -> None:
    """The same on many comments, with features of characters and of words, and far fewer candidates than pairs."""
    texts = comments(400, seed=int(similarity * 100))
    features = parse_feature_spec(spec)
    if features.tokenizer == "words":
        texts = [" ".join(text) for text in texts]
    verifier, docs = verifier_of(texts, features), np.arange(len(texts), dtype=np.int64)
    found = found_pairs(ShortTexts(verifier, docs, similarity), docs)
    expected = similar_pairs(verifier, docs, similarity)
    assert expected <= set(found)
    assert len(set(found)) == len(found)
    if similarity >= 0.85:
        assert len(expected) > 0
        assert len(found) < len(texts) * (len(texts) - 1) // 2


@given(st.lists(PIECES, min_size=1, max_size=8).map("".join), st.integers(1, 40))
def test_equal_features_are_found_at_one(text: str, times: int) -> None:
    """At S = 1 texts of equal features find each other, however long."""
    texts = [text * times, text * times, "zz"]
    verifier, docs = verifier_of(texts), np.arange(3, dtype=np.int64)
    expected = similar_pairs(verifier, docs, 1.0)
    assert expected <= set(found_pairs(ShortTexts(verifier, docs, 1.0), docs))


def test_among_other_texts() -> None:
    """Numbers of the short texts need not be consecutive; others are neither asked for nor found."""
    texts = comments(60, seed=1)
    verifier = verifier_of(texts)
    docs = np.arange(0, 60, 3, dtype=np.int64)
    short = ShortTexts(verifier, docs, 0.6)
    everything = np.arange(60, dtype=np.int64)
    assert (short.numbers(everything) >= 0).tolist() == [row % 3 == 0 for row in range(60)]
    found = found_pairs(short, everything)
    assert similar_pairs(verifier, docs, 0.6) <= set(found)
    assert all(a % 3 == b % 3 == 0 for a, b in found)


@pytest.mark.parametrize("similarity", [0.6, 0.85])
def test_those_added_before_and_those_within(similarity: float) -> None:
    """A block finds the rows added before, and among its own rows those before each one."""
    texts = comments(200, seed=3)
    verifier, docs = verifier_of(texts), np.arange(200, dtype=np.int64)
    short = ShortTexts(verifier, docs, similarity)
    expected = similar_pairs(verifier, docs, similarity)
    added: list[int] = []
    for first in range(0, 200, 50):
        block = docs[first : first + 50][::-1].copy()  # visiting order need not be that of the numbers
        pointer, partners = short.partners(block)
        within, positions = short.partners_within(block)
        for t, row in enumerate(block.tolist()):
            earlier = set(partners[pointer[t] : pointer[t + 1]].tolist())
            before = positions[within[t] : within[t + 1]].tolist()
            assert earlier <= set(added)
            assert all(position < t for position in before)
            assert {a for a in added if (min(a, row), max(a, row)) in expected} <= earlier
            beside = {int(block[position]) for position in before}
            assert {b for b in block[:t].tolist() if (min(b, row), max(b, row)) in expected} <= beside
        short.add(block[::2])  # only some become keepers
        added += block[::2].tolist()


def test_answers_larger_than_the_room() -> None:
    """A text with very many partners, and a block with very many of them, are answered all the same."""
    texts = ["很好用"] * 700
    verifier, docs = verifier_of(texts), np.arange(700, dtype=np.int64)
    found = found_pairs(ShortTexts(verifier, docs, 0.85), docs)
    assert len(found) == len(set(found)) == 700 * 699 // 2


def test_collisions_of_counters_are_harmless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hash collisions in the counters change the order of features for all texts alike, so nothing is missed."""
    texts = comments(150, seed=8)
    docs = np.arange(150, dtype=np.int64)
    expected = similar_pairs(verifier_of(texts), docs, 0.85)
    counts = short_texts.kernels.count_features

    def muddled(*arguments: object) -> None:
        counts(*arguments)
        frequency = next(a for a in arguments if isinstance(a, np.ndarray) and a.dtype == np.uint32)
        frequency[:] = frequency % 2

    monkeypatch.setattr(short_texts.kernels, "count_features", muddled)
    assert expected <= set(found_pairs(ShortTexts(verifier_of(texts), docs, 0.85), docs))


def test_no_short_text() -> None:
    """None at all, and texts without features, find nothing."""
    verifier = verifier_of(["", "!!"])
    none = np.zeros(0, np.int64)
    assert found_pairs(ShortTexts(verifier, none, 0.85), none) == []
    both = np.arange(2, dtype=np.int64)
    assert found_pairs(ShortTexts(verifier, both, 0.85), both) == []
    assert ShortTexts(verifier, none, 0.85).numbers(both).tolist() == [-1, -1]


def test_too_frequent_features_are_left_out_rarest_first() -> None:
    """Features are kept from the rarest on as long as the pairs that meet at them stay within the bound."""
    counts = np.array([4, 2, 100, 10])  # 8, 2, 5000 and 50 pairs
    assert too_frequent(counts, 60).tolist() == [False, False, True, False]
    assert too_frequent(counts, 59).tolist() == [False, False, True, True]
    assert not too_frequent(counts, 5060).any()
