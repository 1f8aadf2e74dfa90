"""Shipped files: found in a source tree and in a wheel, and what they hold."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import simhash_es
from simhash_es._resources import FOLDERS, resource_text

PACKAGE = Path(simhash_es.__file__).parent
KEYWORD = {"type": "keyword"}
LONG = {"type": "long", "index": False}
FIELDS = {
    **dict.fromkeys(("b0", "b1", "b2", "b3", "profile", "status", "group", "duplicate_of"), KEYWORD),
    **dict.fromkeys(("bits", "check", "text_digest"), LONG),
    "similarity": {"type": "float"},
}


@pytest.fixture(scope="module")
def template() -> dict[str, object]:
    content: dict[str, object] = json.loads(resource_text("mappings", "component_template.json"))
    return content


def test_template_has_exactly_the_fields_of_the_layout(template: dict[str, object]) -> None:
    """Names, types and index options are those of layout 1, nothing more."""
    mappings = template["template"]["mappings"]  # type: ignore[index]  # parsed JSON
    assert mappings["properties"]["simhash"]["properties"] == FIELDS
    assert set(mappings["properties"]) == {"simhash"}
    assert set(template["template"]) == {"mappings"}  # type: ignore[call-overload]  # parsed JSON


def test_every_field_and_meta_key_is_documented(template: dict[str, object]) -> None:
    """The README beside it names exactly the fields and the keys of _meta."""
    readme = resource_text("mappings", "README.md")
    rows = re.findall(r"^\| (`.+?) \|", readme, re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    meta = template["template"]["mappings"]["_meta"]["simhash_es"]  # type: ignore[index]  # parsed JSON
    assert named == FIELDS.keys() - {"b1", "b2"} | meta.keys()
    assert meta.pop("layout") == 1
    assert set(meta.values()) == {None}


def test_script_uses_exactly_the_documented_parameters() -> None:
    """The parameters in the source are those of the README; no number but 0 is written in the source."""
    source = resource_text("scripts", "hamming_filter.painless")
    readme = resource_text("scripts", "README.md")
    assert set(re.findall(r"params\.(\w+)", source)) == set(re.findall(r"^\| `(\w+)` \|", readme, re.MULTILINE))
    code = re.sub(r"//.*", "", source)
    assert set(re.findall(r"\b\d+\b", code)) == {"0"}


@pytest.mark.parametrize("folder", FOLDERS)
def test_found_in_a_source_tree_and_in_a_wheel(folder: str, tmp_path: Path) -> None:
    """Files are found beside the package (source tree) and inside it (wheel)."""
    name = sorted(path.name for path in (PACKAGE.parent / folder).iterdir())[0]
    content = resource_text(folder, name)
    assert content == (PACKAGE.parent / folder / name).read_text(encoding="utf-8")
    installed = tmp_path / "simhash_es"
    installed.mkdir()
    for module in ("__init__.py", "_resources.py"):
        shutil.copy(PACKAGE / module, installed / module)
    (installed / "__init__.py").write_text("")
    shutil.copytree(PACKAGE.parent / folder, installed / folder)
    script = f"from simhash_es._resources import resource_text; print(len(resource_text({folder!r}, {name!r})))"
    command = [sys.executable, "-P", "-c", script]
    run = subprocess.run(command, env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=False)
    assert run.stdout.strip() == str(len(content)), run.stderr


def test_missing_file_is_named() -> None:
    """A file that is nowhere is reported with its folder and the place that was searched."""
    with pytest.raises(FileNotFoundError, match=r"mappings/absent\.json"):
        resource_text("mappings", "absent.json")
