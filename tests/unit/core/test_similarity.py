"""Similarities of two texts."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simhash_es.core.presets import preset
from simhash_es.core.profile import Half
from simhash_es.core.similarity import (
    Criterion,
    FeatureSpec,
    Measure,
    containment,
    cosine,
    edit_similarity,
    jaccard,
    parse_criterion,
    parse_feature_spec,
    similarities,
    similarity,
    similarity_of_weights,
)
from simhash_es.errors import InvalidOption

DEFAULT = preset("default")
WEIGHTS = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 2**40), max_size=8)
TEXTS = st.text(st.sampled_from("ab 中文，"), max_size=15)


def test_known_values() -> None:
    """Worked by hand."""
    a, b = {"x": 1, "y": 2}, {"y": 2, "z": 3}
    assert cosine(a, b) == pytest.approx(4 / math.sqrt(5 * 13))
    assert jaccard(a.keys(), b.keys()) == pytest.approx(1 / 3)
    assert containment({"x"}, {"x", "y", "z"}) == 1.0
    assert containment({"x", "y"}, {"y", "z", "u"}) == 0.5
    assert edit_similarity("kitten", "sitting") == pytest.approx(1 - 3 / 7)


@given(WEIGHTS, WEIGHTS)
def test_bounds_symmetry_identity(a: dict[str, int], b: dict[str, int]) -> None:
    """From 0 to 1, the same both ways, 1 for equal weights, 0 without common features."""
    for measure in (Measure.COSINE, Measure.JACCARD, Measure.CONTAINMENT):
        found = similarity_of_weights(a, b, measure)
        assert 0.0 <= found <= 1.0
        assert found == similarity_of_weights(b, a, measure)
        assert similarity_of_weights(a, a, measure) == (1.0 if a else 0.0)
        assert (found == 0.0) == (not a.keys() & b.keys())


@given(WEIGHTS, WEIGHTS)
def test_jaccard_is_at_most_containment(a: dict[str, int], b: dict[str, int]) -> None:
    """The smaller set is part of the union."""
    assert jaccard(a.keys(), b.keys()) <= containment(a.keys(), b.keys())


@given(WEIGHTS.filter(bool), st.integers(2, 9))
def test_cosine_does_not_see_length(a: dict[str, int], factor: int) -> None:
    """Weights in proportion have cosine 1, exactly."""
    assert cosine(a, {feature: weight * factor for feature, weight in a.items()}) == 1.0


@pytest.mark.parametrize("measure", Measure)
@given(a=TEXTS, b=TEXTS)
def test_similarity_of_texts(measure: Measure, a: str, b: str) -> None:
    """The same laws from text; a text without features resembles nothing, itself included."""
    found = similarity(a, b, measure, DEFAULT)
    assert 0.0 <= found <= 1.0
    assert found == pytest.approx(similarity(b, a, measure, DEFAULT), abs=1e-12)
    has_features = bool(a.replace("，", "").strip())
    assert similarity(a, a, measure, DEFAULT) == (1.0 if has_features else 0.0)


@pytest.mark.parametrize("measure", Measure)
def test_batch_equals_single(measure: Measure) -> None:
    """Many pairs at once give what each gives alone."""
    texts = ["the ferry leaves", "the ferry is late", "", "今天的菜市场", "今天的码头"]
    pairs = [(a, b) for a in texts for b in texts]
    assert similarities(pairs, measure, DEFAULT) == [similarity(a, b, measure, DEFAULT) for a, b in pairs]


def test_normal_form_comes_first() -> None:
    """Case, width and punctuation do not count, for the edit distance neither."""
    for measure in Measure:
        assert similarity("The ＦＥＲＲＹ, leaves!", "the ferry leaves", measure, DEFAULT) == 1.0


def test_half_is_chosen() -> None:
    """Each half has its own grams."""
    one, other = "abcdXefgh", "abcdYefgh"
    assert similarity(one, other, Measure.JACCARD, DEFAULT, half=0) > 0
    assert similarity(one, other, Measure.JACCARD, DEFAULT, half=1) == 0


def test_edit_needs_text() -> None:
    """It cannot be made from features."""
    with pytest.raises(InvalidOption, match="edit"):
        similarity_of_weights({"a": 1}, {"a": 1}, Measure.EDIT)


@pytest.mark.parametrize(
    ("text", "criterion"),
    [
        ("cosine:0.85", Criterion(Measure.COSINE, 0.85)),
        ("jaccard:1", Criterion(Measure.JACCARD, 1.0)),
        ("edit:.9", Criterion(Measure.EDIT, 0.9)),
        ("containment:0.5", Criterion(Measure.CONTAINMENT, 0.5)),
    ],
)
def test_parse_criterion(text: str, criterion: Criterion) -> None:
    """measure:threshold, which prints the same way."""
    assert parse_criterion(text) == criterion
    assert parse_criterion(str(criterion)) == criterion


@pytest.mark.parametrize(
    "text", ["", "cosine", "cosine:", "cosine:x", "cosine:0", "cosine:1.01", "cosine:-1", "cosine:nan", "dice:0.8"]
)
def test_parse_criterion_refuses(text: str) -> None:
    """Anything else is an error that says what is right."""
    with pytest.raises(InvalidOption) as caught:
        parse_criterion(text)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("words:3", FeatureSpec("words", 3, 3)),
        ("chars:4/3", FeatureSpec("chars", 4, 3)),
        ("jieba:2", FeatureSpec("jieba", 2, 2)),
        ("engine:ik_smart:2", FeatureSpec("engine:ik_smart", 2, 2)),
    ],
)
def test_parse_feature_spec(text: str, spec: FeatureSpec) -> None:
    """tokenizer:n, which prints the same way."""
    assert parse_feature_spec(text) == spec
    assert str(spec) == text


@pytest.mark.parametrize("text", ["", "words", "words:", "words:0", "words:x", "letters:3", "words:3,4", "chars:33"])
def test_parse_feature_spec_refuses(text: str) -> None:
    """Anything else is an error."""
    with pytest.raises(InvalidOption):
        parse_feature_spec(text)


def test_feature_spec_keeps_the_rest_of_the_profile() -> None:
    """Cleaning, normal form and weights are those of the fingerprints."""
    profile = parse_feature_spec("words:3").profile(DEFAULT.with_options(weights="tf"))
    assert (profile.tokenizer, profile.halves, profile.weights) == ("words", (Half(3, 3),), "tf")
    assert similarity("a b c d", "a b c e", Measure.JACCARD, profile) == pytest.approx(1 / 3)
    assert profile.name == "words:3"
