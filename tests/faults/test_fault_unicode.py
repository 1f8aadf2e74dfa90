"""The same characters in other code points."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from fault_running import Cli, write_texts

from simhash_es import fingerprint, fingerprints

ACCENTS = "Dvořák à Nîmes — öffentliche Führung, señor Ibáñez; tiếng Việt"
PAIRS = {
    "composed": (ACCENTS, unicodedata.normalize("NFD", ACCENTS)),
    "hangul": ("항구의 배는 여섯 시에 떠납니다", unicodedata.normalize("NFD", "항구의 배는 여섯 시에 떠납니다")),
    "full width": ("开业ＸＹＺ７８９！全场（八）折", "开业xyz789,全场(八)折"),
    "half-width kana": ("ｶﾞｲﾄﾞ ﾌﾞｯｸ", "ガイド ブック"),
    "zero-width": ("boats\u200b leave\u200b at\u200d noon", "boats leave at noon"),
    "soft hyphen": ("har\u00adbour mas\u00adter", "harbour master"),
    "joiner and mark inside": ("a\u2060b\ufeffc trees", "abc trees"),
    "variation": ("葛\U000e0100城的\ufe0f路 ☎\ufe0f", "葛城的路"),
    "direction": ("\u202bשלום עולם\u202c", "שלום עולם"),
    "ligature": ("ﬁne oﬀice ﬂoor", "fine office floor"),
    "case": ("Große Straße, ΟΔΟΣ", "GROSSE STRASSE οδος"),
    "spaces": ("seven\u00a0small\u2003boats\u202fhere", "seven small boats here"),
    "quotes": ("it’s “late”…", 'it\'s "late"...'),
    "compatibility ideograph": ("\uf9dc\uf9dd 里的船", "隆利 里的船"),
    "mark order": ("e\u0323\u0301ast wind", "e\u0301\u0323ast wind"),
}


@pytest.mark.parametrize("options", [(), ("--profile", "words"), ("--tokenizer", "jieba")], ids=" ".join)
def test_other_code_points_same_value(cli: Cli, options: tuple[str, ...]) -> None:
    """Composition, width, case, ligatures and invisible characters make no difference to a value."""
    texts = [text for pair in PAIRS.values() for text in pair]
    values = cli("fingerprint", *options, stdin="\n".join(texts).encode()).out.decode().split("\n")
    differing = [name for i, name in enumerate(PAIRS) if not values[2 * i] or values[2 * i] != values[2 * i + 1]]
    assert differing == []


def test_every_way_in_uses_the_normal_form(cli: Cli, tmp_path: Path) -> None:
    """Rows, queries, comparisons and values from Python agree; what is written is the original text."""
    first = [pair[0] for pair in PAIRS.values()]
    second = [pair[1] for pair in PAIRS.values()]
    old, new = write_texts(tmp_path / "old.jsonl", first), write_texts(tmp_path / "new.jsonl", second)
    removed = cli("dedup", old, new, "--removed", "-").records
    assert {row["reason"] for row in removed} == {"exact copy"}
    assert [row["row"]["text"] for row in removed] == second
    assert cli("dedup", old, new, "--output", "-").out == old.read_bytes()
    store = tmp_path / "seen.sqlite"
    cli("dedup", old, "--store", store)
    for i, text in enumerate(second):
        best = cli("near", "--store", store, text, "--json").records[0]
        assert (best["id"], best["distance"], best["similarity"]) == (i, 0, 1.0)
        assert fingerprint(first[i]) == fingerprint(text) is not None
        assert '"verdict": "identical"' in cli("compare", "--text", first[i], text, "--json").out.decode()
    assert list(fingerprints(first)) == list(fingerprints(second))


def test_different_texts_stay_different() -> None:
    """The normal form joins forms, not letters: marks and numbers that mean something keep texts apart."""
    for a, b in (
        ("résumé du jour", "resume du jour"),
        ("が行の船", "か行の船"),
        ("m² of land", "m³ of land"),
        ("后天见", "後天见"),
    ):
        assert fingerprint(a) != fingerprint(b)
