"""Raw records, cut out of a byte stream some thousand at a time."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

BLOCK_BYTES = 1 << 20
"""About how many bytes of raw records one block holds; one record may be larger."""

Row = dict[str, object]


class RowFault(Exception):
    """Why one record is no row; becomes a ``BadRow`` or a count, as the user chose.

    Args:
        reason: Without file and line, such as ``"not a JSON object"``.
        byte: 0-based position inside the record of a byte that does not fit the encoding.
        value: That byte.
    """

    def __init__(self, reason: str, *, byte: int | None = None, value: int = 0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.byte = byte
        self.value = value


class RepairedRow(dict[str, object]):
    """A row in which a lone surrogate was replaced by U+FFFD."""


@dataclass(slots=True)
class Block:
    """Consecutive raw records of one source; the lists run in parallel.

    Args:
        lines: 1-based line on which each record starts, or its number where a format has no lines.
        raws: The exact bytes of each record, with its line end where it has one.
        starts: 0-based byte position of each record in what the reader sees; empty where it means nothing.
        faults: Records, by position in the block, that are known not to be rows before they are parsed.
        rows: Parsed rows, for formats that parse while they cut; ``None`` otherwise.
    """

    lines: Sequence[int]
    raws: list[bytes]
    starts: Sequence[int] = ()
    faults: Mapping[int, RowFault] = field(default_factory=dict)
    rows: list[Row] | None = None


def line_pieces(chunks: Iterable[bytes], block_bytes: int = BLOCK_BYTES) -> Iterator[bytes]:
    """Join and cut chunks so that each piece ends at a line break (but for the last) and has about one size."""
    pending: list[bytes] = []
    size = 0
    enough = block_bytes
    for chunk in chunks:
        pending.append(chunk)
        size += len(chunk)
        if size < enough:
            continue
        data = b"".join(pending)
        cut = data.rfind(b"\n") + 1
        if cut:
            yield data[:cut]
        pending = [data[cut:]]
        size -= cut
        enough = block_bytes if cut else 2 * size  # a long line is joined a few times only, not once a chunk
    if size:
        yield b"".join(pending)


def split_lines(piece: bytes) -> list[bytes]:
    r"""Lines with their ends; only ``\n`` ends a line, so ``\r\n`` does and a lone ``\r`` does not."""
    return io.BytesIO(piece).readlines()


def line_blocks(chunks: Iterable[bytes], block_bytes: int = BLOCK_BYTES) -> Iterator[Block]:
    """One record a line. Lines that are empty or hold only white space are no records, but they are counted."""
    line = 1
    position = 0
    for piece in line_pieces(chunks, block_bytes):
        raws = split_lines(piece)
        lines: Sequence[int] = range(line, line + len(raws))
        starts: Sequence[int] = list(accumulate(map(len, raws), initial=position))[:-1]
        line += len(raws)
        position += len(piece)
        if any(map(bytes.isspace, raws)):
            kept = [index for index, raw in enumerate(raws) if not raw.isspace()]
            lines, starts = [lines[i] for i in kept], [starts[i] for i in kept]
            raws = [raws[i] for i in kept]
        if raws:
            yield Block(lines, raws, starts)
