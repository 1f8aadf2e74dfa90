"""Outputs that appear whole or not at all."""

from __future__ import annotations

import io
import os
import secrets
import shutil
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import IO, Protocol, Self

from simhash_es.backends.files.compression import Compression, compressing, split_suffix
from simhash_es.errors import InvalidOption, SimhashEsError

STANDARD_OUTPUT = "-"
_BUFFER_BYTES = 1 << 18


class OutputClosed(Exception):
    """The program that reads standard output has gone (``… | head``). The command line ends quietly on it."""


class Finalisable(Protocol):
    """An output that is completed in two steps, so that several can appear together."""

    def prepare(self) -> None:
        """Write out everything; what can still fail after this is the rename only."""
        ...

    def publish(self) -> None:
        """Give it its name."""
        ...


def finalise(outputs: Iterable[Finalisable]) -> None:
    """Complete several outputs together: all are written out before the first one gets its name.

    Raises:
        SimhashEsError: The disk is full, or a name cannot be taken; outputs not yet named are not named.
        OutputClosed: Standard output was closed.
    """
    ready = list(outputs)
    for output in ready:
        output.prepare()
    for output in ready:
        output.publish()


class AtomicOutput:
    """A binary output file: written under a hidden name beside its place, renamed on success, removed on failure.

    Use as a context manager; leaving it without an exception completes it, unless ``finalise`` did already. ``-`` is
    standard output, and devices and pipes are written directly. The suffix decides about compression
    (``.gz .xz .zst``). An existing file is replaced and its permissions are kept.

    Args:
        path: Where to write.
        inputs: Files that must not be overwritten.

    Raises:
        InvalidOption: The place is an input, a folder, or in a folder that does not exist.
        MissingExtra: zstd without the extra ``zstd``.
    """

    def __init__(self, path: str, *, inputs: Sequence[Path] = ()) -> None:
        self.path = path
        self._final: Path | None = None
        self._hidden: Path | None = None
        _refuse_bad_place(path, inputs)
        if path == STANDARD_OUTPUT:
            self._file: IO[bytes] = sys.stdout.buffer
        else:
            self._file = self._open(Path(path))
        self._stream = self._compressing()

    @property
    def stream(self) -> IO[bytes]:
        """The binary stream, compression included; write errors come untranslated, see ``translated_errors``."""
        return self._stream

    def write(self, data: bytes) -> None:
        """Append bytes.

        Raises:
            SimhashEsError: The disk is full or the like.
            OutputClosed: Standard output was closed.
        """
        with translated_errors(self.path):
            self._stream.write(data)

    def prepare(self) -> None:
        """Finish the compression and bring everything to the disk."""
        with translated_errors(self.path):
            if self._stream is not self._file:
                self._stream.close()
                self._stream = self._file
            if self._file.closed:
                return
            self._file.flush()
            if self._hidden is not None:
                os.fsync(self._file.fileno())
            if self.path != STANDARD_OUTPUT:
                self._file.close()

    def publish(self) -> None:
        """Rename to the final name; a second call does nothing."""
        if self._hidden is not None and self._final is not None:
            with translated_errors(self.path):
                self._hidden.replace(self._final)
            self._hidden = None

    def discard(self) -> None:
        """Remove what was written; nothing remains of it. An output that has its name already stays."""
        if self._stream is not self._file:
            with suppress(OSError, ValueError):
                self._stream.close()
        if self.path != STANDARD_OUTPUT:
            with suppress(OSError):
                self._file.close()
        if self._hidden is not None:
            self._hidden.unlink(missing_ok=True)
            self._hidden = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                finalise([self])
        finally:
            self.discard()  # whatever happened, nothing half-written stays; a named output is not touched

    def _open(self, path: Path) -> IO[bytes]:
        with translated_errors(self.path):
            if path.exists() and not path.is_file():  # /dev/null, a named pipe
                return path.open("wb")
            final = path.resolve()  # a link stays a link, its target is replaced
            hidden = _hidden_name(final)
            mode = stat.S_IMODE(final.stat().st_mode) if final.exists() else 0o666
            descriptor = os.open(hidden, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
            self._final, self._hidden = final, hidden
            if final.exists():
                os.fchmod(descriptor, mode)
            return io.BufferedWriter(io.FileIO(descriptor, "wb"), _BUFFER_BYTES)

    def _compressing(self) -> IO[bytes]:
        compression = Compression.NONE if self.path == STANDARD_OUTPUT else split_suffix(self.path)[1]
        try:
            return compressing(self._file, compression)
        except SimhashEsError:
            self._stream = self._file
            self.discard()
            raise


class FolderOutput:
    """A folder of files: filled under a hidden name, renamed on success, removed on failure.

    Args:
        path: Where it goes; it must not exist, or be an empty folder.

    Raises:
        InvalidOption: Something is there, or the folder above does not exist.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._final = Path(path)
        if self._final.exists() and not (self._final.is_dir() and not any(self._final.iterdir())):
            raise InvalidOption(
                f"--output {path}: it exists and is no empty folder", "documents go to a new or empty folder"
            )
        _refuse_missing_parent(path)
        self._hidden: Path | None = _hidden_name(self._final.resolve())
        with translated_errors(path):
            self._hidden.mkdir()

    def add(self, relative: str, chunks: Iterable[bytes]) -> None:
        """Write one file.

        Args:
            relative: Its place in the folder, ``/`` between parts, without ``..``.
            chunks: Its bytes.
        """
        assert self._hidden is not None
        place = self._hidden.joinpath(*PurePosixPath(relative).parts)
        with translated_errors(self.path):
            place.parent.mkdir(parents=True, exist_ok=True)
            with place.open("xb") as stream:
                stream.writelines(chunks)

    def prepare(self) -> None:
        """Nothing: every file is closed."""

    def publish(self) -> None:
        """Rename to the final name; a second call does nothing."""
        if self._hidden is not None:
            with translated_errors(self.path):
                self._hidden.replace(self._final.resolve())
            self._hidden = None

    def discard(self) -> None:
        """Remove what was written, unless it has its name already."""
        if self._hidden is not None:
            shutil.rmtree(self._hidden, ignore_errors=True)
            self._hidden = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                finalise([self])
        finally:
            self.discard()


@contextmanager
def translated_errors(path: str) -> Iterator[None]:
    """Turn what a full disk or a closed pipe raises into our own errors.

    Raises:
        SimhashEsError: Writing failed.
        OutputClosed: Standard output was closed.
    """
    try:
        yield
    except BrokenPipeError as error:
        if path == STANDARD_OUTPUT:
            _silence_standard_output()
        raise OutputClosed(path) from error
    except OSError as error:
        raise SimhashEsError(
            f"{path}: cannot be written: {error.strerror or error}", "check the free space and the permissions there"
        ) from error


def _silence_standard_output() -> None:
    """Let what is still buffered go nowhere, or the interpreter complains about it at exit."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _hidden_name(final: Path) -> Path:
    return final.with_name(f".{final.name[:200]}.{secrets.token_hex(4)}.tmp")


def _refuse_bad_place(path: str, inputs: Sequence[Path]) -> None:
    if path == STANDARD_OUTPUT:
        return
    if not path:
        raise InvalidOption("an output has an empty name", "name a file, or - for standard output")
    place = Path(path)
    if place.is_dir():
        raise InvalidOption(f"output {path} is a folder", "name a file in it")
    _refuse_missing_parent(path)
    if place.exists() and place.is_file() and any(source.exists() and source.samefile(place) for source in inputs):
        raise InvalidOption(f"output {path} is one of the inputs", "inputs are never overwritten; name another file")


def _refuse_missing_parent(path: str) -> None:
    parent = Path(path).absolute().parent
    if not parent.is_dir():
        raise InvalidOption(
            f"output {path}: the folder {parent} does not exist", "make it first, or check the spelling"
        )
