"""Shared options, defined once: a command takes a whole group of them as one dataclass."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any, get_type_hints


def expanded(command: Callable[..., None]) -> Callable[..., None]:
    """Show each field of every dataclass parameter of ``command`` to Typer as an option of its own.

    The fields carry Typer's annotations (``Annotated[str, typer.Option(…)] = default``). When the command runs, the
    values are put together again into the dataclasses.
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if dataclasses.is_dataclass(kind)}
    members = {name: [field.name for field in dataclasses.fields(kind)] for name, kind in groups.items()}

    @functools.wraps(command)
    def run(**values: Any) -> None:
        for name, kind in groups.items():
            values[name] = kind(**{member: values.pop(member) for member in members[name]})
        command(**values)

    parameters = list(_parameters(command, hints))
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined] # what inspect reads
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _parameters(command: Callable[..., None], hints: dict[str, Any]) -> Iterator[inspect.Parameter]:
    for parameter in inspect.signature(command).parameters.values():
        kind = hints[parameter.name]
        if not dataclasses.is_dataclass(kind):
            yield parameter.replace(annotation=kind, kind=inspect.Parameter.KEYWORD_ONLY)
            continue
        fields = get_type_hints(kind, include_extras=True)
        for field in dataclasses.fields(kind):
            yield inspect.Parameter(
                field.name, inspect.Parameter.KEYWORD_ONLY, default=_default(field), annotation=fields[field.name]
            )


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default is not dataclasses.MISSING:
        return field.default
    return field.default_factory() if field.default_factory is not dataclasses.MISSING else inspect.Parameter.empty
