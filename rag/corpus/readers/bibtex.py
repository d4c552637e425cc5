"""BibTeX: one paper for each entry that has an abstract.

Entries are cut out of the stream here and each is parsed by pybtex alone, which is what keeps a
broken one from harming its neighbours, names its line and holds one entry in memory. Compared on
duplicate keys, repeated fields, broken entries, `@string`, `@comment`, `#` and nested braces:
bibtexparser 2.1 hides an entry whose key or field is repeated in a failure block, joins two fields
where a comma is missing without a word, and does not concatenate with `#`; pybtex 0.26 does all
of it and reports what it could not read. 20,000 entries (23 MB) take the first 1.5 s, the second
2.1 s and this reader 4 s, or 10 s with twenty accents in each.

An abstract without braces and commands is the stretch of the file, white space included; one
with LaTeX markup is decoded like all other values, with a note, because a field's value is what
BibTeX would set. Entries inside `@comment{…}`, or behind a per cent sign, are not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property

from rag.corpus.bibliography.latex import decoded, has_markup
from rag.corpus.bibliography.markup import without_markup
from rag.corpus.bibliography.metadata import metadata, without_abstract
from rag.corpus.bibliography.names import keywords_of, person
from rag.corpus.bibliography.values import arxiv_named_in, arxiv_of, one_line, prose
from rag.corpus.content import Content
from rag.corpus.formats import Format
from rag.corpus.readers.bibentries import Entry, entries_of
from rag.corpus.records import Record, Rejected, too_large
from rag.schema import Metadata

_VENUES = ("journal", "journaltitle", "booktitle", "eventtitle", "school", "institution")
_IN_BRACES = re.compile(r"\\[{}]|[{}]")
_CROSSREF = re.compile(r"\bcrossref\s*=\s*[{\"]?\s*([^{}\",]+)", re.IGNORECASE)
_AND = re.compile(" and ", re.IGNORECASE)
_FIRST_ENTRY = re.compile(
    r"(?:%[^\r\n]*[\r\n]\s*)*@\s*[A-Za-z]+\s*[{(]\s*(?:[^\s,{}()=]*\s*[,=]|[^@{}]*$)"
)


def read(content: Content) -> Iterator[Record | Rejected]:
    """One record for each entry; `@string`, `@preamble` and `@comment` are no entries.

    An entry without abstract that is no paper of its own is passed over: one that others refer
    to, proceedings, and one without title.
    """
    references = _References(content)
    for ordinal, entry in enumerate(entries_of(content), start=1):
        if entry.size > content.limits.record_chars:
            yield too_large(ordinal, entry.line, entry.size, content.limits.record_chars)
        elif entry.fault:
            remedy = "Balance its braces and put a comma after each field."
            yield Rejected(ordinal, entry.line, entry.fault, remedy)
        elif not references.is_background(entry):
            yield _record(ordinal, entry, references.parent_of(entry))


class _References:
    """What entries say of others by `crossref`: looked for only when it is asked for."""

    def __init__(self, content: Content) -> None:
        self._content = content

    @cached_property
    def _names(self) -> frozenset[str]:
        """The keys that are referred to, by the letter of the file and not by its grammar."""
        named = (_CROSSREF.findall(line) for line in self._content.lines())
        return frozenset(name.strip().lower() for names in named for name in names)

    @cached_property
    def _parents(self) -> Mapping[str, Mapping[str, str]]:
        return {
            one.key.lower(): {"booktitle": one.fields.get("title", ""), **_kept(one.fields)}
            for one in entries_of(self._content)
            if one.key.lower() in self._names
        }

    def parent_of(self, entry: Entry) -> Mapping[str, str]:
        """The fields that an entry takes from the one it refers to, if it does and that is here."""
        name = entry.fields.get("crossref", "").strip().lower()
        return self._parents.get(name, {}) if name else {}

    def is_background(self, entry: Entry) -> bool:
        """Whether an entry without abstract is there for others only, or says nothing."""
        if entry.fields.get("abstract", "").strip():
            return False
        if entry.type == "proceedings" or not entry.fields.get("title", "").strip():
            return True
        return bool(entry.key) and entry.key.lower() in self._names


def _kept(fields: Mapping[str, str]) -> dict[str, str]:
    return {name: fields[name] for name in ("booktitle", "year", "date") if fields.get(name)}


def _record(ordinal: int, entry: Entry, parent: Mapping[str, str]) -> Record | Rejected:
    raw = _unwrapped(entry.fields.get("abstract", ""))
    title = prose(entry.fields.get("title", ""))
    text, stripped = without_markup(decoded(raw).strip() if has_markup(raw) else raw)
    if not text:
        return without_abstract(ordinal, entry.line, entry.key or title)
    offset = entry.place_of(text) if text == raw else 0
    meta, notes = _metadata({**parent, **{n: v for n, v in entry.fields.items() if v}}, entry.key)
    if has_markup(raw):
        notes = (*notes, "LaTeX markup of the abstract was decoded")
    notes = (*entry.notes, *notes, *stripped)
    return Record(ordinal, offset, text, title or None, meta, entry.line, notes)


def _unwrapped(value: str) -> str:
    """`value` without braces around the whole of it."""
    value = value.strip()
    while value[:1] == "{" and value[-1:] == "}" and _closes_last(value):
        value = value[1:-1].strip()
    return value


def _closes_last(value: str) -> bool:
    depth = 0
    for match in re.finditer("[{}]", value):
        depth += 1 if match.group() == "{" else -1
        if depth == 0:
            return match.end() == len(value)
    return False


def _metadata(fields: Mapping[str, str], key: str) -> tuple[Metadata, tuple[str, ...]]:
    return metadata(
        authors=names_of(fields.get("author") or fields.get("editor", "")),
        years=_of(fields, "year", "date"),
        venues=_of(fields, *_VENUES),
        dois=map(decoded, _of(fields, "doi")),
        arxivs=[_arxiv(fields)],
        urls=map(decoded, _of(fields, "url", "link", "ee")),
        keywords=keywords_of(next(iter(_of(fields, "keywords", "keyword")), "")),
        keys=[key],
    )


def _of(fields: Mapping[str, str], *names: str) -> list[str]:
    return [fields[name] for name in names if name in fields]


def _arxiv(fields: Mapping[str, str]) -> str:
    """From `eprint`, unless that is of another archive; else where the journal names it."""
    archive = fields.get("archiveprefix") or fields.get("eprinttype") or "arxiv"
    number = arxiv_of(fields.get("eprint", "")) if archive.lower() == "arxiv" else ""
    return number or arxiv_named_in(f"{fields.get('journal', '')} {fields.get('note', '')}")


def names_of(field: str) -> tuple[str, ...]:
    """The names in an author field as "First Last"; "and others" is no name.

    A name in braces, as {Barnes and Noble, Inc.}, is kept together.
    """
    names = (_name(part.strip()) for part in _split(" ".join(field.split()), _AND))
    return tuple(name for name in names if name and name.lower() != "others")


def _name(name: str) -> str:
    whole = _unwrapped(name)
    if whole != name:
        return one_line(decoded(whole))
    parts = [decoded(part).replace(",", "\0") for part in _split(name, re.compile(","))]
    return person(",".join(parts)).replace("\0", ",")


def _split(text: str, separator: re.Pattern[str]) -> list[str]:
    """The pieces of `text` between separators that stand outside braces."""
    marks = sorted(
        [*_IN_BRACES.finditer(text), *separator.finditer(text)], key=lambda match: match.start()
    )
    pieces, start, depth = [], 0, 0
    for match in marks:
        mark = match.group()
        if mark in "{}":
            depth += 1 if mark == "{" else -1
        elif not depth and not mark.startswith("\\"):
            pieces.append(text[start : match.start()])
            start = match.end()
    return [*pieces, text[start:]]


FORMAT = Format(
    "BibTeX",
    (".bib", ".bibtex"),
    lambda content: _FIRST_ENTRY.match(content.start) is not None,
    read,
    "entry such as @article{key, title = {…}, abstract = {…}}",
)
