"""Making the index hold what the files hold, at the cost of what has changed.

Vectors are stored as they are computed, unseen, so that an interrupted run has lost nothing; then
one transaction publishes papers, sources and terms together. A generation of vectors is built
when the papers outside the current one have become many.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rag.corpus import Rejected, SourceFile, find_files, read_papers
from rag.corpus.files import digest, shown
from rag.errors import AskPapersError, IndexUnusable, InputError
from rag.index import lexical
from rag.index.catalog import Catalog
from rag.index.embedding import PROBE, Embedder, Vectors
from rag.index.lock import write_lock
from rag.index.manifest import Damaged
from rag.index.reader import BuiltWith, compare_probe, paper_vector
from rag.index.snapshot import Counts, Snapshot
from rag.index.vectors import Generations
from rag.schema import Paper

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is."""

_BATCH_CHUNKS = 512
_SMALLEST_GENERATION = 16
_DELTA_ROWS = 256
_DELTA_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class Failure:
    """A file or a record that could not be taken: where it is, why, and what to do."""

    source: str
    reason: str
    remedy: str = ""
    ordinal: int | None = None
    line: int | None = None

    def __str__(self) -> str:
        record = f"{self.source}, record {self.ordinal}, line {self.line}: " if self.line else ""
        return f"{record}{self.reason}. {self.remedy}".strip()

    def error(self) -> InputError:
        """The failure as the end of a run that had nothing else to take."""
        return InputError(self.reason, remedy=self.remedy)


@dataclass(frozen=True, slots=True)
class Report:
    """What a run changed."""

    added: int
    removed: int
    unchanged: int
    embedded: int
    failures: tuple[Failure, ...]
    total: Counts
    revision: int


@dataclass(slots=True)
class _Work:
    """The files of one run: how many, those to publish, those that are gone, what failed."""

    files: int = 0
    changed: list[tuple[SourceFile, str]] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    relabelled: list[SourceFile] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)


class Indexer:
    """The one writer of an index folder."""

    def __init__(
        self, data_dir: Path, embedder: Embedder, built_with: BuiltWith, progress: Progress
    ) -> None:
        self.catalog = Catalog(data_dir / "catalog.sqlite3")
        self.generations = Generations(data_dir / "vectors")
        self._lock = data_dir / "writer.lock"
        self._embedder = embedder
        self._built_with = built_with
        self._progress = progress

    def sync(self, paths: Sequence[Path]) -> Report:
        """Index the files at `paths`; a folder that is named also loses what left it.

        Raises:
            InputError: a path is missing, or nothing at all could be read.
            IndexLocked: another process writes.
            IndexUnusable: the index was built with other settings.
        """
        files = find_files(paths)
        with write_lock(self._lock):
            self.catalog.create()
            work = self._plan(files, paths)
            embedded = self._embed_files(work)
            report = self._publish(work, embedded)
            self._refresh_generation()
            return report

    def rebuild(self) -> Report:
        """Make the index anew from the stored papers, with the present settings."""
        with write_lock(self._lock):
            with self.catalog.reading() as snapshot:
                total = snapshot.counts()
                altered = self._is_same_model(snapshot) and self._has_other_weights(snapshot)
            if altered:
                embedded = self._replace_vectors(total.papers)
            else:
                embedded = self._embed(self._stored_papers(), total.papers)
            with self.catalog.writing() as writer:
                writer.raise_revision()
                self._record_settings(writer.set)
            self._build_generation()
            with self.catalog.reading() as snapshot:
                return Report(0, 0, total.papers, embedded, (), total, snapshot.revision)

    def rebuild_vectors(self) -> None:
        """Make a new generation from the stored vectors; nothing is embedded."""
        with write_lock(self._lock):
            self._build_generation()

    # --- planning

    def _plan(self, files: list[SourceFile], paths: Sequence[Path]) -> _Work:
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
                now = digest(file.content())
            except InputError as error:
                work.failures.append(Failure(file.label, _reason(error), error.remedy))
                continue
            digest_then, label_then = known.get(file.key, ("", ""))
            if digest_then != now:
                work.changed.append((file, now))
            elif label_then != file.label:
                work.relabelled.append(file)
        return work

    # --- embedding

    def _embed_files(self, work: _Work) -> int:
        """Embed what is new in the changed files; drop from `work` those that cannot be read."""
        readable = []
        papers: list[Paper] = []
        for file, expected in work.changed:
            try:
                papers += _read(file, expected)[0]
                readable.append((file, expected))
            except InputError as error:
                work.failures.append(Failure(file.label, _reason(error), error.remedy))
        if len(work.failures) == work.files:
            raise work.failures[0].error()
        work.changed = readable
        return self._embed(papers, len(papers))

    def _embed(self, papers: Iterable[Paper], total: int) -> int:
        """Store the vectors of those papers that have none yet; how many papers that were."""
        done = embedded = 0
        probed = False
        for batch in _batches(papers):
            with self.catalog.reading() as snapshot:
                ids = {paper.id: paper for paper in batch}
                have = snapshot.matrices(self._built_with.key, ids, self._embedder.dimension)
                missing = [paper for paper_id, paper in ids.items() if paper_id not in have]
                if missing and not probed and self._is_same_model(snapshot):
                    compare_probe(snapshot, self._embedder)
                    probed = True
            if missing:
                self._store(missing)
            done += len(batch)
            embedded += len(missing)
            self._progress("embedding", done, total)
        return embedded

    def _replace_vectors(self, total: int) -> int:
        """Embed every paper with other weights of the same name; how many papers that were.

        Old and new vectors must never be told apart by name only, so one transaction exchanges
        them all, and the present generation gives way to what the catalog has.
        """
        done = 0
        with self.catalog.writing() as writer:
            writer.forget_vectors(self._built_with.embedding_model)
            for batch in _batches(writer.all_papers()):
                writer.store_matrices(self._built_with.key, self._matrices(batch))
                done += len(batch)
                self._progress("embedding", done, total)
            writer.renew_papers(writer.raise_revision())
            self._record_settings(writer.set)
        return done

    def _has_other_weights(self, snapshot: Snapshot) -> bool:
        try:
            compare_probe(snapshot, self._embedder)
        except IndexUnusable:
            return True
        return False

    def _is_same_model(self, snapshot: Snapshot) -> bool:
        return snapshot.setting("embedding_model") == self._embedder.name

    def _store(self, papers: list[Paper]) -> None:
        matrices = self._matrices(papers)
        with self.catalog.writing() as writer:
            writer.store_matrices(self._built_with.key, matrices)

    def _matrices(self, papers: list[Paper]) -> dict[str, Vectors]:
        chunks = [self._built_with.chunks(paper, self._embedder) for paper in papers]
        vectors = self._embedder.embed([piece.text for pieces in chunks for piece in pieces])
        matrices: dict[str, Vectors] = {}
        start = 0
        for paper, pieces in zip(papers, chunks, strict=True):
            matrices[paper.id] = vectors[start : start + len(pieces)]
            start += len(pieces)
        return matrices

    def _stored_papers(self) -> Iterator[Paper]:
        with self.catalog.reading() as snapshot:
            yield from snapshot.all_papers()

    # --- publishing

    def _publish(self, work: _Work, embedded: int) -> Report:
        with self.catalog.reading() as snapshot:
            before, total = snapshot.revision, snapshot.counts()
            settled = snapshot.setting("embedding_model") is not None
        if not (work.changed or work.gone or work.relabelled) and settled:
            return Report(0, 0, total.papers, 0, tuple(work.failures), total, before)
        probe = None if settled else self._embedder.embed([PROBE])[0]
        with self.catalog.writing() as writer:
            revision = writer.raise_revision()
            if probe is not None:
                self._record_settings(writer.set, probe)
            for done, (file, expected) in enumerate(work.changed, start=1):
                loaded, rejected = _read(file, expected)
                work.failures += _failures(file, rejected)
                writer.replace_file(file.key, file.label, expected, loaded, _index_terms)
                self._progress("storing", done, len(work.changed))
            for file in work.relabelled:
                writer.relabel_file(file.key, file.label)
            for path in work.gone:
                writer.remove_file(path, keep_papers=True)
            removed = writer.remove_orphans()
            total, added = writer.counts(), writer.count_since(before)
        unchanged = total.papers - added
        return Report(added, removed, unchanged, embedded, tuple(work.failures), total, revision)

    def _record_settings(
        self, record: Callable[[str, str], None], probe: Vectors | None = None
    ) -> None:
        for name in BuiltWith.__slots__:
            record(name, str(getattr(self._built_with, name)))
        vector = self._embedder.embed([PROBE])[0] if probe is None else probe
        record("probe", vector.tobytes().hex())

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
                (paper_id, paper_vector(matrix))
                for paper_id, matrix in snapshot.matrices_since(key, 0, dimension)
            )
            self._progress("building", 0, total)
            self.generations.build(
                rows, total, model=key, dimension=dimension, revision=snapshot.revision
            )
            self._progress("building", total, total)


def _index_terms(paper: Paper) -> str:
    return lexical.index_terms(paper.title, paper.text, title_derived=paper.title_derived)


def _read(file: SourceFile, expected: str) -> tuple[list[Paper], list[Rejected]]:
    content = file.content()
    if digest(content) != expected:
        raise InputError(f"{file.label} changed while it was read", remedy="Index it again.")
    pieces = list(read_papers(content))
    papers = [piece[1] for piece in pieces if not isinstance(piece, Rejected)]
    return papers, [piece for piece in pieces if isinstance(piece, Rejected)]


def _failures(file: SourceFile, rejected: list[Rejected]) -> list[Failure]:
    return [Failure(file.label, r.reason, r.remedy, r.ordinal, r.line) for r in rejected]


def _reason(error: AskPapersError) -> str:
    return f"{error.what} ({error.cause})" if error.cause else error.what


def _batches(papers: Iterable[Paper]) -> Iterator[list[Paper]]:
    batch: list[Paper] = []
    size = 0
    for paper in papers:
        batch.append(paper)
        size += len(paper.sentences)
        if size >= _BATCH_CHUNKS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


__all__ = ["Failure", "IndexUnusable", "Indexer", "Progress", "Report"]
