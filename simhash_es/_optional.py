"""The one door to optional libraries."""

from __future__ import annotations

import importlib
from types import ModuleType

from simhash_es.errors import MissingExtra


def require(module: str, extra: str, purpose: str) -> ModuleType:
    """Import an optional library, or say which extra brings it.

    Args:
        module: Import name, such as ``pyarrow.parquet``.
        extra: Name of the extra in ``pyproject.toml``.
        purpose: What needs it, as the start of a sentence: ``"Reading Parquet"``.

    Raises:
        MissingExtra: The library is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtra(
            f"{purpose} needs the library {module.split('.')[0]!r}, which is not installed ({error})",
            f"pip install 'simhash-es[{extra}]'",
            extra=extra,
        ) from error
