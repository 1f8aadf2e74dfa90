"""Help without a rendering library: options under headings, the same words on the terminal and in the documentation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

ARGUMENTS, OTHER, ONLY = "Arguments", "Other options", "Options"
COMMAND_SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
OWN_HELP: dict[str, Any] = {"help_option_names": []}
"""For groups, which take ``HelpFlag``: Typer loads a validation library (80 ms) to see that its --help is not there."""


def show_help(context: typer.Context, value: bool) -> None:
    """Print the help and end."""
    if value:
        print(context.get_help())
        raise typer.Exit


HelpFlag = Annotated[
    bool, typer.Option("-h", "--help", help="Show this message and exit.", callback=show_help, is_eager=True)
]


class GroupedCommand(TyperCommand):
    """A command whose help shows its options under their headings (``rich_help_panel``)."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write all sections."""
        for title, records in sections(self, ctx):
            with formatter.section(title):
                formatter.write_dl(records)


def sections(command: Any, ctx: Any) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Headings with their parameters, in order of first appearance: (how it is written, what it does)."""
    found: dict[str, list[tuple[str, str]]] = {}
    for parameter in command.get_params(ctx):
        if getattr(parameter, "hidden", False):
            continue
        default_title = ARGUMENTS if parameter.param_type_name == "argument" else OTHER
        title = getattr(parameter, "rich_help_panel", None) or default_title
        found.setdefault(title, []).append((written(parameter), meaning(parameter)))
    others = found.pop(OTHER, [])
    has_groups = bool(found.keys() - {ARGUMENTS})
    yield from found.items()
    if others:
        yield OTHER if has_groups else ONLY, others


def written(parameter: Any) -> str:
    """Such as ``-o, --output FILE`` or ``FILES...``."""
    if parameter.param_type_name == "argument":
        name = str(parameter.metavar or parameter.name.upper())
        return name if parameter.nargs == 1 else f"{name}..."
    flags = ", ".join(sorted(parameter.opts, key=len))
    off = f" / {', '.join(parameter.secondary_opts)}" if parameter.secondary_opts else ""
    return f"{flags}{off}" + ("" if parameter.is_flag else f" {parameter.metavar or parameter.name.upper()}")


def meaning(parameter: Any) -> str:
    """The help text, with the default where a value has one."""
    text = parameter.help or ""
    default = parameter.default
    is_shown = parameter.param_type_name == "option" and not parameter.is_flag and not callable(default)
    if is_shown and default not in (None, (), [], ""):
        text += f" [default: {default}]"
    return text
