"""Tables of document frequencies."""

from __future__ import annotations

import json
import math
import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simhash_es.core.idf import UNIT, IdfTable, build_idf, idf_units
from simhash_es.errors import InvalidOption

DOCUMENTS = st.lists(
    st.lists(st.sampled_from(["ferry", "竹笋", "的", "a b", "\t", '"']), max_size=6), min_size=1, max_size=8
)


def test_build_counts_documents_not_occurrences() -> None:
    """A feature counts once a document."""
    table = build_idf([["a", "a", "b"], ["a"], []])
    assert (table.n_documents, dict(table.frequencies)) == (3, {"a": 2, "b": 1})


def test_build_can_leave_out_rare_features() -> None:
    """Below min_documents a feature weighs as an unseen one."""
    table = build_idf([["a", "b"], ["a"]], min_documents=2)
    assert dict(table.frequencies) == {"a": 2}
    assert table.units("b") == table.default


@given(st.integers(1, 10**9), st.data())
def test_units_are_the_rounded_formula(n_documents: int, data: st.DataObject) -> None:
    """ln((N + 1) / (df + 1)) + 1 in units of 1/1024, within half a unit; at least 1."""
    frequency = data.draw(st.integers(0, n_documents))
    units = idf_units(n_documents, frequency)
    assert abs(units / UNIT - (math.log((n_documents + 1) / (frequency + 1)) + 1)) <= 0.5 / UNIT + 1e-9
    assert units >= UNIT


@pytest.mark.parametrize(
    ("n", "df", "units"), [(1, 0, 1734), (1, 1, 1024), (10, 3, 2060), (10**6, 0, 15171), (10**9, 7, 20115)]
)
def test_units_are_pinned(n: int, df: int, units: int) -> None:
    """The same on every machine: no library of floating-point functions takes part."""
    assert idf_units(n, df) == units


@given(DOCUMENTS)
def test_order_does_not_matter(documents: list[list[str]]) -> None:
    """Documents and features in another order give an equal table with an equal digest."""
    table = build_idf(documents)
    other = build_idf([features[::-1] for features in documents[::-1]])
    assert table == other
    assert hash(table) == hash(other)
    assert table.digest == other.digest


@given(DOCUMENTS)
def test_round_trips(documents: list[list[str]]) -> None:
    """A table survives JSON and pickling."""
    table = build_idf(documents)
    assert IdfTable.from_dict(json.loads(json.dumps(table.to_dict()))) == table
    assert pickle.loads(pickle.dumps(table)) == table


def test_digest_changes_with_content() -> None:
    """Number of documents, features and frequencies all count, and features cannot run together."""
    tables = [
        IdfTable(3, {}),
        IdfTable(4, {}),
        IdfTable(4, {"a": 1}),
        IdfTable(4, {"a": 2}),
        IdfTable(4, {"a": 1, "b": 1}),
    ]
    tables += [IdfTable(4, {"a 1": 1}), IdfTable(4, {"ab": 1})]
    assert len({table.digest for table in tables}) == len(tables)


def test_save_and_load(tmp_path: Path) -> None:
    """The file gives the same table, leaves no other file behind, and knows where it lies."""
    path = tmp_path / "table.json"
    table = IdfTable(7, {"竹笋": 3, "ferry": 1})
    saved = table.save(path)
    assert (saved, saved.path) == (table, str(path))
    assert IdfTable.load(path) == table
    assert IdfTable.load(path).path == str(path)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"kind": "simhash-es idf table", "version": 2}'])
def test_load_refuses_other_files(tmp_path: Path, content: str) -> None:
    """What is no such table is one clear error."""
    path = tmp_path / "table.json"
    path.write_text(content)
    with pytest.raises(InvalidOption, match="tf-idf table"):
        IdfTable.load(path)


def test_impossible_tables_are_refused() -> None:
    """No documents, or more documents with a feature than there are."""
    with pytest.raises(InvalidOption, match="no documents"):
        build_idf([])
    with pytest.raises(InvalidOption, match="3 documents of 2"):
        IdfTable(2, {"a": 3})


def test_repr_is_short() -> None:
    """A large table does not flood a message."""
    assert "features=1," in repr(IdfTable(2, {"a": 1}))
