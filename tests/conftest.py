"""What every test run shares: the header that says what is absent, the corpora, hypothesis in its fixed form."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import settings

CORPORA_VARIABLE = "SIMHASH_ES_CORPORA"
BROWSER_VARIABLE = "SIMHASH_ES_BROWSER"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

# Compiled code and a busy machine make single examples slow: no deadline. In CI the examples are the same each time.
settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")


def corpora_folder() -> Path | None:
    """The folder of the large corpora, if one is named.

    Raises:
        pytest.UsageError: The variable names something that is not a folder: named but absent stops the run.
    """
    named = os.environ.get(CORPORA_VARIABLE)
    if not named:
        return None
    if not Path(named).is_dir():
        raise pytest.UsageError(f"{CORPORA_VARIABLE}={named} is not a folder")
    return Path(named)


def browser_path() -> str | None:
    """The browser: ``$SIMHASH_ES_BROWSER`` if it is a path, else the first one found.

    Raises:
        pytest.UsageError: ``SIMHASH_ES_BROWSER=require`` and there is none, or the path is not a program.
    """
    named = os.environ.get(BROWSER_VARIABLE, "")
    if named == "off":
        return None
    if named and named != "require":
        if shutil.which(named) is None:
            raise pytest.UsageError(f"{BROWSER_VARIABLE}={named} is not a program")
        return named
    found = next((path for path in map(shutil.which, BROWSERS) if path is not None), None)
    if found is None and named == "require":
        raise pytest.UsageError(f"{BROWSER_VARIABLE}=require, but none of {', '.join(BROWSERS)} is installed")
    return found


ABSENT = {
    "corpora": (lambda: corpora_folder() is None, f"no corpora: set {CORPORA_VARIABLE} to their folder"),
    "browser": (lambda: browser_path() is None, f"no Chromium: install it, or set {BROWSER_VARIABLE} to its path"),
}
"""Marker → (whether its condition is missing, what to do about it)."""


def pytest_report_header() -> list[str]:
    """Where the optional things are, or that they are not."""
    return [f"corpora: {corpora_folder() or 'absent'}", f"browser: {browser_path() or 'absent'}"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what cannot run, with the reason."""
    reasons = {marker: reason for marker, (is_absent, reason) in ABSENT.items() if is_absent()}
    for item in items:
        for marker, reason in reasons.items():
            if item.get_closest_marker(marker) is not None:
                item.add_marker(pytest.mark.skip(reason=reason))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """How many tests each absent thing has cost."""
    skipped = [str(report.longrepr) for report in terminalreporter.getreports("skipped")]
    for _marker, (_is_absent, reason) in ABSENT.items():
        count = sum(reason in text for text in skipped)
        if count:
            terminalreporter.write_line(f"{count} tests skipped: {reason}")


@pytest.fixture(scope="session")
def corpora() -> Path:
    """The folder of the large corpora; the test is skipped when there is none."""
    folder = corpora_folder()
    if folder is None:
        pytest.skip(ABSENT["corpora"][1])
    return folder


@pytest.fixture(scope="session")
def browser() -> str:
    """Path of Chromium; the test is skipped when there is none."""
    path = browser_path()
    if path is None:
        pytest.skip(ABSENT["browser"][1])
    return path


@pytest.fixture
def private_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder for this test and the processes it starts."""
    folder = tmp_path / "private-cache"
    monkeypatch.setenv("SIMHASH_ES_CACHE", str(folder))
    return folder
