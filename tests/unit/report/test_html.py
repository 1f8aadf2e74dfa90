"""The page is one file, makes no request, and treats every text as text."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import re
from collections.abc import Callable
from dataclasses import fields, replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from simhash_es.backends.files.outputs import AtomicOutput
from simhash_es.report import (
    ClosestCall,
    Group,
    Histogram,
    LimitSummary,
    Member,
    ProfileSummary,
    ReportData,
    ReportLimits,
    write_report,
)
from simhash_es.report.html import embed_json, fill, render, to_plain

ReportMaker = Callable[..., ReportData]

HOSTILE = (
    "</script><img src=x onerror=alert(1)>",
    "<!--<script>",
    "]]>&amp;&#60;\u2028\u2029",
    "{{data}} {{script}} \\u003c",
    "'\"`${alert(1)}",
    "\x00\x1b[31m\r\n\ufeff\ufffe",
    "\u202egnp.exe",
    "𠮷野家 👩‍👩‍👧",
)


class Page(HTMLParser):
    """Tags, and what stands in each script and style."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.blocks: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self.blocks.append("")

    def handle_data(self, data: str) -> None:
        if self.cdata_elem is not None:  # inside a script or style
            self.blocks[-1] += data

    @property
    def data(self) -> dict[str, Any]:
        return json.loads(self.blocks[1])  # type: ignore[no-any-return]

    @property
    def policy(self) -> str:
        found = [a["content"] for tag, a in self.tags if tag == "meta" and "http-equiv" in a]
        assert len(found) == 1
        assert found[0] is not None
        return found[0]


def hostile_report(make_report: ReportMaker, text: str) -> ReportData:
    """The text in every place that can hold one."""
    member = Member(id=text, place=text, text=text, similarity=0.9)
    return make_report(
        title=text,
        generator=text,
        command=text,
        created=text,
        notes=(text,),
        profile=ProfileSummary(name=text, digest=text, description=(text,)),
        limits=LimitSummary(measure=text, reasons=(text,)),
        seconds=((text, 1.0),),
        histograms=(Histogram(title=text, axis=text, counts=(1,)),),
        groups=(Group(kept=member, members=(member,)),),
        closest_calls=(ClosestCall(kept=member, other=member, is_accepted=True),),
    )


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_adds_no_markup(make_report: ReportMaker, text: str) -> None:
    """Whatever a text contains, the page has the same elements as with a harmless one, and the text comes back."""
    page, plain = Page(render(hostile_report(make_report, text))), Page(render(hostile_report(make_report, "plain")))
    assert [tag for tag, _ in page.tags] == [tag for tag, _ in plain.tags]
    assert page.policy == plain.policy
    assert page.blocks[2] == plain.blocks[2]
    assert page.data["groups"][0]["members"][0]["text"] == text
    assert page.data["title"] == text


@given(st.text(st.characters(), max_size=30))
@example("</ScRiPt ><!--")
@example("\ud800</script>\udfff")
def test_data_block_survives_any_text_and_cannot_end_early(text: str) -> None:
    """JSON in the page gives back the text, holds nothing that HTML reads as markup, and can be encoded."""
    block = embed_json({"text": text})
    assert json.loads(block) == {"text": text}
    assert not set("<>&\u2028\u2029") & set(block)
    block.encode()


def test_data_comes_back_whole(make_report: ReportMaker) -> None:
    """What the page carries is the report as given, zero distances and similarities included."""
    data = make_report()
    found = Page(render(data)).data
    assert found == json.loads(json.dumps(to_plain(replace(data, groups=(replace(data.groups[0], size=3),)))))
    exact = found["groups"][0]["members"][1]
    assert (exact["distance"], exact["check_distance"], exact["similarity"]) == (0, 0, 1.0)
    assert found["totals"] == {field.name: getattr(data.totals, field.name) for field in fields(data.totals)}


def test_same_data_gives_the_same_bytes(make_report: ReportMaker, tmp_path: Path) -> None:
    """Nothing in the file depends on the time, the machine or the path."""
    write_report(tmp_path / "one.html", make_report())
    write_report(str(tmp_path / "two.html"), make_report())
    stream = io.BytesIO()
    write_report(stream, make_report())
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes() == stream.getvalue()


def test_policy_allows_exactly_the_blocks_of_the_page(make_report: ReportMaker) -> None:
    """The hashes are those of the style and the script as a browser reads them; nothing else is allowed."""
    page = Page(render(make_report()))
    style, _, script = page.blocks
    sums = [base64.b64encode(hashlib.sha256(block.encode()).digest()).decode() for block in (style, script)]
    assert page.policy == (
        f"default-src 'none'; style-src 'sha256-{sums[0]}'; script-src 'sha256-{sums[1]}'; "
        "base-uri 'none'; form-action 'none'"
    )


def test_page_refers_to_nothing_outside_itself(make_report: ReportMaker) -> None:
    """No element loads anything, and the only address in the file is the name of the SVG namespace."""
    text = render(make_report())
    page = Page(text)
    assert set(re.findall(r"https?://[^\s\"'<)]+", text)) == {"http://www.w3.org/2000/svg"}
    assert not any({"src", "srcset", "style", "action"} & set(attributes) for _, attributes in page.tags)
    assert [a["href"] for _, a in page.tags if "href" in a] == ["#groups"]
    assert not any(name.startswith("on") for _, attributes in page.tags for name in attributes)
    assert "url(" not in page.blocks[0]
    assert "@import" not in page.blocks[0]
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b|new Function", page.blocks[2])


def test_totals_are_readable_without_scripts(make_report: ReportMaker) -> None:
    """The part for readers without JavaScript names every total."""
    inside = render(make_report()).split("<noscript>")[1].split("</noscript>")[0]
    assert re.findall(r'<th scope="row">(\w[\w ]*)</th><td>(\d+)</td>', inside) == [
        ("Read", "5"), ("Kept", "2"), ("Removed", "2"), ("Skipped", "1"), ("Empty", "0"), ("Short", "0"),
        ("Groups", "1"), ("Exact copies", "1"), ("Near copies", "1"),
    ]  # fmt: skip


def test_slots_are_filled_once() -> None:
    """A value that looks like a slot is left alone."""
    assert fill("{{a}}-{{b}}", {"a": "{{b}}", "b": "x"}) == "{{b}}-x"


def test_report_of_a_huge_run_stays_small(make_report: ReportMaker) -> None:
    """Ten thousand groups of long texts give a page of a few megabytes."""
    long = "长文" * 15_000
    groups = tuple(
        Group(
            kept=Member(id=f"k{i}", place=f"big.jsonl:{i}", text=long),
            members=tuple(
                Member(id=f"m{i}-{j}", place=f"big.jsonl:{j}", text=long, distance=1, similarity=0.9) for j in range(5)
            ),
        )
        for i in range(10_000)
    )
    page = render(make_report(groups=groups))
    assert len(page.encode()) < 6_000_000
    found = Page(page).data["groups"]
    assert len(found) == 2_000
    assert len(found[0]["kept"]["text"]) == 20_000
    assert found[0]["kept"]["is_cut"]
    assert "text" not in found[-1]["kept"]


def test_limits_are_the_callers(make_report: ReportMaker) -> None:
    """A caller may ask for less, or for no text at all."""
    page = Page(render(make_report(), limits=ReportLimits(max_chars=3, max_members=1)))
    assert page.data["groups"][0]["kept"] == {"id": "a", "place": "x.jsonl:1", "text": "one", "is_cut": True}
    assert page.data["groups"][0]["size"] == 3
    assert len(page.data["groups"][0]["members"]) == 1


def test_lone_surrogates_do_not_stop_the_writing(make_report: ReportMaker, tmp_path: Path) -> None:
    """A text with half of a surrogate pair, as broken JSON gives, is written."""
    write_report(tmp_path / "r.html", hostile_report(make_report, "a\ud83db"))
    assert Page((tmp_path / "r.html").read_text(encoding="utf-8")).data["command"] == "a\ud83db"


def test_failed_writing_leaves_the_old_report_and_no_rest(
    make_report: ReportMaker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the writing is interrupted, the old file is untouched and nothing temporary is left."""
    (tmp_path / "r.html").write_text("old")

    def interrupt(self: AtomicOutput, data: bytes) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(AtomicOutput, "write", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_report(tmp_path / "r.html", make_report())
    assert os.listdir(tmp_path) == ["r.html"]
    assert (tmp_path / "r.html").read_text() == "old"
