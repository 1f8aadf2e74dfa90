"""One Roaring bitmap for each word value, in one file.

All numbers are little-endian; offsets count bytes from the start of the file. Word places are those of half A, the most
significant word first. Row numbers are positions in the store.

==========  =========================================================================================
header      ``SHESROAR``; uint32 version (1), word places W, halves H, bits of a half; uint64 rows n;
            16 bytes digest of the profile; uint64 offset of the values; W × uint64 offset of a place
place       uint64 number of word values m that occur; m × uint64 offset of the bitmap, and one more
            for the end of the last; m × uint32 rows that have the value; m × uint16 value, ascending
bitmaps     portable Roaring format, one after another, not aligned
values      uint64, at a multiple of 8: half A of all rows, then the other halves; ``(n, lanes of a half)`` each
==========  =========================================================================================

The values are part of the file since bitmaps only lead to candidates, whose bits have to be counted.
Source: Roaring bitmap format specification, https://github.com/RoaringBitmap/RoaringFormatSpec
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from typing import IO, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from simhash_es._optional import require
from simhash_es.backends.sqlite_store import SeenStore
from simhash_es.core.bits import UInt64Array
from simhash_es.core.bucket_search import word_values
from simhash_es.core.layout import Layout, Limits, distances, matches
from simhash_es.core.query_plan import CACHED_ROWS, Costs, Found, joined, neighbours, plan_query, rows_within, words_of
from simhash_es.core.radii import LEFT_OUT, N_VALUES, HalfPlan
from simhash_es.errors import StoreError

MAGIC = b"SHESROAR"
VERSION = 1
HEADER = struct.Struct("<8s4IQ16sQ")
PURPOSE = "The Roaring export"
HINT = "name a file that 'export --format roaring' made"

COSTS = Costs(word=50_000, candidate=60, block=0, block_rows=1, scanned=2.5, start=20_000)
"""As measured by ``benchmarks/store.py`` on files of a million rows."""


class Place(NamedTuple):
    """The table of one word place: word values, rows of each, where each bitmap begins and the last one ends."""

    values: npt.NDArray[np.uint16]
    n_rows: npt.NDArray[np.uint32]
    offsets: npt.NDArray[np.uint64]


def write_roaring(store: SeenStore, stream: IO[bytes]) -> None:
    """Write a store as described above.

    Half A of all rows is held in memory, and the bitmaps of one place at a time.

    Args:
        store: Open.
        stream: Binary, at its start, seekable.

    Raises:
        MissingExtra: pyroaring is not installed.
    """
    bitmap = require("pyroaring", "roaring", PURPOSE).BitMap
    layout = store.layout
    places = layout.words(0)
    stream.seek(HEADER.size + 8 * len(places))
    starts = []
    pieces = [lanes for _, lanes in store.scan_half(0)]
    lanes = np.concatenate([np.zeros((0, len(layout.lanes(0))), np.uint64), *pieces])
    for place in places:
        starts.append(stream.tell())
        write_place(stream, word_values(lanes, place), bitmap)
    stream.write(b"\0" * (-stream.tell() % 8))
    values_at = stream.tell()
    for half in range(layout.n_halves):
        for _, rows in store.scan_half(half):
            stream.write(np.ascontiguousarray(rows, "<u8").data)
    stream.seek(0)
    digest = bytes.fromhex(store.profile.digest)
    header = (MAGIC, VERSION, len(places), layout.n_halves, layout.widths[0], len(store), digest, values_at)
    stream.write(HEADER.pack(*header) + struct.pack(f"<{len(starts)}Q", *starts))
    stream.seek(0, 2)


def write_place(stream: IO[bytes], words: npt.NDArray[np.uint16], bitmap: Any) -> None:
    """One table and its bitmaps; ``words`` has the word of each row."""
    bitmaps = list(serialised(words, bitmap))
    values = np.array([value for value, _, _ in bitmaps], "<u2")
    n_rows = np.array([n for _, n, _ in bitmaps], "<u4")
    sizes = np.array([len(data) for _, _, data in bitmaps], np.uint64)
    begin = stream.tell() + 8 + 8 * (len(values) + 1) + n_rows.nbytes + values.nbytes
    offsets = begin + np.concatenate(([np.uint64(0)], np.cumsum(sizes)))
    stream.write(struct.pack("<Q", len(values)))
    for part in (offsets.astype("<u8"), n_rows, values):
        stream.write(part.data)
    for _, _, data in bitmaps:
        stream.write(data)


def serialised(words: npt.NDArray[np.uint16], bitmap: Any) -> Iterator[tuple[int, int, bytes]]:
    """Word value, number of its rows, bitmap of them, in ascending order of values."""
    order = np.argsort(words, kind="stable").astype(np.uint32)
    counts = np.bincount(words, minlength=N_VALUES)
    ends = np.cumsum(counts)
    for value in np.flatnonzero(counts).tolist():
        rows = bitmap(order[ends[value] - counts[value] : ends[value]])
        rows.run_optimize()
        yield value, int(counts[value]), rows.serialize()


class RoaringFile:
    """Exact search in a file that :func:`write_roaring` made, memory-mapped.

    Args:
        path: The file.

    Raises:
        StoreError: No such file, another kind or version, or cut short.
        MissingExtra: pyroaring is not installed.
    """

    def __init__(self, path: str) -> None:
        self._bitmap = require("pyroaring", "roaring", PURPOSE).BitMap
        self.path = path
        self._data = map_file(path)
        self._read_header()

    def _read_header(self) -> None:
        head = bytes(self._data[: HEADER.size])
        if len(head) < HEADER.size or not head.startswith(MAGIC):
            raise StoreError(f"{self.path} is no Roaring export", HINT)
        _, version, n_words, n_halves, width, self.n_rows, digest, self._values_at = HEADER.unpack(head)
        if version != VERSION:
            raise StoreError(
                f"{self.path} has version {version} of the Roaring export, this version reads {VERSION}",
                "use a newer version of simhash-es, or export again",
            )
        self.layout = Layout((width,) * n_halves)
        self.digest: str = digest.hex()
        expected = self._values_at + self.n_rows * self.layout.n_lanes * 8
        if len(self._data) != expected:
            raise self._damaged(f"{len(self._data):,} bytes, {expected:,} stated")
        try:
            starts = struct.unpack_from(f"<{n_words}Q", self._data, HEADER.size)
            self._places = [self._read_place(start) for start in starts]
        except (struct.error, ValueError) as error:
            raise self._damaged(str(error)) from error
        self._counts = np.zeros((n_words, N_VALUES), np.int64)
        for counts, place in zip(self._counts, self._places, strict=True):
            counts[place.values] = place.n_rows

    def _damaged(self, what: str) -> StoreError:
        return StoreError(f"{self.path} is damaged: {what}", "export the store again")

    def _read_place(self, start: int) -> Place:
        (m,) = struct.unpack_from("<Q", self._data, start)
        at = start + 8
        offsets = np.frombuffer(self._data, "<u8", m + 1, at)
        n_rows = np.frombuffer(self._data, "<u4", m, at + offsets.nbytes)
        values = np.frombuffer(self._data, "<u2", m, at + offsets.nbytes + n_rows.nbytes)
        return Place(values, n_rows, offsets)

    def __len__(self) -> int:
        return int(self.n_rows)

    def half(self, half: int) -> UInt64Array:
        """``(n, lanes of the half)`` values of all rows, memory-mapped."""
        columns = self.layout.lanes(half)
        shape = (self.n_rows, len(columns))
        at = self._values_at + columns.start * self.n_rows * 8
        return np.frombuffer(self._data, "<u8", shape[0] * shape[1], at).reshape(shape)

    def rows_with(self, place: int, word: int) -> Any:
        """The ``pyroaring.BitMap`` of the rows that have a word at a place; empty when there are none."""
        table = self._places[place]
        at = int(np.searchsorted(table.values, word))
        if at == len(table.values) or table.values[at] != word:
            return self._bitmap()
        return self._bitmap.deserialize(self._data[int(table.offsets[at]) : int(table.offsets[at + 1])])

    def search(self, query: UInt64Array, limits: Limits) -> Found:
        """All rows within the limits of one fingerprint, each exactly once.

        Args:
            query: ``(L,)`` lanes.
            limits: What to find. With fewer votes than halves everything is scanned.

        Raises:
            InvalidOption: Query or limits do not fit the file.
        """
        limits.check(self.layout)
        lanes = self.layout.rows(query.reshape(1, -1))[0]
        limit = limits.distances[0]
        words = words_of(lanes.tolist(), self.layout)
        if limits.vote < self.layout.n_halves:
            scan = HalfPlan(0, limit, None, float(len(self)), COSTS.scan(len(self)))
            ranges = [np.arange(at, min(at + CACHED_ROWS, len(self))) for at in range(0, len(self), CACHED_ROWS)]
            return joined([self._decide(lanes, limits, rows, scan) for rows in ranges], self.layout.n_halves, scan)
        plan = plan_query(words, self._counts, limit, len(self), COSTS)
        if plan.radii is None:
            half = self.half(0)
            near_rows = rows_within(half, lanes[: half.shape[1]], limit)
        else:
            near_rows = self._candidates(words, plan.radii)
        return self._decide(lanes, limits, near_rows, plan)

    def _candidates(self, words: list[int], radii: tuple[int, ...]) -> npt.NDArray[np.int64]:
        """Rows that share a word within its radius, ascending, each once."""
        found = self._bitmap()
        for place, (word, radius) in enumerate(zip(words, radii, strict=True)):
            if radius > LEFT_OUT:
                found |= self._bitmap.union(*(self.rows_with(place, w) for w in neighbours(word, radius).tolist()))
        return np.array(found.to_array(), np.int64)

    def _decide(self, query: UInt64Array, limits: Limits, rows: npt.NDArray[np.int64], plan: HalfPlan) -> Found:
        """Count the bits of every half of the rows that are left."""
        lanes = np.concatenate([self.half(half)[rows] for half in range(self.layout.n_halves)], axis=1)
        bits = distances(lanes, query[None, :], self.layout)
        chosen = np.flatnonzero(matches(bits, limits))
        return Found(rows[chosen], bits[chosen], plan)


def map_file(path: str) -> mmap.mmap:
    """A file as bytes, memory-mapped.

    Raises:
        StoreError: It cannot be opened, or is empty.
    """
    try:
        with open(path, "rb") as stream:
            return mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        raise StoreError(f"{path} cannot be read: {error}", HINT) from error
