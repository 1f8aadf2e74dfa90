"""All signed/unsigned, hexadecimal, byte and bit-order work.

A fingerprint of ``width`` bits is an unsigned integer. Its text form has one hexadecimal digit for each four bits,
lower case, leading zeros kept, most significant digit first. It is stored in *lanes* of 64 bits (most significant
lane first, the value right-aligned) and indexed by *words* of 16 bits (most significant word first).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from simhash_es.errors import InvalidOption

LANE_BITS = 64
WORD_BITS = 16
MASK64 = (1 << 64) - 1
MAX_WIDTH = 128

UInt64Array = npt.NDArray[np.uint64]


def hex_digits(width: int) -> int:
    """Number of hexadecimal digits of a value of ``width`` bits (1 to 128)."""
    return -(-width // 4)


def n_lanes(width: int) -> int:
    """Number of 64-bit lanes that hold ``width`` bits."""
    return -(-width // LANE_BITS)


def n_words(width: int) -> int:
    """Number of 16-bit words that hold ``width`` bits."""
    return -(-width // WORD_BITS)


def to_hex(value: int, width: int = 64) -> str:
    """Text form: always ``ceil(width / 4)`` lower-case digits, without sign or prefix.

    Raises:
        InvalidOption: ``value`` is negative or needs more than ``width`` bits.
    """
    if not 0 <= value < 1 << width:
        raise InvalidOption(f"fingerprint {value} does not fit in {width} unsigned bits")
    return f"{value:0{hex_digits(width)}x}"


def from_hex(text: str, width: int = 64) -> int:
    """Read the text form; upper case is accepted, anything else is not.

    Raises:
        InvalidOption: Wrong number of digits, a character that is no hexadecimal digit, or too large for ``width``.
    """
    digits = hex_digits(width)
    if len(text) != digits or any(c not in "0123456789abcdefABCDEF" for c in text):
        raise InvalidOption(
            f"{text!r} is not a {width}-bit fingerprint",
            f"expected exactly {digits} hexadecimal digits, leading zeros included",
        )
    value = int(text, 16)
    if value >> width:
        raise InvalidOption(f"{text!r} needs more than {width} bits")
    return value


def to_words(value: int, width: int = 64) -> tuple[int, ...]:
    """The 16-bit words, most significant first: ``0x0a00ff`` of 64 bits gives ``(0, 0, 0x000a, 0x00ff)``."""
    count = n_words(width)
    return tuple(value >> (WORD_BITS * (count - 1 - i)) & 0xFFFF for i in range(count))


def from_words(words: Sequence[int]) -> int:
    """Inverse of :func:`to_words`."""
    value = 0
    for word in words:
        value = value << WORD_BITS | word
    return value


def to_signed(value: int) -> int:
    """An unsigned 64-bit value as the signed ``long`` of Lucene and SQLite (two's complement)."""
    return value - (1 << 64) if value >> 63 else value


def from_signed(value: int) -> int:
    """Inverse of :func:`to_signed`."""
    return value & MASK64


def to_lanes(value: int, width: int) -> tuple[int, ...]:
    """The 64-bit lanes, most significant first, the value right-aligned."""
    count = n_lanes(width)
    return tuple(value >> (LANE_BITS * (count - 1 - i)) & MASK64 for i in range(count))


def from_lanes(lanes: Sequence[int]) -> int:
    """Inverse of :func:`to_lanes`."""
    value = 0
    for lane in lanes:
        value = value << LANE_BITS | int(lane)
    return value


def hamming_distance(a: int, b: int) -> int:
    """Number of bits in which two unsigned values differ."""
    return (a ^ b).bit_count()
