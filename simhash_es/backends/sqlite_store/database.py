"""One connection to an SQLite file whose every error is one of ours."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from enum import StrEnum
from pathlib import Path
from typing import Any

from simhash_es.errors import StoreError

IN_CHUNK = 500  # numbers in one IN list: SQLite before 3.32 takes at most 999 parameters
MAGIC = b"SQLite format 3\0"
BUSY = ("SQLITE_BUSY", "SQLITE_LOCKED")
REFUSED = ("SQLITE_CANTOPEN", "SQLITE_READONLY", "SQLITE_PERM", "SQLITE_AUTH")
DAMAGED = ("SQLITE_CORRUPT", "SQLITE_FORMAT", "SQLITE_MISMATCH")

Row = tuple[Any, ...]


class Mode(StrEnum):
    """How a file is opened, in the words of SQLite's file addresses."""

    READ = "ro"
    WRITE = "rw"
    CREATE = "rwc"


class Database:
    """A connection without automatic transactions.

    Args:
        path: The file.
        mode: How to open it.
        wait_seconds: How long to wait for a lock.

    Raises:
        StoreError: The file is missing, is no SQLite file, or cannot be opened.
    """

    def __init__(self, path: str, mode: Mode, *, wait_seconds: float) -> None:
        self.path = path
        check_file(path, mode)
        address = f"{Path(path).absolute().as_uri()}?{access(path, mode)}"
        with self._translated():
            # Threads may share the connection as long as they take turns; SQLite itself is built for it.
            self._connection = sqlite3.connect(
                address, uri=True, isolation_level=None, timeout=wait_seconds, check_same_thread=False
            )
            if mode is Mode.READ:
                self._connection.execute("PRAGMA query_only = TRUE")

    def run(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        """All rows of one statement."""
        with self._translated():
            return self._connection.execute(sql, parameters).fetchall()

    def value(self, sql: str, parameters: Sequence[Any] = ()) -> Any:
        """The only value of the only row; ``None`` where there is no row."""
        rows = self.run(sql, parameters)
        return rows[0][0] if rows else None

    def run_in(self, sql: str, numbers: Sequence[int]) -> Iterator[Row]:
        """Rows of a statement that ends in ``IN``, for any number of numbers."""
        for first in range(0, len(numbers), IN_CHUNK):
            chunk = numbers[first : first + IN_CHUNK]
            yield from self.run(f"{sql} ({','.join('?' * len(chunk))})", chunk)

    def run_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """One statement for many rows."""
        with self._translated():
            self._connection.executemany(sql, rows)

    def close(self) -> None:
        """Close; what was not committed is gone."""
        with suppress(sqlite3.Error):
            self._connection.close()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise translate(self.path, error) from error


def check_file(path: str, mode: Mode) -> None:
    """Refuse what cannot be a store, in plainer words than SQLite's.

    Raises:
        StoreError: A missing file, a folder, or a file of another kind.
    """
    place = Path(path)
    try:
        if not place.exists():
            if mode is not Mode.CREATE:
                raise StoreError(f"there is no store at {path}", "check the spelling; 'dedup --store' makes a store")
            if not place.absolute().parent.is_dir():
                raise StoreError(f"store {path}: its folder does not exist", "make the folder first")
            return
        if not place.is_file():
            raise StoreError(f"store {path} is not a file", "name a file, such as seen.sqlite")
        with place.open("rb") as stream:
            head = stream.read(len(MAGIC) + 2)
        size = place.stat().st_size
    except OSError as error:
        raise StoreError(
            f"store {path} cannot be read: {error.strerror or error}", "check the permissions of file and folder"
        ) from error
    if head and not head.startswith(MAGIC):
        raise StoreError(f"{path} is not a store: it is no SQLite file", "name a file that 'dedup --store' made")
    if size % page_bytes(head):
        raise damaged(path, "it is cut short")


def page_bytes(head: bytes) -> int:
    """Size of a page by the head of the file; SQLite itself overlooks a last page that is cut short.

    Source: SQLite database file format, section 1.3.2: two bytes at 16, big-endian, 1 stands for 65536.
    """
    size = int.from_bytes(head[len(MAGIC) :], "big")
    return 65536 if size == 1 else max(1, size)


def access(path: str, mode: Mode) -> str:
    """Parameters of the file's address.

    A reader opens the file for writing where it may: only then does SQLite remove the two files of its log again. Where
    nobody can write a log beside the file, and there is none, it is read as it lies there.
    """
    if mode is not Mode.READ:
        return f"mode={mode}"
    if os.access(Path(path).absolute().parent, os.W_OK):
        return "mode=rw" if os.access(path, os.W_OK) else "mode=ro"
    return "mode=ro" if Path(f"{path}-wal").exists() else "mode=ro&immutable=1"


def translate(path: str, error: sqlite3.Error) -> StoreError:
    """What an SQLite error means for a store."""
    name = getattr(error, "sqlite_errorname", "") or ""
    if name.startswith(BUSY):
        return StoreError(
            f"store {path} is in use by another run", "wait until that run has ended, then start this one again"
        )
    if name.startswith("SQLITE_NOTADB"):
        return StoreError(f"{path} is not a store, or it is damaged: {error}", "name a file that 'dedup --store' made")
    if name.startswith(DAMAGED):
        return damaged(path, str(error))
    if name.startswith("SQLITE_FULL"):
        return StoreError(
            f"store {path} cannot grow: {error}", "free space on that disk; the store is as it was before"
        )
    if name.startswith(REFUSED):
        return StoreError(f"store {path} cannot be opened or written: {error}", "check the permissions there")
    return StoreError(
        f"store {path}: {error} ({name or 'SQLite'})", "restore the file from a copy, or make a new store"
    )


def damaged(path: str, what: str) -> StoreError:
    """The error for a file that does not hang together."""
    return StoreError(
        f"store {path} is damaged: {what}",
        "restore it from a copy, or delete it and run over all sources again",
    )
