"""Inputs of unusual size: nothing, one row, all rows alike, very long texts."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from dedup_running import article, check_consistency, edited, rows_of, run, write_rows

from simhash_es.backends.files.options import ReadOptions
from simhash_es.use_cases.dedup.options import DedupOptions, Linkage
from simhash_es.use_cases.dedup.run import run_dedup
from simhash_es.use_cases.talk import SILENT, Advance

KEEPS = ("first", "last", "longest", "shortest", "max:v", "min:v")


@pytest.mark.parametrize("keep", KEEPS)
@pytest.mark.parametrize("linkage", list(Linkage))
def test_empty_file(tmp_path: Path, keep: str, linkage: Linkage) -> None:
    """No row in, no row out, and empty tables."""
    path = tmp_path / "in.jsonl"
    path.write_text("")
    result = run(tmp_path / "out", str(path), keep=keep, linkage=linkage)
    check_consistency(result, 0)
    assert result.bytes_of() == {f"{name}.jsonl": b"" for name in ("groups", "pairs", "removed", "survivors")}
    assert result.summary.largest_distances == ()


@pytest.mark.parametrize("text", ["one text alone", "ok", "", None])
@pytest.mark.parametrize("keep", KEEPS)
def test_one_row(tmp_path: Path, text: str | None, keep: str) -> None:
    """A row alone stays."""
    source = write_rows(tmp_path / "in.jsonl", [{**row, "v": 1} for row in rows_of([text])])
    result = run(tmp_path / "out", source, keep=keep)
    check_consistency(result, 1)
    assert result.survivors == Path(source).read_bytes()


@pytest.mark.parametrize("text", ["the same text in all rows", "ok", "竹笋" * 200])
@pytest.mark.parametrize("keep", [*KEEPS, "prefer:in.jsonl"])
def test_3000_identical_rows(tmp_path: Path, text: str, keep: str) -> None:
    """One group of all, one pair a copy, and the row that the policy says."""
    rows = [{**row, "v": i % 7} for i, row in enumerate(rows_of([text] * 3000))]
    source = write_rows(tmp_path / "in.jsonl", rows)
    result = run(tmp_path / "out", source, keep=keep)
    check_consistency(result, 3000)
    assert (result.summary.kept, result.summary.exact_copies, result.summary.pairs) == (1, 2999, 2999)
    expected = {"first": "d0", "prefer:in.jsonl": "d0", "last": "d2999", "max:v": "d1000", "min:v": "d0"}
    assert result.kept_ids == [expected.get(keep, "d0")]
    assert result.summary.compared == 0


@pytest.mark.parametrize("n", [2, 300])
def test_all_rows_empty(tmp_path: Path, n: int) -> None:
    """Rows without any letter all stay, however alike."""
    source = write_rows(tmp_path / "in.jsonl", rows_of(["!!!"] * n))
    result = run(tmp_path / "out", source)
    check_consistency(result, n)
    assert result.summary.kept == result.summary.empty == n
    assert result.survivors == Path(source).read_bytes()


def test_texts_of_a_megabyte(tmp_path: Path) -> None:
    """Very long texts, in English and Chinese, one edited a little, one not at all alike, one in one word."""
    chance = random.Random(1)
    long = article(chance, 150_000)
    texts = [
        " ".join(long),
        " ".join(edited(long, chance, 50)),
        " ".join(f"other{i}" for i in range(100_000)),
        "a" * 1_000_000,
        "a" * 1_000_001,
        "中" * 400_000,
        "short",
    ]
    assert all(len(text.encode()) > 900_000 for text in texts[:-1])
    result = run(tmp_path / "out", write_rows(tmp_path / "in.jsonl", rows_of(texts)), workers=2)
    check_consistency(result, 7)
    assert result.members == {"d0": {"d1"}, "d3": {"d4"}}


def test_many_near_copies_of_one_text(tmp_path: Path) -> None:
    """A thousand variants of one text are compared with keepers only: about one comparison each."""
    chance = random.Random(2)
    base = article(chance, 300)
    texts = [" ".join(edited(base, chance, 2)) for _ in range(1000)]
    source = write_rows(tmp_path / "in.jsonl", rows_of(texts))
    result = run(tmp_path / "out", source, outputs=("survivors", "removed", "groups"))
    assert result.summary.kept < 5
    assert result.summary.compared < 3000


def test_many_variants_of_short_texts(tmp_path: Path) -> None:
    """Thousands of short texts, most of them alike, are grouped exactly."""
    texts = [f"thank you, order {i % 50} has arrived" for i in range(2500)] + ["ok"] * 500 + ["好评"] * 500
    result = run(tmp_path / "out", write_rows(tmp_path / "in.jsonl", rows_of(texts)))
    check_consistency(result, 3500)
    assert result.summary.short == 3500
    assert result.summary.kept <= 52


class Listener:
    """Hears what a run says."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.stages: dict[str, tuple[int | None, int]] = {}

    def line(self, text: str) -> None:
        self.lines.append(text)

    @contextmanager
    def stage(self, name: str, total: int | None) -> Iterator[Advance]:
        done = 0

        def advance(n: int) -> None:
            nonlocal done
            done += n

        yield advance
        self.stages[name] = (total, done)


def test_what_a_run_says(tmp_path: Path) -> None:
    """Stages with a total reach it; what lies ahead, skipped rows and repaired ones are told."""
    path = tmp_path / "in.jsonl"
    rows = rows_of([" ".join(article(random.Random(i))) for i in range(50)])
    write_rows(path, rows)
    with path.open("a") as file:
        file.write('{"id": 1, "text": "half \\\\ud83d a pair"}\n'.replace("\\\\", "\\"))
        file.writelines(f"{{broken {i}\n" for i in range(7))
    listener = Listener()
    options = DedupOptions(sources=(str(path),), read=ReadOptions(on_error="skip"), workers=2)
    summary = run_dedup(options, talk=listener)
    assert summary.skipped == 7
    total, done = listener.stages["read and fingerprint"]
    assert total == done == path.stat().st_size
    assert listener.stages["group"] == (51, 51)
    said = "\n".join(listener.lines)
    assert f"skipped {path}:52" in said
    assert "skipped 7 rows in all" in said
    assert "half a surrogate pair replaced in 1 rows" in said
    assert "51 distinct texts" in said
    assert "expected: about" in said


def test_silence_says_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    """The silent talk writes nothing anywhere."""
    SILENT.line("hello")
    with SILENT.stage("work", 3) as advance:
        advance(3)
    assert capfd.readouterr() == ("", "")
