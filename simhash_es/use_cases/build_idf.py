"""A tf-idf table from the user's own texts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from simhash_es.backends.files.inputs import Inputs
from simhash_es.backends.files.options import ReadOptions
from simhash_es.core.idf import IdfTable, build_idf
from simhash_es.core.presets import DEFAULT
from simhash_es.core.profile import Profile
from simhash_es.core.reference import features_of
from simhash_es.use_cases.talk import SILENT, Advance, Talk

DEFAULT_MIN_DOCUMENTS = 2
"""A feature of a single document is left out by default: it weighs as an unseen one, and such make most of a table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IdfOptions:
    """What to count.

    Attributes:
        sources: Files, folders, ``-``.
        read: How to read them.
        profile: Makes the features; its own weights do not matter.
        min_documents: Leave out features of fewer documents, at least 1.
    """

    sources: tuple[str, ...]
    read: ReadOptions = field(default_factory=ReadOptions)
    profile: Profile = DEFAULT
    min_documents: int = DEFAULT_MIN_DOCUMENTS


def build_idf_table(options: IdfOptions, *, talk: Talk = SILENT) -> IdfTable:
    """Count the features of every document, of all halves together. Documents without features count too.

    Raises:
        InvalidOption: No document, or no source.
        InputError: A source cannot be read.
    """
    inputs = Inputs(options.sources, options.read)
    with talk.stage("count features", inputs.bytes_total) as advance:
        return build_idf(documents(inputs, options.profile, advance), min_documents=options.min_documents)


def documents(inputs: Inputs, profile: Profile, advance: Advance) -> Iterator[set[str]]:
    """The features of each row."""
    seen = 0
    for batch in inputs.batches():
        for text in batch.texts:
            yield features_of_halves("" if text is None else text, profile)
        advance(inputs.bytes_read - seen)
        seen = inputs.bytes_read


def features_of_halves(text: str, profile: Profile) -> set[str]:
    """All features of a text; halves with the same grams are counted once."""
    sizes = {(half.n, half.n_chinese): i for i, half in enumerate(profile.halves)}
    return set().union(*(features_of(text, profile, i) for i in sizes.values()))
