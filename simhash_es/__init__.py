"""Near-duplicate detection by SimHash, Chinese and English as equals.

    >>> from simhash_es import Deduplicator
    >>> Deduplicator().groups(["The ferry leaves at six.", "An unrelated line.", "The ferry leaves at six!"])
    [Group(kept=0, members=(Member(row=2, distances=(0, 0), similarity=1.0),))]

The names below are loaded when they are first used, so that ``import simhash_es`` costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simhash_es._version import __version__
from simhash_es.errors import SimhashEsError

if TYPE_CHECKING:
    from simhash_es.api import (
        Deduplicator,
        Fingerprint,
        Fingerprints,
        Group,
        Match,
        Member,
        Profile,
        fingerprint,
        fingerprints,
        hamming_distance,
    )

__all__ = [
    "Deduplicator",
    "Fingerprint",
    "Fingerprints",
    "Group",
    "Match",
    "Member",
    "Profile",
    "SimhashEsError",
    "__version__",
    "fingerprint",
    "fingerprints",
    "hamming_distance",
]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import simhash_es.api

    value: object = getattr(simhash_es.api, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
