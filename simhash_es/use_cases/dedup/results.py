"""What a run found: the decision on every row, and the numbers of the summary."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from simhash_es.core.limits import DerivedLimits
from simhash_es.core.profile import Profile


@dataclass(frozen=True, slots=True)
class Decisions:
    """The decision on every row; older rows come first.

    Attributes:
        n_older: Rows of an older corpus or store, which are never removed.
        keeper: ``(n,)`` row kept for each row: its own number when it is kept itself.
        representative: ``(n,)`` first visited row with the same normal form, its own number when it is that row.
        distances: ``(n, H)`` distance in bits to the keeper.
        similarity: ``(n,)`` to the keeper; 1 for identical normal forms, NaN where no text was compared.
    """

    n_older: int
    keeper: npt.NDArray[np.int64]
    representative: npt.NDArray[np.int64]
    distances: npt.NDArray[np.uint8]
    similarity: npt.NDArray[np.float64]

    @property
    def kept(self) -> npt.NDArray[np.bool_]:
        """Which of the new rows are kept, by their ordinal in the inputs."""
        is_keeper: npt.NDArray[np.bool_] = self.keeper == np.arange(len(self.keeper))
        return is_keeper[self.n_older :]

    def is_exact(self, row: int) -> bool:
        """Whether a removed row has the normal form of the row kept for it."""
        return bool(self.representative[row] == self.keeper[row])

    @property
    def n_exact(self) -> int:
        """Removed rows with the normal form of the row kept for them."""
        removed = self.keeper != np.arange(len(self.keeper))
        return int((removed & (self.representative == self.keeper)).sum())

    def removed_by_keeper(self) -> npt.NDArray[np.int64]:
        """Removed rows, by the row kept for them, then in reading order."""
        removed = np.flatnonzero(self.keeper != np.arange(len(self.keeper)))
        ordered: npt.NDArray[np.int64] = removed[np.argsort(self.keeper[removed], kind="stable")]
        return ordered

    def groups(self) -> dict[int, list[int]]:
        """Removed rows by the row kept for them, both in reading order."""
        rows = self.removed_by_keeper()
        found: dict[int, list[int]] = {}
        for row, keeper in zip(rows.tolist(), self.keeper[rows].tolist(), strict=True):
            found.setdefault(keeper, []).append(row)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class DedupSummary:
    """The numbers of a run: ``read = kept + removed + skipped`` and ``removed = exact_copies + near_copies``.

    Attributes:
        read: Rows seen, those skipped included; not those of an older corpus or store.
        kept: Rows that survive.
        removed: Rows that repeat a kept or older row.
        skipped: Rows that could not be read.
        empty: Kept rows without any letter or number; they have no fingerprint and equal nothing.
        short: Rows with fewer than 64 features (:data:`simhash_es.core.limits.SHORT_FEATURES`), kept or removed:
            empty ones not counted.
        short_by_features: Whether all of these were searched for by their features, whatever the distance; False with
            limits that the user gave, and where features are shared by too many rows to look at all pairs.
        repaired: Rows in which half a surrogate pair was replaced by U+FFFD.
        groups: Kept or older rows that at least one other row repeats.
        exact_copies: Removed rows whose normal form equals that of the row kept.
        near_copies: Other removed rows.
        older: Rows of an older corpus or store that were compared with.
        pairs: Verified pairs: all of them with ``--pairs``, else those of a removed row and the row kept.
        compared: Pairs whose texts were compared.
        largest_groups: Name of the row kept and number of rows, of the largest groups.
        largest_distances: Largest distance within a group by half; empty without groups.
        limits: Distance limits with their reasons.
        profile: How fingerprints were made.
        similarity: Criteria in words; empty when fingerprints alone decided.
        seconds: Wall time by stage, in running order.
        outputs: What was written where.
    """

    read: int
    kept: int
    removed: int
    skipped: int
    empty: int
    short: int
    short_by_features: bool
    repaired: int
    groups: int
    exact_copies: int
    near_copies: int
    older: int
    pairs: int
    compared: int
    largest_groups: tuple[tuple[str, int], ...]
    largest_distances: tuple[int, ...]
    limits: DerivedLimits
    profile: Profile
    similarity: tuple[str, ...]
    seconds: dict[str, float] = field(default_factory=dict)
    outputs: dict[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """What ``--json`` prints."""
        counts = (
            "read", "kept", "removed", "skipped", "empty", "short", "repaired", "groups", "exact_copies",
            "near_copies", "older", "pairs", "compared",
        )  # fmt: skip
        return {
            **{name: getattr(self, name) for name in counts},
            "largest_groups": [{"kept": name, "rows": rows} for name, rows in self.largest_groups],
            "largest_distances": list(self.largest_distances),
            "limits": {
                "distances": list(self.limits.distances),
                "expected_recall": round(self.limits.expected_recall, 4),
                "recall_at_threshold": round(self.limits.recall_at_threshold, 4),
                "reasons": list(self.limits.reasons),
            },
            "similarity": list(self.similarity),
            "profile": {"name": self.profile.name, "digest": self.profile.digest},
            "seconds": {stage: round(seconds, 3) for stage, seconds in self.seconds.items()},
            "outputs": self.outputs,
        }
