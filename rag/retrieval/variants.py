"""One name in several spellings: GraphR1, Graph-R1 and graph r1; rollout, roll-out and roll out.

A hyphenated word is indexed in parts and whole. What is left is a word that the question writes
apart and the collection together, or the other way round.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from rag.index.snapshot import Snapshot
from rag.index.vocabulary import beginning
from rag.retrieval.lexicon import english_words
from rag.retrieval.query import Query
from rag.text import terms, tokens

_SPELT = 0.5
_LONGEST_JOIN = 3
_SHORTEST_HALF = 3
_INNER_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z\d])|(?<=[A-Z])(?=[A-Z][a-z]{2})")
_CONTINUED = 20


def add_spellings(query: Query, snapshot: Snapshot) -> Query:
    """Search the other spellings that the collection has of what is asked.

    They stand in for a word that no paper has. Beside words that papers have only a whole is
    searched, as parts are words of many other things.
    """
    there = snapshot.holding(query.terms)
    unknown = [term for term in query.terms if term not in there]
    spellings = [*_joined(query.text), *_parted(query.text), *_split(query.text, unknown)]
    there |= snapshot.holding({term for one in spellings for term in one.other})
    found = [one for one in spellings if all(term in there for term in one.other)]
    missing = {term for one in found for term in one.typed} & set(unknown)
    instead = [term for one in found if missing & set(one.typed) for term in one.other]
    beside = [term for one in found if one.whole for term in one.other]
    kept = {term: weight for term, weight in query.terms.items() if term not in missing}
    query = replace(query, terms={**dict.fromkeys(sorted(instead), _SPELT), **kept})
    more = {*beside, *missing, *_continued(query, snapshot)} - query.terms.keys()
    return query.expanded(dict.fromkeys(sorted(more), _SPELT))


@dataclass(frozen=True, slots=True)
class _Spelling:
    """Terms as they were typed and as they may be written; `whole`: these as one word."""

    typed: tuple[str, ...]
    other: tuple[str, ...]
    whole: bool = False


def _joined(text: str) -> Iterator[_Spelling]:
    """Neighbouring words written as one."""
    words = [part for token in tokens(text) for part in token.split("-") if part.isascii()]
    of = [terms(word) for word in words]
    for size in range(2, _LONGEST_JOIN + 1):
        for start in range(len(words) - size + 1):
            typed = [term for found in of[start : start + size] for term in found]
            whole = "".join(words[start : start + size])
            if typed:
                yield _Spelling((*typed, whole), tuple(terms(whole)), whole=True)


def _parted(text: str) -> Iterator[_Spelling]:
    """The parts of names with capitals within them: graph and r1 of GraphR1, not e of RankE."""
    for name in text.split():
        parts = _INNER_CAPITAL.sub(" ", name).split()
        long = [part for part in parts if len(part) > 2 or (part.isupper() and len(part) > 1)]
        other = tuple(term for part in long for term in terms(part) if len(term) > 1)
        if len(parts) > 1 and other:
            yield _Spelling(tuple(terms(name)), other)


def _split(text: str, unknown: Collection[str]) -> Iterator[_Spelling]:
    """A name as two words; a word of English is not taken apart."""
    for word in dict.fromkeys(tokens(text)):
        typed = tuple(terms(word))
        if not (word.isascii() and word.isalnum() and typed and set(typed) <= set(unknown)):
            continue
        if word not in english_words():
            shortest = 2 if any(map(str.isdigit, word)) else _SHORTEST_HALF
            for form in {word, *typed}:
                for place in range(shortest, len(form) - shortest + 1):
                    if halves := (*terms(form[:place]), *terms(form[place:])):
                        yield _Spelling(typed, halves)


def _continued(query: Query, snapshot: Snapshot) -> set[str]:
    """For a single character of a script without spaces, the pairs that begin with it."""
    singles = [term for term in query.terms if len(term) == 1 and "\u3040" <= term <= "\ud7af"]
    pairs = [beginning(snapshot, single) for single in singles]
    return {term for found in pairs for term in sorted(found, key=lambda t: -found[t])[:_CONTINUED]}
