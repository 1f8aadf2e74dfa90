"""A profile explained: settings, limits, and the angle model in figures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from simhash_es.core.angle import SHOWN_FRACTIONS, ThresholdFigures, rule_of_thumb_figures, threshold_figures
from simhash_es.core.limits import DerivedLimits
from simhash_es.core.profile import Profile, Tokenizer
from simhash_es.core.profile_json import describe

MEAN_UNRELATED_SHARE = 27.7 / 64
"""Share of the bits in which two unrelated English texts differ, by character 4-grams and log-tf
(``benchmarks/recall.py``); a half if nothing were in common."""


def unrelated_mean_bits(profile: Profile) -> float | None:
    """Measured mean distance of unrelated texts; ``None`` where it was not measured."""
    return MEAN_UNRELATED_SHARE * profile.width if profile.tokenizer == Tokenizer.CHARS else None


def figures_of(profile: Profile, limits: DerivedLimits) -> list[tuple[str, ThresholdFigures]]:
    """Figures for the derived limit of half A and for the two rules of thumb, each with its name."""
    mean = unrelated_mean_bits(profile)
    own = threshold_figures(profile.width, limits.distances[0], unrelated_mean_bits=mean)
    thumbs = rule_of_thumb_figures(profile.width, unrelated_mean_bits=mean)
    names = [f"width/{part}" for part in SHOWN_FRACTIONS]
    return [("derived limit", own), *zip(names, thumbs, strict=True)]


def profile_lines(profile: Profile, limits: DerivedLimits, n_documents: int) -> Iterator[str]:
    """The profile for people."""
    for label, value in describe(profile).items():
        yield f"{label:16}{value}"
    yield ""
    yield f"{'distance':16}at most {' and '.join(map(str, limits.distances))} of {profile.width} bits"
    for reason in limits.reasons:
        yield f"{'':16}{reason}"
    yield ""
    yield from figure_lines(profile, limits, n_documents)


def figure_lines(profile: Profile, limits: DerivedLimits, n_documents: int) -> Iterator[str]:
    """What limits on half A alone catch and wrongly join."""
    shown = figures_of(profile, limits)
    yield "What a limit on one value catches and what it wrongly joins, by the angle model:"
    yield row("limit", [f"{name} = {figures.limit}" for name, figures in shown])
    for i, (cosine, _) in enumerate(shown[0][1].detections):
        yield row(f"finds at cosine {cosine:g}", [f"{figures.detections[i][1]:.1%}" for _, figures in shown])
    yield row("half are found at cosine", [f"{figures.cosine_even:.2f}" for _, figures in shown])
    yield row("97% are found at cosine", [f"{figures.cosine_usual:.2f}" for _, figures in shown])
    yield row("unrelated pairs joined, ideal", [f"{figures.unrelated_ideal:.1e}" for _, figures in shown])
    mean = unrelated_mean_bits(profile)
    if mean is not None:
        yield row(
            f"the same at a mean of {mean:.1f} bits", [f"at least {figures.unrelated_real:.1e}" for _, figures in shown]
        )
    yield row(
        f"such pairs of {n_documents:,} texts", [f"{figures.wrong_pairs(n_documents):,.0f}" for _, figures in shown]
    )
    yield ""
    if mean is not None:
        yield f"Unrelated texts share common grams: their mean distance is {mean:.1f} bits, not {profile.width / 2:g}."
    else:
        yield "Unrelated texts share common words, so more of them are joined than these figures say."
    yield "So a third or a quarter of the width joins texts that only share a subject or a language;"
    yield "the other halves and the comparison of the texts are what keeps such pairs out."


def row(label: str, cells: list[str]) -> str:
    """One line of the table."""
    return f"  {label:32}" + "".join(f"{cell:>22}" for cell in cells)


def profile_dict(profile: Profile, limits: DerivedLimits) -> dict[str, Any]:
    """The same as JSON."""
    return {
        "profile": profile.to_dict(),
        "limits": {
            "distances": list(limits.distances),
            "vote": profile.vote,
            "expected_recall": limits.expected_recall,
            "recall_at_threshold": limits.recall_at_threshold,
            "unrelated_share": limits.unrelated_share,
            "reasons": list(limits.reasons),
        },
        "thresholds": [
            {
                "name": name,
                "width": figures.width,
                "limit": figures.limit,
                "found_by_cosine": {f"{cosine:g}": found for cosine, found in figures.detections},
                "cosine_half_found": figures.cosine_even,
                "cosine_97_percent_found": figures.cosine_usual,
                "unrelated_joined_ideal": figures.unrelated_ideal,
                "unrelated_mean_bits": figures.unrelated_mean_bits,
                "unrelated_joined_at_least": figures.unrelated_real,
            }
            for name, figures in figures_of(profile, limits)
        ],
    }
