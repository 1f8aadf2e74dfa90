"""A whole run of ``dedup``: read, fingerprint, find, verify, group, write."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from simhash_es.backends.files.inputs import Inputs
from simhash_es.backends.files.options import ReadOptions
from simhash_es.backends.files.outputs import AtomicOutput, Finalisable, FolderOutput, finalise
from simhash_es.backends.files.writers import check_writable, open_output, write_rows
from simhash_es.core.batch import join_tokens, pack_texts
from simhash_es.core.join import hottest_words
from simhash_es.core.kernels.runtime import load_kernels
from simhash_es.core.layout import Layout, Limits
from simhash_es.core.limits import SHORT_FEATURES, DerivedLimits, derive_limits, describe, given_limits
from simhash_es.core.profile import Profile
from simhash_es.core.similarity import Measure
from simhash_es.core.verify import IntArray, Verification, Verifier, parse_verification
from simhash_es.errors import BudgetExceeded, InvalidOption
from simhash_es.use_cases.corpus import Corpus, CorpusReader
from simhash_es.use_cases.dedup.decide import Decider, VerifiedPairs
from simhash_es.use_cases.dedup.estimate import Estimate, Task, estimate
from simhash_es.use_cases.dedup.names import RowNames
from simhash_es.use_cases.dedup.options import DedupOptions, Keep, Linkage
from simhash_es.use_cases.dedup.order import visiting_order
from simhash_es.use_cases.dedup.results import Decisions, DedupSummary
from simhash_es.use_cases.dedup.shape import fingerprint_shape
from simhash_es.use_cases.dedup.stored import append_survivors, load_stored
from simhash_es.use_cases.dedup.write import PairWriter, plain, write_groups, write_removed
from simhash_es.use_cases.talk import SILENT, Advance, Talk

if TYPE_CHECKING:
    from simhash_es.backends.sqlite_store import SeenStore

Output = AtomicOutput | FolderOutput
SHOWN_GROUPS = 5


def run_dedup(options: DedupOptions, *, talk: Talk = SILENT) -> DedupSummary:
    """Find near-duplicates in files and write what was asked for.

    Outputs appear under their names together, at the end; a run that fails or is killed leaves none of them, and a
    store as it was before.

    Args:
        options: Everything the run can be told.
        talk: Where progress and remarks go.

    Raises:
        SimhashEsError: As documented in :mod:`simhash_es.errors`; nothing was written then.
    """
    with ExitStack() as stack:
        return DedupRun(options, talk, stack).run()


class DedupRun:
    """The stages of one run; each fills in what the next ones need."""

    def __init__(self, options: DedupOptions, talk: Talk, stack: ExitStack) -> None:
        self.options = options
        self.talk = talk
        self._stack = stack
        self.workers = options.workers or os.cpu_count() or 1
        self.seconds: dict[str, float] = {}
        self.inputs = Inputs(options.sources, self._read_options())
        self.against = self._older_inputs()
        self.shape = fingerprint_shape(options, self.inputs)
        self.profile = self.shape.profile
        self.layout = Layout(self.profile.layout_widths)
        self.verification = self._verification()
        self.store = self._open_store()
        self.outputs: dict[str, Output] = {}
        self._pairs: PairWriter | None = None
        self.n_pairs = 0

    def run(self) -> DedupSummary:
        """All stages."""
        load_kernels(*self._kernel_modules())
        self._open_outputs()
        self.corpus, self.n_stored = self._read()
        self.n_older = len(self.corpus) - self.inputs.n_rows
        self.names = RowNames(self.corpus, self.store, self.n_stored, self.against, self.inputs)
        order = visiting_order(self.corpus, self.inputs, self.options.keep, self.n_older)
        self.limits = self._limits()
        self.verifier = self._verifier()
        self.decider = Decider(
            self.corpus,
            order,
            self.n_older,
            self.layout,
            Limits(self.limits.distances, self.profile.vote),
            self.verifier,
            workers=self.workers,
            before_verifying=self._load_stored_texts if self.n_stored else None,
            short_similarity=self._short_similarity(),
        )
        self._announce(self._estimate())
        self.decisions = self._decide()
        self._write()
        return self.summary()

    # -- what is set up before anything is read ---------------------------------------------------------------------

    def _read_options(self) -> ReadOptions:
        read, keep = self.options.read, self.options.keep
        extra = (keep.argument,) if keep.rule in (Keep.MAX, Keep.MIN) else ()
        by_length = keep.rule in (Keep.LONGEST, Keep.SHORTEST)
        return with_fields(read, extra, need_text=read.fingerprint_field is None or by_length)

    def _older_inputs(self) -> Inputs | None:
        if not self.options.against:
            return None
        read = self.inputs.options
        return Inputs(self.options.against, with_fields(read, (), need_text=read.need_text))

    def _verification(self) -> Verification | None:
        chosen, features = self.options.verify, self.options.verify_features
        if self.shape.ready_made:
            if chosen or features is not None:
                option = f"--verify {chosen[0]}" if chosen else f"--verify-features {features}"
                raise InvalidOption(
                    f"{option} compares texts, but --fingerprint-field reads none",
                    "leave it out, or read the texts instead",
                )
            return None
        if chosen == ():
            return None
        return parse_verification(chosen or (), features, self.options.similarity)

    def _open_store(self) -> SeenStore | None:
        if self.options.store is None:
            return None
        from simhash_es.backends.sqlite_store import SeenStore  # SQLite only where it is asked for

        return self._stack.enter_context(SeenStore.open(self.options.store, self.profile))

    def _open_outputs(self) -> None:
        wanted = self.options.outputs
        protected = [*self.inputs.paths, *(self.against.paths if self.against is not None else ())]
        if wanted.survivors is not None:
            check_writable(self.inputs)
            survivors: Output = open_output(wanted.survivors, self.inputs)
            self._stack.enter_context(survivors)
            self.outputs["output"] = survivors
        for name in ("removed", "pairs", "groups", "report"):
            path = getattr(wanted, name)
            if path is not None:
                output: Output = self._stack.enter_context(AtomicOutput(path, inputs=protected))
                self.outputs[name] = output

    def _kernel_modules(self) -> tuple[str, ...]:
        """What will be needed, so that a first run compiles it at once and on all processors."""
        modules = ["murmur", "normal_form", "accumulate", "char_grams", "token_grams", "verify", "index"]
        if not self.shape.ready_made:
            modules.append("short_texts")
        if self.options.outputs.pairs is not None or self.options.linkage is Linkage.CONNECTED:
            modules.append("join")
        return tuple(modules)

    # -- reading ----------------------------------------------------------------------------------------------------

    def _read(self) -> tuple[Corpus, int]:
        corpus = Corpus.empty(
            self.layout,
            keeps_text=self.verification is not None or self.store is not None,
            keeps_tokens=self._token_profile() is not None,
            has_values=self.options.keep.rule in (Keep.MAX, Keep.MIN),
        )
        self._stack.callback(corpus.close)
        n_stored = 0
        if self.store is not None:
            with self._stage("load the store", None):
                n_stored = load_stored(self.store, corpus)
        reader = CorpusReader(
            self.profile,
            token_profile=self._token_profile(),
            ready_made=self.shape.ready_made,
            workers=self.workers,
        )
        if self.against is not None:
            with self._stage("read the older corpus", self.against.bytes_total) as advance:
                reader.read(self.against, corpus, advance)
        with self._stage("read and fingerprint", self.inputs.bytes_total) as advance:
            reader.read(self.inputs, corpus, advance)
        self._remark_on_inputs()
        return corpus, n_stored

    def _token_profile(self) -> Profile | None:
        """How the texts are made that features come from; ``None`` where those are the normal forms themselves."""
        if self.verification is None:
            return None
        if not self.verification.uses_tokens and not self.profile.cleaning.stop_words:
            return None
        return self.verification.features.profile(self.profile)

    def _remark_on_inputs(self) -> None:
        for inputs in filter(None, (self.against, self.inputs)):
            if inputs.left_out:
                shown = ", ".join(inputs.left_out[:5])
                self.talk.line(f"files of another kind that are left out: {len(inputs.left_out)} ({shown})")
            for row in inputs.skipped_rows[:5]:
                self.talk.line(f"skipped {row.source}:{row.line}: {row.reason}")
            if inputs.skipped > 5:
                self.talk.line(f"skipped {inputs.skipped:,} rows in all")
            if inputs.repaired:
                self.talk.line(f"half a surrogate pair replaced in {inputs.repaired:,} rows")

    # -- deciding ---------------------------------------------------------------------------------------------------

    def _limits(self) -> DerivedLimits:
        options, profile = self.options, self.profile
        similarity = options.similarity
        if options.distance is None and options.check_distance is None:
            return derive_limits(profile, similarity, options.recall, max(1, len(self.corpus)))
        derived = derive_limits(profile, similarity, options.recall, max(1, len(self.corpus)))
        first = derived.distances[0] if options.distance is None else options.distance
        rest = profile.width if options.check_distance is None else options.check_distance
        chosen = (first, *(rest for _ in profile.halves[1:]))
        Limits(chosen, profile.vote).check(self.layout)
        return given_limits(profile, similarity, chosen)

    def _short_similarity(self) -> float | None:
        """S of the search among short texts; with limits that the user gave, those alone decide on candidates."""
        if self.verification is None or self.options.distance is not None or self.options.check_distance is not None:
            return None
        cosines = [c.threshold for c in self.verification.criteria if c.measure is Measure.COSINE]
        return max(cosines, default=self.options.similarity)

    def _verifier(self) -> Verifier | None:
        if self.verification is None:
            return None
        normal, tokens = self.corpus.normal, self.corpus.tokens
        assert normal is not None
        return Verifier(self.verification, normal if tokens is None else tokens, normal=normal, workers=self.workers)

    def _load_stored_texts(self, rows: IntArray) -> None:
        """Bring texts of the store to the spool before they are compared."""
        normal, tokens = self.corpus.normal, self.corpus.tokens
        assert normal is not None
        assert self.store is not None
        wanted = np.unique(rows[rows < self.n_stored])
        missing = wanted[normal.bounds[2 * wanted + 1] == 0]
        if not len(missing):
            return
        block = pack_texts([text or b"" for text in self.store.texts(missing)])
        normal.put(missing, block)
        profile = self._token_profile()
        if tokens is not None and profile is not None:
            tokens.put(missing, join_tokens(block, profile))

    def _estimate(self) -> Estimate:
        return estimate(
            Task(
                lanes=self.decider.lanes,
                rows=np.concatenate([self.decider.older, self.decider.new]),
                new_rows=self.decider.new,
                layout=self.layout,
                limits=Limits(self.limits.distances, self.profile.vote),
                verifier=self.verifier,
                text_bytes=0 if self.corpus.normal is None else self.corpus.normal.n_bytes,
                n_all=len(self.corpus),
                all_pairs="pairs" in self.outputs or self.options.linkage is Linkage.CONNECTED,
                workers=self.workers,
            )
        )

    def _announce(self, ahead: Estimate) -> None:
        limits = describe(self.limits.distances)
        self.talk.line(
            f"{len(self.corpus):,} rows, {len(self.decider.new):,} distinct texts; limits of {limits} bits; {ahead}"
        )
        ahead.check(self.options.budget_seconds, self.options.budget_bytes)

    def _decide(self) -> Decisions:
        connected = self.options.linkage is Linkage.CONNECTED
        decisions = None
        if connected or "pairs" in self.outputs:
            with self._stage("find and verify pairs", None) as advance:
                pairs = self._written_pairs(advance)
                if connected:
                    decisions = self.decider.connected(pairs)
                else:
                    for _ in pairs:
                        pass
        if decisions is None:
            with self._stage("group", len(self.decider.new)) as advance:
                decisions = self.decider.around_keepers(advance)
        return decisions

    def _written_pairs(self, advance: Advance) -> Iterator[VerifiedPairs]:
        """All verified pairs; on the way they are counted, and written when that was asked for.

        A text that several rows have stands there by the first of them in reading order, whatever the keep policy.
        """
        sink = self.outputs.get("pairs")
        writer = None
        if isinstance(sink, AtomicOutput):
            writer = PairWriter(sink, self.names.name, as_csv=self.options.outputs.as_csv)
        first = first_rows(self.decider.representative)
        self._write_copies(first, writer)
        for block in self.decider.pairs():
            self._count_pairs(len(block.a))
            if writer is not None:
                a, b = first[block.a], first[block.b]
                low, high = np.minimum(a, b), np.maximum(a, b)
                for x, y, bits, similarity in zip(low, high, block.distances, block.similarity, strict=True):
                    writer.pair(int(x), int(y), bits, float(similarity))
            advance(len(block.a))
            yield block
        if writer is not None:
            writer.flush()

    def _write_copies(self, first: IntArray, writer: PairWriter | None) -> None:
        """Copies of one identical text, with the first of them only."""
        rows = np.arange(len(first))
        later = np.flatnonzero((first != rows) & (rows >= self.n_older))
        self._count_pairs(len(later))
        if writer is None:
            return
        bits = [0] * self.layout.n_halves
        similarity = 1.0 if self.verifier is not None else float("nan")
        for row in later.tolist():
            writer.pair(int(first[row]), row, bits, similarity)

    def _count_pairs(self, n: int) -> None:
        self.n_pairs += n
        if "pairs" in self.outputs and self.n_pairs > self.options.max_pairs:
            hot = hottest_words(self.decider.lanes[self.decider.new], self.layout, top=5)
            words = ", ".join(
                f"word {h.word + 1} of half {chr(65 + h.half)} = {h.value:04x} in {h.count:,} rows" for h in hot
            )
            raise BudgetExceeded(
                f"more than {self.options.max_pairs:,} pairs; the hottest words: {words}",
                "write groups instead of pairs, which stay linear, or raise --max-pairs",
            )

    # -- writing ----------------------------------------------------------------------------------------------------

    def _write(self) -> None:
        with self._stage("write", None):
            self._write_rows_and_groups()
            removed = self.outputs.get("removed")
            if isinstance(removed, AtomicOutput):
                names, as_csv = self.names, self.options.outputs.as_csv
                write_removed(removed, self.inputs, self.decisions, names.name, names.place, as_csv=as_csv)
        self._write_report()
        ready: list[Finalisable] = list(self.outputs.values())
        finalise(ready)
        if self.store is not None:
            with self._stage("update the store", None):
                append_survivors(self.store, self)

    def _write_rows_and_groups(self) -> None:
        """Both at once: reading the inputs again is mostly unpacking, which leaves the interpreter free."""
        output, groups = self.outputs.get("output"), self.outputs.get("groups")
        with ThreadPoolExecutor(1) as pool:
            rows = None if output is None else pool.submit(write_rows, self.inputs, self.decisions.kept, output)
            if isinstance(groups, AtomicOutput):
                write_groups(groups, self.decisions, self.names, as_csv=self.options.outputs.as_csv)
            if rows is not None:
                rows.result()

    def _write_report(self) -> None:
        output = self.outputs.get("report")
        if isinstance(output, AtomicOutput):
            from simhash_es.report import write_report
            from simhash_es.use_cases.dedup.report_data import report_data

            with self._stage("report", None):
                write_report(output, report_data(self, self.summary()))

    # -- the numbers ------------------------------------------------------------------------------------------------

    def summary(self) -> DedupSummary:
        """The numbers of the run so far."""
        decisions, corpus = self.decisions, self.corpus
        kept = decisions.kept
        n_removed = int((~kept).sum())
        new = slice(self.n_older, None)
        found = corpus.found.values[new]
        groups = decisions.groups()
        removed = np.flatnonzero(~kept) + self.n_older
        largest = decisions.distances[removed].max(axis=0) if len(removed) else np.zeros(0, np.uint8)
        n_exact = decisions.n_exact
        measured = "pairs" in self.outputs or self.options.linkage is Linkage.CONNECTED
        return DedupSummary(
            read=len(kept) + self.inputs.skipped,
            kept=int(kept.sum()),
            removed=n_removed,
            skipped=self.inputs.skipped,
            empty=int((~found).sum()),
            short=0 if self.shape.ready_made else int((found & (corpus.n_features.values[new] < SHORT_FEATURES)).sum()),
            short_by_features=self._short_similarity() is not None and not self.decider.n_frequent_features,
            repaired=self.inputs.repaired,
            groups=len(groups),
            exact_copies=n_exact,
            near_copies=n_removed - n_exact,
            older=self.n_older,
            pairs=self.n_pairs if measured else n_removed,
            compared=0 if self.verifier is None else self.verifier.n_compared,
            largest_groups=tuple(
                (plain(self.names.name(keeper)), 1 + len(members))
                for keeper, members in sorted(groups.items(), key=lambda item: -len(item[1]))[:SHOWN_GROUPS]
            ),
            largest_distances=tuple(int(bits) for bits in largest),
            limits=self.limits,
            profile=self.profile,
            similarity=() if self.verification is None else tuple(map(str, self.verification.criteria)),
            seconds=dict(self.seconds),
            outputs={name: output.path for name, output in self.outputs.items()},
        )

    @contextmanager
    def _stage(self, name: str, total: int | None) -> Iterator[Advance]:
        began = time.perf_counter()
        with self.talk.stage(name, total) as advance:
            yield advance
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - began


def first_rows(representative: IntArray) -> IntArray:
    """For each row the first one with the same representative."""
    rows = np.arange(len(representative))
    first = np.full(len(representative), len(representative))
    np.minimum.at(first, representative, rows)
    return first[representative]


def with_fields(read: ReadOptions, extra_fields: tuple[str, ...], *, need_text: bool) -> ReadOptions:
    """The reading options of a run, with the field of the keep policy."""
    settings: dict[str, Any] = {name: getattr(read, name) for name in read.__dataclass_fields__}
    return ReadOptions(**{**settings, "extra_fields": extra_fields, "need_text": need_text})
