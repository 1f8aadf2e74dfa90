"""Rate of making fingerprints from Python strings on one core, beside PyPI simhash, python-simhash and rjieba.

    python -m benchmarks.fingerprints --english SECTIONS.jsonl.gz --chinese LAWS.jsonl.gz

Each side runs on the same texts in the same run; CPU time of one thread, the best of several rounds, kernels warm.
``words`` is one value of single words; ``default`` two halves of character grams; both with the normal form.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks import corpora
from benchmarks.peers import environment
from simhash_es.core.batch import BATCH_BYTES, Fingerprinter
from simhash_es.core.kernels.runtime import load_kernels
from simhash_es.core.presets import DEFAULT
from simhash_es.core.profile import Half, Profile, Tokenizer
from simhash_es.core.reference import tokens_of

WORDS = Profile(name="single words", tokenizer=Tokenizer.WORDS, halves=(Half(1, 1, 0, 0),), vote=1)
ROUNDS = 5
PEER_SCRIPT = Path(__file__).parent / "peers" / "simhash_rate.py"


def batches(texts: list[str]) -> list[list[str]]:
    """Texts in batches as the dedup run makes them."""
    found: list[list[str]] = [[]]
    size = 0
    for text in texts:
        if size > BATCH_BYTES:
            found.append([])
            size = 0
        found[-1].append(text)
        size += len(text.encode())
    return found


def best(work: Callable[[], object], rounds: int = ROUNDS) -> float:
    """Least CPU seconds of several rounds."""
    seconds = []
    for _ in range(rounds):
        began = time.process_time()
        work()
        seconds.append(time.process_time() - began)
    return min(seconds)


def ours(texts: list[str], profile: Profile) -> float:
    """CPU seconds for all texts."""
    fingerprinter = Fingerprinter(profile)
    pieces = batches(texts)
    fingerprinter.batch(pieces[0])
    return best(lambda: [fingerprinter.batch(piece) for piece in pieces])


def peer_seconds(name: str, kind: str, texts: list[str]) -> float:
    """CPU seconds of a peer for all texts, in a process of its own."""
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as stream:
        json.dump(texts, stream)
        stream.flush()
        command = [sys.executable, str(PEER_SCRIPT), kind, stream.name]
        done = subprocess.run(command, env=environment(name), check=True, capture_output=True, text=True)
    return float(done.stdout)


def segmenter_seconds(texts: list[str]) -> float:
    """CPU seconds of rjieba alone."""
    import rjieba

    return best(lambda: [rjieba.cut(text) for text in texts], 3)


def report(language: str, texts: list[str], peer_texts: int) -> None:
    """Measure one language and print a table."""
    megabytes = sum(len(text.encode()) for text in texts) / 1e6
    print(f"\n{language}: {len(texts):,} texts, {megabytes:.0f} MB of UTF-8, one core")
    words, default = ours(texts, WORDS), ours(texts, DEFAULT)
    print(f"  words              {megabytes / words:8.1f} MB/s")
    print(f"  default            {megabytes / default:8.1f} MB/s")
    if language == "Chinese":
        cut = segmenter_seconds(texts)
        print(f"  rjieba alone       {megabytes / cut:8.1f} MB/s; words at {cut / words:.2f} of its rate (least 0.5)")
    step = max(1, len(texts) // peer_texts)
    few = texts[::step][:peer_texts]
    share = sum(len(text.encode()) for text in few) / 1e6
    peer = peer_seconds("simhash", "text", few)
    few_words, few_default = ours(few, WORDS), ours(few, DEFAULT)
    print(
        f"  simhash (PyPI)     {share / peer:8.2f} MB/s; words {peer / few_words:,.0f}x (least 100), "
        f"default {peer / few_default:,.0f}x (least 25)"
    )
    tokens = [" ".join(tokens_of(text, WORDS)) for text in few]
    ready = peer_seconds("python-simhash", "tokens", tokens)
    print(f"  python-simhash     {share / ready:8.1f} MB/s with ready tokens; words {ready / few_words:.1f}x (least 3)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    corpora.add_options(parser)
    parser.add_argument("--peer-texts", type=int, default=2000, help="texts given to the slow peers")
    options = parser.parse_args()
    load_kernels()
    report("English", corpora.texts(options.english), options.peer_texts)
    report("Chinese", corpora.texts(options.chinese), max(1, options.peer_texts // 20))


if __name__ == "__main__":
    main()
