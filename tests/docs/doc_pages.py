"""Pages of documentation: their fenced blocks, their links, and how the commands shown on them are run."""

from __future__ import annotations

import io
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from simhash_es.cli import boundary
from simhash_es.cli.main import make_app

ROOT = Path(__file__).parents[2]
README, CHINESE_README = ROOT / "README.md", ROOT / "README.zh-CN.md"
GENERATED = ROOT / "docs" / "cli.md"
PAGES = (README, CHINESE_README, *sorted((ROOT / "docs").glob("*.md")))

FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<!!)\[[^\]]*\]\((?P<target>[^)\s]+)\)")
HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)
ANYTHING = "…"
"""In an expected output: as a line of its own any number of lines, within a line any characters."""

TIMES = re.compile(r"^(time +).*$", re.MULTILINE)
PROGRAM = "simhash-es "


@dataclass(frozen=True)
class Block:
    """A fenced block.

    Attributes:
        language: First word of the info string.
        title: ``title=NAME`` of the info string: the block is the content of that file.
        body: Lines between the fences.
        line: Line of the opening fence.
    """

    language: str
    title: str
    body: str
    line: int


@dataclass
class Example:
    """A command as shown, and the output that is shown below it."""

    command: str
    output: list[str] = field(default_factory=list)


def name_of(page: Path) -> str:
    """Path relative to the checkout."""
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path) -> Iterator[Block]:
    """All fenced blocks of a page, in order."""
    return blocks_of(page.read_text(encoding="utf-8"))


def blocks_of(text: str) -> Iterator[Block]:
    """The same of a text."""
    for found in FENCE.finditer(text):
        language, _, rest = found["info"].strip().partition(" ")
        title = rest.removeprefix("title=") if rest.startswith("title=") else ""
        yield Block(language, title, found["body"], text.count("\n", 0, found.start()) + 1)


def prose(page: Path) -> str:
    """A page without its fenced blocks."""
    return FENCE.sub("", page.read_text(encoding="utf-8"))


def examples(body: str) -> list[Example]:
    """The commands of a console block: lines after ``$``, continued where a line ends with a backslash."""
    found: list[Example] = []
    is_open = False
    for line in body.splitlines():
        if is_open:
            found[-1].command += "\n" + line
        elif line.startswith("$ "):
            found.append(Example(line[2:]))
        else:
            found[-1].output.append(line)
        is_open = line.endswith("\\") and (is_open or line.startswith("$ "))
    return found


def commands(page: Path) -> list[str]:
    """All commands that a page shows, those that are not run by the tests included."""
    found = []
    for block in blocks(page):
        if block.language == "console":
            found += [example.command for example in examples(block.body)]
        elif block.language == "sh":
            found += [line.partition("  #")[0].rstrip() for line in block.body.splitlines()]
    return found


def anchors(page: Path) -> set[str]:
    """Names of the headings as links write them."""
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in HEADING.findall(prose(page)))
    return {name.replace(" ", "-") for name in plain}


def fits(expected: list[str], output: str) -> bool:
    """Whether an output is the one shown; times are not compared."""
    pattern = ""
    for line in expected:
        if line == ANYTHING:
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*".join(map(re.escape, without_times(line).split(ANYTHING))) + r"\n"
    return re.fullmatch(pattern, without_times(output)) is not None


def without_times(output: str) -> str:
    """An output without what differs from run to run."""
    return TIMES.sub(r"\1", output)


class Terminal:
    """Runs the commands of one page, in a folder of their own; our own program in this process, since that is fast."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._folder = folder
        self._monkeypatch = monkeypatch
        self._code = 0
        monkeypatch.chdir(folder)

    def run(self, command: str) -> str:
        """What a person would see: standard output and standard error as they come."""
        command = command.replace("\\\n", " ")
        if command == "echo $?":
            return f"{self._code}\n"
        left, _, rest = command.rpartition(" | ") if f" | {PROGRAM}" in command else ("", "", command)
        if not rest.startswith(PROGRAM):
            return self._shell(command, b"").decode()
        rest, _, right = rest.partition(" | ")
        rest, hides_talk, _ = rest.partition(" 2>/dev/null")
        rest, _, target = rest.partition(" > ")
        seen = self._program(rest.removeprefix(PROGRAM), self._shell(left, b"") if left else b"", bool(hides_talk))
        if target:
            (self._folder / target.strip()).write_bytes(seen)
            return ""
        return (self._shell(right, seen) if right else seen).decode()

    def _shell(self, command: str, stdin: bytes) -> bytes:
        done = subprocess.run(["bash", "-c", command], cwd=self._folder, input=stdin, capture_output=True, check=False)
        self._code = done.returncode
        return done.stdout + done.stderr

    def _program(self, arguments: str, stdin: bytes, hides_talk: bool) -> bytes:
        screen, nowhere = io.BytesIO(), io.BytesIO()
        out = io.TextIOWrapper(screen, encoding="utf-8", write_through=True)
        err = io.TextIOWrapper(nowhere if hides_talk else screen, encoding="utf-8", write_through=True)
        self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        with redirect_stdout(out), redirect_stderr(err):
            self._code = int(boundary.run(make_app(), shlex.split(arguments)))
        seen = screen.getvalue()
        out.detach()
        err.detach()
        return seen
