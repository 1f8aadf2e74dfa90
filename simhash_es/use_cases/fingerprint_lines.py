"""Fingerprints of lines or rows as they come in: a filter with constant memory, one answer for each line.

Plain lines are answered in step with what has arrived, so the filter can stand in a pipe with a slow or endless
source. Small inputs are done before compiled kernels could be loaded, larger ones switch over to them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from simhash_es.backends.files.inputs import Inputs
from simhash_es.backends.files.options import DataFormat, ReadOptions
from simhash_es.backends.files.recoding import text_chunks
from simhash_es.core.bits import to_hex
from simhash_es.core.kernels.runtime import is_warm, load_kernels
from simhash_es.core.presets import DEFAULT
from simhash_es.core.profile import Profile
from simhash_es.core.reference import reference_fingerprint
from simhash_es.use_cases.text_lines import STANDARD_INPUT, LineCounts, Texts, plain_lines, standard_input_lines

if TYPE_CHECKING:
    from simhash_es.core.batch import Fingerprinter

SMALL_CHARS = 20_000
"""Text the reference makes in the time it takes to load compiled kernels from the cache."""
SMALL_CHARS_COLD = 400_000
"""The same when they have to be compiled first."""


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


def fingerprint_lines(options: FingerprintOptions, write: Callable[[bytes], None]) -> LineCounts:
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
    counts = LineCounts()
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


def texts_of(options: FingerprintOptions, counts: LineCounts) -> Iterator[Texts]:
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


def row_texts(inputs: Inputs, counts: LineCounts) -> Iterator[Texts]:
    """Rows of any format."""
    for batch in inputs.batches():
        yield Texts(batch.ids, batch.texts)
    counts.skipped += inputs.skipped
