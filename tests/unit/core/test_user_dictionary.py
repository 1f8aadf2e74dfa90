"""User dictionaries."""

from __future__ import annotations

from pathlib import Path

import pytest

from simhash_es.core.user_dictionary import UserDictionary
from simhash_es.errors import InvalidOption


def test_read(tmp_path: Path) -> None:
    """Word, optional frequency, optional class, as jieba reads them."""
    path = tmp_path / "words.txt"
    path.write_bytes("\ufeff竹笋汤\r\n码头班车 12 n\n\n 蘑菇汤 n \nNew York 3\n".encode())
    dictionary = UserDictionary.read(path)
    assert dictionary.words() == [("竹笋汤", None), ("码头班车", 12), ("蘑菇汤", None), ("New York", 3)]
    assert len(dictionary.digest) == 32


def test_equality_is_by_content(tmp_path: Path) -> None:
    """The same words in another place are the same dictionary."""
    for name, text in (("a", "竹笋汤"), ("b", "竹笋汤"), ("c", "蘑菇汤")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    a, b, c = (UserDictionary.read(tmp_path / name) for name in "abc")
    assert a == b
    assert a != c


def test_changed_file_is_noticed(tmp_path: Path) -> None:
    """The words are those of the digest, or none."""
    path = tmp_path / "words.txt"
    path.write_text("竹笋汤", encoding="utf-8")
    dictionary = UserDictionary.read(path)
    path.write_text("蘑菇汤", encoding="utf-8")
    with pytest.raises(InvalidOption, match="has changed"):
        dictionary.words()
    path.unlink()
    with pytest.raises(InvalidOption, match="cannot read"):
        dictionary.words()


@pytest.mark.parametrize(("content", "said"), [(b"", "no word"), (b"\n \n", "no word"), (b"ab\n\xd6\xf1\n", "byte 3")])
def test_bad_files_are_refused(tmp_path: Path, content: bytes, said: str) -> None:
    """A file without words, or in another encoding, is an error at once."""
    path = tmp_path / "words.txt"
    path.write_bytes(content)
    with pytest.raises(InvalidOption, match=said):
        UserDictionary.read(path)
