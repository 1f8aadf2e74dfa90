"""The compiled normal form equals the readable one, byte for byte, on hostile Unicode."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from simhash_es.core.batch import Fingerprinter
from simhash_es.core.kernels import normal_form as kernels
from simhash_es.core.normal_form import NormalForm, normal_form
from simhash_es.core.presets import DEFAULT
from simhash_es.core.unicode_tables import COMPLEX, DROP, MAP_MANY, MAP_ONE, SPACE, unicode_tables

STEPS = [
    NormalForm(punctuation=punctuation, chinese_spaces=spaces)
    for punctuation in (True, False)
    for spaces in (True, False)
]
BLOCK = 4096


def by_kernel(texts: Sequence[str], steps: NormalForm) -> list[str]:
    block = Fingerprinter(DEFAULT.with_options(normal_form=steps)).normalised(texts)
    return [block.text(i) for i in range(len(block))]


def with_action(*actions: int) -> list[str]:
    tables = unicode_tables()
    points = np.arange(sys.maxunicode + 1)
    entries = tables.entry_blocks[tables.entry_index[points >> 7].astype(np.int64) << 7 | points & 127]
    return [chr(cp) for cp in points[np.isin(entries & 7, actions)] if not 0xD800 <= cp <= 0xDFFF]


HOSTILE = st.one_of(
    st.sampled_from(" aZé中文竹々〇の，。.!-_"),
    st.sampled_from("\t\r\n\x85\u2028\u2029\u3000\x00\x1f\x7f\u200b\u200d\ufeff\xad\u180e\u115f\u3164\U000e0041\ufe0f"),
    st.sampled_from("\u0301\u0327\u0323\u0345\u3099\u309a\u0338\u20dd\u05b0\u0f71\u0f72\u0f80\U0001d165\U00016ff0"),
    st.sampled_from("ᄀ힣각가\u1161\u11a8\u1100\uffa1\uffc2\u3131"),
    st.sampled_from("ＡｂＺ１２，！ｶﾞﾊﾟ㌀㍿①Ⅷ½ﬃ\ufdfa\u0149İıßẞΐǰ\u1f82\ufb2c\u0958"),
    st.sampled_from("\ufffd\ue000\U000f0000\U00100000\u0378\U0003ffff\U00020000\U0002f800\U00030000\U0001f600"),
    st.sampled_from("\ud83d\ude00\udfff\ud800"),
    st.sampled_from(with_action(COMPLEX)),
    st.sampled_from(with_action(MAP_ONE, MAP_MANY)),
    st.sampled_from(with_action(SPACE, DROP)),
    st.characters(),
)
TEXTS = st.lists(HOSTILE, max_size=24).map("".join)


@given(st.lists(TEXTS, max_size=5), st.sampled_from(STEPS))
@example(["\ufdfa" * 30], STEPS[0])
@example(["e\u0301\u0323", "e\u0323\u0301", "\u1ec7"], STEPS[0])
@example(["\u1100\u1161\u11a8", "각", "\u1100\u1161 \u11a8"], STEPS[0])
@example(["a\u200d\u0301", "\u0301", " \u0301 ", "中\u3000\u3099"], STEPS[0])
@example(["中 a", "a 中", "中 中", "中,中", "a , b", "中 \u0301 文"], STEPS[1])
@example(["，中", "a，b", "¨", "a¨", "中¨ 文"], STEPS[2])
@example(["\ud83d", "\ud83d\ude00", "x\udc00y"], STEPS[3])
def test_equals_reference(texts: list[str], steps: NormalForm) -> None:
    """Any text under any combination of the steps, whatever stands in the buffer beside it."""
    assert by_kernel(texts, steps) == [normal_form(text, steps) for text in texts]


SAMPLED = [*range(0x3400), *range(0x3400, 0xA000, 97), *range(0xA000, 0xAC00), *range(0xAC00, 0xD7B0, 23)]
SAMPLED += [*range(0xE000, 0xF900, 53), *range(0xF900, 0x1F000, 2), *range(0x1F000, 0x110000, 997)]


@pytest.mark.parametrize(("steps", "share"), [(STEPS[0], 1), (STEPS[1], 5), (STEPS[2], 5), (STEPS[3], 5)])
def test_characters_of_all_blocks(steps: NormalForm, share: int) -> None:
    """Characters of all blocks, between a Latin letter, a mark and a Chinese character."""
    texts = [f"a{chr(cp)}\u0301 {chr(cp)}中{chr(cp)}" for cp in SAMPLED[::share]]
    assert by_kernel(texts, steps) == [normal_form(text, steps) for text in texts]


@pytest.mark.parametrize("punctuation", [True, False])
def test_no_character_outgrows_the_buffer(punctuation: bool) -> None:
    """No character, repeated, becomes more than MAX_GROWTH times as many bytes."""
    steps = NormalForm(punctuation=punctuation, chinese_spaces=False)
    growing = with_action(MAP_ONE, MAP_MANY, COMPLEX)
    forms = by_kernel([character * 3 for character in growing], steps)
    worst = max(len(form.encode()) / len((c * 3).encode()) for form, c in zip(forms, growing, strict=True))
    assert 11 <= worst <= kernels.MAX_GROWTH


def test_long_run_of_marks() -> None:
    """A thousand marks in the worst order are brought into canonical order."""
    text = "a" + "\u0301\u0323\u0327" * 400
    assert by_kernel([text], STEPS[0]) == [normal_form(text, STEPS[0])]
