"""Build the sample corpus in ``examples/sample`` from its hand-written base texts.

Each base text is written out once, and some get planted near-duplicates. What was planted is recorded in
``truth.tsv``. The same base texts and the same seed always give the same bytes::

    python tools/build_sample.py [FOLDER]
"""

from __future__ import annotations

import csv
import io
import json
import random
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

SAMPLE = Path(__file__).resolve().parent.parent / "examples" / "sample"
SEED = 20_24

# How many near-duplicates a base text gets. Most news travels a little, some of it travels far.
COPY_COUNTS = (0, 0, 1, 1, 1, 2, 2, 3, 4)
BIG_FAMILIES = {"en-fake-reviews": 11, "zh-xujiapinglun": 11, "en-otters": 7, "zh-shuita": 7, "zh-tz-tingshui": 5}

OUTLETS = {
    "en": ("Daily Harbour", "The Ledger", "Valley Post", "Morning Wire", "Northern Echo Online", "Newsdesk"),
    "zh": ("临江晚报", "青陵日报", "山城在线", "早报网", "新闻通讯社", "湖区周刊"),
}
HEADERS = {
    "en": ("FOR IMMEDIATE RELEASE. ", "Updated 14 minutes ago. By our own correspondent. ", "[Newsdesk] "),
    "zh": ("【本报讯】（记者 李明）", "山城在线消息：", "【转载】来源：早报网  "),
}
FOOTERS = {
    "en": (
        "\n\nRead more stories like this in our app. All rights reserved.",
        "\n\nSign up for the evening newsletter.",
        "\n\nThis article was first published by Newsdesk.",
    ),
    "zh": ("\n（责任编辑：陈晨）", "\n更多内容请关注公众号。", "\n声明：本文版权归原作者所有。"),
}
# Pairs that scanners really confuse.
CONFUSED = {
    "en": {"l": "1", "o": "0", "e": "c", "m": "rn", "h": "b", "i": "l", "s": "5", "a": "o", ".": ","},
    "zh": dict(zip("己末日人土大未天千士目入间今鸟水的", "已未曰入士太末夫干土日人问令乌永旳", strict=True)),
}
OCR_RATE = {"en": 0.014, "zh": 0.16}  # share of the letters above that is misread
FULL_WIDTH = {ord(c): ord(c) + 0xFEE0 for c in "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"}
ASCII_MARKS = str.maketrans({"，": ", ", "。": ". ", "：": ": ", "；": "; ", "（": " (", "）": ") ", "、": "/ "})
SHORT_TEXTS = ("OK.", "Good!", "好评", "不错。", "Thanks", "+1", "收到", "n/a", "退货", "See above", "好评！", "ok")
EMPTY_TEXTS = ("", "   ", "！！！", "…", "\u200b", "--")


@dataclass(frozen=True)
class Document:
    """One text of the corpus: its family, its language and what was done to it."""

    family: str
    kind: str  # news, notice or review
    title: str
    text: str
    edit: str = "original"

    @property
    def language(self) -> str:
        return self.family[:2]


Edit = Callable[[str, str, random.Random], str]  # (text, language, random source) -> edited text


def read_base(path: Path) -> list[Document]:
    """Read a base file: ``@ family | kind | title`` lines, each followed by the text."""
    body = re.sub(r"^#.*\n", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    documents = []
    for entry in re.split(r"^@ ", body, flags=re.MULTILINE)[1:]:
        head, text = entry.split("\n", 1)
        family, kind, title = (part.strip() for part in head.split("|"))
        documents.append(Document(family, kind, title, text.strip()))
    return documents


def read_words() -> dict[str, list[tuple[str, str]]]:
    words: dict[str, list[tuple[str, str]]] = {"en": [], "zh": []}
    for line in (SAMPLE / "words.tsv").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            language, old, new = line.split("\t")
            words[language].append((old, new))
    return words


WORDS = read_words()


def reprint(text: str, language: str, source: random.Random) -> str:
    return text


def retype(text: str, language: str, source: random.Random) -> str:
    """The same letters with other punctuation, case, width and white space."""
    if language == "zh":
        text = text.translate(FULL_WIDTH)
        return text.translate(ASCII_MARKS) if source.random() < 0.5 else text.replace("，", "， ").replace("\n\n", "\n")
    style = source.randrange(3)
    if style == 0:
        return text.replace("'", "’").replace(", ", " – ").replace("\n\n", "\n")
    if style == 1:
        first, rest = text.split(". ", 1)
        return f"{first.upper()}...  {rest}"
    return text.translate(FULL_WIDTH).replace(" ", "\u00a0", 5)


def reword(text: str, language: str, source: random.Random) -> str:
    """One to three words in about 200 letters (English) or 60 characters (Chinese) replaced."""
    wanted = max(1, len(text) * source.randint(1, 3) // (200 if language == "en" else 60))
    choices = [(old, new) for old, new in WORDS[language] if find_word(text, old, language)]
    for old, new in source.sample(choices, min(wanted, len(choices))):
        place = find_word(text, old, language)
        if place is not None:
            text = text[: place.start()] + new + text[place.end() :]
    return text


def find_word(text: str, word: str, language: str) -> re.Match[str] | None:
    return re.search(rf"\b{re.escape(word)}\b" if language == "en" else re.escape(word), text)


def add_header(text: str, language: str, source: random.Random) -> str:
    return source.choice(HEADERS[language]) + text


def add_footer(text: str, language: str, source: random.Random) -> str:
    return text + source.choice(FOOTERS[language])


def reorder(text: str, language: str, source: random.Random) -> str:
    """The first paragraph moved to the end."""
    first, _, rest = text.partition("\n\n")
    return f"{rest}\n\n{first}"


def misread(text: str, language: str, source: random.Random) -> str:
    """Scanning noise: letters that look alike, and in English now and then a lost space."""
    confused, rate = CONFUSED[language], OCR_RATE[language]
    out = []
    for letter in text:
        if letter == " " and source.random() < rate:
            continue
        out.append(confused[letter] if letter in confused and source.random() < rate else letter)
    return "".join(out)


def reword_and_sign(text: str, language: str, source: random.Random) -> str:
    return add_footer(reword(text, language, source), language, source)


def excerpt(text: str, language: str, source: random.Random) -> str:
    """The first paragraph alone: related, but below any sensible threshold."""
    return text.partition("\n\n")[0]


EDITS: dict[str, tuple[Edit, int]] = {  # name in truth.tsv: (function, weight)
    "copy": (reprint, 4),
    "typography": (retype, 6),
    "reworded": (reword, 7),
    "header": (add_header, 3),
    "footer": (add_footer, 4),
    "reordered": (reorder, 3),
    "ocr": (misread, 3),
    "reworded-footer": (reword_and_sign, 3),
    "excerpt": (excerpt, 2),
}


def plant(base: Document) -> list[Document]:
    """The base text and its near-duplicates; a draw that changes nothing becomes a plain copy."""
    source = random.Random(f"{SEED}:{base.family}")
    planted = [base]
    count = BIG_FAMILIES.get(base.family, source.choice(COPY_COUNTS))
    for name in source.choices(list(EDITS), [weight for _, weight in EDITS.values()], k=count):
        text = EDITS[name][0](base.text, base.language, source)
        planted.append(replace(base, text=text, edit="copy" if text == base.text else name))
    return planted


def build() -> list[Document]:
    """Every document, shuffled."""
    bases = read_base(SAMPLE / "base.en.txt") + read_base(SAMPLE / "base.zh.txt")
    documents = [document for base in bases for document in plant(base)]
    documents += [replace(kin, edit="template") for kin in read_base(SAMPLE / "kin.txt")]
    languages = ("en", "zh")
    for i, text in enumerate(SHORT_TEXTS):
        kind = "review" if i % 2 else "news"
        documents.append(Document(f"{languages[i % 4 // 2]}-short-{i:02}", kind, "", text, "short"))
    for i, text in enumerate(EMPTY_TEXTS):
        documents.append(Document(f"{languages[i % 2]}-empty-{i:02}", "news", "", text, "empty"))
    random.Random(SEED).shuffle(documents)
    return documents


Truth = list[tuple[str, str, str, str]]  # file, id, family, edit


def write_news(folder: Path, name: str, documents: list[Document], first_id: int | None) -> Truth:
    """JSON lines; ids are text (``en-0001``) or, with ``first_id``, numbers."""
    truth: Truth = []
    with (folder / name).open("w", encoding="utf-8", newline="\n") as out:
        for i, document in enumerate(documents):
            key: str | int = f"en-{i + 1:04}" if first_id is None else first_id + i
            outlets = OUTLETS[document.language]
            row = {"id": key, "title": document.title, "text": document.text, "outlet": outlets[i * 7 % len(outlets)]}
            out.write(json.dumps(row, ensure_ascii=False) + "\n")
            truth.append((name, str(key), document.family, document.edit))
    return truth


def write_reviews(folder: Path, name: str, documents: list[Document]) -> Truth:
    """CSV with a header line; both languages."""
    truth: Truth = []
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(["id", "product", "stars", "text"])
    for i, document in enumerate(documents):
        key = f"r-{i + 1:03}"
        writer.writerow([key, document.title, i * 3 % 5 + 1, document.text])
        truth.append((name, key, document.family, document.edit))
    (folder / name).write_text(table.getvalue(), encoding="utf-8", newline="\n")
    return truth


def write_notices(folder: Path, name: str, documents: list[Document]) -> Truth:
    """A folder with one GB18030 text file a notice."""
    truth: Truth = []
    (folder / name).mkdir(exist_ok=True)
    for old in (folder / name).glob("*.txt"):
        old.unlink()
    for i, document in enumerate(documents):
        key = f"notice-{i + 1:03}.txt"
        (folder / name / key).write_bytes(f"{document.title}\n\n{document.text}\n".encode("gb18030"))
        truth.append((name, key, document.family, document.edit))
    return truth


def write_sample(folder: Path) -> Truth:
    """Write every file of the corpus and ``truth.tsv``; returns the truth."""
    folder.mkdir(parents=True, exist_ok=True)
    documents = build()
    notices = [d for d in documents if d.kind == "notice" and d.language == "zh"]
    reviews = [d for d in documents if d.kind == "review"]
    news = [d for d in documents if d.kind != "review" and d not in notices]
    truth = write_news(folder, "news.en.jsonl", [d for d in news if d.language == "en"], None)
    truth += write_news(folder, "news.zh.jsonl", [d for d in news if d.language == "zh"], 100_001)
    truth += write_reviews(folder, "reviews.csv", reviews)
    truth += write_notices(folder, "notices", notices)
    lines = ["file\tid\tfamily\tedit", *("\t".join(row) for row in truth)]
    (folder / "truth.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    return truth


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else SAMPLE
    truth = write_sample(folder)
    print(f"{len(truth)} documents, {len({family for _, _, family, _ in truth})} families in {folder}")


if __name__ == "__main__":
    main()
