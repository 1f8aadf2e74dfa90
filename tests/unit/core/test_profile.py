"""Profiles: validation, digest, equality, pickling."""

from __future__ import annotations

import inspect
import json
import pickle
import re
import subprocess
import sys
from dataclasses import FrozenInstanceError, fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simhash_es.core.idf import IdfTable
from simhash_es.core.normal_form import NormalForm
from simhash_es.core.presets import PRESETS, preset
from simhash_es.core.profile import Cleaning, Half, HashName, Profile, Tokenizer, Weighting
from simhash_es.core.user_dictionary import UserDictionary
from simhash_es.core.word_weights import WordWeights
from simhash_es.errors import InvalidOption

TABLE = IdfTable(10, {"ferry": 3})
LISTED = WordWeights((("ferry", 2048),))


def halves() -> st.SearchStrategy[Half]:
    return st.builds(
        Half,
        n=st.integers(1, 32),
        n_chinese=st.integers(1, 32),
        hash_word=st.integers(0, 1),
        seed=st.integers(0, 2**32 - 1),
    )


@st.composite
def profiles(draw: st.DrawFn) -> Profile:
    chosen = tuple(draw(st.lists(halves(), min_size=1, max_size=5)))
    return Profile(
        name=draw(st.text(max_size=5)),
        cleaning=draw(
            st.builds(
                Cleaning, html=st.booleans(), stop_words=st.tuples(st.text(max_size=3)), patterns=st.just(("a+",))
            )
        ),
        normal_form=draw(st.builds(NormalForm, fold=st.booleans(), punctuation=st.booleans())),
        tokenizer=draw(st.sampled_from([*Tokenizer, "engine:ik_smart", "custom:mine-1"])),
        halves=chosen,
        width=draw(st.integers(1, 64)),
        weights=draw(st.sampled_from([Weighting.UNIFORM, Weighting.TF, Weighting.LOG_TF])),
        hash=draw(st.sampled_from(["murmur3", "md5", "sha1", "cityhash", "xxhash"])),
        vote=draw(st.integers(1, len(chosen))),
    )


@given(profiles())
def test_json_round_trip(profile: Profile) -> None:
    """A profile survives JSON: equal, with the same digest, name and vote."""
    again = Profile.from_dict(json.loads(json.dumps(profile.to_dict())))
    assert again == profile
    assert (again.digest, again.name, again.vote) == (profile.digest, profile.name, profile.vote)


@given(profiles(), profiles())
def test_digest_follows_equality(a: Profile, b: Profile) -> None:
    """Equal digests exactly where all settings but names and vote are equal."""
    assert (a.digest == b.digest) == (replace(a, vote=1) == replace(b, vote=1))


@pytest.mark.parametrize("name", PRESETS)
def test_pickle_round_trip(name: str) -> None:
    """A profile survives pickling, for worker processes."""
    profile = preset(name)
    again = pickle.loads(pickle.dumps(profile))
    assert again == profile
    assert hash(again) == hash(profile)
    assert again.digest == profile.digest


def test_profile_is_frozen() -> None:
    """No setting can be changed in place."""
    with pytest.raises(FrozenInstanceError):
        Profile().width = 32  # type: ignore[misc]


CHANGES: dict[str, dict[str, Any]] = {
    "cleaning": {"cleaning": Cleaning(html=True)},
    "stop words": {"cleaning": Cleaning(stop_words=("the",))},
    "normal form": {"normal_form": NormalForm(punctuation=False)},
    "tokenizer": {"tokenizer": "words"},
    "gram": {"halves": (Half(4, 4), Half(5, 5, 1))},
    "seed": {"halves": (Half(4, 3, 0, 1), Half(5, 5, 1))},
    "hash word": {"halves": (Half(4, 3, 1), Half(5, 5, 1))},
    "width": {"width": 63},
    "weights": {"weights": "tf"},
    "hash": {"hash": "md5"},
    "idf": {"weights": "tf-idf", "idf": TABLE},
    "other idf": {"weights": "tf-idf", "idf": IdfTable(10, {"ferry": 4})},
    "manual": {"weights": "manual", "word_weights": LISTED},
    "dictionary": {"tokenizer": "words", "user_dictionary": UserDictionary("x", "ab")},
    "other dictionary": {"tokenizer": "words", "user_dictionary": UserDictionary("x", "cd")},
    "custom": {"tokenizer": "custom:a"},
    "custom of another name": {"tokenizer": "custom:b"},
}


def test_every_setting_changes_the_digest() -> None:
    """No two of these profiles share a digest."""
    digests = {name: Profile(**change).digest for name, change in CHANGES.items()}
    digests["default"] = Profile().digest
    assert len(set(digests.values())) == len(digests)
    assert all(re.fullmatch("[0-9a-f]{32}", digest) for digest in digests.values())


def test_names_paths_and_vote_are_no_part_of_the_digest() -> None:
    """A renamed profile, a moved dictionary and another vote leave values comparable."""
    one = Profile(name="a", tokenizer="words", user_dictionary=UserDictionary("here", "ab"), vote=1)
    other = Profile(name="b", tokenizer="words", user_dictionary=UserDictionary("there", "ab"), vote=2)
    assert one.digest == other.digest


def test_digests_of_presets_are_pinned() -> None:
    """A changed digest makes every store of every user unreadable: it changes with the format version only."""
    assert {name: profile.digest for name, profile in PRESETS.items()} == {
        "default": "7065d2906f49ebd620d51ccc56ab9448",
        "words": "5ae6253406d09775f312bb050491e221",
        "characters": "9e82be6b858bd5e8f56258d1d1d0e540",
        "guide": "9cf8daa17c91e04ffff1854a3025d140",
        "compat-simhash": "8872e54b5779b1f0a433bc3902d03d32",
    }


def test_digest_does_not_depend_on_the_hash_seed_of_python() -> None:
    """Processes with other values of PYTHONHASHSEED give the same digest."""
    script = (
        "from simhash_es.core.profile import *; from simhash_es.core.idf import IdfTable;"
        "table = IdfTable(9, {f: 1 for f in {'a', 'b', 'c', 'd', 'e'}});"
        "print(Profile(weights='tf-idf', idf=table, cleaning=Cleaning(stop_words=('x', 'y'))).digest)"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", script], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("0", "1", "17")
    }
    assert len(outputs) == 1


INVALID: list[tuple[dict[str, Any], str]] = [
    ({"width": 0}, "width"),
    ({"width": 129}, "width"),
    ({"width": 64.0}, "width"),
    ({"width": True}, "width"),
    ({"halves": ()}, "halves"),
    ({"halves": (Half(1, 1),) * 17, "vote": 1}, "halves"),
    ({"vote": 0}, "vote"),
    ({"vote": 3}, "vote"),
    ({"tokenizer": "letters"}, "letters"),
    ({"tokenizer": "engine:"}, "engine:"),
    ({"weights": "bm25"}, "bm25"),
    ({"hash": "crc32"}, "crc32"),
    ({"width": 65, "hash": "cityhash64", "halves": (Half(4, 3),), "vote": 1}, "65 bits"),
    ({"width": 65}, "hash word 1"),
    ({"hash": "xxhash64"}, "hash word 1"),
    ({"weights": "tf-idf"}, "not given"),
    ({"idf": TABLE}, "given"),
    ({"weights": "manual"}, "not given"),
    ({"word_weights": LISTED}, "given"),
    ({"user_dictionary": UserDictionary("x", "ab")}, "user dictionary"),
    ({"hash_with": len}, "hash function"),
    ({"tokenize_with": str.split}, "function"),
    ({"hash": "custom:h", "custom_hash_bits": 0}, "custom hash"),
    ({"hash": "custom:h", "custom_hash_bits": 32, "halves": (Half(4, 3),), "vote": 1}, "64 bits"),
]


@pytest.mark.parametrize(("options", "said"), INVALID, ids=[str(i) for i in range(len(INVALID))])
def test_invalid_settings_are_refused(options: dict[str, Any], said: str) -> None:
    """The message names the value, and a hint says what to do."""
    with pytest.raises(InvalidOption, match=said) as caught:
        Profile(**options)
    assert caught.value.hint


@pytest.mark.parametrize(
    "options", [{"n": 0}, {"n": 33}, {"n_chinese": 0}, {"hash_word": 2}, {"seed": -1}, {"seed": 2**32}]
)
def test_invalid_half_is_refused(options: dict[str, int]) -> None:
    """Sizes, words and seeds have limits."""
    with pytest.raises(InvalidOption, match=next(iter(options))):
        Half(**{"n": 4, "n_chinese": 3, **options})


def test_stop_words_must_be_a_sequence() -> None:
    """One string would be taken letter by letter."""
    with pytest.raises(InvalidOption, match="stop_words"):
        Cleaning(stop_words="the")  # type: ignore[arg-type]


def test_layout() -> None:
    """Widths, lanes and hash bits follow from the settings."""
    assert Profile().layout_widths == (64, 64)
    assert Profile().n_lanes == 2
    wide = Profile(width=100, halves=(Half(4, 3),), vote=1)
    assert (wide.layout_widths, wide.n_lanes, wide.hash_bits) == ((100,), 2, 128)
    assert Profile(hash="xxhash64", halves=(Half(4, 3),), vote=1).hash_bits == 64


def test_choices_are_enums_and_plain_strings() -> None:
    """Settings may be given as strings and compared with both."""
    profile = Profile(weights="tf", hash=HashName.MD5, tokenizer=Tokenizer.WORDS)  # type: ignore[arg-type]
    assert profile.weights is Weighting.TF
    assert profile.hash == "md5" == HashName.MD5
    assert type(profile.tokenizer) is str


def test_save_and_load(tmp_path: Path) -> None:
    """A profile file gives the same profile."""
    path = tmp_path / "profile.json"
    profile = preset("words").with_options(cleaning=Cleaning(stop_words=("的",)))
    profile.save(path)
    assert Profile.load(path) == profile


@pytest.mark.parametrize("content", ["", "{", "[]", "3", '{"format": 1}', '{"format": 99}'])
def test_load_refuses_other_files(tmp_path: Path, content: str) -> None:
    """A file that is no profile is one clear error."""
    path = tmp_path / "profile.json"
    path.write_text(content)
    with pytest.raises(InvalidOption):
        Profile.load(path)
    with pytest.raises(InvalidOption, match="absent"):
        Profile.load(tmp_path / "absent.json")


def test_all_fields_are_documented() -> None:
    """The docstring of Profile names each field."""
    documented = re.findall(r"^    (\w+):", inspect.cleandoc(Profile.__doc__ or ""), re.MULTILINE)
    assert documented == [field.name for field in fields(Profile)]
