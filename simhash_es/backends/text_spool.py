"""Texts of a run on disk instead of in memory: appended in blocks, read through a memory map.

The file has no name once it is open, so nothing is left behind however the process ends. It lies in the folder for
temporary files (``TMPDIR``).
"""

from __future__ import annotations

import mmap
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import numpy.typing as npt

from simhash_es.core.batch import TextBlock
from simhash_es.errors import InputError

NO_ROOM_HINT = "free some space there, or set TMPDIR to a folder with room"


@contextmanager
def _room_on_disk(n_bytes: int) -> Iterator[None]:
    """What goes wrong while the file grows to so many bytes, as an error that says where."""
    try:
        yield
    except OSError as error:
        raise InputError(
            f"cannot write {n_bytes:,} bytes of text to a temporary file in {tempfile.gettempdir()}: {error}",
            NO_ROOM_HINT,
        ) from error


class TextSpool:
    """Numbered texts. Numbers are given in order of arrival; a text may also come later than its number.

    Raises:
        InputError: The temporary file cannot be made, or (from ``append``, ``put`` and ``data``) cannot grow.
    """

    def __init__(self) -> None:
        try:
            self._file = tempfile.TemporaryFile(prefix="simhash-es-")  # noqa: SIM115 - closed with the object
        except OSError as error:
            raise InputError(f"cannot make a temporary file: {error}", NO_ROOM_HINT) from error
        self._close = weakref.finalize(self, self._file.close)
        self._n_bytes = 0
        self._n_texts = 0
        self._bounds = np.zeros(2048, np.int64)
        self._map: npt.NDArray[np.uint8] = np.zeros(1, np.uint8)
        self._mapped_bytes = -1

    def __len__(self) -> int:
        return self._n_texts

    def close(self) -> None:
        """Give the space on disk back, once nobody holds the data any more. It happens by itself with the object."""
        self._close()

    @property
    def n_bytes(self) -> int:
        """Bytes on disk."""
        return self._n_bytes

    @property
    def bounds(self) -> npt.NDArray[np.int64]:
        """Text ``d`` is ``data[bounds[2 * d] : bounds[2 * d + 1]]``; a reserved text that has not come is empty."""
        return self._bounds[: 2 * self._n_texts]

    @property
    def data(self) -> npt.NDArray[np.uint8]:
        """All bytes so far."""
        if self._mapped_bytes != self._n_bytes:
            with _room_on_disk(self._n_bytes):
                self._file.flush()
            if self._n_bytes:
                # Copy-on-write: writable, as compiled kernels ask, though nobody writes.
                self._map = np.frombuffer(
                    mmap.mmap(self._file.fileno(), self._n_bytes, access=mmap.ACCESS_COPY), np.uint8
                )
            self._mapped_bytes = self._n_bytes
        return self._map

    def append(self, block: TextBlock) -> None:
        """Add texts with the next numbers."""
        n = len(block)
        self.reserve(n)
        self._write(block, np.arange(self._n_texts - n, self._n_texts))

    def reserve(self, n: int) -> None:
        """Give out ``n`` numbers for texts that may come later."""
        needed = 2 * (self._n_texts + n)
        if needed > len(self._bounds):
            grown = np.zeros(max(needed, len(self._bounds) * 3 // 2), np.int64)
            grown[: len(self._bounds)] = self._bounds
            self._bounds = grown
        self._n_texts += n

    def put(self, numbers: npt.NDArray[np.int64], block: TextBlock) -> None:
        """Add the texts of reserved numbers."""
        self._write(block, numbers)

    def text(self, number: int) -> str:
        """One text."""
        start, end = self._bounds[2 * number : 2 * number + 2]
        return self.data[start:end].tobytes().decode()

    def _write(self, block: TextBlock, numbers: npt.NDArray[np.int64]) -> None:
        size = int(block.offsets[-1])
        try:
            self._file.write(block.data[:size].data)
        except OSError as error:
            raise InputError(
                f"cannot write {size:,} bytes of text to the temporary file in {tempfile.gettempdir()}: {error}",
                "free some space there, or set TMPDIR to a folder with room",
            ) from error
        self._bounds[2 * numbers] = block.offsets[:-1] + self._n_bytes
        self._bounds[2 * numbers + 1] = block.offsets[1:] + self._n_bytes
        self._n_bytes += size
