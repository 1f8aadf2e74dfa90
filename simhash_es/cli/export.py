"""``simhash-es export``: a store in a compact form."""

from __future__ import annotations

from typing import Annotated

import typer

from simhash_es.cli.expand import expanded
from simhash_es.cli.options import CommonFlags, check_choice, offered

FORMATS = ("npy", "roaring")


@expanded
def export(
    *,
    store: Annotated[str, typer.Argument(metavar="STORE", help="The store of 'dedup --store'.")],
    target: Annotated[str, typer.Argument(metavar="TARGET", help="Where the result goes.")],
    format: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="npy|roaring",
            help="Values in NumPy files to be memory-mapped, or one Roaring bitmap for each word value (extra roaring).",
            autocompletion=offered(FORMATS),
        ),
    ] = "npy",
    json: Annotated[bool, typer.Option("--json", help="The sizes as one JSON object.")] = False,
    common: CommonFlags,
) -> None:
    """Write the fingerprints of a store in a compact form."""
    check_choice("--format", format, FORMATS)
    raise NotImplementedError
