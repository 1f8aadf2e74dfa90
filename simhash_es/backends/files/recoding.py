"""From the bytes of a file to the bytes that readers see."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator

from simhash_es.backends.files.encodings import UTF_8, TextEncoding, undecodable


def text_chunks(chunks: Iterable[bytes], encoding: TextEncoding, name: str) -> Iterator[bytes]:
    """The bytes that readers see: without the mark, and recoded to UTF-8 where needed.

    Raises:
        UndecodableInput: A recoded file has bytes that do not fit its encoding.
    """
    drop = len(encoding.mark)
    plain = _without_start(chunks, drop)
    if not encoding.recoded:
        yield from plain
        return
    decoder = codecs.getincrementaldecoder(encoding.name)()
    position = drop
    for chunk in plain:
        held = len(decoder.getstate()[0])
        yield _decode_step(decoder, chunk, position - held, encoding.name, name)
        position += len(chunk)
    yield _decode_step(decoder, b"", position - len(decoder.getstate()[0]), encoding.name, name, final=True)


def _decode_step(
    decoder: codecs.IncrementalDecoder, chunk: bytes, position: int, encoding: str, name: str, *, final: bool = False
) -> bytes:
    try:
        return decoder.decode(chunk, final).encode(UTF_8)
    except UnicodeError as error:
        start = error.start if isinstance(error, UnicodeDecodeError) else 0
        value = error.object[start] if isinstance(error, UnicodeDecodeError) else 0
        raise undecodable(name, position + start, value, encoding=encoding) from error


def _without_start(chunks: Iterable[bytes], n_bytes: int) -> Iterator[bytes]:
    left = n_bytes
    for chunk in chunks:
        if left == 0:
            yield chunk
            continue
        rest = chunk[left:]
        left -= min(left, len(chunk))
        if rest:
            yield rest
