"""Rules of the house: layers, names, sizes, and what an import may load."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import simhash_es

PACKAGE = Path(simhash_es.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))
MAX_LINES = 500
# Imports go down only. Modules and folders of one row may import each other.
LAYERS = (("cli", "__main__"), ("use_cases", "report", "guide", "api", "__init__"), ("backends",), ("wire",), ("core",))
SERVE_ALL = ("errors", "_optional", "_cache", "_version", "_resources", "types", "config")
HEAVY = ("numpy", "numba", "jieba", "rjieba", "elasticsearch", "opensearchpy", "rapidfuzz", "pyarrow")
HEAVY_MODULES_ALLOWED = {"numba": "core/kernels", "llvmlite": "core/kernels"}
"""Library → the only folder that may import it."""
VAGUE_NAMES = {"utils", "util", "helpers", "helper", "common", "misc"}


def name_of(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def part_of(path: Path) -> str:
    """First part of a module's path below the package: ``core/bits.py`` gives ``core``."""
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def level_of(part: str) -> int | None:
    """Row of a part in LAYERS, counted from the top; ``None`` for those that serve all."""
    if part in SERVE_ALL:
        return None
    rows = [row for row, parts in enumerate(LAYERS) if part in parts]
    assert rows, f"{part} has no place in the layers: name its row in this test"
    return rows[0]


def imports_of(path: Path) -> Iterator[str]:
    """Dotted names of all that a module imports, wherever in the file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name_of(path)} has a relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def own_parts_imported(path: Path) -> Iterator[str]:
    for name in imports_of(path):
        steps = name.split(".")
        if steps[0] == "simhash_es":
            known = (PACKAGE / steps[1]).is_dir() or (PACKAGE / f"{steps[1]}.py").is_file()
            yield steps[1] if known else "__init__"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_imports_go_down_the_layers(path: Path) -> None:
    """A module imports from its own layer, from lower ones, and from what serves all."""
    own = level_of(part_of(path))
    for part in own_parts_imported(path):
        level = level_of(part)
        if own is None:
            assert level is None, f"{name_of(path)} serves all and must not import {part}"
        else:
            assert level is None or level >= own, f"{name_of(path)} imports {part}, which lies above it"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_compiler_is_imported_by_kernels_only(path: Path) -> None:
    """numba and llvmlite are imported in core/kernels and nowhere else."""
    for name in imports_of(path):
        folder = HEAVY_MODULES_ALLOWED.get(name.split(".")[0])
        assert folder is None or name_of(path).startswith(f"{folder}/"), f"{name_of(path)} imports {name}"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_module_is_small_and_well_named(path: Path) -> None:
    """At most 500 lines, and a name that says what is inside."""
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MAX_LINES
    assert path.stem not in VAGUE_NAMES
    assert not {parent.name for parent in path.relative_to(PACKAGE).parents} & VAGUE_NAMES


@pytest.mark.parametrize("path", [path for path in MODULES if path.name == "__init__.py"], ids=name_of)
def test_init_files_only_export(path: Path) -> None:
    """An __init__ has a docstring, imports, __all__, and at most a __getattr__ that imports on demand."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        is_docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        is_import = isinstance(node, ast.Import | ast.ImportFrom)
        is_typing_block = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        is_list = bool(targets) and all(ast.unparse(target) in ("__all__", "_EXPORTS") for target in targets)
        is_hook = isinstance(node, ast.FunctionDef) and node.name in ("__getattr__", "__dir__")
        assert is_docstring or is_import or is_typing_block or is_list or is_hook, f"line {node.lineno}"


@pytest.mark.parametrize("module", ["simhash_es", "simhash_es.cli.main", "simhash_es.core.kernels.runtime"])
def test_import_loads_nothing_heavy(module: str) -> None:
    """``import simhash_es`` and the start of the command line load no numeric, segmenting or client library."""
    script = f"import sys, {module}; print(*sorted(set({HEAVY!r}) & sys.modules.keys()))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == ""


def test_every_folder_is_a_package() -> None:
    """Each folder with modules has an __init__.py: a forgotten one is not shipped."""
    folders = {path.parent for path in MODULES}
    assert [name_of(folder) for folder in sorted(folders) if not (folder / "__init__.py").is_file()] == []
