"""Lines of text as they arrive: decoded, numbered, never more in memory than has come at once."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, cast

import orjson

from simhash_es.backends.files.compression import decompressed, sniff_compression
from simhash_es.backends.files.encodings import MARKS, UTF_8, TextEncoding, canonical_encoding, needs_recoding
from simhash_es.backends.files.options import OnError, ReadOptions
from simhash_es.backends.files.recoding import text_chunks
from simhash_es.errors import UndecodableInput

if TYPE_CHECKING:
    from io import BufferedReader

STANDARD_INPUT = "-"
READ_BYTES = 1 << 18


@dataclass(slots=True)
class LineCounts:
    """What was done: answers given, those without a fingerprint, and lines or rows that could not be read."""

    lines: int = 0
    empty: int = 0
    skipped: int = 0


@dataclass(frozen=True, slots=True)
class Texts:
    """Some texts in order; ids are JSON tokens, ``None`` stands for a text that could not be read."""

    ids: Iterable[bytes]
    texts: Sequence[str | None]


def standard_input_lines(read: ReadOptions, counts: LineCounts) -> Iterator[Texts]:
    """Lines of standard input as they arrive, decompressed if need be; UTF-8 unless an encoding is named."""
    stream = cast("BufferedReader", sys.stdin.buffer)
    first = stream.read1(READ_BYTES)
    arriving = arriving_chunks(first, stream.read1)
    chunks = decompressed(arriving, sniff_compression(first[:6]), STANDARD_INPUT)
    start = next(chunks, b"")  # a mark is the first thing in the text, not in its compressed form
    encoding = encoding_of(start, read)
    texts = text_chunks(chain((start,), chunks), encoding, STANDARD_INPUT)
    yield from plain_lines(texts, STANDARD_INPUT, encoding.of_rows, read, counts)


def arriving_chunks(first: bytes, read: Callable[[int], bytes]) -> Iterator[bytes]:
    """The first chunk, then whatever is there each time."""
    chunk = first
    while chunk:
        yield chunk
        chunk = read(READ_BYTES)


def encoding_of(first: bytes, read: ReadOptions) -> TextEncoding:
    """The encoding of the byte order mark, else the named one, else UTF-8."""
    name = UTF_8 if read.encoding is None else canonical_encoding(read.encoding)
    for mark, marked in MARKS:
        if first.startswith(mark):
            return TextEncoding(marked, mark, needs_recoding(marked))
    return TextEncoding(name, b"", needs_recoding(name))


def plain_lines(
    chunks: Iterable[bytes], source: str, encoding: str, read: ReadOptions, counts: LineCounts
) -> Iterator[Texts]:
    """Lines of text; each chunk gives the lines that it completes."""
    n_lines = 0
    for block in completed_lines(chunks):
        texts = decoded_lines(block, source, n_lines, encoding, read, counts)
        yield Texts(LineIds(source, n_lines, len(texts)), texts)
        n_lines += len(texts)


@dataclass(frozen=True, slots=True)
class LineIds:
    """The ids ``"source:line"`` of consecutive lines, made when they are asked for.

    Attributes:
        source: The file, as the user named it.
        before: Lines before the first one.
        n: How many.
    """

    source: str
    before: int
    n: int

    def __iter__(self) -> Iterator[bytes]:
        return (orjson.dumps(f"{self.source}:{self.before + i}") for i in range(1, self.n + 1))


def completed_lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    r"""Whole lines as soon as they are complete, one or more at a time, without the last ``\n``."""
    pending: list[bytes] = []
    for chunk in chunks:
        head, newline, rest = chunk.rpartition(b"\n")
        if not newline:
            pending += [chunk] if chunk else []
            continue
        yield b"".join((*pending, head))
        pending = [rest] if rest else []
    if pending:
        yield b"".join(pending)


def decoded_lines(
    block: bytes, source: str, n_before: int, encoding: str, read: ReadOptions, counts: LineCounts
) -> list[str | None]:
    """The texts of some lines, ``None`` and a count for a line that cannot be read where such are to be skipped.

    Raises:
        UndecodableInput: A byte does not fit.
    """
    try:
        return [*block.decode(encoding).split("\n")]
    except UnicodeDecodeError:
        lines = enumerate(block.split(b"\n"), n_before + 1)
        return [decoded(raw, source, line, encoding, read, counts) for line, raw in lines]


def decoded(raw: bytes, source: str, line: int, encoding: str, read: ReadOptions, counts: LineCounts) -> str | None:
    """The text of a line, or ``None`` and a count where bad lines are to be skipped.

    Raises:
        UndecodableInput: A byte does not fit.
    """
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as error:
        if read.on_error is OnError.SKIP:
            counts.skipped += 1
            return None
        raise UndecodableInput(
            f"{source}: line {line}: byte 0x{raw[error.start]:02x} at position {error.start} of the line does not fit "
            f"{encoding.upper()}",
            "say the encoding, for example --encoding gb18030, or answer such lines with an empty one: --on-error skip",
            source=source,
            line=line,
        ) from error
