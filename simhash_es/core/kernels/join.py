"""Kernels of the static joins: folding of equal rows, sorting by a word, and the bucket-by-bucket search.

A search is a list of *rules*, one for each word that is used (int64, one row each):

====  =====================================================================
0     first lane of the half, in the row of lanes
1     lanes of the half, 1 or 2
2     limit of the half in bits
3     lane of the word
4     shift of the word
5     mask of the word after shifting; 0 makes one bucket of all rows: a scan
6     radius of the word in bits
7     lane of the second look: the half's other lane, or another half without which no vote is won; -1 for none
8     limit of that lane in bits
====  =====================================================================

A rule *accepts* a pair iff the half is within its limit and the word within its radius. A pair is reported by the
first rule that accepts it, hence exactly once. ``halves`` is int64 (H, 3): first lane, lanes, limit.
"""

from __future__ import annotations

from typing import Any

from numba import int64, uint8, uint64  # casts inside the kernels

from simhash_es.core.kernels.popcount import BLOCK, lowest, near_any_of_four, ones
from simhash_es.core.kernels.runtime import NO_COUNTING, kernel

TILE = 2048  # rows of a bucket compared before the next asking row: 16 KB, half of a first-level cache


@kernel("int64(uint64[:, ::1], int32[::1], int32[::1], int32[::1])", **NO_COUNTING)
def fold_rows(rows: Any, table: Any, group_of: Any, first: Any) -> Any:
    """Number the distinct rows in order of first appearance.

    Args:
        rows: (n, L).
        table: Work space of -1, its length a power of two above n.
        group_of: (n,) out: number of each row's value.
        first: (n,) out: first row of each value.

    Returns:
        Number of distinct rows.
    """
    n, n_lanes = rows.shape
    room = uint64(len(table) - 1)
    found = 0
    for i in range(n):
        mixed = uint64(0)
        for lane in range(n_lanes):
            mixed = (mixed ^ rows[i, lane]) * uint64(0x9E3779B97F4A7C15)
            mixed ^= mixed >> uint64(29)
        slot = mixed & room
        while True:
            group = table[slot]
            if group < 0:
                table[slot] = found
                group_of[i] = found
                first[found] = i
                found += 1
                break
            equal = True
            for lane in range(n_lanes):
                if rows[first[group], lane] != rows[i, lane]:
                    equal = False
                    break
            if equal:
                group_of[i] = group
                break
            slot = (slot + uint64(1)) & room
    return found


@kernel("void(uint64[:, ::1], int64[::1], int32[::1], int32[::1], uint64[::1])", **NO_COUNTING)
def sort_by_word(rows: Any, rule: Any, start: Any, order: Any, columns: Any) -> None:
    """Stable counting sort of the rows by one word.

    Args:
        rows: (n, L).
        rule: The rule whose word is meant.
        start: (65537,) out: rows of word value v are at places start[v] to start[v + 1].
        order: (n,) out: row at each place.
        columns: (L * (n + 8),) out: the rows in the new order, lane after lane, each with room for one block beyond
            its end. Everything the search compares lies there in the order in which it is visited.
    """
    n, n_lanes = rows.shape
    shift = uint64(rule[4])
    mask = uint64(rule[5])
    start[:] = 0
    for i in range(n):
        start[((rows[i, rule[3]] >> shift) & mask) + uint64(1)] += 1
    for v in range(65536):
        start[v + 1] += start[v]
    for i in range(n):
        v = (rows[i, rule[3]] >> shift) & mask
        at = start[v]
        start[v] = at + 1
        order[at] = i
        for lane in range(n_lanes):
            columns[lane * (n + BLOCK) + at] = rows[i, lane]
    for v in range(65536, 0, -1):
        start[v] = start[v - 1]
    start[0] = 0


@kernel("int64(uint64[::1], int64, int64, uint64[::1], int64, int64, int64, int64)", **NO_COUNTING)
def half_distance(x: Any, stride_x: Any, i: Any, y: Any, stride_y: Any, j: Any, lane: Any, n_lanes: Any) -> Any:
    """Distance in one half (first lane, lanes) of place i of columns ``x`` and place j of columns ``y``."""
    total = ones(x[lane * stride_x + i] ^ y[lane * stride_y + j])
    if n_lanes == 2:
        total += ones(x[(lane + 1) * stride_x + i] ^ y[(lane + 1) * stride_y + j])
    return int64(total)


@kernel(
    "boolean(uint64[::1], int64, int64, uint64[::1], int64, int64, int64[:, ::1], int64, int64[:, ::1], int64)",
    **NO_COUNTING,
)
def is_new_match(
    x: Any, stride_x: Any, i: Any, y: Any, stride_y: Any, j: Any, rules: Any, rule: Any, halves: Any, vote: Any
) -> Any:
    """Whether place i of ``x`` and place j of ``y`` match and no rule before this one accepts them.

    The caller has found them within the limit of this rule's half.
    """
    for p in range(rule):
        lane = rules[p, 3]
        difference = x[lane * stride_x + i] ^ y[lane * stride_y + j]
        word = (difference >> uint64(rules[p, 4])) & uint64(rules[p, 5])
        if int64(ones(word)) <= rules[p, 6] and (
            rules[p, 0] == rules[rule, 0]
            or half_distance(x, stride_x, i, y, stride_y, j, rules[p, 0], rules[p, 1]) <= rules[p, 2]
        ):
            return False
    votes = 0
    for h in range(len(halves) - 1, -1, -1):  # the last half first: the search has looked at the first ones
        if half_distance(x, stride_x, i, y, stride_y, j, halves[h, 0], halves[h, 1]) <= halves[h, 2]:
            votes += 1
        if votes + h < vote:
            return False
    return True


@kernel(
    "int64(uint64[::1], int32[::1], int32[::1], uint64[::1], int32[::1], int32[::1], boolean, int64[:, ::1], int64,"
    " uint16[::1], int64[:, ::1], int64, int64, int64[::1], int32[::1], int32[::1], uint8[:, ::1])",
    **NO_COUNTING,
)
def join_buckets(
    x: Any,
    order_x: Any,
    start_x: Any,
    y: Any,
    order_y: Any,
    start_y: Any,
    is_self: Any,
    rules: Any,
    rule: Any,
    masks: Any,
    halves: Any,
    vote: Any,
    last: Any,
    state: Any,
    out_x: Any,
    out_y: Any,
    out_distances: Any,
) -> Any:
    """Report the pairs of one rule, for the asking rows at sorted places ``state[0]`` to ``last``.

    Bucket after bucket of x, mask after mask, tile after tile of the bucket of y, four rows of x at a time. Stops when
    the output has no room for what four rows can find in a tile; called again with the same ``state`` it goes on there.

    Args:
        x: Columns of the asking rows, with their ``order_x`` and ``start_x`` (see :func:`sort_by_word`).
        y: The same of the searched rows; the same arrays for a self-join.
        is_self: Report each unordered pair once.
        masks: All masks within the rule's radius.
        last: End of the range of places of x.
        state: (5,) int64: first place, word value, mask, place in y, place in x; mask and places are 0 at the
            beginning; the word value is 65536 at the end.
        out_x: Rows of x; in a self-join no order is implied between the two.
        out_y: Rows of y.
        out_distances: (len(out_x), H).

    Returns:
        Number of pairs written.
    """
    found = 0
    first = state[0]
    value = state[1]
    m = state[2]
    tile = state[3]
    i = state[4]
    stride_x = len(order_x) + BLOCK
    stride_y = len(order_y) + BLOCK
    lane_x = rules[rule, 0] * stride_x
    lane_y = rules[rule, 0] * stride_y
    is_double = rules[rule, 1] == 2
    limit = uint64(rules[rule, 2])
    look_x = rules[rule, 7] * stride_x
    look_y = rules[rule, 7] * stride_y
    look_limit = uint64(rules[rule, 8])
    while value < 65536 and int64(start_x[value]) < last:
        x_first = max(int64(start_x[value]), first)
        x_last = min(int64(start_x[value + 1]), last)
        while x_first < x_last and m < len(masks):
            other = value ^ int64(masks[m])
            y_last = int64(start_y[other + 1]) if other >= value or not is_self else int64(0)
            tile = max(tile, int64(start_y[other]))
            while tile < y_last:
                stop = min(tile + TILE, y_last)
                i = max(i, x_first)
                while i < x_last:
                    if found + 4 * TILE > len(out_x):
                        state[1] = value
                        state[2] = m
                        state[3] = tile
                        state[4] = i
                        return found
                    is_own = is_self and other == value
                    at = max(tile, i + 1) if is_own else tile
                    n_rows = min(x_last - i, 4)
                    a = x[lane_x + i]
                    b = x[lane_x + min(i + 1, x_last - 1)]
                    c = x[lane_x + min(i + 2, x_last - 1)]
                    d = x[lane_x + min(i + 3, x_last - 1)]
                    while at < stop:
                        near = near_any_of_four(y, lane_y + at, a, b, c, d, limit)
                        if near != uint64(0) and look_x >= 0:
                            near &= near_any_of_four(
                                y,
                                look_y + at,
                                x[look_x + i],
                                x[look_x + min(i + 1, x_last - 1)],
                                x[look_x + min(i + 2, x_last - 1)],
                                x[look_x + min(i + 3, x_last - 1)],
                                look_limit,
                            )
                        if near != uint64(0):
                            if stop - at < BLOCK:
                                near &= (uint64(1) << uint64(stop - at)) - uint64(1)
                            while near != uint64(0):
                                j = at + lowest(near)
                                near &= near - uint64(1)
                                for asking in range(i, i + n_rows):
                                    if is_own and asking >= j:
                                        continue
                                    bits = ones(x[lane_x + asking] ^ y[lane_y + j])
                                    if is_double:
                                        bits += ones(x[lane_x + stride_x + asking] ^ y[lane_y + stride_y + j])
                                    if bits <= limit and is_new_match(
                                        x, stride_x, asking, y, stride_y, j, rules, rule, halves, vote
                                    ):
                                        out_x[found] = order_x[asking]
                                        out_y[found] = order_y[j]
                                        for h in range(len(halves)):
                                            out_distances[found, h] = uint8(
                                                half_distance(
                                                    x, stride_x, asking, y, stride_y, j, halves[h, 0], halves[h, 1]
                                                )
                                            )
                                        found += 1
                        at += BLOCK
                    i += 4
                i = 0
                tile = stop
            tile = 0
            m += 1
        m = 0
        value += 1
    state[1] = 65536
    return found
