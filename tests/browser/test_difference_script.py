"""The comparison that runs in the page, on many pairs of texts."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from html import unescape
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.browser

PAGE = """<!doctype html><meta charset="utf-8"><pre id="result"></pre>
<script type="application/json" id="cases">%s</script><script>%s
const cases = JSON.parse(document.getElementById("cases").textContent);
const found = cases.map(([left, right]) => [difference(left, right), difference(left, right, { loose: true })]);
document.getElementById("result").textContent = JSON.stringify(found);
</script>"""


@pytest.fixture
def differences(dump_dom: Callable[[str], str], tmp_path: Path) -> Callable[[list[tuple[str, str]]], Any]:
    """The exact and the loose difference of each pair."""

    def run(cases: list[tuple[str, str]]) -> Any:
        script = files("simhash_es.report").joinpath("difference.js").read_text(encoding="utf-8")
        (tmp_path / "page.html").write_text(PAGE % (json.dumps(cases), script), encoding="utf-8")
        dom = dump_dom((tmp_path / "page.html").as_uri())
        found = re.search(r'<pre id="result">(.*?)</pre>', dom, re.DOTALL)
        assert found is not None
        return json.loads(unescape(found.group(1)))

    return run


def side(result: dict[str, Any], name: str) -> str:
    return "".join(part[name] for row in result["rows"] for part in row["parts"])


def marked(result: dict[str, Any]) -> list[tuple[str, str]]:
    return [(p["left"], p["right"]) for row in result["rows"] for p in row["parts"] if p["change"]]


def test_both_texts_come_back_from_any_difference(
    differences: Callable[[list[tuple[str, str]]], list[list[dict[str, Any]]]],
) -> None:
    """Left parts make the left text, right parts the right one, equal parts are equal, and changes are numbered."""
    source = random.Random(7)
    letters = ["a", "b", " ", "  ", "中", "文", "字", "\n", ".", "。", "３", "é", "👩\u200d👧", "\U00020bb7", "don't"]
    cases = [
        (
            "".join(source.choices(letters, k=source.randrange(40))),
            "".join(source.choices(letters, k=source.randrange(40))),
        )
        for _ in range(1500)
    ]
    cases += [("", ""), ("", "新"), ("old", "")]
    for (left, right), (exact, loose) in zip(cases, differences(cases), strict=True):
        assert (side(exact, "left"), side(exact, "right")) == (left, right)
        parts = [part for row in exact["rows"] for part in row["parts"]]
        assert all(part["left"] == part["right"] for part in parts if not part["change"])
        assert [part["change"] for part in parts if part["change"]] == list(range(1, exact["changes"] + 1))
        assert exact["isSame"] == (left == right)
        assert loose["isSame"] or not exact["isSame"]


def test_words_characters_and_loose_comparison(
    differences: Callable[[list[tuple[str, str]]], list[list[dict[str, Any]]]],
) -> None:
    """Words are replaced whole, Chinese one character at a time; loosely, case, width and marks do not count."""
    cases = [
        ("the quick brown fox", "the slow red fox"),
        ("三周以后开门", "四周之后开门"),
        ("Ｈｅｌｌｏ， world", "HELLO world!"),
        ("中国，人民", "中国人民"),
    ]
    exact, loose = zip(*differences(cases), strict=True)
    assert marked(exact[0]) == [("quick brown", "slow red")]
    assert marked(exact[1]) == [("三", "四"), ("以", "之")]
    assert [result["isSame"] for result in loose] == [False, False, True, True]


def test_long_texts_are_aligned_by_sentences(
    differences: Callable[[list[tuple[str, str]]], list[list[dict[str, Any]]]],
) -> None:
    """Twenty thousand characters with scattered edits are marked word by word; alien texts are one change."""
    source = random.Random(8)
    words = [f"w{source.randrange(4000)}" + (". " if i % 12 == 11 else " ") for i in range(4000)]
    edited = [f"zz{i} " if i % 50 == 25 else word for i, word in enumerate(words)]
    aliens = "".join(chr(source.randrange(0x4E00, 0x9FA5)) for _ in range(20_000))
    cases = [("".join(words), "".join(edited)), ("".join(words), aliens)]
    (scattered, _), (alien, _) = differences(cases)
    assert (side(scattered, "left"), side(scattered, "right")) == cases[0]
    assert scattered["changes"] == 80
    assert max(len(left) for left, _ in marked(scattered)) < 10
    assert marked(alien) == [cases[1]]
