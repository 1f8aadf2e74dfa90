"""What the report of a run shows."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

import numpy as np

from simhash_es._version import __version__
from simhash_es.core.profile_json import describe
from simhash_es.core.similarity import Measure
from simhash_es.report.budget import ReportLimits
from simhash_es.report.data import (
    ClosestCall,
    Group,
    Histogram,
    LimitSummary,
    Member,
    ProfileSummary,
    ReportData,
    Side,
    Totals,
)
from simhash_es.use_cases.dedup.results import DedupSummary
from simhash_es.use_cases.dedup.write import plain

if TYPE_CHECKING:
    from simhash_es.use_cases.dedup.run import DedupRun

SIMILARITY_BINS = 40
SHOWN = ReportLimits()


def report_data(run: DedupRun, summary: DedupSummary) -> ReportData:
    """Totals, histograms and the largest groups with their texts."""
    groups = sorted(run.decisions.groups().items(), key=lambda item: (-len(item[1]), item[0]))[: SHOWN.max_groups]
    calls = closest_rows(run)
    shown = groups[: SHOWN.max_groups_with_text]
    wanted = {row for keeper, members in shown for row in (keeper, *members[: SHOWN.max_members])}
    wanted |= {row for call in calls for row in (call, int(run.decisions.keeper[call]))}
    texts = run.names.text(sorted(wanted)) if not run.shape.ready_made else {}
    return ReportData(
        title="Near-duplicates",
        generator=f"simhash-es {__version__}",
        command=run.options.command,
        totals=totals(summary),
        profile=ProfileSummary(
            name=summary.profile.name,
            digest=summary.profile.digest,
            description=tuple(f"{name}: {value}" for name, value in describe(summary.profile).items()),
        ),
        limits=limit_summary(run, summary),
        seconds=tuple(summary.seconds.items()),
        histograms=histograms(run),
        groups=tuple(
            Group(
                kept=member(run, keeper, texts, is_kept=True),
                members=tuple(member(run, row, texts) for row in rows[: SHOWN.max_members]),
                size=1 + len(rows),
            )
            for keeper, rows in groups
        ),
        closest_calls=tuple(
            ClosestCall(
                kept=member(run, int(run.decisions.keeper[row]), texts, is_kept=True),
                other=member(run, row, texts),
                is_accepted=True,
            )
            for row in calls
        ),
        created=dt.datetime.now().astimezone().isoformat(sep=" ", timespec="seconds"),
        notes=notes(summary),
    )


def totals(summary: DedupSummary) -> Totals:
    """The counts as cards."""
    return Totals(
        read=summary.read,
        kept=summary.kept,
        removed=summary.removed,
        skipped=summary.skipped,
        empty=summary.empty,
        short=summary.short,
        groups=summary.groups,
        exact_copies=summary.exact_copies,
        near_copies=summary.near_copies,
    )


def limit_summary(run: DedupRun, summary: DedupSummary) -> LimitSummary:
    """The limits with their reasons."""
    distances = summary.limits.distances
    criteria = () if run.verification is None else run.verification.criteria
    return LimitSummary(
        distance_bits=distances[0],
        check_distance_bits=distances[1] if len(distances) > 1 else None,
        similarity=criteria[0].threshold if criteria else None,
        measure=str(criteria[0].measure) if criteria else str(Measure.COSINE),
        recall=summary.limits.expected_recall,
        reasons=(*summary.limits.reasons, *(f"verified on text: {criterion}" for criterion in criteria)),
    )


def notes(summary: DedupSummary) -> tuple[str, ...]:
    """Remarks worth a line."""
    remarks = []
    if summary.older:
        remarks.append(f"Compared with {summary.older:,} older rows, which are never removed.")
    if summary.repaired:
        remarks.append(f"Half a surrogate pair was replaced by U+FFFD in {summary.repaired:,} rows.")
    return tuple(remarks)


def near_rows(run: DedupRun) -> np.ndarray:
    """Removed rows whose text is not identical to that of the row kept."""
    decisions = run.decisions
    rows = np.flatnonzero(decisions.keeper != np.arange(len(decisions.keeper)))
    near: np.ndarray = rows[decisions.representative[rows] != decisions.keeper[rows]]
    return near


def histograms(run: DedupRun) -> tuple[Histogram, ...]:
    """Distances of each half, and similarities, of near-duplicates to the rows kept for them."""
    rows = near_rows(run)
    found = []
    for half, limit in enumerate(run.limits.distances):
        bits = run.decisions.distances[rows, half].astype(np.int64)
        top = max(limit, int(bits.max(initial=0))) + 1
        found.append(
            Histogram(
                title=f"Distance, half {chr(ord('A') + half)}",
                axis="bits that differ",
                counts=tuple(np.bincount(bits, minlength=top + 1).tolist()),
                threshold=limit if limit < run.profile.width else None,
                accepted=Side.BELOW,
            )
        )
    if run.verification is not None:
        criterion = run.verification.criteria[0]
        similarity = run.decisions.similarity[rows]
        lowest = min(criterion.threshold, float(similarity.min(initial=1.0)))  # below S at the ends of a chain
        start = min(int(lowest * SIMILARITY_BINS), SIMILARITY_BINS - 1) / SIMILARITY_BINS
        n_bins = round((1 - start) * SIMILARITY_BINS)
        counts, _ = np.histogram(similarity, bins=n_bins, range=(start, 1.0))
        found.append(
            Histogram(
                title="Similarity",
                axis=str(criterion.measure),
                counts=tuple(counts.tolist()),
                start=start,
                step=(1 - start) / n_bins,
                threshold=criterion.threshold,
                accepted=Side.ABOVE,
            )
        )
    return tuple(found)


def closest_rows(run: DedupRun) -> list[int]:
    """Near-duplicates with the lowest similarity that was accepted."""
    if run.verification is None:
        return []
    rows = near_rows(run)
    order = np.argsort(run.decisions.similarity[rows], kind="stable")[: SHOWN.max_closest_calls]
    return [int(row) for row in rows[order]]


def member(run: DedupRun, row: int, texts: dict[int, str], *, is_kept: bool = False) -> Member:
    """One row of a group."""
    text = texts.get(row)
    shown = plain(run.names.name(row))
    place = run.names.place(row)
    if is_kept:
        return Member(id=shown, place=place, text=text).cut_to(SHOWN.max_chars)
    bits = [int(bit) for bit in run.decisions.distances[row]]
    similarity = float(run.decisions.similarity[row])
    whole = Member(
        id=shown,
        place=place,
        text=text,
        distance=bits[0],
        check_distance=bits[1] if len(bits) > 1 else None,
        similarity=None if np.isnan(similarity) else similarity,
        is_exact=run.decisions.is_exact(row),
    )
    return whole.cut_to(SHOWN.max_chars)
