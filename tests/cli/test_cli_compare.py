"""``compare``: two texts side by side."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from cli_running import CHINESE, OTHER, SENTENCE, Cli, Run
from hypothesis import given
from hypothesis import strategies as st

from simhash_es.cli.compare_view import half_lines, marks
from simhash_es.core.presets import DEFAULT
from simhash_es.core.reference import reference_fingerprint
from simhash_es.core.similarity import Measure, similarity
from simhash_es.use_cases.compare import CompareOptions, compare_texts
from simhash_es.use_cases.comparison import HalfFigures, Verdict

EDITED = SENTENCE.replace("anyone", "anybody")
REWRITTEN = OTHER.replace("two coins", "three coins").replace("market", "river").replace("old machines", "steam")


def compared(cli: Cli, a: str, b: str, *options: str) -> Run:
    run = cli("compare", "--text", a, b, *options)
    assert (run.code, run.stderr) == (0, "")
    return run


@pytest.mark.parametrize(
    ("a", "b", "options", "verdict"),
    [
        (SENTENCE, SENTENCE.upper() + "!", [], Verdict.IDENTICAL),
        (SENTENCE, EDITED, [], Verdict.NEAR_DUPLICATE),
        (SENTENCE, OTHER, [], Verdict.DIFFERENT),
        (CHINESE, CHINESE.replace("渡船", "轮渡"), ["--similarity", "0.7"], Verdict.NEAR_DUPLICATE),
        (SENTENCE, EDITED, ["--distance", "0"], Verdict.MISSED),
        (SENTENCE, EDITED, ["--verify", "edit:0.9999"], Verdict.CANDIDATE),
        (SENTENCE, OTHER, ["--distance", "64", "--verify", "none"], Verdict.NEAR_DUPLICATE),
        ("!!!", SENTENCE, [], Verdict.NO_FINGERPRINT),
        ("", "", [], Verdict.NO_FINGERPRINT),
    ],
    ids=["identical", "edited", "other", "chinese", "missed", "refused", "no-criteria", "empty-one", "empty-both"],
)
def test_verdict(cli: Cli, a: str, b: str, options: Sequence[str], verdict: Verdict) -> None:
    """The verdict follows from limits and criteria; a text without features equals nothing, not even itself."""
    assert compared(cli, a, b, "--json", *options).json["verdict"] == verdict


def test_figures(cli: Cli) -> None:
    """Values, distances and similarities are those of the core."""
    found = compared(cli, SENTENCE, EDITED, "--json").json
    values = [reference_fingerprint(text, DEFAULT) for text in (SENTENCE, EDITED)]
    for i, half in enumerate(found["halves"]):
        a, b = (value[i] for value in values if value is not None)
        assert (half["a"], half["b"]) == (f"{a:016x}", f"{b:016x}")
        assert half["distance"] == (a ^ b).bit_count()
        assert half["cosine"] == similarity(SENTENCE, EDITED, Measure.COSINE, DEFAULT, half=i)
        assert half["jaccard"] == similarity(SENTENCE, EDITED, Measure.JACCARD, DEFAULT, half=i)
    assert found["edit"] == similarity(SENTENCE, EDITED, Measure.EDIT, DEFAULT)
    assert found["a"]["fingerprint"] == found["halves"][0]["a"] + found["halves"][1]["a"]
    assert found["a"]["characters"] == len(SENTENCE)
    assert found["verify"] == [
        {"criterion": "cosine:0.85", "similarity": pytest.approx(found["halves"][0]["cosine"]), "met": True}
    ]


def test_bits_that_differ_are_marked(cli: Cli) -> None:
    """Under each half stands a mark for each bit that differs."""
    run = compared(cli, SENTENCE, EDITED)
    found = compared(cli, SENTENCE, EDITED, "--json").json
    marked = [line.count("^") for line in run.lines if re.fullmatch(r"[ ^]+", line) and "^" in line]
    assert marked == [half["distance"] for half in found["halves"] if half["distance"]]
    for half in found["halves"]:
        assert f"distance  {half['distance']} of 64 bits, within the limit of {half['limit']}" in run.text


@given(st.integers(1, 128), st.data())
def test_marks(width: int, data: st.DataObject) -> None:
    """As many marks as bits differ, at their places, at any width."""
    a, b = (data.draw(st.integers(0, 2**width - 1)) for _ in range(2))
    half = HalfFigures(width, a, b, (a ^ b).bit_count(), width, 1.0, 1.0, 1.0, 0.0, 1.0)
    assert len(marks(half)) == width
    assert int(marks(half).replace(" ", "0").replace("^", "1"), 2) == a ^ b
    assert any(f"distance  {half.distance} of {width} bits" in line for line in half_lines(half))


def test_output_for_people(cli: Cli) -> None:
    """Tokens, angle model, limits with their reason, verdict in words, and the difference."""
    run = compared(cli, SENTENCE, EDITED)
    assert run.lines[0].startswith("verdict     near-duplicates")
    for words in ("tokens", "features A", "gives", "bits on average", "limits      ", "halves must be within them"):
        assert words in run.text
    assert "[-anyone-]{+anybody+}" in run.text
    assert "\x1b" not in run.text


def test_hostile_text_cannot_steer_the_terminal(cli: Cli) -> None:
    """Escape sequences and direction marks of the texts are spelt out."""
    run = compared(cli, "one \x1b[31m\u202e two", "one two")
    assert "\x1b" not in run.text
    assert "\u202e" not in run.text
    assert "⟨U+001B⟩" in run.text


def test_files(cli: Cli, tmp_path: Path) -> None:
    """Two names of existing files are read, in their encoding; --text takes them as texts; @ is always a file."""
    a, b = tmp_path / "a.txt", tmp_path / "b.txt"
    a.write_text(CHINESE, encoding="gb18030")
    b.write_text(CHINESE + "。", encoding="utf-8")
    assert cli("compare", a, b, "--json").json["verdict"] == Verdict.IDENTICAL
    assert cli("compare", "--files", a, b, "--json").json["verdict"] == Verdict.IDENTICAL
    assert cli("compare", f"@{a}", CHINESE, "--json").json["verdict"] == Verdict.IDENTICAL
    assert cli("compare", "--text", a, b, "--json").json["a"]["characters"] == len(str(a))
    assert cli("compare", a, CHINESE, "--json").json["a"]["characters"] == len(str(a))
    assert cli("compare", "-", CHINESE, "--json", stdin=CHINESE.encode()).json["verdict"] == Verdict.IDENTICAL


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--files", "no-such-file", "nor-this"], 3),
        (["@no-such-file", "x"], 3),
        (["--files", ".", "."], 3),
        (["-", "-"], 2),
        (["--text", "--files", "a", "b"], 2),
        (["--text", "a", "b", "--documents", "0", "--recall", "1"], 2),
        (["--text", "a", "b", "--distance", "65"], 2),
        (["--text", "a", "b", "--profile", "characters", "--check-distance", "3"], 2),
    ],
)
def test_refused(cli: Cli, arguments: Sequence[str], code: int) -> None:
    """What cannot be compared, and options that contradict each other."""
    run = cli("compare", *arguments)
    assert (run.code, run.stdout) == (code, b"")
    assert "error: " in run.stderr


def test_short_texts_are_found_whatever_the_distance() -> None:
    """A pair of short texts outside the limits is what dedup finds by features; given limits switch that off."""
    a, b = "河边小店今天开门很早，老板娘在门口卖豆浆", "河边小店今天开门很早，老板娘在门口卖油条"
    found = compare_texts(a, b, CompareOptions(profile=DEFAULT, similarity=0.7, recall=0.2))
    assert (found.are_short, found.is_within, found.verdict) == (True, False, Verdict.NEAR_DUPLICATE)
    given = compare_texts(a, b, CompareOptions(profile=DEFAULT, similarity=0.7, distance=found.halves[0].limit))
    assert (given.are_short, given.verdict) == (False, Verdict.MISSED)


def test_similarity_is_the_one_of_the_verification() -> None:
    """With a profile of other features the criteria still go by the features of the verification."""
    words = DEFAULT.with_options(tokenizer="words")
    found = compare_texts(SENTENCE, EDITED, CompareOptions(profile=words))
    assert found.checked[0].similarity == similarity(SENTENCE, EDITED, Measure.COSINE, DEFAULT)
    assert found.checked[0].similarity != found.halves[0].cosine
