"""JSON lines: one object a line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from simhash_es.backends.files.blocks import Block, Row, RowFault, line_blocks
from simhash_es.backends.files.json_rows import json_rows, literal_row


class JsonLinesReader:
    """Reads JSON lines.

    Args:
        chunks: Gives the bytes from the start, without a byte order mark.
        encoding: Codec of the bytes.
    """

    known_fields = None

    def __init__(self, chunks: Callable[[], Iterable[bytes]], encoding: str) -> None:
        self._chunks = chunks
        self._encoding = encoding

    def blocks(self, *, whole: bool) -> Iterator[Block]:
        """Raw lines; ``whole`` makes no difference, they always are."""
        return line_blocks(self._chunks())

    def rows(self, block: Block) -> Iterable[Row | RowFault]:
        """Parsed rows of a block."""
        return json_rows(block, self._encoding)

    def literal(self, raw: bytes) -> Row:
        """A row with its numbers as written."""
        return literal_row(raw, self._encoding)
