"""Keep a report small enough for a browser, whatever the run was like."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from simhash_es.errors import InvalidOption
from simhash_es.report.data import ClosestCall, Group, Member, ReportData


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportLimits:
    """How much a report carries. A run that collects texts for a report need not collect more than this.

    Attributes:
        max_groups: Groups listed; the largest come first.
        max_members: Removed rows listed of one group.
        max_groups_with_text: Listed groups whose texts are carried, so that differences can be shown.
        max_rows: Removed rows listed of all groups together; about 120 bytes each.
        max_chars: Characters of one text of a group.
        max_total_chars: Characters of all texts of groups together; one to four bytes each.
        max_closest_calls: Pairs near the threshold, accepted and rejected ones each.
        max_call_chars: Characters of one text of such a pair.
    """

    max_groups: int = 2_000
    max_members: int = 100
    max_groups_with_text: int = 500
    max_rows: int = 10_000
    max_chars: int = 20_000
    max_total_chars: int = 1_000_000
    max_closest_calls: int = 10
    max_call_chars: int = 4_000

    def __post_init__(self) -> None:
        for field in fields(self):
            if getattr(self, field.name) < 0:
                raise InvalidOption(f"report limit {field.name} is {getattr(self, field.name)}, must be at least 0")


DEFAULT_LIMITS = ReportLimits()


@dataclass(slots=True)
class _Purse:
    """What is still to spend on groups."""

    rows: int
    chars: int

    def take(self, member: Member, max_chars: int) -> Member:
        """The member with its text if that can still be paid for, else without."""
        member = member.cut_to(max_chars)
        n_chars = 0 if member.text is None else len(member.text)
        if n_chars > self.chars:
            return member.without_text()
        self.chars -= n_chars
        return member


def fit(data: ReportData, limits: ReportLimits) -> ReportData:
    """The report cut down to ``limits``.

    Groups are put in order of falling size; equal sizes stay in the order given. Texts go to the groups in that order,
    the kept row first, until the budget is used up. Every cut stays visible: ``Group.size`` is the full count,
    ``Member.is_cut`` marks a shortened text, and ``Member.text`` is ``None`` for one that was left out.
    """
    purse = _Purse(limits.max_rows, limits.max_total_chars)
    groups = []
    for rank, group in enumerate(sorted(data.groups, key=lambda group: -group.n_rows)[: limits.max_groups]):
        if rank >= limits.max_groups_with_text:
            purse.chars = 0
        groups.append(_fit_group(group, limits, purse))
    return replace(data, groups=tuple(groups), closest_calls=_fit_calls(data.closest_calls, limits))


def _fit_group(group: Group, limits: ReportLimits, purse: _Purse) -> Group:
    listed = group.members[: min(limits.max_members, purse.rows)]
    purse.rows -= len(listed)
    kept = purse.take(group.kept, limits.max_chars)
    if kept.text is None:
        members = tuple(member.without_text() for member in listed)
    else:
        members = tuple(purse.take(member, limits.max_chars) for member in listed)
    return Group(kept=kept, members=members, size=group.n_rows)


def _fit_calls(calls: tuple[ClosestCall, ...], limits: ReportLimits) -> tuple[ClosestCall, ...]:
    """The accepted pairs of lowest and the rejected ones of highest similarity, nearest to the threshold first."""
    accepted = sorted((call for call in calls if call.is_accepted), key=lambda call: _similarity(call.other, 1.0))
    rejected = sorted((call for call in calls if not call.is_accepted), key=lambda call: -_similarity(call.other, 0.0))
    n, n_chars = limits.max_closest_calls, limits.max_call_chars
    return tuple(
        replace(call, kept=call.kept.cut_to(n_chars), other=call.other.cut_to(n_chars))
        for call in (*accepted[:n], *rejected[:n])
    )


def _similarity(member: Member, unknown: float) -> float:
    return unknown if member.similarity is None else member.similarity
