"""A run that is killed leaves the store as it was before, or with everything of the run; a second run does the rest."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from simhash_es.backends.sqlite_store import SeenStore
from simhash_es.backends.sqlite_store.words import read_counts
from simhash_es.core.layout import Limits
from simhash_es.core.presets import DEFAULT

N_BEFORE, N_ADDED = 1_300, 12_000

SCRIPT = f"""
import os, signal, sys
import numpy as np
sys.path.insert(0, {str(Path(__file__).parent)!r})
from store_rows import rows_of
from simhash_es.backends.sqlite_store import NewRows, SeenStore, database
from simhash_es.core.presets import DEFAULT

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

class Deadly(list):
    def __iter__(self):
        for number, item in enumerate(list.__iter__(self)):
            if number == 1500:
                die()
            yield item

path, stage, first, n = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
lanes = np.random.default_rng(first).integers(0, 1 << 64, (n, 2), np.uint64)
run = database.Database.run
def deadly_run(self, sql, parameters=()):
    if sql == "COMMIT" and stage == "at commit":
        die()
    if sql == "DELETE FROM word_2" and stage == "while indexing":
        die()
    return run(self, sql, parameters)
database.Database.run = deadly_run
with SeenStore.open(path, DEFAULT) as store:
    assert len(store) == first, len(store)
    if stage == "at once":
        die()
    for start in range(0, n, 2000):
        rows = rows_of(lanes[start : start + 2000], first=first + start)
        if stage == "while adding" and start == 8000:
            parts = {{name: getattr(rows, name) for name in rows.__slots__}}
            rows = NewRows(**parts | {{"ids": Deadly(rows.ids)}})
        store.add(rows)
    if stage == "before commit":
        die()
    store.commit()
    if stage == "after commit":
        die()
"""


def start(path: Path, stage: str, first: int, n: int) -> int:
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(path), stage, str(first), str(n)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode in (0, -signal.SIGKILL), run.stderr
    return run.returncode


def contents(path: Path) -> tuple[object, ...]:
    with SeenStore.open(str(path), DEFAULT, write=False) as store:
        rows, everything = store.load(), range(len(store))
        arrays = (
            rows.lanes.tobytes(),
            rows.digests.tobytes(),
            rows.n_features.tobytes(),
            read_counts(store._database, store.layout).tobytes(),
        )
        query = rows.lanes[len(rows) // 2]
        near = store.search(query, Limits((24, 24))).positions.tobytes()
        return (len(store), *arrays, store.identities(everything), store.texts(everything), near)


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> tuple[tuple[object, ...], tuple[object, ...]]:
    """What a store holds after the first run, and after both, when nothing is killed."""
    path = tmp_path_factory.mktemp("clean") / "seen.sqlite"
    assert start(path, "", 0, N_BEFORE) == 0
    before = contents(path)
    assert start(path, "", N_BEFORE, N_ADDED) == 0
    return before, contents(path)


@pytest.mark.parametrize(
    "stage", ["at once", "while adding", "before commit", "while indexing", "at commit", "after commit"]
)
def test_killed_run(tmp_path: Path, clean: tuple[tuple[object, ...], tuple[object, ...]], stage: str) -> None:
    """Until the commit the store is as it was, after it complete; the run done again gives what a clean one gives."""
    path = tmp_path / "seen.sqlite"
    start(path, "", 0, N_BEFORE)
    assert start(path, stage, N_BEFORE, N_ADDED) == -signal.SIGKILL
    before, after = clean
    if stage == "after commit":
        assert contents(path) == after
        return
    assert contents(path) == before
    assert start(path, "", N_BEFORE, N_ADDED) == 0
    assert contents(path) == after
    assert os.listdir(tmp_path) == ["seen.sqlite"]


@pytest.mark.parametrize("stage", ["at once", "while adding", "at commit"])
def test_killed_first_run(tmp_path: Path, clean: tuple[tuple[object, ...], tuple[object, ...]], stage: str) -> None:
    """A first run that was killed can simply be started again."""
    path = tmp_path / "seen.sqlite"
    n = N_BEFORE if stage != "while adding" else N_ADDED
    assert start(path, stage, 0, n) == -signal.SIGKILL
    assert start(path, "", 0, N_BEFORE) == 0
    assert contents(path) == clean[0]


def test_killed_writer_frees_the_lock(tmp_path: Path) -> None:
    """The lock dies with its process."""
    path = tmp_path / "seen.sqlite"
    start(path, "before commit", 0, 10)
    with SeenStore.open(str(path), DEFAULT, wait_seconds=0.05) as store:
        assert len(store) == 0
        assert isinstance(store.load().lanes, np.ndarray)
