"""All benchmarks, one after the other: python -m benchmarks [--english FILE] [--chinese FILE]"""

from __future__ import annotations

import subprocess
import sys

COMMANDS = (
    ("benchmarks.fingerprints",),
    ("benchmarks.dedup",),
    ("benchmarks.growth",),
    ("benchmarks.recall",),
)
WITHOUT_CORPORA = {"benchmarks.growth"}


def main() -> int:
    """Run each command in a process of its own; returns the first status that is not 0."""
    status = 0
    for module, *arguments in COMMANDS:
        options = [] if module in WITHOUT_CORPORA else sys.argv[1:]
        print(f"== {module}", flush=True)
        status = subprocess.run([sys.executable, "-m", module, *arguments, *options]).returncode or status
    return status


if __name__ == "__main__":
    sys.exit(main())
