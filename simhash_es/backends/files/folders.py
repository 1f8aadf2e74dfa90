"""Which files of a folder are read, and how.

Hidden files and folders (a leading dot) are never read; links to folders are not followed. The order is by path,
character by character, so it is the same on every machine. Then:

- a folder in which most files have a data suffix (``.jsonl .ndjson .json .csv .tsv .parquet``, with or without a
  compression suffix), notes such as ``README.md`` not counted, is a set of data files, each read in its own format;
- any other folder is a set of documents, one a file.

Files of the other kind (notes beside data, tables of labels beside documents) are left out and listed by
``Inputs.left_out``, for the user to see. ``--input-format text`` makes a document of every file.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from simhash_es.backends.files.compression import split_suffix
from simhash_es.backends.files.options import DataFormat
from simhash_es.errors import InputError

DATA_SUFFIXES = {
    "jsonl": DataFormat.JSONL,
    "ndjson": DataFormat.JSONL,
    "json": DataFormat.JSON,
    "csv": DataFormat.CSV,
    "tsv": DataFormat.TSV,
    "tab": DataFormat.TSV,
    "parquet": DataFormat.PARQUET,
    "pq": DataFormat.PARQUET,
}
"""Suffixes that mean rows with fields."""

_NOTES = frozenset({"readme", "license", "licence", "copying", "notice", "authors", "changelog", "changes"})


def data_format(name: str) -> DataFormat | None:
    """Format by suffix, below a compression suffix; ``None`` when the suffix is no data suffix."""
    stem, _ = split_suffix(name)
    return DATA_SUFFIXES.get(stem.rpartition(".")[2].lower()) if "." in stem else None


@dataclass(frozen=True, slots=True)
class FolderContents:
    """Paths relative to the folder, with ``/`` between parts.

    Args:
        documents: Files that are one document each.
        data: Files of rows; never together with ``documents``.
        left_out: Files of the kind that is in the minority.
    """

    documents: tuple[str, ...]
    data: tuple[str, ...]
    left_out: tuple[str, ...]


def list_folder(folder: Path, name: str, format: DataFormat | None) -> FolderContents:
    """Decide what a folder holds; ``format`` is the user's choice for all files, ``None`` decides by suffix.

    Raises:
        InputError: The folder cannot be listed or holds no file.
    """
    files = _walk(folder, name)
    if not files:
        raise InputError(f"{name}: the folder holds no file that can be read", "hidden files are not read", source=name)
    if format is not None:
        return FolderContents(files, (), ()) if format is DataFormat.TEXT else FolderContents((), files, ())
    data = tuple(file for file in files if data_format(file) is not None)
    others = tuple(file for file in files if data_format(file) is None)
    if len(data) > sum(not _is_note(file) for file in others):
        return FolderContents((), data, others)
    return FolderContents(others, (), data)


def _is_note(file: str) -> bool:
    """Whether a file only tells about the others, by its name."""
    return file.rpartition("/")[2].partition(".")[0].lower() in _NOTES


def _walk(folder: Path, name: str) -> tuple[str, ...]:
    def refuse(error: OSError) -> None:
        raise InputError(
            f"{name}: the folder cannot be read: {error.strerror}: {error.filename}", source=name
        ) from error

    files: list[str] = []
    for parent, folders, names in os.walk(folder, onerror=refuse):
        folders[:] = [entry for entry in folders if not entry.startswith(".")]
        base = Path(parent).relative_to(folder)
        files += [(base / entry).as_posix() for entry in names if not entry.startswith(".")]
    return tuple(sorted(file for file in files if (folder / file).is_file()))
