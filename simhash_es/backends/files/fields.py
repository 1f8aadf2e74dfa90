"""Values of rows: paths, texts and ids."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Mapping
from decimal import Decimal

import orjson

from simhash_es.backends.files.blocks import Row, RowFault
from simhash_es.backends.files.json_rows import Literal


def value_at(row: Mapping[str, object], path: str) -> tuple[bool, object]:
    """Whether a row has a field, and its value.

    A key equal to the whole path comes first; otherwise dots go into objects, and through a list into each of its
    objects, which gives the list of their values.

    Returns:
        ``(False, None)`` when the field is absent; ``(True, None)`` when it is null.
    """
    if path in row:
        return True, row[path]
    head, dot, rest = path.partition(".")
    if not dot or head not in row:
        return False, None
    inner = row[head]
    if isinstance(inner, Mapping):
        return value_at(inner, rest)
    if isinstance(inner, list):
        found = [value_at(item, rest) for item in inner if isinstance(item, Mapping)]
        values = [value for has, value in found if has]
        return bool(values), values
    return False, None


def text_value(value: object, path: str) -> str | None:
    """A field's value as text: a string, or a list of strings (also nested) joined by line breaks; null is ``None``.

    Raises:
        RowFault: A number, a truth value or an object.
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bytes):  # Parquet written without the note that a column is text
        try:
            return value.decode()
        except UnicodeDecodeError as error:
            raise RowFault(f"the bytes in field {path!r} are not UTF-8") from error
    if isinstance(value, list):
        parts = [part for part in (text_value(item, path) for item in value) if part is not None]
        return "\n".join(parts) if parts else None
    raise RowFault(f"field {path!r} is {kind_name(value)}, not text")


def id_token(value: object, path: str, literal: Callable[[], object]) -> bytes | None:
    """An id as a JSON token with exactly the characters of the input; ``None`` when there is no id.

    Args:
        value: The value as parsed.
        path: Field name, for messages.
        literal: Gives the value as it is written, for numbers that parsing may have changed.

    Raises:
        RowFault: A list or an object.
    """
    if isinstance(value, str):
        return orjson.dumps(value)
    if value is None:
        return None
    if isinstance(value, bool):
        return b"true" if value else b"false"
    if isinstance(value, int) and value:
        return b"%d" % value
    if isinstance(value, int | float):  # zero may be written -0; floats and large integers lose digits
        written = literal()
        if isinstance(written, Literal):
            return written.encode()
        return None if isinstance(written, float) and math.isnan(written) else orjson.dumps(written)
    if isinstance(value, Decimal):
        return str(value).encode() if value.is_finite() else None
    if isinstance(value, bytes):
        return orjson.dumps(value.decode() if _is_utf8(value) else value.hex())
    if isinstance(value, dt.date | dt.time):
        return orjson.dumps(value.isoformat())
    raise RowFault(f"the id in field {path!r} is {kind_name(value)}")


def kind_name(value: object) -> str:
    """What a value is, in words."""
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float | Decimal):
        return "a number"
    if isinstance(value, list):
        return "a list"
    return "an object" if isinstance(value, Mapping) else f"a {type(value).__name__}"


def list_fields(row: Row, limit: int = 20) -> str:
    """Names of a row's fields for a message, nested objects with dots."""
    names: list[str] = []
    for key, value in row.items():
        names += [f"{key}.{inner}" for inner in value] if isinstance(value, dict) and value else [key]
    shown = ", ".join(names[:limit])
    return shown + (f" and {len(names) - limit} more" if len(names) > limit else "") if names else "none"


def _is_utf8(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True
