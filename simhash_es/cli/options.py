"""Options that several commands share: how fingerprints are made, how files are read, what ``--debug`` does.

Nothing of the core is imported before a command runs, so that ``--help`` stays fast. Choices therefore stand here as
plain words; the core checks what is given.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simhash_es.cli.boundary import show_traceback

if TYPE_CHECKING:
    from simhash_es.backends.files.options import ReadOptions
    from simhash_es.core.normal_form import NormalForm
    from simhash_es.core.profile import Cleaning, Profile

FINGERPRINT, CLEANING, READING = "How fingerprints are made", "What is cleaned away first", "How files are read"

PRESETS = ("default", "words", "characters", "guide", "compat-simhash")
TOKENIZERS = ("chars", "words", "jieba", "rjieba", "jieba-raw")
WEIGHTS = ("uniform", "tf", "log-tf", "tf-idf", "manual")
HASHES = ("murmur3", "md5", "sha1", "cityhash", "cityhash64", "xxhash", "xxhash64")
FORMATS = ("jsonl", "json", "csv", "tsv", "parquet", "lines", "text")
ON_ERROR = ("stop", "skip")


def offered(words: tuple[str, ...]) -> Callable[[str], list[str]]:
    """Completion by a fixed list."""
    return lambda incomplete: [word for word in words if word.startswith(incomplete)]


@dataclass(frozen=True, kw_only=True)
class CommonFlags:
    """What every command takes."""

    debug: Annotated[
        bool,
        typer.Option("--debug", help="Show the traceback of an error.", callback=show_traceback, is_eager=True),
    ] = False


@dataclass(frozen=True, kw_only=True)
class ProfileFlags:
    """A profile by name or file, with single settings changed."""

    profile: Annotated[
        str,
        typer.Option(
            "--profile",
            metavar="NAME|FILE",
            help=f"Where to start from: {', '.join(PRESETS)}, or a file that 'profile show --save' wrote.",
            autocompletion=offered(PRESETS),
            rich_help_panel=FINGERPRINT,
        ),
    ] = "default"
    tokenizer: Annotated[
        str | None,
        typer.Option(
            "--tokenizer",
            metavar="NAME",
            help=f"What a text is cut into: {', '.join(TOKENIZERS)}.",
            autocompletion=offered(TOKENIZERS),
            rich_help_panel=FINGERPRINT,
        ),
    ] = None
    ngram: Annotated[
        str | None,
        typer.Option(
            "--ngram",
            metavar="N",
            help="Characters or words of a feature: 5, or 4/3 (others/Chinese), or 4/3,5/5 (half A, half B).",
            rich_help_panel=FINGERPRINT,
        ),
    ] = None
    weights: Annotated[
        str | None,
        typer.Option(
            "--weights",
            metavar="NAME",
            help=f"How often a feature counts: {', '.join(WEIGHTS)}.",
            autocompletion=offered(WEIGHTS),
            rich_help_panel=FINGERPRINT,
        ),
    ] = None
    hash: Annotated[
        str | None,
        typer.Option(
            "--hash",
            metavar="NAME",
            help=f"Hash of a feature: {', '.join(HASHES)}.",
            autocompletion=offered(HASHES),
            rich_help_panel=FINGERPRINT,
        ),
    ] = None
    bits: Annotated[
        int | None,
        typer.Option("--bits", metavar="N", help="Bits of each half, 1 to 128.", rich_help_panel=FINGERPRINT),
    ] = None
    halves: Annotated[
        int | None,
        typer.Option(
            "--halves", metavar="N", help="Independent values a fingerprint has, 1 to 16.", rich_help_panel=FINGERPRINT
        ),
    ] = None
    vote: Annotated[
        int | None,
        typer.Option(
            "--vote",
            metavar="N",
            help="How many halves must be near enough; all of them if not given.",
            rich_help_panel=FINGERPRINT,
        ),
    ] = None
    idf: Annotated[
        str | None,
        typer.Option(
            "--idf",
            metavar="FILE",
            help="Table of 'profile build-idf'; means --weights tf-idf.",
            rich_help_panel=FINGERPRINT,
        ),
    ] = None
    word_weights: Annotated[
        str | None,
        typer.Option(
            "--word-weights",
            metavar="FILE",
            help="Lines word<TAB>weight (others weigh 1); means --weights manual.",
            rich_help_panel=FINGERPRINT,
        ),
    ] = None
    user_dictionary: Annotated[
        str | None,
        typer.Option(
            "--user-dictionary",
            metavar="FILE",
            help="Extra words for the Chinese tokenizers, in jieba's format.",
            rich_help_panel=FINGERPRINT,
        ),
    ] = None
    keep_punctuation: Annotated[
        bool,
        typer.Option(
            "--keep-punctuation",
            help="Let punctuation and symbols count, for source code or formulas.",
            rich_help_panel=FINGERPRINT,
        ),
    ] = False
    html: Annotated[bool, typer.Option("--html", help="Reduce HTML to its text.", rich_help_panel=CLEANING)] = False
    urls: Annotated[bool, typer.Option("--urls", help="Remove web addresses.", rich_help_panel=CLEANING)] = False
    digits: Annotated[bool, typer.Option("--digits", help="Remove digits.", rich_help_panel=CLEANING)] = False
    stop_words: Annotated[
        str | None,
        typer.Option(
            "--stop-words", metavar="FILE", help="Remove these words: UTF-8, one a line.", rich_help_panel=CLEANING
        ),
    ] = None
    pattern: Annotated[
        list[str] | None,
        typer.Option(
            "--pattern",
            metavar="REGEX",
            help="Remove what this regular expression matches; may be given several times.",
            rich_help_panel=CLEANING,
        ),
    ] = None
    simplify: Annotated[
        bool,
        typer.Option(
            "--simplify",
            help="Traditional to simplified Chinese (extra opencc).",
            rich_help_panel=CLEANING,
        ),
    ] = False

    def build(self) -> Profile:
        """The profile.

        Raises:
            InvalidOption: A value is out of range, a file cannot be read, or two settings contradict each other.
        """
        from simhash_es.core.idf import IdfTable
        from simhash_es.core.user_dictionary import UserDictionary
        from simhash_es.core.word_weights import WordWeights

        start = find_profile(self.profile)
        return start.with_options(
            cleaning=self._cleaning(start),
            normal_form=self._normal_form(start),
            tokenizer=self.tokenizer,
            ngram=self.ngram,
            weights=self._weights(),
            hash=self.hash,
            bits=self.bits,
            halves=self.halves,
            vote=self.vote,
            user_dictionary=UserDictionary.read(self.user_dictionary) if self.user_dictionary is not None else None,
            idf=IdfTable.load(self.idf) if self.idf is not None else None,
            word_weights=WordWeights.read(self.word_weights) if self.word_weights is not None else None,
        )

    def _weights(self) -> str | None:
        if self.weights is None and self.idf is not None:
            return "tf-idf"
        if self.weights is None and self.word_weights is not None:
            return "manual"
        return self.weights

    def _normal_form(self, start: Profile) -> NormalForm | None:
        return replace(start.normal_form, punctuation=False) if self.keep_punctuation else None

    def _cleaning(self, start: Profile) -> Cleaning:
        """What the start has, and what was asked for."""
        old = start.cleaning
        return replace(
            old,
            html=old.html or self.html,
            urls=old.urls or self.urls,
            digits=old.digits or self.digits,
            stop_words=read_words(self.stop_words) if self.stop_words is not None else old.stop_words,
            patterns=(*old.patterns, *(self.pattern or ())),
            simplify=old.simplify or self.simplify,
        )


@dataclass(frozen=True, kw_only=True)
class ReadFlags:
    """How files are read."""

    input_format: Annotated[
        str | None,
        typer.Option(
            "--input-format",
            metavar="FORMAT",
            help=f"{', '.join(FORMATS)} ('lines': a document a line, 'text': a document a file); "
            "by suffix or content if not given.",
            autocompletion=offered(FORMATS),
            rich_help_panel=READING,
        ),
    ] = None
    encoding: Annotated[
        str | None,
        typer.Option(
            "--encoding", metavar="NAME", help="Such as gb18030; found out if not given.", rich_help_panel=READING
        ),
    ] = None
    id_field: Annotated[
        str | None,
        typer.Option(
            "--id-field",
            metavar="FIELD",
            help="Field or column with the id; 'id', else '_id', else file:line if not given.",
            rich_help_panel=READING,
        ),
    ] = None
    text_field: Annotated[
        list[str] | None,
        typer.Option(
            "--text-field",
            metavar="FIELD",
            help="Field or column with the text, dots lead into objects (meta.title); may be given several times. "
            "'text', else 'content', else 'body' if not given.",
            rich_help_panel=READING,
        ),
    ] = None
    on_error: Annotated[
        str,
        typer.Option(
            "--on-error",
            metavar="stop|skip",
            help="Stop at a row that cannot be read, or skip and count it.",
            autocompletion=offered(ON_ERROR),
            rich_help_panel=READING,
        ),
    ] = "stop"

    def build(self, *, fingerprint_field: str | None = None, unique_ids: bool = False) -> ReadOptions:
        """The reader's options.

        Raises:
            InvalidOption: An unknown format or mode.
        """
        from simhash_es.backends.files.options import DataFormat, OnError, ReadOptions

        if self.input_format is not None:
            check_choice("--input-format", self.input_format, FORMATS)
        check_choice("--on-error", self.on_error, ON_ERROR)
        return ReadOptions(
            format=DataFormat(self.input_format) if self.input_format is not None else None,
            encoding=self.encoding,
            id_field=self.id_field,
            text_fields=tuple(self.text_field or ()),
            fingerprint_field=fingerprint_field,
            on_error=OnError(self.on_error),
            unique_ids=unique_ids,
        )


def find_profile(name: str) -> Profile:
    """A preset, or the profile in a file: a name with a dot or a slash, or of an existing file, is a file.

    Raises:
        InvalidOption: Neither.
    """
    from simhash_es.core.presets import PRESETS as BY_NAME
    from simhash_es.core.presets import preset
    from simhash_es.core.profile import Profile

    if name not in BY_NAME and ("." in name or "/" in name or Path(name).is_file()):
        return Profile.load(name)
    return preset(name)


def read_words(path: str) -> tuple[str, ...]:
    """The words of a file, one a line, blank lines passed over.

    Raises:
        InvalidOption: It cannot be read.
    """
    from simhash_es.errors import InvalidOption

    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        hint = "give a UTF-8 file, one word a line"
        raise InvalidOption(f"cannot read the stop words {path}: {error}", hint) from error
    return tuple(line.strip() for line in text.splitlines() if line.strip())


def check_choice(option: str, value: str, choices: tuple[str, ...]) -> str:
    """The value, if it is one of the choices.

    Raises:
        InvalidOption: It is not.
    """
    from simhash_es.errors import InvalidOption

    if value not in choices:
        raise InvalidOption(f"{option} {value!r} is not known", f"choose one of: {', '.join(choices)}")
    return value
