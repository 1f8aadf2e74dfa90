"""What a kernel's compiled form was made from, as a short text that is the same in every process."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from types import CodeType, ModuleType
from typing import Any


def function_stamp(function: Callable[..., object], signature: str, options: Mapping[str, object]) -> str:
    """16 hex digits over a function's code, types, options, the constants it reads and the kernels it calls.

    The code object is described, not the source file: what is in memory is what gets compiled, even if the file has
    been edited meanwhile. Objects of other kinds, such as numba's intrinsics, count by their type only; their sources
    are part of the cache folder's digest.
    """
    state = hashlib.sha256(repr((signature, sorted(options.items()))).encode())
    for part in _describe_function(function):
        state.update(part + b"\0")
    return state.hexdigest()[:16]


def _describe_function(function: Callable[..., object]) -> Iterable[bytes]:
    """What a function's compiled form depends on, as bytes that are the same in every process."""
    code = function.__code__
    names = _names(code)
    yield from _describe_code(code)
    for cell in function.__closure__ or ():
        yield from _describe(cell.cell_contents, names)
    for name in sorted(names & function.__globals__.keys()):
        yield name.encode()
        yield from _describe(function.__globals__[name], names)


def _names(code: CodeType) -> set[str]:
    inner = (_names(constant) for constant in code.co_consts if isinstance(constant, CodeType))
    return set(code.co_names).union(*inner)


def _describe_code(code: CodeType) -> Iterable[bytes]:
    yield code.co_code
    yield repr((code.co_name, code.co_argcount, code.co_names, code.co_varnames, code.co_freevars)).encode()
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _describe_code(constant)
        else:
            yield repr(constant).encode()


def _describe(value: Any, names: set[str]) -> Iterable[bytes]:
    """A value that numba would freeze into the code: constants, arrays, other kernels, our own modules' attributes."""
    stamp = None if isinstance(value, ModuleType) else getattr(value, "stamp", None)
    if isinstance(stamp, str):  # another kernel
        yield stamp.encode()
    elif isinstance(value, ModuleType):
        yield value.__name__.encode()
        if value.__name__.startswith("simhash_es."):
            for name in sorted(names & vars(value).keys()):
                yield from _describe(vars(value)[name], set())
    elif isinstance(value, tuple):
        for item in value:
            yield from _describe(item, names)
    elif hasattr(value, "tobytes") and not isinstance(value, type):  # numpy arrays and scalars
        yield repr((type(value).__name__, str(value.dtype), value.shape)).encode() + value.tobytes()
    elif isinstance(value, bool | int | float | complex | str | bytes | None):
        yield repr(value).encode()
    else:
        yield type(value).__name__.encode()
