"""Making the index hold what the files hold, at the cost of what has changed.

    take in ─▶ embed ─▶ publish ─▶ refresh the generation of vectors

What is read and embedded is stored as it comes, unseen, so that an interrupted run has lost
nothing that was computed; then one transaction publishes papers, records and terms together. A
generation of vectors is built when the papers outside the current one have become many.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rag.corpus.files import find_sources
from rag.errors import InputError
from rag.index.building import Builder, done_so_far, stay
from rag.index.built import BuiltWith, probe_of
from rag.index.catalog import LOCK, Catalog
from rag.index.embedding import Embedder
from rag.index.engine import Engine, LocalEngine
from rag.index.filling import Filler
from rag.index.grouping import regroup, remove
from rag.index.intake import DEFAULT, Intake, Options, Work
from rag.index.lock import write_lock
from rag.index.report import Failure, Notice, Progress, Report
from rag.index.standing import conflicts, keep_refused
from rag.index.vectors.local import Generations
from rag.index.vectors.seam import VectorIndex
from rag.index.writer import Writer

_GROUPED_AT_ONCE = 1_000  # records: small files together, whose terms would else be many segments
_SHRINKS_FROM = 20  # papers below which losing more than half is nothing to ask back about


class _DryRun(Exception):
    """Carries the report out of a transaction that is to be undone."""

    def __init__(self, report: Report) -> None:
        self.report = report


class Indexer:
    """The one writer of an index folder, and of its `vectors`: beside the catalog, or elsewhere.

    `engine` reads and embeds, this process by default.
    """

    def __init__(
        self,
        data_dir: Path,
        embedder: Embedder,
        built_with: BuiltWith,
        progress: Progress,
        vectors: VectorIndex | None = None,
        engine: Engine | None = None,
    ) -> None:
        engine = engine or LocalEngine(embedder, built_with)
        self.catalog = Catalog(data_dir / "catalog.sqlite3")
        self.vectors = vectors or Generations(data_dir / "vectors")
        self._lock = data_dir / LOCK
        self._embedder = embedder
        self._built_with = built_with
        self._progress = progress
        self._intake = Intake(self.catalog, built_with, engine, progress)
        self._builder = Builder(self.catalog, self.vectors, progress)
        self._filler = Filler(self.catalog, embedder, built_with, engine, progress)

    def sync(self, paths: Sequence[Path], options: Options = DEFAULT) -> Report:
        """Index the files at `paths`; a folder that is named also loses what left it.

        Raises:
            InputError: a path is missing, nothing at all could be read, a strict run met
                something unreadable, or more than half of the papers would go.
            IndexLocked: another process writes.
            IndexUnusable: the index was built with other settings.
            Unreachable: the papers are published, and their vectors could not be put where
                they are kept; the next run does it.
        """
        sources = find_sources(paths, options.limits)
        with write_lock(self._lock, wait=options.wait):
            self.catalog.create()
            work = self._intake.take(sources, paths, options)
            if options.dry_run:
                return self._tried(work)
            embedded = self._filler.fill()
            with self.catalog.writing() as writer:
                report = self._publish(writer, work, embedded, options)
            self.catalog.checkpoint()
            with done_so_far("The papers are indexed, but their vectors are not"):
                self._builder.refresh()
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
            with done_so_far("The papers are indexed, but their vectors are not"):
                self._builder.build()
            return Report(0, 0, 0, total.papers, 0, embedded, (), (), total, revision)

    def rebuild_vectors(self) -> None:
        """Make a new generation from the vectors of the index, whatever the settings are."""
        with write_lock(self._lock):
            self.catalog.create()
            self._builder.build()

    def close(self) -> None:
        """Let go of catalog and vectors."""
        self.vectors.close()
        self.catalog.close()

    # --- publishing

    def _tried(self, work: Work) -> Report:
        """What publishing would change, undone."""
        try:
            with self.catalog.writing() as writer:
                raise _DryRun(self._publish(writer, work, 0, Options(allow_shrink=True)))
        except _DryRun as tried:
            return tried.report

    def _publish(self, writer: Writer, work: Work, embedded: int, options: Options) -> Report:
        before, total = writer.revision, writer.counts()
        settled = writer.setting("embedding_model") is not None
        if not (work.changed or work.gone or work.relabelled) and settled:
            return self._report(writer, work, _Changes(unchanged=total.papers), 0, before)
        revision = writer.raise_revision()
        if not settled:
            self._record_settings(writer)
        touched = self._publish_files(writer, work, options)
        changes = _changes(writer, touched, total.papers)
        if changes.removed > total.papers / 2 >= _SHRINKS_FROM / 2 and not options.allow_shrink:
            raise InputError(
                f"{changes.removed:,} of {total.papers:,} papers would leave the index",
                cause="their files are gone or hold less than before",
                remedy="If that is meant, use --allow-shrink.",
            )
        return self._report(writer, work, changes, embedded, revision)

    def _publish_files(self, writer: Writer, work: Work, options: Options) -> list[int]:
        """Publish, regroup, remove; the records that are new or changed."""
        touched: list[int] = []
        gone: list[int] = []
        grouped = 0
        for done, (key, label, now) in enumerate(work.changed, start=1):
            change = writer.publish_file(key, label, now)
            keep_refused(writer, key, work.refused.get(key, ()), options.limits.record_chars)
            touched += change.changed
            gone += change.gone
            if len(touched) - grouped >= _GROUPED_AT_ONCE or done == len(work.changed):
                regroup(writer, touched[grouped:])
                grouped = len(touched)
            self._progress("storing", done, len(work.changed))
        for key, label in work.relabelled:
            writer.relabel_file(key, label)
        for path in work.gone:
            gone += writer.records_of(path)
        remove(writer, gone)
        for path in work.gone:
            writer.remove_file(path)
        writer.sweep()
        return touched

    def _report(
        self, writer: Writer, work: Work, changes: _Changes, embedded: int, revision: int
    ) -> Report:
        looked_at = {*work.unchanged, *(key for key, _, _ in work.changed)}
        return Report(
            *(changes.added, changes.updated, changes.removed, changes.unchanged),
            *(changes.duplicates, embedded, tuple(work.failures), tuple(work.notices)),
            *(writer.counts(), revision, conflicts(writer, looked_at)),
        )

    def _record_settings(self, writer: Writer) -> None:
        self._built_with.record(writer, probe_of(self._embedder))
        stay(writer, self._built_with.embedding_model)


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
