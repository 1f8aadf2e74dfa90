"""Profiles as JSON, and the words that explain how two of them differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from simhash_es.core.bits import LANE_BITS
from simhash_es.core.idf import IdfTable
from simhash_es.core.normal_form import NormalForm
from simhash_es.core.profile import FORMAT_VERSION, Cleaning, Half, HashFunction, Profile, Tokenizer, TokenizerFunction
from simhash_es.core.profile_parts import jsonable
from simhash_es.core.user_dictionary import UserDictionary
from simhash_es.core.word_weights import WordWeights
from simhash_es.errors import InvalidOption, ProfileMismatch

PLAIN = ("name", "tokenizer", "width", "weights", "hash", "vote", "custom_hash_bits")
KEYS = {"format", "digest", "cleaning", "normal_form", "halves", "user_dictionary", "idf", "word_weights", *PLAIN}
ABSENT = "(not there)"


def profile_to_dict(profile: Profile) -> dict[str, Any]:
    """JSON form of a profile.

    A tf-idf table that lies in a file, and a user dictionary, are named by path and digest; a table in memory and a
    word list are written out. Functions of a custom profile are left out: their name stays.
    """
    data: dict[str, Any] = {"format": FORMAT_VERSION, "digest": profile.digest}
    data |= {name: plain(getattr(profile, name)) for name in PLAIN}
    data["cleaning"] = {name: jsonable(getattr(profile.cleaning, name)) for name in Cleaning.__dataclass_fields__}
    data["normal_form"] = {name: getattr(profile.normal_form, name) for name in NormalForm.__dataclass_fields__}
    data["halves"] = [{name: getattr(half, name) for name in Half.__dataclass_fields__} for half in profile.halves]
    if profile.user_dictionary is not None:
        data["user_dictionary"] = {"path": profile.user_dictionary.path, "digest": profile.user_dictionary.digest}
    if profile.idf is not None:
        data["idf"] = (
            {"path": profile.idf.path, "digest": profile.idf.digest} if profile.idf.path else profile.idf.to_dict()
        )
    if profile.word_weights is not None:
        data["word_weights"] = {
            "default": profile.word_weights.default,
            "entries": [list(entry) for entry in profile.word_weights.entries],
        }
    return data


def plain(value: Any) -> Any:
    """Enum members as plain strings, so that every JSON writer takes them."""
    return str(value) if isinstance(value, str) else value


def profile_from_dict(
    data: Mapping[str, Any], *, tokenize_with: TokenizerFunction | None, hash_with: HashFunction | None
) -> Profile:
    """Inverse of :func:`profile_to_dict`; the digest, if there, must come out the same.

    Raises:
        InvalidOption: Another format version, an unknown key, a value out of range, or a changed table file.
    """
    check_keys(data)
    try:
        profile = Profile(
            **{name: data[name] for name in PLAIN},
            cleaning=Cleaning(**data["cleaning"]),
            normal_form=NormalForm(**data["normal_form"]),
            halves=tuple(Half(**half) for half in data["halves"]),
            user_dictionary=UserDictionary(**data["user_dictionary"]) if data.get("user_dictionary") else None,
            idf=read_idf(data["idf"]) if data.get("idf") else None,
            word_weights=read_word_weights(data["word_weights"]) if data.get("word_weights") else None,
            tokenize_with=tokenize_with,
            hash_with=hash_with,
        )
    except (TypeError, KeyError, AttributeError, ValueError) as error:
        raise InvalidOption(f"not a profile: {error!r}", "write profiles with Profile.save") from error
    if data.get("digest", profile.digest) != profile.digest:
        raise InvalidOption(
            f"the profile states the digest {data['digest']}, its settings give {profile.digest}",
            "remove the entry 'digest' if the file was changed on purpose",
        )
    return profile


def check_keys(data: Mapping[str, Any]) -> None:
    """Refuse what this version cannot understand."""
    if not isinstance(data, Mapping):
        raise InvalidOption(f"not a profile: {type(data).__name__} instead of a JSON object")
    if data.get("format") != FORMAT_VERSION:
        raise InvalidOption(
            f"the profile has format {data.get('format')!r}, this version reads {FORMAT_VERSION}",
            "use the version of simhash-es that wrote it",
        )
    unknown = sorted(set(data) - KEYS)
    missing = sorted(({"cleaning", "normal_form", "halves", *PLAIN}) - set(data))
    if unknown or missing:
        raise InvalidOption(
            f"not a profile: unknown keys {unknown}, missing keys {missing}", "write profiles with Profile.save"
        )


def read_idf(data: Mapping[str, Any]) -> IdfTable:
    """The table, from its file when it has one."""
    if "path" not in data:
        return IdfTable.from_dict(data)
    table = IdfTable.load(data["path"])
    if table.digest != data["digest"]:
        raise InvalidOption(
            f"the tf-idf table {data['path']} has changed: digest {table.digest}, the profile names {data['digest']}",
            "restore the file, or make a new profile",
        )
    return table


def read_word_weights(data: Mapping[str, Any]) -> WordWeights:
    """The word list, from the profile itself."""
    return WordWeights(tuple((str(word), int(units)) for word, units in data["entries"]), int(data["default"]))


def describe(profile: Profile) -> dict[str, str]:
    """The settings in words, for people: label to text, in the order of the stages."""
    cleaning, steps = profile.cleaning, profile.normal_form
    taken = [name for name in Cleaning.__dataclass_fields__ if getattr(cleaning, name)]
    lines = {
        "name": profile.name,
        "digest": profile.digest,
        "cleaning": ", ".join(taken) or "none",
        "normal form": ", ".join(name for name in NormalForm.__dataclass_fields__ if getattr(steps, name)) or "none",
        "tokenizer": profile.tokenizer,
    }
    if profile.user_dictionary is not None:
        lines["user dictionary"] = f"{profile.user_dictionary.path} (digest {profile.user_dictionary.digest})"
    lines |= {f"half {chr(ord('A') + i)}": describe_half(half, profile) for i, half in enumerate(profile.halves)}
    lines["weights"] = str(profile.weights)
    if profile.idf is not None:
        lines["tf-idf table"] = f"{profile.idf.path or 'in memory'}, {profile.idf.n_documents:,} documents"
    if profile.word_weights is not None:
        lines["word list"] = f"{len(profile.word_weights.entries):,} words"
    lines["hash"] = profile.hash
    lines["vote"] = f"{profile.vote} of {len(profile.halves)}"
    return lines


def describe_half(half: Half, profile: Profile) -> str:
    """Such as ``64 bits, 4-grams of characters (3 from a Chinese one on), hash word 0, seed 0``."""
    items = "characters" if profile.tokenizer == Tokenizer.CHARS else "tokens"
    chinese = f" ({half.n_chinese} from a Chinese one on)" if half.n_chinese != half.n else ""
    word = "both hash words" if profile.width > LANE_BITS else f"hash word {half.hash_word}"
    return f"{profile.width} bits, {half.n}-grams of {items}{chinese}, {word}, seed {half.seed}"


def flat(settings: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Settings as pairs (dotted name, value)."""
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def difference(a: Profile | Mapping[str, Any], b: Profile | Mapping[str, Any]) -> str:
    """How two profiles differ, setting by setting; empty when their values may be compared.

    Args:
        a: A profile, or what :meth:`Profile.settings` gave when it was stored.
        b: The same.

    Returns:
        Such as ``"tokenizer is 'jieba' against 'chars'; width is 64 against 128"``.
    """
    left = dict(flat(a.settings() if isinstance(a, Profile) else a))
    right = dict(flat(b.settings() if isinstance(b, Profile) else b))
    names = [*left, *(name for name in right if name not in left)]
    return "; ".join(
        f"{name} is {left.get(name, ABSENT)!r} against {right.get(name, ABSENT)!r}"
        for name in names
        if left.get(name, ABSENT) != right.get(name, ABSENT)
    )


def check_same_profile(stored: Profile, current: Profile, where: str) -> None:
    """Refuse to compare fingerprints of two profiles.

    Args:
        stored: Profile that made the fingerprints at hand.
        current: Profile in use now.
        where: Who holds the stored ones, as the start of a sentence: ``"the store seen.sqlite"``.

    Raises:
        ProfileMismatch: Their digests differ; the message names both settings.
    """
    if stored.digest == current.digest:
        return
    raise ProfileMismatch(
        f"{where} was made with another profile (stored against current): {difference(stored, current)}",
        "use the stored profile, or make all fingerprints anew with the current one",
        expected=stored.digest,
        found=current.digest,
    )
