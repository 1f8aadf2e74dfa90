"""Recall of the dedup command at its default against exact truth, and an independent check of what it reports.

    python -m benchmarks.recall --english SECTIONS.jsonl.gz --chinese LAWS.jsonl.gz

Also: how the angles of verified pairs are spread between 0 and arccos 0.85, how far apart unrelated texts lie, and
which share of them falls within some limits: what ``simhash_es/core/limits.py`` assumes.

Truth: all pairs with Jaccard of at least 0.8, of word 3-grams (English) or character 5-grams (Chinese), counted by
sparse matrices. A pair counts as found when both rows are in one verified pair, copies of identical texts being taken
as one. The check computes the cosine of each of a sample of reported pairs with the plain reference.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from benchmarks import corpora
from simhash_es.backends.text_spool import TextSpool
from simhash_es.core.batch import Fingerprinter
from simhash_es.core.join import self_join
from simhash_es.core.layout import Layout, Limits, distances
from simhash_es.core.normal_form import normal_form
from simhash_es.core.presets import DEFAULT
from simhash_es.core.similarity import Criterion, Measure, similarity
from simhash_es.core.verify import Verification, Verifier
from simhash_es.use_cases.dedup.options import DEFAULT_SIMILARITY, DedupOptions, Outputs
from simhash_es.use_cases.dedup.run import run_dedup

LEAST_JACCARD = 0.8
LEAST_CHARACTERS = 200
CHECKED_PAIRS = 2000
UNRELATED_COSINE = 0.6
HALVES = Layout(DEFAULT.layout_widths)
LIMITS = ((11, 14), (11, 18), (13, 18), (15, 18), (15, 22))


def true_pairs(texts: list[str], *, chinese: bool) -> set[tuple[int, int]]:
    """Pairs of row numbers with Jaccard of at least 0.8."""
    options = {"analyzer": "char", "ngram_range": (5, 5)} if chinese else {"ngram_range": (3, 3)}
    vectorizer = CountVectorizer(lowercase=False, token_pattern=r"(?u)\w+", dtype=np.float32, **options)
    counts = vectorizer.fit_transform(texts)
    counts.data[:] = 1
    sizes = np.asarray(counts.sum(axis=1)).ravel()
    found = set()
    for start in range(0, len(texts), 1000):
        common = (counts[start : start + 1000] @ counts.T).tocoo()
        rows = common.row + start
        jaccard = common.data / (sizes[rows] + sizes[common.col] - common.data)
        keep = (rows < common.col) & (jaccard >= LEAST_JACCARD)
        found |= set(zip(rows[keep].tolist(), common.col[keep].tolist(), strict=True))
    return found


def measure(name: str, texts: list[str], *, chinese: bool) -> None:
    """Print recall and the check for one corpus."""
    texts = [text for text in texts if len(text) >= LEAST_CHARACTERS]
    if not chinese:
        texts = texts[:20_000]
    normal = [normal_form(text) for text in texts]
    with tempfile.TemporaryDirectory() as folder:
        source, pairs = Path(folder) / "rows.jsonl", Path(folder) / "pairs.jsonl"
        with source.open("w", encoding="utf-8") as out:
            for i, text in enumerate(texts):
                out.write(json.dumps({"id": i, "text": text}, ensure_ascii=False) + "\n")
        summary = run_dedup(DedupOptions(sources=(str(source),), outputs=Outputs(pairs=str(pairs))))
        reported = [json.loads(line) for line in pairs.open(encoding="utf-8")]
    first: dict[str, int] = {}
    alias = [first.setdefault(text, i) for i, text in enumerate(normal)]
    found = {(min(p["a"], p["b"]), max(p["a"], p["b"])) for p in reported}
    truth = true_pairs(normal, chinese=chinese)
    hits = sum(alias[a] == alias[b] or (min(alias[a], alias[b]), max(alias[a], alias[b])) in found for a, b in truth)
    print(f"{name}: {len(texts):,} texts, limits {summary.limits.distances}, {len(reported):,} pairs reported")
    print(f"  Jaccard >= 0.8: {hits:,} of {len(truth):,} found, recall {hits / max(1, len(truth)):.4f} (at least 0.97)")
    sample = random.Random(1).sample(reported, min(CHECKED_PAIRS, len(reported)))
    slow = [similarity(texts[p["a"]], texts[p["b"]], Measure.COSINE, DEFAULT) for p in sample]
    low = sum(value < DEFAULT_SIMILARITY for value in slow)
    off = max((abs(value - p["similarity"]) for value, p in zip(slow, sample, strict=True)), default=0.0)
    print(f"  {len(sample):,} reported pairs checked slowly: {low} below {DEFAULT_SIMILARITY}, largest error {off:.1e}")


def assumptions(name: str, texts: list[str]) -> None:
    """Print the spread of angles above the default similarity, and the distances of unrelated pairs."""
    texts = list(dict.fromkeys(normal_form(text) for text in texts if len(text) >= LEAST_CHARACTERS))[:12_000]
    fingerprinter = Fingerprinter(DEFAULT)
    parts = [fingerprinter.batch(texts[start : start + 1000]) for start in range(0, len(texts), 1000)]
    lanes = np.concatenate([part.lanes for part in parts])
    spool = TextSpool()
    for part in parts:
        spool.append(part.normal)
    verifier = Verifier(Verification((Criterion(Measure.COSINE, DEFAULT_SIMILARITY),)), spool)
    rng = np.random.default_rng(1)
    left, right = rng.integers(0, len(texts), (2, 1_000_000))
    apart = distances(lanes[left], lanes[right], HALVES)[left != right].mean(axis=0)
    print(f"{name}: unrelated texts lie {apart[0]:.1f} and {apart[1]:.1f} of 64 bits apart on average")
    angles, unrelated = [], np.zeros(len(LIMITS), np.int64)
    for block in self_join(lanes, layout=HALVES, limits=Limits((17, 22))):
        cosines = verifier.scores(block.i.astype(np.int64), block.j.astype(np.int64))[:, 0]
        angles.append(np.arccos(np.minimum(1.0, cosines[cosines >= DEFAULT_SIMILARITY])) / np.pi)
        far = block.distances[cosines < UNRELATED_COSINE]
        unrelated += [int(((far[:, 0] <= k) & (far[:, 1] <= k2)).sum()) for k, k2 in LIMITS]
    counts, edges = np.histogram(np.concatenate(angles), bins=6, range=(0, np.arccos(DEFAULT_SIMILARITY) / np.pi))
    spread = ", ".join(f"{edge:.3f}: {count}" for edge, count in zip(edges, counts, strict=False))
    print(f"  pairs by angle / pi, from: {spread}")
    pairs = len(texts) * (len(texts) - 1) / 2
    shares = ", ".join(f"{k}/{k2} bits {n / pairs:.1e}" for (k, k2), n in zip(LIMITS, unrelated, strict=True))
    print(f"  share of pairs below cosine {UNRELATED_COSINE} within {shares}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    corpora.add_options(parser)
    options = parser.parse_args()
    measure("English", corpora.texts(options.english), chinese=False)
    measure("Chinese", corpora.texts(options.chinese), chinese=True)
    assumptions("English", corpora.texts(options.english, 15_000))
    assumptions("Chinese", corpora.texts(options.chinese))


if __name__ == "__main__":
    main()
