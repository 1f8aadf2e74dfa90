"""Word lists with weights."""

from __future__ import annotations

from pathlib import Path

import pytest

from simhash_es.core.word_weights import WordWeights
from simhash_es.errors import InvalidOption


def read(tmp_path: Path, content: str | bytes, **options: float) -> WordWeights:
    path = tmp_path / "words.tsv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return WordWeights.read(path, **options)


def test_read(tmp_path: Path) -> None:
    """Lines word<TAB>weight; comments, blank lines, a byte order mark and Windows line ends are passed over."""
    listed = read(tmp_path, "\ufeff# mine\nferry\t2.5\r\n\n竹笋\t0\nnew york\t1e1\n", default=0.5)
    assert dict(listed.entries) == {"ferry": 2560, "竹笋": 0, "new york": 10240}
    assert listed.default == 512


def test_weights_are_rounded_to_units(tmp_path: Path) -> None:
    """To the nearest 1/1024, exact halves to the even one."""
    assert dict(read(tmp_path, "a\t0.0005\nb\t0.00146484375\nc\t0.1\n").entries) == {"a": 1, "b": 2, "c": 102}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("ferry 2", "no tab"),
        ("\t2", "no tab"),
        ("ferry\ttwo", "'two' is no number"),
        ("ferry\t-1", "-1"),
        ("ferry\tnan", "nan"),
        ("ferry\tinf", "inf"),
        ("ferry\t1000001", "1000001"),
        ("ferry\t1\nferry\t2", "'ferry' has two weights"),
        (b"\xff\xfe", "cannot read"),
    ],
)
def test_bad_lists_are_refused(tmp_path: Path, content: str | bytes, said: str) -> None:
    """The message names the line and the value."""
    with pytest.raises(InvalidOption, match=said):
        read(tmp_path, content)


def test_message_names_the_line(tmp_path: Path) -> None:
    """A long list can be corrected."""
    with pytest.raises(InvalidOption, match=r"words\.tsv:2:"):
        read(tmp_path, "a\t1\nb\n")


def test_order_does_not_matter() -> None:
    """A list in another order is the same list."""
    one, other = WordWeights((("a", 1), ("b", 2))), WordWeights((("b", 2), ("a", 1)))
    assert one == other
    assert one.digest == other.digest
    assert one.digest != WordWeights((("a", 1), ("b", 2)), default=5).digest
