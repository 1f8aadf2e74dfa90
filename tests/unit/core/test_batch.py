"""Fingerprints in batches equal the readable reference, whatever the batch and the thread."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import mmh3
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from simhash_es.core.batch import Fingerprinter, TextBlock, join_tokens, pack_texts
from simhash_es.core.bits import from_lanes, n_lanes
from simhash_es.core.cleaning import clean
from simhash_es.core.idf import IdfTable
from simhash_es.core.normal_form import NormalForm, normal_form, repair_surrogates
from simhash_es.core.presets import preset
from simhash_es.core.profile import Cleaning, Profile
from simhash_es.core.reference import features_of, reference_fingerprint
from simhash_es.core.tokenizers import tokenize
from simhash_es.core.word_weights import WordWeights

DEFAULT, WORDS = preset("default"), preset("words")
WORDS_AND_SPACES = ["the ", "ferry", " at six", "今天的菜市场", "卖新鲜竹笋", "，", "。", "!", " ", "\u3000", "\n"]
ODDITIES = ["é", "e\u0301", "Ａ", "①", "の", "한국", "\ud83d", "\U00020000", "\u200b", "\U000f0000", "42", "１２", "ok"]
MARKUP = ["https://a.org/x?y=1 ", "<b>bold</b>", "~", "a_b", "C++"]
PIECES = st.sampled_from(WORDS_AND_SPACES + ODDITIES + MARKUP)
TEXTS = st.lists(st.lists(PIECES, max_size=14).map("".join) | st.text(max_size=30), max_size=6)

COMPILED = {
    "default": DEFAULT,
    "words": WORDS,
    "characters": preset("characters"),
    "rjieba": DEFAULT.with_options(tokenizer="rjieba"),
    "jieba": DEFAULT.with_options(tokenizer="jieba"),
    "128 bits": DEFAULT.with_options(bits=128),
    "two of 128 bits": DEFAULT.with_options(bits=128, halves=2),
    "words at 128 bits": WORDS.with_options(bits=128),
    "three halves, vote 2": DEFAULT.with_options(halves=3, vote=2),
    "sixteen halves": DEFAULT.with_options(halves=16),
    "tf": DEFAULT.with_options(weights="tf"),
    "uniform": WORDS.with_options(weights="uniform"),
    "long grams": DEFAULT.with_options(ngram="9/32,32/1"),
    "grams of words": WORDS.with_options(ngram="3/1,4"),
    "seed": DEFAULT.with_options(seed=123_456),
    "punctuation kept": DEFAULT.with_options(normal_form=NormalForm(punctuation=False)),
    "words, punctuation kept": WORDS.with_options(normal_form=NormalForm(punctuation=False)),
    "spaces kept": DEFAULT.with_options(normal_form=NormalForm(chinese_spaces=False)),
    "cleaning": DEFAULT.with_options(cleaning=Cleaning(html=True, urls=True, digits=True, patterns=("fer+y",))),
    "stop words": WORDS.with_options(cleaning=Cleaning(stop_words=("the", "新鲜", "OK"))),
}
BY_REFERENCE = {
    "guide": preset("guide"),
    "compat-simhash": preset("compat-simhash"),
    "48 bits": DEFAULT.with_options(bits=48),
    "100 bits": DEFAULT.with_options(bits=100),
    "sha1": DEFAULT.with_options(hash="sha1"),
    "md5 words": WORDS.with_options(hash="md5"),
    "stop words of characters": DEFAULT.with_options(cleaning=Cleaning(stop_words=("the", "新鲜"))),
    "tf-idf": WORDS.with_options(weights="tf-idf", idf=IdfTable(n_documents=10, frequencies={"ferry": 3, "the": 10})),
    "manual": WORDS.with_options(weights="manual", word_weights=WordWeights((("ferry", 5000),), default=0)),
    "custom": Profile.custom(name="halves", tokenizer=lambda text: [text[:3], text[3:]]),
}
PROFILES = COMPILED | BY_REFERENCE


def values(profile: Profile, texts: Sequence[str]) -> list[tuple[int, ...] | None]:
    made = Fingerprinter(profile).batch(texts)
    step = n_lanes(profile.width)
    rows = [tuple(from_lanes(row[i : i + step]) for i in range(0, len(row), step)) for row in made.lanes.tolist()]
    assert made.lanes.shape == (len(texts), profile.n_lanes)
    return [row if found else None for row, found in zip(rows, made.found.tolist(), strict=True)]


@pytest.mark.parametrize("name", PROFILES)
def test_equals_reference(name: str) -> None:
    """All presets and kinds of options give the values of the reference, ``None`` where it gives none."""
    profile = PROFILES[name]

    @given(TEXTS)
    @example(["", " ", "!!!", "\ud83d", "ok", "a", "中", "ab cd", "the the the the"])
    @example(["today 今天", "今天 today", "e\u0301\u0323 x", "x" * 400, "中" * 400])
    def check(texts: list[str]) -> None:
        assert values(profile, texts) == [reference_fingerprint(text, profile) for text in texts]

    check()


def test_private_use_planes_in_words() -> None:
    """A private character beyond U+3FFFF, where punctuation is kept, is no Chinese word of its own."""
    profile = PROFILES["words, punctuation kept"]
    assert values(profile, ["0\U000f0000"]) == [reference_fingerprint("0\U000f0000", profile)]


@pytest.mark.parametrize("name", PROFILES)
def test_compiled_where_it_is_expected(name: str) -> None:
    """Kernels serve murmur3 of 64 and 128 bits with counted weights; the rest goes by the reference."""
    assert Fingerprinter(PROFILES[name]).is_compiled == (name in COMPILED)


@given(TEXTS)
def test_what_comes_with_the_values(texts: list[str]) -> None:
    """Normal forms, their digests, and the number of features, of each text."""
    made = Fingerprinter(DEFAULT).batch(texts)
    forms = [normal_form(text) for text in texts]
    assert [made.normal.text(i) for i in range(len(made.normal))] == forms
    assert made.n_features.tolist() == [features_of(text, DEFAULT).total() for text in texts]
    assert [tuple(row) for row in made.digests.tolist()] == [
        mmh3.hash64(form.encode(), 0, x64arch=True, signed=False) for form in forms
    ]


@given(TEXTS, st.sampled_from(["cleaning", "punctuation kept", "spaces kept"]))
def test_normal_form_is_that_of_the_profile(texts: list[str], name: str) -> None:
    """Texts are compared after the profile's own cleaning and steps."""
    profile = PROFILES[name]
    made = Fingerprinter(profile).batch(texts)
    expected = [normal_form(clean(repair_surrogates(text), profile.cleaning), profile.normal_form) for text in texts]
    assert [made.normal.text(i) for i in range(len(texts))] == expected


@given(TEXTS, st.data())
def test_split_into_batches_is_irrelevant(texts: list[str], data: st.DataObject) -> None:
    """The same values whether texts come together, one by one, or in between."""
    maker = Fingerprinter(DEFAULT)
    cut = data.draw(st.integers(0, len(texts)))
    whole = maker.batch(texts)
    parts = [maker.batch(part) for part in (texts[:cut], texts[cut:])]
    single = [maker.batch([text]) for text in texts]
    for pieces in (parts, single):
        for name in ("lanes", "found", "n_features", "digests"):
            empty = getattr(whole, name)[:0]
            joined = np.concatenate([empty, *(getattr(piece, name) for piece in pieces)])
            assert np.array_equal(joined, getattr(whole, name)), name


@pytest.mark.parametrize("name", ["default", "words", "stop words", "md5 words"])
def test_threads_are_irrelevant(name: str) -> None:
    """One maker, used by several threads at once on texts of very different lengths, gives what one thread gives."""
    maker = Fingerprinter(PROFILES[name])
    texts = [f"text {i} " + "ferry 今天的菜市场 " * (i * 7919 % 97) for i in range(120)]
    lots = [texts[i : i + 3] for i in range(0, len(texts), 3)]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(maker.batch, lots))
    for lot, made in zip(lots, together, strict=True):
        alone = Fingerprinter(PROFILES[name]).batch(lot)
        assert np.array_equal(made.lanes, alone.lanes)
        assert np.array_equal(made.digests, alone.digests)


@pytest.mark.parametrize("name", ["default", "words", "guide"])
def test_no_texts(name: str) -> None:
    """No text at all is a batch of none."""
    made = Fingerprinter(PROFILES[name]).batch([])
    assert made.lanes.shape == (0, PROFILES[name].n_lanes)
    assert len(made.normal) == len(made.found) == len(made.digests) == 0


def test_results_do_not_share_memory() -> None:
    """A later batch does not change what an earlier one has given."""
    maker = Fingerprinter(DEFAULT)
    first = maker.batch(["the ferry leaves at six"])
    kept = (first.lanes.copy(), first.normal.text(0))
    maker.batch(["something else entirely, and longer than the one before it"])
    assert np.array_equal(first.lanes, kept[0])
    assert first.normal.text(0) == kept[1]


def test_long_text_after_short_ones() -> None:
    """Work space grows with the longest text, and long texts of one character are no trouble."""
    maker = Fingerprinter(DEFAULT)
    texts = ["a", "b" * 10_000, "中" * 50_000, "z"]
    for text in texts:
        assert maker.batch([text]).found[0]
    for text in texts[:2]:
        assert tuple(maker.batch([text]).lanes[0].tolist()) == reference_fingerprint(text, DEFAULT)


@given(TEXTS, st.sampled_from([WORDS, COMPILED["stop words"], COMPILED["jieba"], COMPILED["rjieba"]]))
def test_tokens_joined(texts: list[str], profile: Profile) -> None:
    """Tokens joined by single spaces are those of the tokenizer."""
    forms = [normal_form(text) for text in texts]
    block: TextBlock = join_tokens(pack_texts([form.encode() for form in forms]), profile)
    assert [block.text(i).split() for i in range(len(block))] == [tokenize(form, profile) for form in forms]
    assert all("  " not in block.text(i) for i in range(len(block)))
