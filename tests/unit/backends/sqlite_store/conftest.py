"""What the tests of the store share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from store_rows import rows_of

from simhash_es.backends.sqlite_store import NewRows

MakeRows = Callable[..., NewRows]


@pytest.fixture
def make_rows() -> MakeRows:
    """See :func:`rows_of`."""
    return rows_of


@pytest.fixture
def place(tmp_path: Path) -> str:
    """Where a store may be made."""
    return str(tmp_path / "seen 100%#?.sqlite")  # characters with a meaning in addresses
