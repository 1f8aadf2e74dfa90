"""The tools that are measured against, each in a folder of its own, since two of them share an import name."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PEERS = {
    "simhash": "simhash==2.1.2",
    "python-simhash": "python-simhash==0.1.0",
    "simhash-pybind": "simhash-pybind==0.0.3",
    "rensa": "rensa==0.5.0",
}
FOLDER = Path(os.environ.get("SIMHASH_ES_PEERS", Path(__file__).parent.parent.parent / ".bench-peers"))


def peer(name: str) -> Path:
    """Folder to put on ``PYTHONPATH``; the package is installed there on first use."""
    folder = FOLDER / name
    if not folder.is_dir():
        print(f"installing {PEERS[name]} into {folder} …", file=sys.stderr)
        subprocess.run(
            [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(folder), PEERS[name]], check=True
        )
    return folder


def environment(name: str) -> dict[str, str]:
    """Environment of a process that imports the peer."""
    return {**os.environ, "PYTHONPATH": str(peer(name))}
