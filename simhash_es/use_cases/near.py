"""What in a store is near to one text or one fingerprint, nearest first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson

from simhash_es.backends.sqlite_store import SeenStore, StoredIdentity
from simhash_es.core.bits import UInt64Array, from_hex, hex_digits, to_hex, to_lanes
from simhash_es.core.cleaning import clean
from simhash_es.core.layout import Limits
from simhash_es.core.limits import DerivedLimits
from simhash_es.core.normal_form import NO_NORMAL_FORM, NormalForm, normal_form, repair_surrogates
from simhash_es.core.profile import Half, Profile, Tokenizer, Weighting
from simhash_es.core.query_plan import Found
from simhash_es.core.radii import HalfPlan
from simhash_es.core.reference import features_of, reference_fingerprint
from simhash_es.core.similarity import (
    DEFAULT_FEATURES,
    Criterion,
    FeatureSpec,
    Measure,
    edit_similarity,
    similarity_of_weights,
)
from simhash_es.core.weights import weigh
from simhash_es.errors import InvalidOption
from simhash_es.use_cases.compare import CompareOptions, limits_of

TEXTS_AT_ONCE = 256  # read and compared before it is looked whether enough are found
SIMILARITY_DIGITS = 6

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class NearOptions:
    """What counts as near; the defaults are those of ``dedup``.

    Attributes:
        similarity: S, above 0 and at most 1: least cosine with the stored text, where one was kept.
        recall: R, above 0 and below 1: the expected share of such rows that are found.
        distance: k, largest distance in bits of half A; ``None`` derives it from S, R and the rows of the store.
        check_distance: The same for half B; ``None`` derives it, or leaves half B free where ``distance`` is given.
        verify: Criteria on text; ``None`` takes the cosine at S, ``()`` none at all.
        verify_features: What they are made from.
        limit: Most matches, the nearest ones; ``None`` for all of them.
    """

    similarity: float = 0.85
    recall: float = 0.97
    distance: int | None = None
    check_distance: int | None = None
    verify: tuple[Criterion, ...] | None = None
    verify_features: FeatureSpec = DEFAULT_FEATURES
    limit: int | None = None

    def __post_init__(self) -> None:
        if self.limit is not None and self.limit < 0:
            raise InvalidOption(f"--limit {self.limit} is negative", "give the most matches to show, or leave it out")

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """The criteria, the default one filled in."""
        return (Criterion(Measure.COSINE, self.similarity),) if self.verify is None else self.verify


@dataclass(frozen=True, slots=True)
class NearMatch:
    """One stored row.

    Attributes:
        id: JSON token, exactly the characters of its input.
        source: The file it came from, as it was named then.
        line: 1-based line or record number in it.
        distance: Bits of half A that differ.
        check_distance: Bits of half B; ``None`` where there is none, or where it was not asked for.
        similarity: By the first criterion, 0 to 1; ``None`` where no text was compared.
    """

    id: bytes
    source: str
    line: int
    distance: int
    check_distance: int | None
    similarity: float | None

    def to_json(self) -> bytes:
        """One JSON object, the id as it came."""
        return orjson.dumps(
            {
                "id": orjson.Fragment(self.id),
                "source": self.source,
                "line": self.line,
                "distance": self.distance,
                "check_distance": self.check_distance,
                "similarity": None if self.similarity is None else round(self.similarity, SIMILARITY_DIGITS),
            }
        )


@dataclass(frozen=True, slots=True)
class NearResult:
    """The answer to one query.

    Attributes:
        matches: Ordered by the distance of half A, then in the order in which the rows were stored.
        fingerprint: All halves in hexadecimal, joined; ``None`` for a text without one, which is near to nothing.
        limits: Distance limits with their reason.
        plan: How half A was searched; ``None`` if it was not.
        rows: Rows of the store.
        candidates: Rows within the limits.
        refused: Rows within the limits whose text did not meet the criteria, as far as was looked with a ``limit``.
    """

    matches: tuple[NearMatch, ...]
    fingerprint: str | None
    limits: DerivedLimits
    plan: HalfPlan | None
    rows: int
    candidates: int
    refused: int

    def to_dict(self) -> dict[str, Any]:
        """JSON form of everything but the matches."""
        return {
            "fingerprint": self.fingerprint,
            "rows": self.rows,
            "matches": len(self.matches),
            "candidates": self.candidates,
            "refused": self.refused,
            "limits": list(self.limits.distances),
            "reasons": list(self.limits.reasons),
            "plan": None if self.plan is None else self.plan.explain(),
        }


@dataclass(frozen=True)
class Query:
    """What is looked for.

    Attributes:
        values: One unsigned integer for each half that is known: all of them, or half A alone.
        text: The text, if that was given.
        profile: Of the store.
    """

    values: tuple[int, ...]
    text: str | None
    profile: Profile

    @property
    def lanes(self) -> UInt64Array:
        """``(L,)``, zero for halves that are not known."""
        values = (*self.values, *(0 for _ in self.profile.halves[len(self.values) :]))
        return np.array([lane for value in values for lane in to_lanes(value, self.profile.width)], np.uint64)

    @property
    def hexadecimal(self) -> str:
        """All known halves joined."""
        return "".join(to_hex(value, self.profile.width) for value in self.values)

    @cached_property
    def normal(self) -> str | None:
        """The text in the form in which texts are stored; ``None`` without a text."""
        if self.text is None:
            return None
        steps = self.profile.normal_form
        cleaned = clean(repair_surrogates(self.text), self.profile.cleaning)
        return normal_form(cleaned, steps if steps.fold else NormalForm())


def near_in_store(
    path: str, *, text: str | None = None, fingerprint: str | None = None, options: NearOptions | None = None
) -> NearResult:
    """Find what is near in a store file; a run that writes to it meanwhile does no harm.

    Rows are found by their fingerprints alone. A near-duplicate of a text of fewer than 64 features may lie outside the
    distance limits and be missed here, while ``dedup`` compares such texts whatever their distance.

    Args:
        path: A store of ``dedup --store``.
        text: A text; its fingerprint is made by the profile of the store, without a compiler.
        fingerprint: Instead of a text, hexadecimal digits: all halves joined, or half A alone; no text is compared.
        options: What counts as near.

    Raises:
        InvalidOption: Both or neither of text and fingerprint, wrong digits, or an option out of range.
        StoreError: No store, or a damaged one.
        UnsupportedFeature: The profile needs a cluster.
    """
    with SeenStore.open(path, write=False) as store:
        return near(store, text=text, fingerprint=fingerprint, options=options)


def near(
    store: SeenStore, *, text: str | None = None, fingerprint: str | None = None, options: NearOptions | None = None
) -> NearResult:
    """The same as :func:`near_in_store` in an open store."""
    chosen = NearOptions() if options is None else options
    query = make_query(store.profile, text, fingerprint)
    derived = limits_for(store, query, chosen)
    if not query.values:
        return NearResult((), None, derived, None, len(store), 0, 0)
    found = store.search(query.lanes, Limits(derived.distances, vote_of(query)))
    order = np.lexsort((found.positions, found.distances[:, 0]))
    matches: list[NearMatch] = []
    looked_at = 0
    for first in range(0, len(order), TEXTS_AT_ONCE):
        if chosen.limit is not None and len(matches) >= chosen.limit:
            break
        chunk = order[first : first + TEXTS_AT_ONCE]
        matches.extend(verified(store, query, found, chunk, chosen))
        looked_at += len(chunk)
    refused = looked_at - len(matches)
    return NearResult(
        matches=tuple(matches[: chosen.limit]),
        fingerprint=query.hexadecimal,
        limits=derived,
        plan=found.plan,
        rows=len(store),
        candidates=len(found.positions),
        refused=refused,
    )


def make_query(profile: Profile, text: str | None, fingerprint: str | None) -> Query:
    """The query; without values when the text has no fingerprint.

    Raises:
        InvalidOption: Both or neither are given, or the digits do not fit the profile.
    """
    if (text is None) == (fingerprint is None):
        raise InvalidOption("a query is either a text or a fingerprint", "give one of them")
    if text is not None:
        return Query(reference_fingerprint(text, profile) or (), text, profile)
    assert fingerprint is not None
    digits, n_halves = hex_digits(profile.width), len(profile.halves)
    if len(fingerprint) not in (digits, digits * n_halves):
        raise InvalidOption(
            f"the fingerprint {fingerprint!r} has {len(fingerprint)} digits",
            f"the store has {n_halves} halves of {digits} digits each: give all of them joined, or the first alone",
        )
    starts = range(0, len(fingerprint), digits)
    return Query(tuple(from_hex(fingerprint[at : at + digits], profile.width) for at in starts), None, profile)


def limits_for(store: SeenStore, query: Query, options: NearOptions) -> DerivedLimits:
    """Distance limits for a store of that many rows; halves that the query does not have are free."""
    derived = limits_of(
        CompareOptions(
            profile=store.profile,
            similarity=options.similarity,
            recall=options.recall,
            n_documents=len(store) + 1,
            distance=options.distance,
            check_distance=options.check_distance,
        )
    )
    if not query.values or is_whole(query):
        return derived
    if options.check_distance is not None:
        raise InvalidOption(
            f"a check distance of {options.check_distance} bits, but the query has half A alone",
            "give the digits of all halves, or leave --check-distance out",
        )
    distances = (derived.distances[0], *(store.profile.width for _ in store.profile.halves[1:]))
    reasons = (*derived.reasons, "half A alone was given, so the other halves are free")
    return replace(derived, distances=distances, reasons=reasons)


def is_whole(query: Query) -> bool:
    """Whether all halves are known."""
    return len(query.values) == len(query.profile.halves)


def vote_of(query: Query) -> int:
    """Halves that must agree: as the profile says, or all where those not known agree anyway."""
    return query.profile.vote if is_whole(query) else len(query.profile.halves)


def verified(
    store: SeenStore, query: Query, found: Found, chosen: IntArray, options: NearOptions
) -> Iterator[NearMatch]:
    """Those of the chosen rows that meet the criteria, in their order.

    A row without a text is a match by its distances; so is every row when the query is a fingerprint.
    """
    positions = found.positions[chosen]
    compares = query.normal is not None and options.criteria
    texts = store.texts(positions) if compares else [None] * len(positions)
    similarity = Similarity(query, options) if compares else None
    for at, identity, text in zip(chosen, store.identities(positions), texts, strict=True):
        value = None
        if similarity is not None and text is not None:
            values = [similarity(text.decode(), criterion.measure) for criterion in options.criteria]
            if any(v < criterion.threshold for v, criterion in zip(values, options.criteria, strict=True)):
                continue
            value = values[0]
        yield match(query, identity, found.distances[at].tolist(), value)


def match(query: Query, identity: StoredIdentity, distances: Sequence[int], similarity: float | None) -> NearMatch:
    """One row of the answer."""
    check_distance = distances[1] if len(query.values) > 1 else None
    return NearMatch(identity.id, identity.source, identity.line, distances[0], check_distance, similarity)


class Similarity:
    """Similarity of stored texts with the query, from the normal forms, as the verification of ``dedup`` sees it.

    Args:
        query: With a text.
        options: What features are made of.
    """

    def __init__(self, query: Query, options: NearOptions) -> None:
        base = Profile(
            normal_form=NO_NORMAL_FORM,
            halves=(Half(DEFAULT_FEATURES.n, DEFAULT_FEATURES.n_chinese),),
            weights=Weighting.LOG_TF,
            vote=1,
        )
        profile = options.verify_features.profile(base)
        if profile.tokenizer in (Tokenizer.WORDS, Tokenizer.JIEBA, Tokenizer.RJIEBA):
            profile = replace(profile, user_dictionary=query.profile.user_dictionary)
        self._profile = profile
        self._normal = query.normal or ""
        self._weights = self._weigh(self._normal)

    def _weigh(self, text: str) -> dict[str, int]:
        return dict(weigh(features_of(text, self._profile), self._profile))

    def __call__(self, text: str, measure: Measure) -> float:
        """0 to 1."""
        if measure is Measure.EDIT:
            return edit_similarity(self._normal, text)
        return similarity_of_weights(self._weights, self._weigh(text), measure)
