"""Changing single settings of a profile, as the command line does."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from simhash_es.core.idf import IdfTable
from simhash_es.core.normal_form import NormalForm
from simhash_es.core.profile import (
    CUSTOM,
    DEFAULT_HALVES,
    MAX_HALVES,
    SEGMENTING,
    Cleaning,
    Half,
    HashFunction,
    Profile,
    Tokenizer,
    TokenizerFunction,
    Weighting,
)
from simhash_es.core.profile_parts import check_range, parse_tokenizer, parse_weighting
from simhash_es.core.user_dictionary import UserDictionary
from simhash_es.core.word_weights import WordWeights
from simhash_es.errors import InvalidOption

# Half A, the one that is searched, from pairs of words: unrelated texts lie 31 of 64 bits apart (by single words: 23 to
# 26). Half B, which votes, from single words. Within 11 and 14 bits they find .98 / .92 of the pairs of Chinese laws /
# English sections with Jaccard >= 0.8, and join 3e-7 of the unrelated pairs.
TOKEN_HALVES = (Half(n=2, n_chinese=2, hash_word=0), Half(n=1, n_chinese=1, hash_word=1))


def with_options(
    profile: Profile,
    *,
    name: str | None = None,
    cleaning: Cleaning | None = None,
    normal_form: NormalForm | None = None,
    tokenizer: str | None = None,
    ngram: int | str | None = None,
    weights: str | None = None,
    hash: str | None = None,
    bits: int | None = None,
    halves: int | None = None,
    vote: int | None = None,
    seed: int | None = None,
    user_dictionary: UserDictionary | None = None,
    idf: IdfTable | None = None,
    word_weights: WordWeights | None = None,
    **functions: Any,
) -> Profile:
    """A profile with the given settings changed and all others kept; ``None`` means keep.

    Args:
        profile: What to start from.
        name: New name; without it a changed profile is called ``"default (changed)"`` and so on.
        cleaning: As in :class:`Profile`.
        normal_form: As in :class:`Profile`.
        tokenizer: As in :class:`Profile`. Between characters and words the grams change to those of the presets
            ``default`` and ``words``, unless ``ngram`` is given.
        ngram: Grams as in :func:`parse_ngrams`.
        weights: As in :class:`Profile`; tables the new weights do not use are dropped.
        hash: As in :class:`Profile`.
        bits: Width of each half, 1 to 128. Above 64 and without ``halves`` it means one value of so many bits.
        halves: 1 to 16. Half i has the grams of half i % 2 and, up to 64 bits, hash word i % 2 and seed i // 2; where
            the hash has one word only, word 0 and seed i.
        vote: How many halves must agree; all of them when the number of halves changes and this is not given.
        seed: Added to the seeds of all halves: independent fingerprints with the same features.
        user_dictionary: As in :class:`Profile`.
        idf: As in :class:`Profile`.
        word_weights: As in :class:`Profile`.
        functions: ``tokenize_with``, ``hash_with``, ``custom_hash_bits``: see :meth:`Profile.custom`.

    Raises:
        InvalidOption: A value is out of range, or two of them contradict each other.
    """
    changes: dict[str, Any] = {
        "cleaning": cleaning,
        "normal_form": normal_form,
        "tokenizer": parse_tokenizer(tokenizer) if tokenizer is not None else None,
        "weights": parse_weighting(weights) if weights is not None else None,
        "hash": hash,
        "width": bits,
        "user_dictionary": user_dictionary,
        "idf": idf,
        "word_weights": word_weights,
        **functions,
    }
    changes = {key: value for key, value in changes.items() if value is not None}
    changes |= dropped_tables(profile, changes)
    count = len(profile.halves) if halves is None else halves
    if halves is None and bits is not None and bits > 64:
        count = 1
    check_range("number of halves", count, 1, MAX_HALVES)
    base = gram_sizes(profile, changes.get("tokenizer", profile.tokenizer), ngram)
    two_words = has_two_words(profile, changes)
    keep = count == len(profile.halves) and two_words == has_two_words(profile, {})
    changes["halves"] = (
        tuple(replace(old, n=n, n_chinese=c) for old, (n, c) in zip(profile.halves, cycled(base, count), strict=True))
        if keep
        else spread_halves(cycled(base, count), two_words=two_words)
    )
    if seed:
        check_range("seed", seed, 0, 1 << 31)
        changes["halves"] = tuple(replace(half, seed=half.seed + seed) for half in changes["halves"])
    if vote is not None:
        changes["vote"] = vote
    elif count != len(profile.halves):
        changes["vote"] = count
    changed = replace(profile, **changes)
    if changed == profile and changed.vote == profile.vote:
        return profile if name is None else replace(profile, name=name)
    return replace(changed, name=name if name is not None else f"{profile.name.removesuffix(' (changed)')} (changed)")


def dropped_tables(profile: Profile, changes: dict[str, Any]) -> dict[str, Any]:
    """Tables and functions of the old profile that the new settings do not use."""
    dropped: dict[str, Any] = {}
    weights = changes.get("weights", profile.weights)
    tokenizer = changes.get("tokenizer", profile.tokenizer)
    if weights is not Weighting.TF_IDF and profile.idf is not None and "idf" not in changes:
        dropped["idf"] = None
    if weights is not Weighting.MANUAL and profile.word_weights is not None and "word_weights" not in changes:
        dropped["word_weights"] = None
    if tokenizer not in SEGMENTING and "user_dictionary" not in changes:
        dropped["user_dictionary"] = None
    if not tokenizer.startswith(CUSTOM):
        dropped["tokenize_with"] = None
    if not changes.get("hash", profile.hash).startswith(CUSTOM):
        dropped |= {"hash_with": None, "custom_hash_bits": 0}
    return dropped


def gram_sizes(profile: Profile, tokenizer: str, ngram: int | str | None) -> tuple[tuple[int, int], ...]:
    """Gram sizes (n, n_chinese) to give to the halves in turn."""
    if ngram is not None:
        return parse_ngrams(ngram)
    were_chars, are_chars = profile.tokenizer == Tokenizer.CHARS, tokenizer == Tokenizer.CHARS
    source = profile.halves
    if were_chars and not are_chars:
        source = TOKEN_HALVES
    elif are_chars and not were_chars:
        source = DEFAULT_HALVES
    return tuple((half.n, half.n_chinese) for half in source)


def parse_ngrams(ngram: int | str) -> tuple[tuple[int, int], ...]:
    """Gram sizes by half from ``5``, ``"4/3"`` (others/Chinese), or ``"4/3,5"`` (half A, half B).

    With fewer sizes than halves they are used in turn.

    Raises:
        InvalidOption: Not of this form, or a size outside 1 to 32.
    """
    sizes: list[tuple[int, int]] = []
    for part in str(ngram).split(","):
        n, slash, chinese = part.strip().partition("/")
        if not (n.isascii() and n.isdigit() and (not slash or (chinese.isascii() and chinese.isdigit()))):
            raise InvalidOption(
                f"gram sizes {ngram!r} are not understood",
                "write 5, or 4/3 (others/Chinese), or 4/3,5/5 (half A, half B)",
            )
        half = Half(n=int(n), n_chinese=int(chinese) if slash else int(n))
        sizes.append((half.n, half.n_chinese))
    return tuple(sizes)


def cycled(sizes: tuple[tuple[int, int], ...], count: int) -> list[tuple[int, int]]:
    """The first ``count`` sizes; with more halves than two, the first two sizes in turn."""
    if len(sizes) >= count:
        return list(sizes[:count])
    return [sizes[i % min(len(sizes), 2)] for i in range(count)]


def has_two_words(profile: Profile, changes: dict[str, Any]) -> bool:
    """Whether a half may take the second 64 bits of the hash."""
    name = changes.get("hash", profile.hash)
    hash_bits = changes.get("custom_hash_bits", profile.custom_hash_bits) if name.startswith(CUSTOM) else 0
    if not hash_bits:
        hash_bits = 64 if name.endswith("64") else 128
    return bool(changes.get("width", profile.width) <= 64 and hash_bits == 128)


def spread_halves(sizes: list[tuple[int, int]], *, two_words: bool) -> tuple[Half, ...]:
    """Halves with the given gram sizes and independent hashes."""
    return tuple(
        Half(n=n, n_chinese=c, hash_word=i % 2 if two_words else 0, seed=i // 2 if two_words else i)
        for i, (n, c) in enumerate(sizes)
    )


def custom_profile(
    base: Profile,
    *,
    name: str,
    tokenize_with: TokenizerFunction | None,
    hash_with: HashFunction | None,
    hash_bits: int,
    **options: Any,
) -> Profile:
    """See :meth:`simhash_es.core.profile.Profile.custom`."""
    if not name or not name.strip():
        raise InvalidOption("a custom profile needs a name", "the name stands for your function in the digest")
    if tokenize_with is None and hash_with is None:
        raise InvalidOption("a custom profile needs a tokenizer or a hash function", "give one, or use with_options")
    if tokenize_with is not None:
        options |= {"tokenizer": CUSTOM + name, "tokenize_with": tokenize_with}
    if hash_with is not None:
        options |= {"hash": CUSTOM + name, "hash_with": hash_with, "custom_hash_bits": hash_bits}
    return with_options(base, name=name, **options)
