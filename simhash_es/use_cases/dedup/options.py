"""Everything a run of ``dedup`` can be told."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from enum import StrEnum

from simhash_es.backends.files.options import ReadOptions
from simhash_es.core.presets import DEFAULT
from simhash_es.core.profile import Profile
from simhash_es.core.similarity import Criterion, FeatureSpec
from simhash_es.errors import InvalidOption

DEFAULT_SIMILARITY = 0.85
DEFAULT_RECALL = 0.97
DEFAULT_MAX_PAIRS = 10_000_000
OUTPUT_NAMES = ("survivors", "removed", "pairs", "groups", "report")


class Linkage(StrEnum):
    """What makes a group."""

    KEEPER = "keeper"
    """Each member meets the criteria with the row kept for it."""
    CONNECTED = "connected"
    """Any chain of pairs that meet the criteria."""


class Keep(StrEnum):
    """Which row of a group is kept: the first one in the order of this rule."""

    FIRST = "first"
    LAST = "last"
    LONGEST = "longest"
    SHORTEST = "shortest"
    MAX = "max"
    MIN = "min"
    PREFER = "prefer"


@dataclass(frozen=True, slots=True)
class KeepPolicy:
    """A keep rule with its argument: the field of ``max`` and ``min``, the source of ``prefer``.

    Raises:
        InvalidOption: An argument is missing or superfluous.
    """

    rule: Keep = Keep.FIRST
    argument: str = ""

    def __post_init__(self) -> None:
        needs = self.rule in (Keep.MAX, Keep.MIN, Keep.PREFER)
        if needs and not self.argument:
            what = "a source" if self.rule is Keep.PREFER else "a field"
            raise InvalidOption(f"--keep {self.rule} needs {what}", f"write {self.rule}:{what.split()[1].upper()}")
        if self.argument and not needs:
            raise InvalidOption(f"--keep {self.rule} takes no argument, but {self.argument!r} is given")

    def __str__(self) -> str:
        return f"{self.rule}:{self.argument}" if self.argument else str(self.rule)


def parse_keep(text: str) -> KeepPolicy:
    """Read ``first``, ``last``, ``longest``, ``shortest``, ``max:FIELD``, ``min:FIELD`` or ``prefer:SOURCE``.

    Raises:
        InvalidOption: None of these.
    """
    name, _, argument = text.partition(":")
    try:
        rule = Keep(name)
    except ValueError:
        choices = "first, last, longest, shortest, max:FIELD, min:FIELD or prefer:SOURCE"
        raise InvalidOption(f"--keep {text!r} is not known", f"choose one of: {choices}") from None
    return KeepPolicy(rule, argument)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outputs:
    """Where results go: paths, ``-`` for standard output, ``None`` for nowhere.

    Attributes:
        survivors: The rows that are kept, in the input's own format.
        removed: The other rows with the reason, JSON lines (or CSV).
        pairs: Every verified pair, JSON lines (or CSV).
        groups: Kept rows with their members, JSON lines (or CSV).
        report: One self-contained HTML file.
        as_csv: CSV instead of JSON lines for removed, pairs and groups.
    """

    survivors: str | None = None
    removed: str | None = None
    pairs: str | None = None
    groups: str | None = None
    report: str | None = None
    as_csv: bool = False

    def __post_init__(self) -> None:
        on_stdout = [name for name in OUTPUT_NAMES if name != "report" and getattr(self, name) == "-"]
        if len(on_stdout) > 1:
            raise InvalidOption(
                f"{' and '.join(on_stdout)} both go to standard output", "give a path to all but one of them"
            )
        if self.report == "-":
            raise InvalidOption("the report cannot go to standard output", "give --report a path, such as report.html")
        names: dict[str, str] = {}
        for name, path in self.paths().items():
            other = names.setdefault(os.path.abspath(path), name)
            if other != name:
                raise InvalidOption(f"{other} and {name} both go to {path}", "give each of them a path of its own")

    def paths(self) -> dict[str, str]:
        """Files to be written, by name."""
        named = {name: getattr(self, name) for name in OUTPUT_NAMES}
        return {name: path for name, path in named.items() if path is not None and path != "-"}


@dataclass(frozen=True, slots=True, kw_only=True)
class DedupOptions:
    """Everything a run can be told; the defaults are those of the command line.

    Attributes:
        sources: Files, folders, ``-``.
        read: How to read them.
        against: Older sources that are compared with but never changed.
        store: SQLite file that remembers the survivors of all runs.
        outputs: Where results go.
        profile: How fingerprints are made.
        fingerprint_bits: Width of ready-made fingerprints (``read.fingerprint_field``); ``None`` goes by the first.
        similarity: S, above 0 and at most 1.
        recall: R, the expected share of pairs of at least S that are found, above 0 and below 1.
        distance: k, largest distance in bits of half A; ``None`` derives it from S, R and the number of rows.
        check_distance: k2, the same for half B.
        verify: Criteria on text; ``None`` takes the cosine at S, ``()`` none at all.
        verify_features: What they are made from; ``None`` takes characters.
        keep: Which row of a group is kept.
        linkage: What makes a group.
        max_pairs: Stop when ``outputs.pairs`` would have more.
        budget_seconds: Stop before work that is expected to take longer; ``None`` for no limit.
        budget_bytes: The same for memory.
        workers: Threads; ``None`` takes all processors.
        command: The command line, for the report.
    """

    sources: tuple[str, ...]
    read: ReadOptions = field(default_factory=ReadOptions)
    against: tuple[str, ...] = ()
    store: str | None = None
    outputs: Outputs = field(default_factory=Outputs)
    profile: Profile = DEFAULT
    fingerprint_bits: int | None = None
    similarity: float = DEFAULT_SIMILARITY
    recall: float = DEFAULT_RECALL
    distance: int | None = None
    check_distance: int | None = None
    verify: tuple[Criterion, ...] | None = None
    verify_features: FeatureSpec | None = None
    keep: KeepPolicy = field(default_factory=KeepPolicy)
    linkage: Linkage = Linkage.KEEPER
    max_pairs: int = DEFAULT_MAX_PAIRS
    budget_seconds: float | None = None
    budget_bytes: int | None = None
    workers: int | None = None
    command: str = ""

    def __post_init__(self) -> None:
        if not 0 < self.similarity <= 1:
            raise InvalidOption(f"--similarity {self.similarity:g} is out of range", "give a number above 0, at most 1")
        if not 0 < self.recall < 1:
            raise InvalidOption(f"--recall {self.recall:g} is out of range", "give a number above 0 and below 1")
        if self.store is not None and os.path.abspath(self.store) in map(
            os.path.abspath, self.outputs.paths().values()
        ):
            raise InvalidOption(f"--store {self.store} is also an output", "give each of them a path of its own")
        if self.workers is not None and self.workers < 1:
            raise InvalidOption(f"--workers {self.workers} is out of range", "give at least 1")
        if self.max_pairs < 1:
            raise InvalidOption(f"--max-pairs {self.max_pairs} is out of range", "give at least 1")
        if self.check_distance is not None and len(self.profile.halves) < 2:
            raise InvalidOption(
                f"--check-distance {self.check_distance} asks for a second half, which the profile does not have",
                "take a profile with two halves, or leave the option out",
            )
