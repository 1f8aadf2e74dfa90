"""A whole dedup of a gzip JSONL file beside a MinHash script with rensa: wall time and peak memory of each process.

    python -m benchmarks.dedup --english SECTIONS.jsonl.gz

In turn, several rounds; ours reads, fingerprints, finds, verifies on text, and writes survivors and groups; the peer
(``peers/rensa_dedup.py``: 128 permutations, 16 bands, word 5-grams, its own estimate) writes survivors. Kernels warm.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks import corpora
from benchmarks.peers import environment

PEER_SCRIPT = Path(__file__).parent / "peers" / "rensa_dedup.py"
SHORT_ROWS = 1_000_000


def timed(command: list[str], env: dict[str, str]) -> tuple[float, float, float, str]:
    """Wall seconds, CPU seconds, peak megabytes, standard output."""
    began = time.perf_counter()
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{command} ended with {process.returncode}")
    return time.perf_counter() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, output


def ours(source: Path, folder: Path) -> list[str]:
    """Our command."""
    return [
        sys.executable, "-m", "simhash_es", "dedup", str(source), "--output", str(folder / "kept.jsonl"),
        "--groups", str(folder / "groups.jsonl"), "--json",
    ]  # fmt: skip


def compare(source: Path, rounds: int) -> None:
    """Both sides in turn."""
    ratios, walls, memory = [], [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        peer = [sys.executable, str(PEER_SCRIPT), str(source), str(folder / "peer.jsonl")]
        timed(ours(source, folder), dict(os.environ))
        for _ in range(rounds):
            wall, cpu, peak, output = timed(ours(source, folder), dict(os.environ))
            peer_wall, peer_cpu, peer_peak, peer_output = timed(peer, environment("rensa"))
            ratios.append(wall / peer_wall)
            walls.append((wall, cpu, peer_wall, peer_cpu))
            memory.append((peak, peer_peak))
            print(
                f"  ours {wall:.1f} s (CPU {cpu:.1f}), {peak:.0f} MB; peer {peer_wall:.1f} s (CPU {peer_cpu:.1f}), "
                f"{peer_peak:.0f} MB; ratio {wall / peer_wall:.2f}"
            )
    found = json.loads(output)
    print(f"  ours kept {found['kept']:,} of {found['read']:,}; stages {found['seconds']}; peer: {peer_output.strip()}")
    print(f"  wall ratio, median of {rounds}: {statistics.median(ratios):.2f} (at most 0.75)")
    print(f"  peak memory: {max(peak for peak, _ in memory):.0f} MB (at most 600)")


def short_rows() -> None:
    """Memory of a million short rows."""
    with tempfile.TemporaryDirectory() as name:
        source = Path(name) / "short.jsonl"
        rng = random.Random(1)
        words = ["".join(rng.choice("aeioubcdfglmnprst") for _ in range(rng.randint(3, 9))) for _ in range(20_000)]
        with source.open("w", encoding="utf-8") as out:
            for i in range(SHORT_ROWS):
                out.write(json.dumps({"id": i, "text": " ".join(rng.choices(words, k=rng.randint(5, 12)))}) + "\n")
        wall, cpu, peak, output = timed(ours(source, Path(name)), dict(os.environ))
    found = json.loads(output)
    print(f"  {SHORT_ROWS:,} short rows: {wall:.1f} s (CPU {cpu:.1f}), {peak:.0f} MB (at most 1,500)")
    print(f"  kept {found['kept']:,}; stages {found['seconds']}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    corpora.add_options(parser)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=("compare", "short"), default=None)
    options = parser.parse_args()
    if options.only != "short":
        compare(options.english, options.rounds)
    if options.only != "compare":
        short_rows()


if __name__ == "__main__":
    main()
