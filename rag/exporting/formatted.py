"""References as journals print them, by citeproc and the Harvard style that it brings along."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence

from rag.corpus.bibliography.latex import decoded
from rag.exporting.csl import Item, csl_items
from rag.exporting.references import Reference
from rag.text import legible

_STYLE = "harvard-cite-them-right"
_USED = ("id", "type", "title", "author", "issued", "container-title", "DOI", "number", "URL")


def formatted(references: Sequence[Reference]) -> Mapping[str, str]:
    """A line of plain text for each reference, by its key.

    A paper of which only the abstract is known has its title and its place in the collection.
    """
    known = [one for one in references if one.has_metadata]
    lines = {one.key: _plainly(one) for one in references}
    return lines | (_by_citeproc(known) if known else {})


def _plainly(reference: Reference) -> str:
    title = decoded(reference.title) if reference.title_derived else reference.title
    return legible(f"{title.rstrip('.')}. {reference.remark}.")


def _known(item: Item) -> Item:
    """What the style prints. An article without a volume, as ours are, it would call a preprint."""
    kept = {name: item[name] for name in _USED if name in item}
    return kept | ({"type": "paper-conference"} if item["type"] == "article-journal" else {})


def _by_citeproc(references: Sequence[Reference]) -> dict[str, str]:
    from citeproc import (
        Citation,
        CitationItem,
        CitationStylesBibliography,
        CitationStylesStyle,
        formatter,
    )
    from citeproc.source.json import CiteProcJSON

    items = [_known(item) for item in csl_items(references)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of parts of CSL that it has not
        style = CitationStylesStyle(_STYLE, validate=False)
        bibliography = CitationStylesBibliography(style, CiteProcJSON(items), formatter.plain)
        for item in items:
            bibliography.register(Citation([CitationItem(item["id"])]))
        found = {key: str(line) for key, line in _printed(bibliography)}
    return {one.key: found[one.key] for one in references if one.key in found}


def _printed(bibliography: object) -> list[tuple[str, object]]:
    keys = bibliography.keys  # type: ignore[attr-defined]
    lines = bibliography.bibliography()  # type: ignore[attr-defined]
    return list(zip(keys, lines, strict=True))
