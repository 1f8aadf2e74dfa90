"""What a report shows, as plain frozen values.

Whoever ran the work fills these in; :func:`simhash_es.report.html.write_report` only draws them. Texts are the
user's and may be hostile: they are carried as they are and escaped where they are written.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from simhash_es.errors import InvalidOption


class Side(StrEnum):
    """On which side of a histogram's threshold the accepted values lie; the threshold itself is accepted."""

    BELOW = "below"  # distances
    ABOVE = "above"  # similarities


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Counts of one run; ``read = kept + removed + skipped`` and ``removed = exact_copies + near_copies``.

    Attributes:
        read: Rows seen, those skipped included.
        kept: Rows that survive, empty and short ones included.
        removed: Rows that repeat a kept one.
        skipped: Rows that could not be read.
        empty: Kept rows without any letter or number.
        short: Rows with few features, kept or removed.
        groups: Kept rows that at least one other row repeats.
        exact_copies: Removed rows whose normal form equals that of the row kept.
        near_copies: The other removed rows.
    """

    read: int
    kept: int
    removed: int
    skipped: int = 0
    empty: int = 0
    short: int = 0
    groups: int = 0
    exact_copies: int = 0
    near_copies: int = 0

    def __post_init__(self) -> None:
        if self.read != self.kept + self.removed + self.skipped:
            raise InvalidOption(
                f"totals do not add up: read {self.read}, kept {self.kept}, removed {self.removed}, "
                f"skipped {self.skipped}"
            )
        if self.removed != self.exact_copies + self.near_copies:
            raise InvalidOption(
                f"totals do not add up: removed {self.removed}, exact copies {self.exact_copies}, "
                f"near copies {self.near_copies}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileSummary:
    """The profile in words: its name, its digest, and one line for each setting."""

    name: str
    digest: str
    description: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitSummary:
    """What a pair had to meet, and why.

    Attributes:
        distance_bits: Limit of half A (k); ``None`` when nothing was searched by distance.
        check_distance_bits: Limit of half B (k2); ``None`` without a second half.
        similarity: Lowest similarity accepted, 0 to 1; ``None`` without verification.
        measure: Name of the similarity, such as ``cosine``.
        recall: Expected share of the pairs at or above ``similarity`` that are found, 0 to 1; ``None`` if unknown.
        reasons: One sentence for each decision.
    """

    distance_bits: int | None = None
    check_distance_bits: int | None = None
    similarity: float | None = None
    measure: str = "cosine"
    recall: float | None = None
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Histogram:
    """Counts over equal bins; bin i covers ``start + i * step`` up to, not including, ``start + (i + 1) * step``.

    The last bin includes its upper end. For distances ``step`` is 1 and bin i counts the pairs of exactly i bits.

    Attributes:
        title: Heading, such as ``Distance, half A``.
        axis: Label of the horizontal axis with its unit.
        counts: Pairs in each bin, none negative, at least one bin.
        start: Lower end of the first bin.
        step: Width of a bin, > 0.
        threshold: The limit that applied; ``None`` for none.
        accepted: Side of the threshold on which pairs were accepted.
    """

    title: str
    axis: str
    counts: tuple[int, ...]
    start: float = 0.0
    step: float = 1.0
    threshold: float | None = None
    accepted: Side = Side.BELOW

    def __post_init__(self) -> None:
        if not self.counts or min(self.counts) < 0 or self.step <= 0:
            raise InvalidOption(f"histogram {self.title!r} needs bins, counts of at least 0 and a step above 0")


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One row of a group, or one side of a pair.

    Attributes:
        id: The row's id as text.
        place: Where it stands: ``source:line``.
        text: The text or its beginning; ``None`` when the report does not carry it.
        is_cut: Whether ``text`` is only the beginning.
        distance: Bits of half A that differ from the row kept; ``None`` for the kept row itself or when not measured.
        check_distance: The same of half B.
        similarity: Similarity to the row kept, 0 to 1; ``None`` likewise.
        is_exact: Whether the normal form equals that of the row kept.
    """

    id: str
    place: str
    text: str | None = None
    is_cut: bool = False
    distance: int | None = None
    check_distance: int | None = None
    similarity: float | None = None
    is_exact: bool = False

    def __post_init__(self) -> None:
        if self.similarity is not None and not 0.0 <= self.similarity <= 1.0:
            raise InvalidOption(f"similarity {self.similarity} of {self.id!r} is not within 0 and 1")

    def cut_to(self, max_chars: int) -> Member:
        """This member with at most ``max_chars`` characters of its text, flagged when anything was cut."""
        if self.text is None or len(self.text) <= max_chars:
            return self
        return replace(self, text=self.text[:max_chars], is_cut=True)

    def without_text(self) -> Member:
        return replace(self, text=None, is_cut=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A kept row and the rows it stands for.

    Attributes:
        kept: The row kept.
        members: The removed rows, or the first of them.
        size: Rows in the whole group, the kept one included; 0 means ``1 + len(members)``.
    """

    kept: Member
    members: tuple[Member, ...]
    size: int = 0

    @property
    def n_rows(self) -> int:
        return self.size if self.size else 1 + len(self.members)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosestCall:
    """A pair near the threshold. Its distances and similarity stand with ``other``."""

    kept: Member
    other: Member
    is_accepted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportData:
    """Everything a report shows.

    Attributes:
        title: Heading of the report.
        generator: Name and version of the program.
        command: The command line, or any one-line summary of how the run was started.
        totals: Counts of the run.
        profile: The profile used.
        limits: The limits used and the reasons for them.
        seconds: (stage, seconds) in running order.
        histograms: Distances of each half and similarities.
        groups: The largest groups.
        closest_calls: Pairs near the threshold, accepted and rejected.
        created: When the run ended, ready to be shown; empty leaves it out, and the report is then the same each time.
        notes: Warnings or remarks to be shown with the totals.
    """

    title: str
    generator: str
    command: str
    totals: Totals
    profile: ProfileSummary
    limits: LimitSummary
    seconds: tuple[tuple[str, float], ...] = ()
    histograms: tuple[Histogram, ...] = ()
    groups: tuple[Group, ...] = ()
    closest_calls: tuple[ClosestCall, ...] = ()
    created: str = ""
    notes: tuple[str, ...] = ()
