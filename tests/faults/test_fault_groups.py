"""Groups that swallow what does not belong to them, and work that grows with the square of the rows."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from fault_running import Cli, vocabulary, write_rows, write_texts, write_values

NO_TEXT = ["", "   ", "!!!", "……", None, "\u3000\t\r\n", "\u200b\ufeff", "🙂🙂", "。", "-", "\ufffd"]


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--linkage", "connected"),
        ("--verify", "none"),
        ("--similarity", "0.1"),
        ("--distance", "16", "--verify", "none"),
        ("--profile", "words"),
        ("--bits", "128"),
    ],
    ids=" ".join,
)
def test_rows_without_words_equal_nothing(cli: Cli, tmp_path: Path, options: tuple[str, ...]) -> None:
    """Empty, blank, null, absent and all-punctuation texts stay, twice each, counted apart; tiny ones are no such."""
    rows: list[dict[str, object]] = [{"id": i, "text": text} for i, text in enumerate(NO_TEXT * 2)]
    rows += [
        {"id": "absent"},
        {"id": "ok", "text": "ok"},
        {"id": "long", "text": " ".join(f"w{i}rd" for i in range(60))},
    ]
    source = write_rows(tmp_path / "in.jsonl", rows)
    kept = cli("dedup", source, "--output", "-", *options)
    assert kept.out == source.read_bytes()
    summary = cli("dedup", source, "--json", *options).summary
    assert (summary["empty"], summary["removed"], summary["groups"]) == (2 * len(NO_TEXT) + 1, 0, 0)
    assert cli("dedup", source, "--pairs", "-", *options).out == b""


def test_rows_without_words_are_not_stored(cli: Cli, tmp_path: Path) -> None:
    """A store holds no value for them, a query without words finds nothing, and a second run keeps them again."""
    source = write_texts(tmp_path / "in.jsonl", [*NO_TEXT, "a ferry timetable for monday"])
    store = tmp_path / "seen.sqlite"
    cli("dedup", source, "--store", store)
    assert cli("near", "--store", store, "?!", "--json").out == b""
    again = cli("dedup", source, "--store", store, "--json").summary
    assert (again["kept"], again["removed"], again["empty"]) == (len(NO_TEXT), 1, len(NO_TEXT))
    cli("export", store, tmp_path / "values")
    assert len((tmp_path / "values.ids.jsonl").read_text("utf-8").splitlines()) == 1


def test_empty_value_is_none(cli: Cli, tmp_path: Path) -> None:
    """An empty, null or absent ready-made value matches nothing, while sixteen zeros are an ordinary value."""
    rows = [{"id": "a", "fp": ""}, {"id": "b", "fp": None}, {"id": "c"}, {"id": "z", "fp": "0" * 16}]
    source = write_rows(tmp_path / "in.jsonl", [*rows, {"id": "y", "fp": "0" * 16}, {"id": "x", "fp": ""}])
    assert cli("dedup", source, "--fingerprint-field", "fp", "--groups", "-").groups == {frozenset({"z", "y"})}
    assert cli("dedup", source, "--fingerprint-field", "fp", "--json").summary["empty"] == 4


def chain(n_texts: int, n_words: int, n_changes: int) -> list[str]:
    """Texts each of which replaces some further words of the one before."""
    chance = random.Random(31)
    words = vocabulary(chance, n_words + n_texts * n_changes)
    texts, current, fresh = [], words[:n_words], iter(words[n_words:])
    places = chance.sample(range(n_words), n_words)
    for step in range(n_texts):
        texts.append(" ".join(current))
        for i in range(n_changes):
            current[places[(step * n_changes + i) % n_words]] = next(fresh)
    return texts


@pytest.mark.parametrize("keep", ["first", "last", "longest"])
@pytest.mark.parametrize("similarity", [0.85, 0.95])
def test_chain_of_texts_is_not_swallowed(cli: Cli, tmp_path: Path, keep: str, similarity: float) -> None:
    """Each removed row of a long chain is near the row kept for it itself, the ends are not in one group, and the
    summary names the largest distance that occurs."""
    source = write_texts(tmp_path / "in.jsonl", chain(40, 200, 3))
    options = ("--keep", keep, "--similarity", similarity)
    summary = cli("dedup", source, "--json", *options).summary
    removed = cli("dedup", source, "--removed", "-", *options).records
    first, second = summary["limits"]["distances"]
    assert removed
    for row in removed:
        assert row["similarity"] >= similarity
        assert row["distance"] <= first
        assert row["check_distance"] <= second
    assert not {row["id"] for row in removed} & {row["kept"] for row in removed}
    keeper = {row["id"]: row["kept"] for row in removed}
    assert keeper.get(0, 0) != keeper.get(39, 39)
    largest = [max(row[name] for row in removed) for name in ("distance", "check_distance")]
    assert summary["largest_distances"] == largest
    connected = cli("dedup", source, "--groups", "-", "--linkage", "connected", *options).groups
    assert connected == {frozenset(range(40))}


@pytest.mark.parametrize("step", [1, 2])
@pytest.mark.parametrize("limit", [2, 3, 6])
def test_chain_of_values_is_not_swallowed(cli: Cli, tmp_path: Path, step: int, limit: int) -> None:
    """The same with ready-made values, one or two new bits a step."""
    bits = random.Random(32).sample(range(64), 64)
    numbers = [0x0123456789ABCDEF]
    for i in range(29):
        numbers.append(numbers[-1] ^ sum(1 << bit for bit in bits[i * step : i * step + step]))
    source = write_values(tmp_path / "in.jsonl", {str(i): format(n, "016x") for i, n in enumerate(numbers)})
    removed = cli("dedup", source, "--fingerprint-field", "fp", "--distance", limit, "--removed", "-").records
    assert removed
    for row in removed:
        distance = (numbers[int(row["id"])] ^ numbers[int(row["kept"])]).bit_count()
        assert row["distance"] == distance <= limit
    assert len({row["kept"] for row in removed}) >= 29 * step // (2 * limit + step)


def test_copies_are_folded_before_any_pair_is_compared(cli: Cli, tmp_path: Path) -> None:
    """20,000 copies of one page, some in other type, are one group, and no pair of texts is compared."""
    page = "404 Not found. The page you asked for is not on this server; write to the keeper of the site."
    source = write_texts(tmp_path / "in.jsonl", [page, page.upper(), page + " !", "  " + page] * 5000)
    summary = cli("dedup", source, "--json").summary
    assert (summary["kept"], summary["exact_copies"], summary["groups"], summary["compared"]) == (1, 19_999, 1, 0)
    assert summary["largest_groups"] == [{"kept": "0", "rows": 20_000}]


def test_common_header_costs_one_comparison_a_row(cli: Cli, tmp_path: Path) -> None:
    """Rows with one long header and a few own words: comparisons grow with the rows, not with their square."""
    chance = random.Random(33)
    words = vocabulary(chance, 3000)
    header = " ".join(chance.choices(words, k=300))
    texts = [header + " " + " ".join(chance.choices(words, k=20)) for _ in range(4000)]
    compared = {}
    for n in (1000, 2000, 4000):
        summary = cli("dedup", write_texts(tmp_path / f"{n}.jsonl", texts[:n]), "--json").summary
        assert summary["removed"] >= 0.99 * n
        compared[n] = summary["compared"]
    assert compared[2000] < 3 * compared[1000]
    assert compared[4000] < 3 * compared[2000]


def test_hot_word_hides_no_row(cli: Cli, tmp_path: Path) -> None:
    """3,000 values that share three of four blocks, with planted twins: every twin is found, whatever the crowd."""
    chance = random.Random(34)
    values = {f"n{i}": f"{chance.getrandbits(16):04x}aaaabbbbcccc" for i in range(3000)}
    names = chance.sample(sorted(values), 50)
    values |= {f"twin-{name}": values[name] for name in names}
    source = write_values(tmp_path / "in.jsonl", values)
    records = cli("dedup", source, "--fingerprint-field", "fp", "--distance", "0", "--removed", "-").records
    twins = {row["id"]: row["kept"] for row in records}
    assert all(values[a] == values[b] for a, b in twins.items())
    assert len(twins) == len(values) - len(set(values.values()))
