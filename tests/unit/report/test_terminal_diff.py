"""The difference for the terminal is complete, readable and harmless."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from simhash_es.report.terminal_diff import LINE_END, MAX_TOKENS, changes, render_difference, visible

TEXTS = st.text(st.sampled_from("ab  c中文字。.\n3é\u0301\U00020bb7"), max_size=40)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("三周以后，剧院没有开门。", "四周之后，剧院没有开门。", "[-三-]{+四+}周[-以-]{+之+}后，剧院没有开门。"),
        ("The quick brown fox", "The slow red fox", "The [-quick brown-]{+slow red+} fox"),
        ("same", "same", "same"),
        ("", "", ""),
        ("", "new 字", "{+new 字+}"),
        ("old", "", "[-old-]"),
        ("版本1.2发布", "版本1.3发布", "版本1.[-2-]{+3+}发布"),
        ("a\r\nb", "a\nb", "a\nb"),
        ("one\ntwo", "one two", "one[-↵\n-]{+ +}two"),
    ],
)
def test_marks_words_in_english_and_characters_in_chinese(a: str, b: str, expected: str) -> None:
    """Exactly the words or Chinese characters that differ are marked."""
    assert render_difference(a, b, color=False) == expected


def test_colour_is_never_the_only_mark() -> None:
    """What was cut is struck through and what is new is underlined, on each line anew."""
    found = render_difference("a old\nrow b", "a new b", color=True)
    assert found == "a \x1b[31;9mold↵\x1b[0m\n\x1b[31;9mrow\x1b[0m\x1b[32;4mnew\x1b[0m b"


@given(TEXTS, TEXTS)
@example("", "\n")
@example("中 a", "中 b")
def test_both_texts_can_be_read_off_the_changes(a: str, b: str) -> None:
    """The left sides make the first text, the right sides the second, and no two stretches of one kind meet."""
    found = changes(a, b)
    assert "".join(change.left for change in found) == a
    assert "".join(change.right for change in found) == b
    assert all(change.left == change.right for change in found if change.is_same)
    assert all(one.is_same != other.is_same for one, other in pairwise(found))


@pytest.mark.parametrize("sentence_end", [". ", " "])
def test_long_texts_are_compared_completely(sentence_end: str) -> None:
    """Beyond the token limit nothing is lost, whether or not there are sentences to go by."""
    words = [f"w{i * 7919 % 5000}" + (sentence_end if i % 12 == 11 else " ") for i in range(MAX_TOKENS)]
    other = [f"z{i} " if i % 100 == 50 else word for i, word in enumerate(words)]
    a, b = "".join(words), "".join(other)
    found = changes(a, b)
    assert "".join(change.left for change in found) == a
    assert "".join(change.right for change in found) == b
    if sentence_end == ". ":
        assert sum(not change.is_same for change in found) == MAX_TOKENS // 100
        assert max(len(change.left) for change in found if not change.is_same) < 10


def test_long_texts_show_only_the_neighbourhood_of_changes() -> None:
    """A change in the middle of a long text is shown with some text on either side, and what is left out is counted."""
    a = "word " * 400 + "old" + " word" * 400
    found = render_difference(a, a.replace("old", "new"), color=False)
    assert "word [-old-]{+new+} word" in found
    assert len(found) < 300
    left_out = [int(n.replace(",", "")) for n in re.findall(r"⟨… ([\d,]+) characters the same …⟩", found)]
    assert left_out == [2000 - 60, 2000 - 60]


def test_hostile_text_cannot_steer_the_terminal() -> None:
    """Escape sequences, direction overrides, bells and carriage returns arrive as visible names."""
    a = "ok \x1b]0;title\x07 \x1b[2J \u202eevil \x9b31m \x08 \ud800 \U000e0041"
    found = render_difference(a, "ok \rhidden", color=False)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", found)
    assert "⟨U+001B⟩" in found
    assert "⟨U+202E⟩" in found


@given(st.text(st.characters()), st.booleans())
def test_output_holds_no_control_of_the_input(text: str, color: bool) -> None:
    """For any text, the only escapes in the output are our own styles, and the output can be encoded."""
    found = render_difference(text, "", color=color)
    found.encode()
    ours = re.sub("\x1b\\[(?:31;9|32;4|2|0)m", "", found) if color else found
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", ours)


def test_visible_leaves_ordinary_text_alone() -> None:
    """Letters, emoji with joiners and full-width forms are not touched; a tab becomes spaces."""
    text = "Ａ中文 é 👩\u200d👧 می\u200cخواهم"
    assert visible(text) == text
    assert visible("a\tb") == "a    b"
    assert LINE_END.sub("\n", "a\r\nb\rc\u2028d") == "a\nb\nc\nd"
