"""The rows of a run as columns: fingerprints, digests, ids and what the keep policy needs. Texts are on disk."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from simhash_es.backends.files.inputs import Inputs
from simhash_es.backends.files.rows import RowBatch
from simhash_es.backends.text_spool import TextSpool
from simhash_es.core.batch import FingerprintBatch, Fingerprinter, TextBlock, join_tokens, pack_texts
from simhash_es.core.bits import from_hex, hex_digits, to_lanes
from simhash_es.core.layout import Layout
from simhash_es.core.profile import Profile
from simhash_es.errors import BadRow, InvalidOption, SimhashEsError
from simhash_es.use_cases.talk import Advance

Item = TypeVar("Item", bound=np.generic)


class Column(Generic[Item]):
    """A NumPy array that grows at its end."""

    def __init__(self, dtype: type[Item], width: int = 0) -> None:
        shape: tuple[int, ...] = (1024, width) if width else (1024,)
        self._values: npt.NDArray[Item] = np.zeros(shape, dtype)
        self._n = 0

    def extend(self, values: npt.ArrayLike) -> None:
        """Append some values."""
        new = np.asarray(values, self._values.dtype)
        if self._n + len(new) > len(self._values):
            room = max(self._n + len(new), len(self._values) * 3 // 2)
            grown: npt.NDArray[Item] = np.zeros((room, *self._values.shape[1:]), self._values.dtype)
            grown[: self._n] = self._values[: self._n]
            self._values = grown
        self._values[self._n : self._n + len(new)] = new
        self._n += len(new)

    @property
    def values(self) -> npt.NDArray[Item]:
        """All values so far; a view."""
        return self._values[: self._n]


class Ids:
    """Ids as JSON tokens, in one buffer."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._ends = Column(np.int64)

    def __len__(self) -> int:
        return len(self._ends.values)

    def extend(self, tokens: Sequence[bytes]) -> None:
        """Append some ids."""
        start = len(self._data)
        self._data += b"".join(tokens)
        self._ends.extend(start + np.cumsum(np.fromiter(map(len, tokens), np.int64, len(tokens))))

    def __getitem__(self, row: int) -> bytes:
        ends = self._ends.values
        start = int(ends[row - 1]) if row else 0
        return bytes(self._data[start : int(ends[row])])

    def take(self, rows: npt.NDArray[np.int64]) -> list[bytes]:
        """The ids of some rows."""
        ends = self._ends.values
        starts = np.where(rows > 0, ends[rows - 1], 0)
        data = bytes(self._data)
        return [data[start:end] for start, end in zip(starts.tolist(), ends[rows].tolist(), strict=True)]

    def __iter__(self) -> Iterator[bytes]:
        start = 0
        for end in self._ends.values.tolist():
            yield bytes(self._data[start:end])
            start = end


@dataclass(slots=True)
class Corpus:
    """Rows 0 to n-1 in reading order.

    Attributes:
        lanes: ``(n, L)`` fingerprints.
        found: ``(n,)`` False where a row has none.
        n_features: ``(n,)`` features of the first half.
        n_chars: ``(n,)`` characters of the text as read.
        digests: ``(n, 2)`` content digest of the normal form; of the fingerprint where there is no text.
        ids: Ids as they came.
        values: Values of the keep policy's field; empty when it has none.
        has_values: Whether the keep policy has a field.
        normal: Normal forms on disk; ``None`` when no text is compared.
        tokens: Tokens joined by spaces on disk, for features of tokens; ``None`` otherwise.
    """

    lanes: Column[np.uint64]
    found: Column[np.bool_]
    n_features: Column[np.int64]
    n_chars: Column[np.int64]
    digests: Column[np.uint64]
    ids: Ids
    values: list[object]
    has_values: bool
    normal: TextSpool | None
    tokens: TextSpool | None

    @classmethod
    def empty(cls, layout: Layout, *, keeps_text: bool, keeps_tokens: bool, has_values: bool = False) -> Corpus:
        """A corpus without rows."""
        return cls(
            lanes=Column(np.uint64, layout.n_lanes),
            found=Column(np.bool_),
            n_features=Column(np.int64),
            n_chars=Column(np.int64),
            digests=Column(np.uint64, 2),
            ids=Ids(),
            values=[],
            has_values=has_values,
            normal=TextSpool() if keeps_text else None,
            tokens=TextSpool() if keeps_tokens else None,
        )

    def __len__(self) -> int:
        return len(self.ids)

    def close(self) -> None:
        """Give the space of the texts on disk back."""
        for spool in (self.normal, self.tokens):
            if spool is not None:
                spool.close()


@dataclass(frozen=True, slots=True)
class _Made:
    """One batch after its fingerprints are made."""

    rows: RowBatch
    prints: FingerprintBatch
    tokens: TextBlock | None


class CorpusReader:
    """Reads inputs into a corpus, making fingerprints on several threads.

    Args:
        profile: How fingerprints are made.
        token_profile: How tokens for verification are made; ``None`` when they are not wanted.
        ready_made: Read fingerprints of the profile's widths instead of making them.
        workers: Threads.
    """

    def __init__(
        self,
        profile: Profile,
        *,
        token_profile: Profile | None = None,
        ready_made: bool = False,
        workers: int = 1,
    ) -> None:
        self._fingerprinter = Fingerprinter(profile)
        self._token_profile = token_profile
        self._widths = profile.layout_widths if ready_made else None
        self._workers = workers

    def read(self, inputs: Inputs, corpus: Corpus, advance: Advance) -> None:
        """Append all rows of the inputs; ``advance`` is called with stored bytes read."""
        seen = 0
        for made in self._in_order(inputs):
            self._append(made, corpus)
            advance(inputs.bytes_read - seen)
            seen = inputs.bytes_read

    def _in_order(self, inputs: Inputs) -> Iterator[_Made]:
        """Batches in reading order; a few are worked on ahead."""
        with ThreadPoolExecutor(self._workers) as pool:
            ahead: deque[Future[_Made]] = deque()
            try:
                for rows in inputs.batches():
                    ahead.append(pool.submit(self._make, rows))
                    if len(ahead) > self._workers + 1:
                        yield ahead.popleft().result()
                while ahead:
                    yield ahead.popleft().result()
            finally:
                for future in ahead:
                    future.cancel()

    def _make(self, rows: RowBatch) -> _Made:
        if self._widths is not None:
            return _Made(rows, ready_made(rows, self._widths), None)
        prints = self._fingerprinter.batch(["" if text is None else text for text in rows.texts])
        # A profile without normal form has features of punctuation too; there is nothing in them to compare.
        prints = replace(prints, found=prints.found & (np.diff(prints.normal.offsets) > 0))
        tokens = None if self._token_profile is None else join_tokens(prints.normal, self._token_profile)
        return _Made(rows, prints, tokens)

    def _append(self, made: _Made, corpus: Corpus) -> None:
        rows, prints = made.rows, made.prints
        corpus.lanes.extend(prints.lanes)
        corpus.found.extend(prints.found)
        corpus.n_features.extend(prints.n_features)
        corpus.n_chars.extend([0 if text is None else len(text) for text in rows.texts])
        corpus.digests.extend(prints.digests)
        corpus.ids.extend(rows.ids)
        if corpus.has_values:
            corpus.values.extend([values[0] for values in rows.fields] or [None] * len(rows.ids))
        if corpus.normal is not None:
            corpus.normal.append(prints.normal)
        if corpus.tokens is not None:
            corpus.tokens.append(prints.normal if made.tokens is None else made.tokens)


def ready_made(rows: RowBatch, widths: tuple[int, ...]) -> FingerprintBatch:
    """Fingerprints from their text form; equal ones are the identical texts. An absent one is no fingerprint.

    Raises:
        BadRow: Not the text form of such a fingerprint.
    """
    n = len(rows.ids)
    lanes = [row_lanes(rows, i, widths) for i in range(n)]
    empty = (0,) * Layout(widths).n_lanes
    table = np.array([found or empty for found in lanes], np.uint64).reshape(n, len(empty))
    digests = np.zeros((n, 2), np.uint64)
    multiplier = np.uint64(0x9E3779B97F4A7C15)
    for lane in range(table.shape[1]):
        digests[:, lane % 2] = digests[:, lane % 2] * multiplier + table[:, lane]
    found = np.array([bool(one) for one in lanes], np.bool_)
    return FingerprintBatch(table, found, np.zeros(n, np.int64), pack_texts([b""] * n), digests)


def row_lanes(rows: RowBatch, i: int, widths: tuple[int, ...]) -> tuple[int, ...]:
    """Lanes of row ``i``; empty when it has no fingerprint."""
    text = rows.fingerprints[i]
    if text is None or text == "":
        return ()
    lanes: list[int] = []
    start = 0
    expected = sum(map(hex_digits, widths))
    try:
        if len(text) != expected:
            raise InvalidOption(f"{text!r} has {len(text)} characters")
        for width in widths:
            lanes += to_lanes(from_hex(text[start : start + hex_digits(width)], width), width)
            start += hex_digits(width)
    except SimhashEsError as error:
        raise BadRow(
            f"{rows.source}: line {rows.lines[i]}: the fingerprint {text!r} is not {expected} hexadecimal digits",
            "all fingerprints of a run have the same number of digits, leading zeros included",
            source=rows.source,
            line=rows.lines[i],
        ) from error
    return tuple(lanes)


def group_identical(digests: npt.NDArray[np.uint64], order: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """For each row of ``order`` the first one in that order with the same digest.

    Args:
        digests: ``(n, 2)``, by row number.
        order: Row numbers in visiting order.

    Returns:
        Row numbers, ``(len(order),)``.
    """
    keys = digests[order]
    by_key = np.lexsort((np.arange(len(order)), keys[:, 1], keys[:, 0]))
    ordered = keys[by_key]
    starts = np.ones(len(order), np.bool_)
    starts[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    first = by_key[np.maximum.accumulate(np.where(starts, np.arange(len(order)), 0))]
    result = np.empty(len(order), np.int64)
    result[by_key] = order[first]
    return result
