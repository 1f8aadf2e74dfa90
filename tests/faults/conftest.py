"""The command line in this process and as a process of its own."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Mapping

import pytest
from fault_running import Cli, Run

from simhash_es.cli import boundary
from simhash_es.cli.main import make_app


@pytest.fixture
def cli(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Run the application in this process: ``cli("dedup", path, stdin=b"…")``."""

    def run(*arguments: object, stdin: bytes = b"") -> Run:
        capsysbinary.readouterr()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = boundary.run(make_app(), [str(argument) for argument in arguments])
        out, err = capsysbinary.readouterr()
        return Run(int(code), out, err.decode())

    return run


@pytest.fixture
def process() -> Cli:
    """Run the command as a process: ``process("dedup", path, env={…})``; a value of ``None`` unsets a variable."""

    def run(*arguments: object, stdin: bytes = b"", env: Mapping[str, str | None] | None = None) -> Run:
        merged: dict[str, str | None] = {**os.environ, **(env or {})}
        done = subprocess.run(
            [sys.executable, "-m", "simhash_es", *map(str, arguments)],
            input=stdin,
            capture_output=True,
            env={name: value for name, value in merged.items() if value is not None},
            check=False,
        )
        return Run(done.returncode, done.stdout, done.stderr.decode())

    return run
