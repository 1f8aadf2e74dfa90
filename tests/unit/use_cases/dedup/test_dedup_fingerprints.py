"""Ready-made fingerprints: read from a field, compared by their bits alone."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from dedup_running import check_consistency, run, write_rows

from simhash_es.backends.files.options import ReadOptions
from simhash_es.core.bits import to_hex
from simhash_es.core.presets import DEFAULT, preset
from simhash_es.core.similarity import parse_criterion, parse_feature_spec
from simhash_es.errors import BadRow, InputError, InvalidOption

READ = ReadOptions(fingerprint_field="fp")


def source(tmp_path: Path, *fingerprints: Any) -> str:
    tmp_path.mkdir(exist_ok=True)
    return write_rows(tmp_path / "in.jsonl", [{"id": f"r{i}", "fp": value} for i, value in enumerate(fingerprints)])


def keepers(tmp_path: Path, *fingerprints: Any, **options: Any) -> dict[str, str]:
    result = run(tmp_path / "out", source(tmp_path, *fingerprints), read=READ, **options)
    check_consistency(result, len(fingerprints))
    return result.keepers


def test_two_families_in_one_bucket_stay_two_groups(tmp_path: Path) -> None:
    """Two true pairs that share a word of the fingerprint are two groups of two, not one of four."""
    value = 0x1111222233334444
    other = 0x1111DDDDCCCCBBBB
    found = keepers(tmp_path, to_hex(value), to_hex(value ^ 1), to_hex(other), to_hex(other ^ 2), distance=3)
    assert found == {"r1": "r0", "r3": "r2"}


def test_neighbours_with_and_without_a_common_word(tmp_path: Path) -> None:
    """Distance 3 with one word in common, distance 4 with none: each is found at its own limit and not below."""
    query, three, four = "0123456789abcdef", "0123456689aacdee", "0122456689aacdee"
    for distance, expected in ((2, {}), (3, {"r1": "r0"}), (4, {"r1": "r0", "r2": "r0"})):
        found = run(tmp_path / f"{distance}", source(tmp_path, query, three, four), read=READ, distance=distance)
        reached = {row: kept for row, kept in found.keepers.items() if kept == "r0"}
        assert reached == expected
        pairs = {(pair["a"], pair["b"]) for pair in found.pairs or ()}
        assert (("r0", "r1") in pairs) == (distance >= 3)
        assert (("r0", "r2") in pairs) == (distance >= 4)


def test_limit_zero_finds_equal_values(tmp_path: Path) -> None:
    """A limit of 0 finds equal values and nothing else; 0 is a value like others."""
    found = keepers(tmp_path, "0" * 16, "0" * 15 + "1", "0" * 16, "f" * 16, "F" * 16, distance=0)
    assert found == {"r2": "r0", "r4": "r3"}


@pytest.mark.parametrize("distance", [-1, 65])
def test_limits_out_of_range(tmp_path: Path, distance: int) -> None:
    """A limit below 0 or above the width is refused."""
    with pytest.raises(InvalidOption, match=f"limit {distance} "):
        keepers(tmp_path, "0" * 16, distance=distance)


def test_each_neighbour_once(tmp_path: Path) -> None:
    """Three equal values and one a bit away are one group of four, every pair at most once and none mirrored."""
    value = 0x0123456789ABCDEF
    rows = [to_hex(v) for v in (value, value, value, value ^ 1)]
    result = run(tmp_path / "out", source(tmp_path, *rows), read=READ, distance=3)
    check_consistency(result, 4)
    assert result.members == {"r0": {"r1", "r2", "r3"}}
    assert [(pair["a"], pair["b"]) for pair in result.pairs or ()] == [("r0", "r1"), ("r0", "r2"), ("r0", "r3")]


def test_chain_of_values_is_not_swallowed(tmp_path: Path) -> None:
    """Thirty values, each two bits from the one before: a row goes only with a kept row within its own limit."""
    values = [(1 << 2 * step) - 1 for step in range(30)]
    result = run(tmp_path / "out", source(tmp_path, *map(to_hex, values)), read=READ, distance=3)
    check_consistency(result, 30)
    assert len(result.kept_ids) == 15
    assert max(row["distance"] for row in result.removed or ()) <= 3


def test_rows_without_a_fingerprint(tmp_path: Path) -> None:
    """Null, empty and absent are no fingerprint: such rows stay, are counted as empty, and join nobody."""
    rows = [{"id": 0, "fp": None}, {"id": 1, "fp": ""}, {"id": 2}, {"id": 3, "fp": "0" * 16}, {"id": 4, "fp": "0" * 16}]
    result = run(tmp_path / "out", write_rows(tmp_path / "in.jsonl", rows), read=READ, distance=3)
    check_consistency(result, 5)
    assert result.kept_ids == [0, 1, 2, 3]
    assert (result.summary.empty, result.summary.exact_copies, result.summary.short) == (3, 1, 0)


@pytest.mark.parametrize(
    ("digits", "options", "limits"),
    [
        (16, {"distance": 3}, (3,)),
        (32, {"distance": 3}, (3, 64)),
        (32, {"distance": 3, "check_distance": 5}, (3, 5)),
        (32, {"distance": 3, "fingerprint_bits": 128}, (3,)),
        (8, {"distance": 3}, (3,)),
        (32, {"distance": 3, "profile": preset("characters")}, (3,)),
        (48, {"distance": 3, "profile": DEFAULT.with_options(halves=3)}, (3, 64, 64)),
    ],
)
def test_width_follows_the_digits(
    tmp_path: Path, digits: int, options: dict[str, Any], limits: tuple[int, ...]
) -> None:
    """16 digits are one value, 32 two halves or, as asked, one of 128 bits; others are one value of their width."""
    value = int("123456789abcdef0" * 3, 16) & ((1 << 4 * digits) - 1)
    rows = [f"{value:0{digits}x}", f"{value ^ 0b11:0{digits}x}", f"{value ^ 0b11111 << (4 * digits - 8):0{digits}x}"]
    result = run(tmp_path / "out", source(tmp_path, *rows), read=READ, **options)
    check_consistency(result, 3)
    assert result.summary.limits.distances == limits
    assert result.keepers == {"r1": "r0"}


@pytest.mark.parametrize("vote", [2, 3])
def test_votes_of_three_halves(tmp_path: Path, vote: int) -> None:
    """Two of three halves may decide, or all of them."""
    profile = DEFAULT.with_options(halves=3, vote=vote)
    same, far = "0123456789abcdef", "fedcba9876543210"
    rows = [same * 3, same + far + same, far + same + same, same * 2 + far, far * 2 + same, same * 2 + to_hex(1 << 63)]
    found = keepers(tmp_path, *rows, profile=profile, distance=3, check_distance=3)
    assert found == ({"r1": "r0", "r2": "r0", "r3": "r0", "r5": "r0"} if vote == 2 else {})


def test_random_values_equal_brute_force(tmp_path: Path) -> None:
    """Groups and pairs of random clustered values are those of a plain loop."""
    chance = random.Random(1)
    bases = [chance.getrandbits(128) for _ in range(30)]
    values = []
    for _ in range(300):
        value = chance.choice(bases)
        for _ in range(chance.randrange(9)):
            value ^= 1 << chance.randrange(128)
        values.append(value)
    result = run(
        tmp_path / "out", source(tmp_path, *(to_hex(v, 128) for v in values)), read=READ, distance=5, check_distance=4
    )
    check_consistency(result, 300)

    def is_near(a: int, b: int) -> bool:
        bits = values[a] ^ values[b]
        return (bits >> 64).bit_count() <= 5 and (bits & (1 << 64) - 1).bit_count() <= 4

    kept: list[int] = []
    expected = {}
    for row in range(300):
        keeper = next((k for k in kept if is_near(row, k)), None)
        if keeper is None:
            kept.append(row)
        else:
            expected[f"r{row}"] = f"r{keeper}"
    assert result.keepers == expected
    first = {value: i for i, value in reversed(list(enumerate(values)))}
    pairs = {(a, b) for b in range(300) for a in range(b) if is_near(a, b) and first[values[a]] == a}
    pairs = {(a, b) for a, b in pairs if first[values[b]] == b or values[a] == values[b]}
    assert {(int(p["a"][1:]), int(p["b"][1:])) for p in result.pairs or ()} == pairs


@pytest.mark.parametrize("bad", ["xyz", "0" * 15, "0" * 17, "0x" + "0" * 14, "g" + "0" * 15, " " + "0" * 15])
def test_bad_fingerprint(tmp_path: Path, bad: str) -> None:
    """What is not the expected number of digits stops the run with file, line and value."""
    with pytest.raises(BadRow, match=r"in\.jsonl: line 2: the fingerprint") as caught:
        keepers(tmp_path, "0" * 16, bad, distance=3)
    assert caught.value.line == 2
    assert "16 hexadecimal digits" in str(caught.value)


def test_no_row_has_a_fingerprint(tmp_path: Path) -> None:
    """A field that no row has stops the run and names the field."""
    rows = [{"id": i, "fp": None} for i in range(3)]
    with pytest.raises(InputError, match="'fp'"):
        run(tmp_path / "out", write_rows(tmp_path / "in.jsonl", rows), read=READ)


def test_no_row_at_all(tmp_path: Path) -> None:
    """An empty file has no fingerprints to miss."""
    empty = tmp_path / "in.jsonl"
    empty.write_text("")
    for name, bits in (("default", None), ("one value", 64)):
        result = run(tmp_path / name, str(empty), read=READ, fingerprint_bits=bits)
        check_consistency(result, 0)


def test_options_that_need_texts(tmp_path: Path) -> None:
    """Criteria on texts, another width than found, and too many digits are refused."""
    with pytest.raises(InvalidOption, match="--verify"):
        keepers(tmp_path, "0" * 16, verify=(parse_criterion("cosine:0.9"),))
    with pytest.raises(InvalidOption, match="--verify-features words:2"):
        keepers(tmp_path / "a", "0" * 16, verify_features=parse_feature_spec("words:2"))
    with pytest.raises(InvalidOption, match="64 bits found, 128 asked for"):
        keepers(tmp_path / "b", "0" * 16, fingerprint_bits=128)
    with pytest.raises(InvalidOption, match="192 bits found"):
        keepers(tmp_path / "c", "0" * 48)


def test_fingerprints_alone_never_drop_what_the_text_keeps(tmp_path: Path) -> None:
    """Equal fingerprints drop a row where they are all there is, and never where texts are compared."""
    same = "0123456789abcdef" * 2
    rows = [{"id": i, "fp": same, "text": text} for i, text in enumerate(("bees and their hives", "harbours at night"))]
    path = write_rows(tmp_path / "in.jsonl", rows)
    assert run(tmp_path / "fingerprints", path, read=READ).summary.removed == 1
    assert run(tmp_path / "texts", path).summary.removed == 0
