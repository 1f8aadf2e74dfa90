"""Hashes of token grams in kernels equal the readable reference."""

from __future__ import annotations

import mmh3
import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from simhash_es.core.batch import pack_texts
from simhash_es.core.features import token_grams
from simhash_es.core.kernels.char_grams import HASHES, N_WORK, WINDOW
from simhash_es.core.kernels.token_grams import hash_tokens, locate_tokens
from simhash_es.core.profile import Half

TOKEN = st.text(st.sampled_from("abé中文\uf900の\U00020000\U00040000"), min_size=1, max_size=9)
TOKENS = st.lists(TOKEN | st.sampled_from(["a", "中", "ferry", "六点"]), max_size=12)
SIZES = st.integers(1, 6)


def hash_of(gram: str, half: Half) -> int:
    return int(mmh3.hash64(gram.encode(), half.seed, x64arch=True, signed=False)[half.hash_word])


def hashes_by_kernel(tokens: list[str], half: Half) -> list[int]:
    block = pack_texts(["前 文".encode(), " ".join(tokens).encode(), b"behind"])
    start, end = block.offsets[1], block.offsets[2]
    room = int(end - start) + 2
    starts, work = np.empty(room, np.int32), np.full((N_WORK, room), 77, np.uint64)
    m = locate_tokens(block.data, start, end, starts, work[WINDOW])
    assert m == len(tokens)
    lane = np.array([half.n, half.n_chinese, half.hash_word, half.seed], np.int64)
    return [int(h) for h in work[HASHES, : hash_tokens(block.data, start, end, starts, work, m, lane)]]


@given(TOKENS, SIZES, SIZES, st.integers(0, 1), st.sampled_from([0, 3]))
@example(["a"], 1, 1, 0, 0)
@example(["abcdefgh"], 1, 1, 1, 0)
@example(["中文", "a", "中"], 2, 1, 0, 0)
@example(["a", "b"], 5, 5, 0, 0)
@example([], 1, 1, 0, 0)
def test_hashes_are_those_of_the_grams(tokens: list[str], n: int, n_chinese: int, word: int, seed: int) -> None:
    """Every gram once an occurrence, in order; tokens without a whole gram are one gram; no token, no gram."""
    half = Half(n=n, n_chinese=n_chinese, hash_word=word, seed=seed)
    assert hashes_by_kernel(tokens, half) == [hash_of(gram, half) for gram in token_grams(tokens, half)]
