"""Options that say which pairs count as near-duplicates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from simhash_es.core.similarity import Criterion, FeatureSpec

NEARNESS = "What counts as a near-duplicate"
NO_CRITERIA = "none"


@dataclass(frozen=True, kw_only=True)
class SearchFlags:
    """The two dials, and what overrides them."""

    similarity: Annotated[
        float,
        typer.Option(
            "--similarity",
            "-s",
            metavar="S",
            help="The main dial: least cosine of two texts, above 0, at most 1. Every reported pair meets it.",
            rich_help_panel=NEARNESS,
        ),
    ] = 0.85
    recall: Annotated[
        float,
        typer.Option(
            "--recall",
            metavar="R",
            help="The second dial: expected share of such pairs that are found. Higher is slower.",
            rich_help_panel=NEARNESS,
        ),
    ] = 0.97
    distance: Annotated[
        int | None,
        typer.Option(
            "--distance",
            metavar="K",
            help="Most bits of half A that may differ, instead of the limit derived from S, R and the number of rows; "
            "half B is then free unless --check-distance is given.",
            rich_help_panel=NEARNESS,
        ),
    ] = None
    check_distance: Annotated[
        int | None,
        typer.Option(
            "--check-distance",
            metavar="K2",
            help="Most bits of half B that may differ.",
            rich_help_panel=NEARNESS,
        ),
    ] = None
    verify: Annotated[
        list[str] | None,
        typer.Option(
            "--verify",
            metavar="MEASURE:T",
            help="What the texts of a pair must meet: cosine:0.85, jaccard:0.8, containment:0.9, edit:0.9; given "
            "several times, all of them; 'none' lets fingerprints alone decide. [default: cosine at S]",
            rich_help_panel=NEARNESS,
        ),
    ] = None
    verify_features: Annotated[
        str | None,
        typer.Option(
            "--verify-features",
            metavar="TOKENIZER:N",
            help="What these similarities are made from, such as words:3 or chars:5. [default: chars:4/3]",
            rich_help_panel=NEARNESS,
        ),
    ] = None

    def criteria(self) -> tuple[Criterion, ...] | None:
        """The named criteria; ``None`` for the default, empty for none.

        Raises:
            InvalidOption: Not understood, or ``none`` beside another one.
        """
        from simhash_es.core.similarity import parse_criterion
        from simhash_es.errors import InvalidOption

        if not self.verify:
            return None
        if NO_CRITERIA in self.verify:
            if len(self.verify) > 1:
                raise InvalidOption("--verify none together with another criterion", "give one or the other")
            return ()
        return tuple(parse_criterion(text) for text in self.verify)

    def features(self) -> FeatureSpec | None:
        """The named features.

        Raises:
            InvalidOption: Not understood, or not used.
        """
        from simhash_es.core.similarity import parse_feature_spec
        from simhash_es.errors import InvalidOption

        if self.verify_features is not None and self.verify == [NO_CRITERIA]:
            raise InvalidOption("--verify-features together with --verify none", "give one or the other")
        return None if self.verify_features is None else parse_feature_spec(self.verify_features)
