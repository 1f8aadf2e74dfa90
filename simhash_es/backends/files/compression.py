"""Compressed streams: gzip, xz and zstd, in and out.

Several members or frames one after another are one stream, as ``cat a.gz b.gz`` and parallel compressors make them;
zero bytes between and after members are padding. A stream that ends inside a member is an error, never a short file.
"""

from __future__ import annotations

import gzip
import lzma
import zlib
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from typing import IO, Any, Protocol, cast

from simhash_es._optional import require
from simhash_es.errors import InputError

PIECE_BYTES = 1 << 20
"""Most bytes one step of a decompressor hands out, so that a bomb does not fill the memory."""

_GZIP_WINDOW = 31  # zlib's code for "gzip header and checksum, window as stated"
_ZSTD_MAX_WINDOW = 1 << 31  # frames made with --long need more than the library's default


class Compression(StrEnum):
    """Compression of a file, named as its suffix without the dot; ``NONE`` is the empty string."""

    NONE = ""
    GZIP = "gz"
    XZ = "xz"
    ZSTD = "zst"


_MAGIC = (
    (b"\x1f\x8b", Compression.GZIP),
    (b"\xfd7zXZ\x00", Compression.XZ),
    (b"\x28\xb5\x2f\xfd", Compression.ZSTD),
)


def split_suffix(name: str) -> tuple[str, Compression]:
    """``"a.jsonl.gz"`` gives ``("a.jsonl", GZIP)``; a name without a known compression suffix is unchanged."""
    stem, dot, suffix = name.rpartition(".")
    for compression in Compression:
        if dot and compression is not Compression.NONE and suffix.lower() == compression.value:
            return stem, compression
    return name, Compression.NONE


def sniff_compression(head: bytes) -> Compression:
    """Compression by the first bytes (6 are enough)."""
    return next((compression for magic, compression in _MAGIC if head.startswith(magic)), Compression.NONE)


class _Member(Protocol):
    """One gzip member, xz stream or zstd frame being read."""

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...


def decompressed(chunks: Iterable[bytes], compression: Compression, name: str) -> Iterator[bytes]:
    """Decompress a stream, piece by piece.

    Args:
        chunks: The stored bytes.
        compression: How they are compressed; ``NONE`` passes them through.
        name: The file, for messages.

    Raises:
        InputError: The stream is damaged or ends too early.
        MissingExtra: zstd without the extra ``zstd``.
    """
    if compression is Compression.NONE:
        return iter(chunks)
    if compression is Compression.GZIP:
        return _members(chunks, lambda: zlib.decompressobj(_GZIP_WINDOW), _gzip_pieces, zlib.error, name)
    if compression is Compression.XZ:
        return _members(chunks, lzma.LZMADecompressor, _xz_pieces, lzma.LZMAError, name)
    zstd = require("zstandard", "zstd", "Reading zstd")
    machine = zstd.ZstdDecompressor(max_window_size=_ZSTD_MAX_WINDOW)
    return _members(chunks, machine.decompressobj, _zstd_pieces, cast("type[Exception]", zstd.ZstdError), name)


def _members(
    chunks: Iterable[bytes],
    start: Callable[[], _Member],
    pieces: Callable[[Any, bytes], Iterator[bytes]],
    failure: type[Exception],
    name: str,
) -> Iterator[bytes]:
    member: _Member | None = None
    for chunk in chunks:
        data = chunk if member is not None else chunk.lstrip(b"\0")
        while data:
            member = start() if member is None else member
            try:
                yield from pieces(member, data)
            except failure as error:
                raise InputError(
                    f"{name}: the compressed data is damaged ({error})",
                    "make the file anew, or leave it out",
                    source=name,
                ) from error
            data = b""
            if member.eof:
                data = member.unused_data.lstrip(b"\0")
                member = None
    if member is not None:
        raise InputError(
            f"{name}: the compressed data ends too early; the file is cut off",
            "copy or download the file again",
            source=name,
        )


def _gzip_pieces(member: Any, data: bytes) -> Iterator[bytes]:
    while True:
        piece = member.decompress(data, PIECE_BYTES)
        if piece:
            yield piece
        data = member.unconsumed_tail
        if member.eof or (not data and len(piece) < PIECE_BYTES):
            return


def _xz_pieces(member: lzma.LZMADecompressor, data: bytes) -> Iterator[bytes]:
    yield member.decompress(data, PIECE_BYTES)
    while not member.eof and not member.needs_input:
        yield member.decompress(b"", PIECE_BYTES)


def _zstd_pieces(member: Any, data: bytes) -> Iterator[bytes]:
    piece = member.decompress(data)
    if piece:
        yield piece


def compressing(stream: IO[bytes], compression: Compression) -> IO[bytes]:
    """A writer that compresses into ``stream``; closing it finishes the data and leaves ``stream`` open.

    Gzip headers carry no time and no name, so equal rows give equal files.

    Raises:
        MissingExtra: zstd without the extra ``zstd``.
    """
    if compression is Compression.NONE:
        return stream
    if compression is Compression.GZIP:
        return cast("IO[bytes]", gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=stream, mtime=0))
    if compression is Compression.XZ:
        return cast("IO[bytes]", lzma.LZMAFile(stream, "wb"))
    zstd = require("zstandard", "zstd", "Writing zstd")
    return cast("IO[bytes]", zstd.ZstdCompressor().stream_writer(stream, closefd=False))
