"""A growing set of fingerprints that answers: which stored rows match these queries?

Exact for any limits. Each 16-bit word of the searched half has a table with room to grow in every bucket, so that
adding costs constant time a row and a search touches contiguous values only. Small sets, very uneven words and large
limits are scanned instead; the choice is made anew each time the set has doubled, by the real counts of word values.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from simhash_es.core.bits import UInt64Array
from simhash_es.core.bucket_search import MAX_ROWS, half_table, rule_table, word_counts
from simhash_es.core.copies import SMALL_ROWS, IndexArray, RowArray
from simhash_es.core.layout import Layout, Limits, UInt8Array, distances, matches
from simhash_es.core.radii import N_MASKS, N_VALUES, JoinPlan, neighbour_masks, plan_join
from simhash_es.errors import InvalidOption

TASK_VISITS = 1 << 21  # visits to buckets planned at once for one table: 8 MB
TASK_QUERIES = 1 << 14  # queries answered at once
SMALL_QUERIES = 128  # the same without kernels
FIRST_ROOM = 1 << 16  # matches a search makes room for at first
BLOCK = 8  # rows in a block of the arena
PROBE_COST = 10.0  # a query at one bucket, in nanoseconds: memory is waited for, unlike in a join of whole buckets
SPARE_BLOCKS = 1 << 12


@dataclass(frozen=True, slots=True)
class Candidates:
    """The matching rows of some queries.

    Attributes:
        start: The first query answered.
        indptr: (q + 1,) int64: the rows of query ``start + t`` are at ``indptr[t]`` to ``indptr[t + 1]``.
        positions: (total,) int32 row numbers, ascending for each query, each once.
        distances: (total, H) uint8 distance in bits of every half.
    """

    start: int
    indptr: IndexArray
    positions: RowArray
    distances: UInt8Array

    @property
    def stop(self) -> int:
        """The first query that is not answered yet: the ``start`` of the next call."""
        return self.start + len(self.indptr) - 1


_Matches: TypeAlias = tuple[RowArray, RowArray]  # queries, rows


@dataclass(slots=True)
class _Piece:
    """Answers of consecutive queries: where each ends, rows, distances."""

    ends: IndexArray
    positions: RowArray
    distances: UInt8Array

    def head(self, n: int) -> _Piece:
        """The first n queries."""
        size = int(self.ends[n - 1]) if n else 0
        return _Piece(self.ends[:n], self.positions[:size], self.distances[:size])


class _Tables:
    """One word table for each rule of a plan, filled as far as ``progress`` says."""

    def __init__(self, plan: JoinPlan, layout: Layout, limits: Limits, n_rows: int) -> None:
        self.plan = plan
        self.rules = rule_table(plan, layout, limits)
        self.progress = np.zeros(len(self.rules), np.int64)
        self.spans = np.zeros((len(self.rules) * N_VALUES, 2), np.int32)
        self.rooms = np.zeros(len(self.rules) * N_VALUES, np.int32)
        self.used = 0
        self._n_lanes = layout.n_lanes
        self._allocate(len(self.rules) * (n_rows // BLOCK + SPARE_BLOCKS))

    def _allocate(self, blocks: int) -> None:
        self.rows_at = np.empty(blocks * BLOCK, np.int32)
        self.arena = np.empty(self._n_lanes * blocks * BLOCK, np.uint64)

    @property
    def is_scan(self) -> bool:
        """True if every table is one bucket of all rows."""
        return all(half.is_scan for half in self.plan.halves)

    def probe(
        self, rule: int, queries: UInt64Array, first: int, last: int, halves: IndexArray, vote: int, capacity: int
    ) -> _Matches | None:
        """Matches (queries, rows) of queries first..last-1 by one rule, in no stated order.

        Returns:
            ``None`` if there are more than ``capacity`` matches of more than one query.
        """
        from simhash_es.core.kernels.index import probe_table, sort_visits

        masks = neighbour_masks(int(self.rules[rule, 6]))
        starts, visitors = np.empty(N_VALUES + 1, np.int32), np.empty((last - first) * len(masks), np.int32)
        sort_visits(queries, first, self.rules[rule], masks, starts, visitors)
        room = FIRST_ROOM
        while True:
            out_queries, out_rows = np.empty(room, np.int32), np.empty(room, np.int32)
            found = probe_table(
                queries.reshape(-1), self._n_lanes, starts, visitors, self.rules, rule, self.spans, self.arena,
                self.rows_at, halves, vote, out_queries, out_rows,
            )  # fmt: skip
            if found >= 0:
                return out_queries[:found].copy(), out_rows[:found].copy()
            if last - first > 1:
                if room > capacity:
                    return None
                room = min(room * 4, capacity + 1)
            else:
                room *= 4

    def fill(self, rows: UInt64Array, n_rows: int) -> None:
        """Bring every table up to ``n_rows`` rows."""
        from simhash_es.core.kernels.index import insert_rows, repack

        while True:
            self.used = insert_rows(
                rows, n_rows, self.rules, self.progress, self.spans, self.rooms, self.arena, self.rows_at, self.used
            )
            if self.progress[-1] == n_rows:
                return
            arena, rows_at = self.arena, self.rows_at
            self._allocate(len(rows_at) // BLOCK * 3 // 2 + SPARE_BLOCKS)
            self.used = repack(self.spans, self.rooms, self._n_lanes, arena, rows_at, self.arena, self.rows_at)


class NeighbourIndex:
    """A growing set of fingerprints; rows are numbered in the order in which they are added.

    Args:
        layout: Widths of the halves.
        limits: Which rows match a query.

    Raises:
        InvalidOption: The limits do not fit the layout.
    """

    def __init__(self, layout: Layout, limits: Limits) -> None:
        limits.check(layout)
        self.layout = layout
        self.limits = limits
        self._halves = half_table(layout, limits)
        self._rows = np.zeros((1024, layout.n_lanes), np.uint64)
        self._n_rows = 0
        self._planned_rows = 0
        self._tables: _Tables | None = None

    def __len__(self) -> int:
        return self._n_rows

    @property
    def rows(self) -> UInt64Array:
        """(n, L) all rows; a view that must not be changed and is outdated by the next :meth:`add`."""
        return self._rows[: self._n_rows]

    @property
    def plan(self) -> JoinPlan | None:
        """How the set is searched now; ``None`` while it is small enough for NumPy."""
        return None if self._tables is None else self._tables.plan

    def add(self, lanes: UInt64Array) -> None:
        """Add rows (m, L); they get the next m numbers.

        Raises:
            InvalidOption: Wrong shape, or more than 2**31 - 1 rows in all.
        """
        new = self.layout.rows(lanes)
        wanted = self._n_rows + len(new)
        if wanted > MAX_ROWS:
            raise InvalidOption(f"{wanted:,} rows in one index", f"at most {MAX_ROWS:,}")
        if wanted > len(self._rows):
            larger = np.zeros((max(wanted, len(self._rows) * 3 // 2), self.layout.n_lanes), np.uint64)
            larger[: self._n_rows] = self.rows
            self._rows = larger
        self._rows[self._n_rows : wanted] = new
        self._n_rows = wanted

    def candidates(
        self, queries: UInt64Array, *, start: int = 0, capacity: int = 1 << 22, workers: int = 1
    ) -> Candidates:
        """All stored rows that match each query, each exactly once.

        The answer is the same for any number of workers.

        Args:
            queries: (q, L).
            start: First query to answer.
            capacity: Stop before the query that would bring the answers above this number of rows; one query is always
                answered, however many rows it matches.
            workers: Threads, at least 1.

        Returns:
            Answers to the queries from ``start`` to the result's ``stop``.

        Raises:
            InvalidOption: Wrong shape, ``start`` out of range, or less than one worker.
        """
        asked = self.layout.rows(queries)
        if not 0 <= start <= len(asked) or workers < 1:
            raise InvalidOption(f"start {start} of {len(asked)} queries, {workers} workers")
        asked = asked if asked.flags.writeable else asked.copy()  # kernels are compiled for writeable arrays only
        pieces: list[_Piece] = []
        total = 0
        for piece in self._answers(asked, start, capacity, workers):
            fits = int(np.searchsorted(piece.ends, capacity - total, side="right"))
            fits = max(fits, 0 if pieces else 1)
            pieces.append(piece.head(fits))
            if fits < len(piece.ends):
                break
            total += int(piece.ends[-1])
        return _joined(start, pieces, self.layout.n_halves)

    def near(self, lanes: UInt64Array) -> Candidates:
        """The stored rows that match one fingerprint (L,)."""
        return self.candidates(lanes.reshape(1, -1))

    def _prepare(self) -> _Tables:
        """Plan anew if the set has doubled since the last plan, and bring the tables up to date."""
        if self._tables is None or self._n_rows >= 2 * self._planned_rows:
            counts = word_counts(self.rows, self.layout)
            plan = plan_join(self.layout, self.limits, counts, counts, visit_cost=PROBE_COST)
            self._planned_rows = self._n_rows
            if self._tables is None or [h.radii for h in plan.halves] != [h.radii for h in self._tables.plan.halves]:
                self._tables = _Tables(plan, self.layout, self.limits, self._n_rows)
        self._tables.fill(self._rows, self._n_rows)
        return self._tables

    def _answers(self, queries: UInt64Array, start: int, capacity: int, workers: int) -> Iterator[_Piece]:
        """Answers of some queries after others, in their order."""
        if self._n_rows <= SMALL_ROWS and self._n_rows * (len(queries) - start) <= SMALL_ROWS**2:
            for first in range(start, len(queries), SMALL_QUERIES):
                yield self._ask_small(queries, first, min(first + SMALL_QUERIES, len(queries)))
            return
        tables = self._prepare()
        size = min(TASK_QUERIES, TASK_VISITS // N_MASKS[int(tables.rules[:, 6].max())])
        if tables.is_scan:  # few tables cannot keep several threads busy
            size = min(size, -(-(len(queries) - start) // workers))
        with ThreadPoolExecutor(workers) as pool:
            run = map if workers == 1 else pool.map
            rules = range(len(tables.rules))
            at_once = max(1, workers // len(rules))  # a scan has one table: its threads take other queries

            def probe(task: tuple[int, int, int]) -> _Matches | None:
                rule, first, last = task
                return tables.probe(rule, queries, first, last, self._halves, self.limits.vote, capacity)

            while start < len(queries):
                firsts = range(start, min(start + at_once * size, len(queries)), size)
                spans = [(first, min(first + size, len(queries))) for first in firsts]
                results = list(run(probe, [(rule, *span) for span in spans for rule in rules]))
                for place, (first, last) in enumerate(spans):
                    mine = results[place * len(rules) : (place + 1) * len(rules)]
                    found = [matches for matches in mine if matches is not None]
                    if len(found) < len(rules):  # too many matches for memory: fewer queries at once
                        size = max(1, (last - first) // 4)
                        break
                    yield self._piece(queries, first, last, found)
                    start = last

    def _piece(self, queries: UInt64Array, first: int, last: int, found: list[_Matches]) -> _Piece:
        """Bring the matches of all rules into the order of queries first..last-1."""
        from simhash_es.core.kernels.index import group_by_query

        of_query, rows = np.concatenate([q for q, _ in found]), np.concatenate([r for _, r in found])
        indptr = np.empty(last - first + 1, np.int64)
        positions, distances = np.empty_like(rows), np.empty((len(rows), len(self._halves)), np.uint8)
        group_by_query(of_query, rows, first, indptr, queries, self._rows, self._halves, positions, distances)
        return _Piece(indptr[1:], positions, distances)

    def _ask_small(self, queries: UInt64Array, first: int, last: int) -> _Piece:
        """The same by NumPy, for small sets."""
        found = distances(queries[first:last, None, :], self.rows[None, :, :], self.layout)
        hits = matches(found, self.limits)
        q, rows = np.nonzero(hits)
        return _Piece(np.cumsum(hits.sum(axis=1)), rows.astype(np.int32), found[q, rows])


def _joined(start: int, pieces: list[_Piece], n_halves: int) -> Candidates:
    sizes = [len(piece.positions) for piece in pieces]
    before = np.cumsum([0, *sizes])
    indptr = np.concatenate([np.zeros(1, np.int64), *(p.ends + b for p, b in zip(pieces, before[:-1], strict=True))])
    positions = np.concatenate([np.zeros(0, np.int32), *(piece.positions for piece in pieces)])
    distances = np.concatenate([np.zeros((0, n_halves), np.uint8), *(piece.distances for piece in pieces)])
    return Candidates(start, indptr, positions, distances)
