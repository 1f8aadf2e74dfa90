"""A store gives back what was put in, in order, and belongs to one profile."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simhash_es.backends.sqlite_store import NewRows, SeenStore, StoredIdentity
from simhash_es.backends.sqlite_store.schema import BLOCK_ROWS
from simhash_es.backends.sqlite_store.texts import pack_text, unpack_text
from simhash_es.backends.sqlite_store.words import read_counts
from simhash_es.core.bits import UInt64Array
from simhash_es.core.presets import CHARACTERS, DEFAULT
from simhash_es.core.profile import Half, Profile
from simhash_es.errors import InvalidOption, ProfileMismatch, StoreError

EDGES = [0, 1, 0x7FFFFFFFFFFFFFFF, 0x8000000000000000, 0xFFFFFFFFFFFFFFFE, 0xFFFFFFFFFFFFFFFF, 0x0020000000000001]
WIDE = Profile(halves=(Half(4, 3),), width=128, vote=1)
THREE = Profile(halves=(Half(4, 3), Half(5, 5, 1), Half(3, 2, 0, 7)), vote=2)
NARROW = Profile(halves=(Half(4, 3),), width=20, vote=1)
PROFILES = {"two halves": DEFAULT, "one half": CHARACTERS, "128 bits": WIDE, "three halves": THREE, "20 bits": NARROW}

MakeRows = Callable[..., NewRows]


def random_lanes(profile: Profile, n: int, seed: int = 1) -> UInt64Array:
    lanes = np.random.default_rng(seed).integers(0, 1 << 64, (n, profile.n_lanes), np.uint64)
    return lanes >> np.uint64(max(0, 64 - profile.width))


def stored(path: str, profile: Profile = DEFAULT) -> tuple[UInt64Array, list[StoredIdentity], list[bytes | None]]:
    with SeenStore.open(path, profile, write=False) as store:
        everything = range(len(store))
        return store.load().lanes, store.identities(everything), store.texts(everything)


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
def test_round_trip_in_several_runs(place: str, make_rows: MakeRows, profile: Profile) -> None:
    """Rows of several runs come back in their order, whatever the sizes of runs and blocks."""
    sizes = [0, 1, BLOCK_ROWS - 1, BLOCK_ROWS, 3, 2 * BLOCK_ROWS + 7, 0, 5]
    lanes = random_lanes(profile, sum(sizes))
    first = 0
    for size in sizes:
        with SeenStore.open(place, profile) as store:
            assert len(store) == first
            store.add(make_rows(lanes[first : first + size], first=first))
            store.commit()
        first += size
    with SeenStore.open(place, profile, write=False) as store:
        rows, wanted = store.load(), make_rows(lanes)
        np.testing.assert_array_equal(rows.lanes, lanes)
        np.testing.assert_array_equal(rows.digests, wanted.digests)
        np.testing.assert_array_equal(rows.n_features, wanted.n_features)
        everything = range(len(store))
        assert store.texts(everything) == wanted.texts
        assert store.identities(everything) == [
            StoredIdentity(*row) for row in zip(wanted.ids, wanted.sources, wanted.lines, strict=True)
        ]
        assert list(store.all_identities()) == store.identities(everything)
        np.testing.assert_array_equal(np.concatenate([piece for _, piece in store.scan()]), lanes)
        np.testing.assert_array_equal(read_counts(store._database, store.layout).sum(axis=1), len(lanes))


def test_rows_added_in_one_run_are_readable_before_the_commit(place: str, make_rows: MakeRows) -> None:
    """A run sees its own rows."""
    lanes = random_lanes(DEFAULT, 700)
    with SeenStore.open(place, DEFAULT) as store:
        store.add(make_rows(lanes[:300]))
        store.add(make_rows(lanes[300:], first=300))
        np.testing.assert_array_equal(store.load().lanes, lanes)
        assert store.texts([699]) == [make_rows(lanes).texts[699]]  # type: ignore[index] # texts are given


def test_signs_and_zero_survive(place: str, make_rows: MakeRows) -> None:
    """Values at the sign bit, all ones and zero come back, and each is found as itself."""
    lanes = np.array([[a, b] for a in EDGES for b in EDGES], np.uint64)
    with SeenStore.open(place, DEFAULT) as store:
        store.add(make_rows(lanes))
        store.commit()
    assert stored(place)[0].tolist() == lanes.tolist()


def test_positions_may_be_asked_in_any_order_and_twice(place: str, make_rows: MakeRows) -> None:
    """Texts and identities come in the order of the question, also for more rows than one statement can name."""
    lanes = random_lanes(DEFAULT, 1500)
    asked = [*range(1499, -1, -1), 3, 3]
    with SeenStore.open(place, DEFAULT) as store:
        rows = make_rows(lanes)
        store.add(rows)
        assert store.texts(asked) == [rows.texts[i] for i in asked]  # type: ignore[index] # texts are given
        assert [identity.line for identity in store.identities(np.array(asked))] == [i + 1 for i in asked]
        assert store.texts([]) == []
        assert store.identities([]) == []
        with pytest.raises(StoreError, match="row 1500 is missing"):
            store.identities([1500])


def test_without_texts(place: str, make_rows: MakeRows) -> None:
    """A run may keep no text, or none for single rows."""
    lanes = random_lanes(DEFAULT, 2)
    with SeenStore.open(place, DEFAULT) as store:
        store.add(make_rows(lanes, texts=False))
        rows = make_rows(lanes, first=2)
        texts = [None, b""]
        store.add(NewRows(**{name: getattr(rows, name) for name in rows.__slots__} | {"texts": texts}))
        assert store.texts(range(4)) == [None, None, None, b""]


@given(st.text(st.characters(exclude_categories=("Cs",)), max_size=400))
def test_texts_are_packed_without_loss(text: str) -> None:
    """Any text comes back byte for byte, and never takes more room than before."""
    packed = pack_text(text.encode())
    assert unpack_text("here", packed) == text.encode()
    assert isinstance(packed, str) or len(packed) < len(text.encode())


def test_long_texts_are_compressed() -> None:
    """Ordinary text of some length takes clearly less room."""
    text = "the party complaining shall be known as the plaintiff and the adverse party as the defendant " * 4
    assert len(pack_text(text.encode())) < len(text) / 2


def test_names_of_sources_need_not_be_text(place: str, make_rows: MakeRows) -> None:
    """File names that are no UTF-8 are stored in a printable form, one entry for all rows."""
    lanes = random_lanes(DEFAULT, 4)
    with SeenStore.open(place, DEFAULT) as store:
        store.add(make_rows(lanes[:2], source="caf\udce9.txt"))
        store.add(make_rows(lanes[2:3], source="新闻.csv", first=2))
        store.commit()
    with SeenStore.open(place, DEFAULT) as store:
        store.add(make_rows(lanes[3:], source="other.csv", first=3))
        assert [identity.source for identity in store.identities(range(4))] == [
            *["caf\\udce9.txt"] * 2,
            "新闻.csv",
            "other.csv",
        ]


def test_another_profile_is_refused_with_both_settings_named(place: str, make_rows: MakeRows) -> None:
    """The message of a mismatch names the settings that differ, stored and current."""
    with SeenStore.open(place, DEFAULT) as store:
        store.add(make_rows(random_lanes(DEFAULT, 1)))
        store.commit()
    with pytest.raises(ProfileMismatch, match=r"tokenizer is 'chars' against 'words'") as caught:
        SeenStore.open(place, DEFAULT.with_options(tokenizer="words", ngram="4/3,5/5"))
    assert caught.value.expected == DEFAULT.digest
    assert caught.value.hint
    with SeenStore.open(place, DEFAULT):
        pass  # the refusal left no lock behind


def test_profile_is_read_from_the_store(place: str) -> None:
    """Who names no profile gets the stored one."""
    with SeenStore.open(place, THREE) as store:
        store.commit()
    with SeenStore.open(place, write=False) as store:
        assert store.profile == THREE
        assert store.layout.widths == (64, 64, 64)


def test_custom_profile_needs_its_functions_for_writing_only(place: str) -> None:
    """A store of a custom profile can be read without the functions."""
    profile = Profile.custom(name="letters-1", tokenizer=list)
    with SeenStore.open(place, profile) as store:
        store.commit()
    with SeenStore.open(place, write=False) as store:
        assert store.profile.digest == profile.digest


def test_second_writer_is_refused_and_readers_are_not(place: str, make_rows: MakeRows) -> None:
    """While one run writes, another one is told so, and readers see what was there before."""
    lanes = random_lanes(DEFAULT, 3)
    with SeenStore.open(place, DEFAULT) as store:
        store.add(make_rows(lanes[:2]))
        store.commit()
    with SeenStore.open(place, DEFAULT) as store:
        store.add(make_rows(lanes[2:], first=2))
        with pytest.raises(StoreError, match="in use by another run"):
            SeenStore.open(place, DEFAULT, wait_seconds=0.05)
        with SeenStore.open(place, DEFAULT, write=False) as reader:
            store.commit()
            assert len(reader) == 2
            np.testing.assert_array_equal(reader.load().lanes, lanes[:2])
    with SeenStore.open(place, DEFAULT, wait_seconds=0.05) as store:
        assert len(store) == 3


def test_two_first_runs(place: str) -> None:
    """Two runs that would both make the store: the second is refused, not mixed in."""
    with SeenStore.open(place, DEFAULT) as store:
        with pytest.raises(StoreError, match="in use by another run"):
            SeenStore.open(place, DEFAULT, wait_seconds=0.05)
        store.commit()
    with pytest.raises(ProfileMismatch):
        SeenStore.open(place, CHARACTERS)


def test_commit_ends_the_writing(place: str, make_rows: MakeRows) -> None:
    """After the commit nothing can be added, and another run may begin at once."""
    rows = make_rows(random_lanes(DEFAULT, 1))
    with SeenStore.open(place, DEFAULT) as store:
        store.add(rows)
        store.commit()
        with pytest.raises(StoreError, match="not open for writing"):
            store.add(rows)
        with SeenStore.open(place, DEFAULT, wait_seconds=0.05) as other:
            assert len(other) == 1
    with SeenStore.open(place, DEFAULT, write=False) as store, pytest.raises(StoreError, match="not open for writing"):
        store.commit()


def test_nothing_is_left_without_commit(place: str, make_rows: MakeRows) -> None:
    """A run that ends without commit leaves the store as it was, and an unfinished first run leaves an empty one."""
    with SeenStore.open(place, DEFAULT) as store:
        store.add(make_rows(random_lanes(DEFAULT, 600)))
    with pytest.raises(StoreError, match="no run on it has come to its end"):
        SeenStore.open(place, write=False)
    with SeenStore.open(place, CHARACTERS) as store:  # nothing was stored, so any profile may begin
        assert len(store) == 0


def test_reading_leaves_no_files_behind(place: str, make_rows: MakeRows) -> None:
    """After all are done there is one file."""
    with SeenStore.open(place, DEFAULT) as store:
        store.add(make_rows(random_lanes(DEFAULT, 10)))
        store.commit()
    stored(place)
    assert [path.name for path in Path(place).parent.iterdir()] == [Path(place).name]


def test_reader_cannot_change_anything(place: str) -> None:
    """A store open for reading refuses every statement that writes."""
    with SeenStore.open(place, DEFAULT) as store:
        store.commit()
    with SeenStore.open(place, write=False) as store, pytest.raises(StoreError, match="written"):
        store._database.run("DELETE FROM meta")


def test_rows_of_unequal_parts_are_refused(make_rows: MakeRows) -> None:
    """Every part needs one entry a row, and digests two numbers."""
    rows = make_rows(random_lanes(DEFAULT, 3))
    parts = {name: getattr(rows, name) for name in rows.__slots__}
    with pytest.raises(InvalidOption, match="differ in number"):
        NewRows(**parts | {"ids": [b"1"]})
    with pytest.raises(InvalidOption, match="digests of shape"):
        NewRows(**parts | {"digests": rows.digests[:, :1]})


def test_fingerprints_must_fit_the_profile(place: str, make_rows: MakeRows) -> None:
    """Too many lanes, or a value wider than its half, is refused and adds nothing."""
    with SeenStore.open(place, NARROW) as store:
        with pytest.raises(InvalidOption):
            store.add(make_rows(random_lanes(DEFAULT, 2)))
        with pytest.raises(InvalidOption, match="does not fit in the 20 bits"):
            store.add(make_rows(np.array([[1 << 20]], np.uint64)))
        assert len(store) == 0


def test_many_small_runs_keep_few_entries(place: str, make_rows: MakeRows) -> None:
    """Word entries of many runs are merged as the store grows, so that a look-up stays short."""
    n_runs = 40
    for run in range(n_runs):
        with SeenStore.open(place, DEFAULT) as store:
            store.add(make_rows(np.zeros((1, 2), np.uint64), first=run, texts=False))
            store.commit()
    connection = sqlite3.connect(place)
    (entries,) = connection.execute("SELECT count(*) FROM word_0 WHERE word = 0").fetchone()
    connection.close()
    assert entries <= n_runs / 2
