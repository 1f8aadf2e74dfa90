"""Help, version, completion, and the page that is made from them."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import typer.main
from cli_running import Cli

from simhash_es import __version__
from simhash_es.backends.files.options import DataFormat, OnError
from simhash_es.cli import dedup as dedup_command
from simhash_es.cli import export as export_command
from simhash_es.cli import fingerprint as fingerprint_command
from simhash_es.cli import options, profile_flags
from simhash_es.cli.help_pages import sections
from simhash_es.cli.main import make_app
from simhash_es.core import presets
from simhash_es.core.profile import HashName, Tokenizer, Weighting
from simhash_es.use_cases.dedup.options import Keep, Linkage

ROOT = Path(__file__).parents[2]
HEAVY = ("numpy", "numba", "jieba", "rjieba", "orjson", "rapidfuzz", "rich", "pydantic", "elasticsearch")


def all_commands() -> Iterator[tuple[str, Any]]:
    """Every command that does something, by its words."""
    application = typer.main.get_command(make_app(with_completion=False))
    for name, command in application.commands.items():  # type: ignore[attr-defined]
        inner = getattr(command, "commands", None)
        yield from ((f"{name} {each}", found) for each, found in inner.items()) if inner else ((name, command),)


COMMANDS = dict(all_commands())


def reference_tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_cli_reference", ROOT / "tools" / "build_cli_reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("words", [*COMMANDS, "profile", ""])
@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help_is_a_result(cli: Cli, words: str, flag: str) -> None:
    """Help goes to standard output, with exit code 0 and nothing on standard error."""
    run = cli(*words.split(), flag)
    assert (run.code, run.stderr) == (0, "")
    assert run.text.startswith(f"Usage: simhash-es {words}".rstrip())


@pytest.mark.parametrize("words", ["", "profile"])
def test_a_group_alone_shows_its_help(cli: Cli, words: str) -> None:
    """Without a command the help is shown."""
    assert cli(*words.split()).text == cli(*words.split(), "--help").text


@pytest.mark.parametrize(("name", "command"), COMMANDS.items(), ids=COMMANDS)
def test_everything_is_explained(name: str, command: Any) -> None:
    """Each argument and option has a help text of its own, and each option that takes a value says of which kind."""
    for parameter in command.params:
        assert parameter.help, f"{name} {parameter.name}"
        if not getattr(parameter, "is_flag", False):
            assert parameter.metavar, f"{name} {parameter.name}"


def test_help_shows_every_option(cli: Cli) -> None:
    """The sections of the help leave no option out."""
    command = COMMANDS["dedup"]
    shown = cli("dedup", "--help").text
    flags = {flag for parameter in command.params for flag in parameter.opts if flag.startswith("-")}
    assert len(flags) > 40
    assert {flag for flag in flags if flag not in shown} == set()


def test_one_heading_is_called_options() -> None:
    """Commands without groups of options have the plain heading; grouped ones end with the others."""
    context = typer.Context(COMMANDS["profile list"])
    assert [title for title, _ in sections(COMMANDS["profile list"], context)] == ["Options"]
    assert [title for title, _ in sections(COMMANDS["dedup"], context)][-1] == "Other options"


@pytest.mark.parametrize("words", ["", "dedup", "profile", "profile show"])
def test_help_loads_nothing_heavy(words: str) -> None:
    """No numeric, compiling, segmenting, rendering or validating library is loaded for help."""
    script = (
        "import sys; from simhash_es.cli.main import main\n"
        "try: main()\n"
        f"finally: print(*sorted(set({HEAVY!r}) & sys.modules.keys()), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *words.split(), "--help"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0
    assert done.stderr.strip() == ""


def test_version(process: Cli) -> None:
    """The version, as a result."""
    run = process("--version")
    assert (run.code, run.text, run.stderr) == (0, f"simhash-es {__version__}\n", "")


def test_reference_is_in_step() -> None:
    """docs/cli.md is what the tool makes from the commands now."""
    expected = reference_tool().reference()
    assert (ROOT / "docs" / "cli.md").read_text(encoding="utf-8") == expected, "run tools/build_cli_reference.py"


@pytest.mark.parametrize("name", COMMANDS)
def test_reference_has_every_command(name: str) -> None:
    """The page has a section for each command."""
    assert f"\n## simhash-es {name}\n" in (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("offered", "real"),
    [
        (profile_flags.PRESETS, presets.PRESETS),
        (profile_flags.TOKENIZERS, Tokenizer),
        (profile_flags.WEIGHTS, Weighting),
        (profile_flags.HASHES, HashName),
        (options.FORMATS, DataFormat),
        (options.ON_ERROR, OnError),
        (dedup_command.LINKAGES, Linkage),
        ([keep.removesuffix(":") for keep in dedup_command.KEEPS], Keep),
    ],
    ids=["profile", "tokenizer", "weights", "hash", "input-format", "on-error", "linkage", "keep"],
)
def test_offered_choices_are_the_real_ones(offered: Any, real: Any) -> None:
    """What help and completion offer is what the core accepts."""
    assert [str(choice) for choice in offered] == [str(choice) for choice in real]


def test_offered_formats_are_the_real_ones() -> None:
    """The same for outputs; these modules are heavy, so they are looked at here only."""
    from simhash_es.use_cases.export import ExportFormat
    from simhash_es.use_cases.fingerprint_lines import LineFormat

    assert list(export_command.FORMATS) == [str(each) for each in ExportFormat]
    assert list(fingerprint_command.FORMATS) == [str(each) for each in LineFormat]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("dedup --linkage ", {"keeper", "connected"}),
        ("dedup --profile c", {"characters", "compat-simhash"}),
        ("profile ", {"list", "show", "build-idf"}),
        ("fi", {"fingerprint"}),
    ],
)
def test_completion(process: Cli, words: str, expected: set[str]) -> None:
    """The shell is told commands and the choices of options."""
    import os

    typed = f"simhash-es {words}"
    env = {
        **os.environ,
        "_SIMHASH_ES_COMPLETE": "complete_bash",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(len(typed.split(" ")) - 1),
    }
    assert set(process(env=env).lines) == expected
