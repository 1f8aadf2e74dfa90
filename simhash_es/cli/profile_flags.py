"""Options that say how fingerprints are made, shared by all commands that make them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simhash_es.cli.options import offered

if TYPE_CHECKING:
    from simhash_es.core.normal_form import NormalForm
    from simhash_es.core.profile import Cleaning, Profile

FINGERPRINT, CLEANING = "How fingerprints are made", "What is cleaned away first"

PRESETS = ("default", "words", "characters", "guide", "compat-simhash")
TOKENIZERS = ("chars", "words", "jieba", "rjieba", "jieba-raw")
WEIGHTS = ("uniform", "tf", "log-tf", "tf-idf", "manual")
HASHES = ("murmur3", "md5", "sha1", "cityhash", "cityhash64", "xxhash", "xxhash64")


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
