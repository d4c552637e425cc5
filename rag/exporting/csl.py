"""CSL-JSON 1.0.2, which Zotero, pandoc and citeproc read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rag.corpus.bibliography.latex import decoded
from rag.exporting.names import name_of
from rag.exporting.references import Reference
from rag.text import legible

Item = dict[str, Any]

_TYPES = {
    "journal": "article-journal",
    "conference": "paper-conference",
    "preprint": "article",
    "other": "document",
}


def csl_items(references: Sequence[Reference]) -> list[Item]:
    """One item for each reference; what is not known of it is left out."""
    return [_item(one) for one in references]


def _item(reference: Reference) -> Item:
    meta = reference.meta
    title = decoded(reference.title) if reference.title_derived else reference.title
    values: Item = {
        "id": reference.key,
        "type": _TYPES[reference.sort],
        "title": legible(title),
        "author": [_name(author) for author in meta.authors],
        "issued": {"date-parts": [[meta.year]]} if meta.year else None,
        "container-title": legible(meta.venue),
        "DOI": meta.doi,
        "number": f"arXiv:{meta.arxiv}" if meta.arxiv else "",
        "URL": reference.url,
        "keyword": legible(", ".join(meta.keywords)),
        "abstract": legible(decoded(reference.abstract)),
        "note": legible(reference.remark),
    }
    return {name: value for name, value in values.items() if value}


def _name(author: str) -> Item:
    name = name_of(legible(author))
    parts = {
        "family": name.family,
        "given": name.given,
        "suffix": name.suffix,
        "literal": name.literal,
    }
    return {part: value for part, value in parts.items() if value}
