"""How long work talks to a person: lines and progress, through whatever the caller has."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

Advance = Callable[[int], None]


class Talk(Protocol):
    """What a use case says while it works; results never go this way."""

    def line(self, text: str) -> None:
        """One line for a person."""

    def stage(self, name: str, total: int | None) -> AbstractContextManager[Advance]:
        """Begin a stage of ``total`` units (``None``: unknown); the value is called with the units just done."""


class _Silent:
    def line(self, text: str) -> None:
        """Say nothing."""

    @contextmanager
    def stage(self, name: str, total: int | None) -> Iterator[Advance]:
        """Show nothing."""
        yield lambda n: None


SILENT: Talk = _Silent()
