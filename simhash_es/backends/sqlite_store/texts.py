"""Texts as they lie in a store: as they are, or compressed where that is shorter."""

from __future__ import annotations

import zlib

from simhash_es.backends.sqlite_store.database import damaged

LEVEL = 1
SHORT = 100  # bytes below which compression seldom gains anything


def pack_text(text: bytes) -> str | bytes:
    """TEXT as it is, or BLOB compressed: the kind of value says which.

    Args:
        text: UTF-8.
    """
    if len(text) >= SHORT:
        packed = zlib.compress(text, LEVEL)
        if len(packed) < len(text):
            return packed
    return text.decode()


def unpack_text(path: str, stored: object) -> bytes:
    """Inverse of :func:`pack_text`.

    Raises:
        StoreError: The value is damaged.
    """
    if isinstance(stored, str):
        return stored.encode()
    if isinstance(stored, bytes):
        try:
            return zlib.decompress(stored)
        except zlib.error as error:
            raise damaged(path, f"a text cannot be unpacked ({error})") from error
    raise damaged(path, f"a text is of type {type(stored).__name__}")
