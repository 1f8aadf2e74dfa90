"""The Python interface, for texts in memory: fingerprints, distances, groups, and a set that grows.

For files, and for more text than fits in memory, use the command ``simhash-es dedup``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
import numpy.typing as npt

from simhash_es.core import bits
from simhash_es.core.bits import UInt64Array, from_hex, from_lanes, hex_digits, to_hex
from simhash_es.core.layout import Layout, UInt8Array, distances
from simhash_es.core.presets import DEFAULT
from simhash_es.core.profile import Profile
from simhash_es.core.profile_json import check_same_profile
from simhash_es.core.reference import reference_fingerprint
from simhash_es.errors import InvalidOption
from simhash_es.use_cases.in_memory import Deduplicator, Group, Match, Member, batches, lanes_of

__all__ = [
    "Deduplicator",
    "Fingerprint",
    "Fingerprints",
    "Group",
    "Match",
    "Member",
    "Profile",
    "fingerprint",
    "fingerprints",
    "hamming_distance",
]


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The fingerprint of one text.

    Attributes:
        values: One unsigned integer of ``profile.width`` bits for each half.
        profile: How it was made.
    """

    values: tuple[int, ...]
    profile: Profile = DEFAULT

    @property
    def hex(self) -> str:
        """All halves joined, lower case, leading zeros kept: 32 digits with the default profile."""
        return "".join(to_hex(value, self.profile.width) for value in self.values)

    @classmethod
    def from_hex(cls, text: str, profile: Profile = DEFAULT) -> Fingerprint:
        """Inverse of :attr:`hex`.

        Raises:
            InvalidOption: Another number of digits, or a character that is none.
        """
        size = hex_digits(profile.width)
        if len(text) != size * len(profile.halves):
            raise InvalidOption(
                f"{text!r} has {len(text)} digits", f"expected {size * len(profile.halves)}, leading zeros included"
            )
        starts = range(0, len(text), size)
        return cls(tuple(from_hex(text[at : at + size], profile.width) for at in starts), profile)

    def __str__(self) -> str:
        return self.hex

    def __repr__(self) -> str:
        return f"Fingerprint({self.hex!r}, profile={self.profile.name!r})"


@dataclass(frozen=True, slots=True, eq=False)
class Fingerprints:
    """Fingerprints of several texts.

    Attributes:
        lanes: ``(n, L)`` uint64: half after half, the most significant 64 bits of a half first.
        found: ``(n,)`` False where a text has no fingerprint; its lanes mean nothing then.
        profile: How they were made.
    """

    lanes: UInt64Array
    found: npt.NDArray[np.bool_]
    profile: Profile = DEFAULT

    def __len__(self) -> int:
        return len(self.lanes)

    def __repr__(self) -> str:
        return f"Fingerprints(n={len(self)}, profile={self.profile.name!r})"

    def __getitem__(self, row: int) -> Fingerprint | None:
        """One of them; ``None`` where the text has none."""
        if not self.found[row]:
            return None
        layout, lanes = Layout(self.profile.layout_widths), self.lanes[row].tolist()
        values = (from_lanes([lanes[lane] for lane in layout.lanes(i)]) for i in range(layout.n_halves))
        return Fingerprint(tuple(values), self.profile)

    def __iter__(self) -> Iterator[Fingerprint | None]:
        return (self[row] for row in range(len(self)))


def fingerprint(text: str, profile: Profile = DEFAULT) -> Fingerprint | None:
    """The fingerprint of one text, in plain Python; for many texts use :func:`fingerprints`.

    Args:
        text: Any string, lone surrogates included.
        profile: How to make it.

    Returns:
        ``None`` for a text without any letter or number that counts: it is equal to no other.

    Raises:
        MissingExtra: The profile needs an optional library.
        UnsupportedFeature: The profile needs a cluster.
    """
    values = reference_fingerprint(text, profile)
    return None if values is None else Fingerprint(values, profile)


def fingerprints(texts: Sequence[str], profile: Profile = DEFAULT) -> Fingerprints:
    """The fingerprints of many texts, by compiled code where the profile allows; equal to :func:`fingerprint`.

    Args:
        texts: Any strings.
        profile: How to make them.

    Raises:
        MissingExtra: The profile needs an optional library.
        UnsupportedFeature: The profile needs a cluster.
    """
    made = list(batches(texts, profile))
    found = np.concatenate([np.zeros(0, np.bool_), *(batch.found for batch in made)])
    return Fingerprints(lanes_of(made, profile), found, profile)


@overload
def hamming_distance(a: int, b: int) -> int: ...
@overload
def hamming_distance(a: Fingerprint, b: Fingerprint) -> tuple[int, ...]: ...
@overload
def hamming_distance(a: Fingerprints, b: Fingerprints) -> UInt8Array: ...
def hamming_distance(
    a: int | Fingerprint | Fingerprints, b: int | Fingerprint | Fingerprints
) -> int | tuple[int, ...] | UInt8Array:
    """Number of bits that differ.

    Args:
        a: An unsigned integer, a fingerprint, or n fingerprints.
        b: The same kind, as many.

    Returns:
        For integers a number, for fingerprints one number for each half, for n fingerprints uint8 ``(n, halves)``.
        Rows without a fingerprint have no meaningful distance: see :attr:`Fingerprints.found`.

    Raises:
        InvalidOption: Different kinds or numbers, or a negative integer.
        ProfileMismatch: Made by different profiles.
    """
    if isinstance(a, Fingerprint) and isinstance(b, Fingerprint):
        check_same_profile(a.profile, b.profile, "the first fingerprint")
        return tuple(bits.hamming_distance(x, y) for x, y in zip(a.values, b.values, strict=True))
    if isinstance(a, Fingerprints) and isinstance(b, Fingerprints):
        check_same_profile(a.profile, b.profile, "the first set of fingerprints")
        if len(a) != len(b):
            raise InvalidOption(f"{len(a)} fingerprints against {len(b)}", "give as many of one as of the other")
        return distances(a.lanes, b.lanes, Layout(a.profile.layout_widths))
    if isinstance(a, int) and isinstance(b, int):
        if a < 0 or b < 0:
            raise InvalidOption(f"distance of {a} and {b}", "fingerprints are unsigned: add 2**64 to a negative one")
        return bits.hamming_distance(a, b)
    raise InvalidOption(f"distance of {type(a).__name__} and {type(b).__name__}", "give two of one kind")
