from __future__ import annotations

import itertools
import os

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from simhash_es.core import join
from simhash_es.core.bits import UInt64Array, to_lanes
from simhash_es.core.copies import PairBlock, fold_copies
from simhash_es.core.join import cross_join, hottest_words, plan_self_join, self_join
from simhash_es.core.layout import Layout, Limits, distances, matches
from simhash_es.core.radii import HalfPlan, JoinPlan
from simhash_es.errors import InvalidOption

Found = dict[tuple[int, int], tuple[int, ...]]


@pytest.fixture
def kernels_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Send even the smallest sets through the compiled search."""
    monkeypatch.setattr(join, "SMALL_ROWS", 0)


def collect(blocks: list[PairBlock]) -> Found:
    """All pairs with their distances; a pair that comes twice fails the test."""
    found: Found = {}
    for block in blocks:
        for i, j, bits in zip(block.i.tolist(), block.j.tolist(), block.distances.tolist(), strict=True):
            assert (i, j) not in found
            found[i, j] = tuple(bits)
    return found


def brute_force(a: UInt64Array, b: UInt64Array, layout: Layout, limits: Limits, *, is_self: bool) -> Found:
    """Every pair counted one row at a time."""
    found: Found = {}
    for i, row in enumerate(a):
        bits = distances(row, b, layout)
        for j in np.flatnonzero(matches(bits, limits)).tolist():
            if not is_self or i < j:
                found[i, j] = tuple(bits[j].tolist())
    return found


def random_rows(n: int, layout: Layout, kind: str, seed: int) -> UInt64Array:
    """Random, clustered, or skewed values, with zero, the largest value, the sign bit and copies among them."""
    rng = np.random.default_rng(seed)
    columns = []
    for width in layout.widths:
        value = rng.integers(0, 2, (n, width))
        if kind == "clustered":
            value = value[rng.integers(0, 8, n)] ^ (rng.random((n, width)) < 0.06)
        if kind == "skewed":
            value[:, : width // 2] = rng.random((n, width // 2)) < 0.03
        value[:3] = 0
        value[3:5] = 1
        value[5] = np.arange(width) == 0
        columns.append(value)
    numbers = [[int("".join(map(str, row)), 2) for row in column.tolist()] for column in columns]
    rows = [sum((to_lanes(v[i], w) for v, w in zip(numbers, layout.widths, strict=True)), ()) for i in range(n)]
    return np.array(rows, np.uint64)


LAYOUTS = [(1,), (15,), (17,), (64,), (65,), (127,), (128,), (64, 64), (17, 128), (64, 32, 16)]


@pytest.mark.usefixtures("kernels_only")
@pytest.mark.parametrize("widths", LAYOUTS)
@pytest.mark.parametrize("kind", ["random", "clustered", "skewed"])
def test_self_join_equals_brute_force_at_every_limit(widths: tuple[int, ...], kind: str) -> None:
    """For each layout and every limit from 0 to the width, exactly the matching pairs come, each once, i < j."""
    layout = Layout(widths)
    rows = random_rows(90, layout, kind, seed=sum(widths))
    for k in range(max(widths) + 1):
        limits = Limits(tuple(min(k, width) for width in widths))
        wanted = brute_force(rows, rows, layout, limits, is_self=True)
        assert collect(list(self_join(rows, layout=layout, limits=limits))) == wanted


@pytest.mark.parametrize("widths", [(64,), (128,), (65,), (64, 64), (64, 64, 64)])
@pytest.mark.parametrize("k", [0, 3, 7, 11, 15, 20])
def test_words_and_scan_find_the_same(widths: tuple[int, ...], k: int) -> None:
    """A set large enough for neighbour words gives the pairs of brute force, with one worker and with four."""
    layout, limits = Layout(widths), Limits((k,) + (min(widths[0], k + 6),) * (len(widths) - 1))
    rows = random_rows(3000, layout, "clustered", seed=k)
    one = list(self_join(rows, layout=layout, limits=limits))
    four = list(self_join(rows, layout=layout, limits=limits, workers=4))
    assert collect(one) == brute_force(rows, rows, layout, limits, is_self=True)
    assert [block.i.tolist() for block in one] == [block.i.tolist() for block in four]
    assert [block.j.tolist() for block in one] == [block.j.tolist() for block in four]


@pytest.mark.usefixtures("kernels_only")
@pytest.mark.parametrize("vote", [1, 2, 3])
@pytest.mark.parametrize("k", [0, 2, 6, 14])
def test_halves_vote(vote: int, k: int) -> None:
    """Of three halves any two may carry a pair, and it still comes once."""
    layout, limits = Layout((64, 64, 64)), Limits((k, k + 1, k + 2), vote)
    rows = random_rows(1500, layout, "clustered", seed=vote)
    rows[::2, 0] = random_rows(750, Layout((64,)), "random", seed=1)[:, 0]
    rows[::3, 1] = random_rows(500, Layout((64,)), "random", seed=2)[:, 0]
    wanted = brute_force(rows, rows, layout, limits, is_self=True)
    assert collect(list(self_join(rows, layout=layout, limits=limits, workers=2))) == wanted


def forced_plans(layout: Layout, limits: Limits) -> list[JoinPlan]:
    """Complete plans a planner might choose: words left out, uneven radii, a scan."""
    radii: list[tuple[int, ...] | None] = [None]
    for choice in itertools.product(range(-1, 4), repeat=len(layout.words(0))):
        if sum(r + 1 for r in choice) == limits.distances[0] + 1:
            radii.append(choice)
    return [JoinPlan((HalfPlan(0, limits.distances[0], choice, 0.0, 0.0),), 1) for choice in radii]


@pytest.mark.usefixtures("kernels_only")
@pytest.mark.parametrize("k", [1, 4, 9])
def test_every_complete_plan_finds_everything(k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever complete radii the planner chooses, words left out included, the pairs are the same."""
    layout, limits = Layout((48,)), Limits((k,))
    rows = random_rows(200, layout, "clustered", seed=k)
    wanted = brute_force(rows, rows, layout, limits, is_self=True)
    for plan in forced_plans(layout, limits):
        monkeypatch.setattr(join, "plan_join", lambda *_args, plan=plan: plan)
        assert collect(list(self_join(rows, layout=layout, limits=limits))) == wanted
        found = collect(list(cross_join(rows[:50], rows[50:], layout=layout, limits=limits)))
        assert found == {(i, j - 50): bits for (i, j), bits in wanted.items() if i < 50 <= j}


@pytest.mark.parametrize("small", [True, False])
@pytest.mark.parametrize(("widths", "k"), [((64, 64), 11), ((64,), 3), ((128,), 30), ((17,), 2)])
def test_cross_join_equals_brute_force(
    widths: tuple[int, ...], k: int, small: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every matching pair of the two sets comes once, copies on both sides included."""
    if not small:
        monkeypatch.setattr(join, "SMALL_ROWS", 0)
    layout, limits = Layout(widths), Limits((k,) * len(widths))
    both = random_rows(900, layout, "clustered", seed=k)
    a, b = both[::3], np.concatenate([both[1::3], both[:40]])
    for workers, with_copies in ((1, True), (4, True), (2, False)):
        found = collect(list(cross_join(a, b, layout=layout, limits=limits, workers=workers, with_copies=with_copies)))
        wanted = brute_force(a, b, layout, limits, is_self=False)
        if not with_copies:
            firsts = set(fold_copies(a).first.tolist()), set(fold_copies(b).first.tolist())
            wanted = {(i, j): bits for (i, j), bits in wanted.items() if i in firsts[0] and j in firsts[1]}
        assert found == wanted


values = st.lists(st.tuples(st.integers(0, (1 << 64) - 1), st.integers(0, 3)), max_size=12)


@given(values, values, st.integers(0, 64))
@example([((1 << 63), 0)], [(0, 0)], 1)
@example([], [(0, 0)], 64)
@settings(deadline=None)
def test_joins_of_any_values_equal_brute_force(a: list[tuple[int, int]], b: list[tuple[int, int]], k: int) -> None:
    """Property: self-join and cross-join equal brute force, with the sign bit, zero and empty sets."""
    layout, limits = Layout((64, 2)), Limits((k, 1))
    x, y = np.array(a, np.uint64).reshape(-1, 2), np.array(b, np.uint64).reshape(-1, 2)
    assert collect(list(self_join(x, layout=layout, limits=limits))) == brute_force(x, x, layout, limits, is_self=True)
    found = collect(list(cross_join(x, y, layout=layout, limits=limits)))
    assert found == brute_force(x, y, layout, limits, is_self=False)


@pytest.mark.parametrize("n", [300, 5000])
def test_copies_come_once_or_are_left_to_the_caller(n: int) -> None:
    """Equal rows are pairs at distance 0; without copies only the first row of each value is reported."""
    layout, limits = Layout((64,)), Limits((2,))
    rows = np.random.default_rng(n).integers(0, 1 << 63, (n, 1), dtype=np.uint64)
    rows[[7, 50, 200]] = rows[3]
    rows[9] = rows[3] ^ np.uint64(1)
    group = [3, 7, 9, 50, 200]
    wanted = {(i, j): (int(9 in (i, j)),) for i, j in itertools.combinations(group, 2)}
    assert collect(list(self_join(rows, layout=layout, limits=limits))) == wanted
    assert collect(list(self_join(rows, layout=layout, limits=limits, with_copies=False))) == {(3, 9): (1,)}
    copies = fold_copies(rows)
    assert copies.first[copies.group_of].tolist() == [3 if i in (7, 50, 200) else i for i in range(n)]


def test_mass_copies_stream_in_bounded_blocks() -> None:
    """Ten million pairs of equal rows come in blocks no larger than asked for."""
    rows = np.full((4500, 1), 1 << 63, np.uint64)
    total = 0
    for block in self_join(rows, layout=Layout((64,)), limits=Limits((0,)), block_pairs=1 << 18):
        assert len(block) <= 1 << 18
        assert (block.i < block.j).all()
        total += len(block)
    assert total == 4500 * 4499 // 2


def test_dense_pairs_stream_in_bounded_blocks() -> None:
    """When nearly all distinct rows match, blocks stay within their size and nothing is lost between them."""
    rows = np.arange(4096, dtype=np.uint64).reshape(-1, 1)
    layout, limits = Layout((64,)), Limits((12,))
    for workers in (1, 3):
        seen = np.zeros((4096, 4096), bool)
        for block in self_join(rows, layout=layout, limits=limits, workers=workers, block_pairs=10_000):
            assert len(block) <= 10_000
            assert not seen[block.i, block.j].any()
            seen[block.i, block.j] = True
        assert np.array_equal(seen, np.triu(np.ones_like(seen), 1))


def test_a_pair_that_shares_one_word_only_is_found() -> None:
    """At limit 3 a partner that agrees in one word is found and one at distance 4 is not; at limit 4 both are."""
    texts = ["0123456789abcdef", "0123456689aacdee", "0122456689aacdee"]
    filler = np.random.default_rng(1).integers(0, 1 << 63, (4000, 1), dtype=np.uint64)
    rows = np.concatenate([np.array([[int(text, 16)] for text in texts], np.uint64), filler])
    three = collect(list(self_join(rows, layout=Layout((64,)), limits=Limits((3,)))))
    four = collect(list(self_join(rows, layout=Layout((64,)), limits=Limits((4,)))))
    assert three == {(0, 1): (3,), (1, 2): (1,)}
    assert four == {(0, 1): (3,), (1, 2): (1,), (0, 2): (4,)}


def test_a_word_shared_by_all_rows_is_no_bottleneck() -> None:
    """With one word equal in all rows the plan leaves it out, and the pairs are still complete."""
    rng = np.random.default_rng(8)
    rows = rng.integers(0, 1 << 48, (60_000, 1), dtype=np.uint64) | np.uint64(0x1111 << 48)
    rows[1::1000] = rows[::1000] ^ np.uint64(0b101)
    layout, limits = Layout((64,)), Limits((3,))
    plan = plan_self_join(rows, layout=layout, limits=limits)
    assert plan.halves[0].radii is not None
    assert plan.halves[0].radii[0] == -1
    assert plan.candidates < 60_000 * 1000
    found = collect(list(self_join(rows, layout=layout, limits=limits, workers=2)))
    assert found == {(i, i + 1): (2,) for i in range(0, 60_000, 1000)}
    hottest = hottest_words(rows, layout, top=2)
    assert (hottest[0].half, hottest[0].word, hottest[0].value, hottest[0].count) == (0, 0, 0x1111, 60_000)
    assert hottest[1].word > 0


def test_equal_looking_arrays_are_accepted() -> None:
    """Read-only and strided input gives the same pairs as a fresh array."""
    rows = random_rows(3000, Layout((64, 64)), "clustered", seed=3)
    view = np.repeat(rows, 2, axis=0)[::2]
    view.flags.writeable = False
    layout, limits = Layout((64, 64)), Limits((4, 20))
    wanted = collect(list(self_join(rows, layout=layout, limits=limits)))
    assert wanted
    assert collect(list(self_join(view, layout=layout, limits=limits))) == wanted


def test_wrong_options_are_refused() -> None:
    """A limit above the width, a negative one or no worker is an error before any work."""
    rows = np.zeros((2, 1), np.uint64)
    with pytest.raises(InvalidOption, match="above the width"):
        next(self_join(rows, layout=Layout((64,)), limits=Limits((65,))))
    with pytest.raises(InvalidOption, match="negative"):
        Limits((-1,))
    with pytest.raises(InvalidOption, match="workers"):
        next(self_join(rows, layout=Layout((64,)), limits=Limits((3,)), workers=0))
    with pytest.raises(InvalidOption, match="fingerprints of shape"):
        next(cross_join(rows, np.zeros((2, 2), np.uint64), layout=Layout((64,)), limits=Limits((3,))))


def test_real_text_equals_brute_force() -> None:
    """On fingerprints of real text, whose words are very uneven, a sample of rows agrees with brute force."""
    path = os.environ.get("SIMHASH_ES_FINGERPRINTS")
    if path is None:
        pytest.skip("SIMHASH_ES_FINGERPRINTS names no .npy file of fingerprints")
    rows = np.load(path)[:50_000]
    layout, limits = Layout((64, 64)), Limits((11, 18))
    found = collect(list(self_join(rows, layout=layout, limits=limits, workers=2)))
    for i in range(0, len(rows), 997):
        bits = distances(rows[i], rows, layout)
        wanted = set(np.flatnonzero(matches(bits, limits)).tolist()) - {i}
        assert {b if a == i else a for a, b in found if i in (a, b)} == wanted
