"""Where errors end: one ``error:`` line, one ``hint:`` line, one exit code."""

from __future__ import annotations

import os
import signal
import sys
import threading
import traceback
from types import FrameType
from typing import Any, NoReturn

import typer

from simhash_es.cli.exits import ExitCode, exit_code_of
from simhash_es.cli.terminal import say
from simhash_es.errors import SimhashEsError

# Typer brings a click of its own in some versions and uses the separate one in others: the class by way of its child.
UsageError: type[Any] = typer.BadParameter.__mro__[1]
TRACEBACK_VARIABLE = "SIMHASH_ES_DEBUG"
_traceback_wanted = threading.Event()


def run(app: typer.Typer, arguments: list[str] | None = None) -> int:
    """Run the application, print what went wrong, and return the exit code."""
    _traceback_wanted.clear()
    if sys.stdout is None:
        return told(ExitCode.SYSTEM, "standard output is closed", "send it to a file, or to /dev/null")
    try:
        code = app(arguments, prog_name="simhash-es", standalone_mode=False)
        sys.stdout.flush()
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except BaseException as error:
        return ended_by(error)
    if code == ExitCode.INTERRUPTED:
        say("interrupted")
    return code if isinstance(code, int) else ExitCode.FINE


def ended_by(error: BaseException) -> ExitCode:
    """Say what has happened; returns the exit code for it."""
    if wants_traceback():
        traceback.print_exception(error)
    if isinstance(error, KeyboardInterrupt | typer.Abort):
        say("interrupted")
        return ExitCode.INTERRUPTED
    if is_closed_pipe(error):
        return ExitCode.CLOSED_PIPE
    if isinstance(error, SimhashEsError):
        return told(exit_code_of(error), error.message, error.hint)
    if isinstance(error, UsageError):
        return told(ExitCode.USAGE, *usage_words(error))
    if isinstance(error, MemoryError):
        return told(ExitCode.SYSTEM, "out of memory", "see --budget, or use a machine with more memory")
    if isinstance(error, OSError):
        place = f": {os.fsdecode(error.filename)}" if error.filename is not None else ""
        return told(ExitCode.SYSTEM, f"{error.strerror or error}{place}", "check space and permissions there")
    if not isinstance(error, Exception):
        raise error
    hint = "this is a fault of simhash-es; run again with --debug and report what it shows"
    return told(ExitCode.INTERNAL, f"{type(error).__name__}: {error}", hint)


def told(code: ExitCode, message: str, hint: str = "") -> ExitCode:
    """Print the two lines and hand the code back."""
    say(f"error: {message}")
    if hint:
        say(f"hint: {hint}")
    return code


def usage_words(error: Any) -> tuple[str, str]:
    """Message and hint for an argument that Typer refused."""
    message = str(error.format_message()).rstrip(".")
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "simhash-es"
    return message[:1].lower() + message[1:], f"see '{path} --help'"


def is_closed_pipe(error: BaseException) -> bool:
    """Whether the reader of standard output has gone."""
    if isinstance(error, BrokenPipeError):
        silence(sys.stdout)
        return True
    outputs = sys.modules.get("simhash_es.backends.files.outputs")
    return outputs is not None and isinstance(error, outputs.OutputClosed)


def silence(stream: Any) -> None:
    """Let what is still buffered go nowhere, or the interpreter complains about it at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def show_traceback(value: bool) -> None:
    """What ``--debug`` does."""
    if value:
        _traceback_wanted.set()


def wants_traceback() -> bool:
    """Whether ``--debug`` was given, or ``SIMHASH_ES_DEBUG`` is set to anything but 0."""
    return _traceback_wanted.is_set() or os.environ.get(TRACEBACK_VARIABLE, "0") not in ("", "0")


def unwind_on_signals() -> None:
    """Let SIGTERM and SIGHUP unwind like Ctrl-C does, so that temporary files go."""
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, stop)


def stop(number: int, frame: FrameType | None) -> NoReturn:
    """The handler: an exit with the code the shell gives to such an end."""
    raise SystemExit(128 + number)
