"""The sum of hashes in kernels equals one in plain Python with unbounded integers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from simhash_es.core.kernels.accumulate import LOG_TF, PLANES_FULL, TF, UNIFORM, accumulate, table_size

WEIGHTS = {UNIFORM: lambda tf: 1, TF: lambda tf: tf, LOG_TF: lambda tf: tf.bit_length()}
WEIGHTINGS = st.sampled_from([UNIFORM, TF, LOG_TF])
HASHES = st.integers(0, (1 << 64) - 1)
CROWDED = st.builds(lambda high, low: high << 40 | low, st.integers(0, 7), st.integers(0, 2))
"""Hashes that want the same few slots of the table."""


def expected(hashes: Sequence[int], weighting: int) -> int:
    weights = {h: WEIGHTS[weighting](tf) for h, tf in Counter(hashes).items()}
    return sum(1 << k for k in range(64) if sum(w if h >> k & 1 else -w for h, w in weights.items()) > 0)


def by_kernel(hashes: Sequence[int], weighting: int, *, room: int = 0) -> int:
    """With work tables full of what earlier texts have left there."""
    slots = table_size(max(len(hashes), room))
    keys, counts = np.full(slots, 7, np.uint64), np.full(slots, 3, np.int32)
    sums = np.full(64, -5, np.int64)
    return int(accumulate(np.array(hashes, np.uint64), len(hashes), weighting, keys, counts, sums))


@given(st.lists(HASHES | CROWDED, max_size=200), WEIGHTINGS, st.integers(0, 500))
@example([0], LOG_TF, 0)
@example([0, 0, (1 << 64) - 1], TF, 0)
@example([(1 << 64) - 1] * 64, LOG_TF, 0)
@example([1, 2], UNIFORM, 0)
def test_equals_unbounded_sum(hashes: list[int], weighting: int, room: int) -> None:
    """Any hashes with any repetitions; a tie gives 0; what stood in the work tables does not matter."""
    assert by_kernel(hashes, weighting, room=room) == expected(hashes, weighting)


@given(st.lists(CROWDED, min_size=1, max_size=300), st.randoms(use_true_random=False), WEIGHTINGS)
def test_order_is_irrelevant(hashes: list[int], order: object, weighting: int) -> None:
    """The order of the features plays no part."""
    shuffled = list(hashes)
    order.shuffle(shuffled)  # type: ignore[attr-defined] # a random.Random
    assert by_kernel(hashes, weighting) == by_kernel(shuffled, weighting)


@pytest.mark.parametrize("weighting", [UNIFORM, TF, LOG_TF])
@pytest.mark.parametrize("times", [255, 256, 280, 609, 32_768, 70_000])
def test_one_feature_very_often(times: int, weighting: int) -> None:
    """A feature that occurs hundreds or 70,000 times neither overflows nor wraps around."""
    others = [int(h) for h in np.random.default_rng(times).integers(0, 1 << 64, 20, np.uint64)]
    hashes = [*others[:10], *[0x0123456789ABCDEF] * times, *others[10:]]
    assert by_kernel(hashes, weighting) == expected(hashes, weighting)


@pytest.mark.parametrize("n", [PLANES_FULL - 1, PLANES_FULL, PLANES_FULL + 1, 2 * PLANES_FULL, 2 * PLANES_FULL + 1])
def test_full_bit_planes(n: int) -> None:
    """Where the bit planes are just full, or one more feature comes, no carry is lost."""
    assert by_kernel([(1 << 64) - 1] * n, TF) == (1 << 64) - 1
    half = [(1 << 64) - 1] * (n // 2) + [0] * (n // 2)
    assert by_kernel(half, TF) == 0
    assert by_kernel([*half, (1 << 64) - 1], TF) == (1 << 64) - 1


@pytest.mark.parametrize("n", [*range(20), 31, 32, 33, 1000])
def test_work_table_is_at_most_half_full(n: int) -> None:
    """The table has a power of two of slots, at least twice as many as features and 16 at the least."""
    slots = table_size(n)
    assert slots >= max(16, 2 * n)
    assert slots & (slots - 1) == 0
    assert slots == 16 or slots < 4 * n
