"""The Roaring file answers as counting all bits does, and is laid out as documented."""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simhash_es.backends.exports import RoaringFile, roaring, write_roaring
from simhash_es.backends.sqlite_store import NewRows, SeenStore
from simhash_es.core.bits import UInt64Array
from simhash_es.core.layout import Layout, Limits, distances, matches
from simhash_es.core.presets import CHARACTERS, DEFAULT
from simhash_es.core.profile import Half, Profile
from simhash_es.errors import InvalidOption, MissingExtra, StoreError

WIDE = Profile(halves=(Half(4, 3),), width=128, vote=1)
NARROW = Profile(halves=(Half(4, 3), Half(5, 5, 1)), width=20, vote=2)
N_ROWS = 2_000

Files = dict[str, tuple[Path, UInt64Array]]


def lanes_of(profile: Profile, seed: int) -> UInt64Array:
    """Random values, a third of them near an earlier one; 0 and all ones among them."""
    random = np.random.default_rng(seed)
    mask = np.uint64((1 << min(64, profile.width)) - 1)
    lanes = random.integers(0, 1 << 64, (N_ROWS, profile.n_lanes), np.uint64) & mask
    flips = random.integers(0, 256, (len(lanes[::3]), 1)).astype(np.uint64) & mask
    lanes[::3] = lanes[random.integers(0, 300, len(flips))] ^ flips
    lanes[0], lanes[1] = 0, mask
    return lanes


def make(path: Path, profile: Profile, lanes: UInt64Array) -> Path:
    """A store of these fingerprints and its export."""
    n = len(lanes)
    rows = NewRows(
        lanes=lanes, digests=np.zeros((n, 2), np.uint64), n_features=np.ones(n, np.int64), n_chars=np.ones(n, np.int64),
        ids=[b"%d" % i for i in range(n)], sources=["a"] * n, lines=[*range(n)],
    )  # fmt: skip
    with SeenStore.open(str(path.with_suffix(".sqlite")), profile) as store:
        store.add(rows)
        store.commit()
        with path.open("wb") as stream:
            write_roaring(store, stream)
    return path


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    """One export for each kind of layout, with its values."""
    folder = tmp_path_factory.mktemp("roaring")
    profiles = {"default": DEFAULT, "one": CHARACTERS, "wide": WIDE, "narrow": NARROW}
    values = {name: lanes_of(profile, 5) for name, profile in profiles.items()}
    return {name: (make(folder / f"{name}.roaring", profiles[name], values[name]), values[name]) for name in profiles}


@settings(max_examples=60)
@given(st.data())
def test_search_equals_counting_all_bits(files: Files, data: st.DataObject) -> None:
    """For every layout, limit and number of votes, by words and by scan."""
    path, lanes = files[data.draw(st.sampled_from(sorted(files)))]
    export = RoaringFile(str(path))
    n_halves = export.layout.n_halves
    limit = st.integers(0, min(export.layout.widths[0], 30))
    limits = Limits(tuple(data.draw(limit) for _ in range(n_halves)), data.draw(st.integers(1, n_halves)))
    query = lanes[data.draw(st.integers(0, N_ROWS - 1))]
    bits = distances(lanes, query[None, :], export.layout)
    expected = np.flatnonzero(matches(bits, limits))
    for start in (0, 1e15):  # a scan that costs that much is never taken where words can do
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(roaring, "COSTS", replace(roaring.COSTS, start=start))
            found = export.search(query, limits)
        assert found.plan.is_complete()
        assert found.positions.tolist() == expected.tolist()
        assert found.distances.tolist() == bits[expected].tolist()


def test_file_is_laid_out_as_documented(files: Files) -> None:
    """Header, tables, bitmaps and values stand where the module says, read here by hand."""
    pyroaring = pytest.importorskip("pyroaring")
    path, lanes = files["default"]
    data = path.read_bytes()
    magic, version, n_words, n_halves, width, n, digest, values_at = struct.unpack_from("<8s4IQ16sQ", data)
    assert (magic, version, n_words, n_halves, width, n) == (b"SHESROAR", 1, 4, 2, 64, N_ROWS)
    assert digest.hex() == DEFAULT.digest
    assert values_at % 8 == 0
    assert np.frombuffer(data, "<u8", offset=values_at).reshape(2, n).T.tolist() == lanes.tolist()
    for place, start in enumerate(struct.unpack_from("<4Q", data, 56)):
        words = lanes[:, 0] >> np.uint64(48 - 16 * place) & np.uint64(0xFFFF)
        (m,) = struct.unpack_from("<Q", data, start)
        offsets = np.frombuffer(data, "<u8", m + 1, start + 8)
        counts = np.frombuffer(data, "<u4", m, start + 8 + 8 * (m + 1))
        values = np.frombuffer(data, "<u2", m, start + 8 + 8 * (m + 1) + 4 * m)
        assert values.tolist() == np.unique(words).tolist()
        for value, count, first, last in zip(values, counts, offsets, offsets[1:], strict=False):
            rows = pyroaring.BitMap.deserialize(data[first:last])
            assert list(rows) == np.flatnonzero(words == value).tolist()
            assert len(rows) == count


def test_rows_of_a_word_can_be_asked_directly(files: Files) -> None:
    """The bitmap of a word value, empty where no row has it."""
    path, lanes = files["default"]
    export = RoaringFile(str(path))
    words = lanes[:, 0] >> np.uint64(48)
    assert list(export.rows_with(0, int(words[7]))) == np.flatnonzero(words == words[7]).tolist()
    absent = next(word for word in range(1, 65536) if word not in set(words.tolist()))
    assert list(export.rows_with(0, absent)) == []
    assert list(export.rows_with(0, 65535)) == np.flatnonzero(words == 65535).tolist()
    assert export.digest == DEFAULT.digest
    assert len(export) == N_ROWS
    np.testing.assert_array_equal(np.concatenate([export.half(0), export.half(1)], axis=1), lanes)


def test_empty_store(tmp_path: Path) -> None:
    """An export of no rows is a file in which nothing is found."""
    export = RoaringFile(str(make(tmp_path / "none.roaring", DEFAULT, np.zeros((0, 2), np.uint64))))
    assert len(export) == 0
    for limit in (0, 64):
        assert export.search(np.zeros(2, np.uint64), Limits((limit, 64))).positions.tolist() == []


def test_query_must_fit(files: Files) -> None:
    """Another number of lanes is refused."""
    with pytest.raises(InvalidOption):
        RoaringFile(str(files["default"][0])).search(np.zeros(3, np.uint64), Limits((3, 3)))


def test_other_and_broken_files_are_refused(files: Files, tmp_path: Path) -> None:
    """Missing, empty, foreign, newer and shortened files are told apart from an export."""
    whole = files["default"][0].read_bytes()
    path = tmp_path / "x.roaring"
    changes: dict[str, Callable[[], object]] = {
        "cannot be read": lambda: None,
        "cannot be read: ": lambda: path.write_bytes(b""),
        "no Roaring export": lambda: path.write_bytes(b"SQLite format 3\0" * 9),
        "has version 2": lambda: path.write_bytes(whole[:8] + b"\2" + whole[9:]),
        "is damaged": lambda: path.write_bytes(whole[:-1]),
        "is damaged: ": lambda: path.write_bytes(whole[:56] + b"\xff" * 7 + b"\x00" + whole[64:]),
    }
    for words, change in changes.items():
        change()
        with pytest.raises(StoreError, match=words) as caught:
            RoaringFile(str(path))
        assert caught.value.hint


def test_missing_library_names_the_extra(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without pyroaring the error says what to install."""
    monkeypatch.setitem(sys.modules, "pyroaring", None)
    with pytest.raises(MissingExtra) as caught:
        RoaringFile(str(files["default"][0]))
    assert caught.value.extra == "roaring"


def test_layout_comes_from_the_file(files: Files) -> None:
    """Widths other than 64 are read from the header."""
    assert RoaringFile(str(files["wide"][0])).layout == Layout((128,))
    assert RoaringFile(str(files["narrow"][0])).layout == Layout((20, 20))
