"""``simhash-es compare``: two texts side by side."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simhash_es.cli.expand import expanded
from simhash_es.cli.options import CommonFlags
from simhash_es.cli.profile_flags import ProfileFlags
from simhash_es.cli.search_flags import SearchFlags
from simhash_es.cli.terminal import has_color, print_json, print_result

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simhash_es.use_cases.comparison import Comparison

MARK = "@"


@expanded
def compare(
    *,
    a: Annotated[str, typer.Argument(metavar="A", help="A text, or a file (see --text, --files, @FILE).")],
    b: Annotated[str, typer.Argument(metavar="B", help="The other one; one of them may be '-', standard input.")],
    text: Annotated[bool, typer.Option("--text", help="A and B are texts, even if files have these names.")] = False,
    files: Annotated[bool, typer.Option("--files", help="A and B are files, each one text.")] = False,
    encoding: Annotated[
        str | None, typer.Option("--encoding", metavar="NAME", help="Of the files; found out if not given.")
    ] = None,
    documents: Annotated[
        int, typer.Option("--documents", metavar="N", help="Size of the collection the limits are derived for.")
    ] = 1_000_000,
    json: Annotated[bool, typer.Option("--json", help="One JSON object instead of lines for people.")] = False,
    search: SearchFlags,
    profile: ProfileFlags,
    common: CommonFlags,
) -> None:
    """Compare two texts by everything there is.

    Shows tokens and features, the bits that differ, all distances and similarities, the verdict, and the difference.
    If A and B are both names of existing files, the files are compared. '@FILE' is always a file.
    """
    from simhash_es.core.similarity import DEFAULT_FEATURES
    from simhash_es.errors import InvalidOption
    from simhash_es.use_cases.compare import CompareOptions, compare_texts

    if text and files:
        raise InvalidOption("--text together with --files", "give one or the other")
    left, right = texts_of(a, b, is_text=text, is_files=files, encoding=encoding)
    options = CompareOptions(
        profile=profile.build(),
        similarity=search.similarity,
        recall=search.recall,
        n_documents=documents,
        distance=search.distance,
        check_distance=search.check_distance,
        verify=search.criteria(),
        verify_features=search.features() or DEFAULT_FEATURES,
    )
    found = compare_texts(left, right, options)
    if json:
        print_json(found.to_dict())
    else:
        print_result(lines_of(found))
        print_result(difference_lines(left, right), is_trusted=True)


def lines_of(found: Comparison) -> Iterator[str]:
    """The figures as lines."""
    from simhash_es.cli.compare_view import comparison_lines

    return comparison_lines(found)


def difference_lines(a: str, b: str) -> Iterator[str]:
    """The two texts in one, with what differs marked; colours on a terminal."""
    from simhash_es.report.terminal_diff import render_difference

    yield ""
    yield "difference  from A to B"
    yield from render_difference(a, b, color=has_color(sys.stdout)).split("\n")


def texts_of(a: str, b: str, *, is_text: bool, is_files: bool, encoding: str | None) -> tuple[str, str]:
    """The two texts that the arguments stand for.

    Raises:
        InvalidOption: Standard input twice.
        InputError: A file cannot be read.
    """
    from simhash_es.core.normal_form import repair_surrogates
    from simhash_es.errors import InvalidOption

    if is_text:
        return repair_surrogates(a), repair_surrogates(b)
    if a == b == "-":
        raise InvalidOption("standard input (-) is named twice", "it can be read as one text only")
    if is_files or (is_file(a) and is_file(b)):
        return read_document(a, encoding), read_document(b, encoding)
    return query_text(a, encoding), query_text(b, encoding)


def query_text(argument: str, encoding: str | None) -> str:
    """A text given as an argument: itself, ``@FILE``, or ``-`` for standard input.

    Raises:
        InputError: A file cannot be read.
    """
    from simhash_es.core.normal_form import repair_surrogates

    if argument == "-" or argument.startswith(MARK):
        return read_document(argument.removeprefix(MARK), encoding)
    return repair_surrogates(argument)


def read_document(name: str, encoding: str | None) -> str:
    """One file, or standard input, as one text.

    Raises:
        InputError: It cannot be read, or its encoding cannot be told.
    """
    from simhash_es.backends.files import DataFormat, Inputs, ReadOptions
    from simhash_es.errors import InputError

    if Path(name).is_dir():
        raise InputError(f"{name} is a folder", "name one file", source=name)
    inputs = Inputs([name], ReadOptions(format=DataFormat.TEXT, encoding=encoding))
    return "".join(text or "" for batch in inputs.batches() for text in batch.texts)


def is_file(name: str) -> bool:
    """Whether there is such a file; a long text is no name."""
    try:
        return Path(name).is_file()
    except (OSError, ValueError):
        return False
