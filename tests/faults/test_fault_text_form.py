"""Fingerprints written and read as text: lost zeros, signs, and values from another pipeline."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fault_running import Cli, write_rows, write_values

from simhash_es import Fingerprint, Profile, SimhashEsError, fingerprint, fingerprints, guide, hamming_distance

ONE = Profile().with_options(halves=1)
WIDE = Profile().with_options(bits=128)
TEXT = "Bees leave the hive when the lime trees are in flower, 渡船六点半从码头开出，带自行车的乘客请早到。"


@pytest.mark.parametrize("value", [0, 1, 0xA00FF, 2**15, 2**48 - 1, 2**63 - 1, 2**63, 2**64 - 1])
def test_sixteen_digits_and_back(value: int) -> None:
    """A value of 64 bits is always 16 lower-case digits without a sign, and reads back exactly."""
    text = Fingerprint((value,), ONE).hex
    assert text == format(value, "016x")
    assert Fingerprint.from_hex(text, ONE).values == (value,)
    both = Fingerprint((value, 1)).hex
    assert [both[i : i + 4] for i in range(0, 16, 4)] == [format(value >> at & 0xFFFF, "04x") for at in (48, 32, 16, 0)]
    assert Fingerprint.from_hex(both).values == (value, 1)


@pytest.mark.parametrize("value", [0, 1, 2**63, 2**64, 2**127, 2**128 - 1])
def test_thirty_two_digits_and_back(value: int) -> None:
    """A value of 128 bits is always 32 digits."""
    text = Fingerprint((value,), WIDE).hex
    assert text == format(value, "032x")
    assert Fingerprint.from_hex(text, WIDE).values == (value,)


@pytest.mark.parametrize(
    "text",
    [
        "a00ff",
        "-000000000000001",
        "+000000000000001",
        "0x000000000a00ff",
        "0000_0000_000a_f",
        "000000000000000g",
        "０００００００００００００００1",
        "00000000000000001",
        "",
    ],
)
def test_other_forms_are_refused(text: str, cli: Cli, tmp_path: Path) -> None:
    """Lost zeros, signs, prefixes and foreign digits are errors, never another value; an empty one is no value."""
    with pytest.raises(SimhashEsError):
        Fingerprint.from_hex(text, ONE)
    source = write_values(tmp_path / "in.jsonl", {"a": "00000000000a00ff", "b": text})
    run = cli("dedup", source, "--fingerprint-field", "fp", "--json")
    assert run.code == (3 if text else 0)
    assert not text or "in.jsonl: line 2" in run.err


@pytest.mark.parametrize("value", [-1, 2**64])
def test_value_that_does_not_fit_is_refused(value: int) -> None:
    """Neither a sign nor a digit too many is ever written."""
    with pytest.raises(SimhashEsError):
        _ = Fingerprint((value,), ONE).hex


@pytest.mark.parametrize("bits", [1, 7, 16, 63, 64, 65, 100, 127, 128])
def test_width_is_kept(bits: int, cli: Cli) -> None:
    """Text of any width has the same number of digits as every other of this width, in the guide's form too."""
    profile = Profile().with_options(bits=bits, halves=1)
    texts = [f"{TEXT} {i}" for i in range(40)]
    lines = cli("fingerprint", "--bits", bits, "--halves", "1", stdin="\n".join(texts).encode()).out.decode().split()
    assert {len(line) for line in lines} == {-(-bits // 4)}
    assert [Fingerprint.from_hex(line, profile) for line in lines] == list(fingerprints(texts, profile))
    assert {len(guide.simhash(text, bits)) for text in texts[:5]} == {bits}


def test_values_above_the_signed_range_compare_and_match(cli: Cli, tmp_path: Path) -> None:
    """Values from 2**63 up have distances like others, and each is found by its own value only."""
    assert hamming_distance(2**64 - 1, 0) == 64
    assert hamming_distance(2**63, 2**63 - 1) == 64
    values = ["7fffffffffffffff", "8000000000000000", "fffffffffffffffe", "ffffffffffffffff", "0020000000000001"]
    source = write_values(tmp_path / "in.jsonl", {value: value for value in values})
    store = tmp_path / "seen.sqlite"
    cli("dedup", source, "--fingerprint-field", "fp", "--distance", "0", "--store", store)
    for value in values:
        run = cli("near", "--store", store, "--fingerprint", value, "--distance", "0", "--json")
        assert [match["id"] for match in run.records] == [value]


def test_one_text_has_one_value_by_every_way(cli: Cli, tmp_path: Path) -> None:
    """As a string, as one of many, as a line and as a row of each format the value is the same."""
    made = fingerprint(TEXT)
    assert made is not None
    assert fingerprints(["x", TEXT])[1] == made
    assert cli("fingerprint", stdin=TEXT.encode()).out.decode() == made.hex + "\n"
    (tmp_path / "a.txt").write_text(TEXT + "\n", encoding="utf-8")
    (tmp_path / "a.csv").write_text(f'id,text\n1,"{TEXT}"\n', encoding="utf-8")
    (tmp_path / "a.json").write_text(json.dumps([{"id": 1, "text": TEXT}]), encoding="utf-8")
    write_rows(tmp_path / "a.jsonl", [{"id": 1, "text": TEXT}])
    for name in ("a.txt", "a.csv", "a.json", "a.jsonl"):
        assert cli("fingerprint", tmp_path / name).out.decode() == made.hex + "\n"
    report = json.loads(cli("compare", "--text", TEXT, TEXT, "--json").out)
    assert report["a"]["fingerprint"] == made.hex


@pytest.mark.parametrize("change", ["tokenizer", "bits", "dictionary", "hash", "ngram", "cleaning"])
def test_values_of_two_pipelines_are_never_compared(change: str, cli: Cli, tmp_path: Path) -> None:
    """A store made with one setting refuses another one and names both, rather than finding nothing."""
    words = [tmp_path / "one.txt", tmp_path / "two.txt"]
    words[0].write_text("头班渡船 100 n\n", encoding="utf-8")
    words[1].write_text("自行车道 100 n\n", encoding="utf-8")
    base: list[object] = ["--tokenizer", "jieba", "--user-dictionary", words[0]]
    changed: dict[str, list[object]] = {
        "tokenizer": ["--tokenizer", "chars"],
        "bits": [*base, "--bits", "128"],
        "dictionary": ["--tokenizer", "jieba", "--user-dictionary", words[1]],
        "hash": [*base, "--hash", "md5"],
        "ngram": [*base, "--ngram", "2"],
        "cleaning": [*base, "--digits"],
    }
    named = {
        "tokenizer": ("jieba", "chars"),
        "bits": ("64", "128"),
        "dictionary": ("dictionary", "against"),
        "hash": ("murmur3", "md5"),
        "ngram": ("2", "against"),
        "cleaning": ("digits", "against"),
    }
    store = tmp_path / "seen.sqlite"
    source = write_rows(tmp_path / "in.jsonl", [{"id": i, "text": f"{TEXT} {i * i}"} for i in range(10)])
    assert cli("dedup", source, "--store", store, *base).code == 0
    run = cli("dedup", source, "--store", store, *changed[change])
    assert (run.code, run.out) == (4, b"")
    assert all(word in run.err for word in named[change])
    assert "Traceback" not in run.err
    assert cli("near", "--store", store, TEXT + " 0", "--json").records
    assert cli("near", "--store", store, "--fingerprint", "f" * 64).code != 0
    with pytest.raises(SimhashEsError):
        hamming_distance(fingerprints([TEXT]), fingerprints([TEXT], WIDE))
