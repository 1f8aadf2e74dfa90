"""How time grows with mass copies: identical rows, and rows that share a long header. It should be about linear.

    python -m benchmarks.growth

Seconds of the whole command without the start of the process, at n and 2n rows; a ratio of 2 is linear.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import orjson

from simhash_es.core.kernels.runtime import load_kernels
from simhash_es.use_cases.dedup.options import DedupOptions, Outputs
from simhash_es.use_cases.dedup.run import run_dedup

HEADER_WORDS = 300
OWN_WORDS = 20


def vocabulary(rng: random.Random) -> list[str]:
    """Words of a made-up language."""
    return ["".join(rng.choice("aeioubcdfglmnprst") for _ in range(rng.randint(3, 9))) for _ in range(5000)]


def identical(n: int) -> Iterator[str]:
    """One error page n times."""
    rng = random.Random(1)
    page = " ".join(rng.choices(vocabulary(rng), k=HEADER_WORDS))
    for _ in range(n):
        yield page


def shared_header(n: int) -> Iterator[str]:
    """The same 300 words, then 20 of its own."""
    rng = random.Random(2)
    words = vocabulary(rng)
    header = " ".join(rng.choices(words, k=HEADER_WORDS))
    for _ in range(n):
        yield f"{header} {' '.join(rng.choices(words, k=OWN_WORDS))}"


def seconds(texts: Callable[[int], Iterator[str]], n: int) -> float:
    """Wall seconds of a run over n rows."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "rows.jsonl"
        with source.open("wb") as out:
            for i, text in enumerate(texts(n)):
                out.write(orjson.dumps({"id": i, "text": text}) + b"\n")
        began = time.perf_counter()
        summary = run_dedup(
            DedupOptions(sources=(str(source),), outputs=Outputs(groups=str(Path(folder) / "groups.jsonl")))
        )
        taken = time.perf_counter() - began
    print(f"  {n:,} rows: {taken:.2f} s, {summary.groups} groups, {summary.kept:,} kept, {summary.compared:,} compared")
    return taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=20_000)
    options = parser.parse_args()
    load_kernels()
    for name, texts in (("identical rows", identical), (f"rows with a {HEADER_WORDS}-word header", shared_header)):
        print(name)
        seconds(texts, 1000)
        ratio = seconds(texts, 2 * options.rows) / seconds(texts, options.rows)
        print(f"  twice the rows take {ratio:.2f} times as long (2 is linear, below 3 is wanted)")


if __name__ == "__main__":
    main()
