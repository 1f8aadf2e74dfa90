"""``simhash-es fingerprint``: lines in, lines out."""

from __future__ import annotations

from typing import Annotated

import typer

from simhash_es.cli.expand import expanded
from simhash_es.cli.options import CommonFlags, ReadFlags, check_choice, offered
from simhash_es.cli.profile_flags import ProfileFlags
from simhash_es.cli.terminal import print_bytes, say

FORMATS = ("hex", "jsonl")


@expanded
def fingerprint(
    *,
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILE", help="Files or folders; '-' or nothing is standard input.", show_default=False),
    ] = None,
    format: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="hex|jsonl",
            help="A line of the output: hexadecimal digits, or an object with id and fingerprint.",
            autocompletion=offered(FORMATS),
        ),
    ] = "hex",
    profile: ProfileFlags,
    read: ReadFlags,
    common: CommonFlags,
) -> None:
    """Make the fingerprint of each line: lines in, lines out.

    Standard input is plain text, a document a line, unless --input-format says otherwise. The digits of all halves are
    joined, most significant first. A line without any letter or number has no fingerprint and gives an empty line.
    """
    from simhash_es.use_cases.fingerprint_lines import FingerprintOptions, LineFormat, fingerprint_lines

    counts = fingerprint_lines(
        FingerprintOptions(
            sources=tuple(files or ("-",)),
            read=read.build(),
            profile=profile.build(),
            line_format=LineFormat(check_choice("--format", format, FORMATS)),
        ),
        print_bytes,
    )
    if counts.skipped:
        say(f"{counts.skipped:,} of {counts.lines:,} lines could not be read")
