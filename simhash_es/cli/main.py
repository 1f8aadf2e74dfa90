"""The command ``simhash-es``. A command translates its options into one call of a use case and prints the result."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from simhash_es._version import __version__
from simhash_es.cli import boundary
from simhash_es.cli.compare import compare
from simhash_es.cli.dedup import dedup
from simhash_es.cli.export import export
from simhash_es.cli.fingerprint import fingerprint
from simhash_es.cli.help_pages import COMMAND_SETTINGS, OWN_HELP, GroupedCommand, HelpFlag
from simhash_es.cli.near import near
from simhash_es.cli.profile import profile_app


def show_version(value: bool) -> None:
    """Print the version and end."""
    if value:
        print(f"simhash-es {__version__}")
        raise typer.Exit


def start(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=show_version, is_eager=True)
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an error.", callback=boundary.show_traceback)
    ] = False,
    help: HelpFlag = False,
) -> None:
    """Find near-duplicate texts, Chinese or English, by SimHash."""
    if context.invoked_subcommand is None:
        print(context.get_help())


def make_app(*, with_completion: bool = True) -> typer.Typer:
    """The application with all its commands.

    Args:
        with_completion: Offer the options that install shell completion. Parsing them costs a third of the time of
            ``COMMAND --help``, so they are left out where a command is named.
    """
    app = typer.Typer(
        name="simhash-es",
        epilog="Begin with: simhash-es dedup FILE --report report.html",
        context_settings=OWN_HELP,
        add_completion=with_completion,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        pretty_exceptions_show_locals=False,
    )
    app.callback(invoke_without_command=True)(start)
    for command in (dedup, fingerprint, compare, near, export):
        app.command(cls=GroupedCommand, context_settings=COMMAND_SETTINGS)(command)
    app.add_typer(profile_app, name="profile")
    return app


def main() -> None:
    """Entry point: run with the arguments of the process and end it with the exit code."""
    arguments = sys.argv[1:]
    boundary.unwind_on_signals()
    names_command = bool(arguments) and not arguments[0].startswith("-")
    sys.exit(int(boundary.run(make_app(with_completion=not names_command), arguments)))


if __name__ == "__main__":
    main()
