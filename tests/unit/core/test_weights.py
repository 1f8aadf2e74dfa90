"""Weights of features."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simhash_es.core.idf import UNIT, IdfTable
from simhash_es.core.presets import preset
from simhash_es.core.weights import weigh
from simhash_es.core.word_weights import WordWeights

DEFAULT, WORDS = preset("default"), preset("words")


def weight(name: str, tf: int) -> int:
    return weigh({"x": tf}, DEFAULT.with_options(weights=name))["x"]


@given(st.integers(1, 2**40))
def test_simple_weights(tf: int) -> None:
    """uniform is 1, tf is tf, log-tf is 1 + floor(log2 tf)."""
    assert weight("uniform", tf) == 1
    assert weight("tf", tf) == tf
    assert 2 ** (weight("log-tf", tf) - 1) <= tf < 2 ** weight("log-tf", tf)


@pytest.mark.parametrize(
    ("tf", "expected"), [(1, 1), (2, 2), (3, 2), (4, 3), (7, 3), (8, 4), (2**60 - 1, 60), (2**60, 61)]
)
def test_log_tf_is_exact(tf: int, expected: int) -> None:
    """No floating-point logarithm at powers of two."""
    assert weight("log-tf", tf) == expected


def test_tf_idf() -> None:
    """Occurrences times the table's units; unseen features weigh most."""
    profile = DEFAULT.with_options(weights="tf-idf", idf=IdfTable(9, {"the": 9, "ferry": 1}))
    weights = weigh({"the": 2, "ferry": 1, "harbour": 1}, profile)
    assert weights["the"] == 2 * UNIT
    assert weights["ferry"] == round(UNIT * (math.log(10 / 2) + 1))
    assert weights["harbour"] == round(UNIT * (math.log(10) + 1))


LISTED = WordWeights((("ferry", 5 * UNIT), ("the", 0), ("a ferry", 7)), default=UNIT // 2)


def test_manual_weights_of_words() -> None:
    """Listed features weigh as listed; grams of tokens as their heaviest listed token; all others the default."""
    profile = WORDS.with_options(weights="manual", word_weights=LISTED)
    weights = weigh({"ferry": 2, "the": 4, "the ferry": 1, "a ferry": 1, "the harbour": 1, "harbour": 3}, profile)
    assert weights == {"ferry": 10 * UNIT, "the ferry": 5 * UNIT, "a ferry": 7, "harbour": 3 * UNIT // 2}


def test_manual_weights_of_characters() -> None:
    """A gram of characters is listed itself or not at all: its spaces separate no tokens."""
    profile = DEFAULT.with_options(weights="manual", word_weights=LISTED)
    assert weigh({"x ferry": 1, "ferry": 1}, profile) == {"x ferry": UNIT // 2, "ferry": 5 * UNIT}


def test_features_of_weight_zero_are_left_out() -> None:
    """They are no features."""
    profile = WORDS.with_options(weights="manual", word_weights=LISTED)
    assert weigh({"the": 3}, profile) == {}
