"""The command line in this process (fast) and as a process of its own (real)."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from cli_running import ROWS, Cli, Run, command, write_rows

from simhash_es.cli import boundary
from simhash_es.cli.main import make_app


@pytest.fixture
def cli(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Run the application in this process: ``cli("dedup", path, stdin=b"…")``."""
    monkeypatch.delenv(boundary.TRACEBACK_VARIABLE, raising=False)

    def run(*arguments: object, stdin: bytes = b"") -> Run:
        capsysbinary.readouterr()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = boundary.run(make_app(), [str(argument) for argument in arguments])
        out, err = capsysbinary.readouterr()
        return Run(int(code), out, err.decode())

    return run


@pytest.fixture
def process() -> Cli:
    """Run the installed command as a process: ``process("dedup", path, env={…}, cwd=…)``."""

    def run(
        *arguments: object, stdin: bytes = b"", env: Mapping[str, str] | None = None, cwd: Path | None = None
    ) -> Run:
        done = subprocess.run(command(arguments), input=stdin, capture_output=True, env=env, cwd=cwd, check=False)
        return Run(done.returncode, done.stdout, done.stderr.decode())

    return run


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """Six rows: a, b and d say the same, c and e are alone, f is empty."""
    return write_rows(tmp_path / "rows.jsonl", ROWS)
