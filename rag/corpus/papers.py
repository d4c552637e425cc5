"""From the records of one file to papers with identity, title and sentences."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from rag.corpus.content import Content
from rag.corpus.records import Record, Rejected, too_large
from rag.corpus.registry import format_of
from rag.corpus.titles import derive_title
from rag.errors import InputError
from rag.schema import Paper, Sentence
from rag.text import canonical, split_sentences

_ID_LENGTH = 16


def read_papers(content: Content) -> Iterator[tuple[Record, Paper] | Rejected]:
    """The papers of one file in order, each with its record, and the pieces that are none.

    Raises:
        InputError: the file as a whole is not readable, or holds nothing that looks like a paper.
    """
    found = False
    for number, record in enumerate(format_of(content).read(content), start=1):
        if number > content.limits.records:
            raise InputError(
                f"{content.label} holds too many records",
                cause=f"max_records = {content.limits.records:,}",
                remedy="Split it, or raise max_records.",
            )
        found = True
        yield record if isinstance(record, Rejected) else _paper_of(record, content)
    if not found:
        raise InputError(f"{content.label} holds no papers", cause="no abstract was found in it")


def _paper_of(record: Record, content: Content) -> tuple[Record, Paper] | Rejected:
    size, most = len(record.text) + len(record.title or ""), content.limits.record_chars
    if size > most:
        return too_large(record.ordinal, record.line, size, most)
    return record, to_paper(record, content.label)


def to_paper(record: Record, source: str) -> Paper:
    """A paper from a record; the text is kept to the character."""
    sentences = tuple(
        Sentence(record.text[start:end], start, end) for start, end in split_sentences(record.text)
    )
    return Paper(
        id=content_id(record),
        source=source,
        ordinal=record.ordinal,
        source_offset=record.offset,
        text=record.text,
        title=record.title or derive_title(record.text),
        title_derived=record.title is None,
        sentences=sentences,
        meta=record.meta,
        content=content_id(record),
    )


def content_id(record: Record) -> str:
    """Title and text have the same id wherever they stand; 64 bits of SHA-256 over them."""
    content = "\n".join([canonical(record.title or ""), canonical(record.text)])
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:_ID_LENGTH]
