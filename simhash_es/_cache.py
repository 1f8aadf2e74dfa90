"""The one private folder for things that can be made again: compiled kernels, the segmenter's dictionary.

A cache that other users can write to, or that the first user of a machine owns, is a fault waiting to happen: foreign
code is loaded, or everyone else gets permission errors. So a folder is used only if it is ours and nobody else may
write to it; if no such folder can be had, the next place is tried, and at last a temporary one for this process.
"""

from __future__ import annotations

import atexit
import os
import stat
from collections.abc import Iterator
from pathlib import Path

ENVIRONMENT_VARIABLE = "SIMHASH_ES_CACHE"
"""Names the cache folder; it is made if missing. A folder that is not safe to use is passed over, not an error."""

_temporary: dict[int, Path] = {}
"""Temporary folder by process id: a forked child keeps using its parent's, but does not remove it."""


def private_cache_dir(purpose: str) -> Path | None:
    """A folder of our own, ``…/simhash-es/<purpose>``, made with mode 0700 if missing.

    Tried in turn: ``$SIMHASH_ES_CACHE``, ``$XDG_CACHE_HOME/simhash-es``, ``~/.cache/simhash-es``, then a fresh
    temporary folder that goes away with this process. The answer is not remembered, except for the temporary folder.

    Args:
        purpose: Name of the sub-folder, such as ``kernels``.

    Returns:
        A folder that exists, is writable, belongs to this user and can be written by no one else;
        ``None`` when not even a temporary folder can be made: work without a cache then.
    """
    for root in _candidates():
        if _is_private_folder(root, shared_by_group=True):
            folder = root / purpose
            if _is_private_folder(folder, shared_by_group=False):
                return folder
    return None


def _candidates() -> Iterator[Path]:
    named = os.environ.get(ENVIRONMENT_VARIABLE)
    if named:
        yield Path(named).absolute()
    xdg = os.environ.get("XDG_CACHE_HOME")
    if xdg and os.path.isabs(xdg):  # the XDG base directory specification: relative paths are ignored
        yield Path(xdg) / "simhash-es"
    home = Path(os.path.expanduser("~"))
    # Under sudo the home can be another user's: a folder of ours in it would lock its owner out.
    if home.is_absolute() and _is_ours(home):
        yield home / ".cache" / "simhash-es"
    temporary = _temporary_folder()
    if temporary is not None:
        yield temporary


def _is_private_folder(folder: Path, *, shared_by_group: bool) -> bool:
    """Make the folder if missing; true if it is ours, writable, and closed to others (and to the group unless told)."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        mode = folder.stat().st_mode
    except OSError:
        return False
    if not os.access(folder, os.W_OK | os.X_OK):  # knows of read-only mounts, unlike the permission bits
        return False
    if os.name == "nt":  # modes and owners mean nothing here; profile folders are private by their access lists
        return True
    closed = stat.S_IWOTH if shared_by_group else stat.S_IWOTH | stat.S_IWGRP
    return stat.S_ISDIR(mode) and not mode & closed and _is_ours(folder)


def _is_ours(path: Path) -> bool:
    if os.name == "nt":
        return True
    try:
        return path.stat().st_uid == os.geteuid()
    except OSError:
        return False


def _temporary_folder() -> Path | None:
    import tempfile  # slow to import, seldom needed

    for folder in _temporary.values():
        if folder.is_dir():
            return folder
    try:
        fresh = Path(tempfile.mkdtemp(prefix="simhash-es-"))
    except OSError:
        return None
    folder = _temporary.setdefault(os.getpid(), fresh)
    if folder != fresh and folder.is_dir():  # another thread was first
        fresh.rmdir()
        return folder
    _temporary[os.getpid()] = fresh
    atexit.register(_remove_temporary, fresh, os.getpid())
    return fresh


def _remove_temporary(folder: Path, owner: int) -> None:
    import shutil

    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)
