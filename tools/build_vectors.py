"""Build tests/data/vectors.json: known answers that every implementation of the fingerprint must give.

    python tools/build_vectors.py                  # values of the reference; those of PyPI simhash are kept
    pip install --target FOLDER simhash==2.1.2
    python tools/build_vectors.py --peer FOLDER    # ask PyPI simhash again

Run it only when a format version changes on purpose: stored fingerprints of users depend on these values.
"""

from __future__ import annotations

import argparse
import importlib
import json
import re
import sys
from pathlib import Path
from typing import Any

from simhash_es.core.bits import to_hex
from simhash_es.core.idf import build_idf
from simhash_es.core.normal_form import normal_form
from simhash_es.core.presets import PRESETS, preset
from simhash_es.core.profile import Cleaning, Profile
from simhash_es.core.profile_parts import Half
from simhash_es.core.reference import features_of, reference_fingerprint
from simhash_es.core.word_weights import WordWeights

TARGET = Path(__file__).parent.parent / "tests" / "data" / "vectors.json"
LONG = 2_000  # characters from which on a normal form is not written out
PEER_WIDTHS = (64, 128)

ENGLISH = (
    "The ferry leaves at half past six. Anyone who misses it has to wait for the mail boat, which has no fixed hours "
    "and takes no bicycles; the skipper decides."
)
CHINESE = "今天的菜市场卖新鲜竹笋，比昨天便宜了两块钱。老板说明天还有一批从山里运来的蘑菇，想买的话要早一点去。"
TWENTY_WORDS = (
    "maple copper lantern drift velvet harbor pebble thistle ember cradle quartz willow saddle beacon orchard "
    "tunnel feather marble canyon ripple "
)

# Each text as parts (string, times).
TEXTS: dict[str, list[tuple[str, int]]] = {
    "english": [(ENGLISH, 1)],
    "chinese": [(CHINESE, 1)],
    "chinese without full stop": [("今天的菜市场卖新鲜竹笋", 1)],
    "chinese with full stop": [("今天的菜市场卖新鲜竹笋。", 1)],
    "mixed": [("用 Python 3.12 写的脚本在 GPU 服务器上跑了 40 分钟，内存峰值 1.5GB，please retry later!", 1)],
    "traditional": [("圖書館週一閉館，請於週二上午再來。", 1)],
    "composed accents": [("Café Zürich — crème brûlée à emporter", 1)],
    "decomposed accents": [("Cafe\u0301 Zu\u0308rich — cre\u0300me bru\u0302le\u0301e a\u0300 emporter", 1)],
    "full width": [("促销ＡＢＣ１２３，仅限今天", 1)],
    "half width": [("促销ABC123,仅限今天", 1)],
    "zero width": [("no\u200bthing to\u200d see\ufeff here\u00ad, move\u2060 on", 1)],
    "emoji": [("Great! 👍🏽👨‍👩‍👧 see you 🎉 tomorrow ❤️", 1)],
    "emoji only": [("👍🏽🎉❤️", 1)],
    "lone surrogates": [("half \ud83d a smile \udc00 here", 1)],
    "control characters": [("tab\there\x00 and\x07 bell\r\nnext\x0bline\x85end\u2028last\u3000wide", 1)],
    "japanese": [("明日の朝、六時半のバスで港へ行きます。ﾃｽﾄ", 1)],
    "korean": [("내일 아침 여섯 시 반에 항구로 갑니다", 1)],
    "korean decomposed": [("\u1102\u1162\u110b\u1175\u11af 아침", 1)],
    "arabic": [("غدًا في السادسة والنصف صباحًا", 1)],
    "hindi": [("कल सुबह साढ़े छह बजे", 1)],
    "sharp s and sigma": [("STRASSE Straße ΟΔΥΣΣΕΥΣ Οδυσσεύς ǅ İstanbul", 1)],
    "rare chinese": [("㐀㐁中国鿖鿿人民𠀀𠀁豈更車龘", 1)],
    "markup": [
        ("<p>Fish &amp; chips<br>from <b>6</b>&nbsp;pm</p><script>track()</script> https://example.org/a?b=1", 1)
    ],
    "empty": [("", 1)],
    "spaces": [(" \t\u3000\r\n", 1)],
    "punctuation": [("!!!……", 1)],
    "one letter": [("a", 1)],
    "one chinese": [("书", 1)],
    "two chinese": [("竹笋", 1)],
    "three letters": [("abc", 1)],
    "four letters": [("abcd", 1)],
    "five letters": [("abcde", 1)],
    "609 repeats": [(TWENTY_WORDS, 1), ("豆腐 ", 609)],
    "70000 repeats": [(TWENTY_WORDS, 1), ("豆腐 ", 70_000)],
    "one letter repeated": [("a", 300)],
}

# Texts for the many profiles that differ from a preset in one setting only.
SHORT_LIST = (
    "english",
    "chinese",
    "mixed",
    "decomposed accents",
    "emoji",
    "markup",
    "empty",
    "one chinese",
    "609 repeats",
)
HUGE = "70000 repeats"  # slow in the readable reference, so not with every profile

# The peer gives texts without word characters one common value (here: none), and stops at a weight above 255.
NO_PEER = ("empty", "spaces", "punctuation", "emoji only", "609 repeats", HUGE, "one letter repeated")


def profiles() -> dict[str, Profile]:
    """All profiles of the vectors, by name."""
    default, words = preset("default"), preset("words")
    table = build_idf(set(features_of(text, words, half)) for text in (ENGLISH, CHINESE) for half in (0, 1))
    listed = WordWeights((("ferry", 5120), ("竹笋", 3072), ("的", 0), ("the", 0)))
    single = words.with_options(halves=1, ngram=1)
    found = dict(PRESETS)
    found |= {f"hash {name}": default.with_options(hash=name) for name in ("md5", "sha1", "cityhash", "xxhash")}
    found |= {f"hash {name}": default.with_options(hash=name) for name in ("cityhash64", "xxhash64")}
    found |= {f"{bits} bits": default.with_options(bits=bits) for bits in (1, 16, 63, 65, 100, 128)}
    found |= {f"{count} halves": default.with_options(halves=count, vote=2) for count in (3, 4, 5)}
    found |= {
        "two halves of 128 bits": default.with_options(bits=128, halves=2),
        "seed": default.with_options(seed=7),
        "md5 seed": default.with_options(hash="md5", seed=1),
        "tf": default.with_options(weights="tf"),
        "uniform": default.with_options(weights="uniform"),
        "punctuation kept": default.with_options(normal_form=type(default.normal_form)(punctuation=False)),
        "jieba": words.with_options(tokenizer="jieba"),
        "rjieba": words.with_options(tokenizer="rjieba"),
        "single words, tf": single.with_options(weights="tf"),
        "word trigrams": words.with_options(ngram="3/2"),
        "tf-idf": words.with_options(weights="tf-idf", idf=table),
        "manual": single.with_options(weights="manual", word_weights=listed),
        "guide, 128 bits": preset("guide").with_options(bits=128),
        "guide, 7 bits": preset("guide").with_options(bits=7),
        "compat-simhash, 128 bits": preset("compat-simhash").with_options(bits=128),
        "cleaned": default.with_options(
            cleaning=Cleaning(html=True, urls=True, digits=True, patterns=(r"(?i)please \w+",))
        ),
        "stop words, characters": default.with_options(cleaning=Cleaning(stop_words=("The", "at", "的", "今天"))),
        "stop words, words": words.with_options(cleaning=Cleaning(stop_words=("The", "at", "的", "今天"))),
        "one-character grams": Profile(halves=(Half(1, 1),), vote=1),
    }
    return found


def text_of(parts: list[tuple[str, int]]) -> str:
    """The text that the parts stand for."""
    return "".join(string * times for string, times in parts)


def values_of(text: str, profile: Profile) -> list[str] | None:
    """Hexadecimal value of each half, or ``None``."""
    values = reference_fingerprint(text, profile)
    return None if values is None else [to_hex(value, profile.width) for value in values]


def build(peer: dict[str, Any]) -> dict[str, Any]:
    """The content of the file."""
    by_name = profiles()
    texts = {name: {"parts": parts, "normal_form": shown(normal_form(text_of(parts)))} for name, parts in TEXTS.items()}
    vectors = [
        [text, name, values_of(text_of(TEXTS[text]), profile)]
        for name, profile in by_name.items()
        for text in (TEXTS if name in PRESETS else SHORT_LIST)
        if text != HUGE or name in ("default", "words")
    ]
    stored = {name: without_name(profile) for name, profile in by_name.items()}
    return {"profiles": stored, "texts": texts, "vectors": vectors, "peer simhash 2.1.2": peer}


def without_name(profile: Profile) -> dict[str, Any]:
    """JSON form of a profile, names of files left out."""
    data = profile.to_dict()
    assert "path" not in data.get("idf", {})
    assert "user_dictionary" not in data
    return data


def shown(text: str) -> str | None:
    """The text, unless it is long."""
    return text if len(text) <= LONG else None


def ask_peer(folder: str) -> dict[str, Any]:
    """Values of PyPI simhash, as ``{width: {text name: hex}}``."""
    sys.path.insert(0, folder)
    peer: Any = importlib.import_module("simhash")
    return {
        str(width): {
            name: to_hex(peer.Simhash(text_of(parts), f=width).value, width)
            for name, parts in TEXTS.items()
            if name not in NO_PEER
        }
        for width in PEER_WIDTHS
    }


def dumps(data: dict[str, Any]) -> str:
    """JSON with one text, profile or vector a line; lone surrogates escaped, everything else readable."""
    lines = []
    for key, value in data.items():
        items = value.items() if isinstance(value, dict) else ((None, item) for item in value)
        body = ",\n".join(
            ("" if name is None else json.dumps(name, ensure_ascii=False) + ": ") + json.dumps(item, ensure_ascii=False)
            for name, item in items
        )
        opening, closing = "{}" if isinstance(value, dict) else "[]"
        lines.append(f"{json.dumps(key)}: {opening}\n{body}\n{closing}")
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    return re.sub("[\ud800-\udfff]", lambda match: f"\\u{ord(match[0]):04x}", text)


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description="Build tests/data/vectors.json")
    parser.add_argument("--peer", metavar="FOLDER", help="folder with PyPI simhash 2.1.2")
    options = parser.parse_args()
    peer = ask_peer(options.peer) if options.peer else json.loads(TARGET.read_text("utf-8"))["peer simhash 2.1.2"]
    TARGET.write_text(dumps(build(peer)), "utf-8")
    print(f"{TARGET}: {TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
