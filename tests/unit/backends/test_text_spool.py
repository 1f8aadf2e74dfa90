"""Texts on disk: what was put in comes out, in any order of arrival, and nothing is left behind."""

from __future__ import annotations

import errno
import gc
import os
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simhash_es.backends.text_spool import TextSpool
from simhash_es.core.batch import TextBlock, pack_texts
from simhash_es.errors import InputError

TEXTS = st.lists(st.text(max_size=20), max_size=8)


def block_of(texts: list[str]) -> TextBlock:
    return pack_texts([text.encode("utf-8", "replace") for text in texts])


def all_texts(spool: TextSpool) -> list[str]:
    data, bounds = spool.data, spool.bounds
    return [data[start:end].tobytes().decode() for start, end in bounds.reshape(-1, 2)]


@given(st.lists(TEXTS, max_size=5))
def test_appended_texts(blocks: list[list[str]]) -> None:
    """Blocks appended one after the other are numbered through, also when they are read in between."""
    spool, expected = TextSpool(), []
    for texts in blocks:
        spool.append(block_of(texts))
        expected += [text.encode("utf-8", "replace").decode() for text in texts]
        assert len(spool) == len(expected)
        assert all_texts(spool) == expected
    assert [spool.text(i) for i in range(len(expected))] == expected
    assert spool.n_bytes == sum(len(text.encode()) for text in expected)


@given(TEXTS, TEXTS, st.randoms(use_true_random=False))
def test_reserved_texts(early: list[str], late: list[str], order: object) -> None:
    """Texts of reserved numbers may come later, in any order; until then they are empty."""
    spool = TextSpool()
    spool.reserve(len(late))
    spool.append(block_of(early))
    assert [spool.text(i) for i in range(len(late))] == [""] * len(late)
    numbers = list(range(len(late)))
    order.shuffle(numbers)  # type: ignore[attr-defined] # a random.Random
    half = len(numbers) // 2
    for part in (numbers[:half], numbers[half:]):
        spool.put(np.array(part, np.int64), block_of([late[i] for i in part]))
    expected = [text.encode("utf-8", "replace").decode() for text in [*late, *early]]
    assert all_texts(spool) == expected


def test_many_texts() -> None:
    """The table of bounds grows with the number of texts."""
    spool = TextSpool()
    for first in range(0, 20_000, 700):
        spool.append(block_of([f"text {i}" for i in range(first, first + 700)]))
    assert spool.text(0) == "text 0"
    assert spool.text(12_345) == "text 12345"
    assert len(spool) == len(spool.bounds) // 2


def test_no_text_at_all() -> None:
    """An empty spool, and one of empty texts, can be read."""
    spool = TextSpool()
    assert spool.data.flags.writeable
    assert len(spool.bounds) == 0
    spool.append(block_of(["", ""]))
    assert all_texts(spool) == ["", ""]


def test_earlier_data_stays_valid() -> None:
    """What was handed out before the spool grew is not pulled away."""
    spool = TextSpool()
    spool.append(block_of(["first"]))
    before = spool.data
    spool.append(block_of(["second" * 10_000]))
    assert len(spool.data) == 5 + 60_000
    assert before.tobytes() == b"first"


def test_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file has no name, so the folder stays empty, and its space is given back with the object."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    spool = TextSpool()
    spool.append(block_of(["some text"]))
    assert spool.text(0) == "some text"
    assert os.listdir(tmp_path) == []
    number = spool._file.fileno()
    del spool
    gc.collect()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(number)


def test_no_folder_for_temporary_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing folder is an error that says what to set."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "absent"))
    with pytest.raises(InputError, match="cannot make a temporary file") as caught:
        TextSpool()
    assert "TMPDIR" in caught.value.hint


class FullDisk:
    """A file on a disk without room: it takes what fits its buffer and fails when that is written out."""

    def __init__(self, *, at: str) -> None:
        self._at = at

    def write(self, data: bytes) -> None:
        if self._at == "write":
            raise OSError(errno.ENOSPC, "No space left on device")

    def flush(self) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("at", ["write", "flush"])
def test_full_disk(at: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that runs full, at once or when the buffer is written out, is an error that says where."""
    spool = TextSpool()
    with spool._file:
        monkeypatch.setattr(spool, "_file", FullDisk(at=at))
        with pytest.raises(InputError, match=r"temporary file in .*No space left") as caught:
            write_and_read(spool)
    assert "TMPDIR" in caught.value.hint


def write_and_read(spool: TextSpool) -> str:
    spool.append(block_of(["some text"]))
    return spool.text(0)


def test_closing() -> None:
    """A closed spool has given its file back; closing it twice is no error."""
    spool = TextSpool()
    spool.append(block_of(["some text"]))
    assert spool.text(0) == "some text"
    spool.close()
    spool.close()
    assert spool._file.closed
