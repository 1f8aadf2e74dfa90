"""Bucket-by-bucket search of a join plan: rows sorted by a word, cut into tasks, run by threads, streamed in order."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from simhash_es.core.bits import UInt64Array
from simhash_es.core.copies import IndexArray, PairBlock, RowArray
from simhash_es.core.layout import Layout, Limits, WordPlace
from simhash_es.core.radii import (
    BUCKET_COST,
    LEFT_OUT,
    N_MASKS,
    N_VALUES,
    PAIR_COST,
    Counts,
    HalfPlan,
    JoinPlan,
    neighbour_masks,
    neighbour_sums,
)

BLOCK_ROOM = 8  # the kernels compare eight values at once and may read beyond the last one
TILE_PAIRS = 4 * 2048  # room a kernel asks for before it goes on
TASK_NANOSECONDS = 4e7  # work handed to a thread at once
MAX_ROWS = (1 << 31) - 1
WHOLE = WordPlace(0, 0, 0)  # a word of no bits: one bucket of all rows


@dataclass(slots=True)
class _Sorted:
    """Rows sorted by the word of one rule."""

    start: RowArray
    order: RowArray
    columns: UInt64Array


@dataclass(slots=True)
class _Search:
    """All that is the same for every task of a join."""

    x: UInt64Array
    y: UInt64Array
    is_self: bool
    rules: IndexArray
    halves: IndexArray
    vote: int
    block_pairs: int


@dataclass(slots=True)
class _Task:
    """A range of asking rows of one rule; ``step`` gives the next block and whether it was the last."""

    search: _Search
    rule: int
    sorted_x: _Sorted
    sorted_y: _Sorted
    last: int
    state: IndexArray = field(default_factory=lambda: np.zeros(5, np.int64))

    def step(self) -> tuple[PairBlock, bool]:
        from simhash_es.core.kernels.join import join_buckets

        search, room = self.search, max(self.search.block_pairs, TILE_PAIRS)
        i, j = np.empty(room, np.int32), np.empty(room, np.int32)
        distances = np.empty((room, len(search.halves)), np.uint8)
        masks = neighbour_masks(int(search.rules[self.rule, 6]))
        x, y = self.sorted_x, self.sorted_y
        found = join_buckets(
            x.columns, x.order, x.start, y.columns, y.order, y.start, search.is_self, search.rules, self.rule, masks,
            search.halves, search.vote, self.last, self.state, i, j, distances,
        )  # fmt: skip
        block = PairBlock(i[:found].copy(), j[:found].copy(), distances[:found].copy())
        return block, bool(self.state[1] == N_VALUES)


def search_buckets(
    x: UInt64Array,
    y: UInt64Array,
    plan: JoinPlan,
    layout: Layout,
    limits: Limits,
    *,
    is_self: bool,
    workers: int,
    block_pairs: int,
) -> Iterator[PairBlock]:
    """Matching pairs of a row of ``x`` and a row of ``y``, each once, in blocks.

    Args:
        x: (n, L) asking rows.
        y: (m, L) searched rows; the same array for a self-join.
        plan: Complete plan for these limits.
        layout: Widths of the halves.
        limits: Which pairs match.
        is_self: Report each unordered pair once, in either order, and no row with itself.
        workers: Threads.
        block_pairs: Largest number of pairs in a block (8192 if that is more).
    """
    rules, halves = rule_table(plan, layout, limits), half_table(layout, limits)
    search = _Search(x, y, is_self, rules, halves, limits.vote, block_pairs)
    for rule in range(len(rules)):
        yield from _run(_tasks(search, rule), workers)


def word_counts(rows: UInt64Array, layout: Layout) -> list[Counts]:
    """For each half, (words, 65536) int64: how many rows have each word value."""
    return [
        np.stack([np.bincount(word_values(rows, place), minlength=N_VALUES) for place in layout.words(half)])
        for half in range(layout.n_halves)
    ]


def word_values(rows: UInt64Array, place: WordPlace) -> npt.NDArray[np.uint16]:
    """(n,) the word at ``place`` of each row."""
    values: npt.NDArray[np.uint16] = (rows[:, place.lane] >> np.uint64(place.shift)).astype(np.uint16)
    return values & np.uint16(place.mask)


def rule_table(plan: JoinPlan, layout: Layout, limits: Limits) -> IndexArray:
    """The plan as the kernels read it; the columns are described in :mod:`simhash_es.core.kernels.join`."""
    return np.array([row for half in plan.halves for row in _half_rules(half, layout, limits)], np.int64)


def _half_rules(plan: HalfPlan, layout: Layout, limits: Limits) -> Iterator[tuple[int, ...]]:
    lanes = layout.lanes(plan.half)
    places: Sequence[tuple[WordPlace, int]] = [(WHOLE, 0)]
    if plan.radii is not None:
        places = [pair for pair in zip(layout.words(plan.half), plan.radii, strict=True) if pair[1] > LEFT_OUT]
    for place, radius in places:
        rule = (lanes[0], len(lanes), plan.limit, place.lane, place.shift, place.mask, radius)
        yield (*rule, *_second_look(plan, layout, limits))


def _second_look(plan: HalfPlan, layout: Layout, limits: Limits) -> tuple[int, int]:
    """A further lane and its limit that every match meets; (-1, 0) if there is none."""
    lanes = layout.lanes(plan.half)
    if len(lanes) == 2:
        return lanes[1], plan.limit
    if limits.vote < layout.n_halves or layout.n_halves == 1:
        return -1, 0
    others = [half for half in range(layout.n_halves) if half != plan.half]
    rarest = min(others, key=lambda half: limits.distances[half] / layout.widths[half])
    return layout.first_lane(rarest), limits.distances[rarest]


def half_table(layout: Layout, limits: Limits) -> IndexArray:
    """(H, 3): first lane, lanes and limit of each half."""
    rows = [(layout.first_lane(h), len(layout.lanes(h)), limits.distances[h]) for h in range(layout.n_halves)]
    return np.array(rows, np.int64)


def _sort(rows: UInt64Array, rule: IndexArray) -> _Sorted:
    from simhash_es.core.kernels.join import sort_by_word

    n = len(rows)
    columns = np.zeros(rows.shape[1] * (n + BLOCK_ROOM), np.uint64)
    found = _Sorted(np.empty(N_VALUES + 1, np.int32), np.empty(n, np.int32), columns)
    sort_by_word(rows, rule, found.start, found.order, found.columns)
    return found


def _tasks(search: _Search, rule: int) -> Iterator[_Task]:
    """Split the asking rows of one rule into ranges of about equal cost, by the counts of the searched rows."""
    sorted_x = _sort(search.x, search.rules[rule])
    sorted_y = sorted_x if search.is_self else _sort(search.y, search.rules[rule])
    is_scan, radius = search.rules[rule, 5] == 0, int(search.rules[rule, 6])
    sums = np.diff(sorted_y.start) if is_scan else neighbour_sums(np.diff(sorted_y.start))[radius]
    each = sums * (PAIR_COST * search.rules[rule, 1]) + BUCKET_COST * (1 if is_scan else N_MASKS[radius])
    cuts = _equal_cuts(sorted_x.start, each * (0.5 if search.is_self else 1.0))
    for first, last in itertools.pairwise(cuts):
        task = _Task(search, rule, sorted_x, sorted_y, int(last))
        task.state[0] = first
        task.state[1] = np.searchsorted(sorted_x.start, first, side="right") - 1
        yield task


def _equal_cuts(start: RowArray, each: npt.NDArray[np.floating]) -> IndexArray:
    """Positions that cut the rows into pieces of about ``TASK_NANOSECONDS``; ``each`` is the cost of a row by word."""
    spent = np.concatenate(([0.0], np.cumsum(np.diff(start) * each)))
    wanted = np.linspace(0, spent[-1], int(spent[-1] / TASK_NANOSECONDS) + 2)[1:-1]
    value = np.searchsorted(spent, wanted, side="right") - 1
    inner = start[value] + ((wanted - spent[value]) / each[value]).astype(np.int64)
    return np.unique(np.concatenate(([0], np.minimum(inner, start[-1]), [start[-1]])))


def _run(tasks: Iterator[_Task], workers: int) -> Iterator[PairBlock]:
    """Blocks of all tasks in the order of the tasks. A task that runs ahead waits with one block in its hand."""
    if workers == 1:
        for task in tasks:
            yield from _finish(task, task.step)
        return
    with ThreadPoolExecutor(workers) as pool:
        ahead: deque[tuple[_Task, Future[tuple[PairBlock, bool]]]] = deque()
        for task in tasks:
            ahead.append((task, pool.submit(task.step)))
            if len(ahead) > 2 * workers:
                yield from _finish(*_next(ahead))
        while ahead:
            yield from _finish(*_next(ahead))


def _next(
    ahead: deque[tuple[_Task, Future[tuple[PairBlock, bool]]]],
) -> tuple[_Task, Callable[[], tuple[PairBlock, bool]]]:
    task, future = ahead.popleft()
    return task, future.result


def _finish(task: _Task, get: Callable[[], tuple[PairBlock, bool]]) -> Iterator[PairBlock]:
    """Yield the block that ``get`` returns, then the rest of the task."""
    block, is_last = get()
    while True:
        if len(block):
            yield block
        if is_last:
            return
        block, is_last = task.step()
