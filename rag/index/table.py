"""The collection as a table: rows without texts, sorted, a page at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from rag.index.browse import Filter, passing
from rag.index.snapshot import Snapshot, read_meta
from rag.text import normalise

Order = Literal["file", "title", "year", "author", "venue"]
ORDERS: tuple[Order, ...] = get_args(Order)


@dataclass(frozen=True, slots=True)
class Row:
    """A paper in a few words; `year` is None where its source is silent."""

    paper_id: str
    title: str
    title_derived: bool
    authors: tuple[str, ...]
    year: int | None
    venue: str
    source: str
    ordinal: int


@dataclass(frozen=True, slots=True)
class Page:
    """Some of the rows that pass a filter: those from `first`, counted from 0, of `total`."""

    rows: tuple[Row, ...]
    first: int
    total: int


def rows_of(snapshot: Snapshot, wanted: Filter, order: Order = "file") -> list[Row]:
    """The papers that pass a filter; newest first by year, what a paper lacks last."""
    found = None if wanted == Filter() else passing(snapshot, wanted)
    query = (
        "SELECT p.paper_id, t.title, t.title_derived, p.meta, f.label, r.ordinal FROM papers p"
        " JOIN texts t ON t.id = p.text JOIN records r ON r.id = p.record"
        " JOIN files f ON f.id = r.file ORDER BY f.path, r.ordinal"
    )
    rows = [
        _row(*row) for row in snapshot.connection.execute(query) if found is None or row[0] in found
    ]
    return rows if order == "file" else sorted(rows, key=_KEYS[order])


def page_of(rows: Sequence[Row], first: int, size: int) -> Page:
    """The page that begins at `first`, or the last one where there are fewer rows."""
    last = max(0, (len(rows) - 1) // size * size)
    first = min(max(0, first // size * size), last)
    return Page(tuple(rows[first : first + size]), first, len(rows))


def _row(paper_id: str, title: str, derived: int, meta: str, source: str, ordinal: int) -> Row:
    known = read_meta(meta)
    about = (known.authors, known.year, known.venue)
    return Row(paper_id, title, bool(derived), *about, source, ordinal)


_KEYS: dict[Order, Callable[[Row], Any]] = {
    "title": lambda row: normalise(row.title),
    "year": lambda row: (row.year is None, -(row.year or 0)),
    "author": lambda row: (not row.authors, normalise(_surname(row.authors))),
    "venue": lambda row: (not row.venue, normalise(row.venue)),
}


def _surname(authors: Sequence[str]) -> str:
    return authors[0].rpartition(" ")[2] if authors else ""
