"""Every error this package raises on purpose.

SimhashEsError                      root: message (what, where, which value) and hint (what to do)
├── InvalidOption                   an option or argument is out of range or contradicts another
├── InputError                      something in the user's data; carries source, line and byte position
│   ├── BadRow                      one row cannot be read (bad JSON, no text field, duplicate id …)
│   └── UndecodableInput            bytes do not fit the encoding
├── ProfileMismatch                 two fingerprints made by different profiles would be compared
├── StoreError                      a store file is damaged, locked, or of another layout version
├── BudgetExceeded                  the work ahead is larger than the stated budget
├── MissingExtra                    an optional library is not installed; names the extra
└── UnsupportedFeature              the backend or format at hand cannot do what was asked
"""

from __future__ import annotations


class SimhashEsError(Exception):
    """Root of the tree.

    Args:
        message: What went wrong, where, and with which value.
        hint: What the reader can do about it; empty when there is nothing to add.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message


class InvalidOption(SimhashEsError):
    """An option or argument is out of range or contradicts another one."""


class InputError(SimhashEsError):
    """Something in the user's data is wrong.

    Args:
        source: The file (or ``-`` for standard input) as the user named it.
        line: 1-based line or row number; ``None`` when the fault has no line.
        byte: 0-based byte position in the decompressed file; ``None`` when unknown.
    """

    def __init__(
        self, message: str, hint: str = "", *, source: str = "", line: int | None = None, byte: int | None = None
    ) -> None:
        super().__init__(message, hint)
        self.source = source
        self.line = line
        self.byte = byte

    def __reduce__(self) -> tuple[object, ...]:
        state = {"source": self.source, "line": self.line, "byte": self.byte}
        return (type(self), (self.message, self.hint), state)


class BadRow(InputError):
    """One row cannot be read."""


class UndecodableInput(InputError):
    """The bytes of a file do not fit its encoding."""


class ProfileMismatch(SimhashEsError):
    """Two fingerprints made by different profiles would be compared.

    Args:
        expected: Digest of the profile that made the stored fingerprints.
        found: Digest of the profile in use now.
    """

    def __init__(self, message: str, hint: str = "", *, expected: str = "", found: str = "") -> None:
        super().__init__(message, hint)
        self.expected = expected
        self.found = found

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (self.message, self.hint), {"expected": self.expected, "found": self.found})


class StoreError(SimhashEsError):
    """A store file is damaged, locked by another run, or of another layout version."""


class BudgetExceeded(SimhashEsError):
    """The work ahead is larger than the stated budget."""


class MissingExtra(SimhashEsError, ImportError):
    """An optional library is not installed.

    Args:
        extra: The extra that brings it, as in ``pip install 'simhash-es[extra]'``.
    """

    def __init__(self, message: str, hint: str = "", *, extra: str = "") -> None:
        super().__init__(message, hint)
        self.extra = extra

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (self.message, self.hint), {"extra": self.extra})


class UnsupportedFeature(SimhashEsError):
    """The backend or format at hand cannot do what was asked."""
