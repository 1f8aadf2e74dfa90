"""The report as a browser shows it."""

from __future__ import annotations

from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from simhash_es.report import (
    ClosestCall,
    Group,
    Histogram,
    LimitSummary,
    Member,
    ProfileSummary,
    ReportData,
    ReportLimits,
    Side,
    Totals,
    write_report,
)

pytestmark = pytest.mark.browser

HOSTILE = (
    "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\"><!--<script>"
    "<svg onload=document.title='owned'>"
)
ENGLISH = "The ferry leaves at nine from the old pier.\n\nTickets are sold on board."
CHINESE = "轮渡上午九点从老码头开船。\n\n请在船上购票。"

# Both columns of the difference as text, marks in brackets.
READ_DIFFERENCE = """
  const side = (css) => all(css).map((cell) => [...cell.childNodes].map((node) =>
    node.nodeName === "DEL" ? `[${node.textContent}]` : node.nodeName === "INS" ? `{${node.textContent}}`
    : node.textContent).join("")).join("|");
"""


def member(name: str, text: str | None, **facts: Any) -> Member:
    return Member(id=name, place=f"file.jsonl:{name[1:]}", text=text, **facts)


def example_report(n_groups: int = 30) -> ReportData:
    """An English, a Chinese and a hostile group, then small ones to fill some pages."""
    english = Group(
        kept=member("e1", ENGLISH),
        members=(
            member("e2", ENGLISH.replace("nine", "ten"), distance=4, check_distance=6, similarity=0.93),
            member("e3", ENGLISH.replace("old pier", "new pier"), distance=3, check_distance=2, similarity=0.95),
            member("e4", ENGLISH.upper(), distance=0, check_distance=0, similarity=1.0, is_exact=True),
        ),
    )
    chinese = Group(
        kept=member("z1", CHINESE),
        members=(
            member("z2", CHINESE.replace("九点", "十点").replace("购票", "买票"), distance=5, similarity=0.9),
            member("z3", CHINESE, distance=0, similarity=1.0, is_exact=True),
        ),
    )
    hostile = Group(
        kept=Member(id=HOSTILE, place=HOSTILE, text=HOSTILE),
        members=(Member(id=HOSTILE, place=HOSTILE, text=HOSTILE + " more", similarity=0.9, distance=1),),
    )
    fillers = tuple(
        Group(kept=member(f"f{i}", f"filler {i}"), members=(member(f"g{i}", f"filler {i}!", similarity=0.99),))
        for i in range(n_groups - 3)
    )
    removed = 6 + len(fillers)
    return ReportData(
        title="Demo " + HOSTILE,
        generator="simhash-es " + HOSTILE,
        command="simhash-es dedup " + HOSTILE,
        totals=Totals(
            read=1_200, kept=1_190 - removed, removed=removed, skipped=10, empty=3, short=2, groups=n_groups,
            exact_copies=2, near_copies=removed - 2,
        ),
        profile=ProfileSummary(name="default", digest="0f1e", description=(HOSTILE,)),
        limits=LimitSummary(
            distance_bits=11, check_distance_bits=14, similarity=0.85, recall=0.97, reasons=(HOSTILE,)
        ),
        seconds=(("read", 1.5), (HOSTILE, 0.5)),
        histograms=(
            Histogram(title="Distance, half A", axis="Bits that differ", counts=(5, 0, 9, 4, *[0] * 61), threshold=11),
            Histogram(
                title="Similarity", axis="Cosine", counts=(*[0] * 16, 2, 4, 8, 30), step=0.05, threshold=0.85,
                accepted=Side.ABOVE,
            ),
        ),
        groups=(english, chinese, hostile, *fillers),
        closest_calls=(
            ClosestCall(kept=member("a1", ENGLISH), other=member("a2", "The ferry", similarity=0.86), is_accepted=True),
            ClosestCall(kept=member("b1", CHINESE), other=member("b2", HOSTILE, similarity=0.84), is_accepted=False),
        ),
        notes=(HOSTILE,),
    )  # fmt: skip


@pytest.fixture
def report(tmp_path: Path) -> Path:
    path = tmp_path / "report.html"
    write_report(path, example_report())
    return path


def test_totals_groups_charts_and_times_are_drawn(report: Path, browse: Callable[..., Any]) -> None:
    """All totals stand on cards, the first page of groups is listed, each histogram is drawn with its limit."""
    found = browse(
        report,
        """return {
          totals: Object.fromEntries(
            all("[data-total]").map((card) => [card.dataset.total, card.querySelector("dd").textContent])),
          rows: all("table.groups tbody tr").length, status: one(".status").textContent,
          charts: all("svg.chart").length, limits: texts(".limit-label"), axes: texts(".axis-title"),
          bars: all("svg.chart")[0].querySelectorAll(".fill").length > 3,
          times: texts(".times td.share-of"), open: one("#sheet").open,
        };""",
    )
    assert found == {
        "totals": {
            "read": "1,200", "kept": "1,157", "removed": "33", "groups": "30", "exact_copies": "2",
            "near_copies": "31", "empty": "3", "short": "2", "skipped": "10",
        },
        "rows": 20, "status": "1–20 of 30 groups", "charts": 2, "limits": ["limit ≤ 11", "limit ≥ 0.85"],
        "axes": ["Pairs", "Bits that differ", "Pairs", "Cosine"], "bars": True, "times": ["75%", "25%"], "open": False,
    }  # fmt: skip


def test_chinese_pair_is_marked_by_character(report: Path, browse: Callable[..., Any]) -> None:
    """Exactly the characters that differ are marked, and the text is declared Chinese."""
    found = browse(
        report,
        READ_DIFFERENCE
        + 'return [side(".cell.left"), side(".cell.right"), one(".cell.left").lang, texts(".changes")[0]];',
        hash="#group=2&pair=1",
    )
    assert found[:3] == [
        "轮渡上午[九]点从老码头开船。|请在船上[购]票。",
        "轮渡上午{十}点从老码头开船。|请在船上{买}票。",
        "zh",
    ]
    assert found[3].startswith("2 changes")


def test_english_pair_is_marked_by_word(report: Path, browse: Callable[..., Any]) -> None:
    """A changed word is marked whole, and the measured similarity and distances are stated."""
    found = browse(
        report,
        READ_DIFFERENCE + 'return [side(".cell.left"), side(".cell.right"), texts(".facts span")];',
        hash="#group=1&pair=1",
    )
    assert found == [
        "The ferry leaves at [nine] from the old pier.|Tickets are sold on board.",
        "The ferry leaves at {ten} from the old pier.|Tickets are sold on board.",
        ["Similarity 0.930", "Distance: half A 4, half B 6 bits"],
    ]


def test_any_two_texts_of_a_group_can_be_compared(report: Path, browse: Callable[..., Any]) -> None:
    """By address, by picking on either side, by swapping, and by the list; the address follows."""
    found = browse(
        report,
        READ_DIFFERENCE
        + """
        const seen = [[side(".cell.left"), side(".cell.right")]];
        const note = () => seen.push([page.location.hash, side(".cell.left").split("|")[0]]);
        one(".swap").click(); note();
        one("#pick-left").value = "0"; one("#pick-left").dispatchEvent(new page.Event("change")); note();
        all(".member")[3].click(); note();
        press("k"); note();
        press("]"); await until(() => one("#sheet-title").textContent === "Group 2"); note();
        return seen;""",
        hash="#group=1&pair=2&against=1",
    )
    assert found == [
        [
            "The ferry leaves at [ten] from the [old] pier.|Tickets are sold on board.",
            "The ferry leaves at {nine} from the {new} pier.|Tickets are sold on board.",
        ],
        ["#group=1&pair=1&against=2", "The ferry leaves at [nine] from the [new] pier."],
        ["#group=1&pair=1", "The ferry leaves at [nine] from the old pier."],
        ["#group=1&pair=3", "[The ferry leaves at nine from the old pier]."],
        ["#group=1&pair=2", "The ferry leaves at nine from the [old] pier."],
        ["#group=2&pair=1", "轮渡上午[九]点从老码头开船。"],
    ]


def test_case_width_and_punctuation_can_be_ignored(report: Path, browse: Callable[..., Any]) -> None:
    """A copy in capitals shows no change once case is ignored, and each side keeps its own text."""
    found = browse(
        report,
        READ_DIFFERENCE
        + 'one("#loose").click(); return [one(".changes").textContent, side(".cell.left"), side(".cell.right")];',
        hash="#group=1&pair=3",
    )
    assert found[0] == "Only case, width, punctuation or spacing differ."
    assert found[1] == "The ferry leaves at nine from the old pier.|Tickets are sold on board."
    assert found[2] == "THE FERRY LEAVES AT NINE FROM THE OLD PIER.|TICKETS ARE SOLD ON BOARD."


def test_identical_texts_say_so(report: Path, browse: Callable[..., Any]) -> None:
    """A character-for-character copy has no marks but a sentence."""
    found = browse(report, 'return [one(".changes").textContent, all("del, ins").length];', hash="#group=2&pair=2")
    assert found == ["The two texts are identical, character for character.", 0]


class Elements(HTMLParser):
    """Names of the elements and of their attributes, and how often hostile markup stands in the page as text."""

    def __init__(self, dom: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.n_as_text = 0
        self.feed(dom)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names |= {tag, *(name for name, _ in attrs)}

    def handle_data(self, data: str) -> None:
        self.n_as_text += "<img src=x" in data


def test_hostile_text_stays_text(report: Path, dump_dom: Callable[[str], str]) -> None:
    """Markup in titles, ids, files, texts, settings and notes runs nothing and adds no element."""
    for address in ("", "#group=3&pair=1", "#call=2"):
        dom = dump_dom(report.as_uri() + address)
        page = Elements(dom)
        assert not {"img", "onerror", "onload"} & page.names
        assert page.n_as_text > 8
        assert "<title>Demo &lt;/script&gt;" in dom


def test_search_sorting_and_pages(report: Path, browse: Callable[..., Any]) -> None:
    """Search looks into ids, files and texts of all members; sorting and paging keep to what was found."""
    found = browse(
        report,
        """
        const names = () => texts("table.groups td.name .id").map((id) => id.slice(0, 3));
        const status = () => one(".status").textContent;
        const everything = status();
        const box = one("#search");
        const type = (query) => { box.value = query; box.dispatchEvent(new page.Event("input")); };
        const seek = async (query) => {
          type(query); await until(() => status() !== everything);
          const found = [status(), names()];
          type(""); await until(() => status() === everything);
          return found;
        };
        const sort = (name) => { one(`th.${name} button`).click(); return [names()[0], one(`th.${name}`).ariaSort]; };
        const seen = { byText: await seek("十点"), byPlace: await seek("FILE.jsonl:17"), byId: await seek("e4"),
          none: await seek("no such") };
        seen.lowest = [sort("lowest"), sort("lowest")];
        seen.size = sort("size");
        one(".pager .next").click();
        seen.page = [status(), names().length, one(".pager .next").disabled];
        one("table.groups tbody tr td.size").click();
        await until(() => one("#sheet").open);
        seen.opened = page.location.hash;
        one("#sheet .close").click();
        await until(() => !one("#sheet").open && page.location.hash === "");
        return seen;""",
    )
    assert found == {
        "byText": ["1–1 of 1 group", ["z1"]],
        "byPlace": ["1–1 of 1 group", ["f17"]],
        "byId": ["1–1 of 1 group", ["e1"]],
        "none": ["0 groups", []],
        "lowest": [["z1", "ascending"], ["f0", "descending"]],
        "size": ["e1", "descending"],
        "page": ["21–30 of 30 groups", 10, True],
        "opened": "#group=21&pair=1",
    }


@pytest.mark.parametrize("address", ["", "#group=1&pair=1", "#call=1"])
def test_nothing_overflows_on_a_telephone(report: Path, browse: Callable[..., Any], address: str) -> None:
    """At 390 pixels the page does not scroll sideways, and the difference is shown in one column."""
    found = browse(
        report,
        """await until(() => one("#colophon").textContent);
        const root = page.document.documentElement;
        const difference = one(".difference");
        return [root.scrollWidth <= 390, all(".rows.inline").length, !difference || difference.scrollWidth <= 390];""",
        hash=address,
        width=390,
    )
    assert found == [True, 1 if address else 0, True]


def test_text_that_was_left_out_or_cut_is_said_to_be(tmp_path: Path, browse: Callable[..., Any]) -> None:
    """A pair without texts, a shortened one, and members that are not listed are each stated."""
    path = tmp_path / "cut.html"
    limits = ReportLimits(max_groups_with_text=1, max_chars=20, max_members=2, max_groups=5)
    write_report(path, example_report(), limits=limits)
    found = browse(
        path,
        """const seen = [texts(".cut-note").length, texts(".members .more")[0]];
        page.location.hash = "#group=2&pair=1";
        await until(() => one("#sheet-title").textContent === "Group 2");
        return [...seen, texts(".notice").pop(), one("#groups-lead").textContent];""",
        hash="#group=1&pair=1",
    )
    assert found == [
        1,
        "and 1 more, not listed in this report",
        "This report carries the texts of the largest groups only; these are not among them.",
        "The 5 largest of 30 groups. Open one to see what differs.",
    ]


def test_run_without_groups_has_a_page_too(tmp_path: Path, browse: Callable[..., Any]) -> None:
    """Nothing repeated, nothing measured: the page says so and draws no empty parts."""
    path = tmp_path / "none.html"
    data = ReportData(
        title="None", generator="g", command="", totals=Totals(read=0, kept=0, removed=0),
        profile=ProfileSummary(name="default", digest=""), limits=LimitSummary(),
    )  # fmt: skip
    write_report(path, data)
    found = browse(
        path,
        'return [one("#groups-body").textContent, one("#removed-share").textContent,'
        ' all("#distributions, #closest, .search, .command, .times").length, one("#report").hidden];',
        hash="#group=1&pair=1",
    )
    assert found == ["No text repeats another one.", "0%", 0, False]
