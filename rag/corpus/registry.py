"""All formats, strict ones before lenient ones."""

from __future__ import annotations

from rag.corpus.content import Content
from rag.corpus.formats import Format, recognise
from rag.corpus.readers import (
    arxiv,
    bibtex,
    jsonfile,
    jsonl,
    markdown,
    medline,
    otherxml,
    pdf,
    plain,
    pubmed,
    ris,
    table,
)

FORMATS: tuple[Format, ...] = (
    pdf.FORMAT,
    arxiv.FORMAT,
    pubmed.FORMAT,
    otherxml.FORMAT,
    bibtex.FORMAT,
    ris.FORMAT,
    medline.FORMAT,
    jsonl.FORMAT,
    jsonfile.FORMAT,
    table.FORMAT,
    markdown.FORMAT,
    plain.FORMAT,
)

SUFFIXES = frozenset(suffix for one in FORMATS for suffix in one.suffixes)


def format_of(content: Content) -> Format:
    """How `content` is read; what nothing else recognises is taken for plain text."""
    return recognise(content, FORMATS) or plain.FORMAT
