"""From the records of one file to papers with identity, title and sentences."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace

from rag.corpus.content import Content
from rag.corpus.encoding import clean
from rag.corpus.records import Record, Rejected, too_large
from rag.corpus.registry import format_of
from rag.corpus.titles import derive_title
from rag.errors import InputError
from rag.guarding.planted import signs
from rag.schema import Metadata, Paper, Sentence
from rag.text import canonical, printable, split_sentences

_ID_LENGTH = 16


def read_papers(content: Content) -> Iterator[tuple[Record, Paper] | Rejected]:
    """The papers of one file in order, each with its record, and the pieces that are none.

    Raises:
        InputError: the file as a whole is not readable, or holds nothing that looks like a paper.
    """
    found, form = False, format_of(content)
    for number, record in enumerate(form.read(content), start=1):
        if number > content.limits.records:
            raise InputError(
                f"{content.label} holds too many records",
                cause=f"max_records = {content.limits.records:,}",
                remedy="Split it, or raise max_records.",
            )
        found = True
        yield record if isinstance(record, Rejected) else _paper_of(record, content)
    if not found:
        cause = f"read as {form.name}, no {form.holds} was found in it"
        raise InputError(f"{content.label} holds no papers", cause=cause)


def _paper_of(record: Record, content: Content) -> tuple[Record, Paper] | Rejected:
    record = _cleaned(record)
    size, most = len(record.text) + len(record.title or ""), content.limits.record_chars
    if size > most:
        return too_large(record.ordinal, record.line, size, most)
    if not printable(record.text).strip():
        reason = "its text has no character that can be seen"
        return Rejected(record.ordinal, record.line, reason, "Give its abstract as text.")
    return _flagged(record, to_paper(record, content.label))


def _flagged(record: Record, paper: Paper) -> tuple[Record, Paper]:
    """A paper that looks planted carries the reasons, and its record a note of them."""
    found = signs(paper)
    if not found:
        return record, paper
    note = f"it looks planted, and is kept: {'; '.join(found)}"
    meta = replace(paper.meta, flags=found)
    return replace(record, notes=(*record.notes, note)), replace(paper, meta=meta)


def _cleaned(record: Record) -> Record:
    """A record as any store, terminal or JSON takes it, with a note on what that needed."""
    text, of_text = clean(record.text)
    title, of_title = clean(record.title or "")
    meta, of_meta = _cleaned_meta(record.meta)
    told = dict.fromkeys([*record.notes, *of_text, *of_title, *of_meta])
    if len(told) == len(record.notes):
        return record
    return replace(
        record,
        text=text.strip() if of_text else text,
        offset=0 if of_text else record.offset,
        title=title.strip() or None,
        meta=meta,
        notes=tuple(told),
    )


def _cleaned_meta(meta: Metadata) -> tuple[Metadata, list[str]]:
    notes: list[str] = []

    def one(value: str) -> str:
        text, told = clean(value)
        notes.extend(told)
        return text.strip()

    cleaned = Metadata(
        authors=tuple(filter(None, map(one, meta.authors))),
        year=meta.year,
        venue=one(meta.venue),
        doi=one(meta.doi),
        arxiv=one(meta.arxiv),
        url=one(meta.url),
        keywords=tuple(filter(None, map(one, meta.keywords))),
        key=one(meta.key),
    )
    return cleaned, notes


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
