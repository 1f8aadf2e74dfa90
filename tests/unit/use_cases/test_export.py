"""An export holds everything of a store, appears whole or not at all, and says what a document takes."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from simhash_es.backends.exports import RoaringFile
from simhash_es.backends.sqlite_store import NewRows, SeenStore
from simhash_es.core.layout import Limits
from simhash_es.core.presets import DEFAULT
from simhash_es.core.profile import Profile
from simhash_es.errors import InvalidOption, MissingExtra, SimhashEsError, StoreError
from simhash_es.use_cases import export
from simhash_es.use_cases.export import ExportFormat, export_store

IDS = [b'"a\\u00e9"', b"7", b'"\xe4\xb8\xad"', b"1.50", b'"x\\ud800"', b'"9007199254740993"'] * 250


@pytest.fixture
def store(tmp_path: Path) -> str:
    """A store of 1,500 rows whose ids are easily changed by a careless writer."""
    n = len(IDS)
    lanes = np.random.default_rng(1).integers(0, 1 << 64, (n, 2), np.uint64)
    lanes[:3] = [[0, 0], [1 << 63, 1 << 63], [(1 << 64) - 1, 1]]
    path = str(tmp_path / "seen.sqlite")
    with SeenStore.open(path, DEFAULT) as store:
        store.add(
            NewRows(
                lanes=lanes, digests=lanes, n_features=np.arange(n), n_chars=np.arange(n), ids=IDS,
                sources=["新闻.jsonl", 'b"\\.csv'] * (n // 2), lines=[*range(1, n + 1)],
            )
        )  # fmt: skip
        store.commit()
    return path


def values_of(store: str) -> list[list[int]]:
    with SeenStore.open(store, write=False) as opened:
        return opened.load().lanes.tolist()  # type: ignore[no-any-return] # a list of rows


def test_npy_round_trip(store: str, tmp_path: Path) -> None:
    """Values are memory-mapped by NumPy as they are, sign bit and zero included."""
    summary = export_store(store, str(tmp_path / "out"), "npy")
    values = np.load(tmp_path / "out.npy", mmap_mode="r")
    assert isinstance(values, np.memmap)
    assert values.dtype == np.uint64
    assert values.tolist() == values_of(store)
    assert summary.rows == len(IDS)
    assert 16 <= summary.bytes_per_document < 16.2
    assert summary.to_dict()["bytes_per_document"] == round(summary.bytes_per_document, 2)


@pytest.mark.parametrize("format", ExportFormat)
def test_companions(store: str, tmp_path: Path, format: ExportFormat) -> None:
    """Ids stand beside the values byte for byte, in their order, and the profile can be read back."""
    summary = export_store(store, str(tmp_path / f"out.{format}"), format)
    assert [Path(file.path).name for file in (summary.values, summary.ids, summary.meta)] == [
        f"out.{format}", "out.ids.jsonl", "out.json",
    ]  # fmt: skip
    lines = (tmp_path / "out.ids.jsonl").read_bytes().splitlines()
    assert [line.split(b',"source"')[0] for line in lines] == [b'{"id":' + token for token in IDS]
    entry = json.loads(lines[1])
    assert (entry["id"], entry["source"], entry["line"]) == (7, 'b"\\.csv', 2)
    meta = json.loads((tmp_path / "out.json").read_bytes())
    assert Profile.from_dict(meta["profile"]).digest == meta["profile_digest"] == DEFAULT.digest
    assert (meta["format"], meta["rows"], meta["widths"]) == (format, len(IDS), [64, 64])
    assert all(file.n_bytes == Path(file.path).stat().st_size for file in (summary.values, summary.ids, summary.meta))


def test_roaring_round_trip(store: str, tmp_path: Path) -> None:
    """The Roaring export holds all values and finds them."""
    export_store(store, str(tmp_path / "out"), "roaring")
    exported = RoaringFile(str(tmp_path / "out.roaring"))
    lanes = np.concatenate([exported.half(0), exported.half(1)], axis=1)
    assert lanes.tolist() == values_of(store)
    assert exported.search(lanes[1], Limits((3, 3))).positions.tolist() == [0, 1]


def test_existing_export_is_replaced(store: str, tmp_path: Path) -> None:
    """A second export takes the place of the first."""
    (tmp_path / "out.npy").write_bytes(b"old")
    export_store(store, str(tmp_path / "out"), "npy")
    assert len(np.load(tmp_path / "out.npy")) == len(IDS)


@pytest.mark.parametrize("format", ExportFormat)
def test_empty_store(tmp_path: Path, format: ExportFormat) -> None:
    """A store without rows has an export without rows."""
    path = str(tmp_path / "seen.sqlite")
    with SeenStore.open(path, DEFAULT) as opened:
        opened.commit()
    summary = export_store(path, str(tmp_path / "out"), format)
    assert (summary.rows, summary.bytes_per_document) == (0, 0.0)
    assert (tmp_path / "out.ids.jsonl").read_bytes() == b""


def test_failure_leaves_nothing(store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When writing fails half-way, no file has appeared and none is left under another name."""

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    (tmp_path / "out.npy").write_bytes(b"old")
    monkeypatch.setitem(export.WRITERS, ExportFormat.NPY, fail)
    with pytest.raises(SimhashEsError, match="No space left"):
        export_store(store, str(tmp_path / "out"), "npy")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.npy", "seen.sqlite"]
    assert (tmp_path / "out.npy").read_bytes() == b"old"


def test_missing_library_leaves_nothing(store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without pyroaring the Roaring export says what to install and writes nothing."""
    monkeypatch.setitem(sys.modules, "pyroaring", None)
    with pytest.raises(MissingExtra):
        export_store(store, str(tmp_path / "out"), "roaring")
    assert [path.name for path in tmp_path.iterdir()] == ["seen.sqlite"]


def test_bad_requests(store: str, tmp_path: Path) -> None:
    """Another format, no name, a missing folder and a missing store are refused with a hint."""
    for arguments, kind in (
        ((store, str(tmp_path / "out"), "csv"), InvalidOption),
        ((store, f"{tmp_path}/.npy", "npy"), InvalidOption),
        ((store, str(tmp_path), "npy"), InvalidOption),
        ((store, str(tmp_path / "none" / "out"), "npy"), InvalidOption),
        ((str(tmp_path / "no.sqlite"), str(tmp_path / "out"), "npy"), StoreError),
    ):
        with pytest.raises(kind) as caught:
            export_store(*arguments)
        assert caught.value.hint


def test_store_is_not_overwritten(store: str, tmp_path: Path) -> None:
    """A target that is the store itself is refused."""
    odd = tmp_path / "seen.npy"
    Path(store).rename(odd)
    with pytest.raises(InvalidOption, match="is one of the inputs"):
        export_store(str(odd), str(tmp_path / "seen"), "npy")
    assert len(values_of(str(odd))) == len(IDS)
