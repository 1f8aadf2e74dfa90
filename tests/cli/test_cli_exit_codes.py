"""Exit codes, and how errors are shown."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from cli_running import SENTENCE, Cli, command, write_rows

from simhash_es import errors
from simhash_es.backends.files.outputs import OutputClosed
from simhash_es.cli import boundary
from simhash_es.cli.exits import BY_ERROR, MEANINGS, ExitCode, exit_code_of

MANY_LINES = 60_000


def test_every_code_is_explained() -> None:
    """Each exit code has a meaning, and no two are the same number."""
    assert set(MEANINGS) == set(ExitCode)
    assert len({int(code) for code in ExitCode}) == len(ExitCode)


def test_every_error_has_its_code() -> None:
    """Each class of our errors is named, by itself or by its base; the root stands for a system that refuses."""
    named = {kind for kind, _ in BY_ERROR}
    for kind in vars(errors).values():
        if isinstance(kind, type) and issubclass(kind, errors.SimhashEsError) and kind is not errors.SimhashEsError:
            assert named & set(kind.__mro__), f"{kind.__name__} has no exit code"
    assert exit_code_of(errors.SimhashEsError("disk full")) is ExitCode.SYSTEM
    assert exit_code_of(errors.BadRow("a row")) is ExitCode.INPUT


def test_fine(process: Cli, rows: Path) -> None:
    """0 when the work is done."""
    assert process("dedup", rows).code == ExitCode.FINE == 0


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (["dedup"], "error: missing argument 'FILES'", "hint: see 'simhash-es dedup --help'"),
        (["dedup", "x", "--no-such"], "error: no such option: --no-such", "hint: see 'simhash-es dedup --help'"),
        (["no-such"], "error: no such command 'no-such'", "hint: see 'simhash-es --help'"),
        (["profile", "no-such"], "error: no such command 'no-such'", "hint: see 'simhash-es profile --help'"),
        (["dedup", "x", "--distance", "near"], "error: invalid value for '--distance'", "hint: see 'simhash-es dedup"),
        (["near", "x"], "error: missing option '--store'", "hint: see 'simhash-es near --help'"),
    ],
    ids=["argument", "option", "command", "subcommand", "number", "required"],
)
def test_usage(cli: Cli, arguments: Sequence[str], message: str, hint: str) -> None:
    """2 for what the command line does not know; one error line and one hint line, nothing on standard output."""
    run = cli(*arguments)
    assert (run.code, run.stdout) == (ExitCode.USAGE, b"")
    first, second = run.stderr.splitlines()
    assert first.startswith(message)
    assert second.startswith(hint)


def test_input(cli: Cli, tmp_path: Path) -> None:
    """3 for data that cannot be read; the message names file, line and reason."""
    path = tmp_path / "rows.jsonl"
    path.write_text('{"id": 1, "text": "a"}\n{"id": 2, "text": \n', encoding="utf-8")
    run = cli("dedup", path)
    assert run.code == ExitCode.INPUT == 3
    assert f"error: {path}: line 2: " in run.stderr
    assert "hint: " in run.stderr


def test_profile_mismatch(cli: Cli, rows: Path, tmp_path: Path) -> None:
    """4 when a store was made with another profile; the message names the settings that differ."""
    store = tmp_path / "seen.sqlite"
    assert cli("dedup", rows, "--store", store).code == 0
    run = cli("dedup", rows, "--store", store, "--weights", "tf")
    assert run.code == ExitCode.PROFILE_MISMATCH == 4
    assert "log-tf" in run.stderr


def test_store(cli: Cli, tmp_path: Path) -> None:
    """5 when a store is no store."""
    store = tmp_path / "seen.sqlite"
    store.write_bytes(b"this is no database, however long one looks at it" * 100)
    run = cli("near", SENTENCE, "--store", store)
    assert run.code == ExitCode.STORE == 5
    assert str(store) in run.stderr


@pytest.mark.parametrize("arguments", [["--budget", "1KB"], ["--pairs", "-", "--max-pairs", "1"]])
def test_budget(cli: Cli, rows: Path, arguments: Sequence[str]) -> None:
    """6 when the work is more than allowed."""
    assert cli("dedup", rows, *arguments).code == ExitCode.BUDGET == 6


def test_missing_extra(cli: Cli, rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """7 when an optional library is not installed; the hint is the line that installs it."""
    monkeypatch.setitem(sys.modules, "zstandard", None)
    run = cli("dedup", rows, "-o", tmp_path / "out.jsonl.zst")
    assert run.code == ExitCode.MISSING == 7
    assert "hint: pip install 'simhash-es[zstd]'" in run.stderr


def test_unsupported(cli: Cli) -> None:
    """7 also for what cannot be done here: a tokenizer of a cluster without one."""
    run = cli("compare", "--text", "a", "b", "--tokenizer", "engine:ik_smart")
    assert run.code == ExitCode.MISSING
    assert "engine:ik_smart" in run.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full on this system")
def test_full_disk(process: Cli, rows: Path) -> None:
    """8 when the system refuses to write, without a traceback."""
    run = process("dedup", rows, "--groups", "/dev/full")
    assert run.code == ExitCode.SYSTEM == 8
    assert "error: /dev/full: cannot be written" in run.stderr
    assert "Traceback" not in run.stderr


def test_closed_standard_output(rows: Path) -> None:
    """8 when the command was started without a standard output: one error line, no fault of our own."""
    line = shlex.join(command(["dedup", rows])) + " >&-"
    run = subprocess.run(line, shell=True, stderr=subprocess.PIPE, text=True, check=False)
    assert run.returncode == ExitCode.SYSTEM
    assert run.stderr.startswith("error: standard output is closed\nhint: ")


def test_fault_of_our_own(cli: Cli, rows: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """1 for a fault of the program: one error line and the way to report it; the traceback with --debug only."""
    import simhash_es.use_cases.dedup.run as run_module

    def broken(*arguments: object, **options: object) -> None:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr(run_module, "run_dedup", broken)
    run = cli("dedup", rows)
    assert (run.code, run.stdout) == (ExitCode.INTERNAL, b"")
    assert run.stderr.splitlines()[0] == "error: ZeroDivisionError: oh"
    assert "hint: this is a fault of simhash-es" in run.stderr
    assert "Traceback" in cli("--debug", "dedup", rows).stderr
    assert "Traceback" in cli("dedup", rows, "--debug").stderr
    assert "Traceback" not in cli("dedup", rows).stderr


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (MemoryError(), ExitCode.SYSTEM, "error: out of memory"),
        (OSError(28, "No space left on device", "/tmp/x"), ExitCode.SYSTEM, "error: No space left on device: /tmp/x"),
        (KeyboardInterrupt(), ExitCode.INTERRUPTED, "interrupted"),
        (OutputClosed("-"), ExitCode.CLOSED_PIPE, ""),
    ],
    ids=["memory", "disk", "ctrl-c", "pipe"],
)
def test_ends(error: BaseException, code: ExitCode, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What ends a run without being a fault of its input."""
    assert boundary.ended_by(error) is code
    assert capsys.readouterr().err.splitlines()[:1] == ([words] if words else [])


def test_variable_shows_the_traceback(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """SIMHASH_ES_DEBUG does what --debug does; 0 is off."""
    monkeypatch.setenv("SIMHASH_ES_DEBUG", "1")
    assert "Traceback" in cli("dedup", "no-such").stderr
    monkeypatch.setenv("SIMHASH_ES_DEBUG", "0")
    assert "Traceback" not in cli("dedup", "no-such").stderr


def test_closed_pipe(tmp_path: Path) -> None:
    """141, and silence, when the reader of a pipe has seen enough."""
    path = write_rows(tmp_path / "rows.jsonl", [{"id": i, "text": f"{i} {SENTENCE[i % 50 :]}"} for i in range(5_000)])
    with subprocess.Popen(
        command(["fingerprint", path, "--format", "jsonl"]), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.read(10)
        running.stdout.close()
        shown = running.stderr.read().decode()
        assert running.wait() == ExitCode.CLOSED_PIPE == 141
    assert "error" not in shown
    assert "Traceback" not in shown
    assert "Exception ignored" not in shown


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (signal.SIGINT, ExitCode.INTERRUPTED),
        (signal.SIGTERM, ExitCode.TERMINATED),
        (signal.SIGHUP, ExitCode.HUNG_UP),
    ],
    ids=["ctrl-c", "term", "hup"],
)
def test_stopped_from_outside(tmp_path: Path, number: signal.Signals, code: ExitCode) -> None:
    """Ctrl-C and signals end the run with their code, leave no half-written output and no traceback."""
    results = tmp_path / "results"
    results.mkdir()
    with subprocess.Popen(
        command(["dedup", "-", "-o", results / "out.jsonl", "--report", results / "report.html"]),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as running:
        assert running.stdin is not None
        assert running.stderr is not None
        running.stdin.write(b'{"id": 1, "text": "one"}\n' * 1000)
        running.stdin.flush()  # the rest never comes: the run waits for it, its outputs open or about to be
        wait_for_start(running.pid)
        running.send_signal(number)
        shown = running.stderr.read().decode()
        assert running.wait() == code
    assert "Traceback" not in shown
    assert ("interrupted" in shown) == (number is signal.SIGINT)
    assert list(results.iterdir()) == []


def wait_for_start(pid: int) -> None:
    """Wait until the process has imported what it needs: it then sleeps, waiting for standard input."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        maps = Path(f"/proc/{pid}/maps")
        if not maps.exists() or "_multiarray_umath" in maps.read_text():
            break
        time.sleep(0.05)
    time.sleep(0.5)
