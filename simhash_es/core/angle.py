"""What a Hamming distance says about a cosine: the angle model.

Each bit of a SimHash is the side of a random hyperplane on which the text lies. Two texts at the angle
``arccos(cosine)`` lie on different sides with probability ``p = arccos(cosine) / pi``: their distance is binomial with
``width`` trials and mean ``width * p``. The model takes the bits as independent, which holds for a good hash; real
unrelated texts share common grams, so their mean distance is below ``width / 2`` and has to be measured.

Source: Goemans and Williamson 1995 (hyperplane rounding); Charikar 2002, section 3.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from simhash_es.core.bits import MAX_WIDTH
from simhash_es.core.profile_parts import check_range
from simhash_es.errors import InvalidOption

EVEN_CHANCE = 0.5
USUAL_RECALL = 0.97
SHOWN_COSINES = (0.7, 0.8, 0.85, 0.9, 0.95)
SHOWN_FRACTIONS = (3, 4)  # the width by these: the two rules of thumb
BISECTIONS = 60  # halvings of [0, 1]: below the spacing of doubles


def bit_probability(cosine: float) -> float:
    """Probability that one bit of two texts differs: ``arccos(cosine) / pi``; 0 at cosine 1, 1/2 at cosine 0.

    Raises:
        InvalidOption: The cosine is not from -1 to 1.
    """
    if not -1 <= cosine <= 1:
        raise InvalidOption(f"the cosine is {cosine}", "expected -1 to 1")
    return math.acos(cosine) / math.pi


def expected_bits(cosine: float, width: int) -> float:
    """Mean distance in bits of two texts with that cosine."""
    return width * bit_probability(cosine)


def cosine_of_bits(distance_bits: float, width: int) -> float:
    """The cosine whose mean distance is ``distance_bits`` (0 to ``width``)."""
    if not 0 <= distance_bits <= width:
        raise InvalidOption(f"the distance is {distance_bits} of {width} bits", f"expected 0 to {width}")
    return math.cos(math.pi * distance_bits / width)


def within(probability: float, width: int, limit: int) -> float:
    """Probability that at most ``limit`` of ``width`` independent bits differ, each with ``probability``.

    Args:
        probability: 0 to 1.
        width: Bits, 1 to 128.
        limit: Largest distance that counts, 0 to ``width``.
    """
    check_range("width in bits", width, 1, MAX_WIDTH)
    check_range("distance limit", limit, 0, width)
    if not 0 <= probability <= 1:
        raise InvalidOption(f"the probability is {probability}", "expected 0 to 1")
    terms = (
        math.comb(width, bits) * probability**bits * (1 - probability) ** (width - bits) for bits in range(limit + 1)
    )
    return min(1.0, math.fsum(terms))


def detection(cosine: float, width: int, limit: int) -> float:
    """Probability that two texts with that cosine lie within ``limit`` bits."""
    return within(bit_probability(cosine), width, limit)


def vote_probability(probabilities: Sequence[float], vote: int) -> float:
    """Probability that at least ``vote`` of independent halves agree, each with its own probability."""
    check_range("vote", vote, 1, len(probabilities))
    exactly = [1.0]  # by number of halves that agree
    for p in probabilities:
        exactly = [a * (1 - p) + b * p for a, b in zip([*exactly, 0.0], [0.0, *exactly], strict=True)]
    return min(1.0, math.fsum(exactly[vote:]))


def cosine_for_detection(probability: float, width: int, limit: int) -> float:
    """The smallest cosine at which pairs are found with at least that probability.

    Args:
        probability: Above 0, below 1.
        width: Bits.
        limit: Largest distance that counts, 0 to ``width``.

    Returns:
        -1 to 1. Below 0 only for limits above half the width.
    """
    if not 0 < probability < 1:
        raise InvalidOption(f"the probability is {probability}", "expected above 0, below 1")
    low, high = 0.0, 1.0  # of the bit probability
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        if within(middle, width, limit) >= probability:
            low = middle
        else:
            high = middle
    return math.cos(math.pi * low)


@dataclass(frozen=True)
class ThresholdFigures:
    """What a distance limit catches and what it wrongly joins.

    Attributes:
        width: Bits of the fingerprint.
        limit: Largest distance that counts.
        cosine_even: Cosine at which half of the pairs are found.
        cosine_usual: Cosine at which 97 % of the pairs are found.
        detections: Share of pairs found, by cosine.
        unrelated_ideal: Share of unrelated pairs joined if their bits were fair coins.
        unrelated_mean_bits: Mean distance of unrelated pairs that was given, such as 27.7 of 64 for English text.
        unrelated_real: Share of unrelated pairs joined at that mean. A lower bound: real distances spread wider.
    """

    width: int
    limit: int
    cosine_even: float
    cosine_usual: float
    detections: tuple[tuple[float, float], ...]
    unrelated_ideal: float
    unrelated_mean_bits: float
    unrelated_real: float

    def wrong_pairs(self, n_documents: int) -> float:
        """Unrelated pairs joined among so many documents, at the given mean distance."""
        return n_documents * (n_documents - 1) / 2 * self.unrelated_real


def threshold_figures(width: int, limit: int, *, unrelated_mean_bits: float | None = None) -> ThresholdFigures:
    """Figures for one limit.

    Args:
        width: Bits, 1 to 128.
        limit: Largest distance that counts, 0 to ``width``.
        unrelated_mean_bits: Mean distance of unrelated pairs; ``width / 2`` when ``None``.
    """
    mean = width / 2 if unrelated_mean_bits is None else unrelated_mean_bits
    return ThresholdFigures(
        width=width,
        limit=limit,
        cosine_even=cosine_for_detection(EVEN_CHANCE, width, limit),
        cosine_usual=cosine_for_detection(USUAL_RECALL, width, limit),
        detections=tuple((cosine, detection(cosine, width, limit)) for cosine in SHOWN_COSINES),
        unrelated_ideal=within(0.5, width, limit),
        unrelated_mean_bits=mean,
        unrelated_real=within(mean / width, width, limit),
    )


def rule_of_thumb_figures(width: int, *, unrelated_mean_bits: float | None = None) -> tuple[ThresholdFigures, ...]:
    """Figures for a third and a quarter of the width (rounded down), the two usual rules of thumb.

    For 64 bits: a third is 21 bits and finds half of the pairs at cosine 0.49, so it joins much that only shares a
    subject; a quarter is 16 bits and finds half of the pairs at cosine 0.69.
    """
    return tuple(
        threshold_figures(width, width // part, unrelated_mean_bits=unrelated_mean_bits) for part in SHOWN_FRACTIONS
    )
