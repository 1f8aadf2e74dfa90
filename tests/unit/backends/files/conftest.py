"""What the tests of the readers share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from simhash_es.backends.files import Inputs, ReadOptions

Table = list[tuple[str, str | None]]


@pytest.fixture
def read() -> Callable[..., tuple[Inputs, Table]]:
    """Reads files to the end and gives the inputs with (id token, text) of each row, options as keywords."""

    def read_all(*sources: Path | str, **options: object) -> tuple[Inputs, Table]:
        inputs = Inputs([str(source) for source in sources], ReadOptions(**options))  # type: ignore[arg-type]
        table: Table = []
        for batch in inputs.batches():
            assert batch.first_row == len(table)
            assert {len(batch.lines), len(batch.ids), len(batch.texts), len(batch.raws)} == {len(batch)}
            table += [(token.decode(), text) for token, text in zip(batch.ids, batch.texts, strict=True)]
        return inputs, table

    return read_all


@pytest.fixture
def put(tmp_path: Path) -> Callable[..., Path]:
    """Writes a file below the temporary folder."""

    def put_file(name: str, content: bytes | str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return put_file
