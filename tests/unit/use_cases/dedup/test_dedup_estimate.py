"""The estimate before the work: of the right size, always the same, and without a trace in what follows."""

from __future__ import annotations

import numpy as np
import pytest
from dedup_running import planted_texts

from simhash_es.core.batch import Fingerprinter
from simhash_es.core.layout import Layout, Limits, distances, matches
from simhash_es.core.presets import DEFAULT
from simhash_es.core.similarity import parse_criterion
from simhash_es.core.verify import Verification, Verifier
from simhash_es.errors import BudgetExceeded
from simhash_es.use_cases.dedup.estimate import Estimate, Task, estimate
from simhash_es.use_cases.in_memory import BlockTexts

LAYOUT, LIMITS = Layout(DEFAULT.layout_widths), Limits((14, 19))


def task_of(texts: list[str], *, n_older: int = 0, verified: bool = True, all_pairs: bool = False) -> Task:
    made = Fingerprinter(DEFAULT).batch(texts)
    rows = np.flatnonzero(made.found)
    verifier = Verifier(Verification((parse_criterion("cosine:0.85"),)), BlockTexts(made.normal))
    return Task(
        lanes=made.lanes,
        rows=rows,
        new_rows=rows[rows >= n_older],
        layout=LAYOUT,
        limits=LIMITS,
        verifier=verifier if verified else None,
        text_bytes=int(made.normal.offsets[-1]),
        n_all=len(texts),
        all_pairs=all_pairs,
        workers=1,
    )


@pytest.mark.parametrize("n_groups", [10, 50, 200])
def test_pairs_are_about_right(n_groups: int) -> None:
    """Up to 256 rows the pairs are counted exactly, beyond they are near the true number."""
    task = task_of(planted_texts(n_groups, seed=n_groups))
    lanes = task.lanes
    true = (int(matches(distances(lanes[:, None], lanes[None, :], LAYOUT), LIMITS).sum()) - len(lanes)) // 2
    found = estimate(task).pairs
    if len(lanes) <= 256:
        assert found == true
    assert true / 2 <= found <= true * 2


def test_more_text_takes_longer() -> None:
    """Time grows with the length of the texts, memory with the rows; both are positive."""
    texts = planted_texts(30, seed=1)
    short, long = estimate(task_of(texts)), estimate(task_of([text + " " + text for text in texts]))
    more = estimate(task_of(texts + planted_texts(30, seed=2)))
    assert 0 < short.seconds < long.seconds
    assert 0 < short.memory_bytes < more.memory_bytes


def test_always_the_same() -> None:
    """Two estimates of one task are equal, and the count of comparisons is what it was."""
    task = task_of(planted_texts(40, seed=3))
    assert estimate(task) == estimate(task)
    assert task.verifier is not None
    assert task.verifier.n_compared == 0


@pytest.mark.parametrize("n_older", [0, 20, 10**6])
@pytest.mark.parametrize("n_groups", [0, 1, 20])
def test_any_share_of_older_rows(n_groups: int, n_older: int) -> None:
    """No rows, and only older ones, are no trouble."""
    texts = planted_texts(n_groups, seed=4)
    for all_pairs in (True, False):
        found = estimate(task_of(texts, n_older=n_older, all_pairs=all_pairs))
        assert found.pairs >= 0
        assert found.seconds >= 0


def test_fingerprints_alone_read_no_text() -> None:
    """Without verification no text is read; with all pairs, both texts of each pair are."""
    texts = planted_texts(20, seed=5)
    assert estimate(task_of(texts, verified=False)).text_reads == 0
    everything = estimate(task_of(texts, all_pairs=True))
    assert everything.text_reads == 2 * everything.pairs
    assert estimate(task_of(texts)).text_reads <= everything.text_reads


def test_texts_of_older_rows_are_not_read() -> None:
    """Texts that are not at hand yet are left alone: a pilot run over them would take them for empty."""
    texts = planted_texts(20, seed=6)
    task = task_of(texts, n_older=40)
    assert task.verifier is not None
    before = task.verifier.scores(np.array([50]), np.array([3])).tolist()
    fresh = task_of(texts, n_older=40)
    assert fresh.verifier is not None
    bounds = fresh.verifier.texts.bounds
    whole = bounds.copy()
    bounds[:80] = 0
    estimate(fresh)
    bounds[:] = whole
    assert fresh.verifier.scores(np.array([50]), np.array([3])).tolist() == before


def test_budget() -> None:
    """What is above the budget is refused with both figures; no budget allows anything."""
    ahead = Estimate(pairs=1e6, text_reads=2e6, seconds=90.0, memory_bytes=3e9)
    ahead.check(None, None)
    ahead.check(90.0, 3_000_000_000)
    with pytest.raises(BudgetExceeded, match="about 90 s expected, the budget is 60 s"):
        ahead.check(60.0, None)
    with pytest.raises(BudgetExceeded, match="about 3,000 MB expected, the budget is 1,000 MB"):
        ahead.check(None, 10**9)
    assert str(ahead) == "expected: about 1,000,000 candidate pairs, 2,000,000 text reads, 3,000 MB of memory, 90 s"
