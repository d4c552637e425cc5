"""All formats, strict ones before lenient ones; their readers are imported when a file is read."""

from __future__ import annotations

from functools import cache

from rag.corpus.content import Content
from rag.corpus.formats import Format, recognise


@cache
def formats() -> tuple[Format, ...]:
    """Every format that is read."""
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

    return (
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


@cache
def suffixes() -> frozenset[str]:
    """The suffixes of all formats."""
    return frozenset(suffix for one in formats() for suffix in one.suffixes)


def format_of(content: Content) -> Format:
    """How `content` is read; what nothing else recognises is taken for plain text."""
    *_, plain = formats()
    return recognise(content, formats()) or plain
