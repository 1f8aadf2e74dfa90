"""Telling encodings apart, and stopping where they cannot be told."""

from __future__ import annotations

import codecs
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simhash_es.backends.files.encodings import (
    TextEncoding,
    canonical_encoding,
    detect_encoding,
    is_chinese_like,
    needs_recoding,
)
from simhash_es.backends.files.options import OnError
from simhash_es.backends.files.recoding import text_chunks
from simhash_es.errors import BadRow, InvalidOption, UndecodableInput

Read = Callable[..., Any]
Put = Callable[..., Path]

SHOP = "堃記茶庄与喆喆书店在龘街开业"
CHINESE = (
    "春天来了，小区门口新开了一家面馆。老板是从山西来的，每天早上五点就起来和面，做出来的刀削面又薄又滑。"
    "我和同事常去那里吃午饭，一碗面十二块钱，再加一个卤蛋，就是很满足的一餐。听说下个月他还要卖饺子。"
)
TRADITIONAL = (
    "春天來了，社區門口新開了一家麵館。老闆是從山西來的，每天早上五點就起來和麵，做出來的刀削麵又薄又滑。"
    "我和同事常去那裡吃午飯，一碗麵十二塊錢，再加一個滷蛋，就是很滿足的一餐。聽說下個月他還要賣餃子。"
)
FRENCH = "Au café, le garçon a déjà servi l’élève. Ça coûte très cher à Noël, mais où est la clé du château ? "
GERMAN = "Überall hört man schöne Grüße; die Bäckerei öffnet täglich früh und die Straße ist größtenteils naß. "
RUSSIAN = "Весной у подъезда открыли лапшичную. Хозяин приехал издалека и встаёт в пять утра, чтобы месить тесто. "
JAPANESE = "駅前に新しい麺屋が開店しました。店主は毎朝五時に起きて生地をこね、とても薄い麺を作ります。"
KOREAN = "봄이 되어 동네 입구에 새 국수집이 문을 열었다. 주인은 매일 아침 다섯 시에 일어나 반죽을 한다. "
GREEK = "Την άνοιξη άνοιξε ένα νέο μαγαζί στη γειτονιά και ο ιδιοκτήτης ξυπνάει κάθε μέρα στις πέντε. "


def detect(data: bytes, **options: Any) -> TextEncoding:
    return detect_encoding(lambda: [data[i : i + 1000] for i in range(0, len(data), 1000)], "x", **options)


@pytest.mark.parametrize(
    ("mark", "codec"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
    ],
)
@pytest.mark.parametrize("encoding", [None, "gb18030", "latin-1"])
def test_mark_decides(read: Read, put: Put, mark: bytes, codec: str, encoding: str | None) -> None:
    """A byte order mark decides before everything else and is part of no row."""
    rows = f'{{"id": "好", "text": "{CHINESE}"}}\n{{"id": 2, "text": "x"}}'
    inputs, table = read(put("a.jsonl", mark + rows.encode(codec)), encoding=encoding)
    assert table == [('"好"', CHINESE), ("2", "x")]
    assert inputs.encoding(0).name == codec
    assert b"".join(raw for _, raw in inputs.raw_rows()) == rows.encode()
    assert read(put("a.csv", mark + "id,text\n1,好\n".encode(codec)))[1] == [('"1"', "好")]
    assert read(put("a.txt", mark + "好\n".encode(codec)))[1][0][1] == "好"
    assert read(put("a.md", mark + "好\n".encode(codec)))[1][0][1] == "好\n"
    assert read(put("a.json", mark + json.dumps([{"text": "好"}]).encode(codec)))[1][0][1] == "好"


@pytest.mark.parametrize("text", [CHINESE, TRADITIONAL, CHINESE * 500, SHOP, "正文 body " * 30])
def test_gb18030_is_recognised(text: str) -> None:
    """Chinese text in GB18030, rare and traditional characters included, is recognised as such."""
    assert detect(text.encode("gb18030")).name == "gb18030"


@pytest.mark.parametrize("name", ["gb18030", "GB2312", "gbk", "GBK", "cp936", "EUC-CN", "936"])
def test_subsets_of_gb18030_are_gb18030(read: Read, put: Put, name: str) -> None:
    """Whatever a user calls it, GB2312 and GBK are read as GB18030, rare characters included."""
    assert canonical_encoding(name) == "gb18030"
    stored, plain = put("gb.txt", SHOP.encode("gb18030")), put("utf8.txt", SHOP)
    _, table = read(stored, plain, encoding=name)
    assert [text for _, text in table] == [SHOP, SHOP]


@pytest.mark.parametrize("text", [SHOP, TRADITIONAL, CHINESE + "🍜"])
@pytest.mark.parametrize("encoding", ["gb18030", "big5"])
def test_utf8_stays_utf8_when_a_chinese_encoding_is_named(text: str, encoding: str) -> None:
    """One option serves a set in which some files are UTF-8 already."""
    assert detect(text.encode(), encoding=encoding).name == "utf-8"


@pytest.mark.parametrize(
    ("text", "codec"),
    [
        (TRADITIONAL, "big5"),
        (FRENCH, "latin-1"),
        (FRENCH, "cp1252"),
        (GERMAN, "cp1252"),
        (GERMAN, "mac_roman"),
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8-r"),
        (RUSSIAN, "iso8859-5"),
        (JAPANESE, "shift_jis"),
        (JAPANESE, "euc_jp"),
        (KOREAN, "euc_kr"),
        (GREEK, "iso8859-7"),
    ],
)
@pytest.mark.parametrize("on_error", list(OnError))
@pytest.mark.parametrize("times", [1, 200])
def test_other_encodings_stop(text: str, codec: str, on_error: OnError, times: int) -> None:
    """A file in any other encoding is never read as GB18030: the run stops with file, byte and the option."""
    data = (text.replace("’", "'").replace("，", ", ") * times).encode(codec, "ignore")
    with pytest.raises(UndecodableInput) as caught:
        detect(data, on_error=on_error)
    assert caught.value.byte == next(place for place, value in enumerate(data) if value > 0x7F)
    assert (caught.value.source, caught.value.line) == ("x", 1)
    assert "--encoding" in caught.value.hint


@pytest.mark.parametrize("codec", ["cp1251", "koi8-r", "iso8859-5", "cp1252", "mac_roman", "shift_jis", "big5"])
@pytest.mark.parametrize("length", [2, 3, 5, 9, 20])
def test_short_files_in_other_encodings_are_not_gb18030(codec: str, length: int) -> None:
    """However short the piece of text, chance does not make it Chinese."""
    for text in (FRENCH, RUSSIAN, JAPANESE, TRADITIONAL):
        for start in range(len(text)):
            data = text[start : start + length].encode(codec, "ignore")
            try:
                assert detect(data).name == "utf-8"
                data.decode()
            except UndecodableInput:
                pass


def test_broken_gb18030_stops() -> None:
    """One byte that is not GB18030, wherever it is, means no guess."""
    with pytest.raises(UndecodableInput):
        detect(CHINESE.encode("gb18030") * 100 + b"\xff")


def test_chinese_utf8_with_one_bad_byte() -> None:
    """UTF-8 with one bad byte is not taken for GB18030: it stops, or is UTF-8 with a bad row when those are skipped."""
    data = "".join(f"{CHINESE}\n" for _ in range(50)).encode() + b"\x80\n" + CHINESE.encode()
    with pytest.raises(UndecodableInput) as caught:
        detect(data)
    assert (data[caught.value.byte or 0], caught.value.line) == (0x80, 51)
    assert detect(data, on_error=OnError.SKIP).name == "utf-8"


def test_ascii_first_and_chinese_late(read: Read, put: Put) -> None:
    """A GB18030 file that begins with megabytes of ASCII is recognised by what comes after."""
    path = put("a.txt", b"plain ascii line\n" * 100_000 + CHINESE.encode("gb18030") + b"\n")
    inputs, table = read(path)
    assert inputs.encoding(0).name == "gb18030"
    assert table[-1][1] == CHINESE


@pytest.mark.parametrize("data", ["plain text".encode("utf-16-le"), (CHINESE + " and more\n" * 50).encode("utf-16-be")])
def test_utf16_without_a_mark_stops(data: bytes) -> None:
    """Text full of zero bytes is not taken for UTF-8."""
    with pytest.raises(UndecodableInput, match="UTF-16"):
        detect(data)
    assert detect(data, encoding="utf-16-le") == TextEncoding("utf-16-le", b"", True)


@pytest.mark.parametrize("name", ["klingon", "hex", "rot13", "zlib", "idna", "undefined", ""])
def test_unknown_encoding(read: Read, put: Put, name: str) -> None:
    """A name that is no text encoding is an error of the option."""
    with pytest.raises(InvalidOption, match="--encoding"):
        read(put("a.txt", "x"), encoding=name)


@pytest.mark.parametrize("name", ["utf-16", "utf-16-le", "utf-32-be", "utf-7", "iso2022_jp", "hz", "cp037"])
def test_encodings_that_hide_line_ends_are_recoded(name: str) -> None:
    """Encodings whose line breaks or quotes are not plain bytes are recoded."""
    assert needs_recoding(name)


@pytest.mark.parametrize("name", ["utf-8", "gb18030", "big5", "cp950", "cp1252", "latin-1", "euc_kr", "koi8-r"])
def test_encodings_that_keep_ascii_are_split_as_they_are(name: str) -> None:
    """Encodings that keep ASCII are read in place, so rows keep their bytes."""
    assert not needs_recoding(name)


def test_named_encoding_that_does_not_fit(read: Read, put: Put) -> None:
    """With an encoding named, a row that does not fit is one bad row with its line."""
    path = put("a.txt", "好天气\n".encode("big5") + b"\xff\xff\n" + "好\n".encode("big5"))
    with pytest.raises(BadRow, match=r"line 2: byte 0xff .* BIG5") as caught:
        read(path, encoding="big5")
    assert (caught.value.line, caught.value.byte) == (2, 7)
    inputs, table = read(path, encoding="big5", on_error="skip")
    assert ([text for _, text in table], inputs.skipped) == (["好天气", "好"], 1)


@given(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=60),
    st.integers(1, 9),
    st.sampled_from(["utf-16-le", "utf-16-be", "utf-32-le", "utf-7"]),
)
def test_recoded_chunks_are_the_text(text: str, chunk_bytes: int, codec: str) -> None:
    """Recoding gives the text in UTF-8 wherever the chunks end, with the mark dropped."""
    data = b"MARK" + text.encode(codec)
    chunks = [data[i : i + chunk_bytes] for i in range(0, len(data), chunk_bytes)]
    assert b"".join(text_chunks(chunks, TextEncoding(codec, b"MARK", True), "x")).decode() == text


def test_recoding_names_the_byte() -> None:
    """A byte that does not fit a recoded encoding is named with its position in the file."""
    data = codecs.BOM_UTF16_LE + "abcdef".encode("utf-16-le") + b"\x00\xdc" + "x".encode("utf-16-le")
    with pytest.raises(UndecodableInput) as caught:
        list(text_chunks([data[:5], data[5:15], data[15:]], TextEncoding("utf-16-le", codecs.BOM_UTF16_LE, True), "x"))
    assert caught.value.byte == 14


@pytest.mark.parametrize(
    ("seen", "verdict"), [("", False), ("abc", False), ("的的", False), ("的" * 3, True), ("的一是龘龘", False)]
)
def test_margin_over_chance(seen: str, verdict: bool) -> None:
    """A verdict needs enough characters to be more than chance."""
    assert is_chinese_like(Counter(seen)) is verdict


@pytest.mark.corpora
def test_real_texts_in_their_encodings(corpora: Path, read: Read) -> None:
    """One real text in GB2312, UTF-8 and Big5: the first two are read, the third stops with its byte."""
    folder = corpora.parent / "data" / "zh-vim-tutor-encodings"
    if not folder.is_dir():
        pytest.skip(f"no folder {folder}")
    inputs, _ = read(folder / "tutor.zh.euc", format="lines")
    assert inputs.encoding(0).name == "gb18030"
    assert read(folder / "tutor.zh.utf-8", format="lines")[0].encoding(0).name == "utf-8"
    with pytest.raises(UndecodableInput, match="byte 87"):
        read(folder / "tutor.zh.big5", format="lines")
