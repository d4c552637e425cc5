"""Reading files into the catalog, where what they hold waits unseen until it is published."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rag.corpus import Limits, Refused, SourceFile
from rag.corpus.files import shown
from rag.errors import InputError
from rag.index.built import BuiltWith
from rag.index.catalog import Catalog
from rag.index.engine import Engine
from rag.index.reading import Job, Part
from rag.index.report import Failure, Notice, Progress
from rag.index.standing import read_under_other, refused
from rag.index.writer import StagedRecord, Writer

_LIMITS = Limits()
_STAGED_AT_ONCE = 1_000
UPLOADS = "uploads"  # the folder of the data folder where files are that came through the page
_ANOTHER = "other limits"  # in place of a digest: what was refused then may be taken now


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
class Work:
    """What a run found: files to publish (key, label, digest), what is gone, what failed.

    `taken` counts the files that can be read, changed or not. `unchanged` names those that were
    not read again; `refused` holds the records of the others that were not taken, by file.
    """

    taken: int = 0
    changed: list[tuple[str, str, str]] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    relabelled: list[tuple[str, str]] = field(default_factory=list)
    unchanged: dict[str, str] = field(default_factory=dict)
    refused: dict[str, list[Failure]] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)


DEFAULT = Options()


class Intake:
    """Takes in what has changed; the caller holds the write lock."""

    def __init__(
        self, catalog: Catalog, built_with: BuiltWith, engine: Engine, progress: Progress
    ) -> None:
        self._catalog = catalog
        self._built_with = built_with
        self._engine = engine
        self._progress = progress
        self._read: list[tuple[str, Sequence[StagedRecord]]] = []

    def take(
        self, sources: Iterator[SourceFile | Refused], paths: Sequence[Path], options: Options
    ) -> Work:
        """Stage what the changed files hold, part by part as they are read."""
        with self._catalog.writing() as writer:
            self._built_with.compare(writer)
            writer.forget_staged()
            known = writer.files()
            outdated = read_under_other(writer, options.limits.record_chars)
        work = Work()
        there: set[str] = set()
        self._read.clear()
        jobs = (
            Job(source, _ANOTHER if source.key in outdated else known.get(source.key, ("", ""))[0])
            for source in sources
        )
        for job, part in self._engine.read(jobs, options.limits):
            self._keep(work, job, part)
            if part.last:
                there.add(job.source.key)
                self._settle(work, job, part.digest, known.get(job.source.key))
                self._progress("reading", len(there), 0)
        uploads = Path(shown((self._catalog.path.parent / UPLOADS).resolve()))
        work.gone = _gone(known, there, paths, uploads)
        with self._catalog.reading() as snapshot:
            work.failures += refused(snapshot, work.unchanged)
        _check_taken(work, strict=options.strict)
        with self._catalog.writing() as writer:
            self._stage(writer)
            writer.sweep()
        return work

    def _keep(self, work: Work, job: Job, part: Part) -> None:
        work.failures += part.failures
        if bad := [failure for failure in part.failures if failure.ordinal is not None]:
            work.refused.setdefault(job.source.key, []).extend(bad)
        work.notices += part.notices
        if part.records:
            self._read.append((job.source.key, part.records))
        if sum(len(records) for _, records in self._read) >= _STAGED_AT_ONCE:
            with self._catalog.writing() as writer:
                self._stage(writer)

    def _stage(self, writer: Writer) -> None:
        """Store what was read of any file: a transaction for each would cost more than its work."""
        for key, records in self._read:
            writer.stage(key, records)
        self._read.clear()

    def _settle(self, work: Work, job: Job, now: str, known: tuple[str, str] | None) -> None:
        """Note what is to be done with a file that has been read to its end."""
        key, label = job.source.key, job.source.label
        if not now:
            with self._catalog.writing() as writer:
                self._stage(writer)
                writer.drop_staged(key)
            return
        work.taken += 1
        if known is None or now != known[0] or job.known == _ANOTHER:
            work.changed.append((key, label, now))
            return
        work.unchanged[key] = label
        if label != known[1]:
            work.relabelled.append((key, label))


def _gone(known: Iterable[str], there: set[str], paths: Sequence[Path], uploads: Path) -> list[str]:
    """Known files that have left a folder or archive which was named, unless that was refused.

    What was uploaded leaves with its own folder only, not with one around the data folder, in
    which it may be hidden.
    """
    roots = [Path(shown(path.resolve())) for path in paths]
    return [
        path
        for path in known
        if path not in there
        and not any(str(parent) in there for parent in Path(path).parents)
        and any(root in Path(path).parents for root in roots if _reaches(root, path, uploads))
    ]


def _reaches(root: Path, path: str, uploads: Path) -> bool:
    """Whether naming `root` says anything of a file: of an upload only within the uploads."""
    return uploads not in Path(path).parents or root == uploads or uploads in root.parents


def _check_taken(work: Work, *, strict: bool) -> None:
    """End a run that took nothing, or that is strict and could not take everything."""
    if not work.failures:
        return
    first = work.failures[0]
    unread = next((failure for failure in work.failures if failure.ordinal is None), None)
    if not work.taken and unread is not None:
        raise unread.error()
    if strict:
        more = f" and {len(work.failures) - 1:,} more" if len(work.failures) > 1 else ""
        raise InputError(
            f"Nothing was indexed: {first.told}{more}",
            remedy="Mend what is named, or leave out --strict.",
        )
