"""One name in several spellings: GraphR1, Graph-R1 and graph r1; rollout, roll-out and roll out.

A hyphenated word is indexed in parts and whole. What is left is a word that the question writes
apart and the collection together, or the other way round.
"""

from __future__ import annotations

import re

from rag.index.snapshot import Snapshot
from rag.index.vocabulary import beginning, known
from rag.retrieval.query import Query
from rag.text import content_words, terms, tokens

_SPELT = 0.5
_LONGEST_JOIN = 3
_SHORTEST_HALF = 3
_INNER_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})")
_CONTINUED = 20


def add_spellings(query: Query, snapshot: Snapshot) -> Query:
    """Add the other spellings of what is asked that the collection has."""
    wanted = {*_joined(query.text), *_parted(query.text)}
    there = known(snapshot, [*wanted, *query.terms, *_halves_of(query)])
    split = [half for word in query.terms if word not in there for half in _split(word, there)]
    found = {*(wanted & there.keys()), *split, *_continued(query, snapshot)} - query.terms.keys()
    return query.expanded(dict.fromkeys(sorted(found), _SPELT))


def _joined(text: str) -> set[str]:
    """Neighbouring words written as one."""
    words = [part for token in tokens(text) for part in token.split("-") if part.isascii()]
    return {
        term
        for size in range(2, _LONGEST_JOIN + 1)
        for start in range(len(words) - size + 1)
        for term in terms("".join(words[start : start + size]))
        if content_words(" ".join(words[start : start + size]))
    }


def _parted(text: str) -> set[str]:
    """The parts of names with capitals within them: graph and r1 of GraphR1, not e of RankE."""
    names = [word for word in text.split() if _INNER_CAPITAL.search(word)]
    parts = [part for name in names for part in _INNER_CAPITAL.sub(" ", name).split()]
    return {t for part in parts if len(part) > 2 or part.isupper() for t in _long_terms(part)}


def _long_terms(part: str) -> list[str]:
    return [term for term in terms(part) if len(term) > 1]


def _halves_of(query: Query) -> set[str]:
    return {half for word in query.terms for pair in _pairs(word) for half in pair}


def _pairs(word: str) -> list[tuple[str, str]]:
    if not (word.isascii() and word.isalnum()):
        return []
    places = range(_SHORTEST_HALF, len(word) - _SHORTEST_HALF + 1)
    return [(word[:place], word[place:]) for place in places]


def _split(word: str, there: dict[str, int]) -> tuple[str, ...]:
    """An unknown word as two known ones, the rarer of which is as common as can be."""
    pairs = [
        (min(there[left], there[right]), left, right)
        for left, right in _pairs(word)
        if left in there and right in there
    ]
    return max(pairs)[1:] if pairs else ()


def _continued(query: Query, snapshot: Snapshot) -> set[str]:
    """For a single character of a script without spaces, the pairs that begin with it."""
    singles = [term for term in query.terms if len(term) == 1 and "\u3040" <= term <= "\ud7af"]
    pairs = [beginning(snapshot, single) for single in singles]
    return {term for found in pairs for term in sorted(found, key=lambda t: -found[t])[:_CONTINUED]}
