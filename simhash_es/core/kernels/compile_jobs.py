"""The first compilation spread over processes: numba compiles one function at a time in each."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from simhash_es.core.kernels import compile_cache

MAX_JOBS = 4
"""More would compile the kernels that several modules call once too often each."""

_HELPER = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from simhash_es.core.kernels.compile_jobs import help_parent; help_parent(sys.argv[2:])"
)


@contextlib.contextmanager
def shared(weights: Mapping[str, int]) -> Iterator[Sequence[str]]:
    """Start helpers for some of the modules; gives those that are left to the caller, and waits for the helpers.

    The caller holds the lock of the cache folder. A helper that fails leaves its entries out, which is no error here.

    Args:
        weights: Module → a size that its compile time grows with; 0 when nothing is to be done.
    """
    wanted = [module for module, weight in weights.items() if weight]
    jobs = min(_processors(), MAX_JOBS, len(wanted)) if _can_help() else 1
    own_share, *others = split(weights, max(1, jobs))
    helpers = [_start(modules) for modules in others]
    try:
        yield own_share
        for helper in helpers:
            helper.wait()
    finally:
        for helper in helpers:
            helper.kill()  # only after an exception: otherwise it has ended
            helper.wait()


def split(weights: Mapping[str, int], parts: int) -> list[list[str]]:
    """Modules in ``parts`` groups of about the same weight, the heaviest group first; modules of weight 0 left out."""
    groups: list[list[str]] = [[] for _ in range(parts)]
    for module in sorted(filter(weights.get, weights), key=lambda module: (-weights[module], module)):
        lightest = min(groups, key=lambda group: sum(weights[each] for each in group))
        lightest.append(module)
    return sorted(groups, key=lambda group: -sum(weights[each] for each in group))


def help_parent(modules: Sequence[str]) -> None:
    """What a helper process does: compile these modules' kernels into the cache, under its parent's lock, silently."""
    from simhash_es.core.kernels import runtime

    compile_cache.inherit_lock()
    for module in modules:
        runtime.load_module(module)


def _start(modules: Sequence[str]) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", _HELPER, json.dumps(sys.path), *modules]
    silent = subprocess.DEVNULL
    return subprocess.Popen(command, stdin=silent, stdout=silent, stderr=silent)


def _can_help() -> bool:
    """Whether a helper could work: there is a cache to leave results in, and this program is a Python interpreter."""
    is_python = Path(sys.executable or "").name.lower().startswith("python")
    return compile_cache.folder() is not None and is_python and not getattr(sys, "frozen", False)


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
