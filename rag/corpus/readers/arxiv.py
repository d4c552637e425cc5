"""arXiv's Atom feeds: what its API answers, and any other Atom feed with summaries."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from rag.corpus.bibliography.metadata import metadata
from rag.corpus.bibliography.names import keywords_of
from rag.corpus.bibliography.values import arxiv_of, one_line
from rag.corpus.content import Content
from rag.corpus.formats import Format
from rag.corpus.readers.xmlfile import Dialect, Item, read_dialect, root_of
from rag.corpus.records import Record, Rejected
from rag.schema import Metadata

_ATOM = "{http://www.w3.org/2005/Atom}"
_ARXIV = "{http://arxiv.org/schemas/atom}"


def _record(item: Item, entry: Element) -> Record:
    summary = _of(entry, f"{_ATOM}summary")
    name = _of(entry, f"{_ATOM}id")
    if "arxiv.org/api/errors" in name:
        raise ValueError(f"the arXiv API answered with an error: {summary}")
    if not summary:
        raise ValueError(f"no summary in the entry {name or 'without id'}")
    title = _of(entry, f"{_ATOM}title")
    meta, notes = _metadata(entry, name)
    return Record(item.ordinal, 0, summary, title or None, meta, item.line, notes)


def _metadata(entry: Element, name: str) -> tuple[Metadata, tuple[str, ...]]:
    terms = [one.get("term", "") for one in entry.iter(f"{_ATOM}category")]
    names = (_of(one, f"{_ATOM}name") for one in entry.findall(f"{_ATOM}author"))
    return metadata(
        authors=map(one_line, names),
        years=[_of(entry, f"{_ATOM}published")],
        venues=[_of(entry, f"{_ARXIV}journal_ref")],
        dois=[_of(entry, f"{_ARXIV}doi")],
        arxivs=[name],
        urls=[_page(entry), name],
        keywords=keywords_of(terms),
        keys=[arxiv_of(name), name],
    )


def _page(entry: Element) -> str:
    links = entry.findall(f"{_ATOM}link")
    pages = (link.get("href", "") for link in links if link.get("rel", "alternate") == "alternate")
    return next((page for page in pages if page), "")


def _of(element: Element, tag: str) -> str:
    found = element.find(tag)
    return "" if found is None else "".join(found.itertext()).strip()


DIALECT = Dialect("arXiv Atom feed", ("feed", "entry"), frozenset({"entry"}), _record)


def read(content: Content) -> Iterator[Record | Rejected]:
    """One record for each entry; title and summary keep their line breaks."""
    yield from read_dialect(content, DIALECT)


FORMAT = Format(
    DIALECT.name, (".atom",), lambda content: root_of(content) in DIALECT.roots, read, "<entry>"
)
