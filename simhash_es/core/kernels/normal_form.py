"""The normal form, compiled: UTF-8 in, UTF-8 out, equal to :mod:`simhash_es.core.normal_form` bit for bit.

One pass over the bytes, with a table look-up for each character that is not ASCII, serves almost every text. A
text with a character that may be reordered or composed with its neighbours (a combining mark, a conjoining jamo) is
done again by the general algorithm: decompose, order, compose.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numba import int64, uint8, uint32, uint64

from simhash_es.core.kernels.runtime import NO_COUNTING, kernel
from simhash_es.core.unicode_tables import COMPLEX, MAP_MANY, MAP_ONE, SYMBOL, unicode_tables

# Layout of the flat table: positions 0–5 hold where each part begins.
ENTRY_INDEX, ENTRY_BLOCKS, DECOMPOSED_INDEX, DECOMPOSED_BLOCKS, COMBINING_INDEX, COMBINING_BLOCKS, POOL = range(7)
ASCII = 7  # 128 entries: the byte to write, bit 8 for a word character, bit 9 for a space; 0 writes nothing
HEADER = 8
FOLD_PUNCTUATION = 1
FOLD_CHINESE_SPACES = 2
# The longest mapping, that of U+FDFA, turns 3 bytes into 33. Room that is not written to costs no memory.
MAX_GROWTH = 12


@cache
def flat_tables(punctuation: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """``(table, pair_keys, pair_values)`` for the kernels."""
    tables = unicode_tables()
    ascii_bytes = np.zeros(128, np.uint32)
    for c in range(128):
        entry = int(tables.entry_blocks[int(tables.entry_index[0]) << 7 | c])
        action = entry & 7
        if action == MAP_ONE:
            ascii_bytes[c] = entry >> 8
        elif action == SYMBOL:
            ascii_bytes[c] = 32 if punctuation else c
        else:
            ascii_bytes[c] = (c, c, 32, 0)[action]
    ascii_bytes |= np.where(ascii_bytes > 32, 1 << 8, np.where(ascii_bytes == 32, 1 << 9, 0)).astype(np.uint32)
    parts: list[np.ndarray] = [*tables[:7], ascii_bytes]
    header = np.zeros(HEADER, np.uint32)
    header[:] = HEADER + np.cumsum([0] + [len(part) for part in parts[:-1]])
    flat = np.concatenate([header, *(part.astype(np.uint32) for part in parts)])
    return flat, tables.pair_keys, tables.pair_values


@kernel("uint32(uint32[::1], int64, int64)", **NO_COUNTING)
def look_up(table: Any, part: Any, cp: Any) -> Any:
    """Two-stage look-up; ``part`` is the index part, its blocks follow as ``part + 1``."""
    block = int64(table[int64(table[part]) + (cp >> 7)])
    return table[int64(table[part + 1]) + (block << 7) + (cp & 127)]


@kernel("int64(uint8[::1], int64, int64)", **NO_COUNTING)
def decode(data: Any, i: Any, size: Any) -> Any:
    """Code point of the UTF-8 sequence of ``size`` bytes at ``i``."""
    if size == 1:
        return int64(data[i])
    if size == 2:
        return (int64(data[i]) & 0x1F) << 6 | (int64(data[i + 1]) & 0x3F)
    if size == 3:
        return (int64(data[i]) & 0x0F) << 12 | (int64(data[i + 1]) & 0x3F) << 6 | (int64(data[i + 2]) & 0x3F)
    return (
        (int64(data[i]) & 0x07) << 18
        | (int64(data[i + 1]) & 0x3F) << 12
        | (int64(data[i + 2]) & 0x3F) << 6
        | (int64(data[i + 3]) & 0x3F)
    )


@kernel("int64(uint8[::1], int64, int64)", **NO_COUNTING)
def encode(out: Any, o: Any, cp: Any) -> Any:
    """Write a code point as UTF-8 at ``o``; returns the position behind it."""
    if cp < 0x80:
        out[o] = uint8(cp)
        return o + 1
    if cp < 0x800:
        out[o] = uint8(0xC0 | cp >> 6)
        out[o + 1] = uint8(0x80 | (cp & 0x3F))
        return o + 2
    if cp < 0x10000:
        out[o] = uint8(0xE0 | cp >> 12)
        out[o + 1] = uint8(0x80 | (cp >> 6 & 0x3F))
        out[o + 2] = uint8(0x80 | (cp & 0x3F))
        return o + 3
    out[o] = uint8(0xF0 | cp >> 18)
    out[o + 1] = uint8(0x80 | (cp >> 12 & 0x3F))
    out[o + 2] = uint8(0x80 | (cp >> 6 & 0x3F))
    out[o + 3] = uint8(0x80 | (cp & 0x3F))
    return o + 4


@kernel("boolean(int64)", **NO_COUNTING)
def is_chinese(cp: Any) -> Any:
    """As :func:`simhash_es.core.normal_form.is_chinese`."""
    return 0x3400 <= cp <= 0x9FFF or 0xF900 <= cp <= 0xFAFF or 0x20000 <= cp <= 0x3FFFF


@kernel("int64(uint8[::1], int64, int64, boolean, boolean)", **NO_COUNTING)
def put(out: Any, o: Any, cp: Any, before_space: Any, chinese: Any) -> Any:
    """Write one kept character; ``before_space``: the space written just before it goes when it is Chinese."""
    if chinese and before_space:
        o -= 1
    return encode(out, o, cp)


@kernel("UniTuple(int64, 3)(uint8[::1], int64, int64, uint32[::1], uint8[::1], int64, int64)", **NO_COUNTING)
def normalise_ascii(data: Any, start: Any, end: Any, table: Any, out: Any, out_start: Any, spaced: Any) -> Any:
    """The run of ASCII bytes at ``start``, without a branch, since words are too short for a branch predictor.

    ``spaced`` is 1 when a space may be written next, that is, when the last character was kept and is no Chinese one.
    Returns where the run ends, where the output ends, and the new ``spaced``.
    """
    base = uint64(table[ASCII])
    o = uint64(out_start)
    may_space = uint64(spaced)
    i = uint64(start)
    while i < uint64(end):
        c = uint64(data[i])
        if c >= 0x80:
            break
        v = uint64(table[base + c])
        out[o] = uint8(v)
        word = v >> uint64(8) & uint64(1)
        space = v >> uint64(9)
        o += word | (space & may_space)
        may_space = word | (may_space & (space ^ uint64(1)))
        i += uint64(1)
    return int64(i), int64(o), int64(may_space)


@kernel("int64(uint8[::1], int64, int64, uint32[::1], int64, uint8[::1], int64)", **NO_COUNTING)
def normalise_simple(data: Any, start: Any, end: Any, table: Any, flags: Any, out: Any, out_start: Any) -> Any:
    """Writes the normal form of ``data[start:end]`` at ``out_start``.

    Returns the end of what was written, or -1 when the text needs the general algorithm.
    """
    entry_index = int64(table[ENTRY_INDEX])
    entry_blocks = int64(table[ENTRY_BLOCKS])
    pool = int64(table[POOL])
    chinese_spaces = flags & FOLD_CHINESE_SPACES != 0
    punctuation = flags & FOLD_PUNCTUATION != 0
    o = out_start
    spaced = 0  # 1: a space may be written now, since the last character was kept and is no Chinese one
    i = start
    while i < end:
        c = data[i]
        if c < 0x80:
            i, o, spaced = normalise_ascii(data, i, end, table, out, o, spaced)
            continue
        space_before = spaced == 0 and o > out_start and out[o - 1] == 32
        if 0xE5 <= c <= 0xE9:  # U+5000–9FFF: Chinese, kept as they are
            o -= int64(chinese_spaces and space_before)
            out[o] = c
            out[o + 1] = data[i + 1]
            out[o + 2] = data[i + 2]
            o += 3
            i += 3
            spaced = int64(not chinese_spaces)
            continue
        size = 2 if c < 0xE0 else 3 if c < 0xF0 else 4
        cp = decode(data, i, size)
        i += size
        block = int64(table[entry_index + (cp >> 7)])
        entry = table[entry_blocks + (block << 7) + (cp & 127)]
        action = entry & 7
        if action == COMPLEX:
            return -1
        if action <= 1 or action == MAP_ONE or (action == SYMBOL and not punctuation):
            if action == MAP_ONE:
                cp = int64(entry >> 8)
            chinese = chinese_spaces and is_chinese(cp)
            o = put(out, o, cp, space_before, chinese)
            spaced = int64(not chinese)
        elif action == MAP_MANY:
            first = pool + int64(entry >> 12)
            for p in range(first, first + int64((entry >> 3) & 0x1FF)):
                cp = int64(table[p])
                kind = look_up(table, ENTRY_INDEX, cp) & 7
                if kind <= 1 or (kind == SYMBOL and not punctuation):
                    chinese = chinese_spaces and is_chinese(cp)
                    o = put(out, o, cp, spaced == 0 and o > out_start and out[o - 1] == 32, chinese)
                    spaced = int64(not chinese)
                elif spaced == 1:
                    out[o] = 32
                    o += 1
                    spaced = 0
        elif spaced == 1 and (action == 2 or action == SYMBOL):
            out[o] = 32
            o += 1
            spaced = 0
    if o > out_start and out[o - 1] == 32:
        o -= 1
    return o


@kernel("int64(int64, int64, uint64[::1], uint32[::1])", **NO_COUNTING)
def composite(first: Any, second: Any, pair_keys: Any, pair_values: Any) -> Any:
    """The primary composite of two code points, or 0."""
    if 0x1100 <= first < 0x1113 and 0x1161 <= second < 0x1176:
        return 0xAC00 + ((first - 0x1100) * 21 + second - 0x1161) * 28
    if 0xAC00 <= first < 0xD7A4 and (first - 0xAC00) % 28 == 0 and 0x11A7 < second < 0x11C3:
        return first + second - 0x11A7
    key = uint64(first) << uint64(32) | uint64(second)
    low = 0
    high = len(pair_keys)
    while low < high:
        middle = (low + high) >> 1
        if pair_keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    if low < len(pair_keys) and pair_keys[low] == key:
        return int64(pair_values[low])
    return 0


@kernel("int64(uint8[::1], int64, int64, uint32[::1], uint32[::1], uint8[::1])", **NO_COUNTING)
def decompose(data: Any, start: Any, end: Any, table: Any, points: Any, classes: Any) -> Any:
    """Folded and fully decomposed code points in canonical order, with their combining classes; returns how many."""
    n = 0
    i = start
    pool = int64(table[POOL])
    while i < end:
        c = data[i]
        size = 1 if c < 0x80 else 2 if c < 0xE0 else 3 if c < 0xF0 else 4
        cp = decode(data, i, size)
        i += size
        action = look_up(table, ENTRY_INDEX, cp) & 7
        if action == 3:
            continue
        packed = look_up(table, DECOMPOSED_INDEX, cp)
        if action == 2:
            cp = 32
        first = pool + int64(packed >> 8)
        for p in range(max(1, int64(packed & 0xFF))):
            one = cp if packed == 0 else int64(table[first + p])
            cls = uint8(look_up(table, COMBINING_INDEX, one))
            at = n
            if cls != 0:
                while at > 0 and classes[at - 1] > cls:
                    points[at] = points[at - 1]
                    classes[at] = classes[at - 1]
                    at -= 1
            points[at] = uint32(one)
            classes[at] = cls
            n += 1
    return n


@kernel(
    "int64(uint8[::1], int64, int64, uint32[::1], uint64[::1], uint32[::1], int64, uint32[::1], uint8[::1],"
    " uint8[::1], int64)",
    **NO_COUNTING,
)
def normalise_general(
    data: Any,
    start: Any,
    end: Any,
    table: Any,
    pair_keys: Any,
    pair_values: Any,
    flags: Any,
    points: Any,
    classes: Any,
    out: Any,
    out_start: Any,
) -> Any:
    """As :func:`normalise_simple`, for any text; ``points`` and ``classes`` have room for ``MAX_GROWTH`` a byte."""
    n = decompose(data, start, end, table, points, classes)
    m = 0
    starter = -1
    last_class = -1
    for i in range(n):
        cls = int64(classes[i])
        if starter >= 0 and last_class < cls:
            joined = composite(int64(points[starter]), int64(points[i]), pair_keys, pair_values)
            if joined != 0:
                points[starter] = uint32(joined)
                continue
        if cls == 0:
            starter = m
            last_class = -1
        else:
            last_class = cls
        points[m] = points[i]
        m += 1
    chinese_spaces = flags & FOLD_CHINESE_SPACES != 0
    punctuation = flags & FOLD_PUNCTUATION != 0
    o = out_start
    spaced = False
    for i in range(m):
        cp = int64(points[i])
        entry = look_up(table, ENTRY_INDEX, cp)
        action = entry & 7
        symbol = action == SYMBOL or action == 3 or (action == COMPLEX and entry & 8 == 0)
        if action == 2 or (punctuation and symbol):
            if spaced:
                out[o] = 32
                o += 1
                spaced = False
            continue
        chinese = chinese_spaces and is_chinese(cp)
        o = put(out, o, cp, (not spaced) and o > out_start and out[o - 1] == 32, chinese)
        spaced = not chinese
    if o > out_start and out[o - 1] == 32:
        o -= 1
    return o


@kernel(
    "void(uint8[::1], int64[::1], uint32[::1], uint64[::1], uint32[::1], int64, uint32[::1], uint8[::1], uint8[::1],"
    " int64[::1])",
    **NO_COUNTING,
)
def normalise_batch(
    data: Any,
    offsets: Any,
    table: Any,
    pair_keys: Any,
    pair_values: Any,
    flags: Any,
    points: Any,
    classes: Any,
    out: Any,
    out_offsets: Any,
) -> None:
    """Normal forms of several texts, one behind the other.

    Args:
        data: UTF-8 of all texts, each between ``offsets[i]`` and ``offsets[i + 1]``.
        flags: FOLD_PUNCTUATION | FOLD_CHINESE_SPACES.
        points, classes: Work space, at least ``MAX_GROWTH`` entries for each byte of the longest text, and 8.
        out: Where to write, at least ``MAX_GROWTH * len(data) + 8`` bytes.
        out_offsets: Filled with the bounds of each normal form in ``out``.
    """
    out_offsets[0] = 0
    for i in range(len(offsets) - 1):
        o = out_offsets[i]
        end = normalise_simple(data, offsets[i], offsets[i + 1], table, flags, out, o)
        if end < 0:
            end = normalise_general(
                data, offsets[i], offsets[i + 1], table, pair_keys, pair_values, flags, points, classes, out, o
            )
        out_offsets[i + 1] = end
