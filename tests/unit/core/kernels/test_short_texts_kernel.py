"""Walking the chains of features: each earlier text with a common feature once, in pieces of any size."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from simhash_es.core.kernels.short_texts import walk_postings

SETS = st.lists(st.sets(st.integers(0, 8), max_size=5), min_size=1, max_size=12)


class Chains:
    """Short texts with the features they are found by."""

    def __init__(self, sets: list[set[int]]) -> None:
        self.indptr = np.concatenate([[0], np.cumsum([len(s) for s in sets])]).astype(np.int64)
        self.tokens = np.array([token for s in sets for token in sorted(s)], np.int32)
        self.owners = np.repeat(np.arange(len(sets), dtype=np.int32), np.diff(self.indptr))
        self.heads, self.links = np.zeros(10, np.int32), np.zeros(len(self.tokens) + 1, np.int32)
        self.stamps = np.zeros(len(sets) + 1, np.int32)

    def walk(self, numbers: list[int], *, insert: bool, room: int) -> list[set[int]]:
        asked, answers, start = np.array(numbers, np.int64), [], 0
        while start < len(asked):
            found, ends = np.full(room, -1, np.int32), np.zeros(len(asked), np.int64)
            done = walk_postings(
                asked, start, self.indptr, self.tokens, self.heads, self.links, self.owners, self.stamps, insert, ends,
                found,
            )  # fmt: skip
            begin = 0
            for end in ends[start:done].tolist():
                piece = found[begin:end].tolist()
                assert len(set(piece)) == len(piece)
                answers.append(set(piece))
                begin = end
            room += done == start  # one answer alone needs more
            start = done
        return answers


@given(SETS, st.integers(1, 20), st.sets(st.integers(0, 11)))
@example([{1, 2}, {1, 2}, {2}, {1}, set()], 1, {1})
def test_earlier_texts_with_a_common_feature(sets: list[set[int]], room: int, strangers: set[int]) -> None:
    """Inserting as it goes, each text meets those before it; strangers (-1) meet nobody and are met by nobody."""
    numbers = [-1 if i in strangers else i for i in range(len(sets))]
    answers = Chains(sets).walk(numbers, insert=True, room=room)
    known = [i for i in numbers if i >= 0]
    expected = [{j for j in known if j < i and sets[j] & sets[i]} if i >= 0 else set() for i in numbers]
    assert answers == expected


@given(SETS, st.integers(1, 5))
def test_asking_does_not_insert(sets: list[set[int]], room: int) -> None:
    """Texts that are only asked for are not met by later ones."""
    chains, half = Chains(sets), len(sets) // 2
    chains.walk(list(range(half)), insert=True, room=room)
    chains.stamps[:] = 0
    answers = chains.walk(list(range(half, len(sets))), insert=False, room=room)
    assert answers == [{j for j in range(half) if sets[j] & sets[i]} for i in range(half, len(sets))]
