"""Rows as columns: what is read, in which order, and what identical texts fold to."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simhash_es.backends.files.inputs import Inputs
from simhash_es.backends.files.options import ReadOptions
from simhash_es.core.layout import Layout
from simhash_es.core.normal_form import normal_form
from simhash_es.core.presets import DEFAULT, preset
from simhash_es.core.reference import reference_fingerprint
from simhash_es.core.similarity import parse_feature_spec
from simhash_es.core.tokenizers import tokenize
from simhash_es.errors import BadRow
from simhash_es.use_cases.corpus import Column, Corpus, CorpusReader, Ids, group_identical

TEXTS = ["the ferry leaves at six", "", "今天的菜市场卖新鲜竹笋", "!!!", None, "The  ferry leaves, at six!", "ok"]
LAYOUT = Layout(DEFAULT.layout_widths)


def inputs_of(tmp_path: Path, rows: list[dict[str, object]], **options: object) -> Inputs:
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return Inputs([str(path)], ReadOptions(**options))  # type: ignore[arg-type]


def read(inputs: Inputs, *, workers: int = 1, values: bool = False) -> Corpus:
    corpus = Corpus.empty(LAYOUT, keeps_text=True, keeps_tokens=True, has_values=values)
    words = parse_feature_spec("words:1").profile(DEFAULT)
    CorpusReader(DEFAULT, token_profile=words, workers=workers).read(inputs, corpus, lambda n: None)
    return corpus


def test_columns_of_a_file(tmp_path: Path) -> None:
    """Every column has one entry a row: fingerprints, digests, lengths, ids, normal forms and tokens."""
    corpus = read(inputs_of(tmp_path, [{"id": f"r{i}", "text": text} for i, text in enumerate(TEXTS)]))
    n = len(TEXTS)
    assert len(corpus) == n
    assert list(corpus.ids) == [b'"r%d"' % i for i in range(n)]
    whole = [text or "" for text in TEXTS]
    fingerprints = [reference_fingerprint(text, DEFAULT) for text in whole]
    assert corpus.found.values.tolist() == [value is not None for value in fingerprints]
    assert [tuple(row) for row in corpus.lanes.values.tolist()] == [value or (0, 0) for value in fingerprints]
    assert corpus.n_chars.values.tolist() == [len(text) for text in whole]
    assert corpus.normal is not None
    assert corpus.tokens is not None
    forms = [normal_form(text) for text in whole]
    assert [corpus.normal.text(i) for i in range(n)] == forms
    words = parse_feature_spec("words:1").profile(DEFAULT)
    assert [corpus.tokens.text(i).split() for i in range(n)] == [tokenize(form, words) for form in forms]
    digests = [tuple(row) for row in corpus.digests.values.tolist()]
    assert digests[0] == digests[5]
    assert len(set(digests)) == len(set(forms))


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_order_of_many_batches(tmp_path: Path, workers: int) -> None:
    """Rows stay in reading order however many threads work on batches, and progress adds up to the bytes."""
    chance = random.Random(1)
    rows: list[dict[str, object]] = [
        {"id": i, "text": f"row {i} " + "x" * chance.choice([10, 1000, 30_000]), "v": i % 5} for i in range(700)
    ]
    inputs = inputs_of(tmp_path, rows, extra_fields=("v",))
    corpus = Corpus.empty(LAYOUT, keeps_text=True, keeps_tokens=False, has_values=True)
    steps: list[int] = []
    CorpusReader(DEFAULT, workers=workers).read(inputs, corpus, steps.append)
    assert list(corpus.ids) == [b"%d" % i for i in range(700)]
    assert corpus.values == [i % 5 for i in range(700)]
    assert corpus.normal is not None
    assert all(corpus.normal.text(i).startswith(f"row {i} x") for i in range(700))
    assert len(steps) > 3
    assert sum(steps) == inputs.bytes_total


def test_error_in_the_middle(tmp_path: Path) -> None:
    """A bad row ends the reading with its error, also when several threads are at work."""
    path = tmp_path / "in.jsonl"
    path.write_text('{"id": 1, "text": "a"}\n' * 5 + "{broken\n")
    for workers in (1, 3):
        with pytest.raises(BadRow):
            read(Inputs([str(path)], ReadOptions()), workers=workers)


def test_texts_of_punctuation_without_a_normal_form(tmp_path: Path) -> None:
    """A profile that takes no normal form has features of punctuation, but nothing there to compare."""
    guide = preset("guide")
    assert reference_fingerprint("!!!", guide) is not None
    corpus = Corpus.empty(Layout(guide.layout_widths), keeps_text=True, keeps_tokens=False)
    rows: list[dict[str, object]] = [{"id": i, "text": text} for i, text in enumerate(["!!!", "a!", "???"])]
    CorpusReader(guide).read(inputs_of(tmp_path, rows), corpus, lambda n: None)
    assert corpus.found.values.tolist() == [False, True, False]


@given(st.lists(st.lists(st.binary(max_size=5), max_size=6), max_size=5))
def test_ids(blocks: list[list[bytes]]) -> None:
    """Ids come out as they went in, by number and in order."""
    ids, expected = Ids(), []
    for block in blocks:
        ids.extend(block)
        expected += block
    assert len(ids) == len(expected)
    assert list(ids) == expected
    assert [ids[i] for i in range(len(expected))] == expected


@given(st.lists(st.integers(0, 3000), max_size=4), st.sampled_from([0, 2]))
def test_column_grows(sizes: list[int], width: int) -> None:
    """A column holds what was added, whatever the pieces."""
    column, expected = Column(np.int64, width), 0
    for size in sizes:
        values = np.arange(expected, expected + size)
        column.extend(np.stack([values, -values], axis=1) if width else values)
        expected += size
    found = column.values[:, 0] if width else column.values
    assert found.tolist() == list(range(expected))
    if width:
        assert (column.values[:, 1] == -found).all()


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=20), st.randoms(use_true_random=False))
def test_identical_texts_fold_to_the_first_visited(digests: list[tuple[int, int]], order: random.Random) -> None:
    """Each row's representative is the first row in visiting order with its digest."""
    rows = list(range(len(digests)))
    order.shuffle(rows)
    rows = rows[: len(rows) * 2 // 3]
    table = np.array(digests, np.uint64).reshape(-1, 2)
    found = group_identical(table, np.array(rows, np.int64))
    assert found.tolist() == [next(r for r in rows if digests[r] == digests[row]) for row in rows]
