"""From the names a user gives to byte streams.

A name is a file, a folder (see ``folders.py``) or ``-`` for standard input. Below a compression suffix
(``.gz .xz .zst``) the suffix gives the format: ``.jsonl .ndjson .json .csv .tsv .parquet``; ``.txt .text .log`` are
one document a line; ``.md .html .htm .rst .xml`` one document a file. A ``.json`` file of JSON lines is recognised by
its first line. Any other file, and standard input, is read by its first byte that is no white space: ``{`` is JSON
lines (or JSON objects one after another), ``[`` a JSON array, ``PAR1`` Parquet, anything else a document a line.
"""

from __future__ import annotations

import errno
import json
import os
import stat
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from simhash_es.backends.files.compression import Compression, decompressed, sniff_compression, split_suffix
from simhash_es.backends.files.folders import data_format, list_folder
from simhash_es.backends.files.options import DataFormat
from simhash_es.backends.files.spool import Spool
from simhash_es.errors import InputError, InvalidOption

STANDARD_INPUT = "-"
_CHUNK_BYTES = 1 << 18
_SNIFF_BYTES = 1 << 16
_PLAIN_SUFFIXES = {
    **dict.fromkeys(("txt", "text", "log"), DataFormat.LINES),
    **dict.fromkeys(("md", "html", "htm", "rst", "xml"), DataFormat.TEXT),
}


@dataclass(slots=True)
class ByteMeter:
    """Stored (compressed) bytes read so far in the current pass, for progress."""

    n_bytes: int = 0


@dataclass(slots=True, kw_only=True)
class StoredFile:
    """One file on disk, or standard input, as stored bytes and as decompressed bytes.

    Args:
        name: As the user named it; inside a folder the folder's name and the relative path.
        path: ``None`` for standard input.
        compression: How the bytes are stored.
        spool: Standard input's copy.
        meter: Counts the stored bytes read.
    """

    name: str
    path: Path | None
    compression: Compression
    spool: Spool | None = None
    meter: ByteMeter = field(default_factory=ByteMeter)
    _state: tuple[int, int] | None = None

    def stored_chunks(self) -> Iterator[bytes]:
        """The bytes as stored.

        Raises:
            InputError: The file cannot be read, or is not the file an earlier pass has read.
        """
        if self.spool is not None:
            for chunk in self.spool.chunks():
                self.meter.n_bytes += len(chunk)
                yield chunk
            return
        with self._open() as stream:
            while chunk := stream.read(_CHUNK_BYTES):
                self.meter.n_bytes += len(chunk)
                yield chunk
            self._check_unchanged(stream)

    def chunks(self) -> Iterator[bytes]:
        """The bytes decompressed."""
        return decompressed(self.stored_chunks(), self.compression, self.name)

    def head(self, n_bytes: int) -> bytes:
        """The first decompressed bytes; fewer only when the file is shorter."""
        pieces: list[bytes] = []
        size = 0
        for chunk in self.chunks():
            pieces.append(chunk)
            size += len(chunk)
            if size >= n_bytes:
                break
        return b"".join(pieces)[:n_bytes]

    @contextmanager
    def seekable(self) -> Iterator[IO[bytes]]:
        """An open seekable file with the decompressed bytes; a compressed one is unpacked into a temporary file."""
        if self.compression is not Compression.NONE:
            with tempfile.TemporaryFile(prefix="simhash-es-") as unpacked:
                unpacked.writelines(self.chunks())
                unpacked.seek(0)
                yield unpacked
        elif self.spool is not None:
            yield self.spool.whole()
        else:
            with self._open() as stream:
                yield stream
                self.meter.n_bytes += os.fstat(stream.fileno()).st_size
                self._check_unchanged(stream)

    def stored_bytes(self) -> int | None:
        """Size on disk; ``None`` for standard input."""
        return None if self.path is None else self.path.stat().st_size

    def _open(self) -> IO[bytes]:
        assert self.path is not None
        try:
            stream = self.path.open("rb")
        except OSError as error:
            raise unreadable(self.name, error) from error
        try:
            self._check_unchanged(stream)
        except InputError:
            stream.close()
            raise
        return stream

    def _check_unchanged(self, stream: IO[bytes]) -> None:
        status = os.fstat(stream.fileno())
        state = (status.st_size, status.st_mtime_ns)
        if self._state is None:
            self._state = state
        if state != self._state:
            raise InputError(
                f"{self.name}: the file was changed while it was being read",
                "wait until nothing writes to it, or work on a copy",
                source=self.name,
            )


@dataclass(slots=True, kw_only=True)
class Source:
    """One unit of input: a file of rows, or a set of documents.

    Args:
        name: As the user named it.
        format: How its rows are written.
        files: One file; for ``DataFormat.TEXT`` one for each document.
        relative: For ``DataFormat.TEXT`` the document names (ids), one for each file: the path relative to the folder,
            or the path as given.
    """

    name: str
    format: DataFormat
    files: tuple[StoredFile, ...]
    relative: tuple[str, ...] = ()

    @property
    def file(self) -> StoredFile:
        """The only file of a source that is not a set of documents."""
        return self.files[0]


def resolve_sources(
    names: Sequence[str], format: DataFormat | None, meter: ByteMeter
) -> tuple[list[Source], list[str]]:
    """Turn names into sources, in the order given.

    Args:
        names: Paths, folders and ``-`` (at most once).
        format: The user's choice; ``None`` decides as the module says.
        meter: Counts the bytes read from all of them.

    Returns:
        The sources, and the files of folders that are left out.

    Raises:
        InputError: A file is missing or cannot be read.
        InvalidOption: No name, an empty one, or ``-`` twice.
    """
    if not names:
        raise InvalidOption("no input is named", "name files, folders, or - for standard input")
    if "" in names:
        raise InvalidOption("an input has an empty name", "name a file or a folder; the current one is called .")
    if list(names).count(STANDARD_INPUT) > 1:
        raise InvalidOption("standard input (-) is named twice", "it can be read as one source only")
    sources: list[Source] = []
    left_out: list[str] = []
    for name in names:
        if name != STANDARD_INPUT and Path(name).is_dir():
            inside, aside = _open_folder(name, format, meter)
            sources += inside
            left_out += aside
        else:
            sources.append(_open_file(name, format, meter))
    return sources, left_out


def unreadable(name: str, error: OSError) -> InputError:
    """The error for a file that cannot be opened or read."""
    hints = {
        errno.ENOENT: "check the spelling and the current folder; a pattern in quotes is not expanded",
        errno.EACCES: "the current user may not read it",
    }
    return InputError(
        f"{name}: cannot be read: {error.strerror or error}", hints.get(error.errno or 0, ""), source=name
    )


def _stored(name: str, path: Path, meter: ByteMeter) -> StoredFile:
    shown = os.fsencode(name).decode("utf-8", "replace")  # a name need not be valid Unicode, a report must be
    _, compression = split_suffix(name)
    return StoredFile(name=shown, path=path, compression=compression, meter=meter)


def _open_folder(name: str, format: DataFormat | None, meter: ByteMeter) -> tuple[list[Source], list[str]]:
    folder = Path(name)
    contents = list_folder(folder, name, format)
    prefix = name.rstrip("/") + "/"
    left_out = [prefix + file for file in contents.left_out]
    if contents.data:
        return [_open_file(prefix + file, format, meter) for file in contents.data], left_out
    files = tuple(_stored(prefix + file, folder / file, meter) for file in contents.documents)
    relative = tuple(os.fsencode(file).decode("utf-8", "replace") for file in contents.documents)
    return [Source(name=name, format=DataFormat.TEXT, files=files, relative=relative)], left_out


def _open_file(name: str, format: DataFormat | None, meter: ByteMeter) -> Source:
    if name == STANDARD_INPUT and sys.stdin is None:
        raise InputError("-: standard input is closed", "give a file, or let a program write to it", source=name)
    if name == STANDARD_INPUT or _is_stream(Path(name)):
        stream = sys.stdin.buffer if name == STANDARD_INPUT else Path(name).open("rb")  # noqa: SIM115  the spool's
        spool = Spool(stream)
        file = StoredFile(name=name, path=None, compression=sniff_compression(spool.head(6)), spool=spool, meter=meter)
    else:
        file = _stored(name, Path(name), meter)
        if file.compression is Compression.NONE:
            file.compression = sniff_compression(file.head(6))
        else:
            file.head(1)  # a missing or damaged file is named at once, not after an hour of reading others
    chosen = _choose_format(file) if format is None else format
    relative = (file.name,) if chosen is DataFormat.TEXT else ()
    return Source(name=file.name, format=chosen, files=(file,), relative=relative)


def _is_stream(path: Path) -> bool:
    """Whether a path can be read once only: a named pipe, or the shell's ``<(command)``."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False  # opening it will say what is wrong
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)


def _choose_format(file: StoredFile) -> DataFormat:
    by_suffix = None if file.path is None else data_format(file.name)
    if by_suffix is None and file.path is not None:
        stem, _ = split_suffix(file.name)
        by_suffix = _PLAIN_SUFFIXES.get(stem.rpartition(".")[2].lower()) if "." in stem else None
    if by_suffix is not None and by_suffix is not DataFormat.JSON:
        return by_suffix
    sniffed = sniff_format(file.head(_SNIFF_BYTES))
    return DataFormat.JSON if by_suffix is DataFormat.JSON and sniffed is not DataFormat.JSONL else sniffed


def sniff_format(head: bytes) -> DataFormat:
    """Format by the first bytes, as the module says.

    ``head`` that starts with ``{`` is JSON lines when its first line is a whole JSON value, or is longer than ``head``;
    otherwise objects over several lines.
    """
    if head.startswith(b"PAR1"):
        return DataFormat.PARQUET
    text = head.lstrip(b"\xef\xbb\xbf\xff\xfe\x00 \t\r\n")  # byte order marks, and the zero bytes of UTF-16
    if text.startswith(b"["):
        return DataFormat.JSON
    if not text.startswith(b"{"):
        return DataFormat.LINES
    line, newline, _ = text.replace(b"\0", b"").partition(b"\n")
    if not newline:
        return DataFormat.JSONL
    try:
        json.loads(line.decode("latin-1"))  # only the structure matters, and every byte is a Latin-1 character
    except ValueError as error:
        return DataFormat.JSON if line.strip() == b"{" or _is_open(error, line) else DataFormat.JSONL
    return DataFormat.JSONL


def _is_open(error: ValueError, line: bytes) -> bool:
    """Whether a first line breaks off outside a string, as an object written over several lines does."""
    at_end = isinstance(error, json.JSONDecodeError) and error.pos >= len(line.rstrip())
    return at_end and line.rstrip().endswith((b",", b"{", b"[", b":"))
