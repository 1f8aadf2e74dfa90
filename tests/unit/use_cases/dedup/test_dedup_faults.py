"""Faults that users of such tools have met: each one as a run over files that must come out right."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from dedup_running import CHINESE, article, check_consistency, edited, rows_of, run, write_rows

from simhash_es.core.batch import FingerprintBatch, Fingerprinter
from simhash_es.core.presets import preset
from simhash_es.use_cases import corpus as corpus_module


def groups_of(tmp_path: Path, texts: list[str | None], **options: object) -> set[frozenset[str]]:
    tmp_path.mkdir(exist_ok=True)
    result = run(tmp_path / "out", write_rows(tmp_path / "in.jsonl", rows_of(texts)), **options)
    check_consistency(result, len(texts))
    return {frozenset({kept, *ids}) for kept, ids in result.members.items()}


def test_final_marks_do_not_wipe_texts_out(tmp_path: Path) -> None:
    """Short Chinese texts that end in a mark differ as they do without it; the mark itself makes no difference."""
    texts = ["今天的菜市场卖新鲜竹笋", "今天的菜市场卖新鲜竹笋。", "明早六点有班车去码头。", "图书馆周一闭馆！"]
    assert groups_of(tmp_path, [*texts]) == {frozenset({"d0", "d1"})}


@pytest.mark.parametrize("profile", ["default", "words", "characters", "guide", "compat-simhash"])
def test_texts_without_letters_are_no_duplicates(tmp_path: Path, profile: str) -> None:
    """Empty, blank, null and all-punctuation texts, and absent ones, all stay; ``ok`` is not grouped with them."""
    texts = ["", "   ", "!!!", "……", "!!!", None, "ok", " ".join(article(random.Random(1), 60)), "ok"]
    rows = [*rows_of(texts), {"id": "absent", "other": 1}]
    result = run(tmp_path / "out", write_rows(tmp_path / "in.jsonl", rows), profile=preset(profile))
    check_consistency(result, 10)
    assert result.members == {"d6": {"d8"}}
    assert result.summary.empty == 7
    assert (result.removed or [{}])[0]["reason"] == "exact copy"


def test_short_comments_that_differ_in_the_last_words(tmp_path: Path) -> None:
    """Two comments equal but for the last words are found, though their fingerprints lie far apart; titles that differ
    in a number are not merged."""
    texts = [
        "店家回复很快，包装也用心，就是快递慢了两天，下次还会再来买，加油",
        "店家回复很快，包装也用心，就是快递慢了两天，下次还会再来买，支持一下",
        "河边日记 第01集",
        "河边日记 第02集",
        "河边日记 第10集",
    ]
    assert groups_of(tmp_path, [*texts]) == {frozenset({"d0", "d1"})}


def test_filler_word_does_not_make_duplicates(tmp_path: Path) -> None:
    """Two tables with one filler word 280 times and otherwise different words are different."""
    bicycles = [f"bicycle{i} 车架{i}" for i in range(20)]
    lunches = [f"lunch{i} 午餐{i}" for i in range(20)]
    filler = ["暂无"] * 280
    tables = []
    for seed, own in enumerate((bicycles, lunches)):
        words = [*own, *filler]
        random.Random(seed).shuffle(words)
        tables.append(" ".join(words))
    blocks = [" ".join([*own, *filler]) for own in (bicycles, lunches)]
    groups = groups_of(tmp_path, [*tables, *blocks])
    about_bicycles, about_lunches = {"d0", "d2"}, {"d1", "d3"}
    assert all(group <= about_bicycles or group <= about_lunches for group in groups)


@pytest.mark.parametrize("times", [609, 70_000])
def test_word_repeated_very_often(tmp_path: Path, times: int) -> None:
    """A word seen hundreds or 70,000 times overflows nothing, and the copy of such a text is found."""
    text = " ".join(article(random.Random(1), 20)) + " " + "豆腐" * times
    other = " ".join(article(random.Random(2), 20)) + " " + "bees" * times
    assert groups_of(tmp_path, [text, text.replace(" ", "  "), other]) == {frozenset({"d0", "d1"})}


def test_equal_fingerprints_alone_never_drop_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When all fingerprints collide, only rows whose texts are near go."""

    class Colliding(Fingerprinter):
        def batch(self, texts: object) -> FingerprintBatch:
            made = super().batch(texts)  # type: ignore[arg-type]
            made.lanes[:] = 0x5555
            return made

    monkeypatch.setattr(corpus_module, "Fingerprinter", Colliding)
    chance = random.Random(3)
    base = article(chance)
    texts = [" ".join(words) for words in (base, article(chance), edited(base, chance, 2), article(chance))]
    assert groups_of(tmp_path, [*texts]) == {frozenset({"d0", "d2"})}


def test_transitive_chain_is_not_swallowed(tmp_path: Path) -> None:
    """Thirty texts, each with two words of the one before replaced: a row goes only with a kept row that it is near to
    itself, and the last is not removed on account of the first."""
    chance = random.Random(4)
    words = [f"{chance.choice('abcdefgh')}word{i}" for i in range(200)]
    texts = []
    for step in range(30):
        texts.append(" ".join(words))
        words[2 * step * 3 % 200], words[(2 * step * 3 + 97) % 200] = f"fresh{step}x", f"fresh{step}y"
    source = write_rows(tmp_path / "in.jsonl", rows_of(texts))
    result = run(tmp_path / "out", source, similarity=0.9)
    check_consistency(result, 30)
    assert result.keepers.get("d29") != "d0"
    assert len(result.kept_ids) > 1
    for row in result.removed or ():
        assert row["similarity"] >= 0.9
        assert row["distance"] <= result.summary.limits.distances[0]
        assert row["check_distance"] <= result.summary.limits.distances[1]


def test_same_text_in_other_code_points(tmp_path: Path) -> None:
    """Composed and decomposed, full and half width, with and without zero-width spaces: exact copies."""
    texts = [
        "Café Zürich — crème brûlée à emporter",
        "Cafe\u0301 Zu\u0308rich — cre\u0300me bru\u0302le\u0301e a\u0300 emporter",
        "促销ＡＢＣ１２３，仅限今天",
        "促销ABC123,仅限今天",
        "harbour at night and bees",
        "har\u200bbour at ni\u200bght and\u200b bees",
    ]
    assert groups_of(tmp_path, [*texts]) == {frozenset({f"d{i}", f"d{i + 1}"}) for i in (0, 2, 4)}
    survivors = (tmp_path / "out" / "survivors.jsonl").read_text("utf-8")
    assert all(texts[i] in survivors for i in (0, 2, 4))


def test_wrapped_article(tmp_path: Path) -> None:
    """Lines wrapped every twelve characters, wide spaces, Windows line ends and tabs leave the same text."""
    text = (CHINESE * 2)[:80]
    wrapped = "\u3000\u3000" + "\r\n\u3000\u3000".join(text[i : i + 12] for i in range(0, 80, 12))
    tabbed = "\t".join(text[i : i + 20] for i in range(0, 80, 20))
    assert groups_of(tmp_path, [text, wrapped, tabbed]) == {frozenset({"d0", "d1", "d2"})}


def test_half_a_surrogate_pair(tmp_path: Path) -> None:
    """Half a surrogate pair in one row counts as a mark, is counted, and hurts no other row."""
    path = tmp_path / "in.jsonl"
    path.write_bytes(
        '{"id": "a", "text": "降价通知 \\ud83d 最后三天 全场图书"}\n'
        '{"id": "b", "text": "降价通知，最后三天 全场图书"}\n'
        '{"id": "c", "text": "another thing entirely"}\n'.encode()
    )
    result = run(tmp_path / "out", str(path))
    check_consistency(result, 3)
    assert result.members == {"a": {"b"}}
    assert result.summary.repaired == 1
    assert rb"\ud83d" in (result.survivors or b"")


def test_sentences_keep_their_own_fingerprints(tmp_path: Path) -> None:
    """Among 2,000 different sentences hardly any share a fingerprint, and none is dropped."""
    chance = random.Random(5)
    vocabulary = [f"{chance.choice('bcdfgmnprst')}{chance.choice('aeiou')}{i:x}" for i in range(2000)]
    texts = [" ".join(chance.choices(vocabulary, k=chance.randrange(12, 31))) for _ in range(2000)]
    assert groups_of(tmp_path, [*texts]) == set()
    lanes = Fingerprinter(preset("default")).batch(texts).lanes
    assert len({tuple(row) for row in lanes.tolist()}) >= 1995
    for half in (0, 1):
        assert len(set(lanes[:, half].tolist())) >= 1995
        for bit in range(64):
            assert 0.3 < float((lanes[:, half] >> bit & 1).mean()) < 0.7
    assert not (lanes[:, 0] == lanes[:, 1]).any()


def test_common_header(tmp_path: Path) -> None:
    """Rows that share a long header and differ in the rest are judged by their whole text."""
    chance = random.Random(6)
    header = " ".join(article(chance, 100))
    texts = [header + " " + " ".join(f"own{i}x{j}" for j in range(100)) for i in range(40)]
    assert groups_of(tmp_path, [*texts]) == set()
    assert len(groups_of(tmp_path / "low", [*texts], similarity=0.4)) == 1
