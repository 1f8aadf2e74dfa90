"""What is not a whole store of this layout is refused with words, never half read."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from simhash_es.backends.sqlite_store import NewRows, SeenStore
from simhash_es.core.layout import Limits
from simhash_es.core.presets import CHARACTERS, DEFAULT
from simhash_es.core.profile import Profile
from simhash_es.errors import SimhashEsError, StoreError


@pytest.fixture
def filled(place: str, make_rows: Callable[..., NewRows]) -> str:
    """A store of 3,000 rows."""
    lanes = np.random.default_rng(1).integers(0, 1 << 64, (3000, 2), np.uint64)
    with SeenStore.open(place, DEFAULT) as store:
        store.add(make_rows(lanes))
        store.commit()
    return place


def change(path: str, *statements: str) -> None:
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def read_all(path: str, profile: Profile | None = None) -> None:
    with SeenStore.open(path, profile, write=False) as store:
        store.load()
        store.texts(range(len(store)))
        store.identities(range(len(store)))
        assert list(store.all_identities()) == store.identities(range(len(store)))
        store.search(np.zeros(2, np.uint64), Limits((3, 3)))


def test_missing_store(place: str) -> None:
    """A reader, and a writer that may not make one, say that there is no store."""
    with pytest.raises(StoreError, match="there is no store") as caught:
        SeenStore.open(place, write=False)
    assert caught.value.hint
    with pytest.raises(StoreError, match="there is no store"):
        SeenStore.open(place, DEFAULT, create=False)
    assert not Path(place).exists()


def test_missing_folder_and_folder_as_file(tmp_path: Path) -> None:
    """A store in no folder, or a folder as a store, is refused."""
    with pytest.raises(StoreError, match="folder does not exist"):
        SeenStore.open(str(tmp_path / "none" / "seen.sqlite"), DEFAULT)
    with pytest.raises(StoreError, match="is not a file"):
        SeenStore.open(str(tmp_path), DEFAULT)


def test_other_files_are_refused_and_not_changed(place: str) -> None:
    """A text file and an SQLite file of another program stay as they are, byte for byte."""
    Path(place).write_text("id,text\n1,hello\n" * 100)
    other = f"{place}.other"
    change(other, "CREATE TABLE documents (position INTEGER)", "INSERT INTO documents VALUES (1)")
    before = Path(other).read_bytes()
    for path, words in ((place, "no SQLite file"), (other, "not a store of simhash-es")):
        for write in (True, False):
            with pytest.raises(StoreError, match=words):
                SeenStore.open(path, DEFAULT, write=write)
    assert Path(other).read_bytes() == before
    assert Path(place).read_text().startswith("id,text")


def test_empty_file_becomes_a_store(place: str) -> None:
    """An empty file, as ``touch`` or ``mktemp`` make it, may be given for a new store; nothing can be read."""
    Path(place).touch()
    with pytest.raises(StoreError, match="is empty"):
        SeenStore.open(place, write=False)
    with SeenStore.open(place, DEFAULT) as store:
        store.commit()
    with SeenStore.open(place, write=False) as store:
        assert len(store) == 0
        assert store.load().lanes.shape == (0, 2)


def test_newer_layout_is_refused(filled: str) -> None:
    """A layout of a later version is not read."""
    change(filled, "PRAGMA user_version = 2")
    with pytest.raises(StoreError, match="has layout 2, this version of simhash-es reads layout 1"):
        SeenStore.open(filled, DEFAULT)


@pytest.mark.parametrize("share", [0.0001, 0.001, 0.02, 0.5, 0.99, 0.9999])
def test_truncated_file_is_refused(filled: str, share: float) -> None:
    """A file cut short anywhere is refused at once, by writers and readers."""
    os.truncate(filled, max(1, int(os.path.getsize(filled) * share)))
    with pytest.raises(StoreError) as caught:
        SeenStore.open(filled, DEFAULT)
    assert caught.value.hint
    with pytest.raises(StoreError):
        read_all(filled)


def test_overwritten_pages_never_escape_as_other_errors(filled: str) -> None:
    """Pages overwritten with noise lead to one of our errors or are not noticed, never to a foreign exception."""
    size = os.path.getsize(filled)
    noise = np.random.default_rng(2)
    noticed: list[SimhashEsError] = []
    whole = Path(filled).read_bytes()
    for page in range(1, size // 4096, 7):
        damaged = bytearray(whole)
        damaged[page * 4096 : page * 4096 + 512] = noise.bytes(512)
        Path(filled).write_bytes(damaged)
        try:
            read_all(filled)
        except SimhashEsError as error:
            noticed.append(error)
    assert noticed
    assert all(error.hint for error in noticed)


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM half_0 WHERE number = 2",
        "UPDATE half_1 SET lanes = x'00' WHERE number = 1",
        "UPDATE contents SET n_features = substr(n_features, 2) WHERE number = 0",
        "DELETE FROM contents WHERE number = 5",
        "DELETE FROM meta WHERE key = 'digest'",
        "UPDATE meta SET value = x'00' WHERE key = 'word_counts'",
        "UPDATE texts SET text = x'0001' WHERE position = 39",
        "UPDATE texts SET text = 5 WHERE position = 7",
        "DELETE FROM documents WHERE position = 4",
        "DELETE FROM sources",
        "DROP TABLE half_0",
    ],
)
def test_inconsistent_contents_are_refused(filled: str, statement: str) -> None:
    """A file that is whole for SQLite but lacks something is refused as soon as that is read."""
    change(filled, statement)
    with pytest.raises(StoreError) as caught:
        read_all(filled, DEFAULT)
    assert caught.value.hint


@pytest.mark.parametrize(("key", "profile"), [("profile", None), ("settings", CHARACTERS)])
def test_broken_settings_are_refused(filled: str, key: str, profile: Profile | None) -> None:
    """A profile that cannot be read is damage, not a profile."""
    change(filled, f"UPDATE meta SET value = '{{' WHERE key = '{key}'")
    with pytest.raises(StoreError, match="no JSON"):
        read_all(filled, profile)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_store_in_a_folder_without_write_permission_can_be_read(filled: str) -> None:
    """Reading needs no permission to write."""
    folder = Path(filled).parent
    folder.chmod(0o555)
    try:
        read_all(filled)
        with pytest.raises(StoreError, match="cannot be opened or written"):
            SeenStore.open(filled, DEFAULT)
    finally:
        folder.chmod(0o755)
