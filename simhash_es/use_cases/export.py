"""A store in a compact form: memory-mapped values, or one Roaring bitmap for each word value."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import IO, Any

import orjson

from simhash_es._version import __version__
from simhash_es.backends.exports import write_npy, write_roaring
from simhash_es.backends.files.outputs import AtomicOutput, finalise, translated_errors
from simhash_es.backends.sqlite_store import SeenStore
from simhash_es.errors import InvalidOption

FORMAT_VERSION = 1
IDS_SUFFIX, META_SUFFIX = ".ids.jsonl", ".json"
LINES_AT_ONCE = 4096


class ExportFormat(StrEnum):
    """Forms of an export; the value is also the suffix of its main file."""

    NPY = "npy"
    """All values as one NumPy array that can be memory-mapped."""
    ROARING = "roaring"
    """One Roaring bitmap for each word value, and the values."""


WRITERS: dict[ExportFormat, Callable[[SeenStore, IO[bytes]], None]] = {
    ExportFormat.NPY: write_npy,
    ExportFormat.ROARING: write_roaring,
}


@dataclass(frozen=True, slots=True)
class ExportedFile:
    """One file of an export.

    Attributes:
        path: Where it is.
        n_bytes: Its size.
    """

    path: str
    n_bytes: int


@dataclass(frozen=True, slots=True)
class ExportSummary:
    """What was written.

    Attributes:
        format: Form of the export.
        rows: Documents.
        values: The main file: everything a search needs.
        ids: Id, source and line of each row, in the order of rows.
        meta: Profile and layout.
    """

    format: ExportFormat
    rows: int
    values: ExportedFile
    ids: ExportedFile
    meta: ExportedFile

    @property
    def bytes_per_document(self) -> float:
        """Of the main file; 0 for an empty store."""
        return self.values.n_bytes / self.rows if self.rows else 0.0

    def to_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "format": str(self.format),
            "rows": self.rows,
            "bytes_per_document": round(self.bytes_per_document, 2),
            "ids_bytes_per_document": round(self.ids.n_bytes / self.rows, 2) if self.rows else 0.0,
            "files": {file.path: file.n_bytes for file in (self.values, self.ids, self.meta)},
        }


def export_store(path: str, target: str, format: ExportFormat | str) -> ExportSummary:
    """Write a store in a compact form; a run that writes to the store meanwhile does no harm.

    Three files appear together, when all are complete: ``TARGET.npy`` or ``TARGET.roaring``, ``TARGET.ids.jsonl`` with
    ``{"id", "source", "line"}`` of each row in order, ``TARGET.json`` with the profile. Texts are not exported.

    Args:
        path: A store of ``dedup --store``.
        target: Path of the main file; its suffix may be left out.
        format: ``npy`` or ``roaring``.

    Raises:
        InvalidOption: Another format, or a target that is a folder, in no folder, or the store itself.
        StoreError: No store, or a damaged one.
        MissingExtra: ``roaring`` without the extra ``roaring``.
        SimhashEsError: The disk is full or the like; nothing is left behind.
    """
    chosen = parse_format(format)
    base = target.removesuffix(f".{chosen}")
    if Path(target).is_dir() or base.endswith(("/", os.sep)) or not base:
        raise InvalidOption(f"the target {target!r} names no file", f"name one, such as values.{chosen}")
    paths = (f"{base}.{chosen}", base + IDS_SUFFIX, base + META_SUFFIX)
    with SeenStore.open(path, write=False) as store, ExitStack() as stack:
        outputs = [stack.enter_context(AtomicOutput(each, inputs=[Path(path)])) for each in paths]
        with translated_errors(paths[0]):
            WRITERS[chosen](store, outputs[0].stream)
        write_ids(store, outputs[1])
        outputs[2].write(orjson.dumps(describe(store, chosen), option=orjson.OPT_INDENT_2) + b"\n")
        finalise(outputs)
        files = [ExportedFile(each, os.path.getsize(each)) for each in paths]
        return ExportSummary(chosen, len(store), *files)


def parse_format(name: str) -> ExportFormat:
    """The format of that name.

    Raises:
        InvalidOption: There is none.
    """
    try:
        return ExportFormat(name)
    except ValueError:
        raise InvalidOption(f"unknown export format {name!r}", f"choose one of: {', '.join(ExportFormat)}") from None


def write_ids(store: SeenStore, output: AtomicOutput) -> None:
    """One JSON line a row; ids exactly as they were read."""
    lines: list[bytes] = []
    for identity in store.all_identities():
        entry = {"id": orjson.Fragment(identity.id), "source": identity.source, "line": identity.line}
        lines.append(orjson.dumps(entry, option=orjson.OPT_APPEND_NEWLINE))
        if len(lines) == LINES_AT_ONCE:
            output.write(b"".join(lines))
            lines.clear()
    output.write(b"".join(lines))


def describe(store: SeenStore, format: ExportFormat) -> dict[str, Any]:
    """What one must know to use the main file."""
    return {
        "format": str(format),
        "format_version": FORMAT_VERSION,
        "simhash_es": __version__,
        "rows": len(store),
        "widths": list(store.layout.widths),
        "lanes": store.layout.n_lanes,
        "order": "half after half, most significant lane first, right-aligned",
        "profile_digest": store.profile.digest,
        "profile": store.profile.to_dict(),
    }
