"""Budgets as they are written, and what is shown where."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
from cli_running import SENTENCE, command, write_rows
from hypothesis import given
from hypothesis import strategies as st

from simhash_es.cli import progress
from simhash_es.cli.budget import Budget, parse_budget
from simhash_es.cli.progress import ProgressTalk
from simhash_es.cli.terminal import LineTalk, has_color, make_talk, print_result, printable
from simhash_es.errors import InvalidOption


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("90s", Budget(90.0, None)),
        ("10m", Budget(600.0, None)),
        ("10min", Budget(600.0, None)),
        ("2h", Budget(7200.0, None)),
        ("1h30m", Budget(5400.0, None)),
        ("1.5h", Budget(5400.0, None)),
        ("1d", Budget(86400.0, None)),
        ("4GB", Budget(None, 4_000_000_000)),
        ("4 gb", Budget(None, 4_000_000_000)),
        ("512MiB", Budget(None, 512 << 20)),
        ("10m,4GB", Budget(600.0, 4_000_000_000)),
        ("4GB, 10m", Budget(600.0, 4_000_000_000)),
    ],
)
def test_budget(text: str, expected: Budget) -> None:
    """A time, an amount of memory, or both."""
    assert parse_budget(text) == expected


@pytest.mark.parametrize(
    "text", ["", "10", "m", "0s", "0GB", "10m,20m", "4GB,", "1GB2MB", "10x", "-5m", "5m5m", "1hGB"]
)
def test_budget_is_refused(text: str) -> None:
    """No unit, an unknown one, nothing at all, or a thing named twice."""
    with pytest.raises(InvalidOption, match="--budget"):
        parse_budget(text)


@given(st.text())
def test_printable(text: str) -> None:
    """Nothing that could steer a terminal is left, and what is printable stays."""
    shown = printable(text)
    assert all(character.isprintable() or character == "\n" for character in shown)
    if text.isprintable():
        assert shown == text


def test_output_in_a_poor_encoding(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal without the characters gets them spelt out instead of an error."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    print_result(["今"])
    assert stream.buffer.getvalue() == b"\\u4eca\n"  # type: ignore[attr-defined]


class Terminal(io.StringIO):
    """Says that it is one."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def test_talk_fits_the_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    """Progress on a terminal only."""
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert isinstance(make_talk(), LineTalk)
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert isinstance(make_talk(), ProgressTalk)


def test_colors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Colours on a terminal only, and not when NO_COLOR asks for none."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert has_color(Terminal())
    assert not has_color(io.StringIO())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not has_color(Terminal())


def test_lines_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """Lines go to standard error as they are; stages say nothing."""
    talk = LineTalk()
    with talk.stage("read", 10) as advance:
        advance(10)
        talk.line("a remark\x1b[2J")
    assert capsys.readouterr() == ("", "a remark⟨U+001B⟩[2J\n")


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """A terminal; the test puts it in place of standard error, which pytest sets anew before each."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    return Terminal()


def test_short_stages_show_nothing(screen: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work that is done at once draws no progress."""
    monkeypatch.setattr(sys, "stderr", screen)
    with ProgressTalk().stage("read", 10) as advance:
        advance(10)
    assert screen.getvalue() == ""


@pytest.mark.parametrize("total", [1000, None])
def test_long_stages_show_progress(screen: Terminal, monkeypatch: pytest.MonkeyPatch, total: int | None) -> None:
    """Once the patience is over: name, amount and rate; lines of talk come in between; nested stages are fine."""
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(progress, "PATIENCE_SECONDS", 0.0)
    talk = ProgressTalk()
    with talk.stage("reading rows", total) as advance:
        wait_for(lambda: "reading rows" in screen.getvalue())
        threads = [threading.Thread(target=advance, args=(100,)) for _ in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        talk.line("a remark \x1b[2J")
        with talk.stage("inner", 5) as inner:
            wait_for(lambda: "inner" in screen.getvalue())
            inner(5)
        wait_for(lambda: "500" in screen.getvalue())
    shown = screen.getvalue()
    assert "a remark ⟨U+001B⟩" in shown
    assert "\x1b[2J" not in shown
    assert ("of 1.0k" in shown) == (total is not None)


@pytest.mark.parametrize(
    ("number", "shown"),
    [(0, "0"), (999, "999"), (1000, "1.0k"), (12_345, "12.3k"), (98_000_000, "98.0M"), (3_200_000_000, "3.2G")],
)
def test_amounts_are_short(number: float, shown: str) -> None:
    """So that progress fits on a line of 80 characters."""
    assert progress.short(number) == shown


def wait_for(condition: object) -> None:
    """Wait until something is true; fail after a long time."""
    assert callable(condition)
    for _ in range(600):
        if condition():
            return
        threading.Event().wait(0.05)
    pytest.fail("it never came")


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="no pseudo-terminals on this system")
@pytest.mark.parametrize(
    ("arguments", "expected"), [(["compare", "--text", "one red fish", "one blue fish"], b"\x1b[31")], ids=["compare"]
)
def test_real_terminal(arguments: Sequence[str], expected: bytes) -> None:
    """On a real terminal the difference is coloured."""
    ours, theirs = os.openpty()
    env = {**{k: v for k, v in os.environ.items() if k != "NO_COLOR"}, "TERM": "xterm"}
    done = subprocess.run(command(arguments), stdout=theirs, stderr=subprocess.PIPE, env=env, check=False)
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(ours, 65536):
            shown += piece
            if done.returncode is not None and expected in shown:
                break
    except OSError:  # the other end is closed: everything was read
        pass
    finally:
        os.close(ours)
    assert done.returncode == 0
    assert expected in shown


def test_talk_and_results_do_not_mix(tmp_path: Path) -> None:
    """What a pipe gets are the results; the limits with their reasons go to standard error."""
    path = write_rows(tmp_path / "rows.jsonl", [{"id": 1, "text": SENTENCE}])
    done = subprocess.run(command(["dedup", path, "-o", "-"]), capture_output=True, check=True)
    assert done.stdout == path.read_bytes()
    assert b"similarity 0.85 lies" in done.stderr
