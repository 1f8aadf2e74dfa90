"""Exact search of fingerprints in a store."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from simhash_es.backends.sqlite_store.blocks import IntArray, gather_half, scan_half
from simhash_es.backends.sqlite_store.database import Database
from simhash_es.backends.sqlite_store.schema import BLOCK_ROWS
from simhash_es.backends.sqlite_store.words import find_positions, read_counts
from simhash_es.core.bits import UInt64Array
from simhash_es.core.layout import Layout, Limits, distances, matches
from simhash_es.core.query_plan import (
    CACHED_ROWS,
    Costs,
    Found,
    joined,
    neighbours,
    plan_query,
    rows_within,
    within,
    words_of,
)
from simhash_es.core.radii import LEFT_OUT, HalfPlan

COSTS = Costs(word=8_000, candidate=200, block=4_000, block_rows=BLOCK_ROWS, scanned=8, start=30_000)
"""Where half A lies in the file; as measured by ``benchmarks/store.py`` on stores of a million rows."""

HELD_COSTS = replace(COSTS, block=0, scanned=2.5)
"""Where half A is held in memory."""

HELD_BYTES = 64 << 20
"""Most memory for half A: eight million rows of 64 bits."""


class Searcher:
    """Answers queries on the rows of a store.

    The first query reads what it needs. From the second one on half A is held in memory, if it is not too large.

    Args:
        database: A store whose rows do not change.
        layout: Widths of the halves.
        n_rows: Rows of the store.
    """

    def __init__(self, database: Database, layout: Layout, n_rows: int) -> None:
        self._database = database
        self._layout = layout
        self._n_rows = n_rows
        self._held: UInt64Array | None = None
        self._n_queries = 0
        self.word_counts = read_counts(database, layout)

    def search(self, query: UInt64Array, limits: Limits) -> Found:
        """All rows within the limits, each once.

        Words lead to the first half only. Where a row may match without it (fewer votes than halves), all are counted.

        Args:
            query: ``(L,)`` fingerprint.
            limits: What to find.
        """
        self._hold_if_worthwhile()
        costs = COSTS if self._held is None else HELD_COSTS
        limit = limits.distances[0]
        if limits.vote < self._layout.n_halves:
            plan = HalfPlan(0, limit, None, float(self._n_rows), costs.scan(self._n_rows))
            return self._decide_all(query, limits, plan)
        words = words_of(query.tolist(), self._layout)
        plan = plan_query(words, self.word_counts, limit, self._n_rows, costs)
        first = query[: len(self._layout.lanes(0))]
        if plan.radii is None:
            positions = self._scan(first, limit)
        else:
            positions = self._candidates(words, plan.radii)
            positions = positions[within(self._half(0, positions), first, limit)]
        return self._decide(query, limits, positions, plan)

    def _hold_if_worthwhile(self) -> None:
        self._n_queries += 1
        n_bytes = self._n_rows * len(self._layout.lanes(0)) * 8
        if self._n_queries == 2 and 0 < n_bytes <= HELD_BYTES:
            self._held = np.concatenate(
                [lanes for _, lanes in scan_half(self._database, self._layout, 0, self._n_rows)]
            )

    def _half(self, half: int, positions: IntArray) -> UInt64Array:
        """One half of some rows."""
        if half == 0 and self._held is not None:
            return self._held[positions]
        return gather_half(self._database, self._layout, half, positions, self._n_rows)

    def _scan(self, first: UInt64Array, limit: int) -> IntArray:
        """Positions of all rows whose half A is within a limit."""
        if self._held is not None:
            return rows_within(self._held, first, limit)
        pieces = scan_half(self._database, self._layout, 0, self._n_rows)
        found = [start + rows_within(lanes, first, limit) for start, lanes in pieces]
        return np.concatenate([np.zeros(0, np.int64), *found])

    def _candidates(self, words: list[int], radii: tuple[int, ...]) -> IntArray:
        """Positions of all rows that share a word within its radius, ascending, each once."""
        found = [
            find_positions(self._database, place, neighbours(word, radius))
            for place, (word, radius) in enumerate(zip(words, radii, strict=True))
            if radius > LEFT_OUT
        ]
        return np.unique(np.concatenate([np.zeros(0, np.int64), *found]))

    def _decide_all(self, query: UInt64Array, limits: Limits, plan: HalfPlan) -> Found:
        """Count the bits of every half of all rows, some at a time."""
        starts = range(0, self._n_rows, CACHED_ROWS)
        ranges = [np.arange(start, min(start + CACHED_ROWS, self._n_rows)) for start in starts]
        pieces = [self._decide(query, limits, rows, plan) for rows in ranges]
        return joined(pieces, self._layout.n_halves, plan)

    def _decide(self, query: UInt64Array, limits: Limits, positions: IntArray, plan: HalfPlan) -> Found:
        """Count the bits of every half of the rows that are left."""
        lanes = np.empty((len(positions), self._layout.n_lanes), np.uint64)
        for half in range(self._layout.n_halves):
            columns = self._layout.lanes(half)
            lanes[:, columns.start : columns.stop] = self._half(half, positions)
        bits = distances(lanes, query[None, :], self._layout)
        chosen = matches(bits, limits)
        return Found(positions[chosen], bits[chosen], plan)
