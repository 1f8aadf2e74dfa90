"""``simhash-es dedup``: near-duplicates in files."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from simhash_es.cli.expand import expanded
from simhash_es.cli.options import READING, CommonFlags, ReadFlags, check_choice, offered
from simhash_es.cli.profile_flags import ProfileFlags
from simhash_es.cli.search_flags import SearchFlags
from simhash_es.cli.terminal import json_line, make_talk, print_json, print_result, say

if TYPE_CHECKING:
    from simhash_es.use_cases.dedup.options import DedupOptions, Outputs
    from simhash_es.use_cases.dedup.results import DedupSummary

RESULTS, GROUPING, SCALE = "Results", "Groups and older rows", "Limits of the run"
TABLE_FORMATS = ("jsonl", "csv")
LINKAGES = ("keeper", "connected")
KEEPS = ("first", "last", "longest", "shortest", "max:", "min:", "prefer:")


@dataclass(frozen=True, kw_only=True)
class ResultFlags:
    """Where results go: each a path, or ``-`` for standard output."""

    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="The rows that stay, byte for byte and in the format of the input.",
            rich_help_panel=RESULTS,
        ),
    ] = None
    removed: Annotated[
        str | None,
        typer.Option(
            "--removed", metavar="FILE", help="The other rows, each with the reason.", rich_help_panel=RESULTS
        ),
    ] = None
    groups: Annotated[
        str | None,
        typer.Option("--groups", metavar="FILE", help="Each kept row with its members.", rich_help_panel=RESULTS),
    ] = None
    pairs: Annotated[
        str | None,
        typer.Option(
            "--pairs",
            metavar="FILE",
            help="Every pair that meets the criteria; copies of one text with the first of them only.",
            rich_help_panel=RESULTS,
        ),
    ] = None
    report: Annotated[
        str | None,
        typer.Option("--report", metavar="FILE", help="One HTML file to look at.", rich_help_panel=RESULTS),
    ] = None
    format: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="jsonl|csv",
            help="Of --removed, --groups and --pairs.",
            autocompletion=offered(TABLE_FORMATS),
            rich_help_panel=RESULTS,
        ),
    ] = "jsonl"
    json: Annotated[
        bool,
        typer.Option("--json", help="The summary as one JSON object.", rich_help_panel=RESULTS),
    ] = False

    def build(self) -> Outputs:
        """The outputs.

        Raises:
            InvalidOption: Two of them on standard output, an unknown format, or a format for nothing.
        """
        from simhash_es.errors import InvalidOption
        from simhash_es.use_cases.dedup.options import Outputs

        if self.format != "jsonl" and (self.removed, self.groups, self.pairs) == (None, None, None):
            raise InvalidOption(
                f"--format {self.format}, but none of --removed, --groups and --pairs",
                "rows of --output keep the format of the input; for that of the input use --input-format",
            )
        return Outputs(
            survivors=self.output,
            removed=self.removed,
            pairs=self.pairs,
            groups=self.groups,
            report=self.report,
            as_csv=check_choice("--format", self.format, TABLE_FORMATS) == "csv",
        )

    @property
    def takes_stdout(self) -> bool:
        """Whether rows go to standard output, so that nothing else may."""
        return "-" in (self.output, self.removed, self.groups, self.pairs)


@dataclass(frozen=True, kw_only=True)
class GroupFlags:
    """Which row stays, and what came before."""

    keep: Annotated[
        str,
        typer.Option(
            "--keep",
            metavar="RULE",
            help="Which row of a group stays: first, last, longest, shortest, max:FIELD, min:FIELD, prefer:SOURCE.",
            autocompletion=offered(KEEPS),
            rich_help_panel=GROUPING,
        ),
    ] = "first"
    linkage: Annotated[
        str,
        typer.Option(
            "--linkage",
            metavar="keeper|connected",
            help="'keeper': each member is near the row that stays; 'connected': any chain of near pairs.",
            autocompletion=offered(LINKAGES),
            rich_help_panel=GROUPING,
        ),
    ] = "keeper"
    against: Annotated[
        list[str] | None,
        typer.Option(
            "--against",
            metavar="OLD",
            help="Older files or folders: compared with, never changed, always win; may be given several times.",
            rich_help_panel=GROUPING,
        ),
    ] = None
    store: Annotated[
        str | None,
        typer.Option(
            "--store",
            metavar="FILE",
            help="Remember what stays in this SQLite file, and compare with all that earlier runs left there.",
            rich_help_panel=GROUPING,
        ),
    ] = None
    unique_ids: Annotated[
        bool,
        typer.Option("--unique-ids", help="Refuse a row whose id was used before.", rich_help_panel=READING),
    ] = False
    fingerprint_field: Annotated[
        str | None,
        typer.Option(
            "--fingerprint-field",
            metavar="FIELD",
            help="Take ready-made fingerprints (hexadecimal) from here; no text is read or compared.",
            rich_help_panel=READING,
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class ScaleFlags:
    """How much may be done."""

    budget: Annotated[
        str | None,
        typer.Option(
            "--budget",
            metavar="LIMIT",
            help="Stop before the long part if it is expected to take more: 10m, 4GB, or 10m,4GB.",
            rich_help_panel=SCALE,
        ),
    ] = None
    max_pairs: Annotated[
        int,
        typer.Option("--max-pairs", metavar="N", help="Stop when --pairs would have more.", rich_help_panel=SCALE),
    ] = 10_000_000
    workers: Annotated[
        int | None,
        typer.Option("--workers", metavar="N", help="Threads; all processors if not given.", rich_help_panel=SCALE),
    ] = None


@expanded
def dedup(
    *,
    files: Annotated[list[str], typer.Argument(metavar="FILES", help="Files or folders; '-' is standard input.")],
    results: ResultFlags,
    search: SearchFlags,
    grouping: GroupFlags,
    scale: ScaleFlags,
    profile: ProfileFlags,
    read: ReadFlags,
    common: CommonFlags,
) -> None:
    """Find groups of near-duplicate texts in files.

    Reads JSON lines, JSON, CSV, TSV, Parquet, plain text and folders of documents, also compressed. Each result goes
    to a file, or to standard output with '-'; talk and progress go to standard error. Without any of them only a
    summary is shown.
    """
    from simhash_es.use_cases.dedup.run import run_dedup

    options = dedup_options(files, results, search, grouping, scale, profile, read)
    summary = run_dedup(options, talk=make_talk())
    show(summary, results)


def dedup_options(
    files: list[str],
    results: ResultFlags,
    search: SearchFlags,
    grouping: GroupFlags,
    scale: ScaleFlags,
    profile: ProfileFlags,
    read: ReadFlags,
) -> DedupOptions:
    """All flags as one value.

    Raises:
        InvalidOption: A value is out of range, or two of them contradict each other.
    """
    from simhash_es.cli.budget import Budget, parse_budget
    from simhash_es.use_cases.dedup.options import DedupOptions, Linkage, parse_keep

    budget = Budget() if scale.budget is None else parse_budget(scale.budget)
    ready_made = grouping.fingerprint_field is not None
    return DedupOptions(
        sources=tuple(files),
        read=read.build(fingerprint_field=grouping.fingerprint_field, unique_ids=grouping.unique_ids),
        against=tuple(grouping.against or ()),
        store=grouping.store,
        outputs=results.build(),
        profile=profile.build(),
        fingerprint_bits=profile.bits if ready_made else None,
        similarity=search.similarity,
        recall=search.recall,
        distance=search.distance,
        check_distance=search.check_distance,
        verify=search.criteria(),
        verify_features=search.features(),
        keep=parse_keep(grouping.keep),
        linkage=Linkage(check_choice("--linkage", grouping.linkage, LINKAGES)),
        max_pairs=scale.max_pairs,
        budget_seconds=budget.seconds,
        budget_bytes=budget.memory_bytes,
        workers=scale.workers,
        command=shlex.join(["simhash-es", *sys.argv[1:]]),
    )


def show(summary: DedupSummary, results: ResultFlags) -> None:
    """The summary on standard output, or on standard error when rows go to standard output."""
    from simhash_es.cli.dedup_view import summary_lines

    if results.json and results.takes_stdout:
        say(json_line(summary.to_dict()).decode().rstrip("\n"))
    elif results.json:
        print_json(summary.to_dict())
    elif results.takes_stdout:
        for line in summary_lines(summary):
            say(line)
    else:
        print_result(summary_lines(summary))
