"""Making the index hold what the files hold, at the cost of what has changed.

    plan ─▶ stage ─▶ embed ─▶ publish ─▶ refresh the generation of vectors

What is read and embedded is stored as it comes, unseen, so that an interrupted run has lost
nothing that was computed; then one transaction publishes papers, records and terms together. A
generation of vectors is built when the papers outside the current one have become many.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from rag.corpus import Content, Limits, Rejected, SourceFile, find_files, read_papers
from rag.corpus.files import digest, shown
from rag.errors import InputError
from rag.index.catalog import LOCK, Catalog
from rag.index.embedding import PROBE, Embedder
from rag.index.filling import Filler
from rag.index.grouping import regroup, remove
from rag.index.lock import write_lock
from rag.index.manifest import Damaged
from rag.index.reader import BuiltWith, paper_vector
from rag.index.report import Failure, Notice, Progress, Report
from rag.index.snapshot import Counts
from rag.index.vectors import Generations
from rag.index.writer import StagedRecord, Writer

_LIMITS = Limits()
_STAGED_AT_ONCE = 1_000
_SMALLEST_GENERATION = 16
_DELTA_ROWS = 256
_DELTA_SHARE = 0.1
_SHRINKS_FROM = 20  # papers below which losing more than half is nothing to ask back about


@dataclass(frozen=True, slots=True)
class Options:
    """How a run goes about its files.

    `strict`: whatever cannot be read ends the run before anything is published. `allow_shrink`:
    more than half of the papers may go. `dry_run`: report what would change, change nothing.
    """

    strict: bool = False
    allow_shrink: bool = False
    dry_run: bool = False
    wait: bool = False
    limits: Limits = _LIMITS


@dataclass(slots=True)
class _Work:
    """The files of one run: how many, those to publish, those that are gone, what failed."""

    files: int = 0
    changed: list[tuple[SourceFile, str]] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    relabelled: list[SourceFile] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)


DEFAULT = Options()


class _DryRun(Exception):
    """Carries the report out of a transaction that is to be undone."""

    def __init__(self, report: Report) -> None:
        self.report = report


class Indexer:
    """The one writer of an index folder."""

    def __init__(
        self, data_dir: Path, embedder: Embedder, built_with: BuiltWith, progress: Progress
    ) -> None:
        self.catalog = Catalog(data_dir / "catalog.sqlite3")
        self.generations = Generations(data_dir / "vectors")
        self._lock = data_dir / LOCK
        self._embedder = embedder
        self._built_with = built_with
        self._progress = progress
        self._filler = Filler(self.catalog, embedder, built_with, progress)

    def sync(self, paths: Sequence[Path], options: Options = DEFAULT) -> Report:
        """Index the files at `paths`; a folder that is named also loses what left it.

        Raises:
            InputError: a path is missing, nothing at all could be read, a strict run met
                something unreadable, or more than half of the papers would go.
            IndexLocked: another process writes.
            IndexUnusable: the index was built with other settings.
        """
        files = find_files(paths)
        with write_lock(self._lock, wait=options.wait):
            self.catalog.create()
            work = self._plan(files, paths, options)
            self._stage(work, options)
            if options.dry_run:
                return self._tried(work)
            embedded = self._filler.fill()
            with self.catalog.writing() as writer:
                report = self._publish(writer, work, embedded, options)
            self.catalog.checkpoint()
            self._refresh_generation()
            return report

    def rebuild(self) -> Report:
        """Make the index anew from the stored papers, with the present settings."""
        with write_lock(self._lock):
            self.catalog.create()
            with self.catalog.reading() as snapshot:
                altered = self._filler.has_other_weights(snapshot)
            embedded = 0 if altered else self._filler.fill()
            with self.catalog.writing() as writer:
                revision = writer.raise_revision()
                if altered:
                    embedded = self._filler.refill(writer)
                    writer.renew_papers(revision)
                self._record_settings(writer)
                total = writer.counts()
            self._build_generation()
            return Report(0, 0, 0, total.papers, 0, embedded, (), (), total, revision)

    def rebuild_vectors(self) -> None:
        """Make a new generation from the stored vectors; nothing is embedded."""
        with write_lock(self._lock):
            self.catalog.create()
            self._build_generation()

    # --- reading

    def _plan(self, files: list[SourceFile], paths: Sequence[Path], options: Options) -> _Work:
        work = _Work(len(files))
        with self.catalog.reading() as snapshot:
            self._built_with.compare(snapshot)
            known = snapshot.files()
        found = {file.key for file in files}
        roots = [Path(shown(path.resolve())) for path in paths if path.is_dir()]
        work.gone = [
            path
            for path in known
            if path not in found and any(Path(path).is_relative_to(root) for root in roots)
        ]
        for file in files:
            try:
                now = digest(file.content(options.limits))
            except InputError as error:
                work.failures.append(Failure.of_file(file.label, error))
                continue
            digest_then, label_then = known.get(file.key, ("", ""))
            if digest_then != now:
                work.changed.append((file, now))
            elif label_then != file.label:
                work.relabelled.append(file)
        return work

    def _stage(self, work: _Work, options: Options) -> None:
        """Read the changed files into the catalog; drop from `work` those that cannot be read."""
        with self.catalog.writing() as writer:
            writer.forget_staged()
        readable = []
        for number, (file, expected) in enumerate(work.changed, start=1):
            try:
                self._stage_file(work, file, expected, options.limits)
                readable.append((file, expected))
            except InputError as error:
                work.failures.append(Failure.of_file(file.label, error))
                with self.catalog.writing() as writer:
                    writer.drop_staged(file.key)
            self._progress("reading", number, len(work.changed))
        work.changed = readable
        if work.failures and (options.strict or len(work.failures) >= work.files):
            self._end_run(work, options)
        with self.catalog.writing() as writer:
            writer.sweep()

    def _end_run(self, work: _Work, options: Options) -> None:
        unread = sum(failure.ordinal is None for failure in work.failures)
        if unread >= work.files:
            raise work.failures[0].error()
        if options.strict:
            more = f" and {len(work.failures) - 1} more" if len(work.failures) > 1 else ""
            raise InputError(
                f"Nothing was indexed: {work.failures[0].told}{more}",
                remedy="Mend what is named, or leave out --strict.",
            )

    def _stage_file(self, work: _Work, file: SourceFile, expected: str, limits: Limits) -> None:
        content = file.content(limits)
        records = self._records(work, content)
        while batch := list(islice(records, _STAGED_AT_ONCE)):
            with self.catalog.writing() as writer:
                writer.stage(file.key, batch)
        work.notices += [Notice(content.label, note) for note in content.notes]
        if digest(file.content(limits)) != expected:
            raise InputError(f"{file.label} changed while it was read", remedy="Index it again.")

    def _records(self, work: _Work, content: Content) -> Iterator[StagedRecord]:
        for piece in read_papers(content):
            if isinstance(piece, Rejected):
                work.failures.append(Failure.of_record(content.label, piece))
                continue
            record, paper = piece
            work.notices += [Notice(content.label, note, record.ordinal) for note in record.notes]
            yield StagedRecord(record.ordinal, record.line, record.offset, paper)

    # --- publishing

    def _tried(self, work: _Work) -> Report:
        """What publishing would change, undone."""
        try:
            with self.catalog.writing() as writer:
                raise _DryRun(self._publish(writer, work, 0, Options(allow_shrink=True)))
        except _DryRun as tried:
            return tried.report

    def _publish(self, writer: Writer, work: _Work, embedded: int, options: Options) -> Report:
        before, total = writer.revision, writer.counts()
        settled = writer.setting("embedding_model") is not None
        if not (work.changed or work.gone or work.relabelled) and settled:
            return self._report(work, _Changes(unchanged=total.papers), 0, total, before)
        revision = writer.raise_revision()
        if not settled:
            self._record_settings(writer)
        touched = self._publish_files(writer, work)
        changes = _changes(writer, touched, total.papers)
        if changes.removed > total.papers / 2 >= _SHRINKS_FROM / 2 and not options.allow_shrink:
            raise InputError(
                f"{changes.removed:,} of {total.papers:,} papers would leave the index",
                cause="their files are gone or hold less than before",
                remedy="If that is meant, use --allow-shrink.",
            )
        return self._report(work, changes, embedded, writer.counts(), revision)

    def _publish_files(self, writer: Writer, work: _Work) -> list[int]:
        """Publish, regroup, remove; the records that are new or changed."""
        touched: list[int] = []
        gone: list[int] = []
        for done, (file, expected) in enumerate(work.changed, start=1):
            change = writer.publish_file(file.key, file.label, expected)
            regroup(writer, change.changed)
            touched += change.changed
            gone += change.gone
            self._progress("storing", done, len(work.changed))
        for file in work.relabelled:
            writer.relabel_file(file.key, file.label)
        for path in work.gone:
            gone += writer.records_of(path)
        remove(writer, gone)
        for path in work.gone:
            writer.remove_file(path)
        writer.sweep()
        return touched

    def _report(
        self, work: _Work, changes: _Changes, embedded: int, total: Counts, revision: int
    ) -> Report:
        return Report(
            *(changes.added, changes.updated, changes.removed, changes.unchanged),
            *(changes.duplicates, embedded, tuple(work.failures), tuple(work.notices)),
            *(total, revision),
        )

    def _record_settings(self, writer: Writer) -> None:
        for name in BuiltWith.__slots__:
            writer.set(name, str(getattr(self._built_with, name)))
        writer.set("probe", self._embedder.embed([PROBE])[0].tobytes().hex())

    # --- generations

    def _refresh_generation(self) -> None:
        """Build a generation when there is none that is sound and nearly complete."""
        self.generations.clean()
        try:
            current = self.generations.current()
        except Damaged:
            current = None
        with self.catalog.reading() as snapshot:
            total = snapshot.counts().papers
            if current is not None and current.manifest.model == self._built_with.key:
                added = snapshot.count_since(current.manifest.revision)
                gone = current.manifest.rows - (total - added)
                if added + gone <= max(_DELTA_ROWS, _DELTA_SHARE * total):
                    return
        self._build_generation()

    def _build_generation(self) -> None:
        key, dimension = self._built_with.key, self._embedder.dimension
        with self.catalog.reading() as snapshot:
            total = snapshot.counts().papers
            if total < _SMALLEST_GENERATION:
                return  # searched exactly
            rows = (
                (content, paper_vector(matrix))
                for _, content, matrix in snapshot.matrices_since(key, 0, dimension)
            )
            self._progress("building", 0, total)
            self.generations.build(
                rows, total, model=key, dimension=dimension, revision=snapshot.revision
            )
            self._progress("building", total, total)


@dataclass(frozen=True, slots=True)
class _Changes:
    """What a revision changed, in papers."""

    added: int = 0
    updated: int = 0
    removed: int = 0
    unchanged: int = 0
    duplicates: int = 0


def _changes(writer: Writer, touched: list[int], before: int) -> _Changes:
    total = writer.counts().papers
    added, updated = writer.count_changed()
    removed = before + added - total
    duplicates = writer.count_duplicates(touched)
    return _Changes(added, updated, removed, total - added - updated, duplicates)


__all__ = ["Failure", "Indexer", "Notice", "Options", "Progress", "Report"]
