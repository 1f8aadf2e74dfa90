"""``simhash-es export``: a store in a compact form."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from simhash_es.cli.expand import expanded
from simhash_es.cli.options import CommonFlags, check_choice, offered
from simhash_es.cli.terminal import print_json, print_result

if TYPE_CHECKING:
    from simhash_es.use_cases.export import ExportSummary

FORMATS = ("npy", "roaring")


@expanded
def export(
    *,
    store: Annotated[str, typer.Argument(metavar="STORE", help="The store of 'dedup --store'.")],
    target: Annotated[
        str, typer.Argument(metavar="TARGET", help="Where the result goes; FORMAT is added to the name if it lacks it.")
    ],
    format: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="npy|roaring",
            help="Values in NumPy files to be memory-mapped, or one Roaring bitmap for each word value "
            "(extra roaring).",
            autocompletion=offered(FORMATS),
        ),
    ] = "npy",
    json: Annotated[bool, typer.Option("--json", help="The sizes as one JSON object.")] = False,
    common: CommonFlags,
) -> None:
    """Write the fingerprints of a store in a compact form."""
    from simhash_es.use_cases.export import export_store

    summary = export_store(store, target, check_choice("--format", format, FORMATS))
    if json:
        print_json(summary.to_dict())
    else:
        print_result(summary_lines(summary))


def summary_lines(summary: ExportSummary) -> Iterator[str]:
    """Files with their sizes, and what a document takes."""
    for file, about in ((summary.values, "fingerprints"), (summary.ids, "ids"), (summary.meta, "profile and layout")):
        yield f"{file.path}: {file.n_bytes:,} bytes, {about}"
    yield f"{summary.rows:,} documents, {summary.bytes_per_document:.2f} bytes each for the fingerprints"
