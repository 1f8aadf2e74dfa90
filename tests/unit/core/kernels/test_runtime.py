"""The kernel runtime: compiled once, kept privately, right under every kind of concurrent start.

Most tests run programs of their own over a small copy of the package: the real runtime with two small kernel modules,
so that "everything is compiled" takes a second.
"""

from __future__ import annotations

import os
import pickle
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import simhash_es
from simhash_es.core.kernels import compile_cache, compile_jobs, runtime
from simhash_es.core.kernels.runtime import Kernel, kernel
from simhash_es.errors import InvalidOption

LINE = "simhash-es: compiling kernels for this machine (first run only) …"
RUNTIME_FILES = (
    "__init__.py",
    "errors.py",
    "_cache.py",
    "core/__init__.py",
    "core/kernels/__init__.py",
    "core/kernels/runtime.py",
    "core/kernels/compile_cache.py",
    "core/kernels/compile_jobs.py",
    "core/kernels/stamp.py",
)
SCRAMBLE = """
from simhash_es.core.kernels.runtime import kernel
from simhash_es.core.settings import OFFSET

@kernel("uint64(uint64)")
def scramble(x):
    return (x ^ (x >> 7)) * 3 + OFFSET
"""
TOTAL = '''
from simhash_es.core.kernels.runtime import kernel
from simhash_es.core.kernels.scramble import scramble

@kernel("uint64(uint64[::1])")
def total(values):
    """Sum of the scrambled values."""
    result = 0
    for i in range(values.shape[0]):
        result += scramble(values[i])
    return result
'''
COUNTING = """
import numpy as np
from simhash_es.core.kernels.runtime import kernel

@kernel("int64(int64[::1])")
def distinct(values):
    seen = {}
    for value in values:
        seen[value] = 1
    return len(seen)

@kernel("float64()")
def draw():
    return np.random.random()
"""
CALL = """
import numpy as np
from simhash_es.core.kernels.total import total
values = np.arange(1000, dtype=np.uint64)
"""
SHOW = CALL + "print(total(values))"


def expected(factor: int = 3, offset: int = 5) -> str:
    return str(sum((x ^ (x >> 7)) * factor + offset for x in range(1000)))


@dataclass
class Miniature:
    """A copy of the runtime with two kernels, an empty cache, and a way to run programs over them."""

    root: Path
    cache: Path

    def environment(self, **changes: str) -> dict[str, str]:
        environment = {**os.environ, "PYTHONPATH": str(self.root), "SIMHASH_ES_CACHE": str(self.cache)}
        return {**environment, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONIOENCODING": "utf-8", **changes}

    def start(self, script: str, **changes: str) -> subprocess.Popen[str]:
        # -P keeps the checkout, which is the current folder of a test run, out of the import path.
        return subprocess.Popen(
            [sys.executable, "-P", "-W", "error", "-c", script],
            env=self.environment(**changes),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def run(self, script: str, **changes: str) -> tuple[str, str]:
        """Standard output and standard error, stripped, of a program that must end well."""
        return finish(self.start(script, **changes))

    def entries(self) -> list[Path]:
        return sorted(self.cache.glob("kernels/*/*.kernel"))

    def edit(self, module: str, old: str, new: str) -> None:
        path = self.root / "simhash_es" / "core" / module
        path.write_text(path.read_text().replace(old, new))


def finish(process: subprocess.Popen[str]) -> tuple[str, str]:
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return out.strip(), err.strip()


@pytest.fixture
def miniature(tmp_path: Path) -> Miniature:
    source = Path(simhash_es.__file__).parent
    copy = tmp_path / "tree" / "simhash_es"
    for name in RUNTIME_FILES:
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source / name, copy / name)
    (copy / "__init__.py").write_text("")
    (copy / "core" / "settings.py").write_text("OFFSET = 5\n")
    (copy / "core" / "kernels" / "scramble.py").write_text(SCRAMBLE)
    (copy / "core" / "kernels" / "total.py").write_text(TOTAL)
    return Miniature(tmp_path / "tree", tmp_path / "cache")


# One process


def test_first_run_compiles_with_one_line_and_later_runs_are_silent(miniature: Miniature) -> None:
    """Only a run that really compiles says so, once, on standard error."""
    assert miniature.run(SHOW) == (expected(), LINE)
    assert miniature.run(SHOW) == (expected(), "")


def test_importing_kernels_compiles_nothing(miniature: Miniature) -> None:
    """The import of a kernel module neither compiles nor imports numba."""
    script = CALL + "import sys; print('numba' in sys.modules)"
    assert miniature.run(script) == ("False", "")
    assert miniature.entries() == []


def test_called_kernels_are_not_loaded_when_warm(miniature: Miniature) -> None:
    """The caller's entry holds the code of the kernels that it calls."""
    miniature.run(SHOW)
    for entry in miniature.entries():
        if entry.name.startswith("scramble"):
            entry.unlink()
    assert miniature.run(SHOW) == (expected(), "")


def test_kernel_with_wider_needs_works_from_the_cache(miniature: Miniature) -> None:
    """Code that calls into more of numba's runtime than array access finds it in a fresh process."""
    (miniature.root / "simhash_es" / "core" / "kernels" / "counting.py").write_text(COUNTING)
    script = "import numpy as np; from simhash_es.core.kernels.counting import *; "
    script += "print(distinct(np.array([3, 1, 3, 2], dtype=np.int64)), draw() < 1)"
    assert miniature.run(script) == ("3 True", LINE)
    assert miniature.run(script) == ("3 True", "")


def test_unknown_symbol_makes_numba_load_everything() -> None:
    """Before code is loaded that expects a name nobody has registered, numba registers all that it has."""

    class Context:
        refreshed = 0

        def refresh(self) -> None:
            self.refreshed += 1

    product.load()
    context = Context()
    runtime._provide(["NRT_Allocate", "memcpy"], context)
    assert context.refreshed == 0
    runtime._provide(["NRT_Allocate", "simhash_es_no_such_symbol"], context)
    assert context.refreshed == 1


def test_warmth_is_known_without_numba(miniature: Miniature) -> None:
    """is_warm() turns true with load_kernels(), for later processes as well, and never imports numba."""
    ask = "import sys; from simhash_es.core.kernels.runtime import *; print(is_warm(), 'numba' in sys.modules)"
    load = "from simhash_es.core.kernels.runtime import *; load_kernels(); print(is_warm())"
    assert miniature.run(ask) == ("False False", "")
    assert miniature.run(load) == ("True", LINE)
    assert len(miniature.entries()) == 2
    assert miniature.run(ask) == ("True False", "")
    assert miniature.run(load + "; import sys; print('numba' in sys.modules)") == ("True\nFalse", "")
    assert miniature.run(SHOW) == (expected(), "")


def test_modules_can_be_made_ready_one_by_one(miniature: Miniature) -> None:
    """Named modules are compiled and known to be warm without the rest; a kernel they call has no entry of its own."""
    load = "from simhash_es.core.kernels.runtime import *; load_kernels('scramble'); "
    ask = "print(is_warm('scramble'), is_warm('total'), is_warm())"
    assert miniature.run(load + ask) == ("True False False", LINE)
    assert miniature.run(load + ask) == ("True False False", "")


def test_helpers_that_fail_leave_the_work_to_the_parent(miniature: Miniature) -> None:
    """Helper processes save time only: without any result of theirs everything is still compiled."""
    script = """
from simhash_es.core.kernels import compile_jobs, runtime
compile_jobs._processors = lambda: 2
compile_jobs._HELPER = "raise SystemExit(1)"
runtime.load_kernels()
print(runtime.is_warm())
"""
    assert miniature.run(script) == ("True", LINE)
    assert len(miniature.entries()) == 2


def test_helpers_do_their_share(miniature: Miniature) -> None:
    """With two processors the second module comes from another process, which is silent."""
    script = """
from simhash_es.core.kernels import compile_jobs, runtime
compile_jobs._processors = lambda: 2
with compile_jobs.shared({"scramble": 1, "total": 2}) as own_share:
    print(own_share)
print(runtime.compile_cache.has(runtime._kernels_of("scramble")[0].entry))
"""
    assert miniature.run(script) == ("['total']\nTrue", "")


@pytest.mark.parametrize("parts", [1, 2, 3, 9])
def test_modules_are_split_evenly_and_completely(parts: int) -> None:
    """Each module with work is in exactly one group, and the heaviest group is the first."""
    weights = {"a": 5, "b": 3, "c": 2, "d": 0, "e": 5}
    groups = compile_jobs.split(weights, parts)
    assert sorted(module for group in groups for module in group) == ["a", "b", "c", "e"]
    sums = [sum(weights[module] for module in group) for group in groups]
    assert sums == sorted(sums, reverse=True)
    assert sums[0] <= max(5, -(-15 // parts) + 4)


def test_one_kernel_alone_does_not_make_it_warm(miniature: Miniature) -> None:
    """Warm means all kernels, not some."""
    script = "from simhash_es.core.kernels.scramble import scramble as f; f(1)\n"
    script += "from simhash_es.core.kernels.runtime import is_warm; print(is_warm())"
    assert miniature.run(script) == ("False", LINE)


# Staleness


@pytest.mark.parametrize(
    ("module", "old", "new", "changed"),
    [
        ("kernels/scramble.py", "* 3", "* 9", expected(factor=9)),
        ("settings.py", "OFFSET = 5", "OFFSET = 6", expected(offset=6)),
    ],
)
def test_edit_behind_a_kernel_is_seen(miniature: Miniature, module: str, old: str, new: str, changed: str) -> None:
    """A change in a called kernel's file, or of a constant from elsewhere, is never answered from old code."""
    assert miniature.run(SHOW)[0] == expected()
    stamps = {path: path.stat() for path in miniature.root.rglob("*.py")}
    miniature.edit(module, old, new)
    for path, stamp in stamps.items():  # same size, same time: only the content tells
        os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert miniature.run(SHOW) == (changed, LINE)
    miniature.edit(module, new, old)
    assert miniature.run(SHOW) == (expected(), "")


def test_stamp_tells_code_types_options_and_constants_apart() -> None:
    """Whatever changes the compiled code changes the stamp."""

    def make(signature: str = "int64(int64)", added: int = 1, **options: object) -> Kernel[[int], int]:
        def function(x: int) -> int:
            return x + added

        return kernel(signature, **options)(function)

    kernels = [make(), make("uint64(uint64)"), make(added=2), make(boundscheck=True)]
    assert len({each.stamp for each in kernels}) == len(kernels)
    assert make().stamp == make().stamp


@pytest.mark.parametrize("damage", ["empty", "cut", "flipped"])
def test_damaged_entry_is_compiled_again(miniature: Miniature, damage: str) -> None:
    """A cut or altered file is not loaded; the kernel is compiled and the file mended."""
    miniature.run(SHOW)
    for entry in miniature.entries():
        content = bytearray(entry.read_bytes())
        content[len(content) // 2] ^= 1
        entry.write_bytes({"empty": b"", "cut": content[: len(content) // 2], "flipped": content}[damage])
    assert miniature.run(SHOW) == (expected(), LINE)
    assert miniature.run(SHOW) == (expected(), "")


# Where it may write


def test_nothing_is_written_beside_the_sources(miniature: Miniature) -> None:
    """A read-only installation loses nothing: the installed tree is the same after a first run."""
    before = sorted(miniature.root.rglob("*"))
    miniature.run(SHOW)
    assert sorted(miniature.root.rglob("*")) == before
    assert len(miniature.entries()) == 2


def test_no_writable_place_still_works(miniature: Miniature, tmp_path: Path) -> None:
    """With nowhere to keep the result it is compiled each time, and the line says why."""
    (tmp_path / "file").touch()
    blocked = dict.fromkeys(("SIMHASH_ES_CACHE", "XDG_CACHE_HOME", "HOME"), str(tmp_path / "file"))
    no_temporary = f"import tempfile; tempfile.tempdir = {str(tmp_path / 'file')!r}\n"
    out, err = miniature.run(no_temporary + SHOW, **blocked)
    assert out == expected()
    assert err == LINE.replace("first run only", "each run: no private cache folder is writable")
    assert miniature.run(SHOW, **blocked) == (expected(), LINE)  # with a temporary folder for the process


def test_other_users_of_numba_are_left_alone(miniature: Miniature, tmp_path: Path) -> None:
    """NUMBA_CACHE_DIR serves the user's own functions and no kernel; our folder holds kernels only."""
    theirs = tmp_path / "theirs"
    (miniature.root / "user.py").write_text("import numba\n@numba.njit(cache=True)\ndef double(x):\n    return 2 * x\n")
    script = SHOW + "\nimport user, numba; print(user.double(21), numba.config.CACHE_DIR)"
    out, _ = miniature.run(script, NUMBA_CACHE_DIR=str(theirs))
    assert out == f"{expected()}\n42 {theirs}"
    assert {path.name.split("-")[0] for path in theirs.rglob("*.nb?")} == {"user.double"}
    assert len(miniature.entries()) == 2


def test_users_function_can_call_a_kernel(miniature: Miniature) -> None:
    """numba's compiler lock, held by a user's compilation, and ours do not wait for each other."""
    script = (
        CALL
        + """
import numba, threading
@numba.njit
def twice(values):
    return total(values) + total(values)
results = []
threads = [threading.Thread(target=lambda f=f: results.append(int(f(values)))) for f in (total, twice) * 4]
[t.start() for t in threads]; [t.join() for t in threads]
print(sorted(set(results)))
"""
    )
    assert miniature.run(script)[0] == f"[{expected()}, {2 * int(expected())}]"


# Several at once


def test_eight_processes_at_once_with_an_empty_cache(miniature: Miniature) -> None:
    """All get the right result, each kernel is compiled by one of them, and no half-written file is left."""
    script = "from simhash_es.core.kernels.runtime import load_kernels; load_kernels()\n" + SHOW
    results = [finish(process) for process in [miniature.start(script) for _ in range(8)]]
    assert [out for out, _ in results] == [expected()] * 8
    assert sorted(err for _, err in results) == [""] * 7 + [LINE]
    assert len(miniature.entries()) == 2
    assert list(miniature.cache.rglob("*.new")) == []


def test_eight_processes_that_only_call(miniature: Miniature) -> None:
    """Without load_kernels() the first calls of several processes are just as safe."""
    results = [finish(process) for process in [miniature.start(SHOW) for _ in range(8)]]
    assert [out for out, _ in results] == [expected()] * 8
    assert sum(err == LINE for _, err in results) == 1


def test_eight_threads_at_first_use(miniature: Miniature) -> None:
    """Threads that meet at an unloaded kernel all get the right result."""
    script = (
        CALL
        + """
import threading
barrier, results = threading.Barrier(8), []
def work():
    barrier.wait()
    results.append(int(total(values)))
threads = [threading.Thread(target=work) for _ in range(8)]
[t.start() for t in threads]; [t.join() for t in threads]
print(len(results), set(results))
"""
    )
    for _cold_then_warm in range(2):
        assert miniature.run(script)[0] == f"8 {{{expected()}}}"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="fork is a POSIX matter")
def test_fork_after_use_and_before_use(miniature: Miniature) -> None:
    """A forked child can call a kernel that its parent has used, and one that it has not."""
    script = (
        CALL
        + """
import os, sys
from simhash_es.core.kernels.scramble import scramble
total(values)
def in_child(function, argument):
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, str(int(function(argument))).encode())
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    return os.read(reader, 100).decode()
print(in_child(total, values), in_child(scramble, 0))
"""
    )
    for _cold_then_warm in range(2):
        assert miniature.run(script)[0] == f"{expected()} 5"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="fork is a POSIX matter")
def test_fork_while_another_thread_compiles(miniature: Miniature) -> None:
    """The fork waits until the compiler is free; the child does not inherit a lock that nobody opens."""
    script = (
        CALL
        + """
import os, signal, threading, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # forking with threads is what is tried here
from simhash_es.core.kernels import runtime
compiling = threading.Event()
announce = runtime._announce
def announced():
    announce()
    compiling.set()
runtime._announce = announced
thread = threading.Thread(target=total, args=(values,))
thread.start()
compiling.wait()
child = os.fork()
if child == 0:
    signal.alarm(60)
    os._exit(0 if int(total(values)) == EXPECTED else 1)
thread.join()
print(os.waitpid(child, 0)[1])
"""
    )
    assert miniature.run(script.replace("EXPECTED", expected()))[0] == "0"


@pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL")
def test_killed_compiler_leaves_no_lock(miniature: Miniature) -> None:
    """Whoever waits for a compiler that is killed goes on at once, and gets the right result."""
    hold = """
import time
from simhash_es.core.kernels import compile_cache, compile_jobs, runtime
with compile_cache.compiling():
    print("held", flush=True)
    time.sleep(600)
"""
    holder = miniature.start(hold)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    waiting = miniature.start("print('started', flush=True)\n" + SHOW)
    assert waiting.stdout is not None
    assert waiting.stdout.readline() == "started\n"
    with pytest.raises(subprocess.TimeoutExpired):
        waiting.wait(timeout=2)
    holder.send_signal(signal.SIGKILL)
    holder.communicate()
    assert finish(waiting) == (expected(), LINE)


@pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL")
def test_killed_at_any_moment_leaves_a_usable_cache(miniature: Miniature) -> None:
    """After kills at many moments of the first run, the next run gets the right result and tidies up."""
    load = "from simhash_es.core.kernels.runtime import load_kernels; load_kernels()\n"
    for tenths in range(1, 10):
        process = miniature.start(load + SHOW)
        time.sleep(tenths / 10)
        process.kill()
        process.communicate()
    folder = next(miniature.cache.glob("kernels/*"))
    for marker in folder.glob("*.ready"):
        marker.unlink()
    (folder / "total.total-0123.kernel.abcd.new").write_bytes(b"half")
    assert miniature.run(load + SHOW)[0] == expected()
    assert list(miniature.cache.rglob("*.new")) == []
    assert miniature.run(load + SHOW) == (expected(), "")


# Old folders


def test_old_folders_are_pruned_but_never_one_in_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, private_cache: Path
) -> None:
    """Of other digests the newest by use stay, and so does an old one that a process holds."""
    root = private_cache / "kernels"
    for age in range(8):
        (root / f"old{age}").mkdir(parents=True, mode=0o700)
        os.utime(root / f"old{age}", (time.time() - 1000 * (age + 1),) * 2)
    root.chmod(0o700)
    private_cache.chmod(0o700)
    held = compile_cache._open_locked(root / "old7" / "users", exclusive=False)
    os.utime(root / "old7", (0, 0))
    compile_cache.folder.cache_clear()
    monkeypatch.setattr(compile_cache, "_held", {})
    try:
        compile_cache.mark_ready(["join"])
        left = {path.name for path in root.iterdir()}
        assert left == {"old0", "old1", "old2", "old3", "old7", compile_cache.digest()}
        assert compile_cache.is_ready("join")
        assert not compile_cache.is_ready("total")
    finally:
        os.close(held)
        for handle in compile_cache._held.values():
            os.close(handle)
        compile_cache.folder.cache_clear()


# The decorator


@kernel("uint64(uint64, uint64)")
def product(a: int, b: int) -> int:
    """The product of two values."""
    return a * b


def test_kernel_is_called_like_its_function() -> None:
    """Arguments of other integer types are converted; the result is the plain function's."""
    assert product(6, 7) == product(np.uint8(6), b=np.int64(7)) == product.py_func(6, 7) == 42
    assert product.__doc__ == "The product of two values."
    assert product.signature == "uint64(uint64, uint64)"


def test_kernel_refuses_other_types() -> None:
    """No second version is compiled for arguments that do not fit the signature."""
    with pytest.raises(TypeError, match="No matching definition"):
        product("6", 7)  # type: ignore[arg-type]


def test_kernel_is_pickled_by_name() -> None:
    """A kernel crosses to another process like a function."""
    assert pickle.loads(pickle.dumps(product)) is product


@pytest.mark.parametrize("option", ["parallel", "fastmath", "cache", "nogil", "error_model", "no_cfunc_wrapper"])
def test_options_that_hold_for_all_kernels_cannot_be_set(option: str) -> None:
    """What would break a guarantee of all kernels is refused by name."""
    with pytest.raises(InvalidOption, match=option):
        kernel("int64(int64)", **{option: True})
