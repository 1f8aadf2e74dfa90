"""Layout 1 of a store: tables, marks, and who may open it.

The bulk that every run reads lies in columns, ``BLOCK_ROWS`` rows a record, little-endian; only what is looked up row
by row has rows of its own. Positions count from 0 in the order of adding, so row ``p`` stands in block
``p // BLOCK_ROWS`` at ``p % BLOCK_ROWS``; every block but the last is full.

================  ====================================================================================================
``meta``          ``key``, ``value``: ``digest``, ``profile``, ``settings`` (JSON), ``version`` of the package, and
                  ``word_counts`` (zlib of uint32, words × 65536: how many rows have each word value), ``merged_rows``
                  (how many rows from position 0 on have only one entry a word in the word tables)
``sources``       ``number``, ``name``
``documents``     ``position``, ``id`` (JSON token), ``source``, ``line``, ``n_chars``
``texts``         ``position``, ``text``: normal form, TEXT as it is or BLOB compressed by zlib, whichever is shorter
``half_0`` …      ``number`` of the block, ``lanes``: uint64, one table a half
``contents``      ``number`` of the block, ``digests``: uint64 × 2, ``n_features``: uint32
``word_0`` …      the 16-bit words of the first half, most significant first: ``word``, ``start``, ``positions``
                  (uint32, ascending) of the rows with this word that came in one run, from ``start`` on
================  ====================================================================================================
"""

from __future__ import annotations

import json

from simhash_es._version import __version__
from simhash_es.backends.sqlite_store.database import Database, damaged
from simhash_es.core.layout import Layout
from simhash_es.core.profile import Profile
from simhash_es.core.profile_json import difference
from simhash_es.errors import InvalidOption, ProfileMismatch, StoreError

APPLICATION_ID = 0x53484553  # "SHES"
LAYOUT_VERSION = 1
BLOCK_ROWS = 500
"""Rows of a block: 4,000 bytes of a 64-bit half, which fit into one page of SQLite together with its head."""

PAGE_BYTES = 4096


def is_new(database: Database) -> bool:
    """Whether the file holds nothing at all: just made, or left by a first run that was stopped.

    Raises:
        StoreError: It is an SQLite file of something else, or of a newer layout.
    """
    application = database.value("PRAGMA application_id")
    is_empty = database.value("SELECT count(*) FROM sqlite_master") == 0
    if is_empty and application in (0, APPLICATION_ID):
        return True
    if application != APPLICATION_ID:
        raise StoreError(
            f"{database.path} is an SQLite file, but not a store of simhash-es", "name a file that 'dedup --store' made"
        )
    version = database.value("PRAGMA user_version")
    if version != LAYOUT_VERSION:
        raise StoreError(
            f"store {database.path} has layout {version}, this version of simhash-es reads layout {LAYOUT_VERSION}",
            "use the version of simhash-es that wrote it, or a newer one",
        )
    return False


def create(database: Database, profile: Profile) -> None:
    """Make all tables, within the transaction at hand."""
    layout = Layout(profile.layout_widths)
    database.run(f"PRAGMA application_id = {APPLICATION_ID}")
    database.run(f"PRAGMA user_version = {LAYOUT_VERSION}")
    database.run("CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID")
    database.run("CREATE TABLE sources (number INTEGER PRIMARY KEY, name TEXT NOT NULL)")
    database.run(
        "CREATE TABLE documents (position INTEGER PRIMARY KEY, id BLOB NOT NULL, source INTEGER NOT NULL,"
        " line INTEGER NOT NULL, n_chars INTEGER NOT NULL)"
    )
    database.run("CREATE TABLE texts (position INTEGER PRIMARY KEY, text NOT NULL)")
    for half in range(layout.n_halves):
        database.run(f"CREATE TABLE half_{half} (number INTEGER PRIMARY KEY, lanes BLOB NOT NULL)")
    database.run("CREATE TABLE contents (number INTEGER PRIMARY KEY, digests BLOB NOT NULL, n_features BLOB NOT NULL)")
    for place in range(len(layout.words(0))):
        database.run(
            f"CREATE TABLE word_{place} (word INTEGER, start INTEGER, positions BLOB NOT NULL,"
            " PRIMARY KEY (word, start)) WITHOUT ROWID"
        )
    entries = {
        "digest": profile.digest,
        "profile": json.dumps(profile.to_dict(), ensure_ascii=False),
        "settings": json.dumps(profile.settings(), ensure_ascii=False),
        "version": __version__,
    }
    database.run_many("INSERT INTO meta VALUES (?, ?)", entries.items())


def read_meta(database: Database, key: str) -> str:
    """One entry that every store has.

    Raises:
        StoreError: It is not there.
    """
    value = database.value("SELECT value FROM meta WHERE key = ?", (key,))
    if not isinstance(value, str):
        raise damaged(database.path, f"the entry {key!r} is missing")
    return value


def stored_profile(database: Database) -> Profile:
    """The profile that made the fingerprints; functions of a custom profile are not there.

    Raises:
        StoreError: The entry cannot be read.
        InvalidOption: A table or dictionary that the profile names has changed or is gone.
    """
    try:
        return Profile.from_dict(json.loads(read_meta(database, "profile")))
    except InvalidOption as error:
        raise InvalidOption(f"the profile of store {database.path}: {error.message}", error.hint) from error
    except ValueError as error:
        raise damaged(database.path, f"its profile is no JSON ({error})") from error


def check_profile(database: Database, profile: Profile) -> None:
    """Refuse another profile than the stored one.

    Raises:
        ProfileMismatch: The digests differ; the message names both settings.
        StoreError: The stored one cannot be read.
    """
    digest = read_meta(database, "digest")
    if digest == profile.digest:
        return
    try:
        differs = difference(json.loads(read_meta(database, "settings")), profile)
    except ValueError as error:
        raise damaged(database.path, f"its settings are no JSON ({error})") from error
    raise ProfileMismatch(
        f"store {database.path} was made with another profile (stored against current): {differs}",
        "use the profile of the store, or begin a new store for this one",
        expected=digest,
        found=profile.digest,
    )
