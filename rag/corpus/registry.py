"""All formats, strict ones before lenient ones."""

from __future__ import annotations

from rag.corpus import bibtex, jsonfile, jsonl, markdown, medline, plain, ris, table
from rag.corpus.content import Content
from rag.corpus.formats import Format, recognise

FORMATS: tuple[Format, ...] = (
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
