from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simhash_es.core import neighbour_index
from simhash_es.core.bits import UInt64Array
from simhash_es.core.layout import Layout, Limits, distances, matches
from simhash_es.core.neighbour_index import Candidates, NeighbourIndex
from simhash_es.core.radii import HalfPlan, JoinPlan
from simhash_es.errors import InvalidOption


@pytest.fixture
def kernels_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Send even the smallest sets through the compiled search."""
    monkeypatch.setattr(neighbour_index, "SMALL_ROWS", -1)


def clustered(n: int, n_lanes: int, seed: int) -> UInt64Array:
    """Values around a few centres, half of them far from any; zero, the sign bit and copies among them."""
    rng = np.random.default_rng(seed)
    centres = rng.integers(0, 1 << 64, (max(1, n // 20), n_lanes), dtype=np.uint64)
    rows = centres[rng.integers(0, len(centres), n)]
    for _ in range(5):
        rows ^= np.uint64(1) << rng.integers(0, 64, rows.shape, dtype=np.uint64)
    rows[::2] = rng.integers(0, 1 << 64, rows[::2].shape, dtype=np.uint64)
    rows[:4] = 0
    rows[2:4, 0] = np.uint64(1 << 63)
    return rows


def check(found: Candidates, stored: UInt64Array, queries: UInt64Array, layout: Layout, limits: Limits) -> None:
    """Every answered query has exactly its matching rows, ascending, with all distances."""
    for t, query in enumerate(queries[found.start : found.stop]):
        bits = distances(query, stored, layout)
        rows = np.flatnonzero(matches(bits, limits))
        part = slice(found.indptr[t], found.indptr[t + 1])
        assert found.positions[part].tolist() == rows.tolist()
        assert found.distances[part].tolist() == bits[rows].tolist()


@pytest.mark.parametrize("small", [True, False])
@pytest.mark.parametrize(
    ("widths", "limits"),
    [
        ((64, 64), Limits((11, 14))),
        ((64, 64), Limits((11, 64))),
        ((64, 64), Limits((64, 3))),
        ((64,), Limits((0,))),
        ((64,), Limits((40,))),
        ((128,), Limits((3,))),
        ((128,), Limits((25,))),
        ((64, 64, 64), Limits((3, 4, 5), 2)),
        ((64, 64, 64), Limits((3, 30, 5), 2)),
        ((64, 128), Limits((20, 3), 1)),
    ],
)
def test_a_growing_index_equals_brute_force(
    widths: tuple[int, ...], limits: Limits, small: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blocks asked first and then added, as a dedup does, get exactly the earlier rows that match."""
    if not small:
        monkeypatch.setattr(neighbour_index, "SMALL_ROWS", -1)
    layout = Layout(widths)
    rows = clustered(1500, layout.n_lanes, seed=sum(widths))
    index = NeighbourIndex(layout, limits)
    for start in range(0, len(rows), 300):
        block = rows[start : start + 300]
        check(index.candidates(block, workers=2), rows[:start], block, layout, limits)
        index.add(block)
    assert len(index) == len(rows)
    assert np.array_equal(index.rows, rows)


@pytest.mark.usefixtures("kernels_only")
@pytest.mark.parametrize(
    "radii", [None, (3, 3, 3, 3), (2, 2, 2, 2), (-1, 3, 3, 3), (3, -1, 3, 3), (1, 3, 2, 2), (3, 3, 3, -1)]
)
def test_every_complete_plan_gives_the_same_answers(
    radii: tuple[int, ...] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever complete plan is chosen, words left out included, the answers are those of brute force."""
    layout, limits = Layout((64, 64)), Limits((11, 20))
    plan = JoinPlan((HalfPlan(0, 11, radii, 0.0, 0.0),), 1)
    monkeypatch.setattr(neighbour_index, "plan_join", lambda *_args, **_options: plan)
    rows = clustered(3000, 2, seed=5)
    index = NeighbourIndex(layout, limits)
    for block in np.split(rows, 6):
        index.add(block)
        index.candidates(block[:3])  # fills the tables step by step
    check(index.candidates(rows[:200]), rows, rows[:200], layout, limits)


@pytest.mark.parametrize("n", [500, 6000])
@pytest.mark.parametrize("workers", [1, 4])
def test_answers_come_in_parts_of_the_wanted_capacity(n: int, workers: int) -> None:
    """Going on at ``stop`` gives all answers; the cut depends on the capacity, not on the workers."""
    layout, limits = Layout((64,)), Limits((3,))
    rows = clustered(n, 1, seed=1)
    rows[n // 2 :] = rows[0]
    index = NeighbourIndex(layout, limits)
    index.add(rows)
    queries = rows[:: n // 100]
    whole = index.candidates(queries, capacity=1 << 30)
    assert whole.stop == len(queries)
    start = 0
    while start < len(queries):
        part = index.candidates(queries, start=start, capacity=n, workers=workers)
        sizes = np.diff(whole.indptr[start:])
        fits = max(1, int(np.searchsorted(np.cumsum(sizes), n, side="right")))
        assert part.start == start
        assert part.stop == start + fits
        span = slice(whole.indptr[start], whole.indptr[part.stop])
        assert part.positions.tolist() == whole.positions[span].tolist()
        assert np.array_equal(part.distances, whole.distances[span])
        start = part.stop


@pytest.mark.usefixtures("kernels_only")
def test_one_query_may_have_any_number_of_answers() -> None:
    """A query that matches more rows than the capacity is still answered wholly."""
    index = NeighbourIndex(Layout((64,)), Limits((0,)))
    index.add(np.full((200_000, 1), 1 << 63, np.uint64))
    found = index.candidates(np.full((3, 1), 1 << 63, np.uint64), capacity=10)
    assert found.stop == 1
    assert np.array_equal(found.positions, np.arange(200_000))
    assert not found.distances.any()


def test_near_lists_equal_and_close_rows_once() -> None:
    """Three equal rows and one a bit away are each listed once."""
    index = NeighbourIndex(Layout((64, 64)), Limits((3, 3)))
    index.add(np.array([[7, 7], [1 << 40, 99], [7, 7], [7, 7], [7, 6]], np.uint64))
    found = index.near(np.array([7, 7], np.uint64))
    assert found.positions.tolist() == [0, 2, 3, 4]
    assert found.distances.tolist() == [[0, 0], [0, 0], [0, 0], [0, 1]]


@pytest.mark.usefixtures("kernels_only")
def test_the_plan_follows_the_set_as_it_grows() -> None:
    """A small set is scanned; once it is large, words are used, and a word shared by all rows is left out."""
    rng = np.random.default_rng(4)
    rows = rng.integers(0, 1 << 48, (60_000, 1), dtype=np.uint64) | np.uint64(0x2222 << 48)
    layout, limits = Layout((64,)), Limits((3,))
    index = NeighbourIndex(layout, limits)
    index.add(rows[:100])
    index.candidates(rows[:1])
    assert index.plan is not None
    assert index.plan.halves[0].is_scan
    index.add(rows[100:])
    check(index.candidates(rows[:50]), rows, rows[:50], layout, limits)
    assert index.plan.halves[0].radii is not None
    assert index.plan.halves[0].radii[0] == -1


@pytest.mark.parametrize("small", [True, False])
def test_empty_sets_and_empty_queries(small: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing stored or nothing asked gives an empty answer of the right shape."""
    if not small:
        monkeypatch.setattr(neighbour_index, "SMALL_ROWS", -1)
    index = NeighbourIndex(Layout((64, 64)), Limits((3, 3)))
    nothing = np.zeros((0, 2), np.uint64)
    assert index.candidates(np.zeros((2, 2), np.uint64)).indptr.tolist() == [0, 0, 0]
    index.add(nothing)
    index.add(np.ones((1, 2), np.uint64))
    found = index.candidates(nothing)
    assert found.indptr.tolist() == [0]
    assert found.distances.shape == (0, 2)


@pytest.mark.usefixtures("kernels_only")
@given(
    st.lists(st.tuples(st.integers(0, (1 << 64) - 1), st.integers(0, 7)), min_size=1, max_size=10), st.integers(0, 64)
)
@settings(deadline=None, max_examples=50)
def test_any_values_equal_brute_force(values: list[tuple[int, int]], k: int) -> None:
    """Property: each row finds exactly the rows within the limits, itself included."""
    layout, limits = Layout((64, 3)), Limits((k, 1))
    rows = np.array(values, np.uint64)
    index = NeighbourIndex(layout, limits)
    index.add(rows)
    check(index.candidates(rows), rows, rows, layout, limits)


def test_wrong_arguments_are_refused() -> None:
    """Limits, shapes, positions and workers out of range are errors."""
    with pytest.raises(InvalidOption, match="above the width"):
        NeighbourIndex(Layout((64,)), Limits((65,)))
    index = NeighbourIndex(Layout((64,)), Limits((3,)))
    with pytest.raises(InvalidOption, match="fingerprints of shape"):
        index.add(np.zeros((1, 2), np.uint64))
    with pytest.raises(InvalidOption, match="start 2"):
        index.candidates(np.zeros((1, 1), np.uint64), start=2)
    with pytest.raises(InvalidOption, match="workers"):
        index.candidates(np.zeros((1, 1), np.uint64), workers=0)
