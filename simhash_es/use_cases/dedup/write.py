"""Pairs, groups and removed rows as JSON lines or CSV."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Protocol

import numpy as np
import numpy.typing as npt
import orjson

from simhash_es.backends.files.inputs import Inputs
from simhash_es.backends.files.options import DataFormat
from simhash_es.use_cases.dedup.results import Decisions

SIMILARITY_DIGITS = 6
LINES_AT_ONCE = 4096


class Sink(Protocol):
    """Where bytes go."""

    def write(self, data: bytes) -> None:
        """Append bytes."""


class Names(Protocol):
    """How many rows are called."""

    def take(self, rows: npt.NDArray[np.int64]) -> list[bytes]:
        """JSON tokens of some rows."""


Name = Callable[[int], bytes]
"""Row number to the JSON token that stands for the row: its id, or ``"source:line"`` where ids repeat."""

Place = Callable[[int], str]
"""Row number to ``source:line``."""


def plain(token: bytes) -> str:
    """A JSON token as a CSV cell: strings without quotes, numbers as written."""
    return str(orjson.loads(token)) if token.startswith(b'"') else token.decode()


def rounded(similarity: float) -> float | None:
    """As it is reported: six digits, ``None`` where no text was compared."""
    return None if math.isnan(similarity) else round(float(similarity), SIMILARITY_DIGITS)


def measures(distances: Iterable[int], similarity: float) -> dict[str, float | int | None]:
    """The figures of a pair: distance of half A and of half B (``None`` without one), and similarity."""
    bits = [int(bit) for bit in distances]
    found: dict[str, float | int | None] = {
        "distance": bits[0],
        "check_distance": bits[1] if len(bits) > 1 else None,
        "similarity": rounded(similarity),
    }
    return found


def tails(decisions: Decisions, rows: npt.NDArray[np.int64]) -> list[bytes]:
    """The same for many removed rows, each as the end of a JSON object; written by hand, for speed."""
    found = []
    for bits, similarity in zip(decisions.distances[rows].tolist(), decisions.similarity[rows].tolist(), strict=True):
        check = b"%d" % bits[1] if len(bits) > 1 else b"null"
        shown = b"null" if math.isnan(similarity) else repr(round(similarity, SIMILARITY_DIGITS)).encode()
        found.append(b'"distance":%d,"check_distance":%b,"similarity":%b}' % (bits[0], check, shown))
    return found


class TableWriter:
    """Rows of one table, as JSON lines or CSV.

    Args:
        sink: Where they go.
        columns: Names, the first ``n_ids`` of which hold JSON tokens.
        n_ids: See ``columns``.
        as_csv: CSV with a header instead of JSON lines.
    """

    def __init__(self, sink: Sink, columns: tuple[str, ...], n_ids: int, *, as_csv: bool) -> None:
        self._sink = sink
        self._columns = columns
        self._n_ids = n_ids
        self._as_csv = as_csv
        self._lines: list[bytes] = []
        if as_csv:
            self._add_cells(list(columns))

    def add(self, tokens: tuple[bytes, ...], values: dict[str, object]) -> None:
        """One row: its ids and its other values by column."""
        if self._as_csv:
            self._add_cells([*map(plain, tokens), *("" if v is None else str(v) for v in values.values())])
        else:
            ids = b",".join(b'"%b":%b' % (c.encode(), t) for c, t in zip(self._columns, tokens, strict=False))
            rest = orjson.dumps(values)[1:]
            self._lines.append(b"{" + ids + (b"," if len(rest) > 1 else b"") + rest + b"\n")
        if len(self._lines) >= LINES_AT_ONCE:
            self.flush()

    def _add_cells(self, cells: list[str]) -> None:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerow(cells)
        self._lines.append(text.getvalue().encode())

    def flush(self) -> None:
        """Write what is waiting."""
        self._sink.write(b"".join(self._lines))
        self._lines.clear()


FIGURES = ("distance", "check_distance", "similarity")


class PairWriter(TableWriter):
    """Verified pairs: ``{"a": id, "b": id, "distance", "check_distance", "similarity"}``."""

    def __init__(self, sink: Sink, name: Name, *, as_csv: bool) -> None:
        super().__init__(sink, ("a", "b", *FIGURES), 2, as_csv=as_csv)
        self._name = name

    def pair(self, a: int, b: int, distances: Iterable[int], similarity: float) -> None:
        """One pair of row numbers."""
        self.add((self._name(a), self._name(b)), dict(measures(distances, similarity)))


def write_groups(sink: Sink, decisions: Decisions, names: Names, *, as_csv: bool) -> None:
    """Groups: ``{"kept": id, "members": [{"id", "distance", "check_distance", "similarity"}]}``."""
    rows = decisions.removed_by_keeper()
    keepers = decisions.keeper[rows]
    members, kept = names.take(rows), names.take(keepers)
    if as_csv:
        table = TableWriter(sink, ("kept", "id", *FIGURES), 2, as_csv=True)
        for row, name, keeper in zip(rows, members, kept, strict=True):
            table.add((keeper, name), dict(measures(decisions.distances[row], decisions.similarity[row])))
        table.flush()
        return
    parts = [b'{"id":%b,%b' % pair for pair in zip(members, tails(decisions, rows), strict=True)]
    starts = np.flatnonzero(np.diff(keepers, prepend=-1)).tolist()
    lines = [
        b'{"kept":%b,"members":[%b]}\n' % (kept[start], b",".join(parts[start:end]))
        for start, end in pairwise([*starts, len(parts)])
    ]
    sink.write(b"".join(lines))


def write_removed(sink: Sink, inputs: Inputs, decisions: Decisions, name: Name, place: Place, *, as_csv: bool) -> None:
    """Removed rows with the reason, in reading order; JSON lines carry the row itself under ``row``."""
    columns = ("id", "kept", "reason", "place", "kept_place", *FIGURES)
    table = TableWriter(sink, columns, 2, as_csv=as_csv)
    with_rows = not as_csv and {source.format for source in inputs.sources} != {DataFormat.TEXT}
    for ordinal, raw in removed_raws(inputs, decisions) if with_rows else removed_rows(decisions):
        row = ordinal + decisions.n_older
        keeper = int(decisions.keeper[row])
        values: dict[str, object] = {
            "reason": "exact copy" if decisions.is_exact(row) else "near-duplicate",
            "place": place(row),
            "kept_place": place(keeper),
            **measures(decisions.distances[row], decisions.similarity[row]),
        }
        if raw is not None:
            values["row"] = embedded(raw)
        table.add((name(row), name(keeper)), values)
    table.flush()


def removed_rows(decisions: Decisions) -> Iterator[tuple[int, None]]:
    """Ordinals of removed rows."""
    for ordinal in np.flatnonzero(~decisions.kept):
        yield int(ordinal), None


def removed_raws(inputs: Inputs, decisions: Decisions) -> Iterator[tuple[int, bytes | None]]:
    """Ordinals and UTF-8 bytes of removed rows; ``None`` for a document that is a file."""
    kept = decisions.kept
    for block in inputs.raw_blocks():
        is_document = inputs.sources[block.source].format is DataFormat.TEXT
        codec = inputs.encoding(block.source).of_rows
        for place in np.flatnonzero(~kept[block.first_row : block.first_row + len(block.raws)]):
            raw = None if is_document else block.raws[place].decode(codec, "replace").encode()
            yield block.first_row + int(place), raw


def embedded(raw: bytes) -> object:
    """A row inside a JSON object: itself when it is JSON, character by character, else its text."""
    stripped = raw.strip()
    try:
        orjson.loads(stripped)
    except orjson.JSONDecodeError:
        return raw.rstrip(b"\r\n").decode()
    # Strings in JSON hold no line break, so one that is there stands between two values.
    return orjson.Fragment(stripped.replace(b"\r", b" ").replace(b"\n", b" "))
