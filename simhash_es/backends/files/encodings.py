"""Which encoding a file is in: found out, or a stop, never a silent guess that garbles.

The order of evidence:

1. A byte order mark: UTF-8, UTF-16 or UTF-32. It is not part of any row.
2. The encoding named by the user. GB2312 and GBK are read as GB18030, which contains both. A file that is UTF-8
   beyond doubt stays UTF-8 when a Chinese encoding is named, so one ``--encoding gb18030`` serves a mixed set.
3. Valid UTF-8. The sample is the first megabyte from the first byte that is not ASCII; an invalid byte after it is
   an error of its row.
4. GB18030, if the whole file is valid GB18030 **and** looks like Chinese: at least half of its characters beyond
   ASCII are among the frequent ones of ``common_characters.py``, and clearly more than the share that any wrong
   decoding reaches by chance. Big5, Latin-1, Windows-1252, Shift-JIS and Korean files do not pass.
5. Otherwise a stop that names file, byte and option. When bad rows are skipped and at most half of the lines are
   not UTF-8, the file counts as UTF-8 and those lines as bad rows.

Encodings that keep line breaks and quotes as single ASCII bytes are split as bytes, so rows stay exactly as they
are; UTF-16, UTF-32 and the stateful ones are recoded to UTF-8 first.
"""

from __future__ import annotations

import codecs
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from simhash_es.backends.files.common_characters import COMMON_CHINESE
from simhash_es.backends.files.options import OnError
from simhash_es.errors import InvalidOption, UndecodableInput

UTF_8 = "utf-8"
GB18030 = "gb18030"
MARKS = (  # UTF-32 first: its little-endian mark begins with that of UTF-16
    (codecs.BOM_UTF8, UTF_8),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_GB_NAMES = frozenset(
    {
        *("gb2312", "gb_2312", "gb_2312_80", "csgb2312", "x_gb2312", "euc_cn", "euc_gb2312"),
        *("gbk", "x_gbk", "windows_936"),
        *("gb18030", "gb_18030", "gb18030_2000", "gb18030_2022"),
    }
)
"""Names that Python does not know, beside those it does."""
_CHINESE = frozenset({GB18030, "big5", "big5hkscs", "cp950"})
_ASCII_PROBE = "\t\n\r !\"#$%&'()*+,-./0123456789:;<=>?@AZ[\\]^_`az{|}~"
_START_BYTES = 4096  # for the mark and for the zero bytes of UTF-16
_SAMPLE_BYTES = 1 << 20
_SURVEY_CHARACTERS = 1 << 20
_MIN_COMMON_SHARE = 0.5  # running Chinese has 0.7 and more, wrong decodings at most 0.2
_CHANCE_SHARE = 0.2
_CHANCE_MARGIN = 3.0  # standard deviations above chance; the ambiguity of very short files ends in a stop
_MOST_ZERO_BYTES = 0.2  # UTF-16 without a mark is full of zero bytes, text has none


@dataclass(frozen=True, slots=True)
class TextEncoding:
    """How the bytes of one file become characters.

    Args:
        name: Codec of the file.
        mark: Byte order mark at its start, dropped before reading.
        recoded: Whether readers see UTF-8 instead of the file's own bytes.
    """

    name: str
    mark: bytes = b""
    recoded: bool = False

    @property
    def of_rows(self) -> str:
        """Codec of the bytes that readers see."""
        return UTF_8 if self.recoded else self.name


def canonical_encoding(name: str) -> str:
    """Name of Python's codec; GB2312 and GBK give GB18030.

    Raises:
        InvalidOption: No such text encoding.
    """
    plain = name.strip().lower().replace("-", "_").replace(" ", "_")
    if plain in _GB_NAMES:
        return GB18030
    try:
        "a".encode(plain, "replace")  # refuses codecs that are no text encodings, or that know no replacement (idna)
        found = codecs.lookup(plain).name
    except (LookupError, UnicodeError) as error:
        raise InvalidOption(
            f"--encoding {name!r} is not a known text encoding",
            "names such as utf-8, gb18030, big5, utf-16-le or cp1252 are known",
        ) from error
    if found == "utf-8-sig":
        return UTF_8
    return GB18030 if found in _GB_NAMES or found == "cp936" else found


def needs_recoding(name: str) -> bool:
    """Whether an encoding must be recoded because its bytes cannot be split at ASCII line breaks and quotes."""
    if name.startswith(("iso2022", "utf-16", "utf-32", "utf-7", "hz")):
        return True
    return _ASCII_PROBE.encode(name, "replace") != _ASCII_PROBE.encode("ascii")


def detect_encoding(
    chunks: Callable[[], Iterable[bytes]],
    name: str,
    *,
    encoding: str | None = None,
    on_error: OnError = OnError.STOP,
    reach_bytes: int | None = None,
) -> TextEncoding:
    """Find the encoding of one file.

    Args:
        chunks: Gives the decompressed bytes from the start, each time it is called.
        name: The file, for messages.
        encoding: The encoding the user named.
        on_error: Whether lines that are not UTF-8 may be skipped.
        reach_bytes: How far to look for a byte beyond ASCII; ``None`` to the end, which costs little on a plain file
            and a whole decompression on a compressed one.

    Raises:
        UndecodableInput: The bytes fit no encoding that can be told with certainty.
        InvalidOption: ``encoding`` is unknown.
    """
    wanted = None if encoding is None else canonical_encoding(encoding)
    sample = _Sample.take(chunks(), reach_bytes)
    for mark, codec in MARKS:
        if sample.start.startswith(mark):
            return TextEncoding(codec, mark, needs_recoding(codec))
    if wanted is not None:
        if wanted in _CHINESE and _is_utf8_beyond_doubt(sample, wanted):
            return TextEncoding(UTF_8)
        return TextEncoding(wanted, b"", needs_recoding(wanted))
    if sample.zero_share > _MOST_ZERO_BYTES:
        raise UndecodableInput(
            f"{name}: one byte in {round(1 / sample.zero_share)} is zero: UTF-16 or UTF-32 without a mark, or no text",
            "if it is text, say its encoding: --encoding utf-16-le",
            source=name,
            byte=sample.zero_at,
        )
    fault = sample.first_fault()
    if fault is None:
        return TextEncoding(UTF_8)
    if _is_plausible_gb18030(chunks()):
        return TextEncoding(GB18030)
    if on_error is OnError.SKIP and _is_mostly_utf8(chunks()):
        return TextEncoding(UTF_8)
    raise undecodable(name, sample.offset + fault, sample.data[fault], line=sample.line_of(fault))


def undecodable(
    name: str, byte: int, value: int, *, line: int | None = None, encoding: str = UTF_8
) -> UndecodableInput:
    """The error for a byte that does not fit; ``byte`` is its 0-based position in the decompressed file."""
    guess = ", and the file is not clearly GB18030 either" if encoding == UTF_8 else ""
    where = f"{name}: byte {byte}" if line is None else f"{name}: line {line}, byte {byte}"
    return UndecodableInput(
        f"{where} (0x{value:02x}) does not fit {encoding.upper()}{guess}",
        "say the encoding, for example --encoding gb18030 (or big5, cp1252 …), or skip such rows: --on-error skip",
        source=name,
        line=line,
        byte=byte,
    )


@dataclass(frozen=True, slots=True)
class _Sample:
    """The part of a file that decides: about a megabyte from the first chunk with a byte beyond ASCII."""

    start: bytes
    data: bytes
    offset: int
    lines_before: int
    is_end: bool

    @classmethod
    def take(cls, chunks: Iterable[bytes], reach_bytes: int | None) -> _Sample:
        start = b""
        pieces: list[bytes] = []
        offset = lines = size = 0
        for chunk in chunks:
            start = start if len(start) >= _START_BYTES else start + chunk[:_START_BYTES]
            if not pieces and chunk.isascii():
                offset += len(chunk)
                lines += chunk.count(b"\n")
                if reach_bytes is not None and offset >= reach_bytes:
                    return cls(start, b"", offset, lines, False)
                continue
            pieces.append(chunk)
            size += len(chunk)
            if size >= _SAMPLE_BYTES:
                return cls(start, b"".join(pieces), offset, lines, False)
        return cls(start, b"".join(pieces), offset, lines, True)

    @property
    def zero_share(self) -> float:
        return self.start.count(0) / len(self.start) if self.start else 0.0

    @property
    def zero_at(self) -> int:
        return self.start.find(0)

    def first_fault(self) -> int | None:
        """Position in ``data`` of the first byte that is not UTF-8."""
        try:
            codecs.utf_8_decode(self.data, "strict", self.is_end)
        except UnicodeDecodeError as error:
            return error.start
        return None

    def line_of(self, position: int) -> int:
        return self.lines_before + self.data.count(b"\n", 0, position) + 1


def _is_utf8_beyond_doubt(sample: _Sample, wanted: str) -> bool:
    """Whether a file is UTF-8 although a Chinese encoding is named: it is more Chinese when read as UTF-8."""
    if sample.first_fault() is not None:
        return False
    as_utf8 = _count_common(Counter(sample.data.decode(UTF_8, "ignore")))[0]
    as_wanted = _count_common(Counter(sample.data.decode(wanted, "ignore")))[0]
    return as_utf8 > as_wanted


def _is_plausible_gb18030(chunks: Iterable[bytes]) -> bool:
    """Whether all bytes are valid GB18030 and the characters are those of Chinese text."""
    seen: Counter[str] = Counter()
    decoder = codecs.getincrementaldecoder(GB18030)()
    left = _SURVEY_CHARACTERS
    try:
        for chunk in chunks:
            text = decoder.decode(chunk)
            if left > 0 and not text.isascii():
                seen.update(text)
                left -= len(text)
        seen.update(decoder.decode(b"", True))
    except UnicodeDecodeError:
        return False
    return is_chinese_like(seen)


def is_chinese_like(seen: Counter[str]) -> bool:
    """Whether characters, counted, look like Chinese text rather than like a wrong decoding.

    Source: a one-sided binomial margin over ``_CHANCE_SHARE``, beside the fixed share.
    """
    n_common, n_all = _count_common(seen)
    if n_all == 0:
        return False
    chance = _CHANCE_SHARE * n_all
    spread = math.sqrt(n_all * _CHANCE_SHARE * (1 - _CHANCE_SHARE))
    return n_common >= _MIN_COMMON_SHARE * n_all and n_common >= chance + _CHANCE_MARGIN * spread


def _count_common(seen: Counter[str]) -> tuple[int, int]:
    """Number of frequent Chinese characters, and of all characters beyond ASCII."""
    beyond = {character: count for character, count in seen.items() if not character.isascii()}
    return sum(count for character, count in beyond.items() if character in COMMON_CHINESE), sum(beyond.values())


def _is_mostly_utf8(chunks: Iterable[bytes]) -> bool:
    """Whether at most half of the lines that hold anything are not UTF-8."""
    n_lines = n_bad = 0
    for line in _lines(chunks):
        if not line.strip():
            continue
        n_lines += 1
        try:
            line.decode(UTF_8)
        except UnicodeDecodeError:
            n_bad += 1
    return n_bad * 2 <= n_lines


def _lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    rest = b""
    for chunk in chunks:
        lines = (rest + chunk).split(b"\n")
        rest = lines.pop()
        yield from lines
    if rest:
        yield rest
