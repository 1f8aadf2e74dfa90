"""The peer: MinHash with ``rensa``, 128 permutations, 16 bands, word 5-grams, verified by its own estimate.

    python rensa_dedup.py ROWS.jsonl.gz SURVIVORS.jsonl

Written as its documentation shows it: token lists in batches, the deduplicator's own index. First row of a group stays.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterator

import rensa

BATCH_ROWS = 10_000


def grams(text: str) -> list[str]:
    """Word 5-grams; a shorter text is one gram."""
    words = text.split()
    return [" ".join(words[i : i + 5]) for i in range(len(words) - 4)] or [text]


def batches(path: str) -> Iterator[list[bytes]]:
    """Lines, some thousand at a time."""
    with gzip.open(path) as lines:
        batch: list[bytes] = []
        for line in lines:
            batch.append(line)
            if len(batch) == BATCH_ROWS:
                yield batch
                batch = []
        yield batch


def main() -> None:
    source, target = sys.argv[1:3]
    deduplicator = rensa.RMinHashDeduplicator(threshold=0.8, num_perm=128, use_lsh=True, num_bands=16, seed=42)
    read = kept = 0
    with open(target, "wb") as out:
        for batch in batches(source):
            keep = deduplicator.add_pairs(
                (str(read + i), grams(json.loads(line)["text"])) for i, line in enumerate(batch)
            )
            read += len(batch)
            kept += sum(keep)
            out.writelines(line for line, flag in zip(batch, keep, strict=True) if flag)
    print(json.dumps({"read": read, "kept": kept, "removed": read - kept}))


if __name__ == "__main__":
    main()
