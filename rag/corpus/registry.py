"""All formats, strict ones before lenient ones."""

from __future__ import annotations

from rag.corpus import bibtex, jsonl, markdown, medline, plain, ris
from rag.corpus.content import Content
from rag.corpus.formats import Format, recognise

FORMATS: tuple[Format, ...] = (
    jsonl.FORMAT,
    bibtex.FORMAT,
    ris.FORMAT,
    medline.FORMAT,
    markdown.FORMAT,
    plain.FORMAT,
)

SUFFIXES = frozenset(suffix for one in FORMATS for suffix in one.suffixes)


def format_of(content: Content) -> Format:
    """How `content` is read; what nothing else recognises is taken for plain text."""
    return recognise(content, FORMATS) or plain.FORMAT
