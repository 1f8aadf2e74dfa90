"""One raw JSON record to one row, exactly.

orjson reads almost every row. What it refuses is read again by the standard library, which knows more: lone
surrogates (``"\\ud83d"``, valid JSON, not valid Unicode) become U+FFFD and the row is counted as repaired; ``NaN`` and
``Infinity``, which Python programs write, are accepted. Anything else is a fault of that row.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import cast

import orjson

from simhash_es.backends.files.blocks import Block, RepairedRow, Row, RowFault
from simhash_es.backends.files.encodings import UTF_8

REPLACEMENT = "\ufffd"
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class Literal(str):
    """A JSON number kept as the characters it is written with."""

    __slots__ = ()


def json_rows(block: Block, encoding: str) -> Iterator[Row | RowFault]:
    """The rows of a block, in order; a fault in the place of each record that is none."""
    loads = orjson.loads
    is_utf8 = encoding == UTF_8
    for index, raw in enumerate(block.raws):
        if index in block.faults:
            yield block.faults[index]
            continue
        try:
            row = loads(raw if is_utf8 else raw.decode(encoding))
        except ValueError:  # orjson's and Unicode's errors both are
            yield _read_again(raw, encoding)
            continue
        yield cast("Row", row) if type(row) is dict else _no_object(row)


def decode_record(raw: bytes, encoding: str) -> str:
    """Characters of one record.

    Raises:
        RowFault: A byte does not fit; carries its position.
    """
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as error:
        value = raw[error.start]
        reason = f"byte 0x{value:02x} at position {error.start} of the row does not fit {encoding.upper()}"
        raise RowFault(reason, byte=error.start, value=value) from error


def _no_object(value: object) -> RowFault:
    names = {list: "an array", str: "a string", bool: "true or false", type(None): "null"}
    return RowFault(f"not a JSON object but {names.get(type(value), 'a number')}")


def _read_again(raw: bytes, encoding: str) -> Row | RowFault:
    try:
        row: object = json.loads(decode_record(raw, encoding).lstrip("\ufeff"), parse_int=_whole_number)
    except RowFault as fault:
        return fault
    except json.JSONDecodeError as error:
        return RowFault(f"not valid JSON: {error.msg.removesuffix(' at')} (column {error.pos + 1} of the row)")
    except RecursionError:
        return RowFault("not readable: nested too deeply")
    if not isinstance(row, dict):
        return _no_object(row)
    repaired = {str(_repair(key)): _repair(value) for key, value in row.items()}
    return RepairedRow(repaired) if repaired != row else row


def _whole_number(digits: str) -> int | float:
    """An integer; as a float where Python refuses to convert so many digits. Ids are read again as written."""
    try:
        return int(digits)
    except ValueError:
        return float(digits)


def _repair(value: object) -> object:
    if isinstance(value, str):
        return _LONE_SURROGATE.sub(REPLACEMENT, value)
    if isinstance(value, list):
        return [_repair(item) for item in value]
    if isinstance(value, dict):
        return {_repair(key): _repair(item) for key, item in value.items()}
    return value


def literal_row(raw: bytes, encoding: str) -> Row:
    """The row once more with every number as the characters it is written with (``Literal``)."""
    text = raw.decode(encoding).lstrip("\ufeff")
    return cast("Row", json.loads(text, parse_float=Literal, parse_int=Literal, parse_constant=Literal))
