from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simhash_es.core import bits
from simhash_es.core.layout import Layout, Limits, distances, matches, popcount, popcount_by_bytes
from simhash_es.errors import InvalidOption


@given(st.integers(1, 128), st.data())
def test_words_are_those_of_the_bit_module(width: int, data: st.DataObject) -> None:
    """The words read from the lanes equal ``bits.to_words`` of the value, for every width."""
    value = data.draw(st.integers(0, (1 << width) - 1))
    layout = Layout((width,))
    row = bits.to_lanes(value, width)
    words = tuple(row[place.lane] >> place.shift & place.mask for place in layout.words(0))
    assert words == bits.to_words(value, width)
    assert sum(place.width for place in layout.words(0)) == width


def test_lanes_of_the_halves_follow_each_other() -> None:
    """Halves lie side by side, each with as many lanes as it needs."""
    layout = Layout((64, 65, 1))
    assert layout.n_lanes == 4
    assert [list(layout.lanes(half)) for half in range(3)] == [[0], [1, 2], [3]]
    assert layout.words(1)[0].lane == 1
    assert layout.words(1)[0].width == 1
    assert {place.lane for place in layout.words(1)[1:]} == {2}


@pytest.mark.parametrize("widths", [(), (0,), (129,), (64, -1)])
def test_impossible_widths_are_refused(widths: tuple[int, ...]) -> None:
    """A half has 1 to 128 bits and there is at least one."""
    with pytest.raises(InvalidOption):
        Layout(widths)


@pytest.mark.parametrize(
    "lanes",
    [
        np.zeros((3, 1), np.uint64),
        np.zeros((3, 2), np.int64),
        np.zeros(2, np.uint64),
        np.array([[0, 1 << 15]], np.uint64),
    ],
)
def test_rows_that_do_not_fit_are_refused(lanes: np.ndarray) -> None:
    """Another shape, another type or a value wider than its half is an error, not a wrong answer."""
    with pytest.raises(InvalidOption):
        Layout((64, 15)).rows(lanes)


def test_limits_from_zero_to_the_width_are_accepted() -> None:
    """0 and the width itself are legal limits; the vote is all halves unless told."""
    limits = Limits((0, 15))
    limits.check(Layout((64, 15)))
    assert limits.vote == 2
    assert list(limits.retrieval_halves) == [0]
    assert list(Limits((3, 3, 3), 2).retrieval_halves) == [0, 1]


@pytest.mark.parametrize("limits", [(16,), (3, 3)])
def test_limits_must_fit_the_layout(limits: tuple[int, ...]) -> None:
    """A limit above the width, or one limit too many, is refused with the figure in the message."""
    with pytest.raises(InvalidOption, match=r"above the width|distance limits"):
        Limits(limits).check(Layout((15,)))


@pytest.mark.parametrize(("limits", "vote"), [((-1,), 0), ((3,), 2), ((3, 3), -1), ((), 0)])
def test_impossible_limits_are_refused(limits: tuple[int, ...], vote: int) -> None:
    """Negative limits and votes that no pair can win are refused."""
    with pytest.raises(InvalidOption):
        Limits(limits, vote)


@given(st.integers(0, (1 << 127) - 1), st.integers(0, (1 << 127) - 1), st.integers(0, 1), st.integers(0, 1))
def test_distances_count_the_bits_of_each_half(x: int, y: int, p: int, q: int) -> None:
    """Each half is counted by itself, over both of its lanes."""
    layout = Layout((127, 1))
    a = np.array([(*bits.to_lanes(x, 127), p)], np.uint64)
    b = np.array([(*bits.to_lanes(y, 127), q)], np.uint64)
    assert distances(a, b, layout).tolist() == [[bits.hamming_distance(x, y), p ^ q]]


def test_both_ways_of_counting_bits_agree() -> None:
    """The table used with NumPy 1 gives what NumPy 2 gives."""
    values = np.array([[0, 1], [(1 << 64) - 1, 1 << 63]], np.uint64)
    assert popcount(values).tolist() == popcount_by_bytes(values).tolist() == [[0, 1], [64, 1]]


def test_a_vote_needs_enough_halves() -> None:
    """A pair matches as soon as the wanted number of halves is within its limit."""
    found = np.array([[3, 9, 9], [3, 3, 9], [4, 4, 4], [0, 0, 0]], np.uint8)
    assert matches(found, Limits((3, 3, 3), 2)).tolist() == [False, True, False, True]
