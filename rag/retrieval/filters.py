"""Filters that a question tells in words: years, authors and venues.

Words are taken for a filter only where the collection has what they name; one that would leave no
paper is given up. Otherwise "in 2000" and "by Adam" are words like others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from rag.index.browse import Filter, has_years, passing, venues
from rag.index.snapshot import Snapshot
from rag.retrieval.query import Query
from rag.text import content_words, normalise, terms

Years = tuple[int, int]
_EVER = 9999
_YEAR = r"((?:19|20)\d\d)"
# A year ends what it says: "in 2000 steps" is none.
_END = (
    r"(?=\s*(?:[?.,;:!)\u3002\uff1f\uff0c]|$|(?:and|or|that|which|who|on|about|by|at|with|for|is|are"
    r"|was|were|there|to|do|does|did|what|how|mention|discuss|use|study|propose|introduce|present"
    r"|address|describe|report|show|deal|have)\b))"
)
_SPOKEN: tuple[tuple[str, Callable[..., Years]], ...] = (
    (rf"between {_YEAR} and {_YEAR}", lambda a, b: (min(a, b), max(a, b))),
    (rf"(?:from )?{_YEAR} ?(?:to|until|till|through|-|\u2013) ?{_YEAR}", lambda a, b: (a, b)),
    (rf"{_YEAR} (?:or|and) (?:later|after|newer|onwards?)", lambda a: (a, _EVER)),
    (rf"from {_YEAR} onwards?", lambda a: (a, _EVER)),
    (rf"{_YEAR} (?:or|and) (?:earlier|before|older)", lambda a: (0, a)),
    (rf"since {_YEAR}", lambda a: (a, _EVER)),
    (rf"(?:after|later than|newer than) {_YEAR}", lambda a: (a + 1, _EVER)),
    (rf"(?:before|earlier than|older than|prior to) {_YEAR}", lambda a: (0, a - 1)),
    (rf"(?:until|till|up to) {_YEAR}", lambda a: (0, a)),
    (rf"(?:in|from|during|of|in the year) {_YEAR}", lambda a: (a, a)),
)
_PATTERNS = tuple(
    (re.compile(rf"\b(?:published |written |appeared )?{words}{_END}", re.I), years)
    for words, years in _SPOKEN
)
_IN_CHINESE = re.compile(
    rf"{_YEAR}\s*\u5e74(\u4ee5\u6765|\u4ee5\u4f86|\u4e4b\u540e|\u4e4b\u5f8c|\u4ee5\u540e|\u4ee5\u5f8c"
    "|\u4e4b\u524d|\u4ee5\u524d)?\u7684?"
)
_NAME = r"[^\W\d_][\w.'\u2019-]*"
_BY = re.compile(
    rf"\b(?:(papers?|work|works|stud(?:y|ies)|articles?) )?by ((?:{_NAME},? ?){{1,4}})"
)
_AT = re.compile(
    r"\b(at|in|presented at|published (?:in|at)|accepted at) (?:the )?((?:[\w&.:-]+ ?){1,7})"
)
_AUTHOR_WORD = re.compile(rf"(?<=\s){_NAME}")


@dataclass(frozen=True, slots=True)
class Told:
    """A filter, where a text tells it (`text[start:end]`), and the papers that pass."""

    wanted: Filter
    start: int
    end: int
    papers: frozenset[str] = frozenset()


def take_filters(query: Query, snapshot: Snapshot) -> Query:
    """Take filters out of the question's text, each if it leaves any paper."""
    for find in (_years, _venue, _author, _unknown_name):
        told = find(query.text, snapshot)
        if told is not None:
            query = _take(query, told)
    return query


def _take(query: Query, told: Told) -> Query:
    left = told.papers if query.papers is None else told.papers & query.papers
    if not left:
        return query.noting(f"no paper left for {told.wanted.told()}: not used as a filter")
    rest = f"{query.text[: told.start]} {query.text[told.end :]}"
    rest = re.sub(r"\s+([?.!,;:])", r"\1", " ".join(rest.split()))
    terms_only = query.reading(rest) if content_words(rest) else replace(query, terms={})
    taken = replace(terms_only, filters=(*query.filters, told.wanted)).only(told.papers)
    return taken.noting(f"only {told.wanted.told()} ({len(left):,} papers)")


def _years(text: str, snapshot: Snapshot) -> Told | None:
    told = next(told_years(text), None)
    if told is None or not has_years(snapshot):
        return None
    return replace(told, papers=passing(snapshot, told.wanted))


def told_years(text: str) -> Iterator[Told]:
    """The spans of years that a text names, each where it stands."""
    for pattern, years in _PATTERNS:
        for match in pattern.finditer(text):
            span = years(*(int(year) for year in match.groups()))
            yield Told(Filter(years=span), match.start(), match.end())
    for match in _IN_CHINESE.finditer(text):
        year, side = int(match[1]), (match[2] or "")[-1:]
        span = (year, year) if not side else (0, year - 1) if side == "\u524d" else (year, _EVER)
        yield Told(Filter(years=span), match.start(), match.end())


def _venue(text: str, snapshot: Snapshot) -> Told | None:
    """The venue of "at NeurIPS", part of one, or of "in Nature", the whole of one."""
    matches = list(_AT.finditer(text))
    names = venues(snapshot) if matches else frozenset()
    if not names:
        return None
    for match in matches:
        for words, end in _beginnings(match, 2):
            name = normalise(words)
            whole = match[1] == "in"
            if _is_word(name) and any(
                name == one if whole else f" {name} " in f" {one} " for one in names
            ):
                wanted = Filter(venue=words, whole_words=True)
                return Told(wanted, match.start(), end, passing(snapshot, wanted))
    return None


def _author(text: str, snapshot: Snapshot) -> Told | None:
    """The author of "by Mira Castellan", where an author's name ends so."""
    for match in _BY.finditer(text):
        for words, end in _beginnings(match, 2):
            if match[1] or words[0].isupper():
                wanted = Filter(author=words, whole_words=True)
                if _is_word(normalise(words)) and (papers := passing(snapshot, wanted)):
                    return Told(wanted, match.start(), end, papers)
    return None


def _unknown_name(text: str, snapshot: Snapshot) -> Told | None:
    """The author of "What did Nandakumar propose?": a name that no text has and an author bears."""
    for match in _AUTHOR_WORD.finditer(text):
        name = re.sub("['\u2019]s$", "", match[0]).rstrip(".,")
        if not (name[:1].isupper() and len(name) > 2) or snapshot.holding(terms(name)):
            continue
        wanted = Filter(author=name, whole_words=True)
        if papers := passing(snapshot, wanted):
            return Told(wanted, match.start(), match.end(), papers)
    return None


def _beginnings(match: re.Match[str], group: int) -> Iterator[tuple[str, int]]:
    """The first words of a group, from all of them to one, and where they end in the text."""
    ends = [match.start(group) + word.end() for word in re.finditer(r"[^\s,]+", match[group])]
    for end in reversed(ends):
        words = match.string[match.start(group) : end]
        bare = words.rstrip(".,:'\u2019")
        yield re.sub("['\u2019]s$", "", bare), end - (len(words) - len(bare))


def _is_word(name: str) -> bool:
    return bool(content_words(name)) and not name.replace(" ", "").isdigit()
