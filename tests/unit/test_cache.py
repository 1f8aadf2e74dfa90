"""The private cache folder."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from simhash_es import _cache
from simhash_es._cache import private_cache_dir

posix_only = pytest.mark.skipif(os.name == "nt", reason="owners and modes are a POSIX matter")


@pytest.fixture(autouse=True)
def own_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SIMHASH_ES_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(_cache, "_temporary", {})
    (tmp_path / "home").mkdir()


def test_named_folder_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SIMHASH_ES_CACHE is used before all others and is made if missing."""
    monkeypatch.setenv("SIMHASH_ES_CACHE", str(tmp_path / "a" / "b"))
    assert private_cache_dir("kernels") == tmp_path / "a" / "b" / "kernels"


def test_xdg_comes_before_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a named folder it is XDG_CACHE_HOME, and without that ~/.cache."""
    assert private_cache_dir("kernels") == tmp_path / "xdg" / "simhash-es" / "kernels"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative/is/ignored")
    assert private_cache_dir("kernels") == tmp_path / "home" / ".cache" / "simhash-es" / "kernels"


@posix_only
def test_made_folders_are_closed_to_others(tmp_path: Path) -> None:
    """Folders are made with mode 0700 whatever the umask says."""
    previous = os.umask(0)
    try:
        folder = private_cache_dir("kernels")
    finally:
        os.umask(previous)
    assert folder is not None
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(folder.parent.stat().st_mode) == 0o700


@posix_only
def test_world_writable_folder_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that anyone can write to is not used: what lies there may be anyone's code."""
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    monkeypatch.setenv("SIMHASH_ES_CACHE", str(tmp_path / "open"))
    assert private_cache_dir("kernels") == tmp_path / "xdg" / "simhash-es" / "kernels"


@posix_only
def test_group_writable_sub_folder_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder that holds code must be closed to the group as well."""
    (tmp_path / "named" / "kernels").mkdir(parents=True)
    (tmp_path / "named" / "kernels").chmod(0o770)
    monkeypatch.setenv("SIMHASH_ES_CACHE", str(tmp_path / "named"))
    assert private_cache_dir("kernels") == tmp_path / "xdg" / "simhash-es" / "kernels"


@posix_only
@pytest.mark.parametrize("level", ["named", "named/kernels"])
def test_folder_of_another_user_is_passed_over(level: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache that another user owns is neither read nor complained about."""
    (tmp_path / "named" / "kernels").mkdir(parents=True)
    monkeypatch.setenv("SIMHASH_ES_CACHE", str(tmp_path / "named"))
    if os.geteuid() == 0:
        os.chown(tmp_path / level, 12345, -1)
    else:
        foreign = tmp_path / level
        monkeypatch.setattr(_cache, "_is_ours", lambda path: path != foreign)
    assert private_cache_dir("kernels") == tmp_path / "xdg" / "simhash-es" / "kernels"


@posix_only
def test_home_of_another_user_gets_no_folder_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the environment of another user (sudo), nothing is made in their home that they could not use."""
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(_cache, "_is_ours", lambda path: path != tmp_path / "home")
    folder = private_cache_dir("kernels")
    assert folder is not None
    assert tmp_path not in folder.parents
    assert not (tmp_path / "home" / ".cache").exists()


def test_nowhere_to_write_gives_one_temporary_folder_for_each_process(tmp_path: Path) -> None:
    """When every place is a file instead of a folder, a private temporary folder serves, and goes away at the end."""
    (tmp_path / "file").touch()
    blocked = {name: str(tmp_path / "file") for name in ("SIMHASH_ES_CACHE", "XDG_CACHE_HOME", "HOME")}
    script = (
        "from simhash_es._cache import private_cache_dir as find; a, b = find('kernels'), find('kernels'); "
        "assert a == b and a.is_dir(); print(a.parent, oct(a.parent.stat().st_mode & 0o777))"
    )
    environment = {**os.environ, **blocked, "TMPDIR": str(tmp_path)}
    run = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    folder, mode = run.stdout.split()
    assert Path(folder).parent == tmp_path
    assert mode == "0o700" or os.name == "nt"
    assert not Path(folder).exists()
    assert run.stderr == ""


def test_no_place_at_all_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without even a temporary folder the answer is None."""
    (tmp_path / "file").touch()
    for name in ("SIMHASH_ES_CACHE", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.setenv(name, str(tmp_path / "file"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "file"))
    assert private_cache_dir("kernels") is None
