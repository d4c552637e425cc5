"""What bibliographic values mean in every format: names, years, identifiers, keywords.

Readers hand over what their source says, already decoded to text; here it becomes `Metadata`,
with a note on each value that could not be taken.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence

from rag.corpus.records import Rejected
from rag.schema import Metadata

_YEAR = re.compile(r"(?<!\d)(1[5-9]\d\d|20\d\d)(?!\d)")
_DOI = re.compile(r"10\.\d{4,9}/[^\s\"<>{}|\\]+")
_ARXIV_NUMBER = r"(\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Za-z]{2})?/\d{7})(?:v\d+)?(?!\d)"
_ARXIV = re.compile(rf"arxiv(?:\.org/(?:abs|pdf)/|[:.\s/]\s*){_ARXIV_NUMBER}", re.IGNORECASE)
_BARE_ARXIV = re.compile(_ARXIV_NUMBER)
_INITIALS = re.compile(r"(?P<last>\S.*?) (?P<first>[A-Z]{1,4})(?P<suffix> (?:Jr|Sr|\d[a-z]{2}))?")
_SUFFIX = re.compile(r"[JS]r\.?|I{2,3}|IV|V|\d(?:st|nd|rd|th)")
_JUNIOR = re.compile(r"[JS]r\.?")
_SUFFIX_AT_END = re.compile(r"(?P<given>.+) (?P<suffix>[JS]r\.?|I{2,3}|\d(?:st|nd|rd|th))")


def one_line(text: str) -> str:
    """`text` with XML and HTML entities decoded and single spaces."""
    return " ".join(html.unescape(text).split())


def person(name: str) -> str:
    """A name as "First Last": from "Last, First", and "Jr" in any of the places it is put."""
    parts = [part for part in (one_line(part) for part in name.split(",")) if part]
    if len(parts) < 2 or (len(parts) == 2 and _JUNIOR.fullmatch(parts[1])):
        return " ".join(parts)
    last, *others = parts
    suffixes = [part for part in others if len(others) > 1 and _SUFFIX.fullmatch(part)]
    given = " ".join(part for part in others if part not in suffixes)
    if not suffixes and (ending := _SUFFIX_AT_END.fullmatch(given)):
        given, suffixes = ending["given"], [ending["suffix"]]
    return " ".join([given, last, *suffixes])


def person_with_initials(name: str) -> str:
    """A name as "FM Last", from MEDLINE's "Last FM"."""
    match = _INITIALS.fullmatch(name.strip())
    return f"{match['first']} {match['last']}{match['suffix'] or ''}" if match else person(name)


def year_of(text: str) -> int | None:
    """The first year from 1500 to 2099 in `text`, as in 2020/05/01, 2020 Jan-Feb or c. 1999."""
    match = _YEAR.search(text)
    return int(match.group()) if match else None


def doi_of(text: str) -> str:
    """The DOI in `text`, bare and in lower case; empty if there is none."""
    match = _DOI.search(text)
    if not match:
        return ""
    doi = match.group().rstrip(".,;:'")
    while doi.endswith(")") and doi.count(")") > doi.count("("):
        doi = doi[:-1].rstrip(".,;:'")
    return doi.lower()


def arxiv_of(text: str) -> str:
    """The arXiv number that `text` names as one, without version; empty if there is none."""
    match = _ARXIV.search(text)
    return match.group(1) if match else ""


def arxiv_number(text: str) -> str:
    """The arXiv number that `text` is, with or without "arXiv:" and version; or empty."""
    match = _BARE_ARXIV.fullmatch(text.strip())
    return match.group(1) if match else arxiv_of(text)


def keywords_of(texts: Iterable[str]) -> tuple[str, ...]:
    """Keywords in order, each once, from lists separated by semicolons, else by commas."""
    words: list[str] = []
    for text in map(html.unescape, texts):
        words += text.split(";") if ";" in text else re.split(r",(?!\d)|\n", text)
    return tuple(dict.fromkeys(word for word in map(one_line, words) if word))


def metadata(
    *,
    authors: Iterable[str] = (),
    year: str = "",
    venue: str = "",
    doi: str = "",
    arxiv: str = "",
    urls: Sequence[str] = (),
    keywords: Iterable[str] = (),
    key: str = "",
) -> tuple[Metadata, tuple[str, ...]]:
    """Metadata from what a source says, with a note on each value that is not what it should be.

    An arXiv number, and a DOI that the source does not give in its place, are also taken from
    the addresses.
    """
    found_year, found_doi = year_of(year), doi_of(doi)
    notes = []
    if year.strip() and found_year is None:
        notes.append(f"year {_shown(year)} is not a year and was left out")
    if doi.strip() and not found_doi:
        notes.append(f"doi {_shown(doi)} is not a DOI and was left out")
    links = " ".join(urls)
    meta = Metadata(
        authors=tuple(name for name in authors if name),
        year=found_year,
        venue=one_line(venue),
        doi=found_doi or (doi_of(links) if "doi.org/" in links.lower() else ""),
        arxiv=arxiv or arxiv_of(f"{doi} {links}"),
        url=one_line(urls[0]) if urls else "",
        keywords=keywords_of(keywords),
        key=one_line(key),
    )
    return meta, tuple(notes)


def without_abstract(ordinal: int, line: int, name: str) -> Rejected:
    """The rejection of a record, called `name` by its source, that has no abstract."""
    called = f" ({_shown(name)})" if name.strip() else ""
    return Rejected(ordinal, line, f"it has no abstract{called}", "Export it with its abstract.")


def _shown(value: str) -> str:
    short = one_line(value)
    return f"'{short[:60]}…'" if len(short) > 61 else f"'{short}'"
