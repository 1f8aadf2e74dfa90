"""Groups around keepers equal a plain greedy loop, whatever the blocks and the workers; there are no chains."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from simhash_es.core import grouping
from simhash_es.core.batch import FingerprintBatch, Fingerprinter
from simhash_es.core.bits import UInt64Array
from simhash_es.core.bucket_search import half_table
from simhash_es.core.grouping import Assignment, KeeperGrouping, group_unverified
from simhash_es.core.layout import Layout, Limits, distances, matches
from simhash_es.core.limits import SHORT_FEATURES
from simhash_es.core.presets import DEFAULT
from simhash_es.core.profile import Profile
from simhash_es.core.short_texts import ShortTexts
from simhash_es.core.similarity import Criterion, Measure, parse_criterion
from simhash_es.core.verify import IntArray, Verification, Verifier
from simhash_es.use_cases.in_memory import BlockTexts

LAYOUT = Layout((64, 64))
WORDS = [f"word{i}" for i in range(80)] + ["竹笋", "菜市场", "图书馆", "闭馆", "新鲜", "周一"]
Near = Callable[[int, int], bool]


def clustered_texts(n: int, seed: int, *, shortest: int = 3, longest: int = 60) -> list[str]:
    """Texts around some bases, with up to six words of each changed."""
    chance = random.Random(seed)
    bases = [chance.choices(WORDS, k=chance.randrange(shortest, longest)) for _ in range(max(2, n // 8))]
    made = []
    for _ in range(n):
        text = list(chance.choice(bases))
        for _ in range(chance.randrange(7)):
            text[chance.randrange(len(text))] = chance.choice(WORDS)
        made.append(" ".join(text))
    return made


def clustered_lanes(n: int, seed: int, *, n_lanes: int, flips: int = 6) -> UInt64Array:
    """Random values with some bits of a few bases flipped, exact copies among them."""
    chance = np.random.default_rng(seed)
    lanes = chance.integers(0, 1 << 64, (max(2, n // 8), n_lanes), np.uint64)[chance.integers(0, max(2, n // 8), n)]
    for _ in range(flips):
        bit = np.uint64(1) << chance.integers(0, 64, lanes.shape, np.uint64)
        lanes ^= bit * chance.integers(0, 2, lanes.shape, np.uint64)
    return lanes


def greedy(order: Sequence[int], older: Sequence[int], n: int, is_near: Near) -> list[int]:
    """Visit rows in order: each joins the first keeper that it is near, older ones first, or becomes one."""
    keepers, keeper = list(older), [-1] * n
    for row in older:
        keeper[row] = row
    for row in order:
        keeper[row] = next((k for k in keepers if is_near(row, k)), row)
        if keeper[row] == row:
            keepers.append(row)
    return keeper


class Case:
    """Texts with their fingerprints, and what the criteria say about pairs of them."""

    def __init__(self, texts: list[str], criteria: tuple[Criterion, ...], limits: Limits, profile: Profile = DEFAULT):
        self.made: FingerprintBatch = Fingerprinter(profile).batch(texts)
        self.lanes, self.n = self.made.lanes, len(texts)
        self.layout, self.limits = Layout(profile.layout_widths), limits
        self.criteria = criteria
        self.is_short = self.made.n_features < SHORT_FEATURES
        left, right = np.divmod(np.arange(self.n * self.n), self.n)
        passed, similarity = self.verifier().verdicts(left, right)
        within = matches(distances(self.lanes[left], self.lanes[right], self.layout), limits)
        self.passed, self.within = passed.reshape(self.n, self.n), within.reshape(self.n, self.n)
        self.similarity = similarity.reshape(self.n, self.n)

    def verifier(self, workers: int = 1) -> Verifier:
        return Verifier(Verification(self.criteria), BlockTexts(self.made.normal), workers=workers)

    def is_near(self, a: int, b: int, *, short: bool = False) -> bool:
        is_candidate = self.within[a, b] or (short and self.is_short[a] and self.is_short[b])
        return bool(is_candidate and self.passed[a, b])

    def grouped(
        self, order: Sequence[int], older: Sequence[int] = (), *, workers: int = 1, short: float | None = None
    ) -> Assignment:
        verifier = self.verifier(workers)
        docs = np.flatnonzero(self.is_short)
        found = KeeperGrouping(
            self.lanes,
            self.layout,
            self.limits,
            verifier,
            workers=workers,
            short=None if short is None else ShortTexts(verifier, docs, short),
        )
        found.add_keepers(np.array(older, np.int64))
        found.visit(np.array(order, np.int64))
        return found.assignment


CRITERIA = [("cosine:0.8",), ("jaccard:0.6", "containment:0.7"), ("edit:0.8",), ("cosine:0.7", "edit:0.75")]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("names", CRITERIA, ids=" ".join)
def test_equals_a_greedy_loop(names: tuple[str, ...], seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Verified groups of clustered texts, in any visiting order, over several blocks, with older keepers or without."""
    monkeypatch.setattr(grouping, "BLOCK_ROWS", 29)
    case = Case(clustered_texts(160, seed), tuple(map(parse_criterion, names)), Limits((16, 20)))
    order = np.random.default_rng(seed).permutation(case.n).tolist()
    older = order[:25] if seed % 2 else []
    expected = greedy(order[len(older) :], older, case.n, case.is_near)
    for workers in (1, 3):
        found = case.grouped(order[len(older) :], older, workers=workers)
        assert found.keeper.tolist() == expected
        members = [row for row in range(case.n) if expected[row] not in (-1, row)]
        assert [found.similarity[row] for row in members] == [case.similarity[row, expected[row]] for row in members]
    assert 0 < len(members) < case.n


@pytest.mark.parametrize("names", [("cosine:0.85",), ("cosine:0.6", "edit:0.5")], ids=" ".join)
@pytest.mark.parametrize("seed", range(4))
def test_short_texts_join_whatever_their_distance(
    names: tuple[str, ...], seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Short texts join the first keeper that meets the criteria, near by fingerprint or not."""
    monkeypatch.setattr(grouping, "BLOCK_ROWS", 31)
    criteria = tuple(map(parse_criterion, names))
    texts = clustered_texts(150, seed, longest=18)
    case = Case(texts, criteria, Limits((4, 4)))
    assert 20 < case.is_short.sum() < case.n
    order = np.random.default_rng(seed).permutation(case.n).tolist()
    older = order[:20] if seed % 2 else []
    expected = greedy(order[len(older) :], older, case.n, lambda a, b: case.is_near(a, b, short=True))
    found = case.grouped(order[len(older) :], older, short=criteria[0].threshold)
    assert found.keeper.tolist() == expected
    assert expected != greedy(order[len(older) :], older, case.n, case.is_near)


@pytest.mark.parametrize(
    ("widths", "limits"),
    [
        ((64,), Limits((5,))),
        ((64, 64), Limits((6, 8))),
        ((64, 64), Limits((3, 3), vote=1)),
        ((64, 64, 64), Limits((6, 6, 6), vote=2)),
        ((128,), Limits((11,))),
        ((128, 128), Limits((12, 12))),
        ((64, 64), Limits((0, 0))),
        ((64, 64), Limits((64, 64))),
        ((64,), Limits((64,))),
    ],
)
@pytest.mark.parametrize("block_rows", [64, 4096])
def test_fingerprints_alone(
    widths: tuple[int, ...], limits: Limits, block_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without verification the limits alone decide: one value, two, votes, and 128 bits."""
    monkeypatch.setattr(grouping, "BLOCK_ROWS", block_rows)
    layout = Layout(widths)
    lanes = clustered_lanes(400, seed=len(widths), n_lanes=layout.n_lanes)
    near = matches(distances(lanes[:, None, :], lanes[None, :, :], layout), limits)
    order = np.random.default_rng(2).permutation(len(lanes)).tolist()
    expected = greedy(order[40:], order[:40], len(lanes), lambda a, b: bool(near[a, b]))
    for workers in (1, 4):
        found = KeeperGrouping(lanes, layout, limits, None, workers=workers)
        found.add_keepers(np.array(order[:40], np.int64))
        found.visit(np.array(order[40:], np.int64))
        assert found.assignment.keeper.tolist() == expected
        assert np.isnan(found.assignment.similarity).all()


def test_more_keepers_than_are_scanned() -> None:
    """The same when there are so many keepers that they are searched by neighbour words."""
    lanes, limits = clustered_lanes(9000, seed=1, n_lanes=2, flips=5), Limits((3, 5))
    keepers: list[int] = []
    expected = np.arange(len(lanes))
    for row in range(len(lanes)):
        near = np.flatnonzero(matches(distances(lanes[row], lanes[keepers], LAYOUT), limits)) if keepers else []
        if len(near):
            expected[row] = keepers[near[0]]
        else:
            keepers.append(row)
    assert 2048 < len(keepers) < 8000
    found = KeeperGrouping(lanes, LAYOUT, limits, None, workers=2)
    found.visit(np.arange(len(lanes)))
    assert np.array_equal(found.assignment.keeper, expected)


def test_many_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    """More candidates than are held at once are worked off in pieces."""
    monkeypatch.setattr(grouping, "BLOCK_ROWS", 50)
    monkeypatch.setattr(grouping, "CAPACITY", 64)
    case = Case(clustered_texts(200, 3), (Criterion(Measure.COSINE, 0.9),), Limits((64, 64)))
    order = list(range(case.n))
    assert case.grouped(order).keeper.tolist() == greedy(order, [], case.n, case.is_near)


@pytest.mark.parametrize("seed", range(5))
def test_no_chains(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A member always meets the limits and the criteria with its keeper, and keepers never with an earlier keeper."""
    monkeypatch.setattr(grouping, "BLOCK_ROWS", 40)
    case = Case(clustered_texts(200, seed + 50), (Criterion(Measure.COSINE, 0.75),), Limits((14, 18)))
    order = np.random.default_rng(seed).permutation(case.n).tolist()
    found = case.grouped(order)
    place = {row: i for i, row in enumerate(order)}
    keepers = [row for row in range(case.n) if found.keeper[row] == row]
    for row in range(case.n):
        keeper = int(found.keeper[row])
        assert found.keeper[keeper] == keeper
        if keeper != row:
            assert case.is_near(row, keeper)
            assert place[keeper] < place[row]
            assert not any(case.is_near(row, k) for k in keepers if place[k] < place[keeper])
    assert not any(case.is_near(a, b) for a in keepers for b in keepers if a != b)


def test_chain_of_fingerprints_is_not_swallowed() -> None:
    """Thirty values, each two bits from the one before: only those near the first one join it."""
    value, lanes = 0, np.zeros((30, 1), np.uint64)
    for step in range(30):
        lanes[step] = value
        value |= 0b11 << 2 * step
    found = KeeperGrouping(lanes, Layout((64,)), Limits((3,)), None)
    found.visit(np.arange(30))
    assert found.assignment.keeper.tolist() == [step - step % 2 for step in range(30)]
    assert found.assignment.distances(lanes, Layout((64,))).max() == 2


def test_texts_are_loaded_before_they_are_read() -> None:
    """Rows to be compared are named before their texts are read: the keepers of earlier blocks."""
    case = Case(clustered_texts(60, 1), (Criterion(Measure.COSINE, 0.8),), Limits((16, 20)))
    named: list[int] = []
    found = KeeperGrouping(
        case.lanes, case.layout, case.limits, case.verifier(), before_verifying=lambda rows: named.extend(rows.tolist())
    )
    older = np.arange(30)
    found.add_keepers(older)
    found.visit(np.arange(30, 60))
    expected = greedy(range(30, 60), range(30), 60, case.is_near)
    assert found.assignment.keeper.tolist() == expected
    assert {keeper for keeper in expected[30:] if keeper < 30} <= set(named)


def test_distances_to_keepers() -> None:
    """The distance of each row to its keeper, 0 for keepers."""
    lanes = np.array([[0, 0], [0b111, 0b1], [1 << 63, 0]], np.uint64)
    assignment = Assignment(np.array([0, 0, 2]), np.array([np.nan, 0.9, np.nan]))
    assert assignment.distances(lanes, LAYOUT).tolist() == [[0, 0], [3, 1], [0, 0]]


def test_nothing_to_visit() -> None:
    """No rows, and a block in which all rows have joined earlier keepers, are no trouble."""
    lanes = np.zeros((3, 2), np.uint64)
    found = KeeperGrouping(lanes, LAYOUT, Limits((3, 3)), None)
    found.visit(np.zeros(0, np.int64))
    assert found.assignment.keeper.tolist() == [-1, -1, -1]
    found.add_keepers(np.array([0]))
    found.visit(np.array([1, 2]))
    assert found.assignment.keeper.tolist() == [0, 0, 0]


def test_progress_counts_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Progress is reported block by block and adds up to the rows visited."""
    monkeypatch.setattr(grouping, "BLOCK_ROWS", 7)
    lanes = clustered_lanes(30, 1, n_lanes=2)
    done: list[int] = []
    KeeperGrouping(lanes, LAYOUT, Limits((3, 3)), None).visit(np.arange(30), progress=done.append)
    assert done == [7, 7, 7, 7, 2]


def test_one_block_without_verification() -> None:
    """The kernel on one block, as the reference does it."""
    lanes = clustered_lanes(120, 4, n_lanes=2)
    limits = Limits((5, 7))
    joined, similarity = group_unverified(lanes, half_table(LAYOUT, limits), limits.vote)
    near = matches(distances(lanes[:, None, :], lanes[None, :, :], LAYOUT), limits)
    positions: IntArray = joined
    assert positions.tolist() == greedy(range(120), [], 120, lambda a, b: bool(near[a, b]))
    assert np.isnan(similarity).all()
