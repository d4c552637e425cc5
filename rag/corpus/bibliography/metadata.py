"""From what a source says of a paper to `Metadata`, by one rule for every format.

Readers hand over values as their source has them, the preferred first; what is not what it should
be is left out, with a note.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from rag.corpus.bibliography.values import (
    arxiv_named_in,
    arxiv_of,
    doi_of,
    prose,
    web_address,
    words,
    year_of,
)
from rag.corpus.encoding import clean
from rag.corpus.records import Rejected
from rag.schema import Metadata
from rag.text import printable

_LONGEST_SHOWN = 60
_Value = TypeVar("_Value")
_Found = TypeVar("_Found")


def metadata(
    *,
    authors: Iterable[str] = (),
    years: Iterable[object] = (),
    venues: Iterable[object] = (),
    dois: Iterable[object] = (),
    arxivs: Iterable[object] = (),
    urls: Iterable[object] = (),
    keywords: Iterable[str] = (),
    keys: Iterable[object] = (),
) -> tuple[Metadata, tuple[str, ...]]:
    """Metadata of the first of each that says something, and notes on what is not that.

    An arXiv id, and a DOI that the source does not give in its place, are also taken from the
    addresses. The DOI that arXiv gives to each of its papers is told by `arxiv` alone.
    """
    years, dois = list(years), list(dois)
    links = [link for link in map(web_address, urls) if link]
    year, doi = first(year_of, years), first(doi_of, dois)
    notes = []
    if not year and (said := first(words, years)):
        notes.append(f'"{shortened(said)}" is not a year and was left out')
    if not doi and (said := first(words, dois)) and not arxiv_of(said):
        notes.append(f'"{shortened(said)}" is not a DOI and was left out')
    doi = doi or first(doi_of, (link for link in links if "doi.org/" in link.lower())) or ""
    meta = Metadata(
        authors=tuple(name for name in authors if name),
        year=year,
        venue=first(prose, venues) or "",
        doi="" if arxiv_of(doi) else doi,
        arxiv=first(arxiv_of, [*arxivs, doi]) or first(arxiv_named_in, links) or "",
        url=next(iter(links), ""),
        keywords=tuple(keywords),
        key=first(words, keys) or "",
    )
    return meta, tuple(notes)


def first(meaning: Callable[[_Value], _Found], values: Iterable[_Value]) -> _Found | None:
    """The meaning of the first of `values` that has one."""
    return next(filter(None, map(meaning, values)), None)


def without_abstract(ordinal: int, line: int, name: str) -> Rejected:
    """The rejection of a record, called `name` by its source, that has no abstract."""
    called = f' ("{shortened(name)}")' if name.strip() else ""
    remedy = "Export it with its abstract, or add one."
    return Rejected(ordinal, line, f"it has no abstract{called}", remedy)


def shortened(value: str) -> str:
    """A value on one line, short enough for a message, and safe in it."""
    shown = " ".join(clean(printable(value))[0].split())
    return shown if len(shown) <= _LONGEST_SHOWN else f"{shown[:_LONGEST_SHOWN]}…"
