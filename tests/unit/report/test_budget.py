"""However large the run, the report stays within its limits and shows what it left out."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simhash_es.errors import InvalidOption
from simhash_es.report import ClosestCall, Group, Member, ReportData, ReportLimits
from simhash_es.report.budget import fit

ReportMaker = Callable[..., ReportData]


def group(name: str, n_members: int, text: str = "text") -> Group:
    members = tuple(Member(id=f"{name}{i}", place=f"f:{i}", text=text) for i in range(n_members))
    return Group(kept=Member(id=name, place="f:0", text=text), members=members)


def test_largest_groups_come_first_and_equal_ones_keep_their_order(make_report: ReportMaker) -> None:
    """Groups are listed by falling size, ties as given."""
    data = fit(make_report(groups=(group("a", 1), group("b", 3), group("c", 1), group("d", 2))), ReportLimits())
    assert [g.kept.id for g in data.groups] == ["b", "d", "a", "c"]


def test_members_beyond_the_limit_are_counted_though_not_listed(make_report: ReportMaker) -> None:
    """A group of 50 rows of which 9 copies are listed still says 50."""
    data = fit(make_report(groups=(group("a", 49),)), ReportLimits(max_members=9))
    assert (len(data.groups[0].members), data.groups[0].size) == (9, 50)


def test_text_budget_is_spent_on_the_largest_groups(make_report: ReportMaker) -> None:
    """When the budget is used up, later groups are listed without text."""
    data = fit(make_report(groups=(group("a", 2), group("b", 1))), ReportLimits(max_total_chars=13))
    assert [m.text for m in (data.groups[0].kept, *data.groups[0].members)] == ["text"] * 3
    assert [m.text for m in (data.groups[1].kept, *data.groups[1].members)] == [None, None]


def test_only_so_many_groups_carry_text(make_report: ReportMaker) -> None:
    """The number of groups with text has a limit of its own."""
    data = fit(make_report(groups=(group("a", 1), group("b", 1))), ReportLimits(max_groups_with_text=1))
    assert [g.kept.text for g in data.groups] == ["text", None]


def test_closest_calls_are_those_nearest_to_the_threshold(make_report: ReportMaker) -> None:
    """Accepted pairs rise from the lowest similarity, rejected ones fall from the highest."""
    calls = tuple(
        ClosestCall(
            kept=Member(id="a", place="f:1", text="x" * 20),
            other=Member(id=str(s), place="f:2", text="y", similarity=s),
            is_accepted=s >= 0.85,
        )
        for s in (0.99, 0.3, 0.86, 0.84, 0.9)
    )
    data = fit(make_report(closest_calls=calls), ReportLimits(max_closest_calls=2, max_call_chars=5))
    assert [call.other.similarity for call in data.closest_calls] == [0.86, 0.9, 0.84, 0.3]
    assert all(call.kept.is_cut and call.kept.text == "xxxxx" for call in data.closest_calls)


def test_negative_limit_is_refused() -> None:
    """Zero means none; less than that is a mistake."""
    assert ReportLimits(max_groups=0).max_groups == 0
    with pytest.raises(InvalidOption, match="max_chars is -1"):
        ReportLimits(max_chars=-1)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(
    sizes=st.lists(st.tuples(st.integers(0, 8), st.integers(0, 30)), max_size=8),
    limits=st.builds(
        ReportLimits,
        max_groups=st.integers(0, 6),
        max_members=st.integers(0, 6),
        max_rows=st.integers(0, 12),
        max_chars=st.integers(0, 20),
        max_total_chars=st.integers(0, 120),
    ),
)
def test_no_limit_is_ever_exceeded(
    make_report: ReportMaker, sizes: list[tuple[int, int]], limits: ReportLimits
) -> None:
    """For any groups and limits, what is listed fits, and no member has text when its kept row has none."""
    groups = tuple(group(f"g{i}", n, "x" * n_chars) for i, (n, n_chars) in enumerate(sizes))
    found = fit(make_report(groups=groups), limits).groups
    texts = [m.text for g in found for m in (g.kept, *g.members) if m.text is not None]
    assert len(found) <= limits.max_groups
    assert all(len(g.members) <= limits.max_members for g in found)
    assert sum(len(g.members) for g in found) <= limits.max_rows
    assert sum(map(len, texts)) <= limits.max_total_chars
    assert all(len(text) <= limits.max_chars for text in texts)
    assert all(m.text is None for g in found if g.kept.text is None for m in g.members)
