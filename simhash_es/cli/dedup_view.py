"""The summary of a run as lines for people."""

from __future__ import annotations

from collections.abc import Iterator

from simhash_es.core.limits import SHORT_FEATURES
from simhash_es.use_cases.dedup.results import DedupSummary

LABELS = {
    "output": "kept rows",
    "removed": "removed rows",
    "groups": "groups",
    "pairs": "pairs",
    "report": "report",
}


def summary_lines(summary: DedupSummary) -> Iterator[str]:
    """Counts, criteria, limits with their reason, times, and where the results are."""
    yield from count_lines(summary)
    yield ""
    yield from group_lines(summary)
    yield from rule_lines(summary)
    yield f"{'time':14}{sum(summary.seconds.values()):.1f} s: {times(summary)}"
    for name, path in summary.outputs.items():
        if path != "-":
            yield f"{LABELS.get(name, name):14}{path}"


def count_lines(summary: DedupSummary) -> Iterator[str]:
    """The numbers, those that are 0 left out where they only warn."""
    rows: list[tuple[str, int, str]] = [
        ("read", summary.read, ""),
        ("kept", summary.kept, share(summary.kept, summary.read)),
        ("removed", summary.removed, removed_words(summary)),
        ("skipped", summary.skipped, "could not be read"),
        ("groups", summary.groups, group_words(summary)),
        ("pairs", summary.pairs, ""),
        ("older rows", summary.older, "compared with, not changed"),
        ("empty", summary.empty, "kept; they have no fingerprint"),
        ("short", summary.short, short_words(summary)),
        ("repaired", summary.repaired, "half a surrogate pair replaced by U+FFFD"),
    ]
    always = ("read", "kept", "removed", "groups", "pairs")
    width = max(len(f"{number:,}") for _, number, _ in rows)
    for label, number, remark in rows:
        if number or label in always:
            yield f"{label:14}{number:>{width},}  {remark}".rstrip()


def short_words(summary: DedupSummary) -> str:
    """What is done with short texts."""
    few = f"fewer than {SHORT_FEATURES} features"
    return f"{few}: compared whatever the distance" if summary.short_by_features else few


def group_lines(summary: DedupSummary) -> Iterator[str]:
    """The largest groups by the id of the row kept."""
    for place, (name, rows) in enumerate(summary.largest_groups):
        yield f"{'largest groups' if place == 0 else '':14}  {rows:,} rows, kept: {name}"
    if summary.largest_groups:
        yield ""


def rule_lines(summary: DedupSummary) -> Iterator[str]:
    """What counted as a near-duplicate, and why the limits are what they are."""
    criteria = " and ".join(summary.similarity) or "none: fingerprints alone decided"
    yield f"{'similarity':14}{criteria}"
    limits = " and ".join(map(str, summary.limits.distances))
    yield (
        f"{'distance':14}at most {limits} of {summary.profile.width} bits; expected recall "
        f"{summary.limits.expected_recall:.1%}"
    )
    for reason in summary.limits.reasons:
        yield f"{'':14}{reason}"
    yield f"{'profile':14}{summary.profile.name} ({summary.profile.digest})"


def share(part: int, whole: int) -> str:
    """Such as ``87.5%``."""
    return f"{part / whole:.1%}" if whole else ""


def removed_words(summary: DedupSummary) -> str:
    """How the removed rows split up."""
    return f"{summary.exact_copies:,} identical in normal form, {summary.near_copies:,} near-duplicates"


def group_words(summary: DedupSummary) -> str:
    """The widest distance inside any group."""
    if not summary.largest_distances:
        return ""
    return f"largest distance to the kept row: {' and '.join(map(str, summary.largest_distances))} bits"


def times(summary: DedupSummary) -> str:
    """Stages with their seconds."""
    return ", ".join(f"{stage} {seconds:.1f}" for stage, seconds in summary.seconds.items())
