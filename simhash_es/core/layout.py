"""How a fingerprint is laid out in lanes and words, and which pairs of fingerprints match.

A fingerprint has one or more *halves*, each of 1 to 128 bits. It is stored as one row of 64-bit lanes: half after
half, the most significant lane of a half first, the half's value right-aligned. A word is a 16-bit piece of a half,
most significant first; the first word of a half is narrower when the width is no multiple of 16.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from simhash_es.core import bits
from simhash_es.core.bits import LANE_BITS, MAX_WIDTH, WORD_BITS, UInt64Array
from simhash_es.errors import InvalidOption

UInt8Array = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class WordPlace:
    """Where one word stands.

    Attributes:
        lane: Column in the row of lanes.
        shift: Bit position of the word's lowest bit in that lane (0, 16, 32 or 48).
        width: Bits of the word, 1 to 16.
    """

    lane: int
    shift: int
    width: int

    @property
    def mask(self) -> int:
        """The word's bits after shifting."""
        return (1 << self.width) - 1


@dataclass(frozen=True, slots=True)
class Layout:
    """Widths of the halves of a fingerprint.

    Args:
        widths: Bits of each half, 1 to 128 each, at least one half.

    Raises:
        InvalidOption: No half, or a width out of range.
    """

    widths: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.widths:
            raise InvalidOption("a fingerprint needs at least one half", "give one width for each half, such as 64,64")
        for width in self.widths:
            if not 1 <= width <= MAX_WIDTH:
                raise InvalidOption(f"half of {width} bits", f"a half has 1 to {MAX_WIDTH} bits")

    @property
    def n_halves(self) -> int:
        """Number of halves."""
        return len(self.widths)

    @property
    def n_lanes(self) -> int:
        """Lanes of a whole fingerprint: the length of a row."""
        return sum(bits.n_lanes(width) for width in self.widths)

    def first_lane(self, half: int) -> int:
        """Column of the most significant lane of ``half``."""
        return sum(bits.n_lanes(width) for width in self.widths[:half])

    def lanes(self, half: int) -> range:
        """Columns of the lanes of ``half``, most significant first."""
        first = self.first_lane(half)
        return range(first, first + bits.n_lanes(self.widths[half]))

    def words(self, half: int) -> tuple[WordPlace, ...]:
        """The words of ``half``, most significant first; the same words as :func:`simhash_es.core.bits.to_words`."""
        return tuple(self._words(half))

    def _words(self, half: int) -> Iterator[WordPlace]:
        width, last = self.widths[half], self.lanes(half)[-1]
        for low in reversed(range(0, width, WORD_BITS)):
            yield WordPlace(last - low // LANE_BITS, low % LANE_BITS, min(WORD_BITS, width - low))

    def rows(self, lanes: npt.NDArray[Any]) -> UInt64Array:
        """Check an array of fingerprints and return it as contiguous ``uint64`` (n, ``n_lanes``).

        Raises:
            InvalidOption: Another shape or type, or a value wider than its half.
        """
        if lanes.ndim != 2 or lanes.shape[1] != self.n_lanes or lanes.dtype != np.uint64:
            raise InvalidOption(
                f"fingerprints of shape {lanes.shape} and type {lanes.dtype}, layout {self.widths}",
                f"expected uint64 of shape (n, {self.n_lanes})",
            )
        for half, width in enumerate(self.widths):
            spare = bits.n_lanes(width) * LANE_BITS - width
            top = lanes[:, self.first_lane(half)]
            if spare and len(top) and int(top.max()) >> (LANE_BITS - spare):
                raise InvalidOption(f"a fingerprint does not fit in the {width} bits of half {half + 1}")
        return np.ascontiguousarray(lanes)


@dataclass(frozen=True, slots=True)
class Limits:
    """Which pairs match: those with at least ``vote`` halves within their limit.

    Args:
        distances: Largest accepted distance in bits for each half; 0 accepts equal values only, the width anything.
        vote: How many halves must be within their limit, 1 to the number of halves; 0 stands for all of them.

    Raises:
        InvalidOption: A negative limit, or a vote out of range.
    """

    distances: tuple[int, ...]
    vote: int = 0

    def __post_init__(self) -> None:
        if self.vote == 0:
            object.__setattr__(self, "vote", len(self.distances))
        for limit in self.distances:
            if limit < 0:
                raise InvalidOption(f"distance limit {limit} is negative", "use 0 for equal values only")
        if not 1 <= self.vote <= len(self.distances):
            raise InvalidOption(f"a vote of {self.vote} with {len(self.distances)} halves")

    def check(self, layout: Layout) -> None:
        """Make sure that the limits belong to ``layout``.

        Raises:
            InvalidOption: Another number of halves, or a limit above the width of its half.
        """
        if len(self.distances) != layout.n_halves:
            raise InvalidOption(f"{len(self.distances)} distance limits for {layout.n_halves} halves")
        for half, (limit, width) in enumerate(zip(self.distances, layout.widths, strict=True)):
            if limit > width:
                raise InvalidOption(
                    f"distance limit {limit} of half {half + 1} is above the width of {width} bits",
                    f"use a limit from 0 to {width}",
                )

    @property
    def n_retrieval(self) -> int:
        """How many halves must be searched so that no match is lost: a match is outside at most H - vote limits."""
        return len(self.distances) - self.vote + 1

    @property
    def retrieval_halves(self) -> range:
        """The first H - vote + 1 halves: every match is within the limit of at least one of them."""
        return range(self.n_retrieval)


def popcount(values: UInt64Array) -> UInt8Array:
    """Number of set bits of each value, 0 to 64; any shape."""
    if hasattr(np, "bitwise_count"):
        return np.bitwise_count(values)
    return popcount_by_bytes(values)


def popcount_by_bytes(values: UInt64Array) -> UInt8Array:
    """The same as :func:`popcount` for NumPy before 2.0, by a table of bytes."""
    table = np.array([byte.bit_count() for byte in range(256)], np.uint8)
    octets = np.ascontiguousarray(values).reshape(*values.shape, 1).view(np.uint8)
    counts: UInt8Array = table[octets].sum(axis=-1, dtype=np.uint8)
    return counts


def distances(x: UInt64Array, y: UInt64Array, layout: Layout) -> UInt8Array:
    """Distance in bits of each half, the two arrays broadcast against each other.

    Args:
        x: (…, n_lanes).
        y: (…, n_lanes).
        layout: Widths of the halves.

    Returns:
        (…, n_halves), values 0 to 128: (m, n_halves) for two arrays of m rows.
    """
    counts = popcount(x ^ y)
    halves = [counts[..., layout.lanes(half)].sum(axis=-1, dtype=np.uint8) for half in range(layout.n_halves)]
    return np.stack(halves, axis=-1)


def matches(found: UInt8Array, limits: Limits) -> npt.NDArray[np.bool_]:
    """Which of these distances (…, n_halves) match the limits; shape (…)."""
    within = found <= np.array(limits.distances, np.uint8)
    verdict: npt.NDArray[np.bool_] = within.sum(axis=-1) >= limits.vote
    return verdict
