"""Limits that the lookup cannot keep, neighbours lost or listed twice."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest
from fault_running import Cli, vocabulary, write_texts, write_values

NEAR = {"q": "fedcba9876543210", "three": "fedcba9976553211", "four": "fedcba9976553251", "five": "fedebb9976553251"}
FIELD = ("--fingerprint-field", "fp")


def pairs_of(values: dict[str, str], limit: int) -> dict[frozenset[str], int]:
    names = list(values)
    distances = {
        frozenset((a, b)): (int(values[a], 16) ^ int(values[b], 16)).bit_count()
        for i, a in enumerate(names)
        for b in names[:i]
    }
    return {pair: distance for pair, distance in distances.items() if distance <= limit}


def listed(cli: Cli, source: Path, *options: object) -> dict[frozenset[str], int]:
    records = cli("dedup", source, *FIELD, "--pairs", "-", *options).records
    counts = Counter(frozenset((record["a"], record["b"])) for record in records)
    assert set(counts.values()) <= {1}
    return {frozenset((record["a"], record["b"])): record["distance"] for record in records}


@pytest.mark.parametrize("limit", [0, 1, 3, 4, 5, 6, 7, 15, 16, 21, 33, 63, 64])
@pytest.mark.parametrize("width", [16, 64, 128])
def test_every_pair_within_any_limit(cli: Cli, tmp_path: Path, limit: int, width: int) -> None:
    """All pairs of different values within the limit are found, once each, also where they share no block of 16 bits,
    and no others."""
    chance = random.Random(limit * 1000 + width)
    values = {f"r{i}": chance.getrandbits(width) for i in range(30)}
    for name, value in list(values.items()):
        for step in range(3):
            for bit in chance.sample(range(width), min(width, max(0, limit + step - 1))):
                value ^= 1 << bit
            values[f"{name}-{step}"] = value
    different = {format(value, f"0{width // 4}x"): name for name, value in values.items()}
    texts = {name: text for text, name in different.items()} | (NEAR if width == 64 else {})
    source = write_values(tmp_path / "in.jsonl", texts)
    found = listed(cli, source, "--distance", min(limit, width), "--bits", width)
    assert found == pairs_of(texts, min(limit, width))


@pytest.mark.parametrize("limit", ["-1", "65", "1000", "3.5", "1e1", "four", ""])
def test_impossible_limits_are_refused(cli: Cli, tmp_path: Path, limit: str) -> None:
    """A limit that is negative, above the width or no whole number ends with one clear message."""
    run = cli("dedup", write_values(tmp_path / "in.jsonl", NEAR), *FIELD, "--distance", limit)
    assert (run.code, run.out) == (2, b"")
    assert run.err.startswith("error: ")
    assert "distance" in run.err


@pytest.mark.parametrize("linkage", ["keeper", "connected"])
def test_families_that_meet_in_one_block_stay_apart(cli: Cli, tmp_path: Path, linkage: str) -> None:
    """Families of values that share a block and little else are groups of their own."""
    bases = {"a": 0x7777000011112222, "b": 0x7777FFFFEEEEDDDD, "c": 0x77770F0FF0F0C3C3}
    values = {f"{name}{bit}": format(base ^ 1 << bit, "016x") for name, base in bases.items() for bit in (0, 1)}
    source = write_values(tmp_path / "in.jsonl", values)
    groups = cli("dedup", source, *FIELD, "--groups", "-", "--linkage", linkage).groups
    assert groups == {frozenset({f"{name}0", f"{name}1"}) for name in bases}


@pytest.mark.parametrize("linkage", ["keeper", "connected"])
@pytest.mark.parametrize("limit", [1, 3, 20])
def test_equal_values_are_neighbours_once(cli: Cli, tmp_path: Path, linkage: str, limit: int) -> None:
    """Three equal values and one a bit away are one group; no pair is listed twice or the other way round."""
    equal = "89ab4567cdef0123"
    values = {"a": equal, "b": equal, "c": equal, "d": "89ab4567cdef0122"}
    source = write_values(tmp_path / "in.jsonl", values)
    options = ("--distance", limit, "--linkage", linkage)
    (group,) = cli("dedup", source, *FIELD, "--groups", "-", *options).records
    assert [member["id"] for member in group["members"]] == ["b", "c", "d"]
    assert len(listed(cli, source, *options)) == 3


def test_equal_texts_are_neighbours_once(cli: Cli, tmp_path: Path) -> None:
    """Three copies of a text and one with a word more are one group, each named once, and a query names each once."""
    chance = random.Random(21)
    text = " ".join(chance.sample(vocabulary(chance, 300), 60))
    source = write_texts(tmp_path / "in.jsonl", [text, text, text, text + " extra"])
    (group,) = cli("dedup", source, "--groups", "-").records
    assert (group["kept"], [member["id"] for member in group["members"]]) == (0, [1, 2, 3])
    store = tmp_path / "seen.sqlite"
    cli("dedup", source, "--store", store, "--similarity", "1")
    matches = cli("near", "--store", store, text, "--json").records
    assert sorted(match["id"] for match in matches) == [0, 3]


@pytest.mark.parametrize("share", [0, 8, 16])
def test_true_match_behind_many_half_matches(cli: Cli, tmp_path: Path, share: int) -> None:
    """Among 5,000 stored values with one block of the query, the one near value, stored last, is returned."""
    chance = random.Random(share)
    values = {f"n{i}": f"fedc{chance.getrandbits(48):012x}" for i in range(5000)}
    values["true"] = format(0xFEDCBA9876543210 ^ (0b111 << share), "016x")
    store = tmp_path / "seen.sqlite"
    cli("dedup", write_values(tmp_path / "in.jsonl", values), *FIELD, "--distance", "0", "--store", store)
    near = cli("near", "--store", store, "--fingerprint", "fedcba9876543210", "--distance", "3", "--json").records
    assert [(match["id"], match["distance"]) for match in near] == [("true", 3)]
