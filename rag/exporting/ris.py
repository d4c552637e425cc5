"""RIS: a line for each value, which begins with a tag of two letters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rag.corpus.bibliography.latex import decoded
from rag.exporting.names import name_of
from rag.exporting.references import Reference
from rag.text import legible

_TYPES = {"journal": "JOUR", "conference": "CONF", "preprint": "GEN", "other": "GEN"}


def ris(references: Sequence[Reference]) -> str:
    """One record for each reference, with an empty line between two."""
    return "\n".join("".join(_lines(one)) for one in references)


def _lines(reference: Reference) -> Iterator[str]:
    for tag, value in _values(reference):
        line = legible(value)  # a second line would be read as the next value
        if line:
            yield f"{tag}  - {line}\n"
    yield "ER  - \n"


def _values(reference: Reference) -> Iterator[tuple[str, str]]:
    meta = reference.meta
    yield "TY", _TYPES[reference.sort]
    yield "ID", reference.key
    yield "TI", decoded(reference.title) if reference.title_derived else reference.title
    for author in meta.authors:
        yield "AU", name_of(author).sorted
    yield "PY", str(meta.year or "")
    yield "T2", meta.venue
    yield "DO", meta.doi
    yield "AN", f"arXiv:{meta.arxiv}" if meta.arxiv else ""
    yield "UR", reference.url
    for keyword in meta.keywords:
        yield "KW", keyword
    yield "AB", decoded(reference.abstract)
    yield "N1", reference.remark
