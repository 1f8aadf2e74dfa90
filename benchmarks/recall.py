"""Recall of the dedup command at its default against exact truth, and an independent check of what it reports.

    python -m benchmarks.recall --english SECTIONS.jsonl.gz --chinese LAWS.jsonl.gz

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
from simhash_es.core.normal_form import normal_form
from simhash_es.core.presets import DEFAULT
from simhash_es.core.similarity import Measure, similarity
from simhash_es.use_cases.dedup.options import DEFAULT_SIMILARITY, DedupOptions, Outputs
from simhash_es.use_cases.dedup.run import run_dedup

LEAST_JACCARD = 0.8
LEAST_CHARACTERS = 200
CHECKED_PAIRS = 2000


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
    hits = sum(
        alias[a] == alias[b] or (min(alias[a], alias[b]), max(alias[a], alias[b])) in found for a, b in truth
    )
    print(f"{name}: {len(texts):,} texts, limits {summary.limits.distances}, {len(reported):,} pairs reported")
    print(f"  Jaccard >= 0.8: {hits:,} of {len(truth):,} found, recall {hits / max(1, len(truth)):.4f} (at least 0.97)")
    sample = random.Random(1).sample(reported, min(CHECKED_PAIRS, len(reported)))
    slow = [similarity(texts[p["a"]], texts[p["b"]], Measure.COSINE, DEFAULT) for p in sample]
    low = sum(value < DEFAULT_SIMILARITY for value in slow)
    off = max((abs(value - p["similarity"]) for value, p in zip(slow, sample, strict=True)), default=0.0)
    print(f"  {len(sample):,} reported pairs checked slowly: {low} below {DEFAULT_SIMILARITY}, largest error {off:.1e}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    corpora.add_options(parser)
    options = parser.parse_args()
    measure("English", corpora.texts(options.english), chinese=False)
    measure("Chinese", corpora.texts(options.chinese), chinese=True)


if __name__ == "__main__":
    main()
