"""What to read from the input files, and how strict to be."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from simhash_es.errors import InvalidOption

DEFAULT_TEXT_FIELDS = ("text", "content", "body")
"""Text fields tried, in this order, when none is named; the first one that a row (or a header) has is used."""

DEFAULT_ID_FIELDS = ("id", "_id")
"""Id fields tried when none is named. A row with neither is called ``source:line``."""


class DataFormat(StrEnum):
    """How rows are written in a file."""

    JSONL = "jsonl"
    """One JSON object a line."""
    JSON = "json"
    """One array of objects, or objects one after another."""
    CSV = "csv"
    """Cells separated by commas, first record is the header."""
    TSV = "tsv"
    """Cells separated by tabs, first record is the header."""
    PARQUET = "parquet"
    """Apache Parquet (needs the extra ``parquet``)."""
    LINES = "lines"
    """Plain text, a document a line."""
    TEXT = "text"
    """Plain text, a document a file."""

    @property
    def place(self) -> str:
        """What the number of a row counts, for messages: lines of the file, or rows where lines mean nothing."""
        return "row" if self in (DataFormat.JSON, DataFormat.PARQUET) else "line"


class OnError(StrEnum):
    """What a row that cannot be read does to the run."""

    STOP = "stop"
    SKIP = "skip"


_Choice = TypeVar("_Choice", DataFormat, OnError)


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadOptions:
    """What to read, and how strict to be. Strings are accepted for the two enums.

    Args:
        format: Format of all sources; ``None`` decides by suffix (see ``sources.py``).
        encoding: Encoding of the files that are not Unicode; ``None`` detects it (see ``encodings.py``).
        id_field: Field with the id. When named, a row without it is a bad row. ``None``: ``id``, else ``_id``,
            else the row is called ``source:line``.
        text_fields: Fields whose values, joined by line breaks, are the text. Dotted paths go into objects and
            through lists (``meta.title``); a key that itself holds the dots is found first. For CSV and TSV the
            column names. Empty: ``text``, else ``content``, else ``body``.
        fingerprint_field: Field with a ready-made fingerprint in hexadecimal.
        extra_fields: Fields whose values are wanted with each row, for keep policies.
        on_error: Stop at the first bad row, or skip and count it.
        unique_ids: A second row with the same id is a bad row.
        need_text: ``False`` leaves texts unread (``None``), for ready-made fingerprints.
        whole_rows: Parquet only: give each row of a batch as a JSON object in ``RowBatch.raws``. Other formats
            always do. It makes Parquet read every column.

    Raises:
        InvalidOption: An unknown format or error mode, or an empty field name.
    """

    format: DataFormat | None = None
    encoding: str | None = None
    id_field: str | None = None
    text_fields: tuple[str, ...] = ()
    fingerprint_field: str | None = None
    extra_fields: tuple[str, ...] = ()
    on_error: OnError = OnError.STOP
    unique_ids: bool = False
    need_text: bool = True
    whole_rows: bool = False

    def __post_init__(self) -> None:
        if self.format is not None:
            object.__setattr__(self, "format", _choice(DataFormat, self.format, "--input-format"))
        object.__setattr__(self, "on_error", _choice(OnError, self.on_error, "--on-error"))
        named = (self.id_field, self.fingerprint_field, *self.text_fields, *self.extra_fields)
        if any(name is not None and not name for name in named):
            raise InvalidOption("a field name is empty", "give the name of a field or column")

    def names_fields(self) -> bool:
        """Whether any field is named, which plain text cannot have."""
        return bool(self.id_field or self.text_fields or self.fingerprint_field or self.extra_fields)


def _choice(kind: type[_Choice], value: str, option: str) -> _Choice:
    try:
        return kind(value)
    except ValueError:
        raise InvalidOption(f"{option} {value!r} is not known", f"choose one of: {', '.join(kind)}") from None
