"""A small report to start from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from simhash_es.report import Group, Histogram, LimitSummary, Member, ProfileSummary, ReportData, Side, Totals

ReportMaker = Callable[..., ReportData]


def small_report() -> ReportData:
    near = Member(id="b", place="x.jsonl:2", text="one two four", distance=3, check_distance=0, similarity=0.9)
    exact = Member(
        id="c", place="x.jsonl:3", text="ONE TWO THREE", distance=0, check_distance=0, similarity=1.0, is_exact=True
    )
    return ReportData(
        title="Run",
        generator="simhash-es 0",
        command="simhash-es dedup x.jsonl",
        totals=Totals(read=5, kept=2, removed=2, skipped=1, groups=1, exact_copies=1, near_copies=1),
        profile=ProfileSummary(name="default", digest="00ff"),
        limits=LimitSummary(distance_bits=11, check_distance_bits=14, similarity=0.85, recall=0.97),
        seconds=(("read", 0.5), ("join", 0.25)),
        histograms=(
            Histogram(title="Distance", axis="Bits", counts=(1, 0, 0, 1), threshold=11),
            Histogram(
                title="Similarity", axis="Cosine", counts=(0, 1, 1), step=0.5, threshold=0.85, accepted=Side.ABOVE
            ),
        ),
        groups=(Group(kept=Member(id="a", place="x.jsonl:1", text="one two three"), members=(near, exact)),),
    )


@pytest.fixture
def make_report() -> ReportMaker:
    """Builds a valid report; keywords replace its fields."""

    def make(**changes: Any) -> ReportData:
        return replace(small_report(), **changes)

    return make
