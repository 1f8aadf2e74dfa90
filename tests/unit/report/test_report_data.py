"""The values a report shows refuse what cannot be true."""

from __future__ import annotations

import pytest

from simhash_es.errors import InvalidOption
from simhash_es.report import Group, Histogram, Member, Totals


@pytest.mark.parametrize(
    "counts",
    [
        {"read": 3, "kept": 1, "removed": 1, "exact_copies": 1},
        {"read": 3, "kept": 1, "removed": 2, "exact_copies": 1},
        {"read": 2, "kept": 1, "removed": 1, "skipped": 1, "near_copies": 1},
    ],
)
def test_totals_that_do_not_add_up_are_refused(counts: dict[str, int]) -> None:
    """Read is kept plus removed plus skipped, and removed is exact plus near copies, or there is no report."""
    with pytest.raises(InvalidOption, match="do not add up"):
        Totals(**counts)


def test_totals_of_an_empty_run_are_all_zero() -> None:
    """Nothing read is a valid run."""
    assert Totals(read=0, kept=0, removed=0).groups == 0


@pytest.mark.parametrize("bad", [{"counts": ()}, {"counts": (1, -1)}, {"counts": (1,), "step": 0.0}])
def test_histogram_needs_bins_and_a_step(bad: dict[str, object]) -> None:
    """A histogram without bins, with a negative count or without a step cannot be drawn."""
    with pytest.raises(InvalidOption, match="histogram 'H'"):
        Histogram(title="H", axis="x", **bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("similarity", [-0.01, 1.01, float("nan")])
def test_similarity_outside_zero_and_one_is_refused(similarity: float) -> None:
    """A similarity is a share; one that is not a number is refused too."""
    with pytest.raises(InvalidOption, match="not within 0 and 1"):
        Member(id="a", place="f:1", similarity=similarity)


def test_cutting_flags_only_what_was_cut() -> None:
    """A text of exactly the limit is whole; one character more is cut and says so."""
    member = Member(id="a", place="f:1", text="中文字")
    assert member.cut_to(3) is member
    assert (member.cut_to(2).text, member.cut_to(2).is_cut) == ("中文", True)
    assert Member(id="a", place="f:1").cut_to(0).text is None


def test_group_size_counts_the_kept_row_unless_given() -> None:
    """A group whose members are not all listed carries its full size."""
    kept, other = Member(id="a", place="f:1"), Member(id="b", place="f:2")
    assert Group(kept=kept, members=(other,)).n_rows == 2
    assert Group(kept=kept, members=(other,), size=900).n_rows == 900
