"""The texts that benchmarks run on: JSON lines with a field ``text``, gzip or plain, named by option."""

from __future__ import annotations

import argparse
import gzip
import json
import os
from pathlib import Path

ENGLISH = "en-civil-procedure-sections.jsonl.gz"
CHINESE = "zh-laws.jsonl.gz"


def add_options(parser: argparse.ArgumentParser) -> None:
    """``--english`` and ``--chinese``; by default the files of that name in ``$SIMHASH_ES_CORPORA``."""
    folder = Path(os.environ.get("SIMHASH_ES_CORPORA", "."))
    parser.add_argument("--english", type=Path, default=folder / ENGLISH, help="JSON lines of English texts")
    parser.add_argument("--chinese", type=Path, default=folder / CHINESE, help="JSON lines of Chinese texts")


def texts(path: Path, limit: int | None = None) -> list[str]:
    """The texts of a corpus, or the first of them."""
    found = []
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
        for line in lines:
            if limit is not None and len(found) == limit:
                break
            found.append(json.loads(line)["text"])
    return found
