"""The documentation names everything there is, names nothing else, and its examples give what they show."""

from __future__ import annotations

import doctest
import json
import os
import re
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import doc_pages as pages
import pytest
import typer.main
from doc_pages import PAGES, ROOT, Terminal, name_of

from simhash_es import errors
from simhash_es.backends.files.options import DataFormat
from simhash_es.cli.exits import ExitCode
from simhash_es.cli.main import make_app
from simhash_es.core.kernels.runtime import load_kernels
from simhash_es.core.limits import derive_limits
from simhash_es.core.presets import DEFAULT, presets
from simhash_es.core.profile import HashName, Tokenizer, Weighting
from simhash_es.core.similarity import Measure
from simhash_es.use_cases.dedup.options import DEFAULT_RECALL, Keep

SAMPLE = ROOT / "examples" / "sample"
WRITTEN = tuple(page for page in PAGES if page != pages.GENERATED)
WITH_EXAMPLES = [
    page for page in WRITTEN if any(block.language in ("console", "python") for block in pages.blocks(page))
]
VARIABLE = re.compile(r"(?<![A-Z_])SIMHASH_ES_[A-Z]+\b(?!_)")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]+")
FOREIGN_OPTIONS = {"--install-completion"}
"""Options that the commands get from Typer."""


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def walk(command: Any, path: str = "simhash-es") -> Iterator[tuple[str, Any]]:
    """All commands with their full names."""
    yield path, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from walk(inner, f"{path} {name}")


COMMANDS = dict(walk(typer.main.get_command(make_app(with_completion=False))))
OPTIONS = sorted(
    {flag for command in COMMANDS.values() for parameter in command.params for flag in parameter.opts if "--" in flag}
)


@pytest.fixture(scope="session", autouse=True)
def warm() -> None:
    """Kernels are ready, so that no example shows the line about compiling."""
    load_kernels()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A place as a reader has it who stands in a checkout."""
    shutil.copytree(SAMPLE, tmp_path / "examples" / "sample")
    return tmp_path


# -- examples ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=name_of)
def test_examples_give_what_they_show(page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files, commands and Python of a page, in the order of the page, give the output that stands below them."""
    for name in ("SIMHASH_ES_DEBUG", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    terminal = Terminal(folder, monkeypatch)
    names: dict[str, Any] = {}
    for block in pages.blocks(page):
        where = f"{name_of(page)}:{block.line}"
        if block.title:
            (folder / block.title).write_text(block.body, encoding="utf-8")
        elif block.language == "console":
            for example in pages.examples(block.body):
                seen = terminal.run(example.command)
                assert pages.fits(example.output, seen), f"{where}: $ {example.command}\n{seen}"
        elif block.language == "python":
            check_python(block, where, names)


def check_python(block: pages.Block, where: str, names: dict[str, Any]) -> None:
    """Run a block as a doctest; what it defines stays for the next one."""
    test = doctest.DocTestParser().get_doctest(block.body, names, where, where, block.line)
    assert test.examples, f"{where}: nothing to run"
    report: list[str] = []
    result = doctest.DocTestRunner(verbose=False).run(test, out=report.append, clear_globs=False)
    names.update(test.globs)
    assert result.failed == 0, "".join(report)


def test_make_has_the_targets_that_are_named() -> None:
    """Each ``make TARGET`` of a page is in the Makefile."""
    named = {
        word for page in PAGES for word in re.findall(r"\bmake ([a-z]+)(?=`|\s{2,}|$)", page.read_text("utf-8"), re.M)
    }
    assert {"demo", "test"} <= named
    assert named <= set(re.findall(r"^([a-z]+):", text_of("Makefile"), re.M))


# -- what there is, and nothing else ----------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [path for path in COMMANDS if path != "simhash-es"])
def test_command_is_described(path: str) -> None:
    """Each command is in the reference, and in a page that someone wrote."""
    name = path.removeprefix("simhash-es ")
    assert f"## {path}\n" in text_of("docs/cli.md")
    assert any(re.search(rf"\b{name}\b", page.read_text("utf-8")) for page in WRITTEN)


@pytest.mark.parametrize("flag", sorted(set(OPTIONS) - {"--help", "--version"}))
def test_option_is_described(flag: str) -> None:
    """Each option is in the reference, and in a page that someone wrote."""
    assert re.search(rf"{flag}\b(?!-)", text_of("docs/cli.md"))
    assert any(flag in OPTION.findall(page.read_text("utf-8")) for page in WRITTEN)


@pytest.mark.parametrize("page", WRITTEN, ids=name_of)
def test_no_option_is_invented(page: Path) -> None:
    """An option that a page names exists."""
    assert set(OPTION.findall(page.read_text("utf-8"))) <= {*OPTIONS, *FOREIGN_OPTIONS}


def test_options_of_shown_commands_are_theirs() -> None:
    """A shown command has the options it is shown with."""
    for page in PAGES:
        for shown in pages.commands(page):
            for call in re.findall(r"simhash-es ([a-z][^|>]*)", shown):
                name = next((n for n in sorted(COMMANDS, reverse=True) if f"simhash-es {call}".startswith(n)), "")
                known = {flag for parameter in COMMANDS[name].params for flag in parameter.opts} | {"--help"}
                assert set(OPTION.findall(call)) <= known, f"{name_of(page)}: {shown}"


def variables_in(folder: str) -> set[str]:
    found = set()
    for path in (ROOT / folder).rglob("*.py"):
        found |= set(VARIABLE.findall(path.read_text("utf-8")))
    return found


def test_environment_variables_are_described() -> None:
    """Each variable of our own is in the table of variables, and the table has no other."""
    ours = variables_in("simhash_es") | variables_in("tests") | variables_in("benchmarks")
    assert {"SIMHASH_ES_CACHE", "SIMHASH_ES_DEBUG"} <= ours
    assert set(re.findall(r"^\| `(SIMHASH_ES_\w+)`", text_of("docs/caches.md"), re.M)) == ours


def test_errors_are_described_with_their_codes() -> None:
    """Each error class is in the table of errors, with the exit code that it leads to."""
    from simhash_es.cli.exits import exit_code_of

    classes = {name: kind for name, kind in vars(errors).items() if isinstance(kind, type) and name != "annotations"}
    table = dict(re.findall(r"^\| `(\w+)` \|.*\| (\d+) \|$", text_of("docs/python.md"), re.M))
    assert {name: str(int(exit_code_of(kind("message")))) for name, kind in classes.items()} == table


@pytest.mark.parametrize("name", ["docs/files.md", "docs/cli.md"])
def test_exit_codes_are_described(name: str) -> None:
    """Each exit code is in the table of exit codes, and the table has no other."""
    section = text_of(name).partition("## Exit codes\n")[2].partition("\n## ")[0]
    assert [int(code) for code in re.findall(r"^\| (\d+) \|", section, re.M)] == [int(code) for code in ExitCode]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("docs/fingerprints.md", [*presets(), *Tokenizer, *Weighting, *HashName]),
        ("docs/files.md", list(DataFormat)),
        ("docs/similarity.md", [*Measure, *Keep, "keeper", "connected"]),
    ],
    ids=["settings", "formats", "measures"],
)
def test_choices_are_described(name: str, words: list[str]) -> None:
    """Each value of an option with fixed choices is explained in the page about it."""
    text = text_of(name)
    missing = [str(word) for word in words if not re.search(rf"`(?:[^`\n]*[ :])?{word}\b[^`\n]*`", text)]
    assert missing == []


def test_extras_are_described() -> None:
    """Each optional part that a user can install is in the README's line, and no other."""
    extras = set(tomllib.loads(text_of("pyproject.toml"))["project"]["optional-dependencies"])
    named = re.search(r"pip install '\.\[([a-z,]+)\]'", text_of("README.md"))
    assert named is not None
    assert set(named[1].split(",")) == extras - {"test", "bench", "dev"}


def test_public_names_are_described() -> None:
    """Each public name of the package is in the page about Python."""
    import simhash_es

    text = text_of("docs/python.md")
    missing = [n for n in simhash_es.__all__ if not n.startswith("__") and not re.search(rf"\b{n}\b", text)]
    assert missing == []


def test_summary_is_described(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each key of the summary is in the table of keys, and the table has no other."""
    summary = json.loads(Terminal(folder, monkeypatch).run(f"simhash-es dedup {SAMPLE}/reviews.csv --json 2>/dev/null"))
    section = text_of("docs/files.md").partition("`--json`: the summary\n")[2].partition("\n## ")[0]
    keys = re.findall(r"`(\w+)`", " ".join(re.findall(r"^\| (`[^|]*) \|", section, re.M)))
    assert sorted(keys) == sorted(summary)


def test_table_of_limits_is_true() -> None:
    """The table of limits by similarity and rows is what the tool derives."""
    found = 0
    for line in re.findall(r"^\| (0\.\d+ \|.*) \|$", text_of("docs/similarity.md"), re.M):
        similarity, *cells = line.split(" | ")
        for rows, cell in zip((1_000, 100_000, 1_000_000, 10_000_000), cells, strict=True):
            limits = derive_limits(DEFAULT, float(similarity), DEFAULT_RECALL, rows)
            k, k2 = limits.distances
            assert cell == f"{k}, {k2}: {limits.expected_recall:.0%}, {limits.recall_at_threshold:.0%}"
            found += 1
    assert found >= 20


# -- links, and the two languages -------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    """Each link to a page, file or heading of ours has a target."""
    for target in pages.LINK.findall(pages.prose(page)):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        other = Path(os.path.normpath(page.parent / path)) if path else page
        assert other.exists(), f"{name_of(page)} links to {target}"
        assert not anchor or anchor in pages.anchors(other), f"{name_of(page)} links to {target}"


def test_every_page_is_reached_from_the_readme() -> None:
    """The README links to each page."""
    linked = {target.partition("#")[0] for target in pages.LINK.findall(text_of("README.md"))}
    assert {name_of(page) for page in PAGES if page.parent.name == "docs"} <= linked


def test_chinese_readme_shows_the_same() -> None:
    """The two READMEs show the same files, commands, outputs and Python, and link to the same pages."""

    def shown(page: Path) -> list[tuple[str, ...]]:
        found = [block for block in pages.blocks(page) if block.language != "sh"]
        return [(block.language, block.title, pages.without_times(block.body)) for block in found]

    assert shown(pages.CHINESE_README) == shown(pages.README)
    assert pages.commands(pages.CHINESE_README) == pages.commands(pages.README)
    links = [sorted(set(pages.LINK.findall(pages.prose(page)))) for page in (pages.README, pages.CHINESE_README)]
    assert [x for x in links[0] if "README" not in x] == [x for x in links[1] if "README" not in x]
