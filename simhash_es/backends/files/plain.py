"""Plain text: a document a line, or a document a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from simhash_es.backends.files.blocks import BLOCK_BYTES, Block, Row, RowFault, line_blocks
from simhash_es.backends.files.encodings import detect_encoding
from simhash_es.backends.files.json_rows import decode_record
from simhash_es.backends.files.options import OnError
from simhash_es.backends.files.sources import StoredFile
from simhash_es.errors import UndecodableInput


class LinesReader:
    """Reads a document a line; the row has one field, ``text``, without the line end.

    Args:
        chunks: Gives the bytes from the start, without a byte order mark.
        encoding: Codec of the bytes.
    """

    known_fields = ("text",)

    def __init__(self, chunks: Callable[[], Iterable[bytes]], encoding: str) -> None:
        self._chunks = chunks
        self._encoding = encoding

    def blocks(self, *, whole: bool) -> Iterator[Block]:
        """Raw lines; ``whole`` makes no difference, they always are."""
        return line_blocks(self._chunks())

    def rows(self, block: Block) -> Iterator[Row | RowFault]:
        """Rows of a block."""
        for raw in block.raws:
            try:
                text = decode_record(raw, self._encoding)
            except RowFault as fault:
                yield fault
            else:
                yield {"text": text[:-2] if text.endswith("\r\n") else text.removesuffix("\n")}

    def literal(self, raw: bytes) -> Row:
        """Never called: plain text has no numbers."""
        raise AssertionError("plain text has no numbers")


class DocumentsReader:
    """Reads a document a file; a row has ``id`` (the relative path) and ``text``.

    ``line`` of a row is the file's number, from 1.
    Each file's encoding is found by itself. The raw record is the file's content, decompressed.

    Args:
        files: The documents.
        names: Their ids.
        encoding: The encoding the user named.
    """

    known_fields = ("id", "text")

    def __init__(self, files: tuple[StoredFile, ...], names: tuple[str, ...], encoding: str | None) -> None:
        self._files = files
        self._names = names
        self._encoding = encoding

    def blocks(self, *, whole: bool) -> Iterator[Block]:
        """File contents; ``whole`` makes no difference, they always are."""
        raws: list[bytes] = []
        number, size = 1, 0
        for file in self._files:
            raws.append(b"".join(file.chunks()))
            size += len(raws[-1])
            if size >= BLOCK_BYTES:
                yield Block(range(number, number + len(raws)), raws)
                number, raws, size = number + len(raws), [], 0
        if raws:
            yield Block(range(number, number + len(raws)), raws)

    def rows(self, block: Block) -> Iterator[Row | RowFault]:
        """Rows of a block."""
        for number, raw in zip(block.lines, block.raws, strict=True):
            try:
                yield {"id": self._names[number - 1], "text": self.decode(raw, self._files[number - 1].name)}
            except UndecodableInput as error:
                value = 0 if error.byte is None else raw[error.byte]
                yield RowFault(error.message.removeprefix(f"{error.source}: "), byte=error.byte, value=value)

    def decode(self, raw: bytes, name: str) -> str:
        """Text of one document.

        Raises:
            UndecodableInput: Its encoding cannot be told, or its bytes do not fit the one named.
        """
        encoding = detect_encoding(lambda: (raw,), name, encoding=self._encoding, on_error=OnError.STOP)
        try:
            return raw[len(encoding.mark) :].decode(encoding.name)
        except UnicodeDecodeError as error:
            byte = len(encoding.mark) + error.start
            raise UndecodableInput(
                f"{name}: byte {byte} (0x{raw[byte]:02x}) does not fit {encoding.name.upper()}", source=name, byte=byte
            ) from error

    def literal(self, raw: bytes) -> Row:
        """Never called: ids are strings."""
        raise AssertionError("ids of documents are strings")
