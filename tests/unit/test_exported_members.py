"""The public names of the package."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import simhash_es
import simhash_es.api

LAZY = sorted(set(simhash_es.__all__) - {"SimhashEsError", "__version__"})


def test_all_is_what_can_be_had() -> None:
    """Every listed name exists, once, in order."""
    assert sorted(set(simhash_es.__all__)) == sorted(simhash_es.__all__)
    for name in simhash_es.__all__:
        assert getattr(simhash_es, name) is not None
    assert set(simhash_es.__all__) <= set(dir(simhash_es))


def test_api_lists_the_same_names() -> None:
    """The package shows all of the module api, and nothing else of it."""
    assert sorted(simhash_es.api.__all__) == LAZY
    for name in LAZY:
        assert getattr(simhash_es, name) is getattr(simhash_es.api, name)


def test_api_lists_all_it_defines() -> None:
    """A public function or class of the module is in its list."""
    tree = ast.parse(Path(simhash_es.api.__file__).read_text(encoding="utf-8"))
    defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    assert {name for name in defined if not name.startswith("_")} <= set(simhash_es.api.__all__)


def test_type_checkers_see_the_same_names() -> None:
    """What is imported for type checkers is what is given at run time."""
    tree = ast.parse(Path(simhash_es.__file__).read_text(encoding="utf-8"))
    [block] = [node for node in tree.body if isinstance(node, ast.If)]
    [imported] = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    assert sorted(alias.name for alias in imported.names) == LAZY


def test_unknown_name() -> None:
    """A name that does not exist is an AttributeError, as of any module."""
    with pytest.raises(AttributeError, match="no_such_name"):
        simhash_es.no_such_name  # noqa: B018 - the access is the test


def test_from_import_works_in_a_fresh_process() -> None:
    """The lazy names can be imported in the usual ways before anything else is loaded."""
    script = "from simhash_es import *; import simhash_es as s; print(fingerprint is s.fingerprint, Profile.__name__)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "Profile"]
