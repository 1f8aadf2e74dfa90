"""The profiles that have a name."""

from __future__ import annotations

from simhash_es.core.normal_form import NO_NORMAL_FORM
from simhash_es.core.profile import Cleaning, Half, HashName, Profile, Tokenizer, Weighting
from simhash_es.core.profile_options import TOKEN_HALVES
from simhash_es.errors import InvalidOption

DEFAULT = Profile()

WORDS = Profile(name="words", tokenizer=Tokenizer.WORDS, halves=TOKEN_HALVES)

CHARACTERS = Profile(name="characters", halves=(Half(n=5, n_chinese=5),), vote=1)

GUIDE = Profile(
    name="guide",
    normal_form=NO_NORMAL_FORM,
    tokenizer=Tokenizer.JIEBA_RAW,
    halves=(Half(n=1, n_chinese=1),),
    weights=Weighting.TF,
    hash=HashName.MD5,
    vote=1,
)

COMPAT_SIMHASH = Profile(
    name="compat-simhash",
    cleaning=Cleaning(word_characters=True),
    normal_form=NO_NORMAL_FORM,
    halves=(Half(n=4, n_chinese=4, hash_word=1),),
    weights=Weighting.TF,
    hash=HashName.MD5,
    vote=1,
)

DESCRIPTIONS = {
    "default": "two halves of 64 bits: character 4-grams (Chinese 3) and 5-grams; the best recall measured",
    "words": "two halves of 64 bits: pairs of words and single words, Chinese cut into words; features people can read",
    "characters": "one value of 64 bits from character 5-grams; half the space, less recall",
    "guide": "the values of the guide's simhash(): jieba.cut, MD5, one count per occurrence, no normal form",
    "compat-simhash": "the values of PyPI simhash 2.1.2: lower case, word characters, 4-grams, MD5",
}

PRESETS = {profile.name: profile for profile in (DEFAULT, WORDS, CHARACTERS, GUIDE, COMPAT_SIMHASH)}


def preset(name: str) -> Profile:
    """The profile of that name.

    Raises:
        InvalidOption: There is none.
    """
    try:
        return PRESETS[name]
    except KeyError:
        raise InvalidOption(
            f"there is no preset {name!r}", f"choose one of: {', '.join(PRESETS)}; or give a profile file"
        ) from None


def presets() -> dict[str, str]:
    """Names of all presets with one line about each."""
    return dict(DESCRIPTIONS)
