"""Exact search of one fingerprint in a store."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from simhash_es.backends.sqlite_store.blocks import IntArray, gather_half, scan_half
from simhash_es.backends.sqlite_store.database import Database
from simhash_es.backends.sqlite_store.schema import BLOCK_ROWS
from simhash_es.backends.sqlite_store.words import find_positions
from simhash_es.core.bits import UInt64Array
from simhash_es.core.layout import Layout, Limits, distances, matches, popcount
from simhash_es.core.query_plan import Costs, Found, neighbours, plan_query, words_of
from simhash_es.core.radii import LEFT_OUT, Counts, HalfPlan

COSTS = Costs(word=4_000, candidate=600, block=4_000, block_rows=BLOCK_ROWS, scanned=8, start=30_000)
"""As measured by ``benchmarks/store.py`` on stores of a million rows."""


def search(
    database: Database, layout: Layout, counts: Counts, n_rows: int, query: UInt64Array, limits: Limits
) -> Found:
    """All rows within the limits, each once.

    Words lead to the first half only. Where a row may match without it (fewer votes than halves), all rows are scanned.

    Args:
        database: A store.
        layout: Widths of the halves.
        counts: ``(words, 65536)`` rows of each word value.
        n_rows: Rows of the store.
        query: ``(L,)`` fingerprint.
        limits: What to find.
    """
    first = query[: len(layout.lanes(0))]
    limit = limits.distances[0]
    if limits.vote < layout.n_halves:
        plan = HalfPlan(0, limit, None, float(n_rows), COSTS.scan(n_rows))
        positions = np.arange(n_rows)
    else:
        plan = plan_query(words_of(query.tolist(), layout), counts, limit, n_rows, COSTS)
        if plan.radii is None:
            positions = scan_first_half(database, layout, n_rows, first, limit)
        else:
            positions = candidates(database, layout, query, plan.radii)
            lanes = gather_half(database, layout, 0, positions, n_rows)
            positions = positions[within(lanes, first, limit)]
    return decide(database, layout, n_rows, query, limits, positions, plan)


def within(lanes: UInt64Array, query: UInt64Array, limit: int) -> npt.NDArray[np.bool_]:
    """Which rows of one half are within a limit; ``(m, lanes of the half)`` against ``(lanes of the half,)``."""
    counts = popcount(lanes ^ query)
    total = counts[:, 0] if counts.shape[1] == 1 else counts.sum(axis=1, dtype=np.uint8)
    return np.asarray(total <= limit)


def scan_first_half(database: Database, layout: Layout, n_rows: int, first: UInt64Array, limit: int) -> IntArray:
    """Positions of all rows whose first half is within a limit."""
    found = [
        start + np.flatnonzero(within(lanes, first, limit)) for start, lanes in scan_half(database, layout, 0, n_rows)
    ]
    return np.concatenate([np.zeros(0, np.int64), *found])


def candidates(database: Database, layout: Layout, query: UInt64Array, radii: tuple[int, ...]) -> IntArray:
    """Positions of all rows that share a word within its radius, ascending, each once."""
    words = words_of(query.tolist(), layout)
    found = [
        find_positions(database, place, neighbours(word, radius))
        for place, (word, radius) in enumerate(zip(words, radii, strict=True))
        if radius > LEFT_OUT
    ]
    return np.unique(np.concatenate([np.zeros(0, np.int64), *found]))


def decide(
    database: Database,
    layout: Layout,
    n_rows: int,
    query: UInt64Array,
    limits: Limits,
    positions: IntArray,
    plan: HalfPlan,
) -> Found:
    """Count the bits of every half of the rows that are left."""
    lanes = np.empty((len(positions), layout.n_lanes), np.uint64)
    for half in range(layout.n_halves):
        columns = layout.lanes(half)
        lanes[:, columns.start : columns.stop] = gather_half(database, layout, half, positions, n_rows)
    bits = distances(lanes, query[None, :], layout)
    chosen = matches(bits, limits)
    return Found(positions[chosen], bits[chosen], plan)
