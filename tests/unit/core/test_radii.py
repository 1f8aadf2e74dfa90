from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simhash_es.core.layout import Layout, Limits
from simhash_es.core.radii import (
    MAX_RADIUS,
    N_VALUES,
    cheapest_radii,
    neighbour_masks,
    neighbour_sums,
    plan_half,
    plan_join,
)

costs = st.lists(st.lists(st.integers(0, 50), min_size=4, max_size=4).map(sorted), min_size=1, max_size=5)


@pytest.mark.parametrize(("radius", "count"), [(0, 1), (1, 17), (2, 137), (3, 697)])
def test_masks_are_all_words_within_the_radius(radius: int, count: int) -> None:
    """The masks of a radius are exactly the 16-bit values with at most that many bits."""
    masks = neighbour_masks(radius).tolist()
    assert len(masks) == count
    assert set(masks) == {value for value in range(N_VALUES) if value.bit_count() <= radius}


def test_neighbour_sums_equal_a_count_by_masks() -> None:
    """The sums by bit flips are the number of rows within each radius of a word value."""
    counts = np.random.default_rng(1).integers(0, 9, N_VALUES)
    sums = neighbour_sums(counts)
    for value in (0, 1, 0x8000, 0xFFFF, 0x1234):
        for radius in range(MAX_RADIUS + 1):
            assert sums[radius, value] == sum(counts[value ^ int(mask)] for mask in neighbour_masks(radius))


@given(costs, st.integers(0, 21))
def test_the_cheapest_complete_radii_are_found(words: list[list[int]], limit: int) -> None:
    """No complete choice of radii costs less; where there is none the answer is None."""
    complete = [
        (sum(words[w][r] for w, r in enumerate(radii) if r >= 0), radii)
        for radii in itertools.product(range(-1, 4), repeat=len(words))
        if sum(r + 1 for r in radii) >= limit + 1
    ]
    found = cheapest_radii(words, limit)
    if found is None:
        assert not complete
    else:
        assert sum(r + 1 for r in found) >= limit + 1
        assert sum(words[w][r] for w, r in enumerate(found) if r >= 0) == min(complete)[0]


@given(st.lists(st.integers(0, 0xFFFF), min_size=3, max_size=3), st.data())
def test_a_close_pair_has_a_word_within_its_radius(words: list[int], data: st.DataObject) -> None:
    """General pigeonhole: with complete radii, a pair within the limit agrees in some word up to its radius."""
    radii = data.draw(st.lists(st.integers(-1, 5), min_size=3, max_size=3))
    limit = sum(r + 1 for r in radii) - 1
    flips = data.draw(st.sets(st.integers(0, 47), max_size=max(0, limit)))
    if limit >= 0:
        per_word = [sum(1 for bit in flips if bit // 16 == word) for word in range(3)]
        assert any(per_word[word] <= radii[word] for word in range(3))


def test_a_hot_word_is_left_out() -> None:
    """When all rows share one word value, the plan leaves that word out and stays complete."""
    rng = np.random.default_rng(2)
    counts = np.stack([np.bincount(rng.integers(0, N_VALUES, 200_000), minlength=N_VALUES) for _ in range(4)])
    counts[1] = 0
    counts[1, 77] = 200_000
    plan = plan_half(0, 3, counts, None, 1)
    assert plan.radii is not None
    assert plan.radii[1] == -1
    assert plan.is_complete()
    assert "word 2 left out" in plan.explain()


@pytest.mark.parametrize(("n", "limit", "is_scan"), [(1_000_000, 3, False), (1_000_000, 20, True), (100, 3, True)])
def test_a_scan_is_taken_where_it_is_cheaper(n: int, limit: int, is_scan: bool) -> None:
    """Few rows, or a limit beyond what words can promise, are scanned."""
    rng = np.random.default_rng(3)
    counts = np.stack([np.bincount(rng.integers(0, N_VALUES, n), minlength=N_VALUES) for _ in range(4)])
    plan = plan_half(0, limit, counts, None, 1)
    assert plan.is_scan is is_scan
    assert plan.is_complete()


def test_expected_candidates_are_exact_for_two_sets() -> None:
    """Between two sets, the expected candidates are the pairs whose word lies within the radius."""
    rng = np.random.default_rng(4)
    a, b = rng.integers(0, 16, 3000), rng.integers(0, 16, 2000)
    counts = [np.bincount(values, minlength=N_VALUES).reshape(1, -1) for values in (a, b)]
    plan = plan_half(0, 0, counts[0], counts[1], 1)
    assert plan.radii == (0,)
    assert plan.candidates == sum(int((a == value).sum()) * int((b == value).sum()) for value in range(16))


def test_the_cheaper_half_is_searched() -> None:
    """With all halves voting, one half is searched: the one with the tighter limit."""
    rng = np.random.default_rng(5)
    counts = [np.stack([np.bincount(rng.integers(0, N_VALUES, 200_000), minlength=N_VALUES)] * 4)] * 2
    plan = plan_join(Layout((64, 64)), Limits((64, 3)), counts, None)
    assert [half.half for half in plan.halves] == [1]
    lines = plan.explain().splitlines()
    assert lines[0].startswith("half 2, distance <= 3: word 1 within 0")
    assert lines[0].endswith("complete up to distance 3")
    assert "of 19,999,900,000 pairs counted" in lines[1]


def test_a_half_that_needs_a_scan_does_not_replace_the_others() -> None:
    """With a vote of two in three, two halves are searched: one by words, the other by a scan of its own."""
    rng = np.random.default_rng(6)
    counts = [np.stack([np.bincount(rng.integers(0, N_VALUES, 50_000), minlength=N_VALUES)] * 4)] * 3
    plan = plan_join(Layout((64, 64, 64)), Limits((40, 50, 3), 2), counts, None)
    assert [(half.half, half.is_scan) for half in plan.halves] == [(2, False), (0, True)]
    assert "every pair counted" in plan.explain()
