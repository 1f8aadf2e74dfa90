"""Results on standard output, talk and progress on standard error."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from simhash_es.use_cases.talk import Advance, Talk


def printable(text: str) -> str:
    """The text with controls, direction marks and the like spelt out, so that data cannot steer the terminal.

    Line ends stay; a tab becomes four spaces.
    """
    return "".join(c if c.isprintable() or c == "\n" else "    " if c == "\t" else f"⟨U+{ord(c):04X}⟩" for c in text)


def say(text: str) -> None:
    """A line on standard error, in whatever encoding that has."""
    stream = sys.stderr
    if stream is None:
        return
    encoding = getattr(stream, "encoding", None) or "utf-8"
    print(printable(text).encode(encoding, "backslashreplace").decode(encoding), file=stream, flush=True)


def print_result(lines: Iterable[str], *, is_trusted: bool = False) -> None:
    """Lines for people on standard output, in the encoding of the terminal.

    Args:
        lines: Without line ends.
        is_trusted: The lines hold escape sequences of our own and were made safe where they were made.

    Raises:
        OutputClosed: Nobody reads any more.
    """
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    text = "".join(f"{line if is_trusted else printable(line)}\n" for line in lines)
    print_bytes(text.encode(encoding, "backslashreplace"))


def print_json(value: object, *, indent: bool = True) -> None:
    """One JSON value on standard output, UTF-8, with a line end."""
    print_bytes(json_line(value, indent=indent))


def json_line(value: object, *, indent: bool = False) -> bytes:
    """A JSON value with a line end; numbers of NumPy are accepted."""
    import orjson

    return orjson.dumps(
        value,
        option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_APPEND_NEWLINE | (orjson.OPT_INDENT_2 if indent else 0),
    )


def print_bytes(data: bytes) -> None:
    """Bytes on standard output, at once.

    Raises:
        OutputClosed: Nobody reads any more.
        SimhashEsError: The disk is full or the like.
    """
    from simhash_es.backends.files.outputs import STANDARD_OUTPUT, translated_errors

    with translated_errors(STANDARD_OUTPUT):
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()


def has_color(stream: Any) -> bool:
    """Whether escape sequences for colour are welcome there: a terminal, and ``NO_COLOR`` is not set."""
    return bool(stream.isatty()) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


class LineTalk:
    """Lines on standard error, no progress: for pipes, files and logs."""

    def line(self, text: str) -> None:
        """One line for a person."""
        say(text)

    @contextmanager
    def stage(self, name: str, total: int | None) -> Iterator[Advance]:
        """Show nothing."""
        yield lambda n: None


def make_talk() -> Talk:
    """Progress where standard error is a terminal, else lines only."""
    if sys.stderr is None or not sys.stderr.isatty():
        return LineTalk()
    from simhash_es.cli.progress import ProgressTalk

    return ProgressTalk()
