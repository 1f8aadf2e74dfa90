"""The store and its exports: rows a second going in and coming out, bytes a document, milliseconds a query.

    python -m benchmarks.store --english SECTIONS.jsonl.gz --chinese LAWS.jsonl.gz --rows 1000000

Fingerprints are of real text: seeded splices of three pieces of the sections each, every tenth one an earlier splice
with twelve characters cut out, and the laws as they are. Ids are eight digits in quotes. Queries are stored rows with
a bit flipped in each half; the first 20 of a kind are not timed. The price of each step of a search, from which its
planner chooses, is measured as well. ``--random`` takes random values instead of text; ``--texts`` adds a store of the
sections as they are, texts kept. The last answer of each way is compared with a count of all bits.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks import corpora
from simhash_es.backends.exports import RoaringFile
from simhash_es.backends.sqlite_store import NewRows, SeenStore
from simhash_es.backends.sqlite_store.blocks import gather_half, scan_half
from simhash_es.backends.sqlite_store.words import find_positions
from simhash_es.core.batch import BATCH_BYTES, Fingerprinter
from simhash_es.core.layout import Layout, Limits, distances, matches
from simhash_es.core.presets import DEFAULT
from simhash_es.core.query_plan import Found
from simhash_es.use_cases.export import ExportFormat, export_store

Values = npt.NDArray[np.uint64]
Search = Callable[[Values, Limits], Found]

ROWS_AT_ONCE = 20_000
LIMITS = ((3, 64), (7, 14), (11, 14), (14, 19))
WARM_QUERIES, QUERIES = 20, 100


def splices(texts: list[str], n: int) -> Iterator[str]:
    """Seeded splices of three pieces, a tenth of them edits of earlier ones."""
    random = np.random.default_rng(1)
    recent: list[str] = []
    for number in range(n):
        if number % 10 == 9:
            text = recent[random.integers(len(recent))]
            cut = int(random.integers(max(1, len(text) - 12)))
            yield text[:cut] + text[cut + 12 :]
            continue
        pieces = []
        for which in random.integers(0, len(texts), 3):
            start = int(random.integers(max(1, len(texts[which]) - 200)))
            pieces.append(texts[which][start : start + 200])
        spliced = " ".join(pieces)
        recent = [*recent[-999:], spliced]
        yield spliced


def fingerprints(texts: Iterator[str]) -> Values:
    """``(n, 2)`` of all texts that have one."""
    maker, batch, size, made = Fingerprinter(DEFAULT), [], 0, []
    for text in texts:
        batch.append(text)
        size += len(text)
        if size > BATCH_BYTES:
            found = maker.batch(batch)
            made.append(found.lanes[found.found])
            batch, size = [], 0
    found = maker.batch(batch)
    return np.concatenate([*made, found.lanes[found.found]])


def values_for(options: argparse.Namespace) -> Values:
    """As many fingerprints as asked."""
    if options.random:
        return np.random.default_rng(1).integers(0, 1 << 64, (options.rows, 2), np.uint64)
    chinese = corpora.texts(options.chinese)
    english = corpora.texts(options.english)
    n = options.rows
    return fingerprints(text for source in (chinese[: n // 10], splices(english, n)) for text in source)[:n]


def rows_of(lanes: Values, first: int, texts: list[bytes | None] | None = None) -> NewRows:
    """Rows with short ids."""
    n = len(lanes)
    return NewRows(
        lanes=lanes,
        digests=np.random.default_rng(first).integers(0, 1 << 64, (n, 2), np.uint64),
        n_features=np.full(n, 500),
        n_chars=np.full(n, 600),
        ids=[b'"%08d"' % i for i in range(first, first + n)],
        sources=["sections.jsonl"] * n,
        lines=[*range(first + 1, first + n + 1)],
        texts=texts,
    )


def fill(path: Path, lanes: Values) -> None:
    """Make a store and say what it took."""
    prepared = [rows_of(lanes[at : at + ROWS_AT_ONCE], at) for at in range(0, len(lanes), ROWS_AT_ONCE)]
    began = time.perf_counter()
    with SeenStore.open(str(path), DEFAULT) as store:
        for rows in prepared:
            store.add(rows)
        store.commit()
    taken = time.perf_counter() - began
    print(f"{len(lanes):,} rows stored, committed and closed: {len(lanes) / taken:,.0f} a second")
    print(f"store without texts: {path.stat().st_size / len(lanes):.1f} bytes a document")
    with SeenStore.open(str(path), DEFAULT, write=False) as store:
        began = time.perf_counter()
        store.load()
        print(f"all fingerprints and digests loaded in {1e3 * (time.perf_counter() - began):.0f} ms")


def add_texts(folder: Path, english: Path) -> None:
    """A store of the sections as they are, with their texts."""
    maker, path, n, n_bytes = Fingerprinter(DEFAULT), folder / "texts.sqlite", 0, 0
    texts = corpora.texts(english)
    taken = 0.0
    with SeenStore.open(str(path), DEFAULT) as store:
        for start in range(0, len(texts), 2000):
            made = maker.batch(texts[start : start + 2000])
            kept = np.flatnonzero(made.found)
            normal: list[bytes | None] = [made.normal.text(i).encode() for i in kept]
            n_bytes += sum(len(text) for text in normal if text is not None)
            began = time.perf_counter()
            store.add(rows_of(made.lanes[kept], n, normal))
            taken += time.perf_counter() - began
            n += len(kept)
        began = time.perf_counter()
        store.commit()
        taken += time.perf_counter() - began
    print(
        f"{n:,} sections with texts: {n / taken:,.0f} a second, {path.stat().st_size / n:.0f} bytes a document, "
        f"of normal forms of {n_bytes / n:.0f}"
    )


def timed(search: Search, queries: Values, limits: Limits, *, warm: int = WARM_QUERIES) -> tuple[float, Found]:
    """Median milliseconds, and the last answer."""
    taken = []
    for query in queries:
        began = time.perf_counter()
        found = search(query, limits)
        taken.append(1e3 * (time.perf_counter() - began))
    return statistics.median(taken[warm:]), found


def first_queries(path: Path, lanes: Values) -> None:
    """What the first query costs after opening, when nothing is held in memory; files are in the system's cache."""
    for distances_of_halves in LIMITS:
        taken = []
        for row in range(0, 11 * 997, 997):
            with SeenStore.open(str(path), write=False) as store:
                median, _ = timed(store.search, lanes[row % len(lanes)][None, :], Limits(distances_of_halves), warm=0)
            taken.append(median)
        print(f"within {distances_of_halves}, first query after opening: {statistics.median(taken):.1f} ms")


def search_all(ways: dict[str, Search], lanes: Values) -> None:
    """Time each way for each pair of limits, and compare the answers."""
    random = np.random.default_rng(7)
    queries = lanes[random.integers(0, len(lanes), WARM_QUERIES + QUERIES)]
    queries = queries ^ (np.uint64(1) << random.integers(0, 64, queries.shape).astype(np.uint64))
    for distances_of_halves in LIMITS:
        limits = Limits(distances_of_halves)
        answers = []
        for name, search in ways.items():
            median, found = timed(search, queries, limits)
            answers.append(found.positions.tolist())
            print(f"within {limits.distances}, {name}: {median:.2f} ms; {found.plan.explain()}")
        bits = distances(lanes, queries[-1][None, :], Layout(DEFAULT.layout_widths))
        assert all(answer == np.flatnonzero(matches(bits, limits)).tolist() for answer in answers)


def prices(store: SeenStore) -> None:
    """Nanoseconds of the steps that the planner of the store weighs."""
    database, layout, n = store._database, store.layout, len(store)
    random = np.random.default_rng(3)

    def each(work: Callable[[], object], units: int) -> float:
        taken = []
        for _ in range(9):
            began = time.perf_counter()
            work()
            taken.append(1e9 * (time.perf_counter() - began) / units)
        return statistics.median(taken)

    words = random.integers(0, 1 << 16, 137).astype(np.uint16)
    few = np.sort(random.choice(n, 1000, replace=False))
    print(f"price of a word {each(lambda: find_positions(database, 0, words), len(words)):,.0f} ns")
    print(f"price of a block {each(lambda: gather_half(database, layout, 0, few, n), len(set(few // 500))):,.0f} ns")
    print(f"price of a scanned row {each(lambda: list(scan_half(database, layout, 0, n)), n):.1f} ns, without counting")


def main() -> None:
    """Measure everything asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    corpora.add_options(parser)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--random", action="store_true", help="random values instead of text")
    parser.add_argument("--texts", action="store_true", help="also a store that keeps texts")
    options = parser.parse_args()
    lanes = values_for(options)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "seen.sqlite"
        fill(path, lanes)
        for format in ExportFormat:
            began = time.perf_counter()
            summary = export_store(str(path), str(folder / "export"), format)
            print(
                f"export {format}: {summary.bytes_per_document:.2f} bytes a document, "
                f"{time.perf_counter() - began:.1f} s"
            )
        first_queries(path, lanes)
        with SeenStore.open(str(path), write=False) as store:
            prices(store)
            search_all({"store": store.search, "roaring": RoaringFile(str(folder / "export.roaring")).search}, lanes)
        if options.texts:
            add_texts(folder, options.english)


if __name__ == "__main__":
    main()
