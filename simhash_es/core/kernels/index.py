"""Kernels of the growing index: word tables that rows are added to, and the search for the partners of queries.

There is one table for each rule (see :mod:`simhash_es.core.kernels.join`). A table holds all rows once, in buckets by
the value of the rule's word. The buckets of all tables lie in one arena, each in whole blocks of eight rows with room
to grow; a bucket that is full moves to the end of the arena.

``spans`` is int32 (rules * 65536, 2): first block in the arena, rows. ``rooms`` (rules * 65536,) is the blocks each
bucket may use. ``arena`` is flat, lane after lane with a stride of ``len(rows_at)``; ``rows_at`` is the row number of
each place.
"""

from __future__ import annotations

from typing import Any

from numba import int64, uint8, uint64  # casts inside the kernels

from simhash_es.core.kernels.join import TILE, is_new_match
from simhash_es.core.kernels.popcount import BLOCK, lowest, near_any_of_four, near_block, ones
from simhash_es.core.kernels.runtime import NO_COUNTING, kernel


@kernel(
    "int64(uint64[:, ::1], int64, int64[:, ::1], int64[::1], int32[:, ::1], int32[::1], uint64[::1], int32[::1],"
    " int64)",
    **NO_COUNTING,
)
def insert_rows(
    rows: Any, last: Any, rules: Any, progress: Any, spans: Any, rooms: Any, arena: Any, rows_at: Any, used: Any
) -> Any:
    """Put rows ``progress[rule]`` to ``last`` into the table of each rule, as far as the arena has room.

    Args:
        rows: (n or more, L) all rows.
        last: n.
        progress: (rules,) how many rows each table has; updated.
        used: Blocks of the arena in use.

    Returns:
        Blocks in use afterwards.
    """
    stride = len(rows_at)
    n_lanes = rows.shape[1]
    for rule in range(len(rules)):
        shift = uint64(rules[rule, 4])
        mask = uint64(rules[rule, 5])
        for i in range(progress[rule], last):
            span = rule * 65536 + int64((rows[i, rules[rule, 3]] >> shift) & mask)
            count = int64(spans[span, 1])
            room = int64(rooms[span])
            if count == room * BLOCK:
                larger = room + (room >> 1) + 1
                if (used + larger) * BLOCK > stride:
                    return used
                old = int64(spans[span, 0]) * BLOCK
                for lane in range(n_lanes):
                    for t in range(count):
                        arena[lane * stride + used * BLOCK + t] = arena[lane * stride + old + t]
                for t in range(count):
                    rows_at[used * BLOCK + t] = rows_at[old + t]
                spans[span, 0] = used
                rooms[span] = larger
                used += larger
            at = int64(spans[span, 0]) * BLOCK + count
            for lane in range(n_lanes):
                arena[lane * stride + at] = rows[i, lane]
            rows_at[at] = i
            spans[span, 1] = count + 1
            progress[rule] = i + 1
    return used


@kernel("int64(int32[:, ::1], int32[::1], int64, uint64[::1], int32[::1], uint64[::1], int32[::1])", **NO_COUNTING)
def repack(spans: Any, rooms: Any, n_lanes: Any, arena: Any, rows_at: Any, new_arena: Any, new_rows_at: Any) -> Any:
    """Move all buckets to a larger arena, in order and without gaps; returns the blocks in use."""
    stride = len(rows_at)
    new_stride = len(new_rows_at)
    used = 0
    for span in range(len(spans)):
        count = int64(spans[span, 1])
        old = int64(spans[span, 0]) * BLOCK
        for lane in range(n_lanes):
            for t in range(count):
                new_arena[lane * new_stride + used * BLOCK + t] = arena[lane * stride + old + t]
        for t in range(count):
            new_rows_at[used * BLOCK + t] = rows_at[old + t]
        spans[span, 0] = used
        rooms[span] = (count + BLOCK - 1) // BLOCK
        used += int64(rooms[span])
    return used


@kernel("void(int32[::1], int64, int64)", **NO_COUNTING)
def sort_rows(rows: Any, first: Any, last: Any) -> None:
    """Sort ``rows[first:last]`` ascending, in place (Shell sort: few rows as a rule, no stack, no allocation)."""
    gap = 1
    while gap < (last - first) // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(first + gap, last):
            row = rows[i]
            j = i
            while j >= first + gap and rows[j - gap] > row:
                rows[j] = rows[j - gap]
                j -= gap
            rows[j] = row
        gap //= 3


@kernel("void(uint64[:, ::1], int64, int64[::1], uint16[::1], int32[::1], int32[::1])", **NO_COUNTING)
def sort_visits(queries: Any, first: Any, rule: Any, masks: Any, start: Any, visitors: Any) -> None:
    """List for each bucket of a table the queries that visit it: a counting sort of all (query, mask).

    Args:
        queries: (q, L); those from ``first`` on ask, as many as there is room in ``visitors``.
        first: The first query.
        rule: The rule whose word is meant.
        masks: All masks within the rule's radius.
        start: (65537,) out: the visitors of word value v are at start[v] to start[v + 1].
        visitors: (queries * masks,) out: queries, ascending within each bucket.
    """
    last = first + len(visitors) // len(masks)
    lane = rule[3]
    shift = uint64(rule[4])
    mask = uint64(rule[5])
    start[:] = 0
    for q in range(first, last):
        word = (queries[q, lane] >> shift) & mask
        for m in range(len(masks)):
            start[(word ^ uint64(masks[m])) + uint64(1)] += 1
    for value in range(65536):
        start[value + 1] += start[value]
    for q in range(first, last):
        word = (queries[q, lane] >> shift) & mask
        for m in range(len(masks)):
            value = word ^ uint64(masks[m])
            at = start[value]
            start[value] = at + 1
            visitors[at] = q
    for value in range(65536, 0, -1):
        start[value] = start[value - 1]
    start[0] = 0


@kernel(
    "int64(uint64[::1], int64, int32[::1], int32[::1], int64[:, ::1], int64, int32[:, ::1], uint64[::1],"
    " int32[::1], int64[:, ::1], int64, int32[::1], int32[::1])",
    **NO_COUNTING,
)
def probe_table(
    queries: Any,
    n_lanes: Any,
    starts: Any,
    visitors: Any,
    rules: Any,
    rule: Any,
    spans: Any,
    arena: Any,
    rows_at: Any,
    halves: Any,
    vote: Any,
    out_queries: Any,
    out_rows: Any,
) -> Any:
    """The matching rows of queries that no rule before this one accepts.

    Bucket after bucket, all queries that visit it: a bucket is read from memory once, and four queries are compared at
    a time. (Query after query, the memory and not the counting sets the pace.)

    Args:
        queries: (q * L) row after row.
        n_lanes: L.
        starts: (65537,) where the visitors of each bucket begin, see :func:`sort_visits`.
        visitors: (visits,) the query of each visit.
        out_queries: Query of each match, out, in no stated order.
        out_rows: Row of each match, out.

    Returns:
        Number of matches; -1 if they did not fit.
    """
    stride = len(rows_at)
    lane = rules[rule, 0]
    lead = lane * stride
    is_double = rules[rule, 1] == 2
    limit = uint64(rules[rule, 2])
    look_lane = rules[rule, 7]
    look_limit = uint64(rules[rule, 8])
    found = 0
    for value in range(65536):
        first = int64(starts[value])
        last = int64(starts[value + 1])
        if first == last:
            continue
        span = rule * 65536 + value
        tile = int64(spans[span, 0]) * BLOCK
        bucket_end = tile + int64(spans[span, 1])
        while tile < bucket_end:
            stop = min(tile + TILE, bucket_end)
            for i in range(first, last, 4):
                n_queries = min(last - i, 4)
                q = int64(visitors[i]) * n_lanes
                r = int64(visitors[min(i + 1, last - 1)]) * n_lanes
                s = int64(visitors[min(i + 2, last - 1)]) * n_lanes
                t = int64(visitors[min(i + 3, last - 1)]) * n_lanes
                a = queries[q + lane]
                b = queries[r + lane]
                c = queries[s + lane]
                d = queries[t + lane]
                at = tile
                while at < stop:
                    if n_queries == 1:
                        near = near_block(arena, lead + at, a, limit)
                    else:
                        near = near_any_of_four(arena, lead + at, a, b, c, d, limit)
                    if near != uint64(0) and look_lane >= 0:
                        near &= near_any_of_four(
                            arena,
                            look_lane * stride + at,
                            queries[q + look_lane],
                            queries[r + look_lane],
                            queries[s + look_lane],
                            queries[t + look_lane],
                            look_limit,
                        )
                    if near != uint64(0) and stop - at < BLOCK:
                        near &= (uint64(1) << uint64(stop - at)) - uint64(1)
                    while near != uint64(0):
                        place = at + lowest(near)
                        near &= near - uint64(1)
                        for visit in range(i, i + n_queries):
                            start = int64(visitors[visit]) * n_lanes
                            bits = ones(queries[start + lane] ^ arena[lead + place])
                            if is_double:
                                bits += ones(queries[start + lane + 1] ^ arena[lead + stride + place])
                            if bits <= limit and is_new_match(
                                queries, 1, start, arena, stride, place, rules, rule, halves, vote
                            ):
                                if found == len(out_rows):
                                    return -1
                                out_queries[found] = visitors[visit]
                                out_rows[found] = rows_at[place]
                                found += 1
                    at += BLOCK
            tile = stop
    return found


@kernel(
    "void(int32[::1], int32[::1], int64, int64[::1], uint64[:, ::1], uint64[:, ::1], int64[:, ::1], int32[::1],"
    " uint8[:, ::1])",
    **NO_COUNTING,
)
def group_by_query(
    found_queries: Any,
    found_rows: Any,
    first: Any,
    indptr: Any,
    queries: Any,
    rows: Any,
    halves: Any,
    out: Any,
    out_distances: Any,
) -> None:
    """Bring matches into the order of query and row, and measure them.

    Args:
        found_queries: (m,) in any order.
        found_rows: (m,)
        first: The first query.
        indptr: (q + 1,) out, int64: the rows of query ``first + t`` are ``out[indptr[t]:indptr[t + 1]]``.
        queries: (first + q or more, L).
        rows: (n, L).
        out: (m,) out.
        out_distances: (m, H) out.
    """
    n = len(indptr) - 1
    indptr[:] = 0
    for at in range(len(found_queries)):
        indptr[found_queries[at] - first + 1] += 1
    for t in range(n):
        indptr[t + 1] += indptr[t]
    for at in range(len(found_queries)):
        t = found_queries[at] - first
        out[indptr[t]] = found_rows[at]
        indptr[t] += 1
    for t in range(n, 0, -1):
        indptr[t] = indptr[t - 1]
    indptr[0] = 0
    for t in range(n):
        sort_rows(out, indptr[t], indptr[t + 1])
        for at in range(indptr[t], indptr[t + 1]):
            row = int64(out[at])
            for h in range(len(halves)):
                lane = halves[h, 0]
                bits = ones(queries[first + t, lane] ^ rows[row, lane])
                if halves[h, 1] == 2:
                    bits += ones(queries[first + t, lane + 1] ^ rows[row, lane + 1])
                out_distances[at, h] = uint8(bits)
