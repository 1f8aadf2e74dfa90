"""A JSON array of objects, or JSON objects one after another, read as a stream.

Only one element at a time is held. Elements are cut out by counting brackets outside strings, so each keeps its exact
bytes, spaces and line breaks inside included. Whether an element is valid JSON is decided when it is parsed, and one
bad element does not hide those after it.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable, Iterator
from typing import NoReturn

from simhash_es.backends.files.blocks import BLOCK_BYTES, Block, Row, RowFault
from simhash_es.backends.files.encodings import UTF_8
from simhash_es.backends.files.json_rows import json_rows, literal_row
from simhash_es.errors import InputError

_SPACE = b" \t\r\n"
_STRUCTURE = re.compile(rb'[\[{]|[\]}]|"[^"\\]*(?:\\.[^"\\]*)*("?)', re.DOTALL)
_FLAT_OBJECT = re.compile(rb'\{[^{}\[\]"]*(?:"[^"\\]*(?:\\.[^"\\]*)*"[^{}\[\]"]*)*\}', re.DOTALL)
_SCALAR_END = re.compile(rb"[,\]\s]")
_OPEN = b"[{"


class JsonArrayReader:
    """Reads an array, or objects one after another; ``line`` of a row is its number, from 1.

    Args:
        chunks: Gives the bytes from the start, without a byte order mark.
        encoding: Codec of the bytes. When it is not UTF-8, elements are found in recoded bytes (the second byte of a
            GB18030 character may look like a bracket) and coded back.
        name: The file, for messages.
    """

    known_fields = None

    def __init__(self, chunks: Callable[[], Iterable[bytes]], encoding: str, name: str) -> None:
        self._chunks = chunks
        self._encoding = encoding
        self._name = name

    def is_array(self) -> bool:
        """Whether the file is one array, rather than objects one after another; an empty file counts as an array."""
        return next((start[:1] == b"[" for chunk in self._chunks() if (start := chunk.lstrip(_SPACE))), True)

    def blocks(self, *, whole: bool) -> Iterator[Block]:
        """Raw elements; ``whole`` makes no difference, they always are."""
        raws: list[bytes] = []
        number, size = 1, 0
        fault: RowFault | None = None
        for element in _ElementScanner(self._utf8_chunks(), self._name).elements():
            raw = element if isinstance(element, bytes) else element.raw
            fault = None if isinstance(element, bytes) else RowFault("the file ends inside this element or array")
            raws.append(raw if self._encoding == UTF_8 else self._as_stored(raw))
            size += len(raw)
            if size >= BLOCK_BYTES and fault is None:
                yield Block(range(number, number + len(raws)), raws)
                number, raws, size = number + len(raws), [], 0
        if raws:
            faults = {} if fault is None else {len(raws) - 1: fault}
            yield Block(range(number, number + len(raws)), raws, (), faults)

    def _utf8_chunks(self) -> Iterator[bytes]:
        """The bytes in UTF-8; bytes that fit no character pass through as lone surrogates."""
        if self._encoding == UTF_8:
            yield from self._chunks()
            return
        decoder = codecs.getincrementaldecoder(self._encoding)("surrogateescape")
        for chunk in self._chunks():
            yield decoder.decode(chunk).encode(UTF_8, "surrogatepass")
        yield decoder.decode(b"", True).encode(UTF_8, "surrogatepass")

    def _as_stored(self, raw: bytes) -> bytes:
        return raw.decode(UTF_8, "surrogatepass").encode(self._encoding, "surrogateescape")

    def rows(self, block: Block) -> Iterable[Row | RowFault]:
        """Parsed rows of a block."""
        return json_rows(block, self._encoding)

    def literal(self, raw: bytes) -> Row:
        """A row with its numbers as written."""
        return literal_row(raw, self._encoding)


class _CutOff:
    """The rest of a file that ends too early."""

    def __init__(self, raw: bytes) -> None:
        self.raw = raw


class _ElementScanner:
    """Cuts elements out of chunks; ``_data`` is what is held, ``_at`` how far it is used."""

    def __init__(self, chunks: Iterable[bytes], name: str) -> None:
        self._chunks = iter(chunks)
        self._name = name
        self._data = b""
        self._at = 0
        self._dropped = 0

    def elements(self) -> Iterator[bytes | _CutOff]:
        first = self._next_byte()
        in_array = first == b"["
        if first == b"":
            return
        if in_array:
            self._at += 1
            if self._next_byte() == b"]":
                self._at += 1
                self._expect_end()
                return
        while True:
            element = self._element()
            yield element
            if isinstance(element, _CutOff):
                return
            mark = self._next_byte()
            if not in_array and mark == b"":
                return
            if in_array and mark == b"":
                yield _CutOff(b"")
                return
            if in_array and mark == b"]":
                self._at += 1
                self._expect_end()
                return
            if in_array:
                self._expect_comma(mark)

    def _element(self) -> bytes | _CutOff:
        mark = self._next_byte()
        start = self._at
        end = self._end_of_nested(start) if mark in (b"{", b"[") else self._end_of_scalar(start)
        if end is None:
            rest, self._at = self._data[self._at :], len(self._data)
            return _CutOff(rest)
        self._at = end
        return self._data[start:end]

    def _end_of_nested(self, start: int) -> int | None:
        """Position after the bracket that closes the one at ``start``; ``None`` at the end of the file."""
        flat = _FLAT_OBJECT.match(self._data, start)
        if flat is not None:  # most objects hold no other: one step instead of one for every string
            return flat.end()
        depth = 0
        place = start
        while True:
            match = _STRUCTURE.search(self._data, place)
            if match is None or match.group(1) == b"":
                place = len(self._data) if match is None else match.start()
                if not self._grow():
                    return None
                continue
            place = match.end()
            if match.group(1) is None:
                depth += 1 if match.group() in (b"{", b"[") else -1
                if depth == 0:
                    return place

    def _end_of_scalar(self, start: int) -> int | None:
        """Position after a number, word or string that stands where an object should."""
        while True:
            if self._data[start : start + 1] == b'"':
                match = _STRUCTURE.match(self._data, start)
                if match is not None and match.group(1):
                    return match.end()
            else:
                match = _SCALAR_END.search(self._data, start)
                if match is not None:
                    if match.start() == start:
                        self._broken(start)
                    return match.start()
            if not self._grow():
                return None

    def _next_byte(self) -> bytes:
        """The next byte that is no white space, not taken yet; empty at the end."""
        while True:
            rest = len(self._data)
            while self._at < rest and self._data[self._at] in _SPACE:
                self._at += 1
            if self._at < rest:
                self._drop_used()
                return self._data[self._at : self._at + 1]
            self._drop_used()
            if not self._grow():
                return b""

    def _drop_used(self) -> None:
        if self._at >= BLOCK_BYTES or self._at == len(self._data):
            self._dropped += self._at
            self._data = self._data[self._at :]
            self._at = 0

    def _grow(self) -> bool:
        """Take at least as many bytes again as are held, so that a large element is not rescanned for each chunk."""
        pieces = [self._data]
        wanted = max(BLOCK_BYTES, len(self._data) - self._at)
        for chunk in self._chunks:
            pieces.append(chunk)
            wanted -= len(chunk)
            if wanted <= 0:
                break
        if len(pieces) == 1:
            return False
        self._data = b"".join(pieces)
        return True

    def _expect_comma(self, mark: bytes) -> None:
        if mark != b",":
            self._broken(self._at)
        self._at += 1

    def _expect_end(self) -> None:
        if self._next_byte() != b"":
            self._broken(self._at)

    def _broken(self, place: int) -> NoReturn:
        byte = self._dropped + place
        found = self._data[place : place + 1].decode("latin-1")
        raise InputError(
            f"{self._name}: the JSON array is broken at byte {byte}: {found!r} is no comma, element or end",
            "what follows cannot be cut into rows; mend the file there",
            source=self._name,
            byte=byte,
        )
