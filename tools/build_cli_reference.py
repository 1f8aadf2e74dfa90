"""Build docs/cli.md from the commands: ``python tools/build_cli_reference.py`` (``--check`` only compares)."""

from __future__ import annotations

import argparse
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer.main

from simhash_es.cli.exits import MEANINGS
from simhash_es.cli.help_pages import sections
from simhash_es.cli.main import make_app

TARGET = Path(__file__).parents[1] / "docs" / "cli.md"
INTRODUCTION = """\
# Command line

This page is made from the commands by `python tools/build_cli_reference.py`; `simhash-es COMMAND --help` says the same.

Results go to standard output, talk and progress to standard error; progress is shown on a terminal only. An error is
one line `error: …`, mostly with a line `hint: …`, on standard error; `--debug`, or the variable `SIMHASH_ES_DEBUG=1`,
adds the traceback. Outputs appear under their names when they are complete: a run that fails, or is stopped by Ctrl-C,
leaves none. `NO_COLOR=1` turns colours off. Shell completion: `simhash-es --install-completion`.
"""


def reference() -> str:
    """The whole page."""
    application = typer.main.get_command(make_app(with_completion=False))
    return "\n".join([INTRODUCTION, *exit_codes(), *command_pages(application, "simhash-es")])


def exit_codes() -> Iterator[str]:
    """The table of exit codes."""
    yield "## Exit codes\n"
    yield "| Code | Name | Meaning |"
    yield "|---|---|---|"
    for code, meaning in MEANINGS.items():
        yield f"| {int(code)} | `{code.name}` | {meaning} |"
    yield ""


def command_pages(command: Any, path: str, parent: Any = None) -> Iterator[str]:
    """A command and, for a group, those below it."""
    context = command.context_class(command, info_name=path, parent=parent)
    yield f"## {path}\n"
    yield from page(command, context, path)
    for name, inner in getattr(command, "commands", {}).items():
        yield from command_pages(inner, f"{path} {name}")


def page(command: Any, context: Any, path: str) -> Iterator[str]:
    """Usage, description and options of one command."""
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    words = [f"{p.metavar}..." if p.nargs != 1 else p.metavar for p in arguments]
    tail = ["COMMAND"] if hasattr(command, "commands") else words
    yield "```\n" + " ".join([path, "[OPTIONS]", *tail]) + "\n```\n"
    yield inspect.cleandoc(command.help or "") + "\n"
    for title, records in sections(command, context):
        yield f"### {title}\n"
        yield "| | |"
        yield "|---|---|"
        for written, meaning in records:
            yield f"| `{cell(written)}` | {cell(meaning)} |"
        yield ""


def cell(text: str) -> str:
    """A cell of a table: neither bars nor angle brackets of its own."""
    return text.replace("|", "\\|").replace("<", "&lt;").replace(">", "&gt;")


def main() -> None:
    """Write the page, or compare it."""
    parser = argparse.ArgumentParser(description="Build docs/cli.md")
    parser.add_argument("--check", action="store_true", help="only say whether the page is in step")
    if parser.parse_args().check:
        if not TARGET.exists() or TARGET.read_text("utf-8") != reference():
            sys.exit(f"{TARGET} is out of step: run python tools/build_cli_reference.py")
        return
    TARGET.write_text(reference(), "utf-8")
    print(f"{TARGET}: {TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
