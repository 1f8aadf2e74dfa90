"""What lies ahead, measured on a sample of the rows before the work begins."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from simhash_es.core.bits import UInt64Array
from simhash_es.core.grouping import KeeperGrouping
from simhash_es.core.layout import Layout, Limits
from simhash_es.core.neighbour_index import NeighbourIndex
from simhash_es.core.verify import IntArray, Verifier
from simhash_es.errors import BudgetExceeded

SAMPLE_ROWS = 256
PILOT_ROWS = (512, 2048)  # two sizes, to see how the comparisons of a row grow with the number of rows
PILOT_SEED = 1
SECONDS_PER_COMPARED_BYTE = 8e-9  # features of one text made and looked up
SECONDS_PER_COUNTED_PAIR = 0.13e-9  # bits counted, eight pairs at a time
SECONDS_PER_COMPARISON = 2e-6
PARALLEL_SHARE = 0.5  # of a further thread: rows of one block are compared with each other on one
BYTES_PER_ROW = 120
BASE_BYTES = 200 << 20  # interpreter, libraries, compiled kernels


@dataclass(frozen=True, slots=True)
class Estimate:
    """Expected work.

    Attributes:
        pairs: Candidate pairs within the distance limits, true ones included.
        text_reads: Texts read for verification, with repetitions.
        seconds: Time for finding and verifying them.
        memory_bytes: Peak memory of the process.
    """

    pairs: float
    text_reads: float
    seconds: float
    memory_bytes: float

    def __str__(self) -> str:
        return (
            f"expected: about {self.pairs:,.0f} candidate pairs, {self.text_reads:,.0f} text reads, "
            f"{self.memory_bytes / 1e6:,.0f} MB of memory, {self.seconds:,.0f} s"
        )

    def check(self, seconds: float | None, memory_bytes: int | None) -> None:
        """Stop if more is expected than the budget allows.

        Raises:
            BudgetExceeded: It is.
        """
        hint = "raise --budget, or narrow the work: a higher --similarity, a lower --distance, fewer files"
        if seconds is not None and self.seconds > seconds:
            raise BudgetExceeded(f"about {self.seconds:,.0f} s expected, the budget is {seconds:,.0f} s; {self}", hint)
        if memory_bytes is not None and self.memory_bytes > memory_bytes:
            raise BudgetExceeded(
                f"about {self.memory_bytes / 1e6:,.0f} MB expected, the budget is {memory_bytes / 1e6:,.0f} MB; {self}",
                hint,
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What is to be estimated.

    Attributes:
        lanes: ``(n, L)`` fingerprints by row number.
        rows: Numbers of the distinct rows.
        new_rows: Those that are not older, in visiting order: their texts are at hand.
        layout: Widths of the halves.
        limits: Distance limits.
        verifier: ``None`` when fingerprints alone decide.
        text_bytes: All normal forms together.
        n_all: Rows in memory, copies included.
        all_pairs: Whether every pair is verified, rather than rows against keepers.
        workers: Threads.
    """

    lanes: UInt64Array
    rows: IntArray
    new_rows: IntArray
    layout: Layout
    limits: Limits
    verifier: Verifier | None
    text_bytes: int
    n_all: int
    all_pairs: bool
    workers: int


def estimate(task: Task) -> Estimate:
    """Count the candidates of a sample, try the comparisons on another, and scale up."""
    n = len(task.rows)
    memory = BASE_BYTES + BYTES_PER_ROW * task.n_all
    if n < 2:
        return Estimate(0.0, 0.0, 0.0, memory)
    pairs = expected_pairs(task)
    compared = 0.0
    if task.verifier is not None:
        compared = pairs if task.all_pairs else min(pairs, expected_comparisons(task, task.verifier))
    per_text = task.text_bytes / max(1, task.n_all)
    each = SECONDS_PER_COMPARISON + 2 * per_text * SECONDS_PER_COMPARED_BYTE
    seconds = (n * n / 2 * SECONDS_PER_COUNTED_PAIR + compared * each) / (1 + PARALLEL_SHARE * (task.workers - 1))
    return Estimate(pairs, 2 * compared, seconds, memory)


def expected_pairs(task: Task) -> float:
    """Pairs within the limits, from a sample of rows counted against all."""
    n = len(task.rows)
    sample = task.rows[np.linspace(0, n - 1, min(n, SAMPLE_ROWS)).astype(np.int64)]
    index = NeighbourIndex(task.layout, task.limits)
    index.add(task.lanes[sample])
    hits, start = -len(sample), 0  # each finds itself
    lanes = task.lanes[task.rows]
    while start < n:
        found = index.candidates(lanes, start=start, workers=task.workers)
        hits, start = hits + len(found.positions), found.stop
    return hits / len(sample) * n / 2


def expected_comparisons(task: Task, verifier: Verifier) -> float:
    """Rows compared with keepers, from two small runs: copies stay at one comparison a row, unrelated rows add up."""
    n = len(task.new_rows)
    small, large = (comparisons_per_row(task, verifier, min(n, size)) for size in PILOT_ROWS)
    if n <= PILOT_ROWS[1] or small == 0 or large == 0:
        return large * n * max(1.0, n / PILOT_ROWS[1])
    growth = math.log(large / small) / math.log(PILOT_ROWS[1] / PILOT_ROWS[0])
    return float(large * (n / PILOT_ROWS[1]) ** min(1.0, max(0.0, growth)) * n)


def comparisons_per_row(task: Task, verifier: Verifier, size: int) -> float:
    """Comparisons a row when so many rows, drawn at random but always the same, are grouped."""
    drawn = np.random.default_rng(PILOT_SEED).choice(len(task.new_rows), size, replace=False)
    before = verifier.n_compared
    KeeperGrouping(task.lanes, task.layout, task.limits, verifier).visit(task.new_rows[np.sort(drawn)])
    compared, verifier.n_compared = verifier.n_compared - before, before
    return compared / max(1, size)
