"""Speed of the exact joins against a compiled peer and against a simpler search, both sides in one run.

    python benchmarks/join.py planted --peer-path /tmp/peer
    python benchmarks/join.py text --corpus SECTIONS.jsonl.gz --other SCRIPT.py
    python benchmarks/join.py index --fingerprints FINGERPRINTS.npy

``planted``: 1M random 64-bit values, a tenth of them copies with three bits flipped, k = 3. The peer is simhash-pybind;
it shares its import name with another package, so install it apart: pip install --target /tmp/peer simhash-pybind

``text``: fingerprints of real text at k = 11, k2 = 18. Texts are spliced, seeded, from three pieces of the corpus' own
(field "text" of JSON lines); a tenth repeats an earlier splice with twelve characters cut out. ``--save`` keeps the
fingerprints, ``--fingerprints`` reads them (uint64, n by 2). ``--other`` is a script with a function join(fingerprints,
k, k2) that returns pairs of row numbers.

``index``: the same fingerprints at k = 11, k2 = 14, added to a growing index in blocks, each block asked for first.

Ratios are what counts: times depend on the machine and its load. Kernels are compiled before the clock runs.
"""

from __future__ import annotations

import argparse
import gzip
import importlib.util
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from simhash_es.core.batch import Fingerprinter
from simhash_es.core.bits import UInt64Array
from simhash_es.core.join import plan_self_join, self_join
from simhash_es.core.layout import Layout, Limits
from simhash_es.core.neighbour_index import NeighbourIndex
from simhash_es.core.presets import DEFAULT

ONE = Layout((64,))
TWO = Layout((64, 64))
PEER = """
import sys, time
import numpy as np
import simhash
values = set(np.load(sys.argv[1])[:, 0].tolist())
started = time.perf_counter()
pairs = simhash.find_all(values, int(sys.argv[2]), 3)
print(len(pairs), time.perf_counter() - started)
"""


def planted(n: int, seed: int) -> UInt64Array:
    """(n, 1) random values; the last tenth are earlier ones with up to three bits flipped."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 1 << 64, n, dtype=np.uint64)
    copies = values[rng.integers(0, n - n // 10, n // 10)]
    for _ in range(3):
        copies ^= np.uint64(1) << rng.integers(0, 64, len(copies), dtype=np.uint64)
    values[n - len(copies) :] = copies
    return values.reshape(-1, 1)


def splices(texts: list[str], n: int, seed: int) -> Iterator[str]:
    """n texts of three pieces each; every tenth is one of the last thousand with twelve characters missing."""
    rng = np.random.default_rng(seed)
    recent: list[str] = []
    for number in range(n):
        if number % 10 == 9:
            text = recent[int(rng.integers(len(recent)))]
            cut = int(rng.integers(len(text)))
            text = text[:cut] + text[cut + 12 :]
        else:
            pieces = []
            for source in rng.integers(0, len(texts), 3):
                size, whole = int(rng.integers(60, 400)), texts[source]
                start = int(rng.integers(0, max(1, len(whole) - size)))
                pieces.append(whole[start : start + size])
            text = " ".join(pieces)
        recent = [*recent[-999:], text]
        yield text


def text_fingerprints(options: argparse.Namespace) -> UInt64Array:
    """Fingerprints from a file, or of spliced texts."""
    if options.fingerprints is not None:
        stored: UInt64Array = np.load(options.fingerprints)[: options.rows]
        return stored
    if options.corpus is None:
        sys.exit("give --fingerprints FILE.npy or --corpus FILE.jsonl.gz")
    with gzip.open(options.corpus) as lines:
        texts = [text for line in lines if len(text := json.loads(line)["text"]) >= 200]
    fingerprinter = Fingerprinter(DEFAULT)
    made = splices(texts, options.rows, options.seed)
    parts = [fingerprinter.batch(part).lanes for part in iter(lambda: list(itertools.islice(made, 2000)), [])]
    fingerprints: UInt64Array = np.concatenate(parts)
    if options.save is not None:
        np.save(options.save, fingerprints)
    return fingerprints


def timed(name: str, work: Callable[[], int], repeat: int) -> float:
    """Best seconds of some runs."""
    seconds = []
    for _ in range(repeat):
        started = time.perf_counter()
        found = work()
        seconds.append(time.perf_counter() - started)
    print(f"{name}: {found:,} found in {min(seconds):.2f} s")
    return min(seconds)


def count_pairs(rows: UInt64Array, layout: Layout, limits: Limits, workers: int) -> int:
    """Run a self-join and count what it streams."""
    return sum(len(block) for block in self_join(rows, layout=layout, limits=limits, workers=workers))


def run_planted(options: argparse.Namespace) -> None:
    """k = 3 on random values, against simhash-pybind at each of its block numbers; the best of them counts."""
    rows, limits = planted(options.rows, options.seed), Limits((3,))
    count_pairs(rows[:10_000], ONE, limits, options.workers)
    ours = timed("simhash-es", lambda: count_pairs(rows, ONE, limits, options.workers), options.repeat)
    if options.peer_path is None:
        print("no peer: pip install --target /tmp/peer simhash-pybind, then --peer-path /tmp/peer")
        return
    environment = {**os.environ, "PYTHONPATH": str(options.peer_path)}
    best = float("inf")
    with tempfile.NamedTemporaryFile(suffix=".npy") as file:
        np.save(file.name, rows)
        for blocks in (4, 5, 6) * options.repeat:
            command = [sys.executable, "-c", PEER, file.name, str(blocks)]
            output = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
            found, seconds = output.split()
            print(f"simhash-pybind, {blocks} blocks: {int(found):,} found in {float(seconds):.2f} s")
            best = min(best, float(seconds))
    print(f"ratio: {best / ours:.1f} times as fast, {options.workers} worker(s) against one")


def run_text(options: argparse.Namespace) -> None:
    """k = 11 and k2 = 18 on real text, against another script's join."""
    rows, limits = np.unique(text_fingerprints(options), axis=0), Limits((11, 18))
    print(plan_self_join(rows, layout=TWO, limits=limits).explain())
    count_pairs(rows[:10_000], TWO, limits, options.workers)
    ours = timed("simhash-es", lambda: count_pairs(rows, TWO, limits, options.workers), options.repeat)
    if options.other is None:
        return
    os.environ["NUMBA_NUM_THREADS"] = str(options.workers)
    specification = importlib.util.spec_from_file_location("other_join", options.other)
    if specification is None or specification.loader is None:
        sys.exit(f"cannot load {options.other}")
    other = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(other)
    other.join(rows[:10_000], 11, 18)
    theirs = timed(options.other.name, lambda: len(other.join(rows, 11, 18)), options.repeat)
    print(f"ratio: {theirs / ours:.1f} times as fast, {options.workers} worker(s) each")


def run_index(options: argparse.Namespace) -> None:
    """Blocks of 8,192 rows: asked for, then added."""
    rows, limits = text_fingerprints(options), Limits((11, 14))

    def fill(some: UInt64Array) -> int:
        index, found = NeighbourIndex(TWO, limits), 0
        for low in range(0, len(some), 8192):
            block, start = some[low : low + 8192], 0
            while start < len(block):
                answers = index.candidates(block, start=start, workers=options.workers)
                found, start = found + len(answers.positions), answers.stop
            index.add(block)
        return found

    fill(rows[:20_000])
    seconds = timed("growing index", lambda: fill(rows), options.repeat)
    print(f"{len(rows) / seconds:,.0f} rows a second, {options.workers} worker(s)")


def main() -> None:
    """Read the options and run one benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("benchmark", choices=["planted", "text", "index"])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--repeat", type=int, default=1, help="runs of each side; the best counts")
    parser.add_argument("--peer-path", type=Path, help="folder that simhash-pybind was installed to with --target")
    parser.add_argument("--fingerprints", type=Path, help=".npy, uint64, two lanes a row")
    parser.add_argument("--corpus", type=Path, help=".jsonl.gz with a field text")
    parser.add_argument("--save", type=Path, help="write the fingerprints made from the corpus here")
    parser.add_argument("--other", type=Path, help="Python script with join(fingerprints, k, k2)")
    options = parser.parse_args()
    {"planted": run_planted, "text": run_text, "index": run_index}[options.benchmark](options)


if __name__ == "__main__":
    main()
