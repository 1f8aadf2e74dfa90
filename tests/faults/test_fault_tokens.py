"""Tokens that vanish, drown the others, overflow, or are blanks."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import mmh3
import numpy as np
import pytest
from fault_running import Cli, vocabulary, write_texts

from simhash_es import Profile, fingerprint, fingerprints, hamming_distance

PROFILES = [
    pytest.param((), id="default"),
    pytest.param(("--profile", "words"), id="words"),
    pytest.param(("--profile", "characters"), id="characters"),
    pytest.param(("--tokenizer", "rjieba"), id="rjieba"),
]
ARTICLE = (
    "清晨的渔港还笼罩在薄雾里。头班渡船已经靠岸，船员把竹笋和豆腐搬到码头。孩子们背着书包等车，老人坐在石阶上聊起去年的风暴。"
    "市场开门以后，街上慢慢热闹起来，灯火一盏一盏熄灭。"
)


@pytest.mark.parametrize("options", PROFILES)
@pytest.mark.parametrize("mark", ["。", "！", "……", "?!", "”", " 🙂", "、", "\u3000", "~"])
def test_mark_at_the_end_takes_no_words_with_it(cli: Cli, options: tuple[str, ...], mark: str) -> None:
    """Texts that end in a mark have the value they have without it, and different ones stay far apart."""
    texts = ["邮局门口新开了一家修表铺", "后天上午有专家来义诊", "游泳池周三换水", "the winch is broken"]
    plain = cli("fingerprint", *options, stdin="\n".join(texts).encode())
    marked = cli("fingerprint", *options, stdin="\n".join(text + mark for text in texts).encode())
    values = plain.out.decode().split()
    assert marked.out.decode().split() == values
    assert len(values) == len(texts)
    for i, value in enumerate(values):
        for start in range(0, len(value), 16):
            assert value[start : start + 16] not in ("0" * 16, "f" * 16)
        assert all((int(value, 16) ^ int(other, 16)).bit_count() >= 16 for other in values[:i])


def test_words_that_are_all_filtered_leave_no_value(cli: Cli, tmp_path: Path) -> None:
    """Stop words, digits and zero weights can take everything from a text: it then has no value, and equals nothing."""
    stop = tmp_path / "stop.txt"
    stop.write_text("alpha\nbeta\n", encoding="utf-8")
    weights = tmp_path / "weights.tsv"
    weights.write_text("alpha\t0\nbeta\t0\n", encoding="utf-8")
    one_word = ("--tokenizer", "words", "--ngram", "1")
    for options in (("--stop-words", stop), ("--word-weights", weights)):
        run = cli("fingerprint", *one_word, *options, stdin=b"alpha\nbeta\nalpha beta\ngamma\n")
        lines = run.out.decode().split("\n")
        assert lines[:3] == ["", "", ""]
        assert lines[3]
    assert cli("fingerprint", "--digits", stdin=b"2024\n07\n").out == b"\n\n"


@pytest.mark.parametrize("options", PROFILES)
@pytest.mark.parametrize("filler", ["无数据", "n/a", "—— 暂缺 ——"])
@pytest.mark.parametrize("shuffled", [False, True])
def test_filler_does_not_drown_the_words(
    cli: Cli, tmp_path: Path, options: tuple[str, ...], filler: str, shuffled: bool
) -> None:
    """Two exports that share nothing but a filler seen 280 times are apart; one with a word more is not."""
    chance = random.Random(11)
    words = vocabulary(chance, 80)
    tables = []
    for own in (words[:40], words[40:]):
        cells = [*own, *[filler] * 280]
        if shuffled:
            chance.shuffle(cells)
        tables.append(" ".join(cells))
    source = write_texts(tmp_path / "in.jsonl", [*tables, tables[0] + " extra"])
    assert cli("dedup", source, *options, "--groups", "-").groups == {frozenset({0, 2})}


def plain_sum(text: str, n: int, n_chinese: int, word: int, *, damped: bool) -> int:
    """The value of one half by unbounded integers, from grams counted one by one."""
    sizes = [n_chinese if "\u3400" <= character <= "\u9fff" else n for character in text]
    grams = Counter(text[i : i + size] for i, size in enumerate(sizes) if i + size <= len(text))
    sums = [0] * 64
    for gram, count in grams.items():
        weight = count.bit_length() if damped else count
        value = mmh3.hash64(gram.encode(), 0, True, signed=False)[word]
        for bit in range(64):
            sums[bit] += weight if value >> bit & 1 else -weight
    return sum(1 << bit for bit in range(64) if sums[bit] > 0)


@pytest.mark.parametrize("damped", [True, False], ids=["log-tf", "tf"])
@pytest.mark.parametrize("times", [128, 256, 609, 70_000])
def test_counts_beyond_a_byte_do_not_wrap(times: int, damped: bool) -> None:
    """A word seen up to 70,000 times gives the sums of unbounded integers, bit for bit, alone and among others."""
    words = vocabulary(random.Random(12), 20)
    profile = Profile() if damped else Profile().with_options(weights="tf")
    for text in (" ".join(words) + "豆腐" * times, " ".join([*words, *["zzz"] * times])):
        expected = plain_sum(text, 4, 3, 0, damped=damped), plain_sum(text, 5, 5, 1, damped=damped)
        made = fingerprint(text, profile)
        assert made is not None
        assert made.values == expected
        many = fingerprints(["short", text, "", text], profile)
        assert many[1] == many[3] == made


@pytest.mark.parametrize("options", [{}, {"bits": 128}, {"halves": 3}], ids=str)
def test_every_bit_is_alive(options: dict[str, object]) -> None:
    """Among 4,000 different sentences hardly two share a value, each bit is set in a fair part of them, and no part of
    a value is a copy of another part."""
    chance = random.Random(13)
    words = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randrange(3, 10))) for _ in range(2000)]
    sentences = [" ".join(chance.choices(words, k=chance.randrange(12, 31))) for _ in range(4000)]
    lanes = fingerprints(sentences, Profile().with_options(**options)).lanes  # type: ignore[arg-type]
    for lane in lanes.T:
        assert len(np.unique(lane)) >= 3990
        shares = [float((lane >> np.uint64(bit) & np.uint64(1)).mean()) for bit in range(64)]
        assert 0.3 <= min(shares) <= max(shares) <= 0.7
        assert not ((lane >> np.uint64(32)) == (lane & np.uint64(0xFFFFFFFF))).any()
    for i in range(lanes.shape[1]):
        assert not any((lanes[:, i] == lanes[:, j]).any() for j in range(i))


@pytest.mark.parametrize("options", [*PROFILES, pytest.param(("--tokenizer", "jieba"), id="jieba")])
def test_blanks_are_no_tokens(cli: Cli, tmp_path: Path, options: tuple[str, ...]) -> None:
    """Wrapping between sentences or within words, wide spaces, tabs and Windows line ends make exact copies."""
    wrapped = "\u3000\u3000" + "\r\n".join(ARTICLE[i : i + 12] for i in range(0, len(ARTICLE), 12))
    sentences = "\u3000\u3000" + ARTICLE.replace("。", "。\r\n\t\u3000\u3000")
    separators = ARTICLE.replace("。", "。\u2028\x0b\x0c\x85")
    source = write_texts(tmp_path / "in.jsonl", [ARTICLE, wrapped, sentences, separators])
    (group,) = cli("dedup", source, *options, "--groups", "-").records
    assert [(m["id"], m["distance"], m["similarity"]) for m in group["members"]] == [(i, 0, 1.0) for i in (1, 2, 3)]


@pytest.mark.parametrize("tokenizer", ["words", "jieba", "rjieba"])
def test_number_of_tokens_leaves_blanks_out(cli: Cli, tokenizer: str) -> None:
    """``a b c`` has three tokens however it is spaced."""
    run = cli("compare", "--text", "a b c", " a\u3000b\r\n\tc ", "--tokenizer", tokenizer, "--json")
    report = json.loads(run.out)
    assert report["a"]["tokens"] == report["b"]["tokens"] == 3
    assert report["a"]["fingerprint"] == report["b"]["fingerprint"]


def test_short_replies_are_judged_by_their_text(cli: Cli, tmp_path: Path) -> None:
    """Short texts that differ in the last word are found or marked short; a number in a title keeps titles apart."""
    texts = [
        "房东人很好，钥匙交接也顺利，就是楼下晚上有点吵，下回路过还会再住，谢谢",
        "房东人很好，钥匙交接也顺利，就是楼下晚上有点吵，下回路过还会再住，推荐大家",
        *(f"海岛游记 第{number:02}集" for number in (1, 2, 10)),
    ]
    source = write_texts(tmp_path / "in.jsonl", texts)
    assert cli("dedup", source, "--groups", "-").groups == {frozenset({0, 1})}
    assert cli("dedup", source, "--json").summary["short"] == len(texts)


def test_equal_value_alone_drops_nothing(cli: Cli, tmp_path: Path) -> None:
    """At one bit nearly all values collide, and no row goes: the comparison of the texts decides."""
    chance = random.Random(14)
    words = vocabulary(chance, 500)
    texts = [" ".join(chance.choices(words, k=30)) for _ in range(60)]
    values = fingerprints(texts, Profile().with_options(bits=1))
    assert len({str(value) for value in values}) <= 4
    assert int(hamming_distance(values, values).max()) == 0
    source = write_texts(tmp_path / "in.jsonl", texts)
    summary = cli("dedup", source, "--bits", "1", "--json").summary
    assert (summary["kept"], summary["removed"]) == (60, 0)
