"""Which row of a group stays: the documented rule, its ties, and independence of the reading order where promised."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from dedup_running import article, check_consistency, edited, planted_texts, rows_of, run, write_rows

from simhash_es.core.layout import Layout
from simhash_es.errors import InvalidOption, SimhashEsError
from simhash_es.use_cases.corpus import Corpus
from simhash_es.use_cases.dedup.options import DedupOptions, Keep, KeepPolicy, Linkage, parse_keep
from simhash_es.use_cases.dedup.order import comparable

WORDS = article(random.Random(11))
NEAR = [" ".join(edited(WORDS, random.Random(i), 1)) for i in range(4)]


def kept(tmp_path: Path, keep: str, rows: list[dict[str, Any]], **options: Any) -> list[Any]:
    result = run(tmp_path / "out", write_rows(tmp_path / "in.jsonl", rows), keep=keep, **options)
    check_consistency(result, len(rows))
    return result.kept_ids


def valued(*values: Any, field: str = "v") -> list[dict[str, Any]]:
    """Near copies of one text with these values; ``...`` leaves the field out."""
    rows = [{"id": i, "text": NEAR[i % 4], field: value} for i, value in enumerate(values)]
    return [{key: value for key, value in row.items() if value is not ...} for row in rows]


@pytest.mark.parametrize(("keep", "expected"), [("first", [0]), ("last", [3])])
def test_first_and_last(tmp_path: Path, keep: str, expected: list[int]) -> None:
    """The first or the last row in reading order."""
    assert kept(tmp_path, keep, valued(1, 2, 3, 4)) == expected


@pytest.mark.parametrize(("keep", "expected"), [("longest", ["c"]), ("shortest", ["b"])])
def test_longest_and_shortest(tmp_path: Path, keep: str, expected: list[str]) -> None:
    """By the characters of the text as read: white space and marks count, though they are no part of the comparison."""
    text = " ".join(WORDS)
    rows = [{"id": "a", "text": text + " "}, {"id": "b", "text": text}, {"id": "c", "text": text + "!!!!"}]
    assert kept(tmp_path, keep, rows) == expected


@pytest.mark.parametrize(
    ("keep", "values", "expected"),
    [
        ("max:v", (3, 10, 9, 1), 1),
        ("min:v", (3, 10, 9, 1), 3),
        ("max:v", (1.5, "10", "9.75", 2), 1),
        ("min:v", ("1e-3", "0.01", 5, "0.002"), 0),
        ("max:v", ("9", "10", "8", "7"), 1),
        ("max:v", ("2024-03-01", "2023-12-31", "2024-02-29", "1999-01-01"), 0),
        ("min:v", ("2024-03-01T10:00:00Z", "2024-03-01T09:59:59Z", "2025", "2026"), 1),
        ("max:v", ("b", "a", "C", "B"), 0),
        ("max:v", (None, 5, ..., ""), 1),
        ("min:v", (None, ..., 7, ""), 2),
        ("max:v", (False, True, False, None), 1),
        ("min:v", (True, False, 2, 3), 1),
        ("max:v", (900719925474099301, 900719925474099303, 900719925474099302, 0), 1),
        ("max:v", (-1, -5, "-0.5", -2), 2),
    ],
)
def test_largest_and_smallest_value(tmp_path: Path, keep: str, values: tuple[Any, ...], expected: int) -> None:
    """Numbers, numbers written as strings, dates and texts; rows without a value come last, whichever way."""
    assert kept(tmp_path, keep, valued(*values)) == [expected]


def test_value_of_an_inner_field(tmp_path: Path) -> None:
    """The field may be a path."""
    rows = [{"id": i, "text": NEAR[i], "meta": {"score": score}} for i, score in enumerate((2, 8, 5))]
    assert kept(tmp_path, "max:meta.score", rows) == [1]


@pytest.mark.parametrize(
    ("values", "message"),
    [((1, "abc", 2, 3), "numbers .* and texts .*'abc'"), (([1], 2, 3, 4), r"a value is \[1\]"), (({}, 1, 2, 3), "{}")],
)
def test_values_without_an_order(tmp_path: Path, values: tuple[Any, ...], message: str) -> None:
    """Numbers mixed with texts, lists and objects have no order; the message shows them."""
    with pytest.raises(InvalidOption, match=message):
        kept(tmp_path, "max:v", valued(*values))


def test_unusual_values_of_other_formats() -> None:
    """Dates, times, infinities and NaN, as Parquet files have them."""
    import datetime as dt
    from decimal import Decimal

    policy = parse_keep("max:v")
    assert comparable([dt.date(2024, 3, 1), dt.datetime(2024, 3, 2, 4, 5), None], policy) == [
        "2024-03-01",
        "2024-03-02T04:05:00",
        None,
    ]
    assert comparable([float("nan"), 1.5, float("inf"), Decimal("2.50")], policy) == [
        None, Decimal("1.5"), Decimal("Infinity"), Decimal("2.50"),
    ]  # fmt: skip
    assert comparable(["nan", "1"], policy) == ["nan", "1"]
    assert comparable([None, ""], policy) == [None, None]
    assert comparable([], policy) == []


def test_field_that_no_row_has(tmp_path: Path) -> None:
    """A misspelt field is refused, since every row would count as having no value."""
    path = write_rows(tmp_path / "in.jsonl", [{"id": 1, "text": NEAR[0], "v": 1}, {"id": 2, "text": NEAR[1], "v": 2}])
    with pytest.raises(InvalidOption, match="no row has a value in the field 'w'"):
        run(tmp_path / "out", path, keep="max:w")


def test_ties_go_by_content_then_id(tmp_path: Path) -> None:
    """Rows of equal rank are ordered by their content and then by id, never by their place in the file."""
    rows = [{"id": name, "text": text, "v": 1} for text in NEAR[:3] for name in "zax"]
    chosen = set()
    for seed in range(6):
        random.Random(seed).shuffle(rows)
        result = run(
            tmp_path / f"out{seed}", write_rows(tmp_path / "in.jsonl", rows), keep="max:v", linkage=Linkage.CONNECTED
        )
        (line,) = (result.survivors or b"").splitlines()
        chosen.add(line)
    (line,) = chosen
    assert b'"id": "a"' in line


@pytest.mark.parametrize("keep", ["longest", "shortest", "max:v", "min:v"])
def test_reading_order_is_irrelevant(tmp_path: Path, keep: str) -> None:
    """Where a value decides, shuffled rows give the same groups with the same keepers."""
    chance = random.Random(3)
    rows = [{**row, "v": chance.randrange(5)} for row in rows_of(planted_texts(10, seed=6))]
    found = []
    for seed in range(4):
        result = run(tmp_path / f"{seed}", write_rows(tmp_path / f"{seed}.jsonl", rows), keep=keep)
        check_consistency(result, len(rows))
        found.append((result.members, sorted(result.kept_ids)))
        random.Random(seed).shuffle(rows)
    assert len(found[0][0]) == 10
    assert all(each == found[0] for each in found)


def test_groups_of_planted_copies_do_not_depend_on_the_reading_order(tmp_path: Path) -> None:
    """With ``first`` the keeper follows the reading order, but clear groups hold the same rows."""
    rows = rows_of(planted_texts(10, seed=7))
    groups = []
    for seed in range(3):
        result = run(tmp_path / f"{seed}", write_rows(tmp_path / f"{seed}.jsonl", rows))
        place = {row["id"]: i for i, row in enumerate(rows)}
        assert all(place[kept_id] < min(map(place.get, ids)) for kept_id, ids in result.members.items())  # type: ignore[type-var]
        groups.append({frozenset({kept_id, *ids}) for kept_id, ids in result.members.items()})
        random.Random(seed).shuffle(rows)
    assert groups[0] == groups[1] == groups[2]


class TestPrefer:
    """``prefer:SOURCE``: rows of one source stay, whatever the order of the files."""

    @pytest.fixture
    def sources(self, tmp_path: Path) -> list[str]:
        (tmp_path / "b").mkdir()
        return [
            write_rows(tmp_path / "a.jsonl", rows_of(NEAR[:2], prefix="a")),
            write_rows(tmp_path / "b" / "news.jsonl", rows_of(NEAR[2:], prefix="b")),
        ]

    @pytest.mark.parametrize("name", ["{0}/b/news.jsonl", "news.jsonl", "{0}/b"])
    def test_by_path_name_or_folder(self, tmp_path: Path, sources: list[str], name: str) -> None:
        """The source as given, its file name, or a folder above it."""
        for number, order in enumerate((sources, sources[::-1])):
            result = run(tmp_path / f"out{number}", *order, keep="prefer:" + name.format(tmp_path))
            assert result.kept_ids == ["b0"]
            check_consistency(result, 4)

    def test_others_follow_the_reading_order(self, tmp_path: Path, sources: list[str]) -> None:
        """Groups without a row of that source keep their first row."""
        other = write_rows(
            tmp_path / "c.jsonl", rows_of(["wholly other words about bees and their hives"] * 2, prefix="c")
        )
        result = run(tmp_path / "out", sources[0], other, sources[1], keep="prefer:news.jsonl")
        assert result.kept_ids == ["c0", "b0"]

    def test_unknown_source(self, tmp_path: Path, sources: list[str]) -> None:
        """A source that is not there is an error that names those that are."""
        with pytest.raises(InvalidOption, match=r"prefer:x\.jsonl") as caught:
            run(tmp_path / "out", *sources, keep="prefer:x.jsonl")
        assert "a.jsonl" in caught.value.hint

    def test_empty_source(self, tmp_path: Path, sources: list[str]) -> None:
        """A preferred source without any row is no error."""
        empty = tmp_path / "empty.jsonl"
        empty.write_text("")
        assert run(tmp_path / "out", *sources, str(empty), keep="prefer:empty.jsonl").kept_ids == ["a0"]


@pytest.mark.parametrize("text", ["", "newest", "first:x", "longest:1", "max", "max:", "min:", "prefer:"])
def test_unknown_policies(text: str) -> None:
    """What is no policy is refused with the choices or what is missing."""
    with pytest.raises(InvalidOption, match="--keep"):
        parse_keep(text)


def test_policy_needs_its_argument() -> None:
    """A policy is checked however it is made."""
    with pytest.raises(InvalidOption, match="needs a field"):
        KeepPolicy(Keep.MAX)
    with pytest.raises(InvalidOption, match="takes no argument"):
        KeepPolicy(Keep.FIRST, "x")


@pytest.mark.parametrize(
    "options",
    [{"similarity": 0.0}, {"similarity": 1.01}, {"recall": 0.0}, {"recall": 1.0}, {"workers": 0}, {"max_pairs": 0}],
)
def test_options_out_of_range(options: dict[str, Any]) -> None:
    """Numbers out of range are refused before anything is read."""
    with pytest.raises(InvalidOption, match=next(iter(options)).replace("_", "-")):
        DedupOptions(sources=("absent.jsonl",), **options)


def test_linkage_connected_follows_chains(tmp_path: Path) -> None:
    """Connected: a chain of near rows is one group, kept by its first row by the policy; keeper: it is not."""
    texts, words = [], list(WORDS)
    for step in range(12):
        texts.append(" ".join(words))
        for i in range(2):
            words[step * 6 + i] = f"step{step}{i}"
    source = write_rows(tmp_path / "in.jsonl", rows_of(texts))
    chained = run(tmp_path / "connected", source, linkage=Linkage.CONNECTED)
    check_consistency(chained, 12)
    assert chained.kept_ids == ["d0"]
    assert min(row["similarity"] for row in chained.removed or ()) < 0.85
    last = run(tmp_path / "last", source, linkage=Linkage.CONNECTED, keep="last")
    assert last.kept_ids == ["d11"]
    around = run(tmp_path / "keeper", source)
    check_consistency(around, 12)
    assert len(around.kept_ids) > 1
    assert min(row["similarity"] for row in around.removed or ()) >= 0.85


def test_linkage_connected_equals_components(tmp_path: Path) -> None:
    """Connected groups are the components of the graph of the pairs."""
    chance = random.Random(5)
    bases = [article(chance) for _ in range(4)]
    texts = [" ".join(edited(chance.choice(bases), chance, chance.randrange(9))) for _ in range(50)]
    result = run(tmp_path / "out", write_rows(tmp_path / "in.jsonl", rows_of(texts)), linkage=Linkage.CONNECTED)
    check_consistency(result, 50)
    component = {f"d{i}": {f"d{i}"} for i in range(50)}
    for pair in result.pairs or ():
        joined = component[pair["a"]] | component[pair["b"]]
        for name in joined:
            component[name] = joined
    expected = {frozenset(names) for names in component.values() if len(names) > 1}
    assert {frozenset({k, *ids}) for k, ids in result.members.items()} == expected
    assert all(k == min({k, *ids}, key=lambda name: int(name[1:])) for k, ids in result.members.items())


def test_empty_corpus_is_closed_twice() -> None:
    """A corpus without texts on disk can be closed like any other."""
    for keeps in (True, False):
        corpus = Corpus.empty(Layout((64, 64)), keeps_text=keeps, keeps_tokens=keeps)
        corpus.close()
        corpus.close()
        assert len(corpus) == 0


def test_longest_with_ready_made_fingerprints(tmp_path: Path) -> None:
    """Where a rule needs the length of the text, the text is read although fingerprints are ready-made."""
    rows = [{"id": i, "fp": "00000000000000ff", "text": "x" * (i % 3)} for i in range(5)]
    source = write_rows(tmp_path / "in.jsonl", rows)
    from simhash_es.backends.files.options import ReadOptions

    read = ReadOptions(fingerprint_field="fp")
    assert run(tmp_path / "out", source, keep="longest", read=read).kept_ids == [2]
    no_text = write_rows(tmp_path / "no_text.jsonl", [{"id": i, "fp": "00000000000000ff"} for i in range(5)])
    with pytest.raises(SimhashEsError, match="text"):
        run(tmp_path / "other", no_text, keep="longest", read=read)
