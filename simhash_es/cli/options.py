"""Options that several commands share: how files are read, what ``--debug`` does; see also ``profile_flags.py``.

Nothing of the core is imported before a command runs, so that ``--help`` stays fast. Choices therefore stand here as
plain words; the core checks what is given.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from simhash_es.cli.boundary import show_traceback

if TYPE_CHECKING:
    from simhash_es.backends.files.options import ReadOptions

READING = "How files are read"

FORMATS = ("jsonl", "json", "csv", "tsv", "parquet", "lines", "text")
ON_ERROR = ("stop", "skip")


def offered(words: tuple[str, ...]) -> Callable[[str], list[str]]:
    """Completion by a fixed list."""
    return lambda incomplete: [word for word in words if word.startswith(incomplete)]


@dataclass(frozen=True, kw_only=True)
class CommonFlags:
    """What every command takes."""

    debug: Annotated[
        bool,
        typer.Option("--debug", help="Show the traceback of an error.", callback=show_traceback, is_eager=True),
    ] = False


@dataclass(frozen=True, kw_only=True)
class ReadFlags:
    """How files are read."""

    input_format: Annotated[
        str | None,
        typer.Option(
            "--input-format",
            metavar="FORMAT",
            help=f"{', '.join(FORMATS)} ('lines': a document a line, 'text': a document a file); "
            "by suffix or content if not given.",
            autocompletion=offered(FORMATS),
            rich_help_panel=READING,
        ),
    ] = None
    encoding: Annotated[
        str | None,
        typer.Option(
            "--encoding", metavar="NAME", help="Such as gb18030; found out if not given.", rich_help_panel=READING
        ),
    ] = None
    id_field: Annotated[
        str | None,
        typer.Option(
            "--id-field",
            metavar="FIELD",
            help="Field or column with the id; 'id', else '_id', else file:line if not given.",
            rich_help_panel=READING,
        ),
    ] = None
    text_field: Annotated[
        list[str] | None,
        typer.Option(
            "--text-field",
            metavar="FIELD",
            help="Field or column with the text, dots lead into objects (meta.title); may be given several times. "
            "'text', else 'content', else 'body' if not given.",
            rich_help_panel=READING,
        ),
    ] = None
    on_error: Annotated[
        str,
        typer.Option(
            "--on-error",
            metavar="stop|skip",
            help="Stop at a row that cannot be read, or skip and count it.",
            autocompletion=offered(ON_ERROR),
            rich_help_panel=READING,
        ),
    ] = "stop"

    def build(self, *, fingerprint_field: str | None = None, unique_ids: bool = False) -> ReadOptions:
        """The reader's options.

        Raises:
            InvalidOption: An unknown format or mode.
        """
        from simhash_es.backends.files.options import DataFormat, OnError, ReadOptions

        if self.input_format is not None:
            check_choice("--input-format", self.input_format, FORMATS)
        check_choice("--on-error", self.on_error, ON_ERROR)
        return ReadOptions(
            format=DataFormat(self.input_format) if self.input_format is not None else None,
            encoding=self.encoding,
            id_field=self.id_field,
            text_fields=tuple(self.text_field or ()),
            fingerprint_field=fingerprint_field,
            on_error=OnError(self.on_error),
            unique_ids=unique_ids,
        )


def check_choice(option: str, value: str, choices: tuple[str, ...]) -> str:
    """The value, if it is one of the choices.

    Raises:
        InvalidOption: It is not.
    """
    from simhash_es.errors import InvalidOption

    if value not in choices:
        raise InvalidOption(f"{option} {value!r} is not known", f"choose one of: {', '.join(choices)}")
    return value
