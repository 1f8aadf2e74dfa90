"""The HTML report of a run and the difference of two texts for the terminal."""

from __future__ import annotations

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
from simhash_es.report.html import write_report

__all__ = [
    "ClosestCall",
    "Group",
    "Histogram",
    "LimitSummary",
    "Member",
    "ProfileSummary",
    "ReportData",
    "ReportLimits",
    "Side",
    "Totals",
    "write_report",
]
