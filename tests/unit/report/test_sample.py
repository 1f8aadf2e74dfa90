"""The sample corpus is what its tool builds from the base texts, and its truth file is true."""

from __future__ import annotations

import csv
import importlib.util
import json
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

from simhash_es.core.normal_form import normal_form

ROOT = Path(__file__).parents[3]
SAMPLE = ROOT / "examples" / "sample"


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_sample", ROOT / "tools" / "build_sample.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def truth() -> list[dict[str, str]]:
    with (SAMPLE / "truth.tsv").open(encoding="utf-8", newline="") as source:
        return list(csv.DictReader(source, delimiter="\t"))


@pytest.fixture(scope="module")
def texts() -> dict[tuple[str, str], str]:
    found = {}
    for name in ("news.en.jsonl", "news.zh.jsonl"):
        for line in (SAMPLE / name).read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            found[name, str(row["id"])] = row["text"]
    with (SAMPLE / "reviews.csv").open(encoding="utf-8", newline="") as source:
        found.update({("reviews.csv", row["id"]): row["text"] for row in csv.DictReader(source)})
    for path in (SAMPLE / "notices").iterdir():
        found["notices", path.name] = path.read_text(encoding="gb18030")
    return found


def test_tool_builds_exactly_the_files_in_the_repository(tool: ModuleType, tmp_path: Path) -> None:
    """Building again gives the same bytes, so the sample never drifts from its source."""
    tool.write_sample(tmp_path)
    built = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file())
    assert len(built) > 20
    for name in built:
        assert (tmp_path / name).read_bytes() == (SAMPLE / name).read_bytes(), name
    assert len(list((SAMPLE / "notices").iterdir())) == sum(name.parts[0] == "notices" for name in built)


def test_truth_names_every_document_once(truth: list[dict[str, str]], texts: dict[tuple[str, str], str]) -> None:
    """Each row of each file has one line in truth.tsv, and the corpus has the promised size in both languages."""
    assert Counter((row["file"], row["id"]) for row in truth) == Counter(list(texts))
    assert 300 <= len(truth) <= 500
    originals = Counter(row["family"][:2] for row in truth if row["edit"] == "original")
    assert min(originals["en"], originals["zh"]) >= 60


def test_copies_and_new_typography_keep_the_normal_form(
    truth: list[dict[str, str]], texts: dict[tuple[str, str], str]
) -> None:
    """Plain copies and those with other punctuation, case, width and spacing differ in nothing that is compared."""
    first = {row["family"]: texts[row["file"], row["id"]] for row in truth if row["edit"] == "original"}
    checked = [row for row in truth if row["edit"] in ("copy", "typography")]
    assert len(checked) > 50
    for row in checked:
        text = texts[row["file"], row["id"]]
        assert normal_form(text) == normal_form(first[row["family"]]), row


def test_other_edits_change_the_normal_form_and_empty_ones_have_none(
    truth: list[dict[str, str]], texts: dict[tuple[str, str], str]
) -> None:
    """Rewording, headers, footers, new order and excerpts are no exact copies; empty texts have no letter at all."""
    first = {row["family"]: texts[row["file"], row["id"]] for row in truth if row["edit"] == "original"}
    for row in truth:
        form = normal_form(texts[row["file"], row["id"]])
        if row["edit"] == "empty":
            assert form == ""
        elif row["edit"] in ("reworded", "header", "footer", "reordered", "reworded-footer", "excerpt"):
            assert form != normal_form(first[row["family"]]), row
