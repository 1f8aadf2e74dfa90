"""Where compiled kernels lie on disk, and who may write there when.

Layout under the private cache folder::

    kernels/<digest>/                  one folder for each state of the sources, libraries and processor
        <kernel>-<stamp>.kernel        SHA-256 of the rest, then numba's own serialisation of one compiled kernel
        lock                           held (exclusive) by the one process that compiles
        users                          held (shared) by every process that uses the folder
        <module>.ready                 present once every kernel of that module is there

Files appear by rename, so a reader sees a whole file or none, and the checksum catches what a full disk or a crash of
the machine can still do. Locks are the kernel's (``flock``): a killed process leaves none behind.
Nothing here imports numba, and what is seldom needed or slow to import is imported where it is used, so that asking
whether the cache is warm costs a few milliseconds.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.util
import os
import platform
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from simhash_es._cache import private_cache_dir

KEPT_FOLDERS = 4
"""Old folders that stay: two Python versions, times two kinds of processor that share one home folder."""

CODE_VARIABLES = ("NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES", "NUMBA_OPT", "NUMBA_BOUNDSCHECK", "NUMBA_DEBUGINFO")
"""Settings of numba that change the code it makes but that its own cache key leaves out or hides."""

_CHECKSUM_BYTES = 32
_held: dict[str, int] = {}
"""Open lock files by path. ``users`` stay open for the life of the process."""


@functools.cache
def digest() -> str:
    """16 hex digits over all kernel sources, the libraries' versions, the interpreter and the processor."""
    state = hashlib.sha256()
    for file in sorted(Path(__file__).parent.glob("*.py")):
        state.update(f"{file.name}\0".encode() + hashlib.sha256(file.read_bytes()).digest())
    libraries = [f"{name} {_version(name)}" for name in ("numba", "llvmlite", "numpy")]
    variables = [f"{name}={os.environ.get(name)}" for name in CODE_VARIABLES]
    machine = [sys.platform, platform.machine(), _processor(), sys.version]
    state.update("\0".join(libraries + variables + machine).encode())
    return state.hexdigest()[:16]


def _version(library: str) -> str:
    """The file that states an installed library's version; its metadata say the same 40 ms later."""
    spec = importlib.util.find_spec(library)
    for folder in (spec and spec.submodule_search_locations) or ():
        for name in ("_version.py", "version.py"):
            with contextlib.suppress(OSError):
                return Path(folder, name).read_text(encoding="utf-8")
    from importlib.metadata import version

    return version(library)


def _processor() -> str:
    """Model and features of the first processor, as the system states them."""
    wanted = ("model name", "flags", "features", "cpu implementer", "cpu part")
    lines = []
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as info:
            for line in info:
                if not line.strip():
                    break  # the next processor follows; on large machines the rest is slow to read
                if line.lower().startswith(wanted):
                    lines.append(line.strip())
    except OSError:
        return platform.processor()
    return "\n".join(lines)


@functools.cache
def folder() -> Path | None:
    """The folder of this digest, made if missing and marked as in use; ``None`` when there is no place for a cache."""
    root = private_cache_dir("kernels")
    if root is None:
        return None
    path = root / digest()
    try:
        path.mkdir(mode=0o700, exist_ok=True)
        os.utime(path)  # the newest by use are kept
        _held[str(path / "users")] = _open_locked(path / "users", exclusive=False)
    except OSError:
        return None
    return path


def is_ready(module: str) -> bool:
    """Whether every kernel of a module lies compiled in the cache."""
    path = folder()
    return path is not None and (path / f"{module}.ready").exists()


def mark_ready(modules: Iterable[str]) -> None:
    """Say that every kernel of these modules is there, then clear away old folders. The caller holds the lock."""
    path = folder()
    if path is None:
        return
    with contextlib.suppress(OSError):
        for module in modules:
            (path / f"{module}.ready").touch(mode=0o600)
        _prune(path)


def inherit_lock() -> None:
    """From now on this process works under the lock that its parent holds while it waits for us."""
    path = folder()
    if path is not None:
        _held.setdefault(str(path / "lock"), -1)


@contextlib.contextmanager
def compiling() -> Iterator[None]:
    """Hold the folder's lock: of several processes one compiles, the others wait here and then find its work.

    May be nested. The caller holds numba's compiler lock, so that only one thread of a process is ever in here.
    Where the file system knows no locks, work goes on without: entries are written by rename, only time is lost.
    """
    path = folder()
    if path is None or str(path / "lock") in _held:
        yield
        return
    try:
        _held[str(path / "lock")] = _open_locked(path / "lock", exclusive=True)
    except OSError:
        yield
        return
    try:
        yield
    finally:
        os.close(_held.pop(str(path / "lock")))  # gives the lock back


def has(name: str) -> bool:
    """Whether an entry is there; :func:`read` tells whether it is sound."""
    path = folder()
    return path is not None and (path / name).exists()


def read(name: str) -> bytes | None:
    """The entry's content, or ``None`` if it is missing or damaged."""
    path = folder()
    try:
        content = b"" if path is None else (path / name).read_bytes()
    except OSError:
        return None
    checksum, payload = content[:_CHECKSUM_BYTES], content[_CHECKSUM_BYTES:]
    return payload if payload and hashlib.sha256(payload).digest() == checksum else None


def write(name: str, payload: bytes) -> None:
    """Keep an entry. A full disk or a folder that has gone is no error: the kernel is compiled again next time."""
    import tempfile

    path = folder()
    if path is None:
        return
    with contextlib.suppress(OSError):
        path.mkdir(mode=0o700, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=f"{name}.", suffix=".new", dir=path)
        try:
            with open(handle, "wb") as file:
                file.write(hashlib.sha256(payload).digest() + payload)
            os.replace(temporary, path / name)
        except OSError:
            os.unlink(temporary)


def _prune(current: Path) -> None:
    """Remove folders of other digests except the newest by use, and never one that some process holds."""
    import shutil

    for leftover in current.glob("*.new"):  # a killed writer's; nobody else writes, we hold the lock
        leftover.unlink(missing_ok=True)
    others = [path for path in current.parent.iterdir() if path != current and path.is_dir()]
    others.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    for path in others[KEPT_FOLDERS:]:
        with contextlib.suppress(OSError):
            os.close(_open_locked(path / "users", exclusive=True, wait=False))
            shutil.rmtree(path, ignore_errors=True)


if sys.platform == "win32":
    import msvcrt

    def _open_locked(path: Path, *, exclusive: bool, wait: bool = True) -> int:
        """Open and lock a file; without shared locks on this system, users are not marked and an open file is kept."""
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        while exclusive:
            try:
                msvcrt.locking(handle, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
                break
            except OSError:  # LK_LOCK gives up after ten seconds
                if not wait:
                    os.close(handle)
                    raise
        return handle

else:
    import fcntl

    def _open_locked(path: Path, *, exclusive: bool, wait: bool = True) -> int:
        """Open and lock a file.

        Raises:
            OSError: The lock is taken (without ``wait``), or the file system has none.
        """
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | (0 if wait else fcntl.LOCK_NB))
        except OSError:
            os.close(handle)
            raise
        return handle
