"""Search in a store finds exactly what counting the bits of every row finds."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from store_rows import rows_of

from simhash_es.backends.sqlite_store import NewRows, SeenStore
from simhash_es.backends.sqlite_store import search as search_module
from simhash_es.core.bits import UInt64Array
from simhash_es.core.layout import Limits, distances, matches
from simhash_es.core.presets import CHARACTERS, DEFAULT
from simhash_es.core.profile import Half, Profile
from simhash_es.errors import InvalidOption, StoreError

WIDE = Profile(halves=(Half(4, 3),), width=128, vote=1)
THREE = Profile(halves=(Half(4, 3), Half(5, 5, 1), Half(3, 2, 0, 7)), vote=2)
NARROW = Profile(halves=(Half(4, 3), Half(5, 5, 1)), width=20, vote=2)
PROFILES = [DEFAULT, CHARACTERS, WIDE, THREE, NARROW]
WORDS_ONLY = replace(search_module.COSTS, start=1e15)  # no scan is ever cheaper
SCAN_ONLY = replace(search_module.COSTS, word=1e15)

MakeRows = Callable[..., NewRows]


def clustered(profile: Profile, n: int, seed: int) -> UInt64Array:
    """Random values, half of them a few bits from an earlier one, with 0 and all ones among them."""
    random = np.random.default_rng(seed)
    mask = np.uint64((1 << min(64, profile.width)) - 1)
    lanes = random.integers(0, 1 << 64, (n, profile.n_lanes), np.uint64) & mask
    lanes[0], lanes[1] = 0, mask
    for row in range(2, n, 2):
        flips = np.zeros(profile.n_lanes, np.uint64)
        for bit in random.integers(0, min(64, profile.width), random.integers(0, 14)):
            flips[random.integers(profile.n_lanes)] ^= np.uint64(1) << np.uint64(bit)
        lanes[row] = lanes[random.integers(row)] ^ flips
    return lanes


def brute_force(lanes: UInt64Array, query: UInt64Array, limits: Limits, store: SeenStore) -> list[list[int]]:
    found = distances(lanes, query[None, :], store.layout)
    chosen = np.flatnonzero(matches(found, limits))
    return [[int(row), *found[row].tolist()] for row in chosen]


def searched(store: SeenStore, query: UInt64Array, limits: Limits) -> list[list[int]]:
    found = store.search(query, limits)
    assert found.plan.is_complete()
    return [[int(row), *bits] for row, bits in zip(found.positions, found.distances.tolist(), strict=True)]


@settings(max_examples=60)
@given(st.data())
def test_search_equals_counting_all_bits(data: st.DataObject) -> None:
    """For every layout, limit, number of votes and number of runs, by words and by scan."""
    profile = data.draw(st.sampled_from(PROFILES))
    n = data.draw(st.integers(2, 1200))
    n_first = data.draw(st.integers(0, n))
    lanes = clustered(profile, n, data.draw(st.integers(0, 1 << 20)))
    n_halves = len(profile.halves)
    limit = st.integers(0, min(profile.width, 40))
    limits = Limits(tuple(data.draw(limit) for _ in range(n_halves)), data.draw(st.integers(1, n_halves)))
    query = lanes[data.draw(st.integers(0, n - 1))]
    with TemporaryDirectory() as folder:
        path = str(Path(folder) / "seen.sqlite")
        for first, last in ((0, n_first), (n_first, n)):
            with SeenStore.open(path, profile) as store:
                store.add(rows_of(lanes[first:last], first=first, texts=False))
                store.commit()
        with SeenStore.open(path, write=False) as store:
            expected = brute_force(lanes, query, limits, store)
            for costs in (search_module.COSTS, WORDS_ONLY, SCAN_ONLY):
                with pytest.MonkeyPatch.context() as patch:
                    patch.setattr(search_module, "COSTS", costs)
                    patch.setattr(search_module, "HELD_COSTS", costs)
                    patch.setattr(search_module, "HELD_BYTES", data.draw(st.sampled_from([0, 1 << 20])))
                    store._searcher = None
                    for _ in range(3):  # half A is held from the second search on
                        assert searched(store, query, limits) == expected


def test_words_are_used_where_they_are_cheaper(place: str, make_rows: MakeRows) -> None:
    """Near limits go by words, wide ones by a scan, and a hot word is left out where the others are enough."""
    lanes = np.random.default_rng(3).integers(0, 1 << 64, (60_000, 2), np.uint64)
    lanes[:50_000, 0] &= np.uint64(0x0000FFFFFFFFFFFF)
    with SeenStore.open(place, DEFAULT) as store:
        store.add(make_rows(lanes, texts=False))
        store.commit()
        near = store.search(lanes[0], Limits((2, 64)))
        assert near.plan.radii == (-1, 0, 0, 0)
        assert near.plan.candidates < 100
        assert 0 in near.positions
        assert store.search(lanes[0], Limits((20, 64))).plan.is_scan
        assert store.search(lanes[0], Limits((2, 64), vote=1)).plan.is_scan


def test_empty_store_has_nothing_near(place: str) -> None:
    """A search in an empty store finds nothing."""
    with SeenStore.open(place, DEFAULT) as store:
        store.commit()
        for limit in (0, 3, 64):
            found = store.search(np.zeros(2, np.uint64), Limits((limit, 64)))
            assert found.positions.tolist() == []
            assert found.distances.shape == (0, 2)


def test_counts_are_read_anew_after_a_commit(place: str, make_rows: MakeRows) -> None:
    """Rows are found as soon as they are committed, also when the store was searched before."""
    value = np.array([[5, 6]], np.uint64)
    with SeenStore.open(place, DEFAULT) as store:
        assert len(store.search(value[0], Limits((0, 0))).positions) == 0
        store.add(make_rows(value))
        store.commit()
        assert store.search(value[0], Limits((0, 0))).positions.tolist() == [0]


def test_rows_of_the_next_run_are_found_by_a_new_reader_only(place: str, make_rows: MakeRows) -> None:
    """A reader searches what was there when it was opened, also with half A held in memory."""
    value = np.array([[5, 6]], np.uint64)
    for first in (0, 1):
        with SeenStore.open(place, DEFAULT) as store:
            store.add(make_rows(value, first=first))
            if first == 0:
                store.commit()
                continue
            with SeenStore.open(place, write=False) as reader:
                assert len(reader.search(value[0], Limits((0, 0))).positions) == 1
                store.commit()
                for _ in range(3):
                    assert len(reader.search(value[0], Limits((0, 0))).positions) == 1
    with SeenStore.open(place, write=False) as reader:
        assert reader.search(value[0], Limits((0, 0))).positions.tolist() == [0, 1]


def test_query_and_limits_must_fit(place: str) -> None:
    """Another number of lanes or halves is refused."""
    with SeenStore.open(place, DEFAULT) as store:
        with pytest.raises(InvalidOption):
            store.search(np.zeros(1, np.uint64), Limits((3, 3)))
        with pytest.raises(InvalidOption):
            store.search(np.zeros(2, np.uint64), Limits((3,)))


@pytest.mark.parametrize("statement", ["UPDATE word_0 SET positions = x'00'", "DELETE FROM half_0"])
def test_damage_met_by_a_search_is_told(place: str, make_rows: MakeRows, statement: str) -> None:
    """A search that meets broken entries stops; it never returns fewer rows as if there were none."""
    lanes = np.random.default_rng(1).integers(0, 1 << 64, (30_000, 2), np.uint64)
    with SeenStore.open(place, DEFAULT) as store:
        store.add(make_rows(lanes, texts=False))
        store.commit()
    connection = sqlite3.connect(place)
    connection.execute(statement)
    connection.commit()
    connection.close()
    with SeenStore.open(place, write=False) as store, pytest.raises(StoreError, match="damaged"):
        store.search(lanes[7], Limits((3, 64)))
