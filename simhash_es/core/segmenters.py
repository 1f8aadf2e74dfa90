"""The Chinese segmenters jieba and rjieba, loaded once a process, quietly, and safe to use from several threads.

jieba keeps its prefix dictionary (1.5 s to build, 0.5 s to load) in a cache file. Its own place for it is the shared
temporary folder, where the first user of a machine owns the file. Here it is the private cache folder of this package
(:mod:`simhash_es._cache`); without any writable folder the dictionary is built in memory.

jieba reports on standard error and, on some versions of Python, its import warns. Both are silenced while it loads.
"""

from __future__ import annotations

import importlib
import logging
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from simhash_es._cache import private_cache_dir
from simhash_es.core.normal_form import NormalForm, normal_form
from simhash_es.core.user_dictionary import UserDictionary

CACHE_PURPOSE = "segmenter"

Cutter = Callable[[str], Iterable[str]]

_loading = threading.RLock()
_cutters: dict[tuple[str, UserDictionary | None, NormalForm], Cutter] = {}


def jieba_cut(dictionary: UserDictionary | None, steps: NormalForm) -> Cutter:
    """``cut`` of a jieba tokenizer of our own, which ``jieba.add_word`` and the like do not touch.

    Args:
        dictionary: Extra words, put into the normal form first, as the texts are.
        steps: That normal form.
    """
    return loaded("jieba", dictionary, steps, load_jieba)


def rjieba_cut(dictionary: UserDictionary | None, steps: NormalForm) -> Cutter:
    """``cut`` of an rjieba tokenizer of our own; arguments as in :func:`jieba_cut`."""
    return loaded("rjieba", dictionary, steps, load_rjieba)


def global_jieba_cut() -> Cutter:
    """``cut`` of jieba's global tokenizer, with the words that the caller may have added to it."""
    with _loading:
        jieba = quiet_import()
        if not jieba.dt.initialized:
            initialize(jieba.dt)
        cut: Cutter = jieba.dt.cut
        return cut


def loaded(
    kind: str,
    dictionary: UserDictionary | None,
    steps: NormalForm,
    load: Callable[[list[tuple[str, int | None]]], Cutter],
) -> Cutter:
    """The cutter for these arguments, loaded by the first thread that asks."""
    key = (kind, dictionary, steps)
    cutter = _cutters.get(key)
    if cutter is None:
        with _loading:
            cutter = _cutters.get(key)
            if cutter is None:
                cutter = _cutters[key] = load(normal_words(dictionary, steps))
    return cutter


def normal_words(dictionary: UserDictionary | None, steps: NormalForm) -> list[tuple[str, int | None]]:
    """Words of the dictionary in normal form, without those of which nothing is left."""
    if dictionary is None:
        return []
    words = ((normal_form(word, steps), frequency) for word, frequency in dictionary.words())
    return [(word, frequency) for word, frequency in words if word]


def load_jieba(words: list[tuple[str, int | None]]) -> Cutter:
    """A jieba tokenizer with these words added."""
    tokenizer = quiet_import().Tokenizer()
    initialize(tokenizer)
    frequencies = add_words(tokenizer, words)
    cut: Cutter = tokenizer.cut
    return splitting(cut, frequencies)


def load_rjieba(words: list[tuple[str, int | None]]) -> Cutter:
    """An rjieba tokenizer with these words added.

    rjieba works out the frequencies that the dictionary does not state. Where two cuts are about equally likely it may
    then choose another than jieba: about one in 100,000 words of Chinese laws with 200 words added.
    """
    tokenizer = importlib.import_module("rjieba").Jieba()
    for word, stated in words:
        tokenizer.add_word(word, stated, None)
    cut: Cutter = tokenizer.cut
    return splitting(cut, {word: 1 if stated is None else stated for word, stated in words})


def add_words(tokenizer: Any, words: list[tuple[str, int | None]]) -> dict[str, int]:
    """Add words as ``Tokenizer.add_word`` does, and return their frequencies.

    Without its side effect: a word of frequency 0 would be split in every tokenizer of the process, not in this one.
    """
    frequencies: dict[str, int] = {}
    for word, stated in words:
        frequency = tokenizer.suggest_freq(word, False) if stated is None else stated
        frequencies[word] = frequency
        tokenizer.FREQ[word] = frequency
        tokenizer.total += frequency
        for end in range(1, len(word)):
            tokenizer.FREQ.setdefault(word[:end], 0)
    return frequencies


def splitting(cut: Cutter, frequencies: Mapping[str, int]) -> Cutter:
    """``cut`` with words of frequency 0 split into characters, as jieba does with what its model guesses."""
    forbidden = {word for word, frequency in frequencies.items() if frequency == 0}
    if not forbidden:
        return cut
    return lambda text: (part for token in cut(text) for part in (token if token in forbidden else (token,)))


def quiet_import() -> ModuleType:
    """Import jieba without its warnings (invalid escapes, pkg_resources), even where warnings are errors."""
    with _loading, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module("jieba")


def initialize(tokenizer: Any) -> None:
    """Load the prefix dictionary of a jieba tokenizer from or into the private cache.

    A place the caller has chosen (``tmp_dir`` or ``cache_file``) is kept.
    """
    with quiet_jieba(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if tokenizer.tmp_dir is None and tokenizer.cache_file is None:
            folder = private_cache_dir(CACHE_PURPOSE)
            if folder is None:
                tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
                tokenizer.initialized = True
                return
            tokenizer.tmp_dir = str(folder)
        tokenizer.initialize()


@contextmanager
def quiet_jieba() -> Iterator[None]:
    """Nothing from jieba's logger inside the block; a cache that cannot be written is no concern of the caller."""
    logger = logging.getLogger("jieba")
    level = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(level)
