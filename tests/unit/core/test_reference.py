"""The reference fingerprint: known answers, laws, and faults that other tools have had."""

from __future__ import annotations

import hashlib
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import mmh3
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simhash_es.core.bits import hamming_distance, to_hex, to_words
from simhash_es.core.normal_form import normal_form
from simhash_es.core.presets import preset
from simhash_es.core.profile import Profile
from simhash_es.core.reference import (
    features_of,
    fingerprint_of_tokens,
    prepared_text,
    reference_fingerprint,
    sum_of_hashes,
)
from simhash_es.core.similarity import Measure, similarity

VECTORS: dict[str, Any] = json.loads((Path(__file__).parents[2] / "data" / "vectors.json").read_text("utf-8"))
PROFILES = {name: Profile.from_dict(data) for name, data in VECTORS["profiles"].items()}
TEXTS = {name: "".join(part * times for part, times in text["parts"]) for name, text in VECTORS["texts"].items()}

DEFAULT, WORDS, ONE = preset("default"), preset("words"), preset("characters")
ALPHABET = "abcde 中文书竹笋，."


def value(text: str, profile: Profile = ONE) -> int:
    values = reference_fingerprint(text, profile)
    assert values is not None
    return values[0]


def distance(a: str, b: str, profile: Profile = ONE) -> int:
    return hamming_distance(value(a, profile), value(b, profile))


@pytest.mark.parametrize(("text", "profile", "expected"), VECTORS["vectors"])
def test_known_answers(text: str, profile: str, expected: list[str] | None) -> None:
    """The values of tests/data/vectors.json."""
    values = reference_fingerprint(TEXTS[text], PROFILES[profile])
    width = PROFILES[profile].width
    assert (None if values is None else [to_hex(value, width) for value in values]) == expected


@pytest.mark.parametrize("name", TEXTS)
def test_known_normal_forms(name: str) -> None:
    """The normal forms of tests/data/vectors.json."""
    expected = VECTORS["texts"][name]["normal_form"]
    found = normal_form(TEXTS[name])
    assert found == expected or (expected is None and len(found) > 2000)


@pytest.mark.parametrize("width", [64, 128])
def test_values_of_pypi_simhash(width: int) -> None:
    """The preset compat-simhash gives the values that PyPI simhash 2.1.2 has given."""
    profile = preset("compat-simhash").with_options(bits=width)
    pinned = VECTORS["peer simhash 2.1.2"][str(width)]
    assert len(pinned) > 20
    assert {name: to_hex(value(TEXTS[name], profile), width) for name in pinned} == pinned


def slow_simhash(text: str, n: int, n_chinese: int, word: int) -> int:
    """The default profile once more, written from its definition with other means."""
    text = normal_form(text)
    chinese = [0x3400 <= ord(c) <= 0x9FFF or 0xF900 <= ord(c) <= 0xFAFF or ord(c) >= 0x20000 for c in text]
    grams = Counter(
        text[i : i + size] for i in range(len(text)) if i + (size := n_chinese if chinese[i] else n) <= len(text)
    ) or Counter([text])
    bits = []
    for k in range(63, -1, -1):
        total = 0
        for gram, tf in grams.items():
            hashed = mmh3.hash64(gram.encode(), 0, True, signed=False)[word]
            total += (1 + int(np.log2(tf))) * (1 if hashed & 1 << k else -1)
        bits.append("1" if total > 0 else "0")
    return int("".join(bits), 2)


@given(st.text(st.sampled_from(ALPHABET), min_size=1, max_size=40).filter(normal_form))
def test_default_profile_is_its_definition(text: str) -> None:
    """Half A: 4-grams (Chinese 3), first word; half B: 5-grams, second word; log-tf; ties give 0."""
    assert reference_fingerprint(text, DEFAULT) == (slow_simhash(text, 4, 3, 0), slow_simhash(text, 5, 5, 1))


@given(
    st.dictionaries(st.text(max_size=4), st.integers(1, 2**70), min_size=1, max_size=12),
    st.randoms(),
    st.integers(1, 128),
)
def test_order_of_features_is_irrelevant(weights: dict[str, int], order: random.Random, width: int) -> None:
    """Any order of the features gives the same sum."""

    def hashed(data: bytes) -> int:
        return int.from_bytes(hashlib.sha256(data).digest()[:16], "big") >> (128 - width)

    shuffled = list(weights.items())
    order.shuffle(shuffled)
    found = sum_of_hashes(weights, hashed, width)
    assert found == sum_of_hashes(dict(shuffled), hashed, width)
    assert 0 <= found < 1 << width


@given(st.lists(st.sampled_from(["ferry", "boat", "六点", "a"]), min_size=1, max_size=12), st.randoms())
def test_order_of_tokens_is_irrelevant_for_single_words(tokens: list[str], order: random.Random) -> None:
    """Without grams a fingerprint is that of a bag of words."""
    profile = WORDS.with_options(ngram=1)
    shuffled = list(tokens)
    order.shuffle(shuffled)
    assert fingerprint_of_tokens(tokens, profile) == fingerprint_of_tokens(shuffled, profile)


@given(st.dictionaries(st.text(max_size=3), st.integers(1, 9), min_size=1, max_size=8), st.integers(2, 1024))
def test_a_common_factor_of_all_weights_is_irrelevant(weights: dict[str, int], factor: int) -> None:
    """The unit of weights cancels out."""

    def hashed(data: bytes) -> int:
        return int.from_bytes(hashlib.md5(data, usedforsecurity=False).digest()[:8], "big")

    scaled = {feature: weight * factor for feature, weight in weights.items()}
    assert sum_of_hashes(scaled, hashed, 64) == sum_of_hashes(weights, hashed, 64)


def test_ties_give_zero() -> None:
    """Two opposite features leave nothing; one feature leaves its hash."""
    opposite = {b"a": 0b1100, b"b": 0b0011}
    assert sum_of_hashes({"a": 1, "b": 1}, opposite.__getitem__, 4) == 0
    assert sum_of_hashes({"a": 1}, opposite.__getitem__, 4) == 0b1100
    assert sum_of_hashes({"a": 1, "b": 2}, opposite.__getitem__, 4) == 0b0011


@given(st.text(max_size=30))
def test_any_string_has_a_fingerprint_or_none(text: str) -> None:
    """No text raises; a text is without fingerprint exactly if nothing is left of it."""
    for profile in (DEFAULT, WORDS):
        values = reference_fingerprint(text, profile)
        assert (values is None) == (prepared_text(text, profile) == "")
        assert values is None or all(0 <= one < 1 << 64 for one in values)


@pytest.mark.parametrize("text", ["", "   ", "!!!", "……", "\u200b\ufeff", "🎉", "\ud800"])
@pytest.mark.parametrize("name", ["default", "words", "characters"])
def test_texts_without_features_have_no_fingerprint(text: str, name: str) -> None:
    """They are None, never 0 or another value they would share."""
    assert reference_fingerprint(text, preset(name)) is None


def test_a_tiny_text_is_not_empty() -> None:
    """One word, or one letter, has a value of its own."""
    assert len({value(text) for text in ("ok", "no", "o", "k", "好")}) == 5


SENTENCES = ("今天的菜市场卖新鲜竹笋", "今天的菜市场卖新鲜竹笋。", "明早六点有班车去码头。", "图书馆周一闭馆！")


@pytest.mark.parametrize("name", ["default", "words", "characters"])
def test_a_final_mark_changes_nothing(name: str) -> None:
    """Punctuation is no feature, and takes no words with it."""
    profile = preset(name)
    first, second, third, fourth = (reference_fingerprint(text, profile) for text in SENTENCES)
    assert first == second
    for text in SENTENCES:
        assert value(text, profile) not in (0, 2**64 - 1)
    for a, b in ((first, third), (first, fourth), (third, fourth)):
        assert a is not None
        assert b is not None
        assert all(hamming_distance(left, right) > 14 for left, right in zip(a, b, strict=True))


PAIRS = [
    (
        "Café Zürich — crème brûlée à emporter",
        "Cafe\u0301 Zu\u0308rich — cre\u0300me bru\u0302le\u0301e a\u0300 emporter",
    ),
    ("促销ＡＢＣ１２３，仅限今天", "促销ABC123,仅限今天"),
    ("the\u200b ferry\u200b leaves", "the ferry leaves"),
    ("line one\r\n\u3000\u3000line two\t", "line one line two"),
]


@pytest.mark.parametrize(("one", "other"), PAIRS)
@pytest.mark.parametrize("name", ["default", "words", "characters"])
def test_same_text_in_another_unicode_form(one: str, other: str, name: str) -> None:
    """Visually equal texts have distance 0."""
    assert reference_fingerprint(one, preset(name)) == reference_fingerprint(other, preset(name))


TWENTY = " ".join(f"{a}{b}" for a in ("mer", "tal", "vos", "kin") for b in ("ado", "eth", "ulm", "ory", "ips"))


@pytest.mark.parametrize(
    ("times", "weights"), [(255, "tf"), (256, "tf"), (609, "tf"), (609, "log-tf"), (609, "uniform"), (70_000, "tf")]
)
def test_very_frequent_words(times: int, weights: str) -> None:
    """However often a word comes, the value is that of unbounded integers."""
    profile = WORDS.with_options(weights=weights, ngram=1, halves=1)
    counts = Counter({**dict.fromkeys(TWENTY.split(), 1), "豆腐": times})
    weight = {"tf": lambda tf: tf, "log-tf": lambda tf: len(bin(tf)) - 2, "uniform": lambda tf: 1}[weights]
    total = [0] * 64
    for word, tf in counts.items():
        hashed = mmh3.hash64(word.encode(), 0, True, signed=False)[0]
        total = [one + weight(tf) * (2 * (hashed >> k & 1) - 1) for k, one in enumerate(total)]
    expected = sum(1 << k for k in range(64) if total[k] > 0)
    text = TWENTY + " " + "豆腐 " * times
    assert value(text, profile) == expected


BICYCLES = """
链条 轮胎 刹车 车把 车座 脚踏 花鼓 辐条 内胎 气门 飞轮 牙盘 前叉 后轮 螺丝 扳手 补胎 打气 润滑 调速
车架 车铃 车锁 挡泥 尾灯 头盔 骑行 坡道 变速 中轴 轴承 黄油 拆卸 安装 校正 松动 异响 磨损 更换 试骑
"""
LUNCHES = """
米饭 面条 青菜 豆芽 鸡蛋 牛奶 水果 餐盘 勺子 食堂 菜单 营养 午休 班级 家长 厨师 采购 留样 消毒 排队
馒头 包子 豆浆 紫菜 冬瓜 番茄 土豆 牛肉 鸡腿 酸奶 苹果 香蕉 口味 分量 剩菜 打饭 值日 餐桌 洗手 卫生
"""


@pytest.mark.parametrize("name", ["default", "words"])
def test_one_filler_word_does_not_drown_the_rest(name: str) -> None:
    """280 times the same word is damped, in the fingerprint and in the cosine."""
    profile = preset(name)
    one, other = (" ".join(["暂无"] * 280 + words.split()) for words in (BICYCLES, LUNCHES))
    a, b = reference_fingerprint(one, profile), reference_fingerprint(other, profile)
    assert a is not None
    assert b is not None
    assert hamming_distance(a[0], b[0]) > 11 or hamming_distance(a[1], b[1]) > 14
    assert similarity(one, other, Measure.COSINE, profile) < 0.85


def test_text_form_keeps_leading_zeros() -> None:
    """A value reads as whole words of four digits, and the text of a fingerprint has no sign."""
    assert to_words(0x00000000000A00FF) == (0, 0, 0x000A, 0x00FF)
    for text in SENTENCES:
        assert len(to_hex(value(text), 64)) == 16


def sentences(count: int) -> list[str]:
    """Different sentences of 12 to 30 words from a list of 2,000."""
    rng = random.Random(20)
    syllables = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "el", "or")]
    vocabulary = sorted({rng.choice(syllables) + rng.choice(syllables) + rng.choice(syllables) for _ in range(3000)})[
        :2000
    ]
    return list(dict.fromkeys(" ".join(rng.choices(vocabulary, k=rng.randint(12, 30))) for _ in range(count)))


@pytest.mark.parametrize("width", [64, 128])
def test_all_bits_are_alive(width: int) -> None:
    """4,000 sentences: hardly any equal values, no constant bit, no half that copies the other."""
    profile = WORDS.with_options(bits=width, halves=1, ngram=1)
    texts = sentences(4000)
    assert len(texts) == 4000
    found = [fingerprint_of_tokens(text.split(), profile) for text in texts]
    values = [one[0] for one in found if one is not None]
    assert len(values) == 4000
    assert len(set(values)) >= 3990
    for k in range(width):
        assert 0.3 <= sum(one >> k & 1 for one in values) / len(values) <= 0.7
    half = width // 2
    assert sum(one >> half == one & ((1 << half) - 1) for one in values) == 0
    agreement = [half - (one >> half ^ one & ((1 << half) - 1)).bit_count() for one in values]
    assert abs(sum(agreement) / len(agreement) / half - 0.5) < 0.1


def test_halves_are_independent() -> None:
    """The two halves of the default agree in half of their bits, for one-gram texts too."""
    found = [reference_fingerprint(text, DEFAULT) for text in [*sentences(200), "ok", "no", "好", "abc"]]
    assert all(values is not None and 12 <= hamming_distance(*values) <= 52 for values in found)


def test_features_of_each_half() -> None:
    """Features are counted, in order of first occurrence."""
    assert features_of("ababa ab", DEFAULT, 0) == Counter(["abab", "baba", "aba ", "ba a", "a ab"])
    assert list(features_of("abcab", ONE.with_options(ngram=1))) == ["a", "b", "c"]


def test_stop_at_weight_zero() -> None:
    """A text whose features all weigh nothing has no fingerprint."""
    profile = PROFILES["manual"]
    assert reference_fingerprint("the 的", profile) is None
    assert reference_fingerprint("the ferry", profile) == reference_fingerprint("ferry", profile)
