"""Acronyms and what they stand for, learned from the papers that define them.

A definition is found by the algorithm of Schwartz and Hearst, "A simple algorithm for identifying
abbreviation definitions in biomedical text", Pacific Symposium on Biocomputing 2003: the letters
of the short form are met from right to left in the words before its bracket.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from rag.index.snapshot import Snapshot
from rag.index.vocabulary import texts_with
from rag.retrieval.lexicon import english_words
from rag.retrieval.query import Query
from rag.text import content_words, plain, terms, tokens

_MEANT = 0.5
_READ = 8
_FEW = 2  # words that may all be acronyms
_LONGEST = 6  # words of an expansion that a question may hold
_MOST = 200  # words of a question that are read for expansions
_ACRONYM = re.compile(r"(?<![\w-])[A-Za-z]*[A-Z][a-z0-9-]*[A-Z][\w-]*(?!\w)")
_PLURAL = re.compile(r"(?<=[A-Z])s\b")
_BRACKET = re.compile(r"\(([^()]{2,120})\)")
_WORDS_BEFORE = 20


def add_acronyms(query: Query, snapshot: Snapshot) -> Query:
    """Add what the question's acronyms stand for, and the acronyms of what it spells out."""
    asked = query.text
    for acronym in _acronyms(asked):
        if acronym.isalpha() and acronym.isupper():
            query = replace(query, capitals=(*query.capitals, acronym))
        meanings = Counter(
            long.lower()
            for text in texts_with(
                snapshot, terms(acronym), _READ, holding=(f"({acronym}", f"{acronym} (")
            )
            for short, long in definitions(text)
            if short == acronym
        )
        if meanings:
            meaning = min(meanings, key=lambda one: (-meanings[one], one))
            query = _with(query, terms(meaning), f"{acronym}: {meaning}")
            if acronym in query.capitals:
                query = _as_no_word(query, acronym, meaning)
    for acronym, meaning in _spelt_out(asked, snapshot):
        query = _with(query, terms(acronym), f"{meaning}: {acronym}")
        if terms(meaning) == terms(asked):  # what it is, is the question
            query = replace(query, capitals=(*query.capitals, acronym))
    return query


def definitions(text: str) -> Iterator[tuple[str, str]]:
    """Short and long form of each "long form (SF)" and "SF (long form)" in a text."""
    text = plain(text)
    for match in _BRACKET.finditer(text):
        inside = _PLURAL.sub("", re.split(r"[,;]", match[1])[0].strip())
        before = text[: match.start()].rstrip().split()[-_WORDS_BEFORE:]
        if _is_short_form(inside):
            words = before[-min(len(inside) + 5, 2 * len(inside)) :]
            short, long = inside, _long_form(inside, " ".join(words))
        else:
            short = _PLURAL.sub("", before[-1]) if before else ""
            long = inside if _is_short_form(short) and _long_form(short, inside) == inside else ""
        if long:
            yield short, long


def _acronyms(text: str) -> list[str]:
    """The acronyms of a question; a question all in capitals has none."""
    if text.isupper() and len(text.split()) > _FEW:
        return []
    found = [one.rstrip("-") for one in _ACRONYM.findall(_PLURAL.sub("", text))]
    return [one for one in dict.fromkeys(found) if len(one) > 1 and content_words(one)]


def _with(query: Query, more: list[str], note: str) -> Query:
    new = [term for term in more if term not in query.terms]
    return query.expanded(dict.fromkeys(new, _MEANT)).noting(note) if new else query


def _as_no_word(query: Query, acronym: str, meaning: str) -> Query:
    """A paper that spells it out has the acronym; one with "sail" has not.

    A model that knows the English word takes SAIL for it, so it is told the meaning.
    """
    text = query.text
    if acronym.lower() in english_words():
        text = re.sub(rf"\b{re.escape(acronym)}\b", f"{acronym} ({meaning})", text, count=1)
    return replace(query, text=text, capitals=(*query.capitals, meaning))


def _is_short_form(short: str) -> bool:
    """One or two words, 2 to 10 characters, a letter among them, the first a letter or digit."""
    return (
        2 <= len(short) <= 10
        and len(short.split()) <= 2
        and short[0].isalnum()
        and any(character.isalpha() for character in short)
    )


def _long_form(short: str, before: str) -> str:
    """The shortest end of `before` in which the letters of `short` stand in order.

    The first of them must begin a word.
    """
    place = len(before)
    for at in range(len(short) - 1, -1, -1):
        letter = short[at].lower()
        if not letter.isalnum():
            continue
        place -= 1
        while place >= 0 and (
            before[place].lower() != letter
            or (at == 0 and place > 0 and before[place - 1].isalnum())
        ):
            place -= 1
        if place < 0:
            return ""
    long = before[place:]
    return long if len(long) > len(short) and short.lower() not in long.lower().split() else ""


def _spelt_out(text: str, snapshot: Snapshot) -> Iterator[tuple[str, str]]:
    """Acronyms of runs of the question's words, confirmed by a paper that defines them so."""
    words = [part for token in tokens(text)[:_MOST] for part in token.split("-") if part]
    runs = dict(_runs(words))
    for acronym in snapshot.holding(runs):
        meaning = runs[acronym]
        for found in texts_with(
            snapshot, [acronym, *terms(meaning)], _READ, holding=_brackets(acronym.upper())
        ):
            confirmed = [
                short
                for short, long in definitions(found)
                if terms(short) == [acronym] and terms(long) == terms(meaning)
            ]
            if confirmed:
                yield confirmed[0], meaning
                break


def _brackets(acronym: str) -> tuple[str, str]:
    """How a text that defines an acronym begins to do so."""
    return f"({acronym}", f"{acronym} ("


def _runs(words: list[str]) -> Iterator[tuple[str, str]]:
    """Initials of every run of two to six words, with the run; the words of a language left out."""
    content = set(content_words(" ".join(words)))
    for start, first in enumerate(words):
        for end in range(start + 2, min(len(words), start + _LONGEST) + 1):
            counted = [word for word in words[start:end] if word in content]
            if len(counted) > 1 and first in content and words[end - 1] in content:
                yield "".join(word[0] for word in counted), " ".join(words[start:end])
