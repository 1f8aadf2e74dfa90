"""What a run writes: survivors, removed rows, pairs, groups and the summary tell one and the same story."""

from __future__ import annotations

import csv
import io
import itertools
import json
import random
from pathlib import Path
from typing import Any

import pytest
from dedup_running import article, check_consistency, edited, planted_texts, rows_of, run, write_rows

from simhash_es.backends.files.options import ReadOptions
from simhash_es.core.batch import Fingerprinter
from simhash_es.core.layout import Layout, Limits, distances, matches
from simhash_es.core.normal_form import normal_form
from simhash_es.core.presets import DEFAULT, preset
from simhash_es.core.profile import Cleaning
from simhash_es.core.reference import features_of
from simhash_es.core.similarity import Measure, parse_criterion, parse_feature_spec, similarity, similarity_of_weights
from simhash_es.core.verify import DEFAULT_FEATURES
from simhash_es.core.weights import weigh
from simhash_es.errors import BudgetExceeded, InvalidOption
from simhash_es.use_cases.dedup.options import DedupOptions, Linkage, Outputs, parse_keep
from simhash_es.use_cases.dedup.run import run_dedup

TEXTS = planted_texts(12, seed=1)


@pytest.fixture
def source(tmp_path: Path) -> str:
    return write_rows(tmp_path / "in.jsonl", rows_of(TEXTS))


@pytest.mark.parametrize("keep", ["first", "last", "longest", "shortest"])
@pytest.mark.parametrize("linkage", list(Linkage))
def test_outputs_agree(tmp_path: Path, source: str, keep: str, linkage: Linkage) -> None:
    """All outputs of one run say the same, and the numbers of the summary add up."""
    result = run(tmp_path / "out", source, keep=keep, linkage=linkage)
    check_consistency(result, len(TEXTS))
    assert result.summary.groups == 12
    assert result.summary.removed == 36
    survivors = set(result.kept_ids)
    assert survivors | set(result.keepers) == {f"d{i}" for i in range(len(TEXTS))}
    assert not survivors & set(result.keepers)


def test_survivors_are_the_rows_as_they_were(tmp_path: Path) -> None:
    """Rows come out byte for byte and in their order: spacing, key order, escapes and long numbers included."""
    lines = [
        b'{"text":"the ferry leaves the harbour at six in the morning","id":  1.50, "n":900719925474099305123}\r\n',
        b"\n",
        b'{"id": "b", "text": "\\u4eca\\u5929 caf\\u00e9", "x": {"y": [1, 2]}}\n',
        b'  {"id":1e5,"text":"The ferry leaves the harbour at six in the morning!"}\n',
        b'{"id":"d","text":null}\n',
    ]
    path = tmp_path / "in.jsonl"
    path.write_bytes(b"".join(lines))
    result = run(tmp_path / "out", str(path))
    assert result.survivors == lines[0] + lines[2] + lines[4]
    raw = (tmp_path / "out" / "removed.jsonl").read_bytes()
    assert b'"id":1e5,"kept":1.50,' in raw
    assert b'"row":{"id":1e5,"text":"The ferry leaves the harbour at six in the morning!"}' in raw


def test_pairs_equal_brute_force(tmp_path: Path, source: str) -> None:
    """The pairs are exactly those within the limits whose texts meet the criterion, figures included."""
    result = run(tmp_path / "out", source)
    assert result.pairs is not None
    made = Fingerprinter(DEFAULT).batch(TEXTS)
    layout, limits = Layout(DEFAULT.layout_widths), Limits(result.summary.limits.distances)
    forms = [normal_form(text) for text in TEXTS]
    verified = DEFAULT_FEATURES.profile(DEFAULT)
    weights = [weigh(features_of(text, verified), verified) for text in TEXTS]
    expected = {}
    for a, b in itertools.combinations(range(len(TEXTS)), 2):
        bits = distances(made.lanes[a], made.lanes[b], layout)
        value = similarity_of_weights(weights[a], weights[b], Measure.COSINE)
        is_first = forms.index(forms[a]) == a
        is_whole = forms.index(forms[b]) == b or forms[a] == forms[b]
        if is_first and is_whole and value >= 0.85 and matches(bits, limits):
            expected[f"d{a}", f"d{b}"] = (*(int(bit) for bit in bits), round(value, 6))
    found = {(p["a"], p["b"]): (p["distance"], p["check_distance"], p["similarity"]) for p in result.pairs}
    assert found == expected
    assert result.summary.near_copies > 0


def test_pairs_do_not_depend_on_the_keep_policy(tmp_path: Path, source: str) -> None:
    """Pairs are in reading order, and a text that several rows have stands there by its first row."""
    first, last, longest = (run(tmp_path / keep, source, keep=keep).pairs for keep in ("first", "last", "longest"))
    assert first is not None

    def as_set(pairs: list[dict[str, Any]] | None) -> set[tuple[Any, ...]]:
        return {tuple(pair.values()) for pair in pairs or ()}

    assert as_set(first) == as_set(last) == as_set(longest)
    assert all(int(pair["a"][1:]) < int(pair["b"][1:]) for pair in first)


def test_copies_are_paired_with_the_first_only(tmp_path: Path) -> None:
    """Of n rows of one text there are n - 1 pairs, not n (n - 1) / 2, and near texts are paired with the first."""
    words = article(random.Random(4))
    near = edited(words, random.Random(5), 2)
    texts = [" ".join(words)] * 6 + [" ".join(near)] * 3
    result = run(tmp_path / "out", write_rows(tmp_path / "in.jsonl", rows_of(texts)))
    assert result.pairs is not None
    assert sorted((pair["a"], pair["b"]) for pair in result.pairs) == [
        *(("d0", f"d{i}") for i in range(1, 7)), ("d6", "d7"), ("d6", "d8"),
    ]  # fmt: skip
    assert result.summary.pairs == 8
    assert result.summary.removed == 8


@pytest.mark.parametrize(
    "names", [("jaccard:0.7",), ("containment:0.9",), ("edit:0.9",), ("cosine:0.8", "edit:0.85", "jaccard:0.6")]
)
def test_criteria_of_the_user(tmp_path: Path, source: str, names: tuple[str, ...]) -> None:
    """Every removed row meets all criteria with the row kept; the first criterion is the similarity reported."""
    criteria = tuple(map(parse_criterion, names))
    result = run(tmp_path / "out", source, verify=criteria)
    check_consistency(result, len(TEXTS))
    assert result.removed
    assert result.summary.similarity == names
    text_of = {f"d{i}": text for i, text in enumerate(TEXTS)}
    for row in result.removed:
        values = [
            similarity(text_of[row["id"]], text_of[row["kept"]], c.measure, DEFAULT_FEATURES.profile(DEFAULT))
            for c in criteria
        ]
        assert all(value >= c.threshold for value, c in zip(values, criteria, strict=True))
        assert row["similarity"] == round(values[0], 6)


@pytest.mark.parametrize("spec", ["words:2", "chars:6", "rjieba:1"])
def test_features_of_the_user(tmp_path: Path, source: str, spec: str) -> None:
    """Similarity is made from the features that were asked for."""
    features = parse_feature_spec(spec)
    result = run(tmp_path / "out", source, verify=(parse_criterion("jaccard:0.6"),), verify_features=features)
    check_consistency(result, len(TEXTS))
    assert result.removed
    text_of = {f"d{i}": text for i, text in enumerate(TEXTS)}
    for row in result.removed:
        value = similarity(text_of[row["id"]], text_of[row["kept"]], Measure.JACCARD, features.profile(DEFAULT))
        assert row["similarity"] == round(value, 6) >= 0.6


@pytest.mark.parametrize("spec", ["chars:4/3", "words:1"])
def test_stop_words_are_no_features(tmp_path: Path, spec: str) -> None:
    """Stop words count neither for the fingerprint nor for the similarity."""
    profile = DEFAULT.with_options(cleaning=Cleaning(stop_words=("the", "and", "新鲜")))
    texts = [
        "the ferry leaves the harbour at six and the crew counts the crates",
        "ferry leaves harbour at six, crew counts crates",
        "the and the and 新鲜",
        "and the",
    ]
    features, criterion = parse_feature_spec(spec), parse_criterion("cosine:0.95")
    source = write_rows(tmp_path / "in.jsonl", rows_of(texts))
    result = run(tmp_path / "out", source, profile=profile, verify=(criterion,), verify_features=features)
    check_consistency(result, 4)
    assert result.members == {"d0": {"d1"}}
    expected = similarity(texts[0], texts[1], Measure.COSINE, features.profile(profile))
    assert [row["similarity"] for row in result.removed or ()] == [round(expected, 6)]
    assert result.summary.empty == 2


def test_without_verification(tmp_path: Path, source: str) -> None:
    """With no criteria fingerprints alone decide, and no similarity is claimed."""
    result = run(tmp_path / "out", source, verify=(), distance=3)
    check_consistency(result, len(TEXTS))
    assert result.removed
    assert {row["similarity"] for row in result.removed} == {None}
    assert max(row["distance"] for row in result.removed) <= 3
    assert result.summary.similarity == ()
    assert result.summary.compared == 0


def test_given_distances_rule(tmp_path: Path, source: str) -> None:
    """A distance that the user gives holds for half A alone, a check distance for half B; both hold for every pair."""
    loose = run(tmp_path / "loose", source, distance=20)
    assert loose.summary.limits.distances == (20, 64)
    tight = run(tmp_path / "tight", source, distance=6, check_distance=4)
    assert tight.summary.limits.distances == (6, 4)
    for row in [*(tight.removed or ()), *(tight.pairs or ())]:
        assert row["distance"] <= 6
        assert row["check_distance"] <= 4
    assert tight.summary.removed <= loose.summary.removed


def test_csv_tables(tmp_path: Path, source: str) -> None:
    """CSV tables have a header and the same rows and figures as JSON lines."""
    result = run(tmp_path / "out", source)
    targets = {name: str(tmp_path / f"{name}.csv") for name in ("removed", "pairs", "groups")}
    run_dedup(DedupOptions(sources=(source,), outputs=Outputs(**targets, as_csv=True), workers=1))
    for name in targets:
        rows = list(csv.DictReader(io.StringIO((tmp_path / f"{name}.csv").read_text("utf-8"), newline="")))
        expected: list[dict[str, Any]] = getattr(result, name)
        if name == "groups":
            expected = [{"kept": group["kept"], **member} for group in expected for member in group["members"]]
        expected = [{key: value for key, value in row.items() if key != "row"} for row in expected]
        assert rows == [{key: "" if v is None else str(v) for key, v in row.items()} for row in expected]


def test_csv_input_and_output(tmp_path: Path) -> None:
    """A CSV comes out as CSV with its header; line breaks and quotes inside cells stay as they were."""
    text = "the ferry leaves the harbour at six in the morning, every day of the week but sunday"
    raw = f'id,text,note\r\n001,"{text}","say ""hi""\nthere"\r\n002,{text.split(",")[0]},x\r\n003,"{text.upper()}",\r\n'
    path = tmp_path / "in.csv"
    path.write_bytes(raw.encode())
    result = run(tmp_path / "out", str(path))
    assert result.survivors == raw.encode()[: raw.index("003")]
    assert result.removed == [
        {
            "id": "003", "kept": "001", "reason": "exact copy", "place": f"{path}:5", "kept_place": f"{path}:2",
            "distance": 0, "check_distance": 0, "similarity": 1.0, "row": f'003,"{text.upper()}",',
        }
    ]  # fmt: skip


def test_rows_of_a_json_array_keep_their_characters(tmp_path: Path) -> None:
    """A row of several lines is shown on one, and long numbers in it keep all their digits."""
    text = "the ferry leaves the harbour at six in the morning, every day of the week but sunday"
    path = tmp_path / "in.json"
    path.write_text(
        f'[{{"id": 1, "text": "{text}"}},\n {{"id": 900719925474099305123456,\n  "text": "{text}", "s": "a\\nb"}}]'
    )
    result = run(tmp_path / "out", str(path))
    raw = (tmp_path / "out" / "removed.jsonl").read_bytes()
    assert raw.count(b"\n") == 1
    assert b'"id":900719925474099305123456,"kept":1,' in raw
    assert b'"row":{"id": 900719925474099305123456,' in raw
    assert result.removed is not None
    assert result.removed[0]["row"] == {"id": 900719925474099305123456, "text": text, "s": "a\nb"}


def test_folder_of_documents(tmp_path: Path) -> None:
    """Documents of a folder are rows called by their file; survivors are copied as files."""
    words = article(random.Random(8))
    folder = tmp_path / "docs"
    folder.mkdir()
    for name, text in (
        ("a.txt", words),
        ("b.txt", edited(words, random.Random(1), 2)),
        ("c.txt", article(random.Random(9))),
    ):
        (folder / name).write_text(" ".join(text), encoding="gb18030")
    out = {"survivors": str(tmp_path / "kept"), "removed": str(tmp_path / "removed.jsonl")}
    summary = run_dedup(DedupOptions(sources=(str(folder),), outputs=Outputs(**out), workers=1))
    assert (summary.kept, summary.removed) == (2, 1)
    assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == ["a.txt", "c.txt"]
    assert (tmp_path / "kept" / "a.txt").read_bytes() == (folder / "a.txt").read_bytes()
    (row,) = (json.loads(line) for line in (tmp_path / "removed.jsonl").read_text().splitlines())
    assert row["place"] == f"{folder}/b.txt:1"
    assert "row" not in row


def test_equal_ids_are_named_by_their_place(tmp_path: Path) -> None:
    """Rows with one id are distinct rows, called source:line; other ids stay as they are."""
    words = article(random.Random(2))
    near = " ".join(edited(words, random.Random(3), 2))
    rows = [{"id": 7, "text": " ".join(words)}, {"id": 7, "text": near}, {"id": "7", "text": near + " more"}]
    source = write_rows(tmp_path / "in.jsonl", rows)
    result = run(tmp_path / "out", source)
    assert result.groups is not None
    (group,) = result.groups
    assert group["kept"] == f"{source}:1"
    assert [member["id"] for member in group["members"]] == [f"{source}:2", "7"]
    assert {pair["a"] for pair in result.pairs or ()} <= {f"{source}:1", f"{source}:2"}
    check_consistency(result, 3)


def test_unique_ids_can_be_demanded(tmp_path: Path) -> None:
    """With unique ids demanded, a repeated id is a bad row."""
    source = write_rows(tmp_path / "in.jsonl", [{"id": 1, "text": "a b c"}, {"id": 1, "text": "d e f"}])
    result = run(tmp_path / "out", source, read=ReadOptions(unique_ids=True, on_error="skip"))
    assert (result.summary.kept, result.summary.skipped) == (1, 1)
    check_consistency(result, 2)


def test_bad_rows_are_counted(tmp_path: Path) -> None:
    """Bad rows that are skipped stand in no output and are counted."""
    good = json.dumps({"id": "a", "text": " ".join(article(random.Random(1)))})
    path = tmp_path / "in.jsonl"
    path.write_text("\n".join([good, '{"id": 3, "text": "cut of', "[1, 2]", "", good.replace('"a"', '"b"')]))
    result = run(tmp_path / "out", str(path), read=ReadOptions(on_error="skip"))
    assert (result.summary.read, result.summary.kept, result.summary.removed, result.summary.skipped) == (4, 1, 1, 2)
    assert result.survivors == good.encode() + b"\n"
    check_consistency(result, 4)


def test_other_profile(tmp_path: Path, source: str) -> None:
    """Words as features, and one value in place of two, work the same way."""
    for name in ("words", "characters"):
        result = run(tmp_path / name, source, profile=preset(name))
        check_consistency(result, len(TEXTS))
        assert result.summary.removed == 36
        assert result.summary.profile.digest == preset(name).digest
        if name == "characters":
            assert {row["check_distance"] for row in result.removed or ()} == {None}
    three = run(tmp_path / "three", source, profile=DEFAULT.with_options(halves=3, vote=2))
    check_consistency(three, len(TEXTS))
    assert three.summary.removed == 36
    assert len(three.summary.limits.distances) == 3


def test_work_is_counted(tmp_path: Path, source: str) -> None:
    """The summary says how many pairs of texts were compared, and without pairs on file counts those with keepers."""
    summary = run(tmp_path / "out", source, outputs=("survivors",)).summary
    assert 0 < summary.compared <= len(TEXTS) ** 2
    assert summary.pairs == summary.removed


def test_summary_as_a_dictionary(tmp_path: Path, source: str) -> None:
    """What --json prints can be written as JSON and holds the numbers, the limits, the stages and the outputs."""
    result = run(tmp_path / "out", source)
    data = json.loads(json.dumps(result.summary.to_dict()))
    assert data["read"] == data["kept"] + data["removed"] + data["skipped"] == len(TEXTS)
    assert data["profile"] == {"name": "default", "digest": DEFAULT.digest}
    assert data["similarity"] == ["cosine:0.85"]
    assert data["outputs"]["output"] == str(tmp_path / "out" / "survivors.jsonl")
    assert all(seconds >= 0 for seconds in data["seconds"].values())
    assert {"read and fingerprint", "group"} <= set(data["seconds"])


def test_too_many_pairs(tmp_path: Path, source: str) -> None:
    """More pairs than allowed stop the run, name the hottest words, and leave no output; without pairs it goes on."""
    with pytest.raises(BudgetExceeded, match=r"more than 5 pairs; the hottest words: word \d of half \w = [0-9a-f]{4}"):
        run(tmp_path / "out", source, max_pairs=5)
    assert list((tmp_path / "out").iterdir()) == []
    for linkage in Linkage:
        outputs = ("survivors", "groups")
        result = run(tmp_path / linkage, source, max_pairs=5, outputs=outputs, linkage=linkage)
        assert result.summary.removed == 36


@pytest.mark.parametrize("budget", [{"budget_seconds": 0.0}, {"budget_bytes": 1 << 20}])
def test_budget(tmp_path: Path, source: str, budget: dict[str, float]) -> None:
    """Work that is expected to need more than the budget is not begun, and nothing is written."""
    with pytest.raises(BudgetExceeded, match="the budget is"):
        run(tmp_path / "out", source, **budget)
    assert list((tmp_path / "out").iterdir()) == []
    run(tmp_path / "enough", source, budget_seconds=1e6, budget_bytes=1 << 40)


def test_failed_run_leaves_no_output(tmp_path: Path) -> None:
    """A bad row in the last line leaves earlier outputs as they were, and no half-written one."""
    source = write_rows(tmp_path / "in.jsonl", rows_of(TEXTS))
    with open(source, "a") as file:
        file.write("{broken\n")
    with pytest.raises(Exception, match=r"line \d+"):
        run(tmp_path / "out", source)
    assert list((tmp_path / "out").iterdir()) == []


def test_inputs_are_not_overwritten(tmp_path: Path, source: str) -> None:
    """An output that is an input, an older source, or another output is refused."""
    before = Path(source).read_bytes()
    old = write_rows(tmp_path / "old.jsonl", rows_of(TEXTS[:3]))
    for name, path in (("survivors", source), ("removed", source), ("groups", old), ("report", source)):
        with pytest.raises(InvalidOption):
            run_dedup(DedupOptions(sources=(source,), against=(old,), outputs=Outputs(**{name: path})))
    assert Path(source).read_bytes() == before


def test_outputs_need_paths_of_their_own(tmp_path: Path) -> None:
    """Two outputs in one file, two on standard output, the report there, or one in the store are refused."""
    same = str(tmp_path / "same.jsonl")
    with pytest.raises(InvalidOption, match="removed and groups both go to"):
        Outputs(removed=same, groups=str(tmp_path / "sub" / ".." / "same.jsonl"))
    with pytest.raises(InvalidOption, match="pairs and groups both go to standard output"):
        Outputs(pairs="-", groups="-")
    with pytest.raises(InvalidOption, match="report cannot go to standard output"):
        Outputs(report="-")
    with pytest.raises(InvalidOption, match="is also an output"):
        DedupOptions(sources=("x",), store=same, outputs=Outputs(survivors=same))


@pytest.mark.parametrize("options", [{}, {"verify": ()}, {"linkage": Linkage.CONNECTED}, {"similarity": 1.0}])
def test_report_is_written(tmp_path: Path, source: str, options: dict[str, Any]) -> None:
    """The report holds the totals and the texts of a group, whatever decided; texts are escaped."""
    rows = rows_of([*TEXTS, *["<script>alert(1)</script> " + TEXTS[0]] * 2])
    source = write_rows(tmp_path / "more.jsonl", rows)
    result = run(tmp_path / "out", source, outputs=("survivors", "report"), **options)
    page = (tmp_path / "out" / "report.jsonl").read_text("utf-8")
    assert "<html" in page
    assert "<script>alert(1)" not in page
    assert str(result.summary.removed) in page


def test_report_without_any_group(tmp_path: Path) -> None:
    """A run that finds nothing has a report too."""
    source = write_rows(tmp_path / "in.jsonl", rows_of(["one text", "another thing"]))
    run(tmp_path / "out", source, outputs=("report",))
    assert "<html" in (tmp_path / "out" / "report.jsonl").read_text("utf-8")


def test_parse_keep_round_trip() -> None:
    """A keep policy is shown as it is written."""
    for text in ("first", "last", "longest", "shortest", "max:score", "min:a.b", "prefer:a:b.jsonl"):
        assert str(parse_keep(text)) == text
