"""The normal form: known answers, laws, and agreement with the Unicode data that it is made from."""

from __future__ import annotations

import runpy
import unicodedata
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from simhash_es.core import unicode_tables
from simhash_es.core.normal_form import NO_NORMAL_FORM, NormalForm, is_chinese, normal_form, repair_surrogates
from simhash_es.core.unicode_tables import UNICODE_VERSION, UnicodeTables

ROOT = Path(__file__).parents[3]
BUILDER = ROOT / "tools" / "build_unicode_tables.py"
FOLD_ONLY = NormalForm(punctuation=False, chinese_spaces=False)
STEPS = [NormalForm(punctuation=p, chinese_spaces=c) for p in (True, False) for c in (True, False)]
HAS_PINNED_DATA = unicodedata.unidata_version == UNICODE_VERSION
needs_pinned_data = pytest.mark.skipif(
    not HAS_PINNED_DATA, reason=f"this Python has Unicode {unicodedata.unidata_version}, not {UNICODE_VERSION}"
)
ODD_TEXTS = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from(" a中，.\u0301\u0323\u3000\u200d\u1100\u1161\u11a8\uff21\ufdfa\ufb2c\ud83d\u0345\U0002f800"),
    ),
    max_size=20,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("   \t\r\n", ""),
        ("!!! ……", ""),
        ("Hello,   World!", "hello world"),
        ("促销ＡＢＣ１２３，仅限今天", "促销abc123仅限今天"),
        ("Café Zürich — crème brûlée", "café zürich crème brûlée"),
        ("Cafe\u0301 Zu\u0308rich — cre\u0300me bru\u0302le\u0301e", "café zürich crème brûlée"),
        ("二\u3000零 二\n六", "二零二六"),
        ("第 1 集 a b", "第1集a b"),
        ("re\u00adse\u200bt \ufeffkey", "reset key"),
        ("Straße ẞ ﬁ Ⅷ ①", "strasse ss fi viii 1"),
        ("a\x85b\u2028c\u2029d\u3000e\x0bf", "a b c d e f"),
        ("a\x00b\x1fc\x7fd", "abcd"),
        ("\u1112\u1161\u11ab\u1100\u1173\u11af", "한글"),
        ("e\u0323\u0302", "ệ"),
        ("e\u0302\u0323", "ệ"),
        ("½ ™ ㌀", "1 2 tm アパート"),
        ("\ufdfa", "صلى الله عليه وسلم"),
        ("a\ud83db", "a b"),
        ("a\ufffdc", "a c"),
        ("\ue000x\U000f0000", "x"),
        ("\u0378", ""),
        ("\U0002f800", "丽"),
        ("a b 𠀀 c", "a b𠀀c"),
        ("٣ ३ 3", "٣ ३ 3"),
    ],
)
def test_known_answers(text: str, expected: str) -> None:
    """Texts whose normal form is known."""
    assert normal_form(text) == expected


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        (NormalForm(), "x 1中y"),
        (NormalForm(punctuation=False), "x+=1;中! y"),
        (NormalForm(chinese_spaces=False), "x 1 中 y"),
        (FOLD_ONLY, "x+=1; 中 ! y"),
        (NO_NORMAL_FORM, " X+=１; 中 !\t Y "),
    ],
)
def test_steps_can_be_left_out(steps: NormalForm, expected: str) -> None:
    """Each step is taken if and only if it is asked for."""
    assert normal_form(" X+=１; 中 !\t Y ", steps) == expected


@given(ODD_TEXTS, st.sampled_from(STEPS))
@example("a!\u0301", STEPS[0])
@example("中 \u0301\u0323", STEPS[0])
@example("¨", STEPS[0])
def test_idempotent(text: str, steps: NormalForm) -> None:
    """A normal form is its own normal form."""
    once = normal_form(text, steps)
    assert normal_form(once, steps) == once


@given(ODD_TEXTS, st.sampled_from(STEPS))
def test_spaces(text: str, steps: NormalForm) -> None:
    """Single U+0020 only, none at the ends, none next to a Chinese character where step 5 is taken."""
    found = normal_form(text, steps)
    assert found == " ".join(found.split())
    assert all(c == " " or not c.isspace() for c in found)
    if steps.chinese_spaces:
        places = [i for i, c in enumerate(found) if c == " "]
        assert not any(is_chinese(ord(found[i - 1])) or is_chinese(ord(found[i + 1])) for i in places)


@given(st.text(st.characters(codec="utf-8"), max_size=20))
@example("Caf\u00e9 \uac01 \u1e69")
def test_canonically_equal_texts_are_equal(text: str) -> None:
    """A text and its composed and decomposed forms have one normal form.

    U+0345, which becomes a letter, stands behind all other marks in both forms, but perhaps not in the text.
    """
    composed, decomposed = (unicodedata.normalize(form, text) for form in ("NFC", "NFD"))
    assert normal_form(composed) == normal_form(decomposed)
    if "\u0345" not in decomposed:
        assert normal_form(text) == normal_form(decomposed)


@given(st.text(st.sampled_from("a\ud83d\ude00中"), max_size=8))
@example("\ud83d\ud83d\ude00\ude00")
def test_surrogates(text: str) -> None:
    """Two halves that belong together become their character, a lone one U+FFFD; nothing else changes."""
    pieces = text.split("\ud83d\ude00")
    lone = {0xD83D: "\ufffd", 0xDE00: "\ufffd"}
    assert repair_surrogates(text) == "😀".join(piece.translate(lone) for piece in pieces)
    assert normal_form(text, NO_NORMAL_FORM) == repair_surrogates(text)


def test_is_chinese_at_its_borders() -> None:
    """U+3400–9FFF, U+F900–FAFF and U+20000–3FFFF; kana and Hangul are not Chinese."""
    inside = (0x3400, 0x9FFF, 0xF900, 0xFAFF, 0x20000, 0x3FFFF)
    assert all(map(is_chinese, inside))
    outside = (0x33FF, 0xA000, 0xF8FF, 0xFB00, 0x1FFFF, 0x40000, 0x3042, 0x30AB, 0xAC00, 0x3007, 0x10FFFF)
    assert not any(map(is_chinese, outside))


def test_other_tables_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables of another Unicode version are not used."""
    monkeypatch.setattr(unicode_tables, "UNICODE_VERSION", "16.0.0")
    with pytest.raises(RuntimeError, match="Unicode 15"):
        unicode_tables.unicode_tables.__wrapped__()


def nfkc_casefold(text: str, ignorable: frozenset[str]) -> str:
    """Section 3.13, R5, by way of ``unicodedata`` and ``str.casefold``, iterated until nothing changes."""
    while True:
        folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
        folded = "".join(c for c in folded if c not in ignorable)
        folded = unicodedata.normalize("NFC", folded)
        if folded == text:
            return folded
        text = folded


@pytest.fixture(scope="module")
def builder() -> dict[str, object]:
    return runpy.run_path(str(BUILDER))


@needs_pinned_data
@given(text=st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Zs", "Zl", "Zp"]), max_size=12))
def test_is_nfkc_casefold(builder: dict[str, object], text: str) -> None:
    """Steps 1 to 3 are NFKC_Casefold of the pinned version, for texts in NFD without white space and controls."""
    ignorable = frozenset(map(chr, builder["DEFAULT_IGNORABLE"]))  # type: ignore[call-overload]
    decomposed = unicodedata.normalize("NFD", text)
    expected = nfkc_casefold(decomposed, ignorable)
    assert normal_form(decomposed, FOLD_ONLY) == " ".join(expected.split())


@needs_pinned_data
def test_tables_are_what_the_tool_builds(
    builder: dict[str, object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """tools/build_unicode_tables.py gives the file that is shipped."""
    target = tmp_path / "unicode_tables.npz"
    monkeypatch.setitem(builder["main"].__globals__, "TARGET", target)  # type: ignore[attr-defined]
    builder["main"]()  # type: ignore[operator]
    shipped = unicode_tables.unicode_tables()
    with np.load(target) as built:
        assert str(built["version"]) == UNICODE_VERSION
        for name in UnicodeTables._fields:
            assert built[name].dtype == getattr(shipped, name).dtype
            assert np.array_equal(built[name], getattr(shipped, name)), name


@pytest.mark.skipif(HAS_PINNED_DATA, reason=f"this Python has the pinned Unicode {UNICODE_VERSION}")
def test_tool_refuses_other_unicode_data(builder: dict[str, object]) -> None:
    """The tool does not build tables on a Python of another Unicode version."""
    with pytest.raises(SystemExit, match=f"needs Unicode {UNICODE_VERSION}"):
        builder["main"]()  # type: ignore[operator]
