"""Compiled kernels: one decorator, compiled on first use, kept in a private cache.

numba's own cache does not fit an installed package: it lies beside the sources (read-only in many installations) or in
a folder shared with every other user of numba, it does not see that a *called* kernel in another file has changed, and
its index and data files race when processes start together. So each kernel here has a cache object of its own, which
leaves numba's settings and everybody else's functions alone. Importing this module, or any kernel, compiles nothing.

Parallel work is done by our own threads or processes over serial kernels that give up the interpreter lock; numba's
parallel mode stays out, because a child forked after its first use dies, and two threads in it abort the process.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import os
import sys
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Generic, ParamSpec, TypeVar

from simhash_es.core.kernels import compile_cache
from simhash_es.core.kernels.stamp import function_stamp
from simhash_es.errors import InvalidOption

P = ParamSpec("P")
R = TypeVar("R")

FIXED_OPTIONS = {"nogil": True, "error_model": "numpy", "fastmath": False, "no_cfunc_wrapper": True}
"""Set for every kernel. ``error_model`` leaves out the test for a zero divisor; ``fastmath`` would make sums of floats
depend on the machine; the wrapper for calls from C takes a tenth of the compile time, and nobody calls from C."""

RUNTIME_MODULES = frozenset({"__init__", "compile_cache", "compile_jobs", "runtime", "stamp"})
NO_COUNTING = {"_nrt": False}
"""Kernels without reference counts: numba would count atomically every array handed to another kernel, which costs ten
times what the inner kernels do. Such kernels cannot allocate."""

_PACKAGE = __name__.rpartition(".")[0]
_registered: list[Kernel[..., Any]] = []
_announced = threading.Event()
_loaded: set[str] = set()
"""Modules that load_kernels() has compiled in this process: ready even if there is no place for a cache."""


class Kernel(Generic[P, R]):
    """A function that runs compiled: called from Python like the function, or by name from other kernels.

    The first call loads it from the cache or compiles it; later calls add one Python call to numba's own dispatch.
    Safe to use from several threads, and after a fork.

    Attributes:
        py_func: The plain function.
        signature: Types in numba's notation, ``result(argument, …)``.
    """

    def __init__(self, py_func: Callable[P, R], signature: str, options: dict[str, object]) -> None:
        functools.update_wrapper(self, py_func)
        self.py_func = py_func
        self.signature = signature
        self._options = {**FIXED_OPTIONS, **options}
        self._dispatcher: Any = None
        _registered.append(self)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        dispatcher = self._dispatcher
        if dispatcher is None:
            dispatcher = self.load()
        result: R = dispatcher(*args, **kwargs)
        return result

    def __reduce__(self) -> str:
        return self.py_func.__qualname__  # pickled by name, like the function itself

    @property
    def _numba_type_(self) -> Any:
        """numba asks this when another kernel calls this one."""
        return self.load()._numba_type_

    @functools.cached_property
    def stamp(self) -> str:
        """16 hex digits over all that the compiled code depends on: code, types, options, constants, called kernels."""
        return function_stamp(self.py_func, self.signature, self._options)

    def load(self) -> Any:
        """Make sure the compiled form is in memory; returns numba's dispatcher (with its JIT off: the function)."""
        import numba
        from numba.core.compiler_lock import global_compiler_lock

        _let_forks_wait()
        # Always numba's lock before the file lock: a user's own compilation may lead here with numba's already held.
        with global_compiler_lock:
            if self._dispatcher is None:
                dispatcher: Any = numba.njit(**self._options)(self.py_func)
                if dispatcher is not self.py_func:
                    self._compile(dispatcher)
                _import_for_calls()
                self._dispatcher = dispatcher
        return self._dispatcher

    def _compile(self, dispatcher: Any) -> None:
        dispatcher._cache = _entry_cache(self.entry)
        # Only a missing entry needs the lock; whoever comes second finds the entry once the lock is free.
        with contextlib.nullcontext() if compile_cache.has(self.entry) else compile_cache.compiling():
            dispatcher.compile(self.signature)
        dispatcher.disable_compile()  # other argument types are converted or refused, never compiled silently

    @functools.cached_property
    def entry(self) -> str:
        """Name of the file that holds the compiled form."""
        from numba.core.registry import cpu_target

        processor = repr(cpu_target.target_context.codegen().magic_tuple()).encode()
        module = self.__module__.rpartition(".")[2]
        return f"{module}.{self.py_func.__name__}-{self.stamp}-{hashlib.sha256(processor).hexdigest()[:8]}.kernel"


def kernel(signature: str, **options: object) -> Callable[[Callable[P, R]], Kernel[P, R]]:
    """Decorator: compile this function for exactly one signature, on first use.

    Args:
        signature: In numba's notation, such as ``"uint64(uint64, uint8[::1])"``.
        options: Further options of ``numba.njit``, such as ``inline="never"``.

    Raises:
        InvalidOption: An option is set here for all kernels, or is ``cache`` or ``parallel``.
    """
    refused = sorted({*FIXED_OPTIONS, "cache", "parallel"} & options.keys())
    if refused:
        raise InvalidOption(f"kernel option {refused[0]!r} is not open to choice")

    def decorate(py_func: Callable[P, R]) -> Kernel[P, R]:
        return Kernel(py_func, signature, options)

    return decorate


def is_warm(*modules: str) -> bool:
    """Whether kernels can be used without waiting for a compiler. Does not import numba; a millisecond.

    Args:
        modules: Names of modules in ``simhash_es.core.kernels``, such as ``"join"``; none means all of them.
    """
    return all(module in _loaded or compile_cache.is_ready(module) for module in modules or kernel_modules())


def load_kernels(*modules: str) -> None:
    """Make kernels ready to use; call it before starting threads or processes that use them.

    With a warm cache nothing is read or compiled. Otherwise one process, with a few helper processes of its own on a
    machine with several cores, compiles what is missing while others wait for it.

    Args:
        modules: As for :func:`is_warm`.
    """
    from simhash_es.core.kernels import compile_jobs

    cold = [module for module in modules or kernel_modules() if not is_warm(module)]
    if not cold:
        return
    from numba.core.compiler_lock import global_compiler_lock

    kernels = {module: _kernels_of(module) for module in cold}  # before the locks: an import can wait for a thread
    with global_compiler_lock, compile_cache.compiling():
        uncached = {
            module: [each for each in own if not compile_cache.has(each.entry)] for module, own in kernels.items()
        }
        if any(uncached.values()):
            _announce()
            weights = {module: sum(map(_weight, own)) for module, own in uncached.items()}
            with compile_jobs.shared(weights) as own_share:
                for module in own_share:
                    load_module(module)
        for module in cold:
            load_module(module)  # reads what the helpers have made; compiles it if they failed
        compile_cache.mark_ready(cold)
        _loaded.update(cold)


def load_module(module: str) -> None:
    """Load or compile every kernel that is defined in one module."""
    for each in _kernels_of(module):
        each.load()


def kernel_modules() -> tuple[str, ...]:
    """Names of the modules in this package, those of the runtime left out."""
    return tuple(sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem not in RUNTIME_MODULES))


def _weight(owner: Kernel[..., Any]) -> int:
    """About proportional to the time to compile: measured, 0.1 s each and 0.4 s for each 1000 bytes of bytecode."""
    return 300 + len(owner.py_func.__code__.co_code)


def _kernels_of(module: str) -> list[Kernel[..., Any]]:
    name = f"{_PACKAGE}.{module}"
    importlib.import_module(name)
    return [each for each in _registered if each.__module__ == name]


def _announce() -> None:
    """One line for each process that really compiles."""
    if _announced.is_set() or sys.stderr is None:
        return
    _announced.set()
    reason = "first run only" if compile_cache.folder() is not None else "each run: no private cache folder is writable"
    print(f"simhash-es: compiling kernels for this machine ({reason}) …", file=sys.stderr, flush=True)


@functools.cache
def _import_for_calls() -> None:
    """Have numba and numpy import here, where forks wait, what they would import when the first array is passed.

    A child forked during an import in another thread waits for ever for the lock of the module.
    """
    import numba
    import numpy as np

    numba.typeof(np.empty(0))


@functools.cache
def _let_forks_wait() -> None:
    """A child forked while another thread compiles would inherit the compiler's lock, held for ever."""
    from numba.core.compiler_lock import global_compiler_lock

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(
            before=global_compiler_lock.acquire,
            after_in_parent=global_compiler_lock.release,
            after_in_child=global_compiler_lock.release,
        )


def _entry_cache(entry: str) -> Any:
    """The cache object of one kernel, of the interface that numba's dispatcher expects."""
    import pickle

    from numba.core import caching, compiler, serialize

    class EntryCache(caching.NullCache):  # type: ignore[misc]  # numba is not typed
        def load_overload(self, sig: Any, target_context: Any) -> Any:
            payload = compile_cache.read(entry)
            if payload is None:
                _announce()
                return None
            symbols, reduced = pickle.loads(payload)
            _provide(symbols, target_context)
            return compiler.CompileResult._rebuild(target_context, *reduced)

        def save_overload(self, sig: Any, data: Any) -> None:
            if not data.library.has_dynamic_globals and not data.lifted:
                content = (_outside_symbols(data.library), data._reduce())
                compile_cache.write(entry, serialize.dumps(content))

    return EntryCache()


def _outside_symbols(library: Any) -> list[str]:
    """Names that compiled code expects from the process: numba's runtime, the C library."""
    import llvmlite.binding as llvm

    module = llvm.parse_assembly(library.get_llvm_str())
    things = [*module.functions, *module.global_variables]
    return sorted(thing.name for thing in things if thing.is_declaration and not thing.name.startswith("llvm."))


def _provide(symbols: Iterable[str], target_context: Any) -> None:
    """Make the names known before code that uses them is loaded; a missing one would be a crash at the first call.

    numba's own cache imports all that numba can compile (0.3 s) to be sure. Ready-made code needs hardly any of it.
    """
    import llvmlite.binding as llvm
    from numba.core.runtime import rtsys

    rtsys.initialize(target_context)
    if not all(llvm.address_of_symbol(symbol) for symbol in symbols):
        target_context.refresh()
