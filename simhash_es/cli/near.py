"""``simhash-es near``: what is in a store that is near to a text?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from simhash_es.cli.expand import expanded
from simhash_es.cli.options import CommonFlags
from simhash_es.cli.search_flags import SearchFlags
from simhash_es.cli.terminal import print_bytes, print_result, say

if TYPE_CHECKING:
    from simhash_es.use_cases.near import NearMatch, NearResult


@expanded
def near(
    *,
    query: Annotated[
        str | None, typer.Argument(metavar="[QUERY]", help="A text, '@FILE', or '-' for standard input.")
    ] = None,
    store: Annotated[str, typer.Option("--store", metavar="FILE", help="The store of 'dedup --store'.")],
    fingerprint: Annotated[
        str | None,
        typer.Option(
            "--fingerprint",
            metavar="HEX",
            help="Instead of a text: all halves joined, or half A alone. No text is compared.",
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N", help="Show at most so many, the nearest ones.")
    ] = None,
    encoding: Annotated[
        str | None, typer.Option("--encoding", metavar="NAME", help="Of the file; found out if not given.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
    search: SearchFlags,
    common: CommonFlags,
) -> None:
    """Find what a store remembers that is near to a text.

    The nearest come first. The profile is that of the store; the distance limits are derived from --similarity,
    --recall and the number of its rows. Where the store has kept texts, each answer meets the similarity.
    """
    from simhash_es.cli.compare import query_text
    from simhash_es.core.similarity import DEFAULT_FEATURES
    from simhash_es.use_cases.near import NearOptions, near_in_store

    options = NearOptions(
        similarity=search.similarity,
        recall=search.recall,
        distance=search.distance,
        check_distance=search.check_distance,
        verify=search.criteria(),
        verify_features=search.features() or DEFAULT_FEATURES,
        limit=limit,
    )
    text = None if query is None else query_text(query, encoding)
    found = near_in_store(store, text=text, fingerprint=fingerprint, options=options)
    if json:
        print_bytes(b"".join(match.to_json() + b"\n" for match in found.matches))
    else:
        print_result(match_lines(found.matches))
    say(remark(found))


def match_lines(matches: tuple[NearMatch, ...]) -> Iterator[str]:
    """A line for each match, with a heading; nothing when there is none."""
    if not matches:
        return
    yield f"{'bits A':>6} {'bits B':>6} {'similarity':>10}  {'id':24} where"
    for match in matches:
        check = "" if match.check_distance is None else str(match.check_distance)
        similarity = "" if match.similarity is None else f"{match.similarity:.3f}"
        name = match.id.decode()
        yield f"{match.distance:>6} {check:>6} {similarity:>10}  {name:24} {match.source}:{match.line}"


def remark(found: NearResult) -> str:
    """One line on what was looked at and why."""
    if found.fingerprint is None:
        return "the text has no letter or number, so no fingerprint: it is near to nothing"
    limits = " and ".join(map(str, found.limits.distances))
    return (
        f"{len(found.matches):,} of {found.rows:,} rows; {found.candidates:,} within {limits} bits, "
        f"{found.refused:,} of them not as similar as asked"
    )
