"""The survivors of all earlier runs in one SQLite file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType
from typing import Self

import numpy as np

from simhash_es.backends.sqlite_store.blocks import IntArray, append_rows, load_rows, scan_half
from simhash_es.backends.sqlite_store.database import Database, Mode, damaged
from simhash_es.backends.sqlite_store.rows import NewRows, StoredIdentity, StoredRows
from simhash_es.backends.sqlite_store.schema import PAGE_BYTES, check_profile, create, is_new, stored_profile
from simhash_es.backends.sqlite_store.search import Searcher
from simhash_es.backends.sqlite_store.texts import pack_text, unpack_text
from simhash_es.backends.sqlite_store.words import index_words
from simhash_es.core.bits import UInt64Array
from simhash_es.core.layout import Layout, Limits
from simhash_es.core.profile import Profile
from simhash_es.core.query_plan import Found
from simhash_es.errors import StoreError

WAIT_SECONDS = 2.0  # enough for a run that is just ending, too short to look like hanging
IDENTITIES_AT_ONCE = 10_000
IDENTITIES = "SELECT position, id, name, line FROM documents JOIN sources ON number = source"


class SeenStore:
    """An open store; use :meth:`open`.

    A store that is open for writing holds the write lock until it is committed or closed: a second run is refused.
    Nothing of what is added lasts before :meth:`commit`, and everything does after it, whenever the process or the
    machine stops. A store that is open for reading shows what was there when it was opened, whatever is written
    meanwhile.

    One thread at a time may use it.
    """

    def __init__(self, database: Database, profile: Profile, *, is_writing: bool) -> None:
        self.path = database.path
        self.profile = profile
        self.layout = Layout(profile.layout_widths)
        self._database = database
        self._is_writing = is_writing
        self._searcher: Searcher | None = None
        self._n_rows = int(database.value("SELECT coalesce(max(position) + 1, 0) FROM documents"))
        self._n_indexed = self._n_rows
        self._sources: dict[str, int] = {
            name: number for number, name in database.run("SELECT number, name FROM sources")
        }

    @classmethod
    def open(
        cls,
        path: str,
        profile: Profile | None = None,
        *,
        create: bool = True,
        write: bool = True,
        wait_seconds: float = WAIT_SECONDS,
    ) -> SeenStore:
        """Open a store.

        Args:
            path: The file.
            profile: How the caller makes fingerprints; ``None`` takes the stored one, which must be there.
            create: Make the store if there is none; needs ``write`` and a profile.
            write: Take the write lock.
            wait_seconds: How long to wait for it.

        Raises:
            ProfileMismatch: The stored fingerprints were made by another profile; the message names both settings.
            StoreError: No store, another kind of file, a damaged file, a newer layout, or in use by another run.
            InvalidOption: ``profile`` is ``None``, and a table that the stored profile names has changed.
        """
        makes = create and write and profile is not None
        mode = Mode.CREATE if makes else Mode.WRITE if write else Mode.READ
        database = Database(path, mode, wait_seconds=wait_seconds)
        try:
            return cls._opened(database, profile, makes=makes, write=write)
        except BaseException:  # whatever stops the opening must not leave the lock taken
            database.close()
            raise

    @classmethod
    def _opened(cls, database: Database, profile: Profile | None, *, makes: bool, write: bool) -> SeenStore:
        if write:
            begin_writing(database)
        else:
            database.run("BEGIN")
        if is_new(database):
            if not makes or profile is None:
                raise StoreError(
                    f"store {database.path} is empty: no run on it has come to its end yet",
                    "run 'dedup --store' with it first",
                )
            create_tables(database, profile)
        elif profile is not None:
            check_profile(database, profile)
        return cls(database, profile or stored_profile(database), is_writing=write)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __len__(self) -> int:
        """Rows, those just added included."""
        return self._n_rows

    def close(self) -> None:
        """Give back the lock; what was not committed is gone."""
        self._database.close()

    def add(self, rows: NewRows) -> None:
        """Add rows behind all others; best some thousand at a time.

        Raises:
            StoreError: The store is open for reading, was committed already, or cannot grow.
            InvalidOption: The fingerprints do not fit the profile.
        """
        self._check_writing()
        lanes = self.layout.rows(rows.lanes)
        first = self._n_rows
        positions = range(first, first + len(rows))
        numbers = self._source_numbers(rows.sources)
        self._database.run_many(
            "INSERT INTO documents VALUES (?, ?, ?, ?, ?)",
            zip(positions, rows.ids, numbers, rows.lines, rows.n_chars.tolist(), strict=True),
        )
        if rows.texts is not None:
            texts = zip(positions, rows.texts, strict=True)
            self._database.run_many(
                "INSERT INTO texts VALUES (?, ?)", ((at, pack_text(text)) for at, text in texts if text is not None)
            )
        added = StoredRows(lanes, rows.digests, rows.n_features.astype(np.int64))
        append_rows(self._database, self.layout, first, added)
        self._n_rows += len(rows)

    def commit(self) -> None:
        """Make everything added last. This ends the writing, and the lock is given back; the store can still be read.

        Raises:
            StoreError: The disk is full or the like; the store is as it was before.
        """
        self._check_writing()
        if self._n_rows > self._n_indexed:
            index_words(self._database, self.layout, self._n_indexed, self._n_rows)
            self._n_indexed = self._n_rows
            self._searcher = None
        self._database.run("COMMIT")
        self._is_writing = False

    def load(self) -> StoredRows:
        """Fingerprints and digests of all rows, in the order in which they were added.

        Raises:
            StoreError: The file is damaged.
        """
        return load_rows(self._database, self.layout, self._n_rows)

    def texts(self, positions: Sequence[int] | IntArray) -> list[bytes | None]:
        """Normal forms of some rows as UTF-8, in the order asked; ``None`` where none was kept."""
        wanted = [int(position) for position in positions]
        rows = self._database.run_in("SELECT position, text FROM texts WHERE position IN", unique(wanted))
        found = {position: unpack_text(self.path, text) for position, text in rows}
        return [found.get(position) for position in wanted]

    def identities(self, positions: Sequence[int] | IntArray) -> list[StoredIdentity]:
        """Ids and places of some rows, in the order asked.

        Raises:
            StoreError: There is no such row.
        """
        wanted = [int(position) for position in positions]
        rows = self._database.run_in(f"{IDENTITIES} WHERE position IN", unique(wanted))
        found = {position: StoredIdentity(bytes(token), name, line) for position, token, name, line in rows}
        try:
            return [found[position] for position in wanted]
        except KeyError as error:
            raise damaged(self.path, f"row {error} is missing") from error

    def scan(self) -> Iterator[tuple[int, UInt64Array]]:
        """Fingerprints of all rows in pieces of up to a million: position of the first, lanes ``(m, L)``."""
        halves = [self.scan_half(half) for half in range(self.layout.n_halves)]
        for pieces in zip(*halves, strict=True):
            yield pieces[0][0], np.concatenate([lanes for _, lanes in pieces], axis=1)

    def scan_half(self, half: int) -> Iterator[tuple[int, UInt64Array]]:
        """The same of one half only, ``(m, lanes of the half)``."""
        return scan_half(self._database, self.layout, half, self._n_rows)

    def all_identities(self) -> Iterator[StoredIdentity]:
        """Ids and places of all rows, in their order."""
        for first in range(0, self._n_rows, IDENTITIES_AT_ONCE):
            last = min(first + IDENTITIES_AT_ONCE, self._n_rows)
            rows = self._database.run(
                f"{IDENTITIES} WHERE position >= ? AND position < ? ORDER BY position", (first, last)
            )
            if len(rows) != last - first:
                raise damaged(self.path, f"of the rows {first:,} to {last - 1:,} there are {len(rows):,}")
            for _, token, name, line in rows:
                yield StoredIdentity(bytes(token), name, line)

    def search(self, query: UInt64Array, limits: Limits) -> Found:
        """All rows within the limits of one fingerprint, each exactly once.

        Rows added but not yet committed are not found. From the second search on, half A is held in memory if it is
        not larger than 64 MB.

        Args:
            query: ``(L,)`` lanes.
            limits: What to find.

        Raises:
            InvalidOption: Query or limits do not fit the profile.
            StoreError: The file is damaged.
        """
        limits.check(self.layout)
        lanes = self.layout.rows(query.reshape(1, -1))[0]
        if self._searcher is None:
            self._searcher = Searcher(self._database, self.layout, self._n_indexed)
        return self._searcher.search(lanes, limits)

    def _check_writing(self) -> None:
        if not self._is_writing:
            raise StoreError(
                f"store {self.path} is not open for writing", "open it with write=True; commit() ends the writing"
            )

    def _source_numbers(self, names: Iterable[str]) -> list[int]:
        known = self._sources
        return [known[name] if name in known else self._add_source(name) for name in names]

    def _add_source(self, name: str) -> int:
        printable = name.encode("utf-8", "backslashreplace").decode()  # names of files need not be UTF-8
        number = self._sources.get(printable)
        if number is None:
            number = int(self._database.value("SELECT coalesce(max(number) + 1, 0) FROM sources"))
            self._database.run("INSERT INTO sources VALUES (?, ?)", (number, printable))
        self._sources[name] = self._sources[printable] = number
        return number


def begin_writing(database: Database) -> None:
    """Take the write lock, and make sure that a stopped machine loses nothing that was committed."""
    database.run("PRAGMA synchronous = FULL")
    database.run("BEGIN IMMEDIATE")


def create_tables(database: Database, profile: Profile) -> None:
    """Turn an empty file into a store.

    The write-ahead log lets others read meanwhile; it can only be switched on between transactions.
    """
    database.run("ROLLBACK")
    database.run(f"PRAGMA page_size = {PAGE_BYTES}")
    database.run("PRAGMA journal_mode = WAL")
    begin_writing(database)
    if is_new(database):  # else another run was faster and has already ended
        create(database, profile)
    else:
        check_profile(database, profile)


def unique(positions: Sequence[int]) -> list[int]:
    """Each once, ascending."""
    return sorted(set(positions))
