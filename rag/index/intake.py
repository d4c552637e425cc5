"""Reading files into the catalog, where what they hold waits unseen until it is published."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from rag.corpus import Content, Limits, Rejected, read_papers
from rag.corpus.files import Refused, SourceFile, digest, shown
from rag.errors import InputError
from rag.index.catalog import Catalog
from rag.index.reader import BuiltWith
from rag.index.report import Failure, Notice, Progress
from rag.index.writer import StagedRecord

_LIMITS = Limits()
_STAGED_AT_ONCE = 1_000


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

    `taken` counts the files that can be read, changed or not.
    """

    taken: int = 0
    changed: list[tuple[str, str, str]] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    relabelled: list[tuple[str, str]] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)


DEFAULT = Options()


class Intake:
    """Reads what has changed; the caller holds the write lock."""

    def __init__(self, catalog: Catalog, built_with: BuiltWith, progress: Progress) -> None:
        self._catalog = catalog
        self._built_with = built_with
        self._progress = progress

    def take(
        self, sources: Iterator[SourceFile | Refused], paths: Sequence[Path], options: Options
    ) -> Work:
        """Stage what the changed files hold, file by file as they are found."""
        with self._catalog.writing() as writer:
            self._built_with.compare(writer)
            writer.forget_staged()
            known = writer.files()
        work = Work()
        there: set[str] = set()
        for number, source in enumerate(sources, start=1):
            there.add(source.key)
            if isinstance(source, Refused):
                _note_refusal(work, source)
            else:
                self._read_file(work, source, known.get(source.key, ("", "")), options.limits)
            self._progress("reading", number, 0)
        work.gone = _gone(known, there, paths)
        _check_taken(work, strict=options.strict)
        with self._catalog.writing() as writer:
            writer.sweep()
        return work

    def _read_file(
        self, work: Work, source: SourceFile, known: tuple[str, str], limits: Limits
    ) -> None:
        digest_then, label_then = known
        try:
            content = source.content(limits)
            now = digest(content)
            if now != digest_then:
                self._stage_file(work, source.key, content, now)
                work.changed.append((source.key, source.label, now))
            elif label_then != source.label:
                work.relabelled.append((source.key, source.label))
            work.taken += 1
        except InputError as error:
            work.failures.append(Failure.of_file(source.label, error))
            with self._catalog.writing() as writer:
                writer.drop_staged(source.key)

    def _stage_file(self, work: Work, key: str, content: Content, expected: str) -> None:
        records = _records(work, content)
        while batch := list(islice(records, _STAGED_AT_ONCE)):
            with self._catalog.writing() as writer:
                writer.stage(key, batch)
        work.notices += [Notice(content.label, note) for note in content.notes]
        if digest(content) != expected:
            raise InputError(f"{content.label} changed while it was read", remedy="Index it again.")


def _records(work: Work, content: Content) -> Iterator[StagedRecord]:
    for piece in read_papers(content):
        if isinstance(piece, Rejected):
            work.failures.append(Failure.of_record(content.label, piece))
            continue
        record, paper = piece
        work.notices += [Notice(content.label, note, record.ordinal) for note in record.notes]
        yield StagedRecord(record.ordinal, record.line, record.offset, paper)


def _note_refusal(work: Work, refused: Refused) -> None:
    if refused.passed_over:
        work.notices.append(Notice(refused.label, f"not read: {refused.reason}"))
    else:
        work.failures.append(Failure.of_file(refused.label, refused.error()))


def _gone(known: Iterable[str], there: set[str], paths: Sequence[Path]) -> list[str]:
    """Known files that have left a folder or archive which was named, unless that was refused."""
    roots = [Path(shown(path.resolve())) for path in paths]
    return [
        path
        for path in known
        if path not in there
        and not any(str(parent) in there for parent in Path(path).parents)
        and any(root in Path(path).parents for root in roots)
    ]


def _check_taken(work: Work, *, strict: bool) -> None:
    """End a run that took nothing, or that is strict and could not take everything."""
    if not work.failures:
        return
    first = work.failures[0]
    if not work.taken:
        raise next(f for f in work.failures if f.ordinal is None).error()
    if strict:
        more = f" and {len(work.failures) - 1:,} more" if len(work.failures) > 1 else ""
        raise InputError(
            f"Nothing was indexed: {first.told}{more}",
            remedy="Mend what is named, or leave out --strict.",
        )
