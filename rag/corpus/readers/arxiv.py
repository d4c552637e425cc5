"""arXiv's Atom feeds: what its API answers, and any other Atom feed with summaries."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree.ElementTree import Element

from rag.corpus.content import Content
from rag.corpus.formats import Format
from rag.corpus.readers.xmlfile import Dialect, Item, read_dialect, root_of
from rag.corpus.records import Record, Rejected
from rag.schema import Metadata

_ATOM = "{http://www.w3.org/2005/Atom}"
_ARXIV = "{http://arxiv.org/schemas/atom}"
_ID = re.compile(r"arxiv\.org/abs/(?P<id>[\w.-]+/\d{7}|\d{4}\.\d{4,5})(?:v\d+)?\Z", re.IGNORECASE)
_YEAR = re.compile(r"\d{4}(?=-)")


def _record(item: Item, entry: Element) -> Record:
    summary = _of(entry, f"{_ATOM}summary")
    name = _of(entry, f"{_ATOM}id")
    if "arxiv.org/api/errors" in name:
        raise ValueError(f"the arXiv API answered with an error: {summary}")
    if not summary:
        raise ValueError(f"no summary in the entry {name or 'without id'}")
    title = _of(entry, f"{_ATOM}title")
    return Record(item.ordinal, 0, summary, title or None, _metadata(entry, name), item.line)


def _metadata(entry: Element, name: str) -> Metadata:
    identity = _ID.search(name)
    year = _YEAR.match(_of(entry, f"{_ATOM}published"))
    terms = (one.get("term", "").strip() for one in entry.iter(f"{_ATOM}category"))
    authors = (_of(one, f"{_ATOM}name") for one in entry.findall(f"{_ATOM}author"))
    return Metadata(
        authors=tuple(_one_line(author) for author in authors if author),
        year=int(year.group()) if year else None,
        venue=_one_line(_of(entry, f"{_ARXIV}journal_ref")),
        doi=_of(entry, f"{_ARXIV}doi").lower(),
        arxiv=identity["id"] if identity else "",
        url=_page(entry) or (name if name.startswith("http") else ""),
        keywords=tuple(dict.fromkeys(term for term in terms if term)),
        key=identity["id"] if identity else name,
    )


def _page(entry: Element) -> str:
    links = entry.findall(f"{_ATOM}link")
    pages = (link.get("href", "") for link in links if link.get("rel", "alternate") == "alternate")
    return next((page for page in pages if page), "")


def _of(element: Element, tag: str) -> str:
    found = element.find(tag)
    return "" if found is None else "".join(found.itertext()).strip()


def _one_line(text: str) -> str:
    return " ".join(text.split())


DIALECT = Dialect("arXiv Atom feed", ("feed", "entry"), frozenset({"entry"}), _record)


def read(content: Content) -> Iterator[Record | Rejected]:
    """One record for each entry; title and summary keep their line breaks."""
    yield from read_dialect(content, DIALECT)


FORMAT = Format(DIALECT.name, (".atom",), lambda content: root_of(content) in DIALECT.roots, read)
