"""The angle model."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simhash_es.core.angle import (
    bit_probability,
    cosine_for_detection,
    cosine_of_bits,
    detection,
    expected_bits,
    rule_of_thumb_figures,
    threshold_figures,
    vote_probability,
    within,
)
from simhash_es.errors import InvalidOption

WIDTHS = st.integers(1, 128)


def test_known_angles() -> None:
    """Right angle: half of the bits; same direction: none; opposite: all."""
    assert [bit_probability(cosine) for cosine in (1, 0.5, 0, -1)] == pytest.approx([0, 1 / 3, 0.5, 1])
    assert expected_bits(0.9, 64) == pytest.approx(9.19, abs=0.01)


@given(st.floats(-1, 1), WIDTHS)
def test_cosine_of_expected_bits(cosine: float, width: int) -> None:
    """The two directions are inverse."""
    assert cosine_of_bits(expected_bits(cosine, width), width) == pytest.approx(cosine, abs=1e-9)


@given(st.floats(0, 1), WIDTHS, st.data())
def test_within_is_a_distribution(probability: float, width: int, data: st.DataObject) -> None:
    """From 0 to 1, rising with the limit, 1 at the width, and equal to the recurrence of the binomial."""
    limit = data.draw(st.integers(0, width))
    row = [1.0]
    for _ in range(width):
        row = [a * (1 - probability) + b * probability for a, b in zip([*row, 0.0], [0.0, *row], strict=True)]
    assert within(probability, width, limit) == pytest.approx(sum(row[: limit + 1]), abs=1e-9)
    assert within(probability, width, width) == pytest.approx(1.0)


def test_stated_detection() -> None:
    """Within 11 of 64 bits: 80 % of the pairs at cosine 0.9, 97 % at 0.95."""
    assert detection(0.9, 64, 11) == pytest.approx(0.80, abs=0.005)
    assert detection(0.95, 64, 11) == pytest.approx(0.97, abs=0.005)


@given(st.floats(0.01, 0.99), WIDTHS, st.data())
def test_cosine_for_detection_is_the_inverse(probability: float, width: int, data: st.DataObject) -> None:
    """At that cosine the stated share is found."""
    limit = data.draw(st.integers(0, width - 1))
    cosine = cosine_for_detection(probability, width, limit)
    assert detection(cosine, width, limit) == pytest.approx(probability, abs=1e-6)


def test_random_hyperplanes_follow_the_model() -> None:
    """Two vectors at cosine 0.8 differ in the expected number of random signs."""
    rng = random.Random(8)
    a, b = (1.0, 0.0), (0.8, 0.6)
    trials = 20_000
    planes = [(rng.gauss(0, 1), rng.gauss(0, 1)) for _ in range(trials)]
    differ = sum((x * a[0] + y * a[1] > 0) != (x * b[0] + y * b[1] > 0) for x, y in planes)
    assert differ / trials == pytest.approx(bit_probability(0.8), abs=4 * math.sqrt(0.25 / trials))


def test_figures_of_a_third_and_a_quarter() -> None:
    """A third of the width takes in pairs at cosine 0.5 and six per cent of unrelated English; a quarter less."""
    third, quarter = rule_of_thumb_figures(64, unrelated_mean_bits=27.7)
    assert (third.limit, quarter.limit) == (21, 16)
    assert (third.cosine_even, quarter.cosine_even) == pytest.approx((0.49, 0.69), abs=0.005)
    assert (third.unrelated_ideal, quarter.unrelated_ideal) == pytest.approx((4.07e-3, 3.87e-5), rel=0.01)
    assert third.unrelated_real == pytest.approx(0.0575, rel=0.01)
    assert third.wrong_pairs(1000) == pytest.approx(499_500 * third.unrelated_real)
    for figures in (third, quarter):
        assert figures.cosine_even < figures.cosine_usual
        assert [share for _, share in figures.detections] == sorted(share for _, share in figures.detections)


def test_figures_without_a_measured_mean() -> None:
    """Fair coins are taken then."""
    figures = threshold_figures(128, 42)
    assert figures.unrelated_mean_bits == 64
    assert figures.unrelated_real == figures.unrelated_ideal


@given(st.lists(st.floats(0, 1), min_size=1, max_size=5), st.data())
def test_vote_probability(probabilities: list[float], data: st.DataObject) -> None:
    """Equal to adding up all outcomes."""
    vote = data.draw(st.integers(1, len(probabilities)))
    total = 0.0
    for outcome in range(1 << len(probabilities)):
        agree = [outcome >> i & 1 for i in range(len(probabilities))]
        if sum(agree) >= vote:
            total += math.prod(p if yes else 1 - p for p, yes in zip(probabilities, agree, strict=True))
    assert vote_probability(probabilities, vote) == pytest.approx(total, abs=1e-9)


def test_out_of_range() -> None:
    """Each argument has limits."""
    for call in (
        lambda: bit_probability(1.1),
        lambda: cosine_of_bits(65, 64),
        lambda: within(0.5, 64, 65),
        lambda: within(0.5, 64, -1),
        lambda: within(1.5, 64, 3),
        lambda: within(0.5, 129, 3),
        lambda: cosine_for_detection(1.0, 64, 3),
        lambda: vote_probability([0.5], 2),
    ):
        with pytest.raises(InvalidOption):
            call()
