"""Looking through the collection: filters, the sources of a paper, what was taken for one paper."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from rag.errors import UsageError
from rag.index import lexical
from rag.index.snapshot import Snapshot, read_meta
from rag.schema import Metadata, Paper
from rag.text import normalise, terms, tokens

_YEARS = re.compile(r"(\d{4})?(\s*-\s*)?(\d{4})?")
_MOST_FOUND = 1_000_000
_WHOLE = (2, 3)  # letters of names that many others begin with


@dataclass(frozen=True, slots=True)
class Filter:
    """What papers must have; an empty field asks for nothing.

    `years` is the first and the last one. Venue and source are parts of names, in any case and
    without accents. Of `author` every word must begin a word of one author's name, and be all of
    it if it has two or three letters: Li is not found in Oliver, J finds every J. `text` holds
    words that must all stand in title or abstract. With `whole_words` a venue has the given words
    whole, and the author's name ends with them. `papers` are ids, of which a paper must have one.
    """

    years: tuple[int, int] | None = None
    venue: str = ""
    author: str = ""
    source: str = ""
    text: str = ""
    whole_words: bool = False
    papers: tuple[str, ...] = ()

    def takes(self, meta: Metadata, source: str) -> bool:
        """Whether a paper of that metadata and source has what is asked for, its text apart."""
        in_years = self.years is None or (
            meta.year is not None and self.years[0] <= meta.year <= self.years[1]
        )
        return (
            in_years
            and self._has_venue(meta.venue)
            and (not self.author or any(self._is_author(name) for name in meta.authors))
            and _within(self.source, source)
        )

    def told(self) -> str:
        """What is asked for, in words; empty where nothing is."""
        named = {"venue": self.venue, "author": self.author, "source": self.source}
        parts = [f"{name} {value}" for name, value in named.items() if value]
        if self.text:
            parts.append(f"words {self.text}")
        if self.papers:
            parts.append("what was spoken of")
        return ", ".join([*_told_years(self.years), *parts])

    def _has_venue(self, venue: str) -> bool:
        if not (self.whole_words and self.venue):
            return _within(self.venue, venue)
        return f" {normalise(self.venue)} " in f" {normalise(venue)} "

    def _is_author(self, name: str) -> bool:
        if not self.whole_words:
            return _names(self.author, name)
        return f" {normalise(name)}".endswith(f" {normalise(self.author)}")


@dataclass(frozen=True, slots=True)
class Source:
    """A place where a paper stands, with what that place says if it differs from what is shown."""

    record: int
    label: str
    ordinal: int
    line: int
    content: str
    title: str
    meta: Metadata
    shown: bool


@dataclass(frozen=True, slots=True)
class Merged:
    """A paper with several sources, and why they were taken for one."""

    paper: Paper
    sources: tuple[Source, ...]
    reasons: tuple[str, ...]


def years_of(text: str) -> tuple[int, int]:
    """The first and last year of "2020", "2020-2024", "2020-" or "-2024".

    Raises:
        UsageError: it is none of these.
    """
    match = _YEARS.fullmatch(text.strip())
    if not match or not (match[1] or match[3]) or (match[1] and match[3] and not match[2]):
        raise UsageError(
            f"{text!r} is not a span of years", remedy="Write 2020, 2020-2024, 2020- or -2024."
        )
    if match[2] and match[1] and match[3] and int(match[1]) > int(match[3]):
        raise UsageError(f"{text!r} ends before it begins", remedy=f"Write {match[3]}-{match[1]}.")
    if match[2]:
        return int(match[1] or 0), int(match[3] or 9999)
    return int(match[1] or match[3]), int(match[1] or match[3])


def filters_of(
    *,
    year: str = "",
    since: str = "",
    until: str = "",
    venue: str = "",
    author: str = "",
    source: str = "",
) -> tuple[Filter, ...]:
    """The filters that were asked for one by one; a paper must pass all.

    Raises:
        UsageError: a year is none, or none can pass.
    """
    for name, given in (("since", since), ("until", until)):
        if given and not re.fullmatch(r"\d{4}", given.strip()):
            raise UsageError(f"{given!r} is not a year", remedy=f"Write --{name} 2020.")
    if since and until and int(since) > int(until):
        raise UsageError(
            f"No year is since {since.strip()} and until {until.strip()}", remedy="Swap the two."
        )
    spans = (year, f"{since}-" if since else "", f"-{until}" if until else "")
    named = Filter(venue=venue, author=author, source=source)
    years = [Filter(years=years_of(span)) for span in spans if span]
    return (*years, *([named] if named != Filter() else []))


def browse(snapshot: Snapshot, wanted: Filter) -> Iterator[Paper]:
    """The papers that pass the filter, in the order of files and places."""
    found = _having(snapshot, wanted.text) if wanted.text.strip() else None
    for paper in snapshot.all_papers():
        named = not wanted.papers or paper.id in wanted.papers
        if (
            named
            and (found is None or paper.id in found)
            and wanted.takes(paper.meta, paper.source)
        ):
            yield paper


def passing(snapshot: Snapshot, wanted: Filter) -> frozenset[str]:
    """The papers that pass the filter, without reading their texts."""
    conditions, values = _narrowed(wanted)
    rows = snapshot.connection.execute(
        "SELECT p.paper_id, p.meta, f.label FROM papers p JOIN records r ON r.id = p.record"
        f" JOIN files f ON f.id = r.file WHERE {' AND '.join(['1', *conditions])}",
        values,
    )
    by_name = wanted.venue or wanted.author or wanted.source
    found = frozenset(
        paper_id
        for paper_id, meta, label in rows
        if not by_name or wanted.takes(read_meta(meta), label)
    )
    return found & _having(snapshot, wanted.text) if wanted.text.strip() else found


def venues(snapshot: Snapshot) -> frozenset[str]:
    """The venues of the collection, in normal form."""
    rows = snapshot.connection.execute(
        "SELECT DISTINCT json_extract(meta, '$.venue') FROM papers WHERE meta LIKE '%\"venue\"%'"
    )
    return frozenset(normalise(venue) for (venue,) in rows if venue)


def has_years(snapshot: Snapshot) -> bool:
    """Whether the collection says of any paper when it was published."""
    row = snapshot.connection.execute(
        "SELECT 1 FROM papers WHERE json_extract(meta, '$.year') IS NOT NULL LIMIT 1"
    ).fetchone()
    return row is not None


def gives(snapshot: Snapshot, what: Literal["authors", "venue", "year"]) -> bool:
    """Whether the collection has that of any paper."""
    row = snapshot.connection.execute(
        f"SELECT 1 FROM papers WHERE json_extract(meta, '$.{what}') NOT IN ('', '[]') LIMIT 1"
    ).fetchone()
    return row is not None


def sources_of(snapshot: Snapshot, paper_id: str) -> tuple[Source, ...]:
    """Where a paper stands, in the order of files and places."""
    rows = snapshot.connection.execute(
        "SELECT r.id, f.label, r.ordinal, r.line, t.content, t.title, r.meta, p.record = r.id"
        " FROM papers p JOIN records r ON r.paper = p.id JOIN files f ON f.id = r.file"
        " JOIN texts t ON t.id = r.text WHERE p.paper_id = ? ORDER BY f.path, r.ordinal",
        (paper_id,),
    )
    return tuple(
        Source(record, label, ordinal, line, content, title, read_meta(meta), bool(shown))
        for record, label, ordinal, line, content, title, meta, shown in rows
    )


def merged(snapshot: Snapshot) -> Iterator[Merged]:
    """Every paper that stands in more than one place."""
    rows = snapshot.connection.execute(
        "SELECT p.paper_id FROM papers p JOIN records r ON r.paper = p.id"
        " GROUP BY p.id HAVING count(*) > 1 ORDER BY p.id"
    ).fetchall()
    for (paper_id,) in rows:
        sources = sources_of(snapshot, paper_id)
        paper = snapshot.papers([paper_id])[paper_id]
        yield Merged(paper, sources, _reasons(snapshot, paper_id))


def _reasons(snapshot: Snapshot, paper_id: str) -> tuple[str, ...]:
    """What the records of a paper have in common."""
    keys = snapshot.connection.execute(
        "SELECT DISTINCT i.key FROM papers p JOIN records r ON r.paper = p.id"
        " JOIN identities i ON i.record = r.id WHERE p.paper_id = ?"
        " GROUP BY i.key HAVING count(*) > 1 ORDER BY i.key",
        (paper_id,),
    )
    texts, records, near = snapshot.connection.execute(
        "SELECT count(DISTINCT r.text), count(*), EXISTS (SELECT 1 FROM near n"
        " JOIN records a ON a.text = n.a AND a.paper = p.id"
        " JOIN records b ON b.text = n.b AND b.paper = p.id)"
        " FROM papers p JOIN records r ON r.paper = p.id WHERE p.paper_id = ?",
        (paper_id,),
    ).fetchone()
    return (
        *(_told(key) for (key,) in keys),
        *(["same text"] if texts < records else []),
        *(["near-identical text"] if near else []),
    )


def _told(key: str) -> str:
    kind, _, value = key.partition(":")
    names = {"doi": f"DOI {value}", "arxiv": f"arXiv {value}", "title": "same title and authors"}
    return names[kind]


def _having(snapshot: Snapshot, text: str) -> frozenset[str]:
    """The papers that have every term of `text`."""
    wanted = sorted(set(terms(text)))
    if not wanted:
        return frozenset()
    rows = snapshot.connection.execute(
        "SELECT p.paper_id FROM postings m JOIN papers p ON p.id = m.rowid"
        " WHERE postings MATCH ? LIMIT ?",
        (" AND ".join(lexical.quoted(term) for term in wanted), _MOST_FOUND),
    )
    return frozenset(row[0] for row in rows)


def _narrowed(wanted: Filter) -> tuple[list[str], list[object]]:
    """Conditions that every paper of the filter meets; the years' is exact.

    SQLite ignores the case of ASCII letters only, so whatever has another character is taken.
    """
    conditions: list[str] = []
    values: list[object] = []
    if wanted.years:
        conditions.append("json_extract(p.meta, '$.year') BETWEEN ? AND ?")
        values.extend(wanted.years)
    if wanted.papers:
        conditions.append(f"p.paper_id IN ({', '.join('?' * len(wanted.papers))})")
        values.extend(wanted.papers)
    named = [("p.meta", normalise(wanted.venue)), ("f.label", normalise(wanted.source))]
    for column, name in [*named, *(("p.meta", word) for word in tokens(wanted.author))]:
        if name and not set(name) & set('%_"\\'):
            conditions.append(f"({column} LIKE ? OR {column} GLOB '*[^ -~]*')")
            values.append(f"%{name}%")
    return conditions, values


def _told_years(years: tuple[int, int] | None) -> list[str]:
    if years is None:
        return []
    first, last = years
    if first == last:
        return [f"year {first}"]
    if last == 9999:
        return [f"year {first} or later"]
    return [f"year {last} or earlier"] if first == 0 else [f"years {first} to {last}"]


def _names(wanted: str, author: str) -> bool:
    """Whether each word that is wanted stands in an author's name, in whatever order."""
    words = tokens(author)
    return all(any(_is_of(one, word) for word in words) for one in tokens(wanted))


def _is_of(wanted: str, word: str) -> bool:
    """Whether a word is meant: where it is no longer than an initial, or longer than Li and Kim.

    A script without capitals may have no spaces between names: there any part of one is meant.
    """
    if wanted.isalpha() and not wanted.islower():
        return wanted in word
    return word == wanted or (len(wanted) not in _WHOLE and word.startswith(wanted))


def _within(part: str, whole: str) -> bool:
    return normalise(part) in normalise(whole)
