"""JSON of profiles, and the words about their differences."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from simhash_es.core.idf import IdfTable
from simhash_es.core.presets import preset
from simhash_es.core.profile import Half, Profile
from simhash_es.core.profile_json import check_same_profile, describe, difference
from simhash_es.core.user_dictionary import UserDictionary
from simhash_es.core.word_weights import WordWeights
from simhash_es.errors import InvalidOption, ProfileMismatch


def test_equal_profiles_have_no_difference() -> None:
    """Nothing is said about a renamed profile."""
    assert difference(preset("default"), Profile(name="mine")) == ""


def test_difference_names_both_settings() -> None:
    """Each setting that differs stands with both values."""
    text = difference(preset("words"), preset("words").with_options(tokenizer="jieba", bits=32))
    assert text == "tokenizer is 'words' against 'jieba'; width is 64 against 32"


def test_difference_takes_stored_settings() -> None:
    """Settings from a store, also of an older version with fewer of them, can be compared."""
    stored = preset("default").settings()
    assert difference(stored, preset("default")) == ""
    del stored["unicode"]
    assert difference(stored, preset("default")) == "unicode is '(not there)' against '15.1.0'"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"tokenizer": "chars"}, "tokenizer is 'jieba' against 'chars'"),
        ({"bits": 128}, "width is 64 against 128"),
        ({"user_dictionary": UserDictionary("x", "abcd")}, "user_dictionary is '' against 'abcd'"),
    ],
)
def test_mismatch_is_one_clear_error(change: dict[str, object], said: str) -> None:
    """Another tokenizer, width or dictionary is refused, with both settings and both digests."""
    stored = preset("words").with_options(tokenizer="jieba")
    current = stored.with_options(**change)
    with pytest.raises(ProfileMismatch) as caught:
        check_same_profile(stored, current, "the store seen.sqlite")
    assert said in str(caught.value)
    assert str(caught.value).startswith("the store seen.sqlite ")
    assert (caught.value.expected, caught.value.found) == (stored.digest, current.digest)
    assert caught.value.hint


def test_same_profile_passes() -> None:
    """Another name or vote is no mismatch."""
    check_same_profile(preset("default"), Profile(name="other", vote=1), "the store")


def test_idf_table_in_memory_is_written_out() -> None:
    """Without a file the table itself is in the JSON."""
    profile = Profile(weights="tf-idf", idf=IdfTable(4, {"竹笋": 2}))  # type: ignore[arg-type]
    assert Profile.from_dict(json.loads(json.dumps(profile.to_dict()))) == profile


def test_idf_table_in_a_file_is_named(tmp_path: Path) -> None:
    """With a file the JSON has path and digest, and a changed file is refused."""
    path = tmp_path / "table.json"
    profile = Profile(weights="tf-idf", idf=IdfTable(4, {"竹笋": 2}).save(path))  # type: ignore[arg-type]
    data = json.loads(json.dumps(profile.to_dict()))
    assert set(data["idf"]) == {"path", "digest"}
    assert Profile.from_dict(data) == profile
    IdfTable(5, {"竹笋": 2}).save(path)
    with pytest.raises(InvalidOption, match="has changed"):
        Profile.from_dict(data)


def test_word_weights_are_written_out() -> None:
    """A word list travels with the profile."""
    profile = Profile(weights="manual", word_weights=WordWeights((("a\tb", 3), ("竹", 0)), 7))  # type: ignore[arg-type]
    assert Profile.from_dict(json.loads(json.dumps(profile.to_dict()))) == profile


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("format", 2, "format 2"),
        ("surprise", 1, "surprise"),
        ("digest", "00", "digest 00"),
        ("halves", [{"n": 0, "n_chinese": 1}], "n is 0"),
        ("halves", 3, "not a profile"),
        ("cleaning", {"rinse": True}, "rinse"),
    ],
)
def test_json_of_another_kind_is_refused(key: str, value: object, said: str) -> None:
    """What this version does not understand is an error, not a guess."""
    with pytest.raises(InvalidOption, match=said):
        Profile.from_dict({**preset("default").to_dict(), key: value})


def test_missing_setting_is_refused() -> None:
    """A setting left out has no silent default."""
    data = preset("default").to_dict()
    del data["width"]
    with pytest.raises(InvalidOption, match="width"):
        Profile.from_dict(data)


def test_digest_may_be_left_out() -> None:
    """A profile written by hand needs no digest."""
    data = preset("default").to_dict()
    del data["digest"]
    assert Profile.from_dict(data).halves == (Half(4, 3), Half(5, 5, 1))


def test_description_of_the_default() -> None:
    """Each stage has a line."""
    assert describe(preset("default")) == {
        "name": "default",
        "digest": preset("default").digest,
        "cleaning": "none",
        "normal form": "fold, punctuation, chinese_spaces",
        "tokenizer": "chars",
        "half A": "64 bits, 4-grams of characters (3 from a Chinese one on), hash word 0, seed 0",
        "half B": "64 bits, 5-grams of characters, hash word 1, seed 0",
        "weights": "log-tf",
        "hash": "murmur3",
        "vote": "2 of 2",
    }


def test_description_of_tables() -> None:
    """Dictionary, table and word list are named."""
    words = preset("words").with_options(bits=128, user_dictionary=UserDictionary("/d/words.txt", "abcd"))
    lines = describe(words.with_options(weights="tf-idf", idf=IdfTable(1200, {"a": 1})))
    assert lines["user dictionary"] == "/d/words.txt (digest abcd)"
    assert lines["tf-idf table"] == "in memory, 1,200 documents"
    assert lines["half A"] == "128 bits, 2-grams of tokens, both hash words, seed 0"
    assert (
        describe(words.with_options(weights="manual", word_weights=WordWeights((("a", 1),))))["word list"] == "1 words"
    )
    assert describe(preset("compat-simhash"))["cleaning"] == "word_characters"
