"""Verification in batches: the same figures as the readable reference, and the same decisions as a plain loop."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from simhash_es.core import verify
from simhash_es.core.batch import TextBlock, join_tokens, pack_texts
from simhash_es.core.bucket_search import half_table
from simhash_es.core.layout import Layout, Limits, distances, matches
from simhash_es.core.normal_form import normal_form
from simhash_es.core.presets import DEFAULT
from simhash_es.core.reference import features_of
from simhash_es.core.similarity import (
    Criterion,
    FeatureSpec,
    Measure,
    edit_similarity,
    parse_criterion,
    parse_feature_spec,
    similarity_of_weights,
)
from simhash_es.core.verify import DEFAULT_FEATURES, Verification, Verifier, parse_verification
from simhash_es.core.weights import weigh

MEASURES = (Measure.COSINE, Measure.JACCARD, Measure.CONTAINMENT)
SENTENCES = (
    "the ferry leaves at six",
    "bring a warm coat",
    "今天的菜市场卖新鲜竹笋",
    "图书馆周一闭馆",
    "ok 42",
    "a",
    "中",
)
TEXTS = st.lists(
    st.lists(st.sampled_from([*SENTENCES, " ", "x", "竹"]), max_size=8).map(" ".join) | st.text(max_size=30),
    min_size=1,
    max_size=6,
)
SPECS = ["chars:4/3", "chars:5", "chars:1", "chars:9", "words:1", "words:3", "rjieba:2"]


class BlockTexts:
    """Texts as the verifier reads them; they may be changed later."""

    def __init__(self, block: TextBlock) -> None:
        self.data = block.data
        self.bounds = np.stack([block.offsets[:-1], block.offsets[1:]], axis=1).reshape(-1)


def verifier_of(texts: Sequence[str], verification: Verification, *, workers: int = 1) -> Verifier:
    normal = pack_texts([normal_form(text).encode() for text in texts])
    if not verification.uses_tokens:
        return Verifier(verification, BlockTexts(normal), workers=workers)
    tokens = join_tokens(normal, verification.features.profile(DEFAULT))
    return Verifier(verification, BlockTexts(tokens), normal=BlockTexts(normal), workers=workers)


@cache
def weights(text: str, features: FeatureSpec) -> dict[str, int]:
    profile = features.profile(DEFAULT)
    return weigh(features_of(text, profile), profile)


@cache
def reference(a: str, b: str, measure: Measure, features: FeatureSpec) -> float:
    if measure is Measure.EDIT:
        return edit_similarity(normal_form(a), normal_form(b))
    return similarity_of_weights(weights(a, features), weights(b, features), measure)


def texts_alike(n: int, seed: int) -> list[str]:
    """Clusters of texts in English and Chinese, each one edited somewhat."""
    chance = random.Random(seed)
    words = [f"word{i}" for i in range(60)] + list("今天的菜市场卖新鲜竹笋图书馆周一闭馆")
    bases = [[chance.choice(words) for _ in range(chance.randrange(5, 60))] for _ in range(max(1, n // 5))]
    made = []
    for _ in range(n):
        text = list(chance.choice(bases))
        for _ in range(chance.randrange(6)):
            text[chance.randrange(len(text))] = chance.choice(words)
        made.append(" ".join(text))
    return made


def all_pairs(n: int) -> tuple[verify.IntArray, verify.IntArray]:
    left, right = np.divmod(np.arange(n * n, dtype=np.int64), n)
    return left, right


@given(TEXTS, st.sampled_from(SPECS))
@example(["", "!!!", "a", "ab"], "chars:4/3")
@example(["the the the", "the", "the the"], "words:1")
def test_scores_equal_reference(texts: list[str], spec: str) -> None:
    """Cosine, Jaccard and containment of all pairs, exactly."""
    features = parse_feature_spec(spec)
    verifier = verifier_of(texts, Verification((Criterion(Measure.COSINE, 0.5),), features))
    left, right = all_pairs(len(texts))
    expected = [
        [reference(texts[a], texts[b], measure, features) for measure in MEASURES]
        for a, b in zip(left, right, strict=True)
    ]
    assert verifier.scores(left, right).tolist() == expected


@pytest.mark.parametrize("spec", ["chars:4/3", "words:2"])
@pytest.mark.parametrize("workers", [1, 4])
def test_scores_of_real_looking_texts(spec: str, workers: int) -> None:
    """The same on longer texts, in any order of the pairs, with threads."""
    features = parse_feature_spec(spec)
    texts = texts_alike(40, seed=5)
    left, right = all_pairs(len(texts))
    order = np.random.default_rng(1).permutation(len(left))
    verifier = verifier_of(texts, Verification((Criterion(Measure.JACCARD, 0.5),), features), workers=workers)
    scores = verifier.scores(left[order], right[order])
    some = order[:300]
    for place, pair in enumerate(some):
        a, b = texts[left[pair]], texts[right[pair]]
        assert scores[place].tolist() == [reference(a, b, measure, features) for measure in MEASURES]
    back = np.empty_like(scores)
    back[order] = scores
    assert np.array_equal(back, verifier_of(texts, verifier.verification).scores(left, right))
    assert verifier.n_compared == len(left)


CRITERIA = [
    ("cosine:0.6",),
    ("jaccard:0.4",),
    ("containment:0.7",),
    ("edit:0.6",),
    ("cosine:0.5", "edit:0.7"),
    ("edit:0.5", "jaccard:0.3"),
    ("cosine:0.5", "jaccard:0.4", "containment:0.6", "edit:0.4"),
    ("cosine:0.9", "cosine:0.4"),
    ("edit:0.9", "edit:0.2"),
]


def plain_verdict(a: str, b: str, criteria: tuple[Criterion, ...]) -> tuple[bool, float]:
    values = [reference(a, b, criterion.measure, DEFAULT_FEATURES) for criterion in criteria]
    return all(v >= c.threshold for v, c in zip(values, criteria, strict=True)), values[0]


@pytest.mark.parametrize("names", CRITERIA, ids=" ".join)
def test_verdicts_equal_a_plain_loop(names: tuple[str, ...]) -> None:
    """All criteria must hold; the first one is the similarity that is reported."""
    criteria = tuple(map(parse_criterion, names))
    texts = ["", "ok", *texts_alike(22, seed=len(names))]
    left, right = all_pairs(len(texts))
    passed, values = verifier_of(texts, Verification(criteria)).verdicts(left, right)
    expected = [plain_verdict(texts[a], texts[b], criteria) for a, b in zip(left, right, strict=True)]
    assert passed.tolist() == [verdict for verdict, _ in expected]
    assert values[passed].tolist() == [value for verdict, value in expected if verdict]
    assert 0 < passed.sum() < len(passed)


@pytest.mark.parametrize("workers", [1, 4])
@pytest.mark.parametrize("names", CRITERIA, ids=" ".join)
def test_first_matches_equal_a_plain_loop(names: tuple[str, ...], workers: int) -> None:
    """The first partner that meets all criteria, in the order of the partners, whatever the number of threads."""
    criteria = tuple(map(parse_criterion, names))
    texts = texts_alike(60, seed=9)
    chance = np.random.default_rng(3)
    rows = chance.permutation(len(texts)).repeat(5).astype(np.int64)  # enough for several threads
    sizes = chance.integers(0, 6, len(rows))
    indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    partners = chance.integers(0, len(texts), indptr[-1]).astype(np.int64)
    verifier = verifier_of(texts, Verification(criteria), workers=workers)
    positions, values = verifier.first_matches(rows, indptr, partners)
    n_compared = 0
    for t, row in enumerate(rows):
        expected, value = int(indptr[t + 1]), None
        for p in range(indptr[t], indptr[t + 1]):
            n_compared += 1
            verdict, figure = plain_verdict(texts[row], texts[partners[p]], criteria)
            if verdict:
                expected, value = p, figure
                break
        assert positions[t] == expected
        if value is not None:
            assert values[t] == value
    assert verifier.n_compared == n_compared


def test_first_matches_of_nothing() -> None:
    """No rows, and rows without partners, are no trouble."""
    verifier = verifier_of(["some text"], Verification((Criterion(Measure.COSINE, 0.9),)))
    none = np.zeros(0, np.int64)
    assert len(verifier.first_matches(none, np.zeros(1, np.int64), none)[0]) == 0
    positions, _ = verifier.first_matches(np.zeros(3, np.int64), np.zeros(4, np.int64), none)
    assert positions.tolist() == [0, 0, 0]


@pytest.mark.parametrize("names", [("cosine:0.6",), ("cosine:0.5", "jaccard:0.4"), ()], ids=str)
@pytest.mark.parametrize(("limits", "vote"), [((3, 5), 2), ((64, 64), 2), ((2, 3), 1), ((0, 0), 2)])
def test_group_block_equals_a_plain_loop(names: tuple[str, ...], limits: tuple[int, int], vote: int) -> None:
    """Each row joins the first keeper before it that is near enough, or an extra candidate, and meets the criteria."""
    criteria = tuple(map(parse_criterion, names))
    texts = texts_alike(70, seed=vote)
    chance = np.random.default_rng(7)
    layout, allowed = Layout((64, 64)), Limits(limits, vote)
    base = chance.integers(0, 1 << 64, (5, 2), np.uint64)[chance.integers(0, 5, len(texts))]
    lanes = base ^ (chance.integers(0, 2, base.shape, np.uint64) << chance.integers(0, 64, base.shape, np.uint64))
    rows = chance.permutation(len(texts)).astype(np.int64)
    extra = {t: sorted(set(chance.integers(0, t, 2).tolist())) for t in range(5, len(rows), 3)} if names else {}
    pointer = np.concatenate([[0], np.cumsum([len(extra.get(t, ())) for t in range(len(rows))])]).astype(np.int64)
    flat = np.array([e for t in sorted(extra) for e in extra[t]] or [0], np.int32)
    verifier = verifier_of(texts, Verification(criteria))
    joined, values = verifier.group_block(rows, lanes, half_table(layout, allowed), vote, (pointer, flat))

    keepers: list[int] = []
    for t, row in enumerate(rows):
        expected = t
        for k in keepers:
            near = bool(matches(distances(lanes[t], lanes[k], layout), allowed)) or k in extra.get(t, ())
            verdict, value = plain_verdict(texts[row], texts[rows[k]], criteria) if criteria else (True, 0.0)
            if near and verdict:
                expected = k
                break
        assert joined[t] == expected
        if expected == t:
            keepers.append(t)
        elif criteria:
            assert values[t] == value
    assert len(keepers) < len(rows)
    assert len(keepers) > 1 or limits == layout.widths


def test_texts_may_come_after_their_numbers() -> None:
    """A long text that arrives when the work has begun gets the room that it needs."""
    short, long = "the ferry leaves at six", "the ferry leaves at six " * 5000
    block = pack_texts([short.encode(), normal_form(long).encode(), short.encode()])
    texts = BlockTexts(block)
    whole = texts.bounds.copy()
    texts.bounds[2:4] = 0  # reserved
    verifier = Verifier(Verification((Criterion(Measure.JACCARD, 0.5),)), texts)
    zero, one, two = (np.array([i], np.int64) for i in range(3))
    assert verifier.scores(zero, two)[0].tolist() == [1.0, 1.0, 1.0]
    texts.bounds[:] = whole
    expected = [reference(short, long, measure, DEFAULT_FEATURES) for measure in MEASURES]
    assert verifier.scores(zero, one)[0].tolist() == expected
    assert verifier.scores(one, zero)[0].tolist() == expected
    positions, _ = verifier.first_matches(zero, np.array([0, 1], np.int64), one)
    assert positions.tolist() == [0]


def test_more_texts_may_come() -> None:
    """Texts appended later are compared like the others."""
    texts = texts_alike(10, seed=1)
    many = BlockTexts(pack_texts([text.encode() for text in texts]))
    few = BlockTexts(pack_texts([texts[0].encode()]))
    verifier = Verifier(Verification((Criterion(Measure.COSINE, 0.5),)), few)
    verifier.describe(np.zeros(1, np.int64))
    few.data, few.bounds = many.data, many.bounds
    left, right = all_pairs(len(texts))
    fresh = Verifier(Verification((Criterion(Measure.COSINE, 0.5),)), many)
    assert np.array_equal(verifier.scores(left, right), fresh.scores(left, right))


def test_default_verification() -> None:
    """Without criteria it is the cosine at S of characters; named ones replace it."""
    assert parse_verification((), None, 0.85) == Verification((Criterion(Measure.COSINE, 0.85),), DEFAULT_FEATURES)
    jaccard = Criterion(Measure.JACCARD, 0.8)
    words = parse_feature_spec("words:3")
    assert parse_verification([jaccard], words, 0.85) == Verification((jaccard,), words)


def test_strictest_threshold_counts() -> None:
    """A measure that is named twice must meet the stricter threshold; unnamed ones have none."""
    criteria = tuple(map(parse_criterion, ("cosine:0.5", "cosine:0.7", "edit:0.4", "edit:0.3")))
    verification = Verification(criteria)
    assert verification.thresholds.tolist() == [0.7, verify.NO_THRESHOLD, verify.NO_THRESHOLD]
    assert verification.edit_threshold == 0.4
    assert Verification(criteria[:2]).edit_threshold is None
