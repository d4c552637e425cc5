"""From the records of one file to papers with identity, title and sentences."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from rag.corpus.files import READERS, SourceFile, decode
from rag.corpus.records import Record, Rejected
from rag.corpus.titles import derive_title
from rag.errors import InputError
from rag.schema import Paper, Sentence
from rag.text import canonical, split_sentences

_ID_LENGTH = 16


@dataclass(frozen=True, slots=True)
class LoadedFile:
    """What one file gave: its papers in order, and the pieces that could not be read."""

    papers: tuple[Paper, ...]
    rejected: tuple[Rejected, ...]


def read_papers(file: SourceFile, data: bytes) -> LoadedFile:
    """Read the papers of one file.

    Raises:
        InputError: the file as a whole is not text, or holds nothing that looks like a paper.
    """
    read = READERS.get(file.path.suffix.lower(), READERS[".txt"])
    papers: list[Paper] = []
    rejected: list[Rejected] = []
    for record in read(decode(data, file.label)):
        if isinstance(record, Rejected):
            rejected.append(record)
        else:
            papers.append(to_paper(record, file.label))
    if not papers and not rejected:
        raise InputError(f"{file.label} holds no papers", cause="no abstract was found in it")
    return LoadedFile(tuple(papers), tuple(rejected))


def to_paper(record: Record, source: str) -> Paper:
    """A paper from a record; the text is kept to the character."""
    sentences = tuple(
        Sentence(record.text[start:end], start, end) for start, end in split_sentences(record.text)
    )
    return Paper(
        id=paper_id(record),
        source=source,
        ordinal=record.ordinal,
        source_offset=record.offset,
        text=record.text,
        title=record.title or derive_title(record.text),
        title_derived=record.title is None,
        sentences=sentences,
    )


def paper_id(record: Record) -> str:
    """The same content has the same id wherever it stands; 64 bits of SHA-256 over it."""
    content = "\n".join([canonical(record.title or ""), canonical(record.text)])
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:_ID_LENGTH]
