"""Fingerprints of lines or rows as they come in: a filter with constant memory, one answer for each line.

Plain lines are answered in step with what has arrived, so the filter can stand in a pipe with a slow or endless
source. Small inputs are done before compiled kernels could be loaded, larger ones switch over to them.
"""

from __future__ import annotations

import codecs
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, cast

import orjson

from simhash_es.backends.files.compression import decompressed, sniff_compression
from simhash_es.backends.files.encodings import UTF_8, TextEncoding, canonical_encoding, needs_recoding
from simhash_es.backends.files.inputs import Inputs
from simhash_es.backends.files.options import DataFormat, OnError, ReadOptions
from simhash_es.backends.files.recoding import text_chunks
from simhash_es.core.bits import to_hex
from simhash_es.core.kernels.runtime import is_warm, load_kernels
from simhash_es.core.presets import DEFAULT
from simhash_es.core.profile import Profile
from simhash_es.core.reference import reference_fingerprint
from simhash_es.errors import UndecodableInput

if TYPE_CHECKING:
    from io import BufferedReader

    from simhash_es.core.batch import Fingerprinter

STANDARD_INPUT = "-"
READ_BYTES = 1 << 18
SMALL_CHARS = 20_000
"""Text the reference makes in the time it takes to load compiled kernels from the cache."""
SMALL_CHARS_COLD = 400_000
"""The same when they have to be compiled first."""
MARKS = (
    (codecs.BOM_UTF8, UTF_8),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


class LineFormat(StrEnum):
    """What a line of the output holds."""

    HEX = "hex"
    """The fingerprint in hexadecimal, all halves joined; empty where there is none."""
    JSONL = "jsonl"
    """An object with ``id`` and ``fingerprint``; ``null`` where there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FingerprintOptions:
    """What to make fingerprints of.

    Attributes:
        sources: Files, folders, ``-``.
        read: How to read them. Standard input is plain lines unless a format is named.
        profile: How fingerprints are made.
        line_format: What a line of the output holds.
    """

    sources: tuple[str, ...] = (STANDARD_INPUT,)
    read: ReadOptions = field(default_factory=ReadOptions)
    profile: Profile = DEFAULT
    line_format: LineFormat = LineFormat.HEX


@dataclass(slots=True)
class FingerprintCounts:
    """What was done: answers given, those without a fingerprint, and lines or rows that could not be read."""

    lines: int = 0
    empty: int = 0
    skipped: int = 0


@dataclass(frozen=True, slots=True)
class Texts:
    """Some texts in order; ids are JSON tokens, ``None`` stands for a text that could not be read."""

    ids: Iterable[bytes]
    texts: Sequence[str | None]


class HexMaker:
    """Fingerprints in hexadecimal, by whichever way is sooner done.

    Args:
        profile: How to make them.
    """

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._n_chars = 0
        self._fast: Fingerprinter | None = None
        self._is_decided = False

    def make(self, texts: Sequence[str]) -> list[str]:
        """One for each text; empty where a text has none."""
        if not self._is_decided:
            self._n_chars += sum(map(len, texts))
            if self._n_chars > (SMALL_CHARS if is_warm() else SMALL_CHARS_COLD):
                self._decide()
        if self._fast is None:
            return [self._by_reference(text) for text in texts]
        made = self._fast.batch(texts)
        digits = made.lanes.astype(">u8").tobytes().hex()  # compiled kernels make whole lanes only: 16 digits each
        size = 16 * made.lanes.shape[1]
        return [digits[i * size : (i + 1) * size] if found else "" for i, found in enumerate(made.found.tolist())]

    def _decide(self) -> None:
        from simhash_es.core.batch import Fingerprinter, is_compiled

        self._is_decided = True
        if is_compiled(self._profile):
            load_kernels()
            self._fast = Fingerprinter(self._profile)

    def _by_reference(self, text: str) -> str:
        values = reference_fingerprint(text, self._profile)
        return "" if values is None else "".join(to_hex(value, self._profile.width) for value in values)


def fingerprint_lines(options: FingerprintOptions, write: Callable[[bytes], None]) -> FingerprintCounts:
    """Answer each line or row of the sources with one line.

    A line that is empty, blank, or has no feature is answered by an empty line (``null`` with ``jsonl``). So is a line
    that cannot be read, with ``OnError.SKIP``, for lines out are lines in; a bad *row* of another format is left out.

    Args:
        options: What to do.
        write: Gets the answers to all that has arrived so far; should pass them on at once.

    Raises:
        InputError: A source cannot be read.
        InvalidOption: The options contradict each other.
    """
    counts = FingerprintCounts()
    maker = HexMaker(options.profile)
    for some in texts_of(options, counts):
        digits = maker.make(["" if text is None else text for text in some.texts])
        counts.lines += len(digits)
        counts.empty += digits.count("")
        if options.line_format is LineFormat.HEX:
            write("".join(f"{each}\n" for each in digits).encode("ascii"))
        else:
            pairs = zip(some.ids, quoted(digits), strict=True)
            write(b"".join(b'{"id":%s,"fingerprint":%s}\n' % pair for pair in pairs))
    return counts


def quoted(digits: Iterable[str]) -> Iterator[bytes]:
    """JSON strings; ``null`` for an empty one."""
    return (b'"%s"' % each.encode("ascii") if each else b"null" for each in digits)


def texts_of(options: FingerprintOptions, counts: FingerprintCounts) -> Iterator[Texts]:
    """All texts, in order."""
    for name in options.sources:
        if name == STANDARD_INPUT and options.read.format in (None, DataFormat.LINES):
            yield from standard_input_lines(options.read, counts)
            continue
        inputs = Inputs([name], options.read)
        for number, source in enumerate(inputs.sources):
            if source.format is DataFormat.LINES:
                encoding = inputs.encoding(number)
                chunks = text_chunks(source.file.chunks(), encoding, source.name)
                yield from plain_lines(chunks, source.name, encoding.of_rows, options.read, counts)
            else:
                alone = inputs if len(inputs.sources) == 1 else Inputs([source.name], options.read)
                yield from row_texts(alone, counts)


def row_texts(inputs: Inputs, counts: FingerprintCounts) -> Iterator[Texts]:
    """Rows of any format."""
    for batch in inputs.batches():
        yield Texts(batch.ids, batch.texts)
    counts.skipped += inputs.skipped


def standard_input_lines(read: ReadOptions, counts: FingerprintCounts) -> Iterator[Texts]:
    """Lines of standard input as they arrive, decompressed if need be; UTF-8 unless an encoding is named."""
    stream = cast("BufferedReader", sys.stdin.buffer)
    first = stream.read1(READ_BYTES)
    arriving = arriving_chunks(first, stream.read1)
    chunks = decompressed(arriving, sniff_compression(first[:6]), STANDARD_INPUT)
    encoding = encoding_of(first, read)
    yield from plain_lines(
        text_chunks(chunks, encoding, STANDARD_INPUT), STANDARD_INPUT, encoding.of_rows, read, counts
    )


def arriving_chunks(first: bytes, read: Callable[[int], bytes]) -> Iterator[bytes]:
    """The first chunk, then whatever is there each time."""
    chunk = first
    while chunk:
        yield chunk
        chunk = read(READ_BYTES)


def encoding_of(first: bytes, read: ReadOptions) -> TextEncoding:
    """The named encoding, else the one of the byte order mark, else UTF-8."""
    name = UTF_8 if read.encoding is None else canonical_encoding(read.encoding)
    for mark, marked in MARKS:
        if first.startswith(mark) and (read.encoding is None or name == marked):
            return TextEncoding(marked, mark, needs_recoding(marked))
    return TextEncoding(name, b"", needs_recoding(name))


def plain_lines(
    chunks: Iterable[bytes], source: str, encoding: str, read: ReadOptions, counts: FingerprintCounts
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
    block: bytes, source: str, n_before: int, encoding: str, read: ReadOptions, counts: FingerprintCounts
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


def decoded(
    raw: bytes, source: str, line: int, encoding: str, read: ReadOptions, counts: FingerprintCounts
) -> str | None:
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
