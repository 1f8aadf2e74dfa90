"""The planner of single queries loses nothing and takes the cheaper way."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simhash_es.core import query_plan
from simhash_es.core.bits import to_lanes, to_words
from simhash_es.core.layout import Layout
from simhash_es.core.query_plan import Costs, neighbours, plan_query, rows_near, rows_within, within, words_of
from simhash_es.core.radii import N_VALUES

COSTS = Costs(word=1_000, candidate=100, block=1_000, block_rows=500, scanned=10, start=0)


def even_counts(n_rows: int, n_words: int = 4) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    return np.full((n_words, N_VALUES), n_rows // N_VALUES, np.int64)


@given(st.integers(0, (1 << 128) - 1), st.sampled_from([(64,), (64, 64), (128,), (20, 20), (1,)]))
def test_words_of_lanes_are_the_words_of_the_value(value: int, widths: tuple[int, ...]) -> None:
    """The words of the first half are those of its value, most significant first."""
    value &= (1 << widths[0]) - 1
    lanes = [*to_lanes(value, widths[0]), *(7 for _ in widths[1:])]
    assert words_of(lanes, Layout(widths)) == list(to_words(value, widths[0]))


@given(st.integers(0, 0xFFFF), st.integers(0, 3))
def test_neighbours_are_all_values_within_the_radius(word: int, radius: int) -> None:
    """Each value within the radius once, and no other."""
    found = neighbours(word, radius).tolist()
    assert sorted(found) == [other for other in range(N_VALUES) if (other ^ word).bit_count() <= radius]


@given(st.integers(0, 0xFFFF), st.integers(0, 1 << 20))
def test_rows_near_counts_the_rows_of_all_neighbours(word: int, seed: int) -> None:
    """The count for each radius is the sum over its values."""
    counts = np.random.default_rng(seed).integers(0, 9, N_VALUES)
    assert rows_near(word, counts).tolist() == [int(counts[neighbours(word, radius)].sum()) for radius in range(4)]


@given(
    st.lists(st.integers(0, 0xFFFF), min_size=1, max_size=8),
    st.integers(0, 128),
    st.integers(0, 1 << 20),
    st.sampled_from([COSTS, replace(COSTS, start=1e15), replace(COSTS, word=1e15), replace(COSTS, block=0)]),
)
def test_every_plan_is_complete(words: list[int], limit: int, seed: int, costs: Costs) -> None:
    """Whatever the counts and costs, no row within the limit can be missed."""
    counts = np.random.default_rng(seed).integers(0, 50, (len(words), N_VALUES))
    plan = plan_query(words, counts, limit, int(counts[0].sum()), costs)
    assert plan.is_complete()
    assert plan.limit == limit


def test_near_limits_go_by_words_and_wide_ones_by_scan() -> None:
    """On even values of a million rows 3 bits need one look-up a word; 24 bits are cheaper to scan."""
    counts = even_counts(1 << 20)
    assert plan_query([1, 2, 3, 4], counts, 3, 1 << 20, COSTS).radii == (0, 0, 0, 0)
    assert plan_query([1, 2, 3, 4], counts, 24, 1 << 20, COSTS).is_scan


def test_hot_word_is_left_out() -> None:
    """A word that a third of the rows share gets no look-up when the others can do its part."""
    counts = even_counts(1 << 20)
    counts[0, 1] = 1 << 19
    plan = plan_query([1, 2, 3, 4], counts, 2, 1 << 20, COSTS)
    assert plan.radii == (-1, 0, 0, 0)
    assert plan.candidates == 3 * 16


def test_candidates_of_one_block_share_its_reading() -> None:
    """However many candidates there are, no more blocks are read than exist."""
    free = replace(COSTS, candidate=0, word=0)
    assert free.lookups(1, 1e9, 5_000) == 10 * COSTS.block
    assert free.lookups(1, 1, 5_000_000) == pytest.approx(COSTS.block)
    assert free.lookups(4, 0, 0) == 0


def test_rows_within_does_not_depend_on_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counting in pieces finds the same rows as counting at once, at 64 and 128 bits."""
    for n_lanes in (1, 2):
        lanes = np.random.default_rng(4).integers(0, 1 << 64, (1000, n_lanes), np.uint64)
        whole = np.flatnonzero(within(lanes, lanes[0], 30 * n_lanes))
        for pieces in (1, 7, 999, 1000, 1001):
            monkeypatch.setattr(query_plan, "CACHED_ROWS", pieces)
            assert rows_within(lanes, lanes[0], 30 * n_lanes).tolist() == whole.tolist()
        assert 0 in whole
        assert 1 < len(whole) < 1000
    assert rows_within(np.zeros((0, 1), np.uint64), lanes[0, :1], 64).tolist() == []
