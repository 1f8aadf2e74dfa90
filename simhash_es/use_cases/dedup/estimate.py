"""What lies ahead, measured on a sample of the rows before the work begins."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from simhash_es.core.bits import UInt64Array
from simhash_es.core.layout import Layout, Limits, distances, matches
from simhash_es.core.verify import IntArray
from simhash_es.errors import BudgetExceeded

SAMPLE_ROWS = 256
SAMPLE_PAIRS = 1 << 26  # so many pairs are counted at most: about half a second
NANOSECONDS_PER_COMPARED_BYTE = 6.0  # features of one text made and looked up
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


def estimate(
    lanes: UInt64Array, rows: IntArray, layout: Layout, limits: Limits, *, text_bytes: int, n_all: int, workers: int
) -> Estimate:
    """Count the candidates of a sample and scale up.

    Args:
        lanes: ``(n, L)`` fingerprints by row number.
        rows: Numbers of the distinct rows.
        layout: Widths of the halves.
        limits: Distance limits.
        text_bytes: All normal forms together; 0 when fingerprints alone decide.
        n_all: Rows in memory, copies included.
        workers: Threads.
    """
    n = len(rows)
    memory = BASE_BYTES + BYTES_PER_ROW * n_all
    if n < 2:
        return Estimate(0.0, 0.0, 0.0, memory)
    values = lanes[rows]
    sample = values[np.linspace(0, n - 1, max(1, min(n, SAMPLE_ROWS, SAMPLE_PAIRS // n))).astype(np.int64)]
    began = time.perf_counter()
    hits = sum(int(matches(distances(one, values, layout), limits).sum()) - 1 for one in sample)
    scan = (time.perf_counter() - began) / (len(sample) * n)
    pairs = hits / len(sample) * n / 2
    per_text = text_bytes / max(1, n_all)
    search = min(scan / 4, 2e-9) * n * n / 2 / workers
    verify = 2 * pairs * per_text * NANOSECONDS_PER_COMPARED_BYTE * 1e-9 / workers
    return Estimate(pairs, 2 * pairs if text_bytes else 0.0, min(search, 1e-4 * n) + verify, memory)
