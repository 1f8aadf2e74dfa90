"""The store's part in a run: its rows come first, and the rows that survive are added at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simhash_es.use_cases.corpus import Corpus

if TYPE_CHECKING:
    from simhash_es.backends.sqlite_store import NewRows, SeenStore
    from simhash_es.use_cases.dedup.run import DedupRun

ROWS_AT_ONCE = 20_000


def load_stored(store: SeenStore, corpus: Corpus) -> int:
    """Put the rows of a store at the start of an empty corpus; their texts come when they are needed.

    Returns:
        Their number.
    """
    stored = store.load()
    n = len(stored)
    corpus.lanes.extend(stored.lanes)
    corpus.found.extend(np.ones(n, np.bool_))
    corpus.n_features.extend(stored.n_features)
    corpus.n_chars.extend(np.zeros(n, np.int64))
    corpus.digests.extend(stored.digests)
    corpus.ids.extend([b""] * n)
    if corpus.has_values:
        corpus.values.extend([None] * n)
    for spool in (corpus.normal, corpus.tokens):
        if spool is not None:
            spool.reserve(n)
    return n


def append_survivors(store: SeenStore, run: DedupRun) -> None:
    """Add the kept rows that have a fingerprint, then commit: from here on they are earlier survivors."""
    corpus = run.corpus
    kept = np.flatnonzero(run.decisions.kept) + run.n_older
    rows = kept[corpus.found.values[kept]]
    for start in range(0, len(rows), ROWS_AT_ONCE):
        store.add(new_rows(run, rows[start : start + ROWS_AT_ONCE]))
    store.commit()


def new_rows(run: DedupRun, rows: np.ndarray) -> NewRows:
    """Some rows of the corpus as the store takes them."""
    from simhash_es.backends.sqlite_store import NewRows

    corpus = run.corpus
    places = [run.inputs.source_of(int(row) - run.n_older) for row in rows]
    normal = None if run.shape.ready_made else corpus.normal
    return NewRows(
        lanes=np.ascontiguousarray(corpus.lanes.values[rows]),
        digests=np.ascontiguousarray(corpus.digests.values[rows]),
        n_features=corpus.n_features.values[rows],
        n_chars=corpus.n_chars.values[rows],
        ids=[corpus.ids[int(row)] for row in rows],
        sources=[source for source, _ in places],
        lines=[line for _, line in places],
        texts=None if normal is None else [normal.text(int(row)).encode() for row in rows],
    )
