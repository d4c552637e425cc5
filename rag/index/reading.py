"""Reading one file: what has changed in it, in parts that can be stored as they come.

Pure of the catalog, so that it can be done in any process that sees the file.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from itertools import islice

from rag.corpus import Content, Limits, Record, Refused, Rejected, SourceFile, read_papers
from rag.corpus.files import digest
from rag.errors import InputError
from rag.index.report import Failure, Notice
from rag.index.writer import StagedRecord
from rag.schema import Paper

_RECORDS_AT_ONCE = 1_000
_KEPT = "no record of it can be taken; the papers that it held before are kept"


@dataclass(frozen=True, slots=True)
class Job:
    """A file to be read, with the digest that it had when it was read last, if it was."""

    source: SourceFile | Refused
    known: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of what a file holds, at most a thousand records.

    The `last` part of a file carries the digest of the whole, which is empty where the file could
    not be read, or held something before and now nothing that can be taken: then nothing of its
    other parts counts.
    """

    records: tuple[StagedRecord, ...] = ()
    failures: tuple[Failure, ...] = ()
    notices: tuple[Notice, ...] = ()
    last: bool = False
    digest: str = ""


def read(job: Job, limits: Limits) -> Iterator[Part]:
    """What a file holds, if it is not what it held; one part without records otherwise.

    Raises:
        ResourceError: this machine has no room for what an archive holds.
    """
    source = job.source
    if isinstance(source, Refused):
        yield _refusal(source)
        return
    try:
        content = source.content(limits)
        now = digest(content)
        if now != job.known:
            all_refused = yield from _parts(content)
            if digest(content) != now:
                raise InputError(
                    f"{content.label} changed while it was read", remedy="Index it again."
                )
            if all_refused and job.known:
                yield Part(notices=(Notice(source.label, _KEPT),), last=True)
                return
        yield Part(last=True, digest=now)
    except InputError as error:
        yield Part(failures=(Failure.of_file(source.label, error),), last=True)


def _parts(content: Content) -> Generator[Part, None, bool]:
    """The parts of a file; returns whether it had records and each of them was refused."""
    pieces = read_papers(content)
    taken = refused = 0
    while batch := list(islice(pieces, _RECORDS_AT_ONCE)):
        part = _part(content.label, batch)
        taken += len(part.records)
        refused += len(part.failures)
        yield part
    if content.notes:
        yield Part(notices=tuple(Notice(content.label, note) for note in content.notes))
    return refused > 0 and not taken


def _part(label: str, pieces: list[tuple[Record, Paper] | Rejected]) -> Part:
    taken = [piece for piece in pieces if not isinstance(piece, Rejected)]
    return Part(
        tuple(StagedRecord(r.ordinal, r.line, r.offset, paper) for r, paper in taken),
        tuple(Failure.of_record(label, piece) for piece in pieces if isinstance(piece, Rejected)),
        tuple(Notice(label, note, r.ordinal) for r, _ in taken for note in r.notes),
    )


def _refusal(refused: Refused) -> Part:
    if refused.passed_over:
        told = Notice(refused.label, f"not read: {refused.reason}")
        return Part(notices=(told,), last=True)
    return Part(failures=(Failure.of_file(refused.label, refused.error()),), last=True)
