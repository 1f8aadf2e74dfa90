"""How rows are called in the outputs, older rows included."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import mmh3
import numpy as np
import numpy.typing as npt
import orjson

from simhash_es.backends.files.inputs import Inputs
from simhash_es.use_cases.corpus import Corpus

if TYPE_CHECKING:
    from simhash_es.backends.sqlite_store import SeenStore


class RowNames:
    """Ids and places of the rows of a run: first those of the store, then the older corpus, then the inputs.

    Args:
        corpus: All rows but those of the store have their ids there.
        store: Rows 0 to ``n_stored - 1``; ``None`` without a store.
        n_stored: Rows of the store.
        against: The older corpus; ``None`` without one.
        inputs: The new rows.
    """

    def __init__(
        self, corpus: Corpus, store: SeenStore | None, n_stored: int, against: Inputs | None, inputs: Inputs
    ) -> None:
        self._corpus = corpus
        self._store = store
        self._n_stored = n_stored
        self._against = against
        self._n_older = len(corpus) - inputs.n_rows
        self._inputs = inputs

    def name(self, row: int) -> bytes:
        """JSON token: the id as it came, or ``"source:line"`` where several rows have that id."""
        if row < self._n_stored:
            return self._stored(row)[0]
        if self._repeated_rows[row]:
            return orjson.dumps(self.place(row))
        return self._corpus.ids[row]

    def take(self, rows: npt.NDArray[np.int64]) -> list[bytes]:
        """Names of many rows, as :meth:`name` gives them."""
        names = self._corpus.ids.take(rows)
        special = np.flatnonzero((rows < self._n_stored) | self._repeated_rows[rows])
        for place in special.tolist():
            names[place] = self.name(int(rows[place]))
        return names

    def place(self, row: int) -> str:
        """``source:line``."""
        if row < self._n_stored:
            _, source, line = self._stored(row)
        elif row < self._n_older and self._against is not None:
            source, line = self._against.source_of(row - self._n_stored)
        else:
            source, line = self._inputs.source_of(row - self._n_older)
        return f"{source}:{line}"

    def text(self, rows: list[int]) -> dict[int, str]:
        """Texts as they were read; of the store's rows the normal form."""
        found: dict[int, str] = {}
        stored = [row for row in rows if row < self._n_stored]
        if stored and self._store is not None:
            texts = self._store.texts(np.array(stored, np.int64))
            found.update((row, "" if t is None else t.decode()) for row, t in zip(stored, texts, strict=True))
        for inputs, first, last in (
            (self._against, self._n_stored, self._n_older),
            (self._inputs, self._n_older, len(self._corpus)),
        ):
            here = [row - first for row in rows if first <= row < last]
            if here and inputs is not None:
                found.update((row + first, text) for row, text in inputs.texts(here).items())
        return found

    def _stored(self, row: int) -> tuple[bytes, str, int]:
        assert self._store is not None
        return self._store.identities(np.array([row], np.int64))[0]

    @cached_property
    def _repeated_rows(self) -> npt.NDArray[np.bool_]:
        """Which rows have an id that another one has too."""
        ids = self._corpus.ids
        keys = np.fromiter((mmh3.hash64(token, signed=False)[0] for token in ids), np.uint64, len(ids))
        _, back, counts = np.unique(keys, return_inverse=True, return_counts=True)
        repeated: npt.NDArray[np.bool_] = counts[back] > 1
        return repeated
