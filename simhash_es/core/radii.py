"""Planner of the neighbour-word search: which radius each 16-bit word gets, by what it costs on the values at hand.

Two values within k bits of each other have, for any radii r_i with sum(r_i + 1) >= k + 1, at least one word i in which
they differ in at most r_i bits. A radius of -1 leaves the word out.

Source: general pigeonhole principle, J. Qin et al., "GPH: Similarity Search in Hamming Space", ICDE 2018, section 3.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from simhash_es.core.bits import WORD_BITS
from simhash_es.core.layout import Layout, Limits

Counts = npt.NDArray[np.int64]
Sums = npt.NDArray[np.float32]

N_VALUES = 1 << WORD_BITS
LEFT_OUT = -1
MAX_RADIUS = 3  # radius 4 has 2,517 neighbours: on a word of real text that is never cheaper than a scan
PAIR_COST = 0.12  # one popcount of 64 bits in a block of eight, in nanoseconds
BUCKET_COST = 3.0  # finding the rows of one word value, in nanoseconds


@cache
def neighbour_masks(radius: int) -> npt.NDArray[np.uint16]:
    """All 16-bit masks with at most ``radius`` bits, fewest bits first: 1, 17, 137, 697 masks for radius 0 to 3."""
    found = [
        sum(1 << bit for bit in chosen)
        for size in range(radius + 1)
        for chosen in itertools.combinations(range(WORD_BITS), size)
    ]
    return np.array(found, np.uint16)  # stays writeable: kernels are compiled for writeable arrays only


N_MASKS = tuple(len(neighbour_masks(radius)) for radius in range(MAX_RADIUS + 1))


def neighbour_sums(counts: npt.NDArray[np.int64]) -> Sums:
    """For each radius 0..3 and word value, how many rows have a word value within the radius.

    Bit after bit the rows of the flipped value move up by one radius, which is 48 vector steps in place of
    697 look-ups a value.

    Args:
        counts: (65536,) rows of each word value.

    Returns:
        (4, 65536) float32 (exact up to 2**24, close enough for a cost above that).
    """
    shells = np.zeros((MAX_RADIUS + 1, N_VALUES), np.float32)
    shells[0] = counts
    for bit in range(WORD_BITS):
        flipped = shells.reshape(MAX_RADIUS + 1, -1, 2, 1 << bit)[:, :, ::-1, :].reshape(shells.shape)
        shells[1:] += flipped[:-1]
    return np.cumsum(shells, axis=0, dtype=np.float32)


@dataclass(frozen=True, slots=True)
class HalfPlan:
    """How one half is searched.

    Attributes:
        half: Index of the half.
        limit: Largest accepted distance in bits.
        radii: Radius of each word, -1 for a word left out; ``None`` for a scan of everything.
        candidates: Expected number of pairs whose bits are counted.
        nanoseconds: Estimated time on one core.
    """

    half: int
    limit: int
    radii: tuple[int, ...] | None
    candidates: float
    nanoseconds: float

    @property
    def is_scan(self) -> bool:
        """True if every pair is counted."""
        return self.radii is None

    def is_complete(self) -> bool:
        """True if no pair within the limit can be missed."""
        return self.radii is None or sum(radius + 1 for radius in self.radii) >= self.limit + 1

    def explain(self) -> str:
        """One line for people."""
        name = f"half {self.half + 1}, distance <= {self.limit}: "
        if self.radii is None:
            return name + f"every pair counted ({self.candidates:,.0f})"
        words = ", ".join(
            f"word {i + 1} within {r}" if r >= 0 else f"word {i + 1} left out" for i, r in enumerate(self.radii)
        )
        total = sum(radius + 1 for radius in self.radii)
        return name + f"{words}; {self.candidates:,.0f} pairs counted; complete up to distance {total - 1}"


@dataclass(frozen=True, slots=True)
class JoinPlan:
    """How a join searches: one plan for each half that must be searched.

    Attributes:
        halves: Plans, cheapest first.
        n_pairs: Number of all pairs, for comparison.
    """

    halves: tuple[HalfPlan, ...]
    n_pairs: int

    @property
    def candidates(self) -> float:
        """Expected number of pairs whose bits are counted."""
        return sum(plan.candidates for plan in self.halves)

    @property
    def nanoseconds(self) -> float:
        """Estimated time on one core."""
        return sum(plan.nanoseconds for plan in self.halves)

    def explain(self) -> str:
        """Lines for people: what is searched, at what cost, and up to which distance nothing is missed."""
        share = self.candidates / self.n_pairs if self.n_pairs else 0.0
        lines = [plan.explain() for plan in self.halves]
        lines.append(f"{share:.2%} of {self.n_pairs:,} pairs counted, about {self.nanoseconds / 1e9:.2f} s on one core")
        return "\n".join(lines)


def cheapest_radii(costs: Sequence[Sequence[float]], limit: int) -> tuple[int, ...] | None:
    """The complete radii of least total cost, by dynamic programming over the words.

    Args:
        costs: For each word the cost of radius 0, 1, 2, ...; leaving a word out costs nothing.
        limit: Distance up to which no pair may be missed.

    Returns:
        One radius a word, -1 where it is left out; ``None`` if no choice is complete.
    """
    best: dict[int, tuple[float, tuple[int, ...]]] = {limit + 1: (0.0, ())}
    for word in costs:
        reached: dict[int, tuple[float, tuple[int, ...]]] = {}
        for needed, (spent, radii) in best.items():
            for radius, cost in enumerate((0.0, *word), start=LEFT_OUT):
                left = max(0, needed - radius - 1)
                offer = (spent + cost, (*radii, radius))
                if left not in reached or offer < reached[left]:
                    reached[left] = offer
        best = reached
    return best[0][1] if 0 in best else None


def plan_half(
    half: int, limit: int, counts: Counts, others: Counts | None, n_lanes: int, visit_cost: float = BUCKET_COST
) -> HalfPlan:
    """Choose between neighbour words and a scan for one half.

    Args:
        half: Index of the half.
        limit: Largest accepted distance in bits.
        counts: (words, 65536) rows of each word value in the set that asks.
        others: The same for the set that is searched; ``None`` for a self-join, where each pair is counted once.
        n_lanes: Lanes of the half, 1 or 2.
        visit_cost: Nanoseconds to find the rows of one word value.
    """
    share = 0.5 if others is None else 1.0
    searched = counts if others is None else others
    n, m = float(counts[0].sum()), float(searched[0].sum())
    scan = HalfPlan(half, limit, None, share * n * m, PAIR_COST * n_lanes * share * n * m)
    visits = [visit_cost * share * n * count for count in N_MASKS]
    at_least = cheapest_radii([visits] * len(counts), limit)
    if at_least is None or sum(visits[radius] for radius in at_least if radius >= 0) >= scan.nanoseconds:
        return scan
    pairs = [
        [share * float(total) for total in (neighbour_sums(theirs) * ours).sum(axis=1)]
        for ours, theirs in zip(counts, searched, strict=True)
    ]
    costs = [[PAIR_COST * n_lanes * x + visit for x, visit in zip(word, visits, strict=True)] for word in pairs]
    radii = cheapest_radii(costs, limit)
    assert radii is not None  # the same words were enough above
    used = [(word, radius) for word, radius in enumerate(radii) if radius >= 0]
    total = sum(costs[word][radius] for word, radius in used)
    found = HalfPlan(half, limit, radii, sum(pairs[word][radius] for word, radius in used), total)
    return found if total < scan.nanoseconds else scan


def plan_join(
    layout: Layout,
    limits: Limits,
    counts: Sequence[Counts],
    others: Sequence[Counts] | None,
    *,
    visit_cost: float = BUCKET_COST,
) -> JoinPlan:
    """Choose the halves to search and how.

    Any H - vote + 1 halves will do, because every match is within the limit of one of them; the cheapest are taken.

    Args:
        layout: Widths of the halves.
        limits: Which pairs match.
        counts: For each half (words, 65536) rows of each word value.
        others: The same for the set that is searched; ``None`` for a self-join.
        visit_cost: Nanoseconds to find the rows of one word value.
    """
    plans = [
        plan_half(
            half,
            limits.distances[half],
            counts[half],
            None if others is None else others[half],
            len(layout.lanes(half)),
            visit_cost,
        )
        for half in range(layout.n_halves)
    ]
    chosen = sorted(plans, key=lambda plan: (plan.nanoseconds, plan.half))[: limits.n_retrieval]
    n = int(counts[0][0].sum())
    n_pairs = n * (n - 1) // 2 if others is None else n * int(others[0][0].sum())
    return JoinPlan(tuple(chosen), n_pairs)
