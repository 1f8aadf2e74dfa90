"""The store of earlier survivors: one SQLite file."""

from __future__ import annotations

from simhash_es.backends.sqlite_store.rows import NewRows, StoredIdentity, StoredRows
from simhash_es.backends.sqlite_store.store import SeenStore

__all__ = ["NewRows", "SeenStore", "StoredIdentity", "StoredRows"]
