"""Standard input, kept in an anonymous temporary file so that it can be read more than once."""

from __future__ import annotations

import sys
import tempfile
import weakref
from collections.abc import Iterator
from typing import IO

from simhash_es.errors import InputError

_CHUNK_BYTES = 1 << 18


class Spool:
    """A stream that can be replayed.

    Bytes are handed on as they arrive and are written to an unnamed temporary file at the same time; a later reader
    gets the kept bytes first, then the rest of the live stream. The file vanishes with the process.

    Args:
        stream: A binary stream, such as ``sys.stdin.buffer``. Any other is closed at its end.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._live = stream
        self._kept = tempfile.TemporaryFile(prefix="simhash-es-")  # noqa: SIM115  lives as long as the spool
        weakref.finalize(self, self._kept.close)
        self._size = 0
        self._complete = False

    def chunks(self) -> Iterator[bytes]:
        """All bytes from the start."""
        position = 0
        while True:
            chunk = self._kept_at(position) if position < self._size else self._read_live()
            if not chunk:
                return
            position += len(chunk)
            yield chunk

    def head(self, n_bytes: int) -> bytes:
        """The first bytes, fewer only when the stream is shorter."""
        while self._size < n_bytes and self._read_live():
            pass
        self._kept.seek(0)
        return self._kept.read(n_bytes)

    def whole(self) -> IO[bytes]:
        """The kept file with the whole stream in it, at position 0. It must not be closed."""
        while self._read_live():
            pass
        self._kept.flush()
        self._kept.seek(0)
        return self._kept

    def _kept_at(self, position: int) -> bytes:
        self._kept.seek(position)
        return self._kept.read(min(_CHUNK_BYTES, self._size - position))

    def _read_live(self) -> bytes:
        if self._complete:
            return b""
        try:
            chunk = self._live.read(_CHUNK_BYTES)
            self._kept.seek(self._size)
            self._kept.write(chunk)
        except OSError as error:
            raise InputError(f"standard input cannot be read or kept: {error}", source="-") from error
        self._size += len(chunk)
        if not chunk:
            self._complete = True
            if self._live is not getattr(sys.stdin, "buffer", None):
                self._live.close()
        return chunk
