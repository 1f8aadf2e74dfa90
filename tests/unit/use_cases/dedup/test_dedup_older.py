"""Older rows, from files and from a store: they are compared with, never changed, and always win."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from dedup_running import Result, article, check_consistency, edited, planted_texts, rows_of, run, write_rows

from simhash_es.backends.files.options import ReadOptions
from simhash_es.backends.sqlite_store import SeenStore
from simhash_es.core.normal_form import normal_form
from simhash_es.core.presets import DEFAULT, preset
from simhash_es.core.similarity import parse_criterion, parse_feature_spec
from simhash_es.errors import ProfileMismatch, SimhashEsError
from simhash_es.use_cases.dedup.options import Linkage

SHORT = ["河边日记真好看", "河边日记真好看啊", "ok", "谢谢", "great product, thanks", "great product thanks!"]
OLD = [*planted_texts(6, seed=20), *SHORT[::2], "", "!!!"]
NEW = [*planted_texts(6, seed=20)[::-1][:20], *planted_texts(5, seed=21), *SHORT, "", "...", *SHORT[3:]]


@pytest.fixture
def old(tmp_path: Path) -> str:
    return write_rows(tmp_path / "old.jsonl", rows_of(OLD, prefix="o"))


@pytest.fixture
def new(tmp_path: Path) -> str:
    return write_rows(tmp_path / "new.jsonl", rows_of(NEW, prefix="n"))


def decisions(result: Result) -> tuple[Any, ...]:
    """What was decided on the rows of one file: survivors, and for each removed row its keeper with the figures."""
    fields = ("id", "kept", "reason", "distance", "check_distance", "similarity")
    return result.survivors, [tuple(row[field] for field in fields) for row in result.removed or ()]


def check_against_older(result: Result, n_new: int, older_ids: set[str]) -> None:
    """Counts are those of the new rows alone; older rows are kept rows only."""
    summary = result.summary
    assert summary.read == n_new == summary.kept + summary.removed + summary.skipped
    assert not set(result.keepers) & older_ids
    assert not set(result.kept_ids) & older_ids
    assert set(result.keepers.values()) & older_ids
    assert summary.groups == len(result.groups or ())
    assert summary.pairs == len(result.pairs or ())


class TestAgainst:
    """``--against``: an older corpus in files."""

    def test_older_rows_win_whatever_the_policy(self, tmp_path: Path, old: str, new: str) -> None:
        """With any policy a row near an older one goes, and the older file is not changed."""
        before = Path(old).read_bytes()
        kept = run(tmp_path / "first", new, against=(old,))
        check_against_older(kept, len(NEW), {f"o{i}" for i in range(len(OLD))})
        for keep in ("last", "longest"):
            result = run(tmp_path / keep, new, against=(old,), keep=keep)
            check_against_older(result, len(NEW), {f"o{i}" for i in range(len(OLD))})
            near_older = {row for row, keeper in result.keepers.items() if keeper.startswith("o")}
            assert near_older == {row for row, keeper in kept.keepers.items() if keeper.startswith("o")}
        assert Path(old).read_bytes() == before
        assert kept.summary.older == len(OLD)

    def test_equals_one_run_over_both(self, tmp_path: Path, old: str, new: str) -> None:
        """The survivors of the older file, then the new file against them, are the survivors of both in one run."""
        first = run(tmp_path / "first", old)
        survivors = tmp_path / "survivors.jsonl"
        survivors.write_bytes(first.survivors or b"")
        second = run(tmp_path / "second", new, against=(str(survivors),))
        both = run(tmp_path / "both", old, new)
        assert both.survivors == (first.survivors or b"") + (second.survivors or b"")
        assert both.keepers == first.keepers | second.keepers

    def test_older_duplicates_are_left_alone(self, tmp_path: Path, old: str) -> None:
        """Duplicates inside the older corpus are nobody's business: no group, no pair, no count."""
        new = write_rows(
            tmp_path / "n.jsonl", rows_of(["something entirely new about bees and their hives"], prefix="n")
        )
        result = run(tmp_path / "out", new, against=(old, old))
        assert (result.summary.kept, result.summary.removed, result.summary.groups, result.summary.pairs) == (
            1,
            0,
            0,
            0,
        )
        assert result.groups == result.pairs == []
        assert result.summary.older == 2 * len(OLD)

    def test_all_pairs_are_listed(self, tmp_path: Path, old: str, new: str) -> None:
        """Pairs with older rows and pairs of new rows, each once; each removed row with its keeper among them."""
        result = run(tmp_path / "out", new, against=(old,))
        pairs = [frozenset((pair["a"], pair["b"])) for pair in result.pairs or ()]
        assert len(set(pairs)) == len(pairs)
        assert all(any(name.startswith("n") for name in pair) for pair in pairs)
        form = {f"o{i}": normal_form(text) for i, text in enumerate(OLD)}
        form |= {f"n{i}": normal_form(text) for i, text in enumerate(NEW)}
        listed = {frozenset(form[name] for name in pair) for pair in pairs}
        assert {row["reason"] for row in result.removed or ()} == {"exact copy", "near-duplicate"}
        assert all(frozenset((form[row], form[kept])) in listed for row, kept in result.keepers.items())

    def test_connected(self, tmp_path: Path, old: str, new: str) -> None:
        """With chains, too, no older row is removed and every removed row is named with one that stays."""
        result = run(tmp_path / "out", new, against=(old,), linkage=Linkage.CONNECTED)
        check_against_older(result, len(NEW), {f"o{i}" for i in range(len(OLD))})
        assert not set(result.keepers.values()) & set(result.keepers)


OPTIONS: dict[str, dict[str, Any]] = {
    "default": {},
    "words": {"verify": (parse_criterion("jaccard:0.7"),), "verify_features": parse_feature_spec("words:2")},
    "edit": {"verify": (parse_criterion("cosine:0.8"), parse_criterion("edit:0.8"))},
    "fingerprints alone": {"verify": ()},
    "connected": {"linkage": Linkage.CONNECTED},
    "longest": {"keep": "longest"},
    "three halves": {"profile": DEFAULT.with_options(halves=3, vote=2)},
    "profile of words": {"profile": preset("words")},
    "threads": {"workers": 3},
}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_store_equals_older_files(tmp_path: Path, old: str, new: str, options: dict[str, Any]) -> None:
    """A second run with a store decides as one against the survivors of the first run."""
    first = run(tmp_path / "first", old, store=str(tmp_path / "seen.sqlite"), **options)
    second = run(tmp_path / "second", new, store=str(tmp_path / "seen.sqlite"), **options)
    survivors = tmp_path / "survivors.jsonl"
    survivors.write_bytes(first.survivors or b"")
    expected = run(tmp_path / "expected", new, against=(str(survivors),), **options)
    assert decisions(second) == decisions(expected)
    assert second.pairs == expected.pairs
    assert second.groups == expected.groups
    assert any(kept.startswith("o") for kept in second.keepers.values())
    assert second.summary.older == first.summary.kept - first.summary.empty


def test_same_file_again(tmp_path: Path, old: str) -> None:
    """Run again over the same file, nothing with a fingerprint is new; rows without one are never remembered."""
    store = str(tmp_path / "seen.sqlite")
    first = run(tmp_path / "first", old, store=store)
    second = run(tmp_path / "second", old, store=store)
    assert second.summary.removed == len(OLD) - 2
    assert second.summary.kept == second.summary.empty == 2
    assert first.summary.kept > 2
    with SeenStore.open(store, write=False) as seen:
        assert len(seen) == first.summary.kept - 2


def test_three_runs(tmp_path: Path) -> None:
    """Survivors of all earlier runs count, in their order, and keep their ids and places."""
    words = article(random.Random(1))
    texts = [" ".join(words), " ".join(article(random.Random(2))), " ".join(edited(words, random.Random(3), 2))]
    store = str(tmp_path / "seen.sqlite")
    sources = [write_rows(tmp_path / f"{i}.jsonl", [{"id": f"r{i}", "text": text}]) for i, text in enumerate(texts)]
    results = [run(tmp_path / f"out{i}", source, store=store) for i, source in enumerate(sources)]
    assert [result.summary.kept for result in results] == [1, 1, 0]
    (row,) = results[2].removed or ()
    assert (row["kept"], row["kept_place"], row["place"]) == ("r0", f"{sources[0]}:1", f"{sources[2]}:1")


def test_long_stored_text_and_short_new_one(tmp_path: Path) -> None:
    """A stored text far longer than all new ones is compared like any other, though it is read only when needed."""
    words = article(random.Random(1), 30)
    long, short = " ".join(words * 400), " ".join(words * 2)
    store = str(tmp_path / "seen.sqlite")
    criteria = (parse_criterion("jaccard:0.9"),)
    rows = [{"id": "long", "text": long}, {"id": "ok", "text": "ok"}]
    run(tmp_path / "first", write_rows(tmp_path / "a.jsonl", rows), store=store, verify=criteria, recall=0.5)
    rows = [{"id": "short", "text": short}, {"id": "tiny", "text": "tiny"}]
    result = run(tmp_path / "second", write_rows(tmp_path / "b.jsonl", rows), store=store, verify=criteria, recall=0.5)
    assert result.keepers == {"short": "long"}


def test_store_beside_older_files(tmp_path: Path, old: str, new: str) -> None:
    """A store and an older file together: both win, and only survivors of the new file are added to the store."""
    store = str(tmp_path / "seen.sqlite")
    third = write_rows(tmp_path / "third.jsonl", rows_of(planted_texts(3, seed=30), prefix="t"))
    first = run(tmp_path / "first", third, store=store)
    again = write_rows(tmp_path / "again.jsonl", rows_of([*NEW, *planted_texts(3, seed=30)], prefix="n"))
    result = run(tmp_path / "second", again, store=store, against=(old,))
    kept = set(result.keepers.values())
    assert any(name.startswith("t") for name in kept)
    assert any(name.startswith("o") for name in kept)
    with SeenStore.open(store, write=False) as seen:
        ids = [json.loads(identity.id) for identity in seen.all_identities()]
    texts = [*NEW, *planted_texts(3, seed=30)]
    assert ids == [*first.kept_ids, *(name for name in result.kept_ids if normal_form(texts[int(name[1:])]))]


def test_other_profile_is_refused(tmp_path: Path, old: str, new: str) -> None:
    """A store made by another profile stops the run before anything is written."""
    store = str(tmp_path / "seen.sqlite")
    run(tmp_path / "first", old, store=store)
    before = Path(store).read_bytes()
    for profile in (preset("words"), DEFAULT.with_options(bits=128, halves=2), DEFAULT.with_options(seed=1)):
        with pytest.raises(ProfileMismatch):
            run(tmp_path / profile.digest, new, store=store, profile=profile)
        assert list((tmp_path / profile.digest).iterdir()) == []
    assert Path(store).read_bytes() == before


def test_failed_run_leaves_the_store_as_it_was(tmp_path: Path, old: str) -> None:
    """A run that ends in an error adds nothing."""
    store = str(tmp_path / "seen.sqlite")
    run(tmp_path / "first", old, store=store)
    bad = tmp_path / "bad.jsonl"
    bad.write_text(json.dumps({"id": 1, "text": "some new text about bees"}) + "\n{broken\n")
    with pytest.raises(SimhashEsError):
        run(tmp_path / "second", str(bad), store=store)
    with SeenStore.open(store, write=False) as seen:
        assert len(seen) == run(tmp_path / "count", old).summary.kept - 2


def test_store_of_ready_made_fingerprints(tmp_path: Path) -> None:
    """Fingerprints without texts are remembered too, and found by later runs."""
    store = str(tmp_path / "seen.sqlite")
    read = ReadOptions(fingerprint_field="fp")
    first = [{"id": "a", "fp": "0123456789abcdef"}, {"id": "b", "fp": "ffff0000ffff0000"}]
    second = [{"id": "c", "fp": "0123456789abcdee"}, {"id": "d", "fp": "00ff00ff00ff00ff"}, {"id": "e", "fp": None}]
    run(tmp_path / "1", write_rows(tmp_path / "a.jsonl", first), store=store, read=read, distance=3)
    result = run(tmp_path / "2", write_rows(tmp_path / "b.jsonl", second), store=store, read=read, distance=3)
    assert result.keepers == {"c": "a"}
    assert result.kept_ids == ["d", "e"]
    with SeenStore.open(store, write=False) as seen:
        assert len(seen) == 3


KILLED = """
import sys
from simhash_es.use_cases.dedup.options import DedupOptions, Outputs
from simhash_es.use_cases.dedup.run import run_dedup
folder, store, source = sys.argv[1:]
names = ("survivors", "removed", "pairs", "groups")
outputs = Outputs(**{name: f"{folder}/{name}.jsonl" for name in names})
options = DedupOptions(sources=(source,), store=store, outputs=outputs, workers=2)
print("begin", flush=True)
run_dedup(options)
"""


def start(folder: Path, store: Path, source: str) -> subprocess.Popen[bytes]:
    folder.mkdir(exist_ok=True)
    command = [sys.executable, "-c", KILLED, str(folder), str(store), source]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert process.stdout is not None
    with process.stdout as lines:
        assert lines.readline() == b"begin\n"
    return process


def contents(store: Path) -> tuple[Any, ...]:
    with SeenStore.open(str(store), write=False) as seen:
        rows, numbers = seen.load(), list(range(len(seen)))
        return rows.lanes.tobytes(), rows.digests.tobytes(), seen.identities(numbers), seen.texts(numbers)


@pytest.mark.slow
def test_killed_runs(tmp_path: Path) -> None:
    """A run killed at any moment and started again leaves the outputs and the store of one clean run."""
    first = write_rows(tmp_path / "first.jsonl", rows_of(planted_texts(60, seed=1), prefix="a"))
    second = write_rows(tmp_path / "second.jsonl", rows_of(planted_texts(400, seed=2), prefix="b"))
    clean = tmp_path / "clean"
    for source in (first, second):
        began = time.perf_counter()
        assert start(clean, tmp_path / "clean.sqlite", source).wait() == 0
        whole = time.perf_counter() - began
    expected = {path.name: path.read_bytes() for path in clean.iterdir()}
    store, folder = tmp_path / "seen.sqlite", tmp_path / "killed"
    assert start(folder, store, first).wait() == 0
    before = contents(store)
    n_killed = 0
    for step in range(1, 9):
        process = start(folder, store, second)
        time.sleep(whole * step / 9)
        os.kill(process.pid, signal.SIGKILL)
        if process.wait() == 0:
            break
        n_killed += 1
        if contents(store) != before:  # killed between the commit and the end
            break
    assert n_killed > 0
    if contents(store) == before:
        assert start(folder, store, second).wait() == 0
        # What a killed run was writing stays under a hidden name; no output has half of it.
        assert {path.name: path.read_bytes() for path in folder.glob("[!.]*")} == expected
    assert contents(store) == contents(tmp_path / "clean.sqlite")


def test_consistency_with_older_files_and_no_near_row(tmp_path: Path, old: str) -> None:
    """Older rows that nothing repeats leave the new file to itself."""
    texts = planted_texts(4, seed=77)
    source = write_rows(tmp_path / "new.jsonl", rows_of(texts))
    unrelated = write_rows(tmp_path / "other.jsonl", rows_of(["bees and hives", "蜜蜂与蜂箱"], prefix="o"))
    alone, beside = run(tmp_path / "alone", source), run(tmp_path / "beside", source, against=(unrelated,))
    check_consistency(alone, len(texts))
    assert decisions(alone) == decisions(beside)
    assert alone.pairs == beside.pairs
