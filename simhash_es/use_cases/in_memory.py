"""Near-duplicates among texts in memory, all at once or one after another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simhash_es.core.batch import BATCH_BYTES, FingerprintBatch, Fingerprinter, TextBlock, join_tokens, pack_texts
from simhash_es.core.bits import UInt64Array
from simhash_es.core.grouping import Assignment, KeeperGrouping
from simhash_es.core.layout import Layout, Limits
from simhash_es.core.limits import SHORT_FEATURES, DerivedLimits, derive_limits, given_limits
from simhash_es.core.neighbour_index import NeighbourIndex
from simhash_es.core.presets import DEFAULT
from simhash_es.core.profile import Profile
from simhash_es.core.short_texts import ShortTexts
from simhash_es.core.similarity import Measure, parse_criterion, parse_feature_spec
from simhash_es.core.verify import IntArray, Verification, Verifier, parse_verification
from simhash_es.errors import InvalidOption

Id = str | int


@dataclass(frozen=True, slots=True)
class Member:
    """A text that repeats the one kept for it.

    Attributes:
        row: Its position in the list, from 0.
        distances: Bits that differ from the kept one, for each half.
        similarity: To the kept one by the first criterion, 0 to 1; ``None`` where fingerprints alone decided.
    """

    row: int
    distances: tuple[int, ...]
    similarity: float | None


@dataclass(frozen=True, slots=True)
class Group:
    """Texts that are near-duplicates of one of them.

    Attributes:
        kept: Position of the text that stays: the first one in the list.
        members: The others, in the order of the list; at least one.
    """

    kept: int
    members: tuple[Member, ...]


@dataclass(frozen=True, slots=True)
class Match:
    """A remembered text that is near to another one.

    Attributes:
        id: What it was added with.
        distances: Bits that differ, for each half.
        similarity: By the first criterion, 0 to 1; ``None`` where fingerprints alone decide.
    """

    id: Id
    distances: tuple[int, ...]
    similarity: float | None


class Deduplicator:
    """Finds near-duplicates as ``simhash-es dedup`` does: within distance limits, and verified on the texts.

    :meth:`groups` looks at a list of texts. :meth:`add` and :meth:`near` work on a set that grows: a text that is near
    to a remembered one is not remembered itself. It is searched by fingerprints alone, so a near-duplicate of a text of
    fewer than 64 features may be missed there, while :meth:`groups` compares such texts whatever their distance.

    One thread at a time may use it.

    Args:
        similarity: S, above 0 and at most 1: least cosine of a pair, unless ``verify`` says otherwise.
        recall: R, above 0 and below 1: expected share of such pairs that are found.
        profile: How fingerprints are made.
        distance: Most bits of half A that may differ; ``None`` derives it from S, R and the number of texts.
        check_distance: The same for the other halves; free when only ``distance`` is given.
        verify: Criteria such as ``"jaccard:0.8"``, all of which must hold; ``None`` takes the cosine at S, an empty
            sequence lets the fingerprints alone decide.
        verify_features: What they are made from, such as ``"words:3"``; ``None`` takes characters, 4-grams (3-grams
            from a Chinese character on).
        expected_texts: How many texts the growing set is expected to remember, for its distance limits.

    Raises:
        InvalidOption: A value is out of range or not understood.
    """

    def __init__(
        self,
        *,
        similarity: float = 0.85,
        recall: float = 0.97,
        profile: Profile = DEFAULT,
        distance: int | None = None,
        check_distance: int | None = None,
        verify: Sequence[str] | None = None,
        verify_features: str | None = None,
        expected_texts: int = 100_000,
    ) -> None:
        self.profile = profile
        self._similarity = similarity
        self._recall = recall
        self._distances = (distance, check_distance)
        self._layout = Layout(profile.layout_widths)
        self._fingerprinter = Fingerprinter(profile)
        self._verification = self._read_verification(verify, verify_features)
        self.limits = self.limits_for(expected_texts)
        """Distance limits of the growing set, with their reasons."""
        self._index = NeighbourIndex(self._layout, Limits(self.limits.distances, profile.vote))
        self._ids: list[Id] = []
        self._texts: list[bytes] = []

    def __len__(self) -> int:
        """Texts remembered."""
        return len(self._ids)

    def limits_for(self, n_texts: int) -> DerivedLimits:
        """The distance limits for so many texts, with their reasons."""
        derived = derive_limits(self.profile, self._similarity, self._recall, max(1, n_texts))
        distance, check_distance = self._distances
        if distance is None and check_distance is None:
            return derived
        if check_distance is not None and self._layout.n_halves < 2:
            raise InvalidOption(
                f"check_distance {check_distance} asks for a second half, which the profile does not have"
            )
        first = derived.distances[0] if distance is None else distance
        rest = self.profile.width if check_distance is None else check_distance
        chosen = (first, *(rest for _ in self.profile.halves[1:]))
        Limits(chosen, self.profile.vote).check(self._layout)
        return given_limits(self.profile, self._similarity, chosen)

    def groups(self, texts: Sequence[str]) -> list[Group]:
        """The groups among some texts; those that were added before play no part.

        Texts are visited in order. Each joins the first kept text that it is near to, or is kept itself. A text
        without any letter or number is in no group.

        Args:
            texts: Any strings.

        Returns:
            Groups of at least two, by position of the kept text.
        """
        made = list(batches(texts, self.profile, self._fingerprinter))
        lanes = lanes_of(made, self.profile)
        limits = Limits(self.limits_for(len(texts)).distances, self.profile.vote)
        normal = joined([batch.normal for batch in made])
        found = np.flatnonzero(np.concatenate([np.zeros(0, np.bool_), *(comparable(batch) for batch in made)]))
        n_features = np.concatenate([np.zeros(0, np.int64), *(batch.n_features for batch in made)])
        verifier = self._verifier(normal)
        short = self._short_texts(verifier, found[n_features[found] < SHORT_FEATURES])
        grouping = KeeperGrouping(lanes, self._layout, limits, verifier, short=short)
        grouping.visit(found)
        return collected(grouping.assignment, lanes, self._layout)

    def add(self, text: str, id: Id | None = None) -> Match | None:
        """Remember a text, unless it is near to a remembered one.

        Args:
            text: Any string. One without any letter or number is not remembered.
            id: Given back in matches; ``None`` takes the number of texts remembered so far.

        Returns:
            The first remembered text that it is near to; ``None`` if there is none.
        """
        made = self._fingerprinter.batch([text])
        if not comparable(made)[0]:
            return None
        matches = self._near(made)
        first = next(matches, None)
        if first is None:
            self._index.add(made.lanes)
            self._texts.append(text_of(made.normal))
            self._ids.append(len(self._ids) if id is None else id)
        return first

    def near(self, text: str) -> list[Match]:
        """All remembered texts that a text is near to, in the order in which they were added."""
        made = self._fingerprinter.batch([text])
        return list(self._near(made)) if comparable(made)[0] else []

    def _near(self, made: FingerprintBatch) -> Iterator[Match]:
        candidates = self._index.near(made.lanes[0])
        positions = candidates.positions.tolist()
        if not positions:
            return
        passed, similarity = self._verdicts(made.normal, positions)
        for position, bits, is_near, value in zip(positions, candidates.distances, passed, similarity, strict=True):
            if is_near:
                yield Match(self._ids[position], tuple(bits.tolist()), value)

    def _verdicts(self, query: TextBlock, positions: list[int]) -> tuple[list[bool], list[float | None]]:
        """Whether each candidate meets the criteria, and how similar it is."""
        n = len(positions)
        verifier = self._verifier(pack_texts([text_of(query), *(self._texts[position] for position in positions)]))
        if verifier is None:
            return [True] * n, [None] * n
        passed, similarity = verifier.verdicts(np.zeros(n, np.int64), np.arange(1, n + 1))
        return passed.tolist(), similarity.tolist()

    def _verifier(self, normal: TextBlock) -> Verifier | None:
        """A verifier of numbered texts; ``None`` where fingerprints alone decide."""
        if self._verification is None:
            return None
        if not self._verification.uses_tokens:
            return Verifier(self._verification, BlockTexts(normal))
        tokens = join_tokens(normal, self._verification.features.profile(self.profile))
        return Verifier(self._verification, BlockTexts(tokens), normal=BlockTexts(normal))

    def _short_texts(self, verifier: Verifier | None, rows: IntArray) -> ShortTexts | None:
        """Search among short texts by their features; given distances alone decide instead."""
        if verifier is None or self._distances != (None, None) or len(rows) < 2:
            return None
        cosines = [c.threshold for c in verifier.verification.criteria if c.measure is Measure.COSINE]
        return ShortTexts(verifier, rows, max(cosines, default=self._similarity))

    def _read_verification(self, verify: Sequence[str] | None, features: str | None) -> Verification | None:
        if isinstance(verify, str):
            raise InvalidOption(f"verify is the string {verify!r}", f"give a list: [{verify!r}]")
        if verify is not None and not verify:
            return None
        criteria = [parse_criterion(text) for text in verify or ()]
        spec = None if features is None else parse_feature_spec(features)
        return parse_verification(criteria, spec, self._similarity)


class BlockTexts:
    """A block of texts as the verifier reads them."""

    def __init__(self, block: TextBlock) -> None:
        self.data = block.data
        self.bounds: IntArray = np.stack([block.offsets[:-1], block.offsets[1:]], axis=1).reshape(-1)


def batches(
    texts: Sequence[str], profile: Profile, fingerprinter: Fingerprinter | None = None
) -> Iterator[FingerprintBatch]:
    """Fingerprints of texts, some at a time."""
    maker = Fingerprinter(profile) if fingerprinter is None else fingerprinter
    start = size = 0
    for end, text in enumerate(texts, 1):
        size += len(text)
        if size >= BATCH_BYTES or end == len(texts):
            yield maker.batch(texts[start:end])
            start, size = end, 0


def comparable(batch: FingerprintBatch) -> npt.NDArray[np.bool_]:
    """Which texts have a fingerprint and something left in the normal form in which texts are compared."""
    return batch.found & (np.diff(batch.normal.offsets) > 0)


def lanes_of(made: Sequence[FingerprintBatch], profile: Profile) -> UInt64Array:
    """``(n, L)`` of several batches."""
    return np.concatenate([np.zeros((0, profile.n_lanes), np.uint64), *(batch.lanes for batch in made)])


def joined(blocks: Sequence[TextBlock]) -> TextBlock:
    """Several blocks as one."""
    ends = [int(block.offsets[-1]) for block in blocks]
    data = np.concatenate([*(block.data[:end] for block, end in zip(blocks, ends, strict=True)), np.zeros(1, np.uint8)])
    starts = np.cumsum([0, *ends])
    offsets = [block.offsets[:-1] + start for block, start in zip(blocks, starts[:-1], strict=True)]
    return TextBlock(data, np.concatenate([*offsets, starts[-1:]]).astype(np.int64))


def text_of(block: TextBlock) -> bytes:
    """The only text of a block."""
    return block.data[: int(block.offsets[-1])].tobytes()


def collected(assignment: Assignment, lanes: UInt64Array, layout: Layout) -> list[Group]:
    """Rows by the row kept for them."""
    distances = assignment.distances(lanes, layout)
    members: dict[int, list[Member]] = {}
    joined_rows = np.flatnonzero((assignment.keeper >= 0) & (assignment.keeper != np.arange(len(lanes))))
    for row in joined_rows.tolist():
        value = float(assignment.similarity[row])
        member = Member(row, tuple(distances[row].tolist()), None if np.isnan(value) else value)
        members.setdefault(int(assignment.keeper[row]), []).append(member)
    return [Group(kept, tuple(rows)) for kept, rows in sorted(members.items())]
