"""Fingerprints of many texts at once, by compiled kernels where they apply.

Kernels serve the hash murmur3 at 64 or 128 bits, the weights uniform, tf and log-tf, and the tokenizers chars, words,
jieba and rjieba after the normal form. Everything else goes through the readable reference, text by text. Both give the
same values.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simhash_es.core.bits import n_lanes, to_lanes
from simhash_es.core.cleaning import clean, remove_stop_words
from simhash_es.core.kernels import char_grams, murmur, token_grams
from simhash_es.core.kernels import normal_form as normal_form_kernels
from simhash_es.core.kernels.accumulate import LOG_TF, TF, UNIFORM, table_size
from simhash_es.core.normal_form import NormalForm, repair_surrogates
from simhash_es.core.profile import Cleaning, HashName, Profile, Tokenizer, Weighting
from simhash_es.core.reference import fingerprint_of_tokens, grams_of_tokens, tokens_of
from simhash_es.core.tokenizers import tokenize

BATCH_BYTES = 1 << 20
"""Text a call should get: small enough to stay in the processor's cache, large enough to make calls rare."""

WEIGHTING = {Weighting.UNIFORM: UNIFORM, Weighting.TF: TF, Weighting.LOG_TF: LOG_TF}
COMPILED_TOKENIZERS = (Tokenizer.CHARS, Tokenizer.WORDS, Tokenizer.JIEBA, Tokenizer.RJIEBA)


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Several texts in one buffer: text ``i`` is ``data[offsets[i]:offsets[i + 1]]``, UTF-8."""

    data: npt.NDArray[np.uint8]
    offsets: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def text(self, i: int) -> str:
        """Text ``i`` as a string."""
        return self.data[self.offsets[i] : self.offsets[i + 1]].tobytes().decode()


@dataclass(frozen=True, slots=True)
class FingerprintBatch:
    """Fingerprints of ``n`` texts.

    Attributes:
        lanes: ``(n, n_lanes)`` 64-bit lanes, each half right-aligned in its own, most significant lane first.
        found: ``(n,)`` False where a text has no fingerprint; its lanes are 0 then and mean nothing.
        n_features: ``(n,)`` features of the first half, repetitions included.
        normal: The texts in the normal form in which they are compared.
        digests: ``(n, 2)`` 128-bit content digest of the normal form.
    """

    lanes: npt.NDArray[np.uint64]
    found: npt.NDArray[np.bool_]
    n_features: npt.NDArray[np.int64]
    normal: TextBlock
    digests: npt.NDArray[np.uint64]


def pack_texts(texts: Sequence[bytes]) -> TextBlock:
    """UTF-8 texts in one writable buffer (one spare byte, so that it is never empty)."""
    offsets = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)), out=offsets[1:])
    data = bytearray().join(texts)
    data.append(0)
    return TextBlock(np.frombuffer(data, np.uint8), offsets)


def pack_strings(texts: Sequence[str]) -> TextBlock:
    """The same from strings, lone surrogates as U+FFFD; joined before they are encoded, which is faster."""
    try:
        data = bytearray("".join(texts).encode())
        lengths = [len(text) if text.isascii() else len(text.encode()) for text in texts]
    except UnicodeEncodeError:
        return pack_texts([encode_text(text) for text in texts])
    data.append(0)
    offsets = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return TextBlock(np.frombuffer(data, np.uint8), offsets)


def encode_text(text: str) -> bytes:
    """UTF-8, lone surrogates as U+FFFD."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return repair_surrogates(text).encode()


class Workspace(threading.local):
    """Buffers of one thread that grow and are kept: the first touch of fresh memory costs more than the work on it."""

    def __init__(self) -> None:
        self.normal = np.empty(0, np.uint8)
        self.starts = np.empty(0, np.int32)
        self.work = np.empty((char_grams.N_WORK, 0), np.uint64)
        self.keys = np.empty(0, np.uint64)
        self.counts = np.empty(0, np.int32)
        self.sums = np.empty(64, np.int64)
        self.points = np.empty(0, np.uint32)
        self.classes = np.empty(0, np.uint8)

    def fit_normal(self, n_bytes: int, longest: int) -> None:
        """Room for the normal form of so many bytes; what is not written to costs no memory."""
        needed = n_bytes * normal_form_kernels.MAX_GROWTH + 8
        if needed > len(self.normal):
            self.normal = np.empty(needed * 2, np.uint8)
        needed = longest * normal_form_kernels.MAX_GROWTH + 8
        if needed > len(self.points):
            self.points = np.empty(needed * 2, np.uint32)
            self.classes = np.empty(needed * 2, np.uint8)

    def fit_text(self, longest: int) -> None:
        """Room for the grams of a text of so many bytes."""
        if longest + 2 > len(self.starts):
            room = longest * 5 // 4 + 64
            self.starts = np.empty(room, np.int32)
            self.work = np.empty((char_grams.N_WORK, room), np.uint64)
            slots = table_size(room)
            self.keys = np.empty(slots, np.uint64)
            self.counts = np.empty(slots, np.int32)


class Fingerprinter:
    """Makes fingerprints of one profile; may be used from several threads at once.

    Args:
        profile: How to make them.

    Attributes:
        is_compiled: Whether kernels make the values; else the reference does, hundreds of times slower.
    """

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.steps = profile.normal_form if profile.normal_form.fold else NormalForm()
        self.is_compiled = is_compiled(profile)
        self._space = Workspace()
        self._lanes = lane_table(profile)

    def batch(self, texts: Sequence[str]) -> FingerprintBatch:
        """Fingerprints of several texts; best with about ``BATCH_BYTES`` of text in one call.

        Raises:
            UnsupportedFeature: The profile needs a cluster.
            MissingExtra: The library of the profile's hash is not installed.
        """
        cleaned = self.cleaned(texts)
        normal = self.normalised(cleaned)
        digests = np.empty((len(texts), 2), np.uint64)
        murmur.digest_batch(normal.data, normal.offsets, digests)
        if not self.is_compiled:
            lanes, found, n_features = by_reference(texts, self.profile)
        elif self.profile.tokenizer == Tokenizer.CHARS:
            lanes, n_features = self._run(char_grams.fingerprint_characters, normal)
            found = n_features > 0
        else:
            tokens = join_tokens(normal, self.profile)
            lanes, n_features = self._run(token_grams.fingerprint_tokens, tokens)
            found = n_features > 0
        return FingerprintBatch(lanes, found, n_features, normal, digests)

    def cleaned(self, texts: Sequence[str]) -> Sequence[str]:
        """The texts after the profile's cleaning."""
        cleaning = self.profile.cleaning
        return texts if cleaning == Cleaning() else [clean(repair_surrogates(text), cleaning) for text in texts]

    def normalised(self, texts: Sequence[str]) -> TextBlock:
        """The normal form in which texts are compared; the default one where the profile itself takes none."""
        packed = pack_strings(texts)
        self._space.fit_normal(int(packed.offsets[-1]), int(np.diff(packed.offsets).max(initial=0)))
        offsets = np.empty(len(texts) + 1, np.int64)
        flags = (normal_form_kernels.FOLD_PUNCTUATION if self.steps.punctuation else 0) | (
            normal_form_kernels.FOLD_CHINESE_SPACES if self.steps.chinese_spaces else 0
        )
        normal_form_kernels.normalise_batch(
            packed.data,
            packed.offsets,
            *normal_form_kernels.flat_tables(self.steps.punctuation),
            flags,
            self._space.points,
            self._space.classes,
            self._space.normal,
            offsets,
        )
        return TextBlock(self._space.normal[: int(offsets[-1]) + 1].copy(), offsets)

    def _run(self, fingerprint: object, block: TextBlock) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
        space = self._space
        space.fit_text(int(np.diff(block.offsets).max(initial=0)))
        lanes = np.empty((len(block), len(self._lanes)), np.uint64)
        n_features = np.empty(len(block), np.int64)
        fingerprint(  # type: ignore[operator] # kernels carry no types
            block.data,
            block.offsets,
            self._lanes,
            WEIGHTING[self.profile.weights],
            space.starts,
            space.work,
            space.keys,
            space.counts,
            space.sums,
            lanes,
            n_features,
        )
        return lanes, n_features


def is_compiled(profile: Profile) -> bool:
    """Whether the kernels can make the values of a profile."""
    return (
        profile.hash == HashName.MURMUR3
        and profile.width in (64, 128)
        and profile.weights in WEIGHTING
        and profile.normal_form.fold
        and profile.tokenizer in COMPILED_TOKENIZERS
        and not (profile.tokenizer == Tokenizer.CHARS and profile.cleaning.stop_words)
    )


def lane_table(profile: Profile) -> npt.NDArray[np.int64]:
    """One row a lane for the kernels: gram size, gram size from a Chinese character, hash word, seed."""
    rows = []
    for half in profile.halves:
        for lane in range(n_lanes(profile.width)):
            word = lane if profile.width > 64 else half.hash_word
            rows.append((half.n, half.n_chinese, word, half.seed))
    return np.array(rows, np.int64)


def join_tokens(normal: TextBlock, profile: Profile) -> TextBlock:
    """Texts that features are made of: tokens joined by single spaces, or the characters without the stop words.

    A text without Chinese is its own token text where words are what spaces part.
    """
    if profile.tokenizer == Tokenizer.CHARS:
        if not profile.cleaning.stop_words:
            return normal
        return pack_texts([remove_stop_words(normal.text(i), profile).encode() for i in range(len(normal))])
    whole = np.ones(len(normal), np.bool_)
    if profile.tokenizer == Tokenizer.WORDS and not profile.cleaning.stop_words:
        char_grams.find_chinese(normal.data, normal.offsets, whole)
        if not whole.any():
            return normal
    joined = [
        " ".join(tokenize(normal.text(i), profile)).encode()
        if whole[i]
        else normal.data[normal.offsets[i] : normal.offsets[i + 1]].tobytes()
        for i in range(len(normal))
    ]
    return pack_texts(joined)


def by_reference(
    texts: Sequence[str], profile: Profile
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.bool_], npt.NDArray[np.int64]]:
    """Lanes, whether there is a fingerprint, and number of features."""
    lanes = np.zeros((len(texts), profile.n_lanes), np.uint64)
    found = np.zeros(len(texts), np.bool_)
    n_features = np.zeros(len(texts), np.int64)
    for i, text in enumerate(texts):
        tokens = tokens_of(text, profile)
        values = fingerprint_of_tokens(tokens, profile)
        n_features[i] = len(grams_of_tokens(tokens, profile, profile.halves[0]))
        if values is not None:
            found[i] = True
            lanes[i] = [lane for value in values for lane in to_lanes(value, profile.width)]
    return lanes, found, n_features
