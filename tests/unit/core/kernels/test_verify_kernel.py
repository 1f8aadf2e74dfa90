"""Integer sums of the verification kernels: equal to counting in plain Python, one text after the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from simhash_es.core.kernels.accumulate import LOG_TF, TF, UNIFORM, table_size
from simhash_es.core.kernels.verify import DISTINCT, SQUARES, is_match, load_left, match_right, to_scores, weight_of
from simhash_es.core.layout import Layout, Limits, distances, matches
from simhash_es.core.similarity import containment, cosine, jaccard

WEIGHTS: dict[int, Callable[[int], int]] = {
    UNIFORM: lambda tf: 1,
    TF: lambda tf: tf,
    LOG_TF: lambda tf: tf.bit_length(),
}
WEIGHTINGS = st.sampled_from(list(WEIGHTS))
HASHES = st.integers(1, 12) | st.integers(1, (1 << 64) - 1) | st.sampled_from([1 << 40, 2 << 40])
FEATURES = st.lists(HASHES, max_size=60)


class Tables:
    """One text in the table, others looked up in it."""

    def __init__(self, left: Sequence[int], weighting: int) -> None:
        slots = table_size(len(left)) * 4  # larger than needed, and full of what earlier texts have left
        self.weighting = weighting
        self.keys, self.tables = np.full(slots, 5, np.uint64), np.full((3, slots), 9, np.int32)
        self.stat = np.full(2, -1, np.int64)
        hashes = np.array([*left, 3], np.uint64)
        self.mask = load_left(hashes, len(left), weighting, self.keys, self.tables, self.stat)

    def match(self, right: Sequence[int]) -> tuple[int, int]:
        hashes = np.array([*right, 3], np.uint64)
        dot, common = match_right(hashes, len(right), self.weighting, self.keys, self.tables, self.mask)
        return int(dot), int(common)


def weights(features: Sequence[int], weighting: int) -> dict[int, int]:
    return {feature: WEIGHTS[weighting](tf) for feature, tf in Counter(features).items()}


@given(FEATURES, st.lists(FEATURES, max_size=4), WEIGHTINGS)
@example([7] * 300, [[7] * 1000, [], [7]], LOG_TF)
def test_sums(left: list[int], others: list[list[int]], weighting: int) -> None:
    """Distinct features, squares, dot products and common features are exact, for one right text after another."""
    table, a = Tables(left, weighting), weights(left, weighting)
    assert table.stat.tolist() == [len(a), sum(w * w for w in a.values())]
    for right in others:
        b = weights(right, weighting)
        dot = sum(weight * b[feature] for feature, weight in a.items() if feature in b)
        assert table.match(right) == (dot, len(a.keys() & b.keys()))


@given(FEATURES, FEATURES, WEIGHTINGS)
def test_scores(left: list[int], right: list[int], weighting: int) -> None:
    """The three figures are those of the reference, to the last bit, whichever text is the left one."""
    a = {str(f): w for f, w in weights(left, weighting).items()}
    b = {str(f): w for f, w in weights(right, weighting).items()}
    expected = [cosine(a, b), jaccard(a.keys(), b.keys()), containment(a.keys(), b.keys())]
    for x, y in ((left, right), (right, left)):
        table, other = Tables(x, weighting), Tables(y, weighting)
        found = np.full(3, 7.0)
        to_scores(*table.match(y), table.stat, other.stat, found)
        assert found.tolist() == expected


@pytest.mark.parametrize("weighting", list(WEIGHTS))
def test_hash_of_zero(weighting: int) -> None:
    """A feature whose hash happens to be 0 is a feature like others."""
    table = Tables([0, 5, 5], weighting)
    assert table.stat.tolist() == Tables([9, 5, 5], weighting).stat.tolist()
    assert table.match([0, 5, 0]) == Tables([9, 5, 5], weighting).match([9, 5, 9])
    assert table.match([7]) == (0, 0)


@pytest.mark.parametrize("weighting", list(WEIGHTS))
@pytest.mark.parametrize("count", [1, 2, 3, 4, 7, 8, 255, 256, 70_000])
def test_weights(count: int, weighting: int) -> None:
    """The weight of a count, alone and as the squares of a text of one feature so many times."""
    assert weight_of(count, weighting) == WEIGHTS[weighting](count)
    assert weight_of(0, weighting) == 0
    stat = Tables([11] * count, weighting).stat
    assert stat[DISTINCT] == 1
    assert stat[SQUARES] == WEIGHTS[weighting](count) ** 2


@given(st.data())
def test_is_match(data: st.DataObject) -> None:
    """Pairs are judged by halves and vote as :func:`simhash_es.core.layout.matches` judges them."""
    widths = tuple(data.draw(st.lists(st.sampled_from([1, 16, 64, 65, 128]), min_size=1, max_size=4)))
    layout = Layout(widths)
    limits = Limits(tuple(data.draw(st.integers(0, width)) for width in widths), data.draw(st.integers(1, len(widths))))
    rows = []
    for _ in range(2):
        values = [data.draw(st.integers(0, (1 << width) - 1)) for width in widths]
        rows.append([v >> 64 * lane & (1 << 64) - 1 for v, w in zip(values, widths, strict=True)
                     for lane in reversed(range(-(-w // 64)))])  # fmt: skip
    x, y = np.array(rows, np.uint64)
    table = np.array([(layout.first_lane(h), len(layout.lanes(h)), limits.distances[h]) for h in range(len(widths))])
    assert bool(is_match(x, y, table, limits.vote)) == bool(matches(distances(x, y, layout), limits))
